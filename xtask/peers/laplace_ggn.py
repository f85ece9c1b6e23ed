"""Full generalised Gauss-Newton matrix of one batch by laplace-torch, for one network: d × d, of all five in turn.

The matrix is what a dense second-order step would have to form before it could solve; nothing is solved here.
"""

import importlib.metadata
import time

import torch
from laplace.curvature import CurvlinopsGGN

import common

torch.set_num_threads(1)


def ggn(shape, dtype):
    sizes = common.widths(shape)
    x, y = (torch.as_tensor(a, dtype=dtype) for a in common.rows(shape))
    y = y[:, None]
    initial = common.initial(shape)
    backends = []
    for particle in range(common.PARTICLES):
        layers = []
        for layer, (inputs, outputs) in enumerate(zip(sizes[:-1], sizes[1:])):
            linear = torch.nn.Linear(inputs, outputs, dtype=dtype)
            with torch.no_grad():
                linear.weight.copy_(torch.as_tensor(initial[f"w{layer}"][particle]))
                linear.bias.copy_(torch.as_tensor(initial[f"b{layer}"][particle]))
            layers += [linear, torch.nn.ReLU()]
        backends.append(CurvlinopsGGN(torch.nn.Sequential(*layers[:-1]), "regression"))
    batches = common.batches()

    def step():
        index = torch.from_numpy(next(batches))
        for backend in backends:
            backend.full(x[index], y[index], N=common.ROWS)

    return step


versions = {name: importlib.metadata.version(name) for name in ("torch", "laplace-torch", "curvlinops-for-pytorch")}
step = ggn("yacht", torch.float64)
start = time.perf_counter()
step()
# One matrix of 2951 × 2951 for each network may take long: a few repetitions in about ten seconds.
steps = max(3, min(50, int(10 / (time.perf_counter() - start))))
common.report("laplace_ggn", "yacht", "f64", common.measure(step, warm_up=1, steps=steps), **versions)
