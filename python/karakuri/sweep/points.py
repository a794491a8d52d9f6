"""From the numbers of a point to a simulation: variations of the model, edits of its spec, starts, controls, arguments of a controller."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import c
from .._model import Model
from .._variation import PARAMETERS, Edit, apply
from .errors import StudyError

_AXES = {"x": 0, "y": 1, "z": 2}


def _component(name: str, size: int) -> tuple[str, int]:
    """Splits the last part off: .x, .y, .z or a number."""
    before, _, last = name.rpartition(".")
    k = _AXES.get(last, int(last) if last.isdigit() else -1)
    if not 0 <= k < size:
        raise StudyError(f"parameters.{name}: it has {size} numbers; write {name}.x or {name}.0 for the first")
    return before, k


class Variation:
    """mass.trunk, friction, gravity.z, com.trunk.x: a number that a variation has of its own."""

    def __init__(self, model: Model, name: str) -> None:
        kind, _, rest = name.partition(".")
        size = 3 if kind == "gravity" else PARAMETERS[kind].size
        self.kind, self.k = kind, -1
        if size > 1:
            whole, self.k = _component(name, size)
            rest = whole.partition(".")[2]
        self.item: str | int | None = int(rest[1:]) if rest[:1] == "#" and rest[1:].isdigit() else rest or None
        self._all = self._read(model)
        if not self._all:
            raise StudyError(f"parameters.{name}: there is nothing that it could be of")

    def _read(self, model: Model) -> dict[str, Any]:
        """What the model has, by name: whole vectors."""
        items = model.items_of_spec()
        if self.kind == "gravity":
            return {"": np.array(items.spec.options.gravity).reshape(3).tolist()}
        try:
            return {which: PARAMETERS[self.kind].read(item) for which, item in items.find(self.kind, self.item)}
        except LookupError as error:
            raise StudyError(f"parameters: {error.args[0]}") from None

    def add(self, numbers: dict[str, Any], value: float, how: str) -> None:
        mine = numbers.setdefault(self.kind, {})
        for which, before in self._all.items():
            vector = list(mine.get(which, before)) if self.k >= 0 else [before]
            k = max(self.k, 0)
            if self.kind == "mass" and vector[k] == 0:
                continue
            vector[k] = value if how == "set" else vector[k] * value if how == "scale" else vector[k] + value
            mine[which] = vector if self.k >= 0 else vector[0]


class SpecEdit:
    """spec.actuator.motor.gain, spec.body.trunk.inertia.mass, spec.shape.foot.size.0: any number of the spec."""

    def __init__(self, model: Model, name: str) -> None:
        parts = name.split(".")[1:]
        if len(parts) < 3:
            raise StudyError(f"parameters.{name}: write spec.KIND.ITEM.FIELD, as in spec.actuator.motor.gain")
        self.kind, self.item, self.path = parts[0], parts[1], parts[2:]
        try:
            item = model.items_of_spec().spec.item(self.kind, int(self.item) if self.item.isdigit() else self.item)
            float(self._place(item)[2])
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise StudyError(f"parameters.{name}: {error}") from None

    def _place(self, item: Any) -> tuple[Any, Any, Any]:
        """(structure, field or (field, k), number)."""
        path = list(self.path)
        k = int(path.pop()) if path[-1].isdigit() and len(path) > 1 else None
        for field in path[:-1]:
            item = item[int(field)] if field.isdigit() else getattr(item, field)
        value = getattr(item, path[-1])
        return item, (path[-1], k), value if k is None else np.array(value).reshape(-1)[k]

    def set(self, edit: Edit, value: float, how: str) -> None:
        item = edit.items.spec.item(self.kind, int(self.item) if self.item.isdigit() else self.item)
        owner, (field, k), before = self._place(item)
        value = value if how == "set" else before * value if how == "scale" else before + value
        whole = getattr(owner, field)
        edit._before.append((owner, (field,), whole if k is None else np.array(whole).reshape(-1).tolist()))
        if k is not None:
            numbers = np.array(whole).reshape(-1).tolist()
            numbers[k] = value
            setattr(owner, field, numbers)
        else:
            setattr(owner, field, value)


def kind_of(name: str) -> str:
    """start.knee.q places a simulation; start.knee is the number of the model that places all of them."""
    kind = name.partition(".")[0]
    is_place = kind == "start" and name.endswith((".q", ".v"))
    return "variation" if (kind in PARAMETERS or kind == "gravity") and not is_place else kind


def check_parameter(model: Model, name: str, has_controller: bool) -> None:
    """Raises where there is no such parameter of this model."""
    kind = kind_of(name)
    if kind == "variation":
        Variation(model, name)
    elif kind == "spec":
        SpecEdit(model, name)
    elif kind == "start":
        start_column(model, name)
    elif kind == "control":
        control_column(model, name)
    elif kind == "controller":
        if not has_controller:
            raise StudyError(f"parameters.{name}: the study has no controller")
    else:
        raise StudyError(f"parameters.{name}: there is no parameter {kind!r}; there are start.JOINT.q, start.JOINT.v, control.ACTUATOR, "
                         f"controller.NAME, spec.KIND.ITEM.FIELD, gravity, {', '.join(PARAMETERS)}")


def start_column(model: Model, name: str) -> tuple[str, int]:
    """start.knee.q → ("q", column)"""
    joint, _, part = name.partition(".")[2].rpartition(".")
    body = c.kk_model_find_joint(model.raw, joint) if joint else -1
    if body < 0 or part not in ("q", "v"):
        raise StudyError(f"parameters.{name}: there is no such joint; write start.JOINT.q or start.JOINT.v")
    info = c.kk_model_joint(model.raw, body)
    if info.nq != 1:
        raise StudyError(f"parameters.{name}: joint {joint!r} has {info.nq} coordinates; only those with one can be set")
    return part, info.q_index if part == "q" else info.v_index


def control_column(model: Model, name: str) -> int:
    actuator = name.partition(".")[2]
    found = c.kk_model_find_actuator(model.raw, actuator)
    if found < 0:
        raise StudyError(f"parameters.{name}: there is no actuator {actuator!r}; there are {', '.join(model.actuator_names[:8])}")
    return found


class Parameters:
    """All parameters of a study, sorted by what they act on."""

    def __init__(self, model: Model, ranges: Any) -> None:
        self.model = model
        self.variations: list[tuple[int, Variation, str]] = []
        self.edits: list[tuple[int, SpecEdit, str]] = []
        self.starts: list[tuple[int, str, int, str]] = []
        self.controls: list[tuple[int, int]] = []
        self.arguments: list[tuple[int, str]] = []
        for k, (name, own) in enumerate(ranges.items()):
            kind, rest = kind_of(name), name.partition(".")[2]
            if kind == "spec":
                self.edits.append((k, SpecEdit(model, name), own.how))
            elif kind == "start":
                self.starts.append((k, *start_column(model, name), own.how))
            elif kind == "control":
                self.controls.append((k, control_column(model, name)))
            elif kind == "controller":
                self.arguments.append((k, rest))
            else:
                self.variations.append((k, Variation(model, name), own.how))

    def variation(self, row: NDArray[np.float64]) -> Model | None:
        """The model of a point; None: the study's own. Not its structure but its numbers may differ."""
        if not self.variations and not self.edits:
            return None
        numbers: dict[str, Any] = {}
        for k, own, how in self.variations:
            own.add(numbers, float(row[k]), how)
        if "gravity" in numbers:
            numbers["gravity"] = numbers["gravity"][""]
        if not self.edits:
            return self.model.variation(**numbers)
        base = self.model
        with base._editing, Edit(base.items_of_spec()) as edit:
            apply(edit, numbers)
            for k, own, how in self.edits:
                own.set(edit, float(row[k]), how)
            raw = c.kk_model_vary(base.raw, base._spec.raw)
        varied = Model.__new__(Model)
        varied._begin(raw, base._spec, base.messages, base, numbers)
        return varied

    def place(self, batch: Any, values: NDArray[np.float64]) -> None:
        """Starts and controls into the rows of a batch."""
        for k, part, column, how in self.starts:
            rows = batch.q if part == "q" else batch.v
            rows[:, column] = values[:, k] if how == "set" else rows[:, column] * values[:, k] if how == "scale" else rows[:, column] + values[:, k]
        for k, column in self.controls:
            batch.control[:, column] = values[:, k]
