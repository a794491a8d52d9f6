"""The classic tasks, each over all rows of a batch at once: what is observed, what is rewarded, when an episode ends."""
from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import c
from .._batch import Batch
from .._model import Array, Model

MODELS = pathlib.Path(__file__).parent / "models"
Truths = NDArray[np.bool_]


@dataclasses.dataclass(frozen=True)
class Task:
    """reward = forward · speed + alive (while healthy) − effort · |action|²."""

    model: str
    substeps: int
    noise_q: float
    noise_v: float
    healthy: Callable[[Task, Batch], Truths] | None
    forward: float = 1
    alive: float = 0
    effort: float = 0
    hidden: int = 1         # coordinates that are not observed: where along the floor
    height: float = 0       # of the root where its coordinate is zero
    clip: float = np.inf    # of observed velocities
    is_free: bool = False   # the root is a free joint, else slides and a hinge
    ends: bool = True       # where it is not healthy

    def bind(self) -> Task:
        return self

    def options(self, model: Model) -> dict[str, Any]:
        """Of the batch."""
        return {}

    def attach(self, batch: Batch) -> None:
        pass

    def act(self, batch: Batch, rows: Any, actions: Any) -> None:
        batch.control[rows] = actions

    def load(self) -> Model:
        return Model.load(MODELS / self.model)

    def position(self, batch: Batch) -> Array:
        return batch.q[:, 4] if self.is_free else batch.q[:, 0]

    def observe(self, batch: Batch) -> Array:
        q, v = batch.q, np.clip(batch.v, -self.clip, self.clip)
        if self.is_free:  # height, orientation, joints
            return np.concatenate([q[:, 6:7] + self.height, q[:, :4], q[:, 7:], v], axis=1)
        observed = q[:, self.hidden:].copy()
        if self.height:
            observed[:, 0] += self.height
        return np.concatenate([observed, v], axis=1)

    def observations(self, model: Model) -> int:
        return model.nq - (2 if self.is_free else self.hidden) + model.nv

    def reset(self, batch: Batch, rows: Any = None) -> None:
        """To the keyframe "start" where the model has one."""
        batch.reset(rows, keyframe="start" if c.kk_model_find_keyframe(batch.model.raw, "start") >= 0 else None)

    def start(self, batch: Batch, row: int, rng: np.random.Generator) -> None:
        model = batch.model
        q, v = batch.q[row], batch.v[row]
        q += rng.uniform(-self.noise_q, self.noise_q, model.nq)
        if self.is_free:
            q[:4] /= np.sqrt(np.sum(q[:4] ** 2))
        v += rng.uniform(-self.noise_v, self.noise_v, model.nv)

    def judge(self, batch: Batch, before: Array, action: Array) -> tuple[Array, Truths]:
        """Rewards, and which episodes are over."""
        healthy = np.isfinite(batch.q).all(axis=1) & np.isfinite(batch.v).all(axis=1)
        if self.healthy is not None:
            healthy &= self.healthy(self, batch)
        healthy &= batch.results["status"] == 0
        speed = (self.position(batch) - before) / (self.substeps * batch.model.timestep)
        reward = self.forward * speed + self.alive * healthy - self.effort * np.sum(np.square(action), axis=1)
        return reward, ~healthy if self.ends else ~healthy & (batch.results["status"] != 0)


def _within(x: Array, low: float, high: float) -> Truths:
    return (x > low) & (x < high)


def _pole(task: Task, batch: Batch) -> Truths:
    return np.abs(batch.q[:, 1]) < 0.2


def _hopper(task: Task, batch: Batch) -> Truths:
    return (batch.q[:, 1] + task.height > 0.7) & (np.abs(batch.q[:, 2]) < 0.2) & (np.abs(batch.v) < 100).all(axis=1)


def _walker(task: Task, batch: Batch) -> Truths:
    return _within(batch.q[:, 1] + task.height, 0.8, 2) & (np.abs(batch.q[:, 2]) < 1)


def _ant(task: Task, batch: Batch) -> Truths:
    return _within(batch.q[:, 6] + task.height, 0.2, 1)


def _humanoid(task: Task, batch: Batch) -> Truths:
    return _within(batch.q[:, 6] + task.height, 1, 2)


TASKS: dict[str, Task] = {
    "CartPole": Task("cartpole.xml", 2, 0.01, 0.01, _pole, forward=0, alive=1, hidden=0),
    "Hopper": Task("hopper.xml", 4, 5e-3, 5e-3, _hopper, alive=1, effort=1e-3, height=1.25, clip=10),
    "Walker": Task("walker.xml", 4, 5e-3, 5e-3, _walker, alive=1, effort=1e-3, height=1.25, clip=10),
    "HalfCheetah": Task("cheetah.xml", 5, 0.1, 0.1, None, effort=0.1, ends=False),
    "Ant": Task("ant.xml", 5, 0.1, 0.1, _ant, alive=1, effort=0.5, height=0.75, is_free=True),
    "Humanoid": Task("humanoid.xml", 5, 1e-2, 1e-2, _humanoid, forward=1.25, alive=5, effort=0.1, height=1.4, is_free=True),
}
