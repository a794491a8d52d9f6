"""Whoever searches: `ask()` gives candidates [population, n], `tell(candidates, costs)` takes what they cost; the least is the best.

Ours by name, "cma-es" and "genetic"; packages of others by "cma", "optuna", "nevergrad". With the same seed each asks for the same again, so that a
search that was ended goes on from its journal.
"""
from __future__ import annotations

import importlib
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import c
from .errors import MissingPackage, StudyError

Numbers = NDArray[np.float64]


class Optimizer(Protocol):
    population: int

    def ask(self) -> Numbers: ...

    def tell(self, candidates: Numbers, costs: Numbers) -> None: ...


class Ours:
    """kk_optimizer: CMA-ES or the genetic algorithm."""

    def __init__(self, kind: int, lower: Numbers, upper: Numbers, population: int, seed: int) -> None:
        self.raw = c.kk_optimizer_create(c.kk_optimizer_def(type=kind, n=len(lower), lower=lower, upper=upper, population=population, seed=seed))
        self.population, self.n = c.kk_optimizer_population(self.raw), len(lower)

    def ask(self) -> Numbers:
        candidates = np.zeros((self.population, self.n))
        c.kk_optimizer_ask(self.raw, candidates)
        return candidates

    def tell(self, candidates: Numbers, costs: Numbers) -> None:
        c.kk_optimizer_tell(self.raw, np.ascontiguousarray(costs, np.float64))


class Cma:
    """Hansen's own, the package cma."""

    def __init__(self, module: Any, lower: Numbers, upper: Numbers, population: int, seed: int) -> None:
        options = {"bounds": [0, 1], "seed": seed + 1, "verbose": -9, **({"popsize": population} if population else {})}
        self.raw, self.lower, self.width = module.CMAEvolutionStrategy(np.full(len(lower), 0.5), 0.3, options), lower, upper - lower
        self.population = self.raw.popsize

    def ask(self) -> Numbers:
        self.asked = self.raw.ask()
        return self.lower + self.width * np.array(self.asked)

    def tell(self, candidates: Numbers, costs: Numbers) -> None:
        self.raw.tell(self.asked, np.where(np.isfinite(costs), costs, 1e300).tolist())


class Optuna:
    def __init__(self, module: Any, lower: Numbers, upper: Numbers, population: int, seed: int) -> None:
        module.logging.set_verbosity(module.logging.ERROR)
        self.raw, self.population = module.create_study(sampler=module.samplers.TPESampler(seed=seed)), population or 16
        self.space = {f"x{k}": module.distributions.FloatDistribution(float(a), float(b)) for k, (a, b) in enumerate(zip(lower, upper))}

    def ask(self) -> Numbers:
        self.trials = [self.raw.ask(self.space) for _ in range(self.population)]
        return np.array([[trial.params[name] for name in self.space] for trial in self.trials])

    def tell(self, candidates: Numbers, costs: Numbers) -> None:
        for trial, cost in zip(self.trials, costs):
            self.raw.tell(trial, float(cost) if np.isfinite(cost) else 1e300)


class Nevergrad:
    def __init__(self, module: Any, lower: Numbers, upper: Numbers, population: int, seed: int) -> None:
        space = module.p.Array(init=0.5 * (lower + upper)).set_bounds(lower, upper)
        space.random_state.seed(seed)
        self.population = population or 16
        self.raw = module.optimizers.TwoPointsDE(parametrization=space, budget=None, num_workers=self.population)

    def ask(self) -> Numbers:
        self.asked = [self.raw.ask() for _ in range(self.population)]
        return np.array([candidate.value for candidate in self.asked])

    def tell(self, candidates: Numbers, costs: Numbers) -> None:
        for candidate, cost in zip(self.asked, costs):
            self.raw.tell(candidate, float(cost) if np.isfinite(cost) else 1e300)


_OTHERS = {"cma": Cma, "optuna": Optuna, "nevergrad": Nevergrad}
_OURS = {"cma-es": c.KK_OPTIMIZE_CMA_ES, "genetic": c.KK_OPTIMIZE_GENETIC}
METHODS = (*_OURS, *_OTHERS)


def optimizer(method: str, lower: Numbers, upper: Numbers, population: int, seed: int) -> Optimizer:
    if method in _OURS:
        return Ours(_OURS[method], lower, upper, population, seed)
    if method not in _OTHERS:
        raise StudyError(f"search.method is {method!r}; it is one of {', '.join(METHODS)}")
    try:
        module = importlib.import_module(method)
    except ImportError as error:
        raise MissingPackage(f"search.method {method!r} needs a package that is not installed ({error}): pip install {method}") from None
    return _OTHERS[method](module, lower, upper, population, seed)
