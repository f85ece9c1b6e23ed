"""A step of a deep ensemble in PyTorch: torch.func's vmap over particles, Adam by hand on the stacked parameters.

What a careful user would write: one functional network, gradients by vmap(grad), fused in-place updates, the batch drawn
inside the step, no autograd graph kept. One thread.
"""

import torch
from torch.func import functional_call, grad, vmap

import common

torch.set_num_threads(1)


class Network(torch.nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = len(sizes) - 1
        for layer, (inputs, outputs) in enumerate(zip(sizes[:-1], sizes[1:])):
            self.register_parameter(f"w{layer}", torch.nn.Parameter(torch.zeros(outputs, inputs)))
            self.register_parameter(f"b{layer}", torch.nn.Parameter(torch.zeros(outputs)))

    def forward(self, x):
        for layer in range(self.layers):
            x = torch.nn.functional.linear(x, getattr(self, f"w{layer}"), getattr(self, f"b{layer}"))
            if layer + 1 < self.layers:
                x = torch.relu(x)
        return x


def ensemble(shape, dtype):
    x, y = (torch.as_tensor(a, dtype=dtype) for a in common.rows(shape))
    network = Network(common.widths(shape)).to(dtype)
    parameters = {name: torch.as_tensor(a, dtype=dtype) for name, a in common.initial(shape).items()}
    first = {name: torch.zeros_like(a) for name, a in parameters.items()}
    second = {name: torch.zeros_like(a) for name, a in parameters.items()}
    batches = common.batches()
    scale = common.ROWS / common.BATCH
    count = 0

    def energy(parameters, x, y):
        residual = functional_call(network, parameters, (x,)).squeeze(-1) - y
        prior = sum(p.square().sum() for p in parameters.values())
        return scale * 0.5 * residual.square().sum() / common.NOISE_VARIANCE + 0.5 * common.PRIOR_PRECISION * prior

    gradients = vmap(grad(energy), in_dims=(0, None, None))

    @torch.no_grad()
    def step():
        nonlocal count
        count += 1
        index = torch.from_numpy(next(batches))
        change = gradients(parameters, x[index], y[index])
        names = list(parameters)
        p, g = [parameters[n] for n in names], [change[n] for n in names]
        m, s = [first[n] for n in names], [second[n] for n in names]
        torch._foreach_lerp_(m, g, 0.1)
        torch._foreach_mul_(s, 0.999)
        torch._foreach_addcmul_(s, g, g, 0.001)
        root = torch._foreach_sqrt(s)
        torch._foreach_div_(root, (1 - 0.999**count) ** 0.5)
        torch._foreach_add_(root, 1e-8)
        torch._foreach_addcdiv_(p, m, root, -common.RATE / (1 - 0.9**count))

    return step


for shape in common.SHAPES:
    for dtype, name in ((torch.float32, "f32"), (torch.float64, "f64")):
        times = common.measure(ensemble(shape, dtype))
        common.report("torch_func", shape, name, times, torch=torch.__version__)
