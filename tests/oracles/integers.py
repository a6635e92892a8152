"""Exact answers in whole numbers and fractions, written to integers.json beside this file.

    python tests/oracles/integers.py

Python's standard library only: no floats, no numpy, nothing of `repeval`. The generating function
of a law is evaluated at one large power of two, so that the law of a sum of N problems is the N-th
power of one whole number. For the smallest tables every resample is listed besides, and both must
agree. Fractions are written as such ("7/16"), those too long to read as 40 digits.
"""

import math
import platform
from decimal import getcontext
from fractions import Fraction
from itertools import accumulate, combinations, product

from written import digits, save

getcontext().prec = 60
LAWS = ("one_level", "two_level", "fixed_bootstrap")
LEVELS = (Fraction(1, 200), Fraction(1, 40), Fraction(1, 2), Fraction(39, 40), Fraction(199, 200))
# What quantiles forgive, as the package says of itself.
FORGIVEN = Fraction(1, 10**12)


def made(n: int, runs: int, a: int, b: int) -> list[int]:
    """Passes by a formula, so that nothing is drawn."""
    return [(a * i * i + b * i) % (runs + 1) for i in range(n)]


def grouped(*counts: int) -> list[int]:
    """Problems with 0, 1, 2, ... passes, so many of each."""
    return [k for k, n in enumerate(counts) for _ in range(n)]


TABLES: dict[str, tuple[list[int], int | list[int]]] = {
    "one problem": ([2], 3),
    "one problem, one run": ([1], 1),
    "one problem, always passed": ([5], 5),
    "two problems": ([0, 3], 3),
    "two problems, one run": ([1, 0], 1),
    "the toy": ([3, 3, 1, 1, 1, 0], 3),
    "the toy of the docstrings": ([3, 3, 0, 1, 2, 0], 3),
    "all equal": ([2, 2, 2, 2], 4),
    "all passed": ([3, 3, 3, 3, 3], 3),
    "all failed": ([0, 0, 0, 0], 2),
    "no spread but run noise": ([1] * 10, 2),
    "single runs": ([1, 0, 1, 1, 0], 1),
    "unequal runs": ([1, 2, 3, 0, 4], [1, 2, 3, 4, 5]),
    "some run once": ([1, 0, 2, 1, 3, 1], [1, 1, 3, 1, 3, 2]),
    "one problem of many runs": ([1, 0, 1, 17], [1, 1, 1, 30]),
    "polarised": (grouped(24, 7, 6, 4, 6, 52), 5),
    "nearly fixed": (grouped(62, 2, 1, 0, 2, 32), 5),
    "one failure of 150": ([2] + [3] * 149, 3),
    "one pass of 150": ([1] + [0] * 149, 3),
    "sixty by twenty": (made(60, 20, 7, 5), 20),
    "fifty by seven": (made(50, 7, 3, 2), 7),
    "a hundred single runs": (made(100, 1, 1, 1)[:50] + [1, 0] * 25, 1),
    "200 by three": (made(200, 3, 3, 1), 3),
    "200 by two or five": ([(7 * i) % (3 if i % 2 else 6) for i in range(200)],
                           [2 if i % 2 else 5 for i in range(200)]),
    "200, 7 lost": ([0] * 7 + [1] * 193, 1),
}  # fmt: skip

PAIRS: dict[str, tuple[str, str]] = {
    "toys": ("the toy", "the toy of the docstrings"),
    "a system and itself": ("fifty by seven", "fifty by seven"),
    "unequal runs": ("unequal runs", "single runs"),
    "polarised": ("polarised", "nearly fixed"),
    "one run": ("200, 7 lost", "200 by three"),
    "200 by two or five": ("200 by two or five", "a hundred single runs"),
    "one failure": ("one failure of 150", "one pass of 150"),
}


def table_of(name: str) -> tuple[list[int], list[int]]:
    passes, runs = TABLES[name]
    return passes, [runs] * len(passes) if isinstance(runs, int) else runs


# ---- laws ---------------------------------------------------------------------------------


def one_problem(k: int, r: int, step: int, name: str) -> list[int]:
    """Numbers of ways, of r^r, in which r redrawn runs of a problem have 0, 1, ... passes."""
    ways = [math.comb(r, j) * k**j * (r - k) ** (r - j) for j in range(r + 1)]
    if name == "one_level":
        ways = [r**r * (j == k) for j in range(r + 1)]
    spaced = [0] * (r * step + 1)
    spaced[::step] = ways
    return spaced


def room(whole: int) -> int:
    """Bits, in whole bytes, for a number of at most so many ways."""
    return 8 * (whole.bit_length() // 8 + 1)


def packed(law: list[int], bits: int) -> int:
    return int.from_bytes(b"".join(x.to_bytes(bits // 8, "little") for x in law), "little")


def unpacked(number: int, bits: int, size: int) -> list[int]:
    step = bits // 8
    all_ = number.to_bytes(step * size, "little")
    return [int.from_bytes(all_[j : j + step], "little") for j in range(0, step * size, step)]


def mixed(laws: list[list[int]], sizes: list[int]) -> tuple[list[int], int]:
    """Ways of one of these laws at random, each with `sizes` ways in all, and all ways."""
    whole = math.lcm(*sizes)
    columns = zip(
        *([x * (whole // s) for x in law] for law, s in zip(laws, sizes, strict=True)), strict=True
    )
    return [sum(column) for column in columns], whole * len(laws)


def sum_law(laws: list[list[int]], sizes: list[int], drawn: bool) -> tuple[list[int], int]:
    """Ways of a sum over N problems, which are drawn at random or all there, and all ways."""
    n, length = len(laws), (len(laws[0]) - 1) * len(laws) + 1
    if drawn:
        one, whole = mixed(laws, sizes)
        bits = room(whole**n)
        return unpacked(packed(one, bits) ** n, bits, length), whole**n
    whole = math.prod(sizes)
    bits, number = room(whole), 1
    for law in laws:
        number *= packed(law, bits)
    return unpacked(number, bits, length), whole


def mean_law(passes: list[int], runs: list[int], name: str) -> tuple[list[int], int, int]:
    """Ways of the total on 0..N L, all ways, and L."""
    lattice = math.lcm(*runs)
    laws = [one_problem(k, r, lattice // r, name) for k, r in zip(passes, runs, strict=True)]
    ways, whole = sum_law(laws, [r**r for r in runs], name != "fixed_bootstrap")
    return ways, whole, lattice


def listed(passes: list[int], runs: list[int], name: str) -> dict[Fraction, Fraction]:
    """The law of the mean by listing every resample."""
    n, law = len(passes), {}
    problems = [range(n)] * n if name != "fixed_bootstrap" else [[i] for i in range(n)]
    for chosen in product(*problems):
        outcomes = [[int(j < passes[i]) for j in range(runs[i])] for i in chosen]
        # Redrawn runs of one problem: every list of so many, each as likely.
        redrawn = [
            list(product(o, repeat=len(o))) if name != "one_level" else [o] for o in outcomes
        ]
        share = Fraction(1, math.prod(map(len, problems)) * math.prod(map(len, redrawn)))
        for each in product(*redrawn):
            mean = sum(Fraction(sum(o), len(o)) for o in each) / n
            law[mean] = law.get(mean, 0) + share
    return law


def laws() -> list[dict]:
    rows = []
    for table in TABLES:
        passes, runs = table_of(table)
        for name in LAWS:
            ways, whole, lattice = mean_law(passes, runs, name)
            if len(passes) ** len(passes) * math.prod(r**r for r in runs) <= 300_000:
                point = Fraction(1, len(passes) * lattice)
                found = {j * point: Fraction(x, whole) for j, x in enumerate(ways) if x}
                assert found == listed(passes, runs, name), (table, name)
            rows.append({"table": table, "law": name, **summary(ways, whole, 0)})
    return rows


def summary(ways: list[int], whole: int, zero: int) -> dict:
    """Moments and quantiles on the lattice, `zero` being the number of its point 0."""
    mean = Fraction(sum(j * x for j, x in enumerate(ways)), whole)
    second, third = (
        Fraction(sum((mean.denominator * j - mean.numerator) ** p * x for j, x in enumerate(ways)),
                 whole * mean.denominator**p) for p in (2, 3)
    )  # fmt: skip
    up_to = list(accumulate(ways))
    points = [next(j for j, x in enumerate(up_to) if Fraction(x, whole) >= q - FORGIVEN)
              for q in LEVELS]  # fmt: skip
    return {
        "mean": digits(mean - zero), "variance": digits(second), "third": digits(third),
        "quantiles": [j - zero for j in points],
        "cdf": [digits(Fraction(up_to[j], whole)) for j in points],
    }  # fmt: skip


def pairs() -> list[dict]:
    """Paired differences on the lattice -N L..N L."""
    rows = []
    for pair, names in PAIRS.items():
        (a, ra), (b, rb) = map(table_of, names)
        n = min(len(a), len(b))
        a, ra, b, rb = a[:n], ra[:n], b[:n], rb[:n]
        lattice = math.lcm(*ra, *rb)
        for name in LAWS[:2]:
            both, sizes = [], []
            for ka, na, kb, nb in zip(a, ra, b, rb, strict=True):
                one, two = (one_problem(*x, name) for x in
                            ((ka, na, lattice // na), (kb, nb, lattice // nb)))  # fmt: skip
                bits = room(sum(one) * sum(two))
                number = packed(one, bits) * packed(two[::-1], bits)
                both.append(unpacked(number, bits, 2 * lattice + 1))
                sizes.append(na**na * nb**nb)
            ways, whole = sum_law(both, sizes, drawn=True)
            zero = n * lattice
            greater = Fraction(sum(ways[zero + 1 :]), whole)
            rows.append({"pair": pair, "a": names[0], "b": names[1], "n": n, "law": name,
                         "greater": digits(greater), "tie": digits(Fraction(ways[zero], whole)),
                         **summary(ways, whole, zero)})  # fmt: skip
    return rows


# ---- formulas in fractions ------------------------------------------------------------------


def parts() -> list[dict]:
    """Variance components, and the moment fits of the beta-binomial."""
    rows = []
    for table in TABLES:
        passes, runs = table_of(table)
        if (n := len(passes)) < 2:
            continue
        p = [Fraction(k, r) for k, r in zip(passes, runs, strict=True)]
        mean = sum(p) / n
        spread = sum((x - mean) ** 2 for x in p) / (n - 1)
        noise = [r * x * (1 - x) / (r - 1) if r > 1 else None for x, r in zip(p, runs, strict=True)]
        known = [v for v in noise if v is not None]
        row = {"table": table, "mean": str(mean), "spread": str(spread)}
        if known:
            within = sum(known) / len(known)
            run_noise = (
                sum((within if v is None else v) / r for v, r in zip(noise, runs, strict=True)) / n
            )
            between = spread - run_noise
            row |= {"within": str(within), "run_noise": str(run_noise), "between": str(between)}
            if between > 0:
                row |= {"icc": str(between / (between + within)),
                        "ceiling": str(1 + within / between)}  # fmt: skip
                totals = within / between, mean * (1 - mean) / between - 1
                for method, total in zip(("moments", "paper"), totals, strict=True):
                    if total > 0:
                        row[method] = [str(mean * total), str((1 - mean) * total)]
        # Every third problem one cluster; the variance divides squares by what is not in it.
        if n >= 6:
            sums = [sum(x - mean for x in p[g::3]) for g in range(3)]
            sizes = [len(p[g::3]) for g in range(3)]
            row["clustered"] = str(
                sum(s**2 / (1 - Fraction(m, n)) for s, m in zip(sums, sizes, strict=True)) / n**2
            )
        rows.append(row)
    return rows


def tries() -> list[dict]:
    """pass@k and pass^k of a table."""
    rows = []
    for table in TABLES:
        passes, runs = table_of(table)
        if (n := len(passes)) < 2:
            continue
        for k in range(1, min(runs) + 1):
            none, every = (
                sum(
                    Fraction(math.comb(x, k), math.comb(r, k))
                    for x, r in zip(part, runs, strict=True)
                )
                / n
                for part in ([r - x for x, r in zip(passes, runs, strict=True)], passes)
            )
            rows.append({"table": table, "k": k, "any": str(1 - none), "all": str(every)})
    return rows


def iccs() -> list[dict]:
    """The law of the ICC when problems are drawn: every resample of a small table listed."""
    rows = []
    for passes, r in (
        ([3, 3, 1, 1, 1, 0], 3),
        ([0, 1, 2, 3, 4], 5),
        ([2, 1, 0, 2], 2),
        ([0, 4, 4], 4),
    ):
        n, law = len(passes), {}
        for drawn in product(passes, repeat=n):
            p = [Fraction(k, r) for k in drawn]
            within = sum(r * x * (1 - x) for x in p) / (r - 1) / n
            between = sum((x - sum(p) / n) ** 2 for x in p) / (n - 1) - within / r
            icc = between / (between + within) if between + within else Fraction(0)
            law[icc] = law.get(icc, 0) + Fraction(1, n**n)
        falling = sorted(law, reverse=True)
        up_to = list(accumulate(law[x] for x in falling))
        limits = [next(x for x, f in zip(falling, up_to, strict=True) if f >= q - FORGIVEN)
                  for q in (Fraction(1, 40), Fraction(39, 40))]  # fmt: skip
        rows.append({"passes": passes, "runs": r, "icc_high": str(limits[0]),
                     "icc_low": str(limits[1]),
                     "undefined": str(sum(f for x, f in law.items() if x <= 0))})  # fmt: skip
    return rows


# ---- tests by counting ------------------------------------------------------------------------


def fisher() -> list[dict]:
    """Fisher's test of one problem, and how often run noise alone lets A score lower or higher."""
    rows = []
    for ka, ra, kb, rb in [(5, 5, 0, 5), (4, 5, 1, 5), (3, 3, 0, 3), (2, 4, 5, 7), (0, 2, 0, 9),
                           (9, 10, 3, 10), (1, 1, 0, 1), (6, 6, 1, 30), (40, 60, 21, 50),
                           ]:  # fmt: skip
        total = ka + kb
        ways = {k: math.comb(ra, k) * math.comb(rb, total - k) for k in range(ra + 1) if k <= total}
        whole = math.comb(ra + rb, total)
        as_rare = sum(w for w in ways.values() if w <= ways[ka])
        less, more = (
            sum(w for k, w in ways.items() if sign * (k * rb - (total - k) * ra) > 0)
            for sign in (-1, 1)
        )
        rows.append({"a": [ka, ra], "b": [kb, rb], "p": str(Fraction(as_rare, whole)),
                     "less": str(Fraction(less, whole)), "more": str(Fraction(more, whole)),
                     })  # fmt: skip
    return rows


def neighbours() -> list[dict]:
    """Do neighbouring runs agree more? All orders of the passes of every problem, listed."""
    rows = []
    for table in (
        ["0011", "0101", "0111"],
        ["00011", "10101", "01110", "11111"],
        ["000111", "010101"],
    ):
        mixed_ = [x for x in table if len(set(x)) == 2]
        runs = len(table[0])
        law = {0: Fraction(1)}
        for x in mixed_:
            places = [{*c} for c in combinations(range(runs), x.count("1"))]
            new: dict[int, Fraction] = {}
            for place, (sum_, share) in product(places, law.items()):
                agree = sum((j in place) == (j + 1 in place) for j in range(runs - 1))
                new[sum_ + agree] = new.get(sum_ + agree, 0) + share / len(places)
            law = new
        seen = sum(x[j] == x[j + 1] for x in mixed_ for j in range(runs - 1))
        mean = sum(s * f for s, f in law.items())
        p = sum(f for s, f in law.items() if abs(s - mean) >= abs(seen - mean))
        rows.append({"outcomes": table, "p": str(p)})
    return rows


SECTIONS = (laws, pairs, parts, tries, iccs, fisher, neighbours)


if __name__ == "__main__":
    tables = [{"table": name, "passes": k, "runs": r} for name, (k, r) in TABLES.items()]
    found = {"tables": tables} | {make.__name__: make() for make in SECTIONS}
    save(__file__, f"Python {platform.python_version()}, fractions", found)
