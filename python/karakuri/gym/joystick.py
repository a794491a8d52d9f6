"""Walking by joystick: a legged robot follows commanded velocities, on the flat or over hills, pushed now and then, no two of them of the same numbers.

    gymnasium.make_vec("karakuri/Go1Flat-v0", num_envs=1024, vectorization_mode="vector_entry_point")
    gymnasium.make("karakuri/G1Rough-v0", model="menagerie/unitree_g1/g1.xml")

The robots are those of robot_descriptions, or any MJCF or URDF file given as `model` whose root has a free joint, whose joints have position servos, and whose
first keyframe stands. Actions move the servos' targets from there. Observed are: velocities of the base in its own axes (linear, angular), the direction of
gravity, the command (m/s, m/s, rad/s), joints from where they stand, their velocities, the last action, and over hills the heights of the ground around it.
"""
from __future__ import annotations

import dataclasses
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import c
from .._batch import Batch, height_scan
from .._model import Array, Model
from .._spec import Spec
from .._variation import scale


@dataclasses.dataclass(frozen=True)
class Robot:
    """What differs from robot to robot."""

    description: str
    body: str
    height: float              # of the base where it has fallen
    reach: float = 0.3         # rad a full action moves a target by
    command: tuple[float, float, float] = (0.5, 0.5, 0.5)


ROBOTS = {"Go1": Robot("go1_mj_description", "trunk", 0.16), "G1": Robot("g1_mj_description", "pelvis", 0.5, 0.4)}
SCAN_X, SCAN_Y = np.linspace(-0.4, 0.8, 5), np.linspace(-0.3, 0.3, 3)
SIDE, CELLS, VARIETY = 12.0, 121, 64


def hills(height: float, seed: int) -> Array:
    """[rows, columns] smooth bumps from 0 to so high, flat in the middle where nobody should start on a slope."""
    rng = np.random.default_rng(seed)
    noise = rng.uniform(0, 1, (CELLS, CELLS))
    for axis in (0, 1):
        noise = sum(np.roll(noise, k, axis) for k in range(-3, 4)) / 7
    noise = (noise - noise.min()) / (noise.max() - noise.min())
    return np.asarray(noise * height)


@dataclasses.dataclass(frozen=True)
class Joystick:
    """A task as those of tasks.py; `bind` gives one that has a batch's commands and actions."""

    robot: str
    bumps: float = 0         # m of the hills
    push: float = 0.5        # m/s that a push changes the base's velocity by, every few seconds
    varied: bool = True      # masses, friction and gains differ from robot to robot
    substeps: int = 4
    timestep: float = 0.005
    ends: bool = True

    def bind(self, model: str | os.PathLike[str] | None = None) -> Rider:
        return Rider(self, model)


class Rider:
    """A joystick task with its batch."""

    def __init__(self, task: Joystick, path: str | os.PathLike[str] | None) -> None:
        self.task, self.robot, self.path = task, ROBOTS[task.robot], path
        self.substeps, self.dt = task.substeps, task.substeps * task.timestep

    def load(self) -> Model:
        source = self.path
        if source is None:
            import importlib
            try:
                source = importlib.import_module(f"robot_descriptions.{self.robot.description}").MJCF_PATH
            except ImportError:
                raise ImportError(f"{self.task.robot} comes from the package robot_descriptions; install it, or give model=FILE") from None
        spec = Spec.load(source, allow_absolute=True, floor=self.task.bumps == 0)
        if self.task.bumps:
            terrain = spec.add_height_field(name="terrain", rows=CELLS, columns=CELLS, half_x=SIDE, half_y=SIDE, base=1.0,
                                            height=hills(self.task.bumps, 1).reshape(-1))
            spec.add_shape(name="ground", type="height_field", height_field=terrain, body=0)
        spec.options.timestep = self.task.timestep
        return Model(spec)

    def options(self, model: Model) -> dict[str, Any]:
        """Of the batch."""
        rays = height_scan(model, self.robot.body, [0.0], [0.0], above=1)
        return {"rays": rays + (height_scan(model, self.robot.body, SCAN_X.tolist(), SCAN_Y.tolist(), above=1) if self.task.bumps else [])}

    def attach(self, batch: Batch) -> None:
        model, n = batch.model, len(batch)
        if c.kk_model_nkeyframe(model.raw) == 0 or model.nq - model.nv != 1 or model.nu == 0:
            raise ValueError(f"{model.name!r} is no robot for a joystick: it needs a free root, servos and a keyframe that stands")
        frame = c.kk_model_keyframe(model.raw, 0)
        self.stand, self.target = np.array(frame.q), np.array(frame.control)
        limits = model.control_range
        self.low, self.high = limits[:, 0], limits[:, 1]
        batch.reset(keyframe=0)
        batch.forward()
        self.clearance = float(batch.poses[0, model.body(self.robot.body), 6])
        draws = model.randomization(mass=scale(0.9, 1.1), friction=(0.5, 1.2), gain=scale(0.9, 1.1)) if self.task.varied else None
        self.variety = [draws.draw(seed) for seed in range(VARIETY)] if draws else []
        self.command, self.until = np.zeros((n, 3)), np.zeros((n, 2))
        self.action, self.before = np.zeros((n, model.nu)), np.zeros((n, model.nu))
        self.rngs: list[np.random.Generator | None] = [None] * n

    def observations(self, model: Model) -> int:
        return 12 + 2 * (model.nv - 6) + model.nu + (SCAN_X.size * SCAN_Y.size if self.task.bumps else 0)

    def position(self, batch: Batch) -> Array:
        return batch.q[:, 4]

    @staticmethod
    def gravity(batch: Batch) -> Array:
        """[n, 3] down, in the base's axes."""
        w, x, y, z = batch.q[:, :4].T
        return np.stack([2 * (w * y - x * z), -2 * (y * z + w * x), 2 * (x * x + y * y) - 1], axis=1)

    def observe(self, batch: Batch) -> Array:
        v = np.clip(batch.v, -50, 50)
        seen = [v[:, 3:6], v[:, :3], self.gravity(batch), self.command, batch.q[:, 7:] - self.stand[7:], v[:, 6:] * 0.05, self.action]
        if self.task.bumps:
            seen.append(np.clip(batch.distances[:, 1:] - batch.distances[:, :1], -1, 1))
        return np.concatenate(seen, axis=1)

    def act(self, batch: Batch, rows: NDArray[np.int64] | slice, actions: Array) -> None:
        """Actions from −1 to 1; commands change and pushes come as their times do."""
        self.before[rows], self.action[rows] = self.action[rows], np.clip(actions, -1, 1)
        batch.control[rows] = np.clip(self.target + self.robot.reach * self.action[rows], self.low, self.high)
        for row in np.flatnonzero((batch.time[:, None] >= self.until).any(axis=1)):
            rng = self.rngs[row]
            if rng is None or batch.time[row] >= self.until[row, 0]:
                self._ask(batch, int(row), rng or np.random.default_rng(int(row)))
            if rng is not None and batch.time[row] >= self.until[row, 1]:
                self.until[row, 1] = batch.time[row] + rng.uniform(3, 8)
                batch.v[row, 3:5] += rng.uniform(-self.task.push, self.task.push, 2)

    def _ask(self, batch: Batch, row: int, rng: np.random.Generator) -> None:
        most = np.array(self.robot.command)
        self.command[row] = rng.uniform(-most, most) * (rng.uniform() > 0.1)
        self.until[row, 0] = batch.time[row] + rng.uniform(5, 10)

    def reset(self, batch: Batch, rows: Any = None) -> None:
        batch.reset(rows, keyframe=0)

    def start(self, batch: Batch, row: int, rng: np.random.Generator) -> None:
        if self.variety:
            batch.vary(self.variety[int(rng.integers(VARIETY))], [row])
            batch.reset([row], keyframe=0)
        q, v = batch.q[row], batch.v[row]
        turn, x, y = rng.uniform(-np.pi, np.pi), *rng.uniform(-SIDE / 2, SIDE / 2, 2)
        q[:] = self.stand
        q[:4] = np.cos(turn / 2), 0, 0, np.sin(turn / 2)
        if self.task.bumps:
            q[4:6] = x, y
        q[7:] += rng.uniform(-0.05, 0.05, batch.model.nq - 7)
        v[:] = rng.uniform(-0.1, 0.1, batch.model.nv)
        batch.forward([row])
        q[6] += self.clearance - (batch.distances[row, 0] - 1) + (0.03 if self.task.bumps else 0)
        batch.forward([row])
        batch.control[row] = self.target
        self.action[row] = self.before[row] = 0
        self.rngs[row] = rng
        self._ask(batch, row, rng)
        self.until[row, 1] = rng.uniform(3, 8)

    def judge(self, batch: Batch, before: Array, action: Array) -> tuple[Array, NDArray[np.bool_]]:
        v, down = batch.v, self.gravity(batch)
        height = batch.distances[:, 0] - 1
        fallen = (down[:, 2] > -0.5) | (height < self.robot.height) | (batch.results["status"] != 0) | ~np.isfinite(v).all(axis=1)
        way = np.sum(np.square(v[:, 3:5] - self.command[:, :2]), axis=1)
        turn = np.square(v[:, 2] - self.command[:, 2])
        bent = np.sum(np.square(batch.q[:, 7:] - self.stand[7:]), axis=1)
        reward = (np.exp(-4 * way) + 0.5 * np.exp(-4 * turn) - 0.5 * np.square(v[:, 5]) - 0.05 * np.sum(np.square(v[:, :2]), axis=1)
                  - 2 * np.sum(np.square(down[:, :2]), axis=1) - 0.01 * np.sum(np.square(self.action - self.before), axis=1)
                  - 0.05 * bent - 1e-4 * np.sum(np.square(v[:, 6:]), axis=1))
        return np.where(np.isfinite(reward), np.maximum(reward * self.dt * 50, -10), 0), fallen
