"""Variations: a model with other numbers, for simulations of which each has parameters of its own; and how to draw them."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from . import c
from ._spec import Spec


Path = tuple[str, ...]


def _get(item: Any, path: Path) -> Any:
    """A number, or a list of those that belong together."""
    for name in path:
        item = getattr(item, name)
    return item if isinstance(item, float) else np.array(item).reshape(-1).tolist()


def _put(item: Any, path: Path, value: Any) -> None:
    for name in path[:-1]:
        item = getattr(item, name)
    setattr(item, path[-1], value)


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A number, or some that belong together, of every item of a kind. The first path is where it stands, the others are what follows it."""

    kind: str
    paths: tuple[Path, ...]
    size: int = 1
    write: Callable[[Any, Any], None] | None = None
    reader: Callable[[Any], float] | None = None

    def read(self, item: Any) -> Any:
        return _get(item, self.paths[0]) if self.reader is None else self.reader(item)

    def set(self, item: Any, value: Any) -> None:
        if self.write is not None:
            self.write(item, value)
        else:
            _put(item, self.paths[0], value)


def _set_mass(body: Any, mass: float) -> None:
    """Moments follow: it is the density that differs."""
    if body.inertia.mass > 0:
        body.inertia.moment = [mass / body.inertia.mass * x for x in _get(body, ("inertia", "moment"))]
    body.inertia.mass = mass


def _set_kp(actuator: Any, kp: float) -> None:
    actuator.gain = kp
    actuator.bias = [actuator.bias[0], -kp, actuator.bias[2]]


def _set_kd(actuator: Any, kd: float) -> None:
    actuator.bias = [actuator.bias[0], actuator.bias[1], -kd]


def _plain(kind: str, *fields: str) -> dict[str, Parameter]:
    return {field: Parameter(kind, ((field,),)) for field in fields}


PARAMETERS: dict[str, Parameter] = {
    "mass": Parameter("body", (("inertia", "mass"), ("inertia", "moment")), write=_set_mass),
    "com": Parameter("body", (("inertia", "com"),), 3),
    "moment": Parameter("body", (("inertia", "moment"),), 6),
    "place": Parameter("body", (("joint", "placement", "p"),), 3),
    **_plain("dof", "damping", "stiffness", "rest", "armature", "lower", "upper", "start"),
    "dry_friction": Parameter("dof", (("friction",),)),
    **_plain("material", "friction", "restitution"),
    **_plain("actuator", "gain", "gear", "force_lower", "force_upper", "control_lower", "control_upper", "time_constant"),
    "kp": Parameter("actuator", (("gain",), ("bias",)), write=_set_kp),
    "kd": Parameter("actuator", (("bias",),), write=_set_kd, reader=lambda actuator: -actuator.bias[2]),
    "size": Parameter("shape", (("size",),), 3),
}


class Items:
    """The items of a spec by name, for as long as it lives."""

    def __init__(self, spec: Spec, model: c.kk_model) -> None:
        self.spec = spec
        self._of: dict[str, dict[str, list[Any]]] = {"body": {}, "dof": {}, "material": {}, "actuator": {}, "shape": {}}
        for k, body in enumerate(spec.items("body")):
            if k:
                info = c.kk_model_joint(model, k)
                self._of["body"][body.name] = [body]
                if info.nv:
                    self._of["dof"][info.name or body.name] = [body.joint.dof[i] for i in range(info.nv)]
        for kind in ("material", "actuator", "shape"):
            for k, item in enumerate(spec.items(kind)):
                self._of[kind][item.name or f"#{k}"] = [item]
        for shape in spec.items("shape"):  # what a shape is made of goes by its name as well
            if shape.name:
                self._of["material"].setdefault(shape.name, [spec.item("material", shape.material)])

    def find(self, parameter: str, which: str | int | None) -> Iterator[tuple[str, Any]]:
        """(name, item) of those that a parameter is of; None: of all."""
        kind = PARAMETERS[parameter].kind
        items = self._of[kind]
        if which is None:
            yield from ((name, item) for name, found in items.items() for item in found)
            return
        name = list(items)[which] if isinstance(which, int) and -len(items) <= which < len(items) else which
        if name not in items:
            raise LookupError(f"{parameter}: there is no {'joint' if kind == 'dof' else kind} {which!r}")
        yield from ((str(name), item) for item in items[name])


def check(numbers: Mapping[str, Any]) -> None:
    unknown = [name for name in numbers if name not in PARAMETERS and name != "gravity"]
    if unknown:
        raise TypeError(f"there is no parameter {unknown[0]!r}; there are gravity, {', '.join(PARAMETERS)}")


def _value(name: str, value: Any, size: int) -> Any:
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {value!r}; {'a number is' if size == 1 else f'{size} numbers are'} wanted") from None
    if array.size != size:
        raise ValueError(f"{name} has {array.size} numbers; {size} {'is' if size == 1 else 'are'} wanted")
    return float(array.reshape(())) if size == 1 else array.reshape(-1).tolist()


class Edit:
    """Numbers of a spec changed, and put back at the end."""

    def __init__(self, items: Items) -> None:
        self.items = items
        self._before: list[tuple[Any, Path, Any]] = []

    def __enter__(self) -> Edit:
        return self

    def __exit__(self, *_: object) -> None:
        for item, path, value in reversed(self._before):
            _put(item, path, value)

    def set(self, name: str, which: str | int | None, value: Any) -> None:
        parameter = PARAMETERS[name]
        number = _value(name, value, parameter.size)
        for _, item in self.items.find(name, which):
            if name == "mass" and which is None and item.inertia.mass == 0:
                continue
            self._before += [(item, path, _get(item, path)) for path in parameter.paths]
            parameter.set(item, number)

    def gravity(self, value: Any) -> None:
        options = self.items.spec.options
        self._before.append((options, ("gravity",), _get(options, ("gravity",))))
        options.gravity = _value("gravity", value, 3)


def apply(edit: Edit, numbers: Mapping[str, Any]) -> None:
    check(numbers)
    for name, value in numbers.items():
        if name == "gravity":
            edit.gravity(value)
        elif isinstance(value, Mapping):
            for which, own in value.items():
                edit.set(name, which, own)
        else:
            edit.set(name, None, value)


def merge(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """The second's numbers over those of the first."""
    both = dict(first)
    for name, value in second.items():
        before = both.get(name)
        both[name] = {**before, **value} if isinstance(value, Mapping) and isinstance(before, Mapping) else value
    return both


# ---- drawing them

class Chance:
    """The engine's random numbers: the same on any machine."""

    def __init__(self, seed: int) -> None:
        self.seed, self.count = seed, 0

    def numbers(self, count: int) -> Any:
        self.count += count
        return np.array([c.kk_random_uniform_at(self.seed, 0, k) for k in range(self.count - count, self.count)])


@dataclasses.dataclass(frozen=True)
class Range:
    """Numbers drawn evenly between two bounds; `how` they are taken: instead of the model's, times it, or added to it."""

    low: Any
    high: Any
    how: str = "set"

    def draw(self, chance: Chance, before: Any) -> Any:
        """A factor is one for all numbers that belong together, anything else one for each."""
        count = 1 if self.how == "scale" else max(np.size(before), 1)
        low, high = np.broadcast_to(self.low, count), np.broadcast_to(self.high, count)
        number: Any = low + (high - low) * chance.numbers(count)
        number = float(number[0]) if np.ndim(before) == 0 or self.how == "scale" else number
        return number if self.how == "set" else before * number if self.how == "scale" else before + number


def scale(low: float, high: float) -> Range:
    """The model's number times one between both."""
    return Range(low, high, "scale")


def add(low: Any, high: Any) -> Range:
    """The model's number and one between both."""
    return Range(low, high, "add")


def as_range(value: Any) -> Range:
    if isinstance(value, Range):
        return value
    if isinstance(value, Sequence) and len(value) == 2:
        return Range(*value)
    raise TypeError(f"{value!r} is no range: (low, high), scale(low, high) or add(low, high) are")


class Randomization:
    """Ranges that parameters are drawn from: `Randomization(model, mass={"trunk": add(-1, 3)}, friction=(0.4, 1.2), kp=scale(0.9, 1.1))`.

    `draw(seed)` gives a variation, the same for the same seed on any machine. A range for all items of a kind is drawn for each of them;
    that of friction once for all, unless a mapping names some.
    """

    def __init__(self, model: Any, **ranges: Any) -> None:
        check(ranges)
        self.model = model
        self._ranges: list[tuple[str, Any, Range]] = []
        for name, value in ranges.items():
            if isinstance(value, Mapping):
                self._ranges += [(name, which, as_range(own)) for which, own in value.items()]
            else:
                self._ranges.append((name, None, as_range(value)))

    def numbers(self, seed: int) -> dict[str, Any]:
        """What `draw` gives the variation, by parameter and name."""
        chance = Chance(seed)
        drawn: dict[str, Any] = {}
        items = self.model.items_of_spec()
        for name, which, own in self._ranges:
            if name == "gravity":
                drawn[name] = np.asarray(own.draw(chance, np.asarray(_get(items.spec.options, ("gravity",))))).tolist()
                continue
            parameter = PARAMETERS[name]
            once = None
            for found, item in items.find(name, which):
                before = np.asarray(parameter.read(item))
                if name == "mass" and which is None and before == 0:
                    continue
                once = own.draw(chance, before) if once is None or parameter.kind != "material" or own.how == "scale" else once
                drawn.setdefault(name, {})[found] = once if isinstance(once, float) else np.asarray(once).tolist()
        return drawn

    def draw(self, seed: int) -> Any:
        return self.model.variation(**self.numbers(seed))
