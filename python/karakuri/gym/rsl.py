"""For rsl-rl: a batch of the engine as its vector, with observations as tensors over the batch's own numbers.

    from karakuri.gym.rsl import RslVecEnv
    OnPolicyRunner(RslVecEnv("Go1Flat", 1024), config, device="cpu").learn(300)
"""
from __future__ import annotations

from typing import Any

import numpy as np
import torch
from rsl_rl.env import VecEnv
from tensordict import TensorDict

from . import AutoresetMode, VectorEnv


class RslVecEnv(VecEnv):
    """One group of observations, "policy". Actions go from −1 to 1 of their range."""

    def __init__(self, task: str, num_envs: int, seed: int = 0, max_episode_steps: int = 1000, **options: Any) -> None:
        self.envs = VectorEnv(task, num_envs, max_episode_steps, autoreset_mode=AutoresetMode.SAME_STEP, **options)
        space = self.envs.single_action_space
        self.low, self.high = space.low.astype(np.float64), space.high.astype(np.float64)
        self.num_envs, self.num_actions, self.device, self.cfg = num_envs, int(np.prod(space.shape)), "cpu", {"task": task, "seed": seed}
        self.max_episode_length: int | torch.Tensor = max_episode_steps
        self.episode_length_buf = torch.zeros(num_envs, dtype=torch.long)
        self._obs = self._tensors(self.envs.reset(seed=seed)[0])

    def _tensors(self, obs: Any) -> TensorDict:
        return TensorDict({"policy": torch.from_numpy(obs).float()}, batch_size=[self.num_envs])

    def get_observations(self) -> TensorDict:
        return self._obs

    def step(self, actions: torch.Tensor) -> tuple[TensorDict, torch.Tensor, torch.Tensor, dict[str, Any]]:
        share = (np.clip(actions.detach().cpu().numpy(), -1, 1) + 1) / 2
        obs, rewards, terminated, truncated, _ = self.envs.step((self.low + share * (self.high - self.low)).astype(np.float32))
        done = torch.from_numpy(terminated | truncated)
        self.episode_length_buf += 1
        self.episode_length_buf[done] = 0
        self._obs = self._tensors(obs)
        return self._obs, torch.from_numpy(rewards).float(), done, {"time_outs": torch.from_numpy(truncated.copy()), "log": {}}
