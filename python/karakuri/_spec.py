"""Specs: robots and scenes that can still be edited, from files, texts or calls."""
from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import c

KINDS = ("body", "frame", "coupling", "shape", "mesh", "height_field", "visual", "material", "material_pair", "pair", "exclude",
         "loop", "tendon", "actuator", "sensor", "keyframe")
_EXISTS = {"body": 1, "material": 1}  # the world and the default material are there from the start


def _fields_of(kind: type) -> list[str]:
    return [name for name, value in vars(kind).items()
            if inspect.isgetsetdescriptor(value) and f"{kind.__name__}.{name}" not in c.COUNTS]


def _number_of(struct: Any, field: str, value: Any) -> Any:
    """The number of a choice that is given by name: "hinge" for KK_JOINT_HINGE."""
    names = c.CHOICES.get(f"{type(struct).__name__}.{field}", "").split()
    if not isinstance(value, str) or not names:
        return value
    ending = "_" + value.upper().replace(" ", "_").replace("-", "_")
    found = [name for name in names if name.endswith(ending)]
    if not found:
        start = os.path.commonprefix(names)
        raise ValueError(f"{field} is {value!r}; it is one of {', '.join(n[len(start):].lower() for n in names)}")
    return getattr(c, min(found, key=len))


def fill(struct: Any, fields: Mapping[str, Any]) -> Any:
    """Sets fields of a structure; those inside by dictionaries, choices by their names."""
    for name, value in fields.items():
        if isinstance(value, Mapping):
            fill(getattr(struct, name), value)
        elif isinstance(value, (list, tuple)) and value and isinstance(value[0], Mapping):
            inside = getattr(struct, name)
            for k, item in enumerate(value):
                fill(inside[k], item)
        else:
            setattr(struct, name, _number_of(struct, name, value))
    return struct


def dump(value: Any) -> Any:
    """A structure as plain data, for pickles: numbers keep their bits."""
    if isinstance(value, c.array):
        view = memoryview(value)
        return ("array", view.format, bytes(view))
    if type(value).__name__.startswith("kk_"):
        return ("struct", type(value).__name__, {name: dump(getattr(value, name)) for name in _fields_of(type(value))})
    if isinstance(value, (list, tuple)):
        return ("list", [dump(item) for item in value])
    return value


def restore(data: Any) -> Any:
    """What `dump` made plain, for assignment to a field."""
    if isinstance(data, tuple) and data[0] == "array":
        return memoryview(data[2]).cast(data[1])
    if isinstance(data, tuple) and data[0] == "list":
        return [restore(item) for item in data[1]]
    if isinstance(data, tuple) and data[0] == "struct":
        struct = getattr(c, data[1])()
        restore_into(struct, data)
        return struct
    return data


def restore_into(struct: Any, data: Any) -> None:
    for name, value in data[2].items():
        if isinstance(value, tuple) and value[0] == "struct":
            restore_into(getattr(struct, name), value)
        elif isinstance(value, tuple) and value[0] == "list" and isinstance(getattr(struct, name), tuple) and \
                all(isinstance(item, tuple) for item in value[1]):
            for item, inside in zip(value[1], getattr(struct, name)):
                restore_into(inside, item)
        else:
            setattr(struct, name, restore(value))


_BASES = {"file": c.KK_BASE_AS_FILE, "fixed": c.KK_BASE_FIXED, "free": c.KK_BASE_FREE}
_MESHES = {"all": c.KK_MESH_LOAD_ALL, "collision": c.KK_MESH_LOAD_COLLISION, "none": c.KK_MESH_LOAD_NONE}


def _choice(name: str, value: str, table: Mapping[str, int]) -> int:
    if value not in table:
        raise ValueError(f"{name} is {value!r}; it is one of {', '.join(table)}")
    return table[value]


def load_options(*, assets: Mapping[str, bytes | str] | None = None, search: Sequence[str] = (), package_path: str | None = None,
                 arguments: Mapping[str, str] | None = None, base: str = "file", meshes: str = "all", floor: bool = False,
                 actuators: bool = False, clean_collisions: bool = False, place_on_floor: bool = False, repair: bool = False,
                 allow_absolute: bool = False) -> c.kk_load_options:
    options = c.kk_load_options(repair=int(repair), add_floor=int(floor), add_actuators=int(actuators),
                                clean_collisions=int(clean_collisions), place_on_floor=int(place_on_floor),
                                allow_absolute=int(allow_absolute), base=_choice("base", base, _BASES),
                                meshes=_choice("meshes", meshes, _MESHES))
    if search:
        options.search = [os.fspath(folder) for folder in search]
    if package_path is not None:
        options.package_path = package_path
    if arguments:
        options.argument = [c.kk_load_argument(name=name, value=value) for name, value in arguments.items()]
    if assets is not None:
        options.file = [c.kk_file(path=path, bytes=text if isinstance(text, str) else bytes(text))
                        for path, text in assets.items()]
    return options


class Message:
    """Something worth knowing about a file."""

    __slots__ = ("severity", "file", "line", "column", "text", "remedy", "repaired")

    def __init__(self, message: c.kk_message) -> None:
        self.severity = c.kk_severity_name(message.severity)
        self.file, self.line, self.column = message.file, message.line, message.column
        self.text, self.remedy, self.repaired = message.text, message.remedy, bool(message.repaired)

    def __repr__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.file else ""
        return f"{place}{self.severity}: {self.text}" + (f" ({self.remedy})" if self.remedy else "")


class Spec:
    """An editable description of robots and scenes. `spec.add_body(name="link", joint={"type": "hinge"})`, then `spec.compile()`.

    Every kind of item has add_KIND(**fields), KIND(name or id) and KINDs(): bodies, frames, shapes, actuators, … Fields are those of
    kk_KIND_def; what stands inside is given by dictionaries, choices by their names.
    """

    def __init__(self, _raw: c.kk_spec | None = None, _messages: c.kk_messages | None = None) -> None:
        self.raw = _raw if _raw is not None else c.kk_spec_create()
        self.messages: list[Message] = []
        if _messages is not None:
            self.messages = [Message(c.kk_messages_get(_messages, k)) for k in range(c.kk_messages_count(_messages))]

    @classmethod
    def load(cls, path: str | os.PathLike[str], **options: Any) -> Spec:
        """Reads URDF, xacro or MJCF. Options are those of `load_options`; assets={path: bytes} are read in place of files."""
        spec, messages = c.kk_load_file(os.fspath(path), load_options(**options))
        return cls(spec, messages)

    @classmethod
    def from_string(cls, text: str | bytes, *, assets: Mapping[str, bytes | str] | None = None, name: str = "model.xml",
                    **options: Any) -> Spec:
        """The same from a text; what it names is looked for among the assets alone."""
        spec, messages = c.kk_load_file(name, load_options(assets={name: text, **(assets or {})}, **options))
        return cls(spec, messages)

    @property
    def name(self) -> str:
        return c.kk_spec_name(self.raw) or ""

    @name.setter
    def name(self, name: str) -> None:
        c.kk_spec_set_name(self.raw, name)

    @property
    def options(self) -> c.kk_options:
        """Gravity, time step, integrator; may be written."""
        options = c.kk_spec_options(self.raw)
        assert options is not None
        return options

    def add(self, kind: str, /, **fields: Any) -> int:
        """Adds an item of a kind and gives its id."""
        if kind not in KINDS:
            raise ValueError(f"kind is {kind!r}; it is one of {', '.join(KINDS)}")
        return getattr(c, f"kk_spec_add_{kind}")(self.raw, fill(getattr(c, f"kk_{kind}_def")(), fields))

    def item(self, kind: str, which: str | int, /) -> Any:
        """A definition, to be read or written in place; until the next item of that kind is added."""
        get = getattr(c, f"kk_spec_{kind}")
        if isinstance(which, int):
            found = get(self.raw, which)
            if found is None:
                raise IndexError(f"{kind} {which}: there are {self.count(kind)}")
            return found
        for k in range(self.count(kind)):
            found = get(self.raw, k)
            if found.name == which:
                return found
        raise LookupError(f"there is no {kind} named {which!r}")

    def count(self, kind: str, /) -> int:
        return getattr(c, f"kk_spec_{kind}_count")(self.raw)

    def items(self, kind: str, /) -> Iterator[Any]:
        return (self.item(kind, k) for k in range(self.count(kind)))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("add_") and name[4:] in KINDS:
            return lambda **fields: self.add(name[4:], **fields)
        if name in KINDS:
            return lambda which: self.item(name, which)
        raise AttributeError(f"Spec has no {name}")

    def compile(self) -> Any:
        """Checks everything and gives the model."""
        from ._model import Model
        return Model(self)

    def to_urdf(self) -> str:
        return c.kk_spec_write_urdf(self.raw)

    def to_mjcf(self) -> str:
        return c.kk_spec_write_mjcf(self.raw)

    def copy(self) -> Spec:
        return Spec(c.kk_spec_clone(self.raw))

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Spec:
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        items = {kind: [dump(getattr(c, f"kk_spec_{kind}_const")(self.raw, k)) for k in range(self.count(kind))] for kind in KINDS}
        return {"name": self.name, "options": dump(self.options), "items": items}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.raw, self.messages = c.kk_spec_create(), []
        self.name = state["name"]
        restore_into(self.options, state["options"])
        for kind in KINDS:
            for k, data in enumerate(state["items"][kind]):
                if k < _EXISTS.get(kind, 0):
                    restore_into(self.item(kind, k), data)
                else:
                    getattr(c, f"kk_spec_add_{kind}")(self.raw, restore(data))

    def __repr__(self) -> str:
        return f"<Spec {self.name!r}: {self.count('body')} bodies, {self.count('shape')} shapes, {self.count('actuator')} actuators>"
