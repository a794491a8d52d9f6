"""For stable-baselines3: a batch of the engine as one of its vectors.

    from karakuri.gym.sb3 import SB3VecEnv
    PPO("MlpPolicy", SB3VecEnv("Hopper", 32)).learn(1_000_000)
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from stable_baselines3.common.vec_env import VecEnv

from . import AutoresetMode, VectorEnv


class SB3VecEnv(VecEnv):
    """Environments reset in the step that ends them; what they ended with is in `terminal_observation`."""

    def __init__(self, task: str, num_envs: int, **options: Any) -> None:
        self.envs = VectorEnv(task, num_envs, autoreset_mode=AutoresetMode.SAME_STEP, **options)
        self.render_mode = self.envs.render_mode
        self._actions: Any = None
        super().__init__(num_envs, self.envs.single_observation_space, self.envs.single_action_space)

    def reset(self) -> Any:
        given = [seed for seed in self._seeds if seed is not None]
        obs, _ = self.envs.reset(seed=list(self._seeds) if len(given) == self.num_envs else None)
        self._reset_seeds()
        return obs

    def step_async(self, actions: Any) -> None:
        self._actions = actions

    def step_wait(self) -> Any:
        obs, rewards, terminated, truncated, more = self.envs.step(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for k in np.flatnonzero(terminated | truncated):
            infos[k] = {"terminal_observation": more["final_obs"][k], "TimeLimit.truncated": bool(truncated[k])}
        return obs, rewards.astype(np.float32), terminated | truncated, infos

    def close(self) -> None:
        self.envs.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        setattr(self.envs, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        raise NotImplementedError(f"{method_name}: all environments are one batch; call it on .envs")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False] * len(list(self._get_indices(indices)))

    def get_images(self) -> Sequence[Any]:
        return self.envs.render() or []
