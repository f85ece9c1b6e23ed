"""A step of SVGD in JAX under jit: blackjax.svgd with its median heuristic and optax's Adam, and a hand-written step.

blackjax forms the kernel and its gradient for every pair (an N x N x d array); under vmap the scores are N evaluations,
not N x N. The hand-written step (`jax_svgd_plain`) forms the pair terms by matrix products. The minibatch is
an argument of the gradient. Float64, one thread.
"""

import os

# Before jax starts its thread pool, whose size follows the processors that it may run on.
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false " + os.environ.get("XLA_FLAGS", "")
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import blackjax
import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree

import common

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")


def gradient_of(shape):
    layers = len(common.widths(shape)) - 1
    scale = common.ROWS / common.BATCH

    def log_density(parameters, x, y):
        h = x
        for layer in range(layers):
            h = h @ parameters[f"w{layer}"].T + parameters[f"b{layer}"]
            if layer + 1 < layers:
                h = jax.nn.relu(h)
        residual = h[:, 0] - y
        prior = sum(jnp.sum(p**2) for p in parameters.values())
        return -scale * 0.5 * jnp.sum(residual**2) / common.NOISE_VARIANCE - 0.5 * common.PRIOR_PRECISION * prior

    return jax.grad(log_density)


def driver(shape, state, advance):
    """Draws batches on the host and waits for each step, as a training loop that looks at every step does."""
    x, y = common.rows(shape)
    batches = common.batches()
    advance = jax.jit(advance)

    def step():
        nonlocal state
        index = next(batches)
        state = jax.block_until_ready(advance(state, x[index], y[index]))

    return step


def library(shape):
    svgd = blackjax.svgd(gradient_of(shape), optax.adam(common.RATE))
    particles = {name: jnp.asarray(a) for name, a in common.initial(shape).items()}
    state = svgd.init(particles, {"length_scale": 1.0})
    return driver(shape, state, lambda state, x, y: svgd.step(state, x=x, y=y))


def plain(shape):
    gradient = gradient_of(shape)
    optimiser = optax.adam(common.RATE)
    stacked = {name: jnp.asarray(a) for name, a in common.initial(shape).items()}
    _, unravel = ravel_pytree({name: a[0] for name, a in stacked.items()})
    particles = jax.vmap(lambda tree: ravel_pytree(tree)[0])(stacked)
    pairs = jnp.tril_indices(common.PARTICLES, k=-1)

    def advance(state, x, y):
        particles, memory = state
        score = jax.vmap(lambda p: ravel_pytree(gradient(unravel(p), x, y))[0])(particles)
        inner = particles @ particles.T
        squares = jnp.diag(inner)[:, None] + jnp.diag(inner)[None, :] - 2 * inner
        length = jnp.median(squares[pairs]) / jnp.log(common.PARTICLES + 1)
        kernel = jnp.exp(-squares / length)
        repulsion = (2 / length) * (particles * kernel.sum(1)[:, None] - kernel @ particles)
        field = (kernel @ score + repulsion) / common.PARTICLES
        change, memory = optimiser.update(-field, memory, particles)
        return optax.apply_updates(particles, change), memory

    return driver(shape, (particles, optimiser.init(particles)), advance)


versions = {"jax": jax.__version__, "blackjax": blackjax.__version__, "optax": optax.__version__}
for shape in common.SHAPES:
    common.report("jax_svgd", shape, "f64", common.measure(library(shape)), **versions)
    common.report("jax_svgd_plain", shape, "f64", common.measure(plain(shape)), **versions)
