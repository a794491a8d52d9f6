"""Calls everything with arguments that mostly fit: whatever comes of it must be a result or an exception.

    chaos.py SEED CALLS      prints how many different calls were answered
"""
from __future__ import annotations

import pathlib
import random
import re
import sys
from typing import Any

import numpy as np

from karakuri import c
from common import ARM, arm

# what writes files, or takes as long as it is told to
LEFT_OUT = {"kk_recorder_open", "kk_table_writer_open"}


def signatures() -> dict[str, list[tuple[str, str]]]:
    text = (pathlib.Path(c.__file__).parent / "c.pyi").read_text()
    found: dict[str, list[tuple[str, str]]] = {}
    for name, arguments in re.findall(r"^def (kk_\w+)\((.*?)\) ->", text, re.M):
        parts = re.split(r", (?=\w+: )", arguments.replace(", /", ""))
        found[name] = [(part.split(": ")[0], part.split(": ", 1)[1].split(" = ")[0]) for part in parts if ":" in part]
    return found


class Chaos:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.objects: dict[str, list[Any]] = {}
        self.model = arm().raw
        self.nq, self.nv = c.kk_model_nq(self.model), c.kk_model_nv(self.model)
        for thing in (self.model, c.kk_state_create(self.model), c.kk_simulator_create(self.model), c.kk_data_create(self.model)):
            self.note(thing)
        for name in dir(c):
            kind = getattr(c, name)
            if name.startswith("kk_") and isinstance(kind, type):
                try:
                    self.note(kind())
                except TypeError:
                    pass

    def note(self, thing: Any) -> None:
        items: list[Any] = [*thing] if isinstance(thing, (tuple, list)) else [thing]
        for item in items:
            if type(item).__name__.startswith("kk_"):
                kept = self.objects.setdefault(type(item).__name__, [])
                kept.append(item)
                if len(kept) > 12:
                    kept.pop(self.random.randrange(1, len(kept)))

    def numbers(self, name: str) -> Any:
        r = self.random
        size = r.choice([self.nq if "q" in name else self.nv] * 4 + [self.nv * self.nv, 6 * self.nv, 3, 4, 1, 0, 57])
        array = np.array([r.choice([0, 1, -1, 0.5, 1e9, float("nan"), float("inf")]) if r.random() < 0.1 else r.uniform(-1, 1)
                          for _ in range(size)])
        if name in ("q", "q0", "q1") and size == self.nq:
            c.kk_model_random_q(self.model, r.randrange(100), 0, array)
        return array if r.random() < 0.9 else array.astype(np.int32) if r.random() < 0.5 else array.tolist()

    def value(self, name: str, hint: str) -> Any:
        r = self.random
        if r.random() < 0.03:
            return r.choice([None, "text", -1, 1 << 70, 2.5, [], np.zeros(3), self.model])
        options = hint.split(" | ")
        known = [h for h in options if h in self.objects]
        if known and r.random() < 0.9:
            return r.choice(self.objects[known[0]])
        if "None" in options and r.random() < 0.3:
            return None
        if "Sequence[kk_" in hint:
            kind = re.search(r"Sequence\[(kk_\w+)\]", hint)
            return [r.choice(self.objects[kind[1]]) for _ in range(r.randrange(4))] if kind and kind[1] in self.objects else []
        if "Numbers" in hint or "Buffer" in hint:
            return self.numbers(name)
        if hint.startswith("int"):
            return r.choice([0, 1, 2, 3, 4, 7]) if r.random() < 0.8 else r.randrange(-3, 60)
        if hint.startswith("float"):
            return r.choice([0.0, 1.0, -1.0, 0.01, float("nan"), 1e30])
        if hint.startswith("str"):
            return r.choice(["shoulder", "cart", "", "x", "nothing/at/all.xml", ARM, "{\"do\": \"step\", \"count\": 2}"])
        if "Callable" in hint:
            return float
        if "Sequence[str]" in hint:
            return ["shoulder", "elbow"]
        return None

    def change(self) -> None:
        """Writes into a field of something."""
        r = self.random
        thing = r.choice(r.choice([kept for kept in self.objects.values() if kept]))
        fields = [name for name in dir(thing) if not name.startswith("_")]
        if fields:
            field = r.choice(fields)
            try:
                old = getattr(thing, field)
                self.note(old)
                if r.random() < 0.5:
                    setattr(thing, field, r.choice([old, 0, 1, -1, 3, 0.5, "name", None, [1, 2, 3], self.numbers("q"), self.model]))
            except (TypeError, ValueError, AttributeError, OverflowError, ReferenceError, LookupError):
                pass


def main() -> None:
    chaos = Chaos(int(sys.argv[1]))
    calls = {name: hints for name, hints in signatures().items() if name not in LEFT_OUT}
    answered: set[str] = set()
    names = sorted(calls)
    trace = open("/tmp/chaos.log", "w") if len(sys.argv) > 3 else None
    for _ in range(int(sys.argv[2])):
        name = chaos.random.choice(names)
        if name.endswith("_free") and chaos.random.random() < 0.7:
            continue
        arguments = [chaos.value(*hint) for hint in calls[name]]
        if trace:
            trace.write(f"{name} {arguments!r}\n")
            trace.flush()
        try:
            result = getattr(c, name)(*arguments)
        except Exception:  # noqa: BLE001 - whatever it is, it is no crash
            continue
        finally:
            chaos.change()
        answered.add(name)
        chaos.note(result)
        if isinstance(result, c.array):
            np.asarray(result).sum()
    print(len(answered), "calls were answered")


if __name__ == "__main__":
    main()
