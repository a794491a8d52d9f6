"""Learning, and the vectors of others: for `make test-long`, where torch, stable-baselines3 and rsl-rl are installed. Times are of the processor, of all threads
together: what two idle processors do in half of it."""
from __future__ import annotations

import importlib.util
import os
import time
import unittest
import warnings
from typing import Any

import numpy as np

LONG = bool(os.environ.get("KK_LONG"))


def installed(*names: str) -> bool:
    return all(importlib.util.find_spec(name) is not None for name in names)


def learn(task: str, steps: int, goal: float) -> tuple[float, float]:
    """Return and seconds."""
    import gymnasium

    import karakuri.gym
    from karakuri.gym import ppo
    assert karakuri.gym.TASKS
    begun = time.process_time()
    envs = gymnasium.make_vec(f"karakuri/{task}-v0", num_envs=32, vectorization_mode="vector_entry_point", autoreset_mode="SameStep")
    _, curve = ppo.train(envs, steps, seed=0, goal=goal)
    return curve[-1][1], time.process_time() - begun


@unittest.skipUnless(LONG and installed("gymnasium"), "learning: for make test-long")
class Learning(unittest.TestCase):
    def test_a_pole_is_balanced(self) -> None:
        reached, seconds = learn("CartPole", 300_000, 950)
        print(f"cartpole: return {reached:.0f} after {seconds:.1f} s of processors")
        self.assertGreater(reached, 900)
        self.assertLess(seconds, 2 * 20)

    def test_a_hopper_hops(self) -> None:
        reached, seconds = learn("Hopper", 2_000_000, 2000)
        print(f"hopper: return {reached:.0f} after {seconds:.1f} s of processors")
        self.assertGreaterEqual(reached, 2000)
        self.assertLess(seconds, 2 * 300)


@unittest.skipUnless(LONG and installed("torch", "stable_baselines3"), "stable-baselines3: for make test-long")
class StableBaselines(unittest.TestCase):
    def test_it_learns(self) -> None:
        from stable_baselines3 import PPO

        from karakuri.gym.sb3 import SB3VecEnv
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = PPO("MlpPolicy", SB3VecEnv("CartPole", 8), n_steps=128, seed=1, device="cpu")
            model.learn(16384)
        self.assertEqual(model.num_timesteps, 16384)


@unittest.skipUnless(LONG and installed("torch", "rsl_rl"), "rsl-rl: for make test-long")
class Rsl(unittest.TestCase):
    def test_it_learns(self) -> None:
        from rsl_rl.runners import OnPolicyRunner

        from karakuri.gym.rsl import RslVecEnv
        net: dict[str, Any] = {"class_name": "MLPModel", "hidden_dims": [32, 32], "activation": "elu"}
        config = {"algorithm": {"class_name": "PPO", "num_learning_epochs": 2, "num_mini_batches": 2, "learning_rate": 1e-3, "rnd_cfg": None, "symmetry_cfg": None},
                  "actor": {**net, "distribution_cfg": {"class_name": "GaussianDistribution", "init_std": 1.0}}, "critic": dict(net),
                  "obs_groups": {"actor": ["policy"], "critic": ["policy"]}, "num_steps_per_env": 24, "save_interval": 100, "seed": 1,
                  "logger": "tensorboard", "run_name": "", "multi_gpu": None}
        env = RslVecEnv("CartPole", 16)
        OnPolicyRunner(env, config, log_dir=None, device="cpu").learn(3)
        self.assertTrue(bool(np.isfinite(env.get_observations()["policy"].numpy()).all()))


if __name__ == "__main__":
    unittest.main()
