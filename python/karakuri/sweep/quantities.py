"""What of a simulation is looked at: `trunk.z` of a body, `knee.q` and `knee.v` of a joint, `imu.1` of a sensor, `controller:NAME`, over a batch at once.

A scalar is a quantity gathered over the time, as `karakuri optimize` writes it: `end:hand.z`, `max:hand.z`, `min:knee.q`, `mean:trunk.x`.
"""
from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import c
from .errors import StudyError

Numbers = NDArray[np.float64]
WHEN = ("end", "max", "min", "mean")


@dataclasses.dataclass(frozen=True)
class Quantity:
    """One number of every simulation of a batch."""

    kind: str  # q, v, position, frame, sensor
    index: int
    axis: int = 0

    def of(self, batch: Any) -> Numbers:
        if self.kind == "q":
            return batch.q[:, self.index]
        if self.kind == "v":
            return batch.v[:, self.index]
        if self.kind == "sensor":
            return batch.sensors[:, self.index]
        if self.kind == "frame":
            return np.array([self._of_frame(*of_row, q) for of_row, q in zip(batch.of_rows, batch.q)])
        return batch.poses[:, self.index, 4 + self.axis]

    def _of_frame(self, model: Any, data: Any, q: Numbers) -> float:
        """By the engine and the row's own model: a batch has poses of bodies alone, and a frame may be elsewhere in a variation."""
        c.kk_kinematics(model, data, q)
        p = c.kk_frame_pose(model, data, self.index).p
        return (p.x, p.y, p.z)[self.axis]


def quantity(model: Any, text: str) -> Quantity:
    name, dot, part = text.rpartition(".")
    raw = model.raw
    if dot and part in ("x", "y", "z"):
        body, frame = c.kk_model_find_body(raw, name), c.kk_model_find_frame(raw, name)
        if body >= 0:
            return Quantity("position", body, "xyz".index(part))
        if frame >= 0:
            return Quantity("frame", frame, "xyz".index(part))
    if dot and part in ("q", "v"):
        body = c.kk_model_find_joint(raw, name)
        if body >= 0:
            info = c.kk_model_joint(raw, body)
            if info.nv == 1 and info.nq == 1:
                return Quantity(part, info.q_index if part == "q" else info.v_index)
            raise StudyError(f"{text!r}: joint {name!r} has {info.nv} numbers; a position of its body is BODY.x, BODY.y, BODY.z")
    sensor, dot, number = (name, dot, part) if part.isdigit() else (text, "", "0")
    if c.kk_model_find_sensor(raw, sensor) >= 0:
        place = model.sensor(sensor)
        if not 0 <= int(number) < place.stop - place.start or (not dot and place.stop - place.start > 1):
            raise StudyError(f"{text!r}: sensor {sensor!r} has {place.stop - place.start} numbers; write {sensor}.0")
        return Quantity("sensor", place.start + int(number))
    raise StudyError(f"{text!r} is no quantity: write BODY.z, JOINT.q, JOINT.v or a sensor's name; bodies are "
                     f"{', '.join(model.body_names[1:9])}{', …' if model.nbody > 9 else ''}")


class Scalar:
    """A quantity gathered over the time."""

    def __init__(self, model: Any, text: str) -> None:
        self.when, colon, self.what = text.partition(":")
        if not colon or self.when not in (*WHEN, "controller"):
            raise StudyError(f"{text!r} is no scalar: write {', '.join(w + ':' for w in WHEN)} and a quantity, or controller: and a name")
        self.quantity = quantity(model, self.what) if self.when != "controller" else None

    def gather(self, before: Numbers, now: Numbers, samples: int) -> Numbers:
        """samples: how many there were before this one."""
        if self.when == "mean":
            return before + now if samples else now.copy()
        if self.when == "end" or not samples:
            return now.copy()
        return np.maximum(before, now) if self.when == "max" else np.minimum(before, now)

    def finish(self, gathered: Numbers, samples: Numbers) -> Numbers:
        return gathered / np.maximum(samples, 1) if self.when == "mean" else gathered


class Condition:
    """`trunk.z < 0.3`: true once, and a simulation is over."""

    def __init__(self, model: Any, text: str) -> None:
        words = text.replace("<", " < ").replace(">", " > ").split()
        try:
            what, sign, bound = words
            self.bound, self.below = float(bound), {"<": True, ">": False}[sign]
        except (ValueError, KeyError):
            raise StudyError(f"until is {text!r}; write BODY.z < NUMBER or JOINT.q > NUMBER") from None
        self.quantity = quantity(model, what)

    def holds(self, batch: Any) -> NDArray[np.bool_]:
        now = self.quantity.of(batch)
        return now < self.bound if self.below else now > self.bound
