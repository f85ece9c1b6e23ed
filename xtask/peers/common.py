"""What the scripts share: shapes, synthetic rows, timing, one line of JSON for each result."""

import json
import platform
import time

import numpy as np

PARTICLES = 5
BATCH = 16
ROWS = 320
SEED = 20241101
PRIOR_PRECISION = 2.0
NOISE_VARIANCE = 0.1
RATE = 3e-3
SHAPES = {"yacht": (6, (50, 50), 1), "wide": (50, (200, 200), 1)}


def widths(shape):
    features, hidden, outputs = SHAPES[shape]
    return [features, *hidden, outputs]


def rows(shape):
    """x uniform on +-sqrt 3, y = sin(sum x / sqrt p) + noise: as in the suite, other random numbers."""
    rng = np.random.default_rng(SEED)
    features = SHAPES[shape][0]
    x = rng.uniform(-np.sqrt(3), np.sqrt(3), (ROWS, features))
    y = np.sin(x.sum(1) / np.sqrt(features)) + 0.1 * rng.uniform(-np.sqrt(3), np.sqrt(3), ROWS)
    return x, y


def initial(shape):
    """Weights and biases of every layer with a leading axis of particles: N(0, 2/fan-in), last layer N(0, 1/fan-in)."""
    rng = np.random.default_rng(SEED + 1)
    sizes = widths(shape)
    parameters = {}
    for layer, (inputs, outputs) in enumerate(zip(sizes[:-1], sizes[1:])):
        gain = 2.0 if layer < len(sizes) - 2 else 1.0
        parameters[f"w{layer}"] = np.sqrt(gain / inputs) * rng.standard_normal((PARTICLES, outputs, inputs))
        parameters[f"b{layer}"] = rng.uniform(-1, 1, (PARTICLES, outputs)) / np.sqrt(inputs)
    return parameters


def batches():
    """An endless stream of index arrays, a permutation an epoch."""
    rng = np.random.default_rng(SEED + 2)
    while True:
        order = rng.permutation(ROWS)
        for start in range(0, ROWS, BATCH):
            yield order[start : start + BATCH]


def measure(step, warm_up=30, steps=300):
    """Median, least and largest wall time of calls of `step`, in milliseconds; `step` returns when its work is done."""
    for _ in range(warm_up):
        step()
    times = []
    for _ in range(steps):
        start = time.perf_counter()
        step()
        times.append(1e3 * (time.perf_counter() - start))
    return float(np.median(times)), min(times), max(times)


def report(name, shape, dtype, times, **versions):
    median, least, largest = times
    line = {
        "name": name,
        "shape": shape,
        "dtype": dtype,
        "median_ms": median,
        "min_ms": least,
        "max_ms": largest,
        "versions": {"python": platform.python_version(), "numpy": np.__version__, **versions},
    }
    print(json.dumps(line), flush=True)
