"""Designs: which numbers the parameters of point i have, as a pure function of (seed, i), so that no point waits for another.

Grid, random, Latin hypercube (McKay, Beckman and Conover 1979) and Sobol (Joe and Kuo, SIAM J. Sci. Comput. 30, 2008, direction numbers of
new-joe-kuo-6). Random bits are the engine's counted ones, and logarithms are its own: the same numbers on every machine.
"""
from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import c
from .errors import StudyError

DESIGNS = ("grid", "random", "latin", "sobol")
_STREAM = 1 << 32  # of designs; a dimension each above it


@dataclasses.dataclass(frozen=True)
class Range:
    """What a parameter is drawn from: `values`, or from `low` to `high` (evenly, or in the logarithm), or about `mean` with `sd`.

    how: "set" takes the number in place of the model's, "scale" times it, "add" added to it. count: steps of a grid.
    """

    values: tuple[float, ...] = ()
    low: float | None = None
    high: float | None = None
    log: bool = False
    mean: float | None = None
    sd: float | None = None
    count: int | None = None
    how: str = "set"

    def check(self, name: str) -> None:
        kinds = [bool(self.values), self.low is not None or self.high is not None, self.mean is not None or self.sd is not None]
        if sum(kinds) != 1:
            raise StudyError(f"parameters.{name}: give values, or low and high, or mean and sd")
        given = [x for x in (*self.values, self.low, self.high, self.mean, self.sd) if x is not None]
        if not np.isfinite(given).all():
            raise StudyError(f"parameters.{name}: {given} are not all finite numbers")
        if kinds[1] and (self.low is None or self.high is None or not self.low < self.high):
            raise StudyError(f"parameters.{name}: low must be below high")
        if kinds[2] and (self.mean is None or self.sd is None or not self.sd > 0):
            raise StudyError(f"parameters.{name}: mean and sd > 0 belong together")
        if self.log and not (self.low is not None and self.low > 0):
            raise StudyError(f"parameters.{name}: log needs 0 < low")
        if self.how not in ("set", "scale", "add"):
            raise StudyError(f"parameters.{name}: how is {self.how!r}; it is one of set, scale, add")
        if self.count is not None and self.count < 1:
            raise StudyError(f"parameters.{name}: count is {self.count}; it is from 1")

    def levels(self, name: str) -> tuple[float, ...]:
        """Of a grid."""
        if self.values:
            return self.values
        if self.low is None or self.high is None or self.count is None:
            raise StudyError(f"parameters.{name}: a grid needs values, or low, high and count")
        return tuple(self.at(k / (self.count - 1)) for k in range(self.count)) if self.count > 1 else (self.at(0.5),)

    def at(self, u: float) -> float:
        """The number at a share u of the way, by the inverse of the distribution."""
        if self.values:
            return self.values[min(int(u * len(self.values)), len(self.values) - 1)]
        if self.mean is not None and self.sd is not None:
            return self.mean + self.sd * normal_quantile(u)
        assert self.low is not None and self.high is not None
        if not self.log:
            return self.high if u == 1 else self.low + u * (self.high - self.low)
        low, high = c.kk_log(self.low), c.kk_log(self.high)
        return min(max(c.kk_exp(low + u * (high - low)), self.low), self.high)


def _horner(x: float, *coefficients: float) -> float:
    value = 0.0
    for a in coefficients:
        value = value * x + a
    return value


def normal_quantile(u: float) -> float:
    """Inverse of the normal distribution: M. J. Wichura, algorithm AS 241 (PPND16), Applied Statistics 37, 1988."""
    q = u - 0.5
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        return q * _horner(r, 2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457, 13731.693765509461125,
                           1971.5909503065514427, 133.14166789178437745, 3.3871328727963666080) / \
            _horner(r, 5226.4952788528545610, 28729.085735721942674, 39307.895800092710610, 21213.794301586595867, 5394.1960214247511077,
                    687.18700749205790830, 42.313330701600911252, 1)
    r = c.kk_sqrt(-c.kk_log(u if q < 0 else 1 - u))
    if r <= 5:
        r -= 1.6
        value = _horner(r, 7.74545014278341407640e-4, 2.27238449892691845833e-2, 0.241780725177450611770, 1.27045825245236838258,
                        3.64784832476320460504, 5.76949722146069140550, 4.63033784615654529590, 1.42343711074968357734) / \
            _horner(r, 1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 0.148103976427480074590,
                    0.689767334985100004550, 1.67638483018380384940, 2.05319162663775882187, 1)
    else:
        r -= 5
        value = _horner(r, 2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
                        0.296560571828504891230, 1.78482653991729133580, 5.46378491116411436990, 6.65790464350110377720) / \
            _horner(r, 2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
                    1.48753612908506148525e-2, 0.136929880922735805310, 0.599832206555887937690, 1)
    return -value if q < 0 else value


# ---- shares of the way: u of point i in dimension d

def _random(seed: int, i: int, d: int) -> float:
    return c.kk_random_uniform_at(seed, _STREAM + d, i)


def _permuted(seed: int, i: int, d: int, n: int) -> int:
    """Where a permutation of 0 … n − 1 takes i: four Feistel rounds over the next power of four, again until the place is below n."""
    half = max(((n - 1).bit_length() + 1) // 2, 1)
    mask = (1 << half) - 1
    while True:
        left, right = i >> half, i & mask
        for turn in range(4):
            left, right = right, left ^ (c.kk_random_block(seed, 2 * _STREAM + d, right << 3 | turn).word[0] & mask)
        i = left << half | right
        if i < n:
            return i


def _latin(seed: int, i: int, d: int, n: int) -> float:
    return (_permuted(seed, i, d, n) + _random(seed, i, d)) / n


# degree s, a, m of dimensions 2 …; the first is van der Corput's
_SOBOL = ((1, 0, (1,)), (2, 1, (1, 3)), (3, 1, (1, 3, 1)), (3, 2, (1, 1, 1)), (4, 1, (1, 1, 3, 3)), (4, 4, (1, 3, 5, 13)),
          (5, 2, (1, 1, 5, 5, 17)), (5, 4, (1, 1, 5, 5, 5)), (5, 7, (1, 1, 7, 11, 19)), (5, 11, (1, 1, 5, 1, 1)), (5, 13, (1, 1, 1, 3, 11)),
          (5, 14, (1, 3, 5, 5, 31)), (6, 1, (1, 3, 3, 9, 7, 49)), (6, 13, (1, 1, 1, 15, 21, 21)), (6, 16, (1, 3, 1, 13, 27, 49)),
          (6, 19, (1, 1, 1, 15, 7, 5)), (6, 22, (1, 3, 1, 15, 13, 25)), (6, 25, (1, 1, 5, 5, 19, 61)), (7, 1, (1, 3, 7, 11, 23, 15, 103)),
          (7, 4, (1, 3, 7, 13, 13, 15, 69)))
_BITS = 32
SOBOL_MOST = len(_SOBOL) + 1


def _directions(d: int) -> list[int]:
    """v_k · 2³² of a dimension, Joe and Kuo (2003), equation 2."""
    if d == 0:
        return [1 << (_BITS - 1 - k) for k in range(_BITS)]
    s, a, first = _SOBOL[d - 1]
    m = list(first)
    for k in range(s, _BITS):
        value = m[k - s] ^ (m[k - s] << s)
        for j in range(1, s):
            value ^= ((a >> (s - 1 - j)) & 1) * (m[k - j] << j)
        m.append(value)
    return [m[k] << (_BITS - 1 - k) for k in range(_BITS)]


_DIRECTIONS = [_directions(d) for d in range(SOBOL_MOST)]


def sobol_bits(i: int, d: int) -> int:
    """x · 2³² of point i, in the order of Gray's code."""
    gray, x = i ^ (i >> 1), 0
    for k, v in enumerate(_DIRECTIONS[d]):
        if gray >> k & 1:
            x ^= v
    return x


def _sobol(seed: int, i: int, d: int) -> float:
    """Shifted digit by digit by the seed, in the middle of its cell: no point on the edges."""
    shift = c.kk_random_block(seed, 3 * _STREAM, d).word[0]
    return ((sobol_bits(i, d) ^ shift) + 0.5) / 2.0 ** _BITS


class Design:
    """The numbers of every point. `table` is a design that is given number by number."""

    def __init__(self, kind: str, ranges: dict[str, Range], points: int | None, seed: int, repeats: int,
                 table: Sequence[Sequence[float]] | None = None) -> None:
        if kind not in (*DESIGNS, "table"):
            raise StudyError(f"design is {kind!r}; it is one of {', '.join(DESIGNS)}")
        if repeats < 1:
            raise StudyError(f"repeats is {repeats}; it is from 1")
        for name, own in ranges.items():
            own.check(name)
        self.kind, self.seed, self.repeats, self.ranges = kind, seed, repeats, list(ranges.values())
        self.levels = [own.levels(name) for name, own in ranges.items()] if kind == "grid" else []
        self.table = None if table is None else np.asarray(table, np.float64).reshape(len(table), len(ranges))
        if kind == "sobol" and len(ranges) > SOBOL_MOST:
            raise StudyError(f"a Sobol design has at most {SOBOL_MOST} parameters; {len(ranges)} are given")
        if kind == "table" and self.table is None:
            raise StudyError("a design by a table needs the table")
        if kind in ("random", "latin", "sobol") and (points is None or not 1 <= points <= 1 << _BITS):
            raise StudyError(f"points is {points}; a {kind} design needs from 1 to {1 << _BITS}")
        self.places = int(np.prod([len(x) for x in self.levels], dtype=object)) if kind == "grid" else \
            len(self.table) if self.table is not None else int(points or 0)
        if kind == "grid" and points not in (None, self.places):
            raise StudyError(f"points is {points}; the grid has {self.places}")
        self.points = self.places * repeats

    def place(self, i: int) -> list[float]:
        """The numbers of place i; its repeats differ by their seed alone."""
        if self.table is not None:
            return self.table[i].tolist()
        if self.kind == "grid":
            found = []
            for levels in reversed(self.levels):
                i, k = divmod(i, len(levels))
                found.append(levels[k])
            return found[::-1]
        u = {"random": _random, "sobol": _sobol}.get(self.kind)
        return [own.at(u(self.seed, i, d) if u else _latin(self.seed, i, d, self.places)) for d, own in enumerate(self.ranges)]

    def values(self, first: int, count: int) -> NDArray[np.float64]:
        """[count, parameters] of points first, first + 1, …"""
        found: dict[int, list[float]] = {}
        for i in range(first // self.repeats, (first + count - 1) // self.repeats + 1):
            found[i] = self.place(i)
        rows: list[Any] = [found[p // self.repeats] for p in range(first, first + count)]
        return np.array(rows, np.float64).reshape(count, len(self.ranges))
