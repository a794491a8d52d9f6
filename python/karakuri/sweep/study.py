"""Studies: a model, the parameters of its points, how long, and what to record. From a TOML file, a Python module or a call."""
from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import pathlib
import pickle
import tomllib
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import __version__, c
from .._model import Model
from .design import Design, Range
from .errors import StudyError
from .points import check_parameter
from .quantities import Condition, Scalar, quantity

FORMAT = 1  # of rows, journals and results
STATUS = ("done", "stopped", "pruned", "failed")
_RECORDINGS = ("none", "all", "failures")


@dataclasses.dataclass(frozen=True)
class Rungs:
    """Successive halving: at these times, in s, each block keeps the share of its simulations whose score is best so far."""

    score: str
    at: tuple[float, ...]
    keep: float = 0.5
    maximize: bool = True


@dataclasses.dataclass(frozen=True)
class Search:
    """The parameters are searched instead of sampled: generation by generation, for the least or the largest of a scalar."""

    minimize: str | None = None
    maximize: str | None = None
    method: str = "cma-es"
    generations: int = 20
    population: int = 0


@dataclasses.dataclass(frozen=True)
class Study:
    """`parameters` are by name: "mass.trunk", "friction", "gravity.z", "start.knee.q", "control.motor", "controller.gain",
    "spec.actuator.motor.gain". `scalars` are by name, as in {"height": "max:trunk.z"}; `curves` as in {"hand": "hand.z"}, a sample every `every`
    seconds. `controller` is "file.py:function", called with the batch and the controller's arguments; it gives what is called before each
    step (every `control_every` steps). `repeats` points of each place differ by their seed alone. A `block` is what a worker runs at once;
    early stopping by rungs is among the simulations of a block, so it belongs to the study, as the number of shards does not.
    """

    model: Any
    horizon: float
    parameters: Mapping[str, Range] = dataclasses.field(default_factory=dict)
    design: str = "random"
    points: int | None = None
    seed: int = 0
    repeats: int = 1
    table: Sequence[Sequence[float]] | None = None
    block: int = 64
    scalars: Mapping[str, str] = dataclasses.field(default_factory=dict)
    curves: Mapping[str, str] = dataclasses.field(default_factory=dict)
    every: float | None = None
    recordings: str | Sequence[int] = "none"
    until: str | None = None
    rungs: Rungs | None = None
    search: Search | None = None
    controller: str | None = None
    control_every: int = 1
    timestep: float | None = None
    keyframe: str | None = None
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    load: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    folder: str = "."

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Study:
        """From FILE.toml, or from FILE.py, which sets `study`."""
        path = pathlib.Path(path)
        if path.suffix == ".py":
            return _from_module(path)
        try:
            with open(path, "rb") as file:
                text = tomllib.load(file)
        except OSError as error:
            raise StudyError(f"{path}: {error.strerror}") from None
        except tomllib.TOMLDecodeError as error:
            raise StudyError(f"{path}: {error}") from None
        try:
            return _from_table(text, str(path.parent))
        except StudyError as error:
            raise StudyError(f"{path}: {error}") from None

    def replace(self, **changes: Any) -> Study:
        return dataclasses.replace(self, **changes)


def _from_module(path: pathlib.Path) -> Study:
    namespace: dict[str, Any] = {"__name__": "study", "__file__": str(path)}
    try:
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), namespace)
    except OSError as error:
        raise StudyError(f"{path}: {error.strerror}") from None
    study = namespace.get("study")
    if not isinstance(study, Study):
        raise StudyError(f"{path}: it must set study = karakuri.sweep.Study(…)")
    return study if study.folder != "." else study.replace(folder=str(path.parent))


def _range(name: str, value: Any) -> Range:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Range(values=(float(value),))
    if isinstance(value, list):
        return Range(values=tuple(float(x) for x in value))
    if not isinstance(value, dict):
        raise StudyError(f"parameters.{name} is {value!r}; a number, a list or {{low = …, high = …}} is wanted")
    known = {field.name for field in dataclasses.fields(Range)}
    unknown = sorted(set(value) - known)
    if unknown:
        raise StudyError(f"parameters.{name}: there is no {unknown[0]!r}; there are {', '.join(sorted(known))}")
    return Range(**{**value, **({"values": tuple(value["values"])} if "values" in value else {})})


def _fields(kind: type, name: str, value: Any) -> Any:
    known = {field.name for field in dataclasses.fields(kind)}
    if not isinstance(value, dict) or set(value) - known:
        unknown = sorted(set(value) - known)[0] if isinstance(value, dict) else value
        raise StudyError(f"{name}: there is no {unknown!r}; there are {', '.join(sorted(known))}")
    try:
        return kind(**{key: tuple(x) if isinstance(x, list) else x for key, x in value.items()})
    except TypeError as error:
        raise StudyError(f"{name}: {error}") from None


def _from_table(text: dict[str, Any], folder: str) -> Study:
    known = {field.name for field in dataclasses.fields(Study)} - {"folder"}
    unknown = sorted(set(text) - known)
    if unknown:
        raise StudyError(f"there is no key {unknown[0]!r}; there are {', '.join(sorted(known))}")
    for name in ("model", "horizon"):
        if name not in text:
            raise StudyError(f"{name} is missing")
    found = dict(text)
    found["parameters"] = {name: _range(name, value) for name, value in _flat(text.get("parameters", {})).items()}
    for name, kind in (("rungs", Rungs), ("search", Search)):
        if name in text:
            found[name] = _fields(kind, name, text[name])
    return Study(**found, folder=folder)


def _flat(table: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """mass.trunk = 1 is a table in a table in TOML; a range is a table as well, and ends the descent."""
    keys = {field.name for field in dataclasses.fields(Range)}
    found: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, dict) and not set(value) & keys:
            found.update(_flat(value, f"{before}{name}."))
        else:
            found[before + name] = value
    return found


class Plan:
    """A study that was checked, with its model: what a worker needs, as bytes, and what the rows of its results are."""

    def __init__(self, study: Study, model: Model, controller: tuple[str, str, str] | None) -> None:
        self.study, self.model, self.controller = study, model, controller
        self.design = Design(study.design, dict(study.parameters), study.points, study.seed, study.repeats, study.table)
        self.timestep = study.timestep if study.timestep is not None else model.timestep
        if not self.timestep > 0 or not np.isfinite(study.horizon) or study.horizon < 0.5 * self.timestep:
            raise StudyError(f"horizon is {study.horizon} s, and a step {self.timestep} s; both must be positive and finite")
        if study.block < 1 or study.control_every < 1:
            raise StudyError("block and control_every are from 1")
        self.steps = self.step_of(study.horizon)
        self.every = max(self.step_of(study.every), 1) if study.every is not None else 0
        for name in study.parameters:
            check_parameter(model, name, controller is not None)
        self.scalars = {name: Scalar(model, text) for name, text in study.scalars.items()}
        self.curves = {name: quantity(model, text) for name, text in study.curves.items()}
        self.until = Condition(model, study.until) if study.until else None
        self.score = Scalar(model, study.rungs.score) if study.rungs else None
        self._check_names()
        self.samples = self.steps // self.every if self.every else 0
        if (self.curves or self.until) and not self.every:
            raise StudyError("curves and until need every: how often to look, in s")
        if isinstance(study.recordings, str) and study.recordings not in _RECORDINGS:
            raise StudyError(f"recordings is {study.recordings!r}; it is one of {', '.join(_RECORDINGS)}, or a list of points")
        self.rung_steps = self._rungs()
        self.dtype = self._row()
        self.points = self.design.points
        self.blocks = -(-self.points // study.block)
        self.digest = self._digest()

    def _check_names(self) -> None:
        names = [*self.study.parameters, *self.study.scalars, *self.study.curves]
        taken = {"index", "status", "rung", "steps", "degraded", "time", "hash"}
        for name in names:
            if names.count(name) > 1 or name in taken or not name:
                raise StudyError(f"{name!r} stands for two columns")

    def _rungs(self) -> tuple[int, ...]:
        rungs = self.study.rungs
        if rungs is None:
            return ()
        steps = tuple(self.step_of(t) for t in rungs.at)
        if not steps or any(not 0 < s < self.steps for s in steps) or list(steps) != sorted(set(steps)) or not 0 < rungs.keep < 1:
            raise StudyError(f"rungs: times must rise within 0 … {self.study.horizon} s, and keep lie between 0 and 1")
        if self.score is not None and self.score.quantity is None:
            raise StudyError("rungs: the score must be a scalar of the simulation")
        return steps

    def step_of(self, time: float) -> int:
        return int(time / self.timestep + 0.5)

    def _row(self) -> np.dtype[Any]:
        fields: list[Any] = [("index", "<u8"), ("hash", "<u8"), ("status", "<i4"), ("rung", "<i4"), ("steps", "<i4"), ("degraded", "<i4"),
                             ("time", "<f8")]
        fields += [(name, "<f8") for name in (*self.study.parameters, *self.scalars)]
        fields += [(name, "<f8", (self.samples,)) for name in self.curves]
        return np.dtype(fields)

    def settings(self) -> dict[str, Any]:
        """All of the study that a result depends on, beside the model and the controller; where its files lie is no part of it."""
        found = dataclasses.asdict(self.study)
        for name in ("model", "load", "folder", "search"):
            del found[name]
        return found

    def _digest(self) -> str:
        found = {"settings": self.settings(), "model": self.model.hash, "controller": self.controller and (self.controller[1], self.controller[2]),
                 "format": FORMAT, "search": self.study.search and dataclasses.asdict(self.study.search) | {"generations": 0}}
        text = json.dumps(found, sort_keys=True, default=lambda x: np.asarray(x).tolist())
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    def block_of(self, number: int) -> tuple[int, int]:
        """First point and how many."""
        first = number * self.study.block
        return first, min(self.study.block, self.points - first)

    @property
    def search_controls(self) -> bool:
        return any(name.startswith("control.") for name in self.study.parameters)

    def pack(self) -> bytes:
        """For workers, on any machine that has the package: nothing of it is read from files there."""
        study = self.study.replace(model=None, folder=".", load={}, parameters=dict(self.study.parameters))
        return zlib.compress(pickle.dumps((__version__, self.digest, study, self.model, self.controller)), 1)


def unpack(packed: bytes) -> tuple[str, str, Plan]:
    """Version, digest and plan, as the driver has them; the plan is made anew here."""
    version, digest, study, model, controller = pickle.loads(zlib.decompress(packed))
    return version, digest, Plan(study, model, controller)


def _source(study: Study) -> tuple[str, str, str] | None:
    """(file, text, function) of the controller."""
    if study.controller is None:
        return None
    file, colon, function = study.controller.rpartition(":")
    if not colon or not function.isidentifier():
        raise StudyError(f"controller is {study.controller!r}; write file.py:function")
    path = pathlib.Path(study.folder, file)
    try:
        return file, path.read_text(encoding="utf-8"), function
    except OSError as error:
        raise StudyError(f"controller: {path}: {error.strerror}") from None


def prepare(study: Study | str | os.PathLike[str]) -> Plan:
    """Reads the model and checks everything."""
    if not isinstance(study, Study):
        study = Study.read(study)
    model = study.model
    if not isinstance(model, Model):
        path = pathlib.Path(study.folder, model)
        model = Model.load(path, **study.load)
    return Plan(study, model.base, _source(study))


def version() -> str:
    return c.kk_version() or ""
