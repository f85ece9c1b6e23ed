"""Hamiltonian Monte Carlo with many chains at once; numpy only.

Warm-up: the step size is steered to an acceptance of 0.8, and the mass matrix becomes the inverse of the covariance
pooled over the chains. Afterwards both are fixed. The number of leapfrog steps is drawn uniformly for each iteration,
the step size is jittered by 20 %, so that no orbit closes on itself.
"""

import numpy as np


def sample(log_density_and_score, start, iterations, warm_up, leapfrog, seed, thin=1):
    """Positions after every `thin`-th iteration: `iterations / thin x chains x d`, and the mean acceptance."""
    rng = np.random.default_rng(seed)
    x = np.array(start, dtype=float)
    chains, d = x.shape
    value, score = log_density_and_score(x)
    root = np.eye(d)  # C with C C' = covariance; momenta live in the whitened space
    log_step, step_bar = np.log(0.1), 0.0
    kept, accepted, history = [], 0.0, []
    for t in range(warm_up + iterations):
        step = np.exp(log_step) * rng.uniform(0.8, 1.2)
        p = rng.standard_normal((chains, d))
        y, new_value, new_score = x, value, score
        energy = value - 0.5 * (p**2).sum(1)
        for _ in range(rng.integers(1, leapfrog + 1)):
            p = p + 0.5 * step * (new_score @ root)
            y = y + step * (p @ root.T)
            new_value, new_score = log_density_and_score(y)
            p = p + 0.5 * step * (new_score @ root)
        with np.errstate(over="ignore", invalid="ignore"):
            rate = np.exp(np.minimum(0.0, new_value - 0.5 * (p**2).sum(1) - energy))
        rate = np.where(np.isfinite(rate), rate, 0.0)
        take = rng.random(chains) < rate
        x = np.where(take[:, None], y, x)
        value = np.where(take, new_value, value)
        score = np.where(take[:, None], new_score, score)
        if t < warm_up:
            log_step += (rate.mean() - 0.8) / (1 + t % (warm_up // 4)) ** 0.6
            history.append(x)
            if (t + 1) % (warm_up // 4) == 0 and t + 1 < warm_up:
                draws = np.concatenate(history[len(history) // 2 :])
                cov = np.cov(draws.T)
                new = np.linalg.cholesky(0.95 * cov + 0.05 * np.diag(np.diag(cov)))
                log_step += np.log(np.trace(root) / np.trace(new))
                root, history = new, []
        else:
            accepted += rate.mean() / iterations
            if t % thin == 0:
                kept.append(x)
    return np.array(kept), accepted


def summary(draws):
    """Mean and standard deviation of every quantity, their Monte Carlo standard errors and split R-hat.

    `draws`: `iterations x chains x quantities`. The standard error of the mean is that of the chain means, that of the
    standard deviation comes from the jackknife over chains; both hold whatever the autocorrelation within a chain.
    """
    t, m, _ = draws.shape
    first, second = draws.mean(0), (draws**2).mean(0)
    sd = lambda a, b: np.sqrt(b.mean(0) - a.mean(0) ** 2)
    whole = sd(first, second)
    left_out = np.array([sd(np.delete(first, c, 0), np.delete(second, c, 0)) for c in range(m)])
    halves = np.concatenate([draws[: t // 2], draws[t // 2 : 2 * (t // 2)]], axis=1)
    within = halves.var(0, ddof=1).mean(0)
    between = halves.mean(0).var(0, ddof=1)
    return {
        "mean": first.mean(0),
        "sd": whole,
        "mean_se": first.std(0, ddof=1) / np.sqrt(m),
        "sd_se": np.sqrt((m - 1) / m * ((left_out - left_out.mean(0)) ** 2).sum(0)),
        "r_hat": np.sqrt(1 + between / within),
    }


def rounded(values, digits=6):
    return [float(f"{v:.{digits}g}") for v in np.ravel(values)]
