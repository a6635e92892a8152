"""Special functions and limits to 40 digits, written to decimals.json beside this file.

    python tests/oracles/decimals.py

Python's standard library only: decimals of 60 digits, power series and halving.
"""

import math
import platform
from decimal import Decimal, getcontext
from fractions import Fraction
from itertools import product

from written import digits, exact, save

getcontext().prec = 60


def phi(z: Decimal) -> Decimal:
    """The normal distribution function by its power series, for |z| up to 8."""
    term = total = z
    for n in range(1, 600):
        term *= z * z / (2 * n + 1)
        total += term
    root = (2 * PI).sqrt()
    return Decimal("0.5") + total * (-z * z / 2).exp() / root


def arctan_inverse(x: int) -> Decimal:
    return sum(Decimal((-1) ** k) / ((2 * k + 1) * Decimal(x) ** (2 * k + 1)) for k in range(60))


PI = 4 * (4 * arctan_inverse(5) - arctan_inverse(239))


def inverse(function, probability: Decimal, high: Decimal) -> Decimal:
    """Halve [0, high] to where a rising function has this value."""
    low = Decimal(0)
    for _ in range(170):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < probability else (low, middle)
    return low


def student(t: Decimal, df: int) -> Decimal:
    """Student's distribution function for even df (Abramowitz and Stegun 26.7.4)."""
    cosine = df / (df + t * t)
    term = total = Decimal(1)
    for j in range(1, df // 2):
        term *= cosine * (2 * j - 1) / (2 * j)
        total += term
    return Decimal("0.5") + t / (df + t * t).sqrt() * total / 2


def quantiles() -> list[dict]:
    rows = []
    for level in (Fraction(1, 2), Fraction(4, 5), Fraction(19, 20), Fraction(99, 100)):
        upper = exact((1 + level) / 2)
        row = {
            "level": str(level),
            "z": digits(inverse(phi, upper, Decimal(8))),
            "t": {},
            "tail": {},
        }
        for df in (2, 4, 8, 30, 98):
            t = inverse(lambda x, df=df: student(x, df), upper, Decimal(100))
            row["t"][df] = digits(t)
            # Hesterberg: the tail at which a bootstrap of n = df + 1 is as wide as Student's t.
            if (reach := (Decimal(df + 1) / df).sqrt() * t) < 8:
                row["tail"][df + 1] = digits(1 - phi(reach))
        rows.append(row)
    return rows


def wilson() -> list[dict]:
    rows, z = [], inverse(phi, Decimal("0.975"), Decimal(8))
    for x, n in [(0, 1), (0, 20), (1, 20), (50, 50), (317, 495), (1, 1000), (10**6 - 1, 10**6)]:
        p, n_ = Decimal(x) / n, Decimal(n)
        centre = (p + z * z / (2 * n_)) / (1 + z * z / n_)
        half = z / (1 + z * z / n_) * (p * (1 - p) / n_ + z * z / (4 * n_ * n_)).sqrt()
        rows.append({"x": x, "n": n, "low": digits(centre - half), "high": digits(centre + half)})
    return rows


def tango() -> list[dict]:
    """Tango's limits: where the score is z, for the likeliest share of lost pairs."""
    rows, z = [], inverse(phi, Decimal("0.975"), Decimal(8))
    for won, lost_, n in [(0, 0, 8), (1, 0, 99), (3, 4, 30), (8, 0, 12), (7, 2, 12), (1, 30, 40)]:

        def score(d: Decimal, won: int = won, lost_: int = lost_, n: int = n) -> Decimal:
            low, high = max(Decimal(0), -d), (1 - d) / 2
            for _ in range(170):
                q = (low + high) / 2
                slope = won / (d + q) + lost_ / q - 2 * (n - won - lost_) / (1 - d - 2 * q)
                low, high = (q, high) if slope > 0 else (low, q)
            return (Decimal(won - lost_) / n - d) / ((2 * low + d - d * d) / n).sqrt()

        seen, limits = Decimal(won - lost_) / n, []
        for target, low, high in ((z, Decimal(-1), seen), (-z, seen, Decimal(1))):
            for _ in range(150):
                d = (low + high) / 2
                low, high = (d, high) if score(d) > target else (low, d)
            limits.append(digits(low))
        rows.append({"won": won, "lost": lost_, "n": n, "low": limits[0], "high": limits[1]})
    return rows


def lost() -> list[dict]:
    """Clopper and Pearson's upper limit: where so few are seen with probability alpha."""
    rows = []
    for x, n, alpha in [(0, 30, 20), (0, 100, 20), (0, 1, 40), (1, 99, 40), (7, 200, 20),
                        (9, 500, 20), (29, 30, 20), (199, 200, 40), (100, 200, 20)]:  # fmt: skip
        low, high = Decimal(0), Decimal(1)
        for _ in range(160):
            p = (low + high) / 2
            tail = sum(math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(x + 1))
            low, high = (p, high) if tail > Decimal(1) / alpha else (low, p)
        rows.append({"lost": x, "n": n, "alpha": f"1/{alpha}", "limit": digits(low)})
    return rows


def betas() -> list[dict]:
    rows = []
    for a, b in product((Fraction(1, 50), Fraction(1, 3), Fraction(1), Fraction(7, 2)), repeat=2):
        for k in (1, 2, 5, 40):
            every, none = (math.prod((x + j) / (a + b + j) for j in range(k)) for x in (a, b))
            rows.append({"alpha": str(a), "beta": str(b), "k": k,
                         "all": digits(every), "any": digits(1 - none)})  # fmt: skip
    return rows


SECTIONS = (betas, lost, quantiles, tango, wilson)


if __name__ == "__main__":
    found = {make.__name__: make() for make in SECTIONS}
    save(__file__, f"Python {platform.python_version()}, decimal", found)
