"""Environments for gymnasium: karakuri/CartPole-v0, Hopper, Walker, HalfCheetah, Ant, Humanoid; alone and as vectors of thousands.

    import gymnasium, karakuri.gym
    env = gymnasium.make("karakuri/Hopper-v0")
    envs = gymnasium.make_vec("karakuri/Hopper-v0", num_envs=4096, vectorization_mode="vector_entry_point")

A vector is a batch of the engine, stepped by threads of its own. Same seed, same actions, same numbers, on any machine. Row i of a vector that
was seeded with s is the environment that was seeded with s + i.
"""
from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from .._batch import Batch
from .._model import Array, render
from .joystick import Joystick, Rider
from .tasks import TASKS as CLASSIC
from .tasks import Task

TASKS: dict[str, Task | Joystick] = {**CLASSIC, **{f"{robot}{ground}": Joystick(robot, bumps) for robot in ("Go1", "G1")
                                                   for ground, bumps in (("Flat", 0.0), ("Rough", 0.12))}}

Step = tuple[Any, Any, Any, Any, dict[str, Any]]


def _spaces(task: Task | Rider, batch: Batch) -> tuple[spaces.Box, spaces.Box]:
    limits = batch.model.control_range if isinstance(task, Task) else np.tile((-1.0, 1.0), (batch.model.nu, 1))
    size = task.observations(batch.model)
    return (spaces.Box(-np.inf, np.inf, (size,), np.float64),
            spaces.Box(limits[:, 0].astype(np.float32), limits[:, 1].astype(np.float32), dtype=np.float32))


def _picture(batch: Batch, row: int) -> NDArray[np.uint8]:
    return render(batch.model, batch.q[row], 480, 360).rgb


class Env(gymnasium.Env[Array, NDArray[np.float32]]):
    """One robot."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 50}

    def __init__(self, task: str, render_mode: str | None = None, **given: Any) -> None:
        self.task = TASKS[task].bind(**given)
        model = self.task.load()
        self.batch = Batch(model, 1, workers=1, sensors=False, **self.task.options(model))
        self.task.attach(self.batch)
        self.observation_space, self.action_space = _spaces(self.task, self.batch)
        self.render_mode = render_mode

    def render(self) -> Any:
        return _picture(self.batch, 0) if self.render_mode == "rgb_array" else None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        self.task.reset(self.batch)
        self.task.start(self.batch, 0, self.np_random)
        return self.task.observe(self.batch)[0], {}

    def step(self, action: NDArray[np.float32]) -> Step:
        before = self.task.position(self.batch).copy()
        self.task.act(self.batch, slice(0, 1), np.asarray(action, np.float64)[None])
        self.batch.step(self.task.substeps, check=False)
        reward, over = self.task.judge(self.batch, before, np.asarray(action, np.float64)[None])
        return self.task.observe(self.batch)[0], float(reward[0]), bool(over[0]), False, {"x": float(self.task.position(self.batch)[0])}


class VectorEnv(gymnasium.vector.VectorEnv[Array, NDArray[np.float32], NDArray[Any]]):
    """Many robots, one batch."""

    def __init__(self, task: str, num_envs: int = 1, max_episode_steps: int | None = 1000, workers: int | None = None,
                 autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP, render_mode: str | None = None,
                 **given: Any) -> None:
        self.task = TASKS[task].bind(**given)
        self.num_envs = num_envs
        model = self.task.load()
        self.batch = Batch(model, num_envs, workers=workers, sensors=False, **self.task.options(model))
        self.task.attach(self.batch)
        self.single_observation_space, self.single_action_space = _spaces(self.task, self.batch)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": 50, "autoreset_mode": self.autoreset_mode}
        self.render_mode = render_mode
        self.most_steps = max_episode_steps or 0
        self._steps = np.zeros(num_envs, np.int64)
        self._over = np.zeros(num_envs, np.bool_)
        self._rngs: list[np.random.Generator] = [np.random.default_rng() for _ in range(num_envs)]

    def render(self) -> Any:
        return tuple(_picture(self.batch, row) for row in range(self.num_envs)) if self.render_mode == "rgb_array" else None

    def _begin(self, rows: NDArray[np.int64]) -> None:
        self.task.reset(self.batch, rows)
        for row in rows:
            self.task.start(self.batch, int(row), self._rngs[row])
        self._steps[rows] = 0
        self._over[rows] = False

    def reset(self, *, seed: int | list[int | None] | None = None,
              options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        seeds = [None] * self.num_envs if seed is None else [seed + k for k in range(self.num_envs)] if isinstance(seed, int) else seed
        if len(seeds) != self.num_envs:
            raise ValueError(f"seed has {len(seeds)} numbers for {self.num_envs} environments")
        mask = (options or {}).get("reset_mask")
        rows = np.arange(self.num_envs) if mask is None else np.flatnonzero(mask)
        for row in rows:
            if seeds[row] is not None:
                self._rngs[row] = gymnasium.utils.seeding.np_random(seeds[row])[0]
        self._begin(rows)
        return self.task.observe(self.batch), {}

    def step(self, actions: NDArray[np.float32]) -> Step:
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs, self.batch.model.nu):
            raise ValueError(f"actions are {actions.shape}; {(self.num_envs, self.batch.model.nu)} are wanted")
        if self.autoreset_mode is AutoresetMode.DISABLED and self._over.any():
            raise ValueError(f"environments {np.flatnonzero(self._over).tolist()} are over; reset them by options={{'reset_mask': …}}")
        fresh = np.flatnonzero(self._over) if self.autoreset_mode is AutoresetMode.NEXT_STEP else np.zeros(0, np.int64)
        going = np.flatnonzero(~self._over)
        before = self.task.position(self.batch).copy()
        self.task.act(self.batch, going, actions[going].astype(np.float64))
        self.batch.step(self.task.substeps, None if len(going) == self.num_envs else going, check=False)
        rewards, terminated = self.task.judge(self.batch, before, actions.astype(np.float64))
        self._steps[going] += 1
        truncated = ~terminated & (self._steps >= self.most_steps) if self.most_steps else np.zeros(self.num_envs, np.bool_)
        if len(fresh):
            self._begin(fresh)
            rewards[fresh], terminated[fresh], truncated[fresh] = 0, False, False
        self._over = terminated | truncated
        infos: dict[str, Any] = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP and self._over.any():
            rows = np.flatnonzero(self._over)
            final, last = np.full(self.num_envs, None, dtype=object), self.task.observe(self.batch)
            for row in rows:
                final[row] = last[row]
            infos = {"final_obs": final, "_final_obs": self._over.copy(), "final_info": {}, "_final_info": self._over.copy()}
            self._begin(rows)
        return self.task.observe(self.batch), rewards, terminated, truncated, infos


def register() -> None:
    """Gives gymnasium the ids; importing this module does it."""
    for name in TASKS:
        identifier = f"karakuri/{name}-v0"
        if identifier not in gymnasium.registry:
            gymnasium.register(identifier, entry_point="karakuri.gym:Env", vector_entry_point="karakuri.gym:VectorEnv",
                               max_episode_steps=1000, kwargs={"task": name})


register()
