"""Golden values for tests/curvature/golden.rs: curvature of one MLP and one conv net by other people's code.

GGN, KFAC and EKFAC: curvlinops (dense operators applied to fixed columns). Diagonal: BackPACK. Last layer: laplace-torch.
Run once, by hand, next to this file; the tests only read the results.

    python -m venv venv && venv/bin/pip install torch==2.11.0 curvlinops-for-pytorch==3.0.1 \
        backpack-for-pytorch==1.7.1 laplace-torch==0.3
    venv/bin/python generate.py
"""

import json
from copy import deepcopy
from importlib.metadata import version

import torch
from backpack import backpack, extend
from backpack.extensions import DiagGGNExact
from curvlinops import EKFACLinearOperator, GGNLinearOperator, KFACLinearOperator
from laplace import FullLLLaplace
from laplace.curvature import BackPackGGN
from torch import nn

torch.set_default_dtype(torch.float64)


def mlp():
    return nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 4, bias=False), nn.ReLU(), nn.Linear(4, 3)), (3,)


def conv():
    layers = [
        nn.Conv2d(1, 2, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(2, 3, 2, stride=(2, 1), bias=False),
        nn.Sigmoid(),
        nn.Flatten(),
        nn.Linear(6, 3),
    ]
    return nn.Sequential(*layers), (1, 7, 6)


def flat(tensors):
    return torch.cat([t.reshape(-1) for t in tensors])


def nested(tensor):
    return tensor.detach().tolist()


def golden(name, make, seed):
    torch.manual_seed(seed)
    model, sample = make()
    params = list(model.parameters())
    x = torch.randn(6, *sample)
    columns = torch.randn(sum(p.numel() for p in params), 2)
    labels, targets = torch.randint(0, 3, (6,)), torch.randn(6, 3)
    result = {
        "versions": {
            package: version(package)
            for package in ["torch", "curvlinops-for-pytorch", "backpack-for-pytorch", "laplace-torch"]
        },
        "params": nested(flat(params)),
        "x": nested(x),
        "outputs": nested(model(x)),
        "columns": nested(columns),
        "losses": {},
    }
    # MSELoss with sum reduction is the Gaussian with variance one half.
    for loss_name, loss, y in [("categorical", nn.CrossEntropyLoss, labels), ("gaussian", nn.MSELoss, targets)]:
        loss = loss(reduction="sum")
        # Two batches, so that nothing depends on there being one.
        data = [(x[:4], y[:4]), (x[4:], y[4:])]
        kron = {"fisher_type": "type-2", "kfac_approx": "expand", "separate_weight_and_bias": False}
        values = {
            "ggn": nested(GGNLinearOperator(model, loss, params, data) @ columns),
            "kfac": nested(KFACLinearOperator(model, loss, params, data, **kron) @ columns),
            "ekfac": nested(EKFACLinearOperator(model, loss, params, data, **kron) @ columns),
        }
        extended, extended_loss = extend(deepcopy(model)), extend(deepcopy(loss))
        with backpack(DiagGGNExact()):
            extended_loss(extended(x), y).backward()
        values["diag"] = nested(flat([p.diag_ggn_exact for p in extended.parameters()]))
        likelihood = "classification" if loss_name == "categorical" else "regression"
        laplace = FullLLLaplace(deepcopy(model), likelihood, last_layer_name=str(len(model) - 1), backend=BackPackGGN)
        laplace.fit(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=6))
        # laplace-torch's Gaussian has variance one.
        factor = 1.0 if loss_name == "categorical" else 2.0
        values["last_layer"] = nested(laplace.H * factor)
        result["losses"][loss_name] = values
    with open(f"{name}.json", "w") as file:
        json.dump(result, file)
        file.write("\n")


golden("mlp", mlp, 1)
golden("conv", conv, 2)
