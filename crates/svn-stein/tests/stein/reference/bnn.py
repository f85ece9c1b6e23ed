"""Reference predictive moments of the small network of tests/stein/posteriors/bnn.rs: `python bnn.py > bnn.json`.

`f(x) = b2 + sum_j v_j tanh(w_j x + b_j)`, ten hidden units, all 31 parameters N(0, 1); 30 rows of
`y = sin(2 x) + x / 2 + 0.15 e` with a gap between -0.5 and 0.7; Gaussian noise of known standard deviation 0.15.
Parameters are in the order w, b, v, b2. Compared in function space, where permutations and signs of units do not
matter: mean and standard deviation of f on a grid, which goes beyond the data. Python 3.11.7, numpy 2.4.6.
"""

import json
import platform

import numpy as np

import hmc

CHAINS, WARM_UP, ITERATIONS, LEAPFROG, SEED = 128, 2000, 24000, 16, 2
HIDDEN, NOISE = 10, 0.15

rng = np.random.default_rng(SEED)
x = np.concatenate([rng.uniform(-2.0, -0.5, 15), rng.uniform(0.7, 2.0, 15)]).round(4)
y = (np.sin(2 * x) + x / 2 + NOISE * rng.standard_normal(30)).round(4)
grid = np.linspace(-3.0, 3.0, 25)


def split(phi):
    return phi[:, :HIDDEN], phi[:, HIDDEN : 2 * HIDDEN], phi[:, 2 * HIDDEN : 3 * HIDDEN], phi[:, -1]


def predict(phi, at):
    w, b, v, c = split(phi)
    return np.einsum("nj,njx->nx", v, np.tanh(w[:, :, None] * at + b[:, :, None])) + c[:, None]


def log_density_and_score(phi):
    w, b, v, c = split(phi)
    h = np.tanh(w[:, :, None] * x + b[:, :, None])
    r = (v[:, None, :] @ h)[:, 0] + c[:, None] - y
    value = -0.5 * (r**2).sum(1) / NOISE**2 - 0.5 * (phi**2).sum(1)
    g = -r / NOISE**2
    db = v * ((1 - h * h) @ g[:, :, None])[:, :, 0]
    dw = v * ((1 - h * h) @ (g * x)[:, :, None])[:, :, 0]
    dv = (h @ g[:, :, None])[:, :, 0]
    return value, np.concatenate([dw, db, dv, g.sum(1, keepdims=True)], axis=1) - phi


def check():
    phi, e = rng.standard_normal((1, 31)), 1e-6
    _, score = log_density_and_score(phi)
    for i in range(31):
        step = np.eye(31)[[i]] * e
        up, down = log_density_and_score(phi + step)[0], log_density_and_score(phi - step)[0]
        assert abs((up - down)[0] / (2 * e) - score[0, i]) < 1e-4 * (1 + abs(score[0, i]))


check()
start = rng.standard_normal((CHAINS, 31))
draws, acceptance = hmc.sample(log_density_and_score, start, ITERATIONS, WARM_UP, LEAPFROG, SEED, thin=8)
functions = np.array([predict(d, grid) for d in draws])
result = hmc.summary(functions)
print(
    json.dumps(
        {
            "made_by": "bnn.py",
            "versions": {"python": platform.python_version(), "numpy": np.__version__},
            "chains": CHAINS,
            "iterations": ITERATIONS,
            "acceptance": round(acceptance, 4),
            "worst_r_hat": round(float(result["r_hat"].max()), 5),
            "noise": NOISE,
            "hidden": HIDDEN,
            "x": x.tolist(),
            "y": y.tolist(),
            "grid": grid.tolist(),
            **{key: hmc.rounded(result[key]) for key in ("mean", "sd", "mean_se", "sd_se")},
        },
        indent=1,
    )
)
