"""Aggregation over the rows of a result: in the order of the points and with exact quantiles, in memory that does not grow with them.

Sums are Neumaier's (1974), a chunk after the other. A quantile is found by its bits: doubles in the order of whole numbers, sixteen bits a pass.
"""
from __future__ import annotations

import os
import pathlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import c
from .study import STATUS, Plan

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_CHUNK = 65536


def _columns(rows: NDArray[Any], name: str) -> Any:
    """The numbers of points that did not fail, chunk by chunk."""
    for k in range(0, len(rows), _CHUNK):
        part = rows[k:k + _CHUNK]
        yield np.asarray(part[name][np.isfinite(part[name]) & (part["status"] != STATUS.index("failed"))], np.float64)


def _sum(parts: Any) -> float:
    """Of numbers in their order; numpy's own sum is in pairs whose order is its secret."""
    total = lost = 0.0
    for part in parts:
        for x in part.tolist():
            after = total + x
            lost += (total - after) + x if abs(total) >= abs(x) else (x - after) + total
            total = after
    return total + lost


def _ordered(x: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Whole numbers in the order of the doubles."""
    bits = (x + 0.0).view(np.uint64)
    return np.where(bits >> np.uint64(63), ~bits, bits | np.uint64(1 << 63))


def _number(bits: int) -> float:
    found = bits & ((1 << 63) - 1) if bits >> 63 else ~bits & ((1 << 64) - 1)
    return float(np.array(found, np.uint64).view(np.float64))


def _select(rows: NDArray[Any], name: str, rank: int) -> float:
    """The number of this rank, from 0."""
    prefix = 0
    for shift in (48, 32, 16, 0):
        counts = np.zeros(1 << 16, np.int64)
        for part in _columns(rows, name):
            bits = _ordered(part)
            if shift < 48:
                bits = bits[bits >> np.uint64(shift + 16) == np.uint64(prefix)]
            counts += np.bincount(((bits >> np.uint64(shift)) & np.uint64(0xffff)).astype(np.int64), minlength=1 << 16)
        upto = np.cumsum(counts)
        digit = int(np.searchsorted(upto, rank, side="right"))
        rank -= int(upto[digit - 1]) if digit else 0
        prefix = prefix << 16 | digit
    return _number(prefix)


def statistics(rows: NDArray[Any], name: str) -> dict[str, float]:
    n = sum(len(part) for part in _columns(rows, name))
    if n == 0:
        return {"count": 0, **{key: float("nan") for key in ("mean", "sd", "min", *(f"q{q:g}" for q in QUANTILES), "max")}}
    mean = _sum(_columns(rows, name)) / n
    squares = _sum(np.square(part - mean) for part in _columns(rows, name))
    found: dict[str, float] = {"count": n, "mean": mean, "sd": c.kk_sqrt(squares / (n - 1)) if n > 1 else 0.0,
                               "min": min(float(part.min()) for part in _columns(rows, name) if len(part))}
    for q in QUANTILES:  # the next rank, no interpolation: a number that was seen
        found[f"q{q:g}"] = _select(rows, name, min(int(q * n), n - 1))
    found["max"] = max(float(part.max()) for part in _columns(rows, name) if len(part))
    return found


def summarize(plan: Plan, rows: NDArray[Any]) -> dict[str, dict[str, float]]:
    return {name: statistics(rows, name) for name in plan.scalars}


def write_summary(plan: Plan, rows: NDArray[Any], out: pathlib.Path) -> None:
    from .results import write_aside
    counts = np.zeros(len(STATUS), np.int64)
    for k in range(0, len(rows), _CHUNK):
        counts += np.bincount(rows["status"][k:k + _CHUNK], minlength=len(STATUS))
    table = summarize(plan, rows)
    lines = [f"# points {len(rows)}" + "".join(f", {name} {int(n)}" for name, n in zip(STATUS, counts)),
             ",".join(["scalar", "count", "mean", "sd", "min", *(f"q{q:g}" for q in QUANTILES), "max"])]
    lines += [",".join([name, str(row.pop("count")), *(repr(x) for x in row.values())]) for name, row in table.items()]
    write_aside(out / "summary.csv", "\n".join(lines) + "\n")


def plot(plan: Plan, rows: NDArray[Any], out: pathlib.Path, most: int = 20000) -> list[pathlib.Path]:
    """Each scalar over each parameter, as SVG by the tool's own `karakuri plot`; of many points every so many-th."""
    import subprocess
    from ..__main__ import tool
    from .results import write_aside
    some = rows[::max(len(rows) // most, 1)]
    some = some[some["status"] != STATUS.index("failed")]
    names = [*plan.study.parameters, *plan.scalars]
    table = out / ".plot.csv"
    write_aside(table, "\n".join([",".join(names), *(",".join(map(repr, row)) for row in some[names].tolist())]) + "\n")
    found = []
    for parameter in plan.study.parameters:
        path = out / f"plot-{parameter.replace(os.sep, '_')}.svg"
        subprocess.run([tool(), "plot", str(table), "-x", parameter, "-y", "/".join(plan.scalars), "--points", "-o", str(path), "--quiet"], check=True)
        found.append(path)
    table.unlink()
    return found
