"""`karakuri optimize MODEL --on ENGINE`: the search of controls that the tool does on one machine, over an engine, with the same result.

Each chosen actuator's control is a cubic spline through a few knots (tools/cli/verb_optimize.c); a candidate is a point of a study whose controller
plays these.
"""
from __future__ import annotations

import argparse
import pathlib
import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import c
from .._model import Model
from .design import Range
from .errors import StudyError
from .search import Found, search
from .study import Plan, Search, Study

Numbers = NDArray[np.float64]
_ROWS = 20  # of the table of the best, a knot

SOURCE = "from karakuri.sweep.controls import Splines\n\n\ndef play(batch, **x):\n    return Splines(batch, SETTINGS, x)\n"


def sampled(time: float, knots: Numbers, times: Numbers) -> Numbers:
    """[len(times), actuators] of cubic splines through knots [actuators, knots] from 0 to time."""
    count = knots.shape[1]
    at = np.array([time * k / (count - 1) for k in range(count)])
    spline = c.kk_sequence_create(c.kk_sequence_def(interpolation=c.KK_INTERPOLATE_CUBIC, width=len(knots), time=at, value=np.ascontiguousarray(knots.T)))
    found = np.zeros((len(times), len(knots)))
    for row, t in zip(found, times.tolist()):
        c.kk_sequence_sample(spline, t, row, None, None)
    return found


class Splines:
    """The controller: all candidates of a block, step by step."""

    def __init__(self, batch: Any, settings: dict[str, Any], x: dict[str, Numbers]) -> None:
        self.actuators, limits = settings["actuators"], np.array(settings["limits"])
        knots, n = settings["knots"], len(batch)
        values = np.stack([x[f"x{k}"] for k in range(len(self.actuators) * knots)], axis=1).reshape(n, len(self.actuators), knots)
        times = np.array([k * settings["dt"] for k in range(settings["steps"])])
        rows = np.stack([sampled(settings["time"], own, times) for own in values], axis=1)  # [steps, n, actuators]
        low, high = limits[:, 0], limits[:, 1]
        self.rows = np.where(rows < low, low, np.where(rows > high, high, rows))
        self.most = np.where(high > -low, high, -low)
        self.step, self.sum = 0, np.zeros(n)

    def __call__(self, batch: Any) -> None:
        u = self.rows[self.step]
        batch.control[:, self.actuators] = u
        share = np.zeros(len(u))
        for k in range(u.shape[1]):
            share = share + u[:, k] * u[:, k] / (self.most[k] * self.most[k])
        self.sum = self.sum + share / u.shape[1]
        self.step += 1

    @property
    def effort(self) -> Numbers:
        return self.sum / len(self.rows)


class Goal:
    """The cost as the tool has it: ± the number, and a weight of the effort."""

    def __init__(self, sign: float, weight: float, value: Numbers, effort: Numbers) -> None:
        self.cost = sign * value + weight * effort


def limits_of(model: Model, chosen: list[int], most: float) -> list[list[float]]:
    found = []
    for k in chosen:
        a = c.kk_model_actuator(model.raw, k)
        low, high = a.control_lower, a.control_upper
        if a.type == c.KK_ACTUATOR_FORCE and a.gain > 0:
            low, high = max(low, a.force_lower / a.gain), min(high, a.force_upper / a.gain)
        if most > 0:
            low, high = max(low, -most), min(high, most)
        if not (low > -1e300 and high < 1e300):
            raise StudyError(f"actuator {label(model, k)!r} has no limits — give --limit")
        found.append([low, high])
    return found


def label(model: Model, k: int) -> str:
    """An actuator's own name, or that of what it drives."""
    a = c.kk_model_actuator(model.raw, k)
    if a.name:
        return a.name
    if a.transmission == c.KK_TRANSMISSION_JOINT:
        return c.kk_model_joint(model.raw, a.joint).name or ""
    return (c.kk_model_tendon_name(model.raw, a.tendon) if a.transmission == c.KK_TRANSMISSION_TENDON else None) or f"actuator{k}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("karakuri optimize")
    parser.add_argument("model")
    parser.add_argument("-t", "--time", type=float, required=True)
    parser.add_argument("--maximize")
    parser.add_argument("--minimize")
    parser.add_argument("--effort", type=float, default=0.0)
    parser.add_argument("--actuators")
    parser.add_argument("--limit", type=float, default=0.0)
    parser.add_argument("--knots", type=int, default=8)
    parser.add_argument("--method", default="cma-es")
    parser.add_argument("-g", "--generations", type=int, default=60)
    parser.add_argument("--population", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-j", "--jobs", type=int)
    parser.add_argument("-k", "--keyframe")
    parser.add_argument("--dt", type=float)
    parser.add_argument("-o", "--out")
    parser.add_argument("--on", default="processes")
    parser.add_argument("--journal", help="folder of the journal, to go on from; without it nothing is kept")
    parser.add_argument("--search", action="append", default=[])
    parser.add_argument("--arg", action="append", default=[])
    parser.add_argument("--package-path")
    parser.add_argument("--base", default="file")
    parser.add_argument("--meshes", default="all")
    for flag in ("floor", "servos", "allow-absolute", "clean-collisions", "exact-meshes", "json", "quiet"):
        parser.add_argument(f"--{flag}", action="store_true")
    parser.add_argument("-q", dest="quiet", action="store_true")
    for ignored in ("color", "srdf"):
        parser.add_argument(f"--{ignored}")
    return parser


def _load(options: argparse.Namespace) -> Model:
    if options.model.startswith("robot:") or options.srdf or options.exact_meshes:
        raise StudyError("--on needs a model file, without --srdf and --exact-meshes: 'karakuri convert' writes one")
    arguments = dict(word.replace(":=", "=").split("=", 1) for word in options.arg)
    return Model.load(options.model, floor=options.floor, actuators=options.servos, allow_absolute=options.allow_absolute, base=options.base,
                      meshes=options.meshes, clean_collisions=options.clean_collisions or options.floor or options.servos, place_on_floor=options.floor, search=options.search, package_path=options.package_path,
                      arguments=arguments)


def plan_of(options: argparse.Namespace) -> tuple[Plan, dict[str, Any]]:
    goal = options.maximize or options.minimize
    if not goal or (options.maximize and options.minimize):
        raise StudyError("give one of --maximize and --minimize, for example --maximize end:hand.z")
    model = _load(options)
    names = options.actuators.split(",") if options.actuators else None
    chosen = [k for k in range(model.nu) if names is None or label(model, k) in names]
    if not chosen:
        raise StudyError(f"none of the model's {model.nu} actuators is chosen — karakuri info tells their names")
    limits = limits_of(model, chosen, options.limit)
    dt = options.dt or model.timestep
    settings = {"actuators": chosen, "limits": limits, "knots": options.knots, "time": options.time, "dt": dt, "steps": int(options.time / dt + 0.5)}
    ranges = {f"controller.x{a * options.knots + k}": Range(low=low, high=high) for a, (low, high) in enumerate(limits) for k in range(options.knots)}
    study = Study(model, horizon=options.time, parameters=ranges, points=1 << 32, seed=options.seed, block=max(min(options.population or 16, 16), 1),
                  scalars={"value": goal, "effort": "controller:effort"}, timestep=options.dt, keyframe=options.keyframe, controller="splines:play",
                  search=Search(minimize="value", method=options.method, generations=options.generations, population=options.population))
    return Plan(study, model, ("splines", f"SETTINGS = {settings!r}\n{SOURCE}", "play")), settings


def main(words: list[str]) -> int:
    options = _parser().parse_args(words)
    plan, settings = plan_of(options)
    with tempfile.TemporaryDirectory() as folder:
        sign = -1.0 if options.maximize else 1.0
        found = search(plan, options.journal or folder, engine=options.on, workers=options.jobs, quiet=options.quiet,
                       cost=lambda rows: Goal(sign, options.effort, rows["value"], rows["effort"]).cost)
    if found.cost >= 1e300:
        raise StudyError("no candidate could be simulated to its end")
    best = np.array(list(found.best.values())).reshape(len(settings["actuators"]), options.knots)
    if options.out:
        _write(options, plan.model, settings, best)
    _tell(options, plan, found)
    return 0


def _write(options: argparse.Namespace, model: Model, settings: dict[str, Any], best: Numbers) -> None:
    count = _ROWS * (options.knots - 1)
    times = np.array([options.time * k / count for k in range(count + 1)])
    rows, limits = sampled(options.time, best, times), np.array(settings["limits"])
    rows = np.where(rows < limits[:, 0], limits[:, 0], np.where(rows > limits[:, 1], limits[:, 1], rows))
    lines = [",".join(["time [s]", *(label(model, k) for k in settings["actuators"])])]
    lines += [",".join(c.kk_number_format(x)[1] for x in [t, *row]) for t, row in zip(times.tolist(), rows.tolist())]
    pathlib.Path(options.out).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _tell(options: argparse.Namespace, plan: Plan, found: Found) -> None:
    goal = options.maximize or options.minimize
    if options.json:
        import json
        print(json.dumps({"verb": "optimize", "ok": True, "notes": [], "model": plan.model.name, "goal": goal, "cost": found.cost, "generations": len(found.history),
                          "population": found.population, "parameters": len(found.best), "best": list(found.best.values()), "out": options.out}))
        return
    plain = options.effort == 0
    print(f"{goal}: {'' if plain else 'cost '}{-found.cost if plain and options.maximize else found.cost:.6g}")
    print(f"  searched      {len(found.best)} parameters, {len(found.history)} generations of {found.population}, on {options.on}")
    if options.out:
        print(f"  controls      {options.out}")
