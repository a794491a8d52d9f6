"""Searches over the engines of sweeps: a generation is so many blocks, told when all of it is there, in its order.

Every candidate's result is in the journal, so a search that was ended asks for the same candidates again, finds them there, and goes on.
"""
from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .block import FAILED
from .driver import Driver, journal_path
from .errors import OtherStudy, StudyError
from .journal import Journal, Scan
from .optimizers import Optimizer, optimizer
from .progress import Progress
from .study import Plan, Study, prepare

WORST = 1e300


@dataclasses.dataclass
class Found:
    """The best so far: its cost, its parameters by name, and the best cost of each generation."""

    cost: float
    best: dict[str, float]
    history: list[float]
    evaluations: int
    population: int


class _Searcher:
    def __init__(self, plan: Plan, method: Optimizer | None, cost: Callable[[NDArray[Any]], Any] | None) -> None:
        wanted = plan.study.search
        assert wanted is not None
        if (wanted.minimize is None) == (wanted.maximize is None):
            raise StudyError("search: give one of minimize and maximize, the name of a scalar")
        self.score = wanted.minimize or wanted.maximize or ""
        self.sign = 1.0 if wanted.minimize else -1.0
        if self.score not in plan.scalars:
            raise StudyError(f"search: there is no scalar {self.score!r}; there are {', '.join(plan.scalars) or 'none'}")
        lower, upper = _bounds(plan.study)
        self.plan, self.generations, self._cost = plan, wanted.generations, cost
        self.optimizer = method or optimizer(wanted.method, lower, upper, wanted.population, plan.study.seed)
        self.per_generation = -(-self.optimizer.population // plan.study.block)

    def blocks(self, generation: int, candidates: NDArray[np.float64]) -> dict[int, NDArray[np.float64]]:
        size = self.plan.study.block
        return {generation * self.per_generation + k: candidates[k * size:(k + 1) * size] for k in range(self.per_generation)}

    def costs(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        """What failed costs as much as can be."""
        values = np.asarray(self._cost(rows), np.float64) if self._cost else self.sign * np.asarray(rows[self.score], np.float64)
        return np.where((rows["status"] == FAILED) | ~np.isfinite(values), WORST, values)


def _bounds(study: Study) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    for name, own in study.parameters.items():
        if own.low is None or own.high is None:
            raise StudyError(f"parameters.{name}: a search needs low and high")
    if not study.parameters:
        raise StudyError("a search needs parameters")
    return (np.array([own.low for own in study.parameters.values()], np.float64), np.array([own.high for own in study.parameters.values()], np.float64))


def _kept(journal: Journal, plan: Plan) -> dict[int, NDArray[Any]]:
    with Scan(journal.path) as scan:
        return {record.block: np.frombuffer(record.rows, plan.dtype) for record in scan.records()}


def search(study: Study | Plan | str | os.PathLike[str], out: str | os.PathLike[str], *, engine: Any = "processes", workers: int | None = None,
           quiet: bool = True, method: Optimizer | None = None, cost: Callable[[NDArray[Any]], Any] | None = None) -> Found:
    """Runs the study's search, or what is left of it. method: any other optimiser with ask and tell. cost: of rows, in place of the scalar."""
    plan = study if isinstance(study, Plan) else _prepared(study)
    own = _Searcher(plan, method, cost)
    driver = Driver(plan, out, engine, workers, quiet)
    found = Found(math.inf, {}, [], 0, own.optimizer.population)
    with Journal(journal_path(driver.out, 0, 1), driver.header) as journal:
        kept, failed = _kept(journal, plan), True
        try:
            total = own.generations * own.optimizer.population
            with Progress(total, sum(map(len, kept.values())), quiet=quiet) as progress:
                for generation in range(own.generations):
                    _generation(own, driver, journal, kept, progress, generation, found)
            failed = False
        finally:
            driver.close(cancel=failed)
    return found


def _prepared(study: Study | str | os.PathLike[str]) -> Plan:
    """Candidates are given, not drawn: the design is only asked for how many there may be."""
    study = study if isinstance(study, Study) else Study.read(study)
    if study.search is None:
        raise StudyError("the study has no search")
    return prepare(study.replace(design="random", points=1 << 32, repeats=1))


def _generation(own: _Searcher, driver: Driver, journal: Journal, kept: dict[int, NDArray[Any]], progress: Progress, generation: int,
                found: Found) -> None:
    candidates = own.optimizer.ask()
    blocks = own.blocks(generation, candidates)
    for number, values in blocks.items():
        if number in kept and not _same(own.plan, kept[number], values):
            raise OtherStudy(f"{journal.path}: generation {generation} has other candidates there; choose another folder by --out")
    driver.run([(k, values) for k, values in blocks.items() if k not in kept], journal, progress,
               lambda outcome: kept.__setitem__(outcome.number, np.frombuffer(outcome.rows, own.plan.dtype)))
    costs = np.concatenate([own.costs(kept.pop(k)) for k in blocks])
    own.optimizer.tell(candidates, costs)
    first = int(np.argmin(costs))
    if costs[first] < found.cost:
        found.cost = float(costs[first])
        found.best = dict(zip(own.plan.study.parameters, candidates[first].tolist()))
    found.history.append(float(costs[first]))
    found.evaluations += len(costs)


def _same(plan: Plan, rows: NDArray[Any], values: NDArray[np.float64]) -> bool:
    return len(rows) == len(values) and all(np.array_equal(rows[name], values[:, k]) for k, name in enumerate(plan.study.parameters))
