"""Reference moments of the logistic regression of tests/stein/posteriors/logistic.rs: `python logistic.py > logistic.json`.

Data: the ten `*_mean` columns of datasets/breast.csv, standardised (population standard deviation), and an intercept.
Prior N(0, I) on all eleven coefficients. Made with Python 3.11.7 and numpy 2.4.6.
"""

import json
import pathlib
import platform

import numpy as np

import hmc

CHAINS, WARM_UP, ITERATIONS, LEAPFROG, SEED = 64, 1000, 4000, 8, 1

table = pathlib.Path(__file__).resolve().parents[5] / "datasets" / "breast.csv"
names = table.read_text().splitlines()[0].split(",")
data = np.loadtxt(table, delimiter=",", skiprows=1)
x = data[:, :10]
x = np.column_stack([np.ones(len(x)), (x - x.mean(0)) / x.std(0)])
sign = 2 * data[:, -1] - 1


def log_density_and_score(beta):
    margin = (beta @ x.T) * sign
    value = -np.logaddexp(0, -margin).sum(1) - 0.5 * (beta**2).sum(1)
    weight = sign / (1 + np.exp(margin))
    return value, weight @ x - beta


start = np.random.default_rng(SEED).standard_normal((CHAINS, x.shape[1])) * 0.3
draws, acceptance = hmc.sample(log_density_and_score, start, ITERATIONS, WARM_UP, LEAPFROG, SEED)
result = hmc.summary(draws)
print(
    json.dumps(
        {
            "made_by": "logistic.py",
            "versions": {"python": platform.python_version(), "numpy": np.__version__},
            "chains": CHAINS,
            "iterations": ITERATIONS,
            "acceptance": round(acceptance, 4),
            "worst_r_hat": round(float(result["r_hat"].max()), 5),
            "names": ["intercept", *names[:10]],
            **{key: hmc.rounded(result[key]) for key in ("mean", "sd", "mean_se", "sd_se")},
        },
        indent=1,
    )
)
