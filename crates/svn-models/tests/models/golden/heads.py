"""Golden values of the Student t and the mixture density, in 40 digits, for the tests of `likelihood` and `members`.

    python3 heads.py        (mpmath 1.3)

Floor 0.4 and linear growth from 2, as the tests have it.
"""

import mpmath as mp

mp.mp.dps = 40
FLOOR, LINEAR_FROM = mp.mpf("0.4"), mp.mpf(2)


def numbers(*texts):
    return [mp.mpf(text) for text in texts]


def link(s):
    growth = mp.e ** min(s, LINEAR_FROM)
    v = FLOOR**2 + growth * (1 + max(s - LINEAR_FROM, 0))
    return v, growth / v


def log_pdf(z, nu):
    c = mp.loggamma((nu + 1) / 2) - mp.loggamma(nu / 2) - mp.log(nu * mp.pi) / 2
    return c - (nu + 1) / 2 * mp.log(1 + z * z / nu)


def cdf(z, nu):
    tail = mp.betainc(nu / 2, mp.mpf(1) / 2, 0, nu / (nu + z * z), regularized=True) / 2
    return 1 - tail if z > 0 else tail


def student_t(mu, s, y, nu):
    v, _ = link(s)
    return mp.log(v) / 2 - log_pdf((y - mu) / mp.sqrt(v), nu)


def mixture(f, y):
    k = len(f) // 3
    total = sum(mp.e**a for a in f[:k])
    p = mp.mpf(0)
    for a, m, s in zip(f[:k], f[k : 2 * k], f[2 * k :]):
        v, _ = link(s)
        p += mp.e**a / total * mp.npdf(y, m, mp.sqrt(v))
    return -mp.log(p)


def ordinal(f, s, y, lowest, highest, c, h):
    v, _ = link(s)
    cdf = lambda edge: 1 / (1 + mp.e ** (-(edge - c - h * f) / (h * mp.sqrt(v))))
    above = mp.mpf(1) if y == highest else cdf(y + mp.mpf(1) / 2)
    below = mp.mpf(0) if y == lowest else cdf(y - mp.mpf(1) / 2)
    return -mp.log(above - below)


def show(name, *values):
    print(name, *(mp.nstr(value, 17) for value in values))


for nu in numbers("2.5", "4", "7.3", "100"):
    for z in numbers("-30", "-2", "-0.5", "0.001", "1.5", "12"):
        show("t: nu, z, log density, distribution", nu, z, log_pdf(z, nu), cdf(z, nu))
for mu, s, y in [("0.3", "-0.8", "0.9"), ("-1.1", "3.5", "40")]:
    f = numbers(mu, s)
    y = mp.mpf(y)
    loss = lambda *f: student_t(*f, y, mp.mpf(4))
    ascent = [-mp.diff(loss, f, tuple(int(i == j) for j in range(2))) for i in range(2)]
    show("head t: loss, ascent", loss(*f), *ascent)
f = numbers("0.4", "-1.2", "0.1", "-0.5", "1.3", "0.2", "-1.1", "0.3", "1.5")
loss = lambda *f: mixture(f, mp.mpf("0.9"))
ascent = [-mp.diff(loss, f, tuple(int(i == j) for j in range(9))) for i in range(9)]
show("head mixture: loss, ascent", loss(*f), *ascent)
# Targets 3, 5, 5, 6, 8: mean 5.4, population standard deviation √2.64.
for f, s, y in [("0.3", "-0.8", 6), ("-1.1", "2.5", 3), ("0.2", "-3", 8), ("9", "-6", 4)]:
    f = numbers(f, s)
    loss = lambda *f: ordinal(*f, y, 3, 8, mp.mpf("5.4"), mp.sqrt(mp.mpf("2.64")))
    ascent = [-mp.diff(loss, f, tuple(int(i == j) for j in range(2))) for i in range(2)]
    show("head ordinal: y, loss, ascent", mp.mpf(y), loss(*f), *ascent)
for nu, level, near in [("4", "0.95", 2), ("4", "0.975", 2.7), ("3", "0.999", 10), ("4", "1e-12", -1300)]:
    nu, level = numbers(nu, level)
    show("quantile: nu, level, z", nu, level, mp.findroot(lambda z: cdf(z, nu) - level, near))
