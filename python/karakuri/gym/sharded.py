"""A vector of environments whose rows live in several processes, on one machine or many: Ray actors, each with a batch of the engine.

    envs = ShardedVectorEnv("Hopper", num_envs=4096, shards=8, engine="ray")

Row i is seeded with s + i wherever it lives, so a training gives the same numbers for any number of shards, and the same as one VectorEnv.
"""
from __future__ import annotations

import importlib
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from .._model import Array
from ..sweep.errors import MissingPackage
from . import Step, VectorEnv


class _Here:
    """A shard in this process."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.env = VectorEnv(**settings)

    def call(self, name: str, *words: Any, **named: Any) -> Any:
        return getattr(self.env, name)(*words, **named)

    @staticmethod
    def gather(asked: list[Any]) -> list[Any]:
        return asked


class _Actor:
    """A shard in an actor of Ray; calls come back at once, with what `gather` waits for."""

    def __init__(self, settings: dict[str, Any], cpus: float) -> None:
        try:
            ray = importlib.import_module("ray")
        except ImportError as error:
            raise MissingPackage(f"engine 'ray' needs a package that is not installed ({error}): pip install ray") from None
        from ..sweep.engines import open_engine
        if not ray.is_initialized():
            open_engine("ray")
        if ray.available_resources().get("CPU", 0) < cpus:
            raise ValueError(f"the cluster has no {cpus:g} processors left for another shard; ask for fewer shards, or for less by cpus=")
        self.actor = ray.remote(_Here).options(num_cpus=cpus).remote(settings)
        self.gather = ray.get

    def call(self, name: str, *words: Any, **named: Any) -> Any:
        return self.actor.call.remote(name, *words, **named)


class ShardedVectorEnv(gymnasium.vector.VectorEnv[Array, NDArray[np.float32], NDArray[Any]]):
    """Rows cut into `shards` runs of neighbors. engine: "ray", with so many `cpus` for each, or "here" for all in this process. Other settings are VectorEnv's."""

    def __init__(self, task: str, num_envs: int, shards: int, engine: str = "ray", workers: int | None = 1, cpus: float = 1, **settings: Any) -> None:
        if engine not in ("ray", "here"):
            raise ValueError(f"engine is {engine!r}; it is ray or here")
        if not 1 <= shards <= num_envs:
            raise ValueError(f"shards is {shards}; from 1 to {num_envs}, the number of environments, can be had")
        self.num_envs = num_envs
        self.cuts = [num_envs * k // shards for k in range(shards + 1)]
        each = [{"task": task, "num_envs": b - a, "workers": workers, **settings} for a, b in zip(self.cuts, self.cuts[1:])]
        self.shards: list[Any] = [_Actor(own, cpus) if engine == "ray" else _Here(own) for own in each]
        one = VectorEnv(task, 1, workers=1)
        self.single_observation_space, self.single_action_space = one.single_observation_space, one.single_action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.autoreset_mode = AutoresetMode(settings.get("autoreset_mode", AutoresetMode.NEXT_STEP))
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.render_mode = None

    def _ask(self, name: str, words: list[tuple[Any, ...]], named: list[dict[str, Any]] | None = None) -> list[Any]:
        """The same call of every shard, side by side."""
        asked = [shard.call(name, *w, **n) for shard, w, n in zip(self.shards, words, named or [{}] * len(words))]
        return self.shards[0].gather(asked)

    def _cut(self, rows: Any) -> list[Any]:
        return [rows[a:b] for a, b in zip(self.cuts, self.cuts[1:])]

    def reset(self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        seeds = [None] * self.num_envs if seed is None else [seed + k for k in range(self.num_envs)] if isinstance(seed, int) else seed
        if len(seeds) != self.num_envs:
            raise ValueError(f"seed has {len(seeds)} numbers for {self.num_envs} environments")
        mask = (options or {}).get("reset_mask")
        masks = self._cut(np.asarray(mask)) if mask is not None else [None] * len(self.shards)
        named = [{"seed": s, "options": {"reset_mask": m} if m is not None else None} for s, m in zip(self._cut(seeds), masks)]
        return np.concatenate([found[0] for found in self._ask("reset", [()] * len(self.shards), named)]), {}

    def step(self, actions: NDArray[np.float32]) -> Step:
        actions = np.asarray(actions)
        if len(actions) != self.num_envs:
            raise ValueError(f"actions are {actions.shape}; {self.num_envs} rows are wanted")
        found = self._ask("step", [(rows,) for rows in self._cut(actions)])
        observed, rewards, terminated, truncated = (np.concatenate([f[k] for f in found]) for k in range(4))
        return observed, rewards, terminated, truncated, self._infos([f[4] for f in found])

    def _infos(self, found: list[dict[str, Any]]) -> dict[str, Any]:
        """What some shards tell, with nothing in the rows of the others."""
        infos: dict[str, Any] = {}
        for infos_of, a, b in zip(found, self.cuts, self.cuts[1:]):
            for name, value in infos_of.items():
                if not isinstance(value, np.ndarray):
                    infos[name] = value
                    continue
                rows = infos.setdefault(name, np.full(self.num_envs, None if value.dtype == object else 0, dtype=value.dtype))
                rows[a:b] = value
        return infos
