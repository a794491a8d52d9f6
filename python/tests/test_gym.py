"""Environments of gymnasium, where it is installed."""
from __future__ import annotations

import importlib
import importlib.util
import os
import tempfile
import unittest
import warnings
from typing import Any

import numpy as np

HERE = importlib.util.find_spec("gymnasium") is not None
gymnasium: Any = importlib.import_module("gymnasium") if HERE else None
environments: Any = importlib.import_module("karakuri.gym") if HERE else None

NAMES = ("CartPole", "Hopper", "Walker", "HalfCheetah", "Ant", "Humanoid")


@unittest.skipUnless(HERE, "environments: gymnasium is not installed")
class Environments(unittest.TestCase):
    def test_gymnasium_finds_nothing_wrong(self) -> None:
        for name in NAMES:
            with self.subTest(name), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                env = gymnasium.make(f"karakuri/{name}-v0")
                importlib.import_module("gymnasium.utils.env_checker").check_env(env.unwrapped, skip_render_check=True)

    def test_episodes_repeat(self) -> None:
        for name in NAMES:
            sums: list[bytes] = []
            for _ in range(2):
                env = gymnasium.make(f"karakuri/{name}-v0")
                env.action_space.seed(1)
                seen = [env.reset(seed=4)[0]]
                for _ in range(60):
                    observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
                    self.assertTrue(np.isfinite(observation).all() and np.isfinite(float(reward)))
                    seen.append(observation)
                    if terminated or truncated:
                        break
                sums.append(np.concatenate(seen).tobytes())
            self.assertEqual(sums[0], sums[1], name)

    def test_robots_stand_at_first(self) -> None:
        """A second of no action, or less where it falls, is healthy at least for its first tenth; nothing is degraded."""
        for name in NAMES:
            env: Any = environments.Env(name)
            env.reset(seed=0)
            steps = max(1, int(0.1 / (env.task.substeps * env.batch.model.timestep)))
            for _ in range(steps):
                _, _, over, _, _ = env.step(np.zeros(env.action_space.shape, np.float32))
                self.assertFalse(over, name)
                self.assertEqual(env.batch.results["degraded"].tolist(), [0], name)


@unittest.skipUnless(HERE, "environments: gymnasium is not installed")
class Vectors(unittest.TestCase):
    def make(self, name: str, n: int, **options: Any) -> Any:
        return gymnasium.make_vec(f"karakuri/{name}-v0", num_envs=n, vectorization_mode="vector_entry_point", **options)

    def test_rows_are_environments_alone(self) -> None:
        envs = self.make("Hopper", 5)
        rng = np.random.default_rng(0)
        actions = rng.uniform(-1, 1, (12, 5, 3)).astype(np.float32)
        observations, _ = envs.reset(seed=10)
        rows = [envs.step(a) for a in actions]
        for k in range(5):
            env: Any = environments.Env("Hopper")
            observation, _ = env.reset(seed=10 + k)
            np.testing.assert_array_equal(observation, observations[k])
            for a, row in zip(actions, rows):
                observation, reward, over, _, _ = env.step(a[k])
                np.testing.assert_array_equal(observation, row[0][k])
                self.assertEqual((reward, over), (row[1][k], row[2][k]))
                if over:
                    break

    def test_next_step(self) -> None:
        envs = self.make("CartPole", 3, max_episode_steps=4)
        envs.reset(seed=0)
        zero = np.zeros((3, 1), np.float32)
        for _ in range(3):
            self.assertFalse(envs.step(zero)[3].any())
        last, _, _, truncated, _ = envs.step(zero)
        self.assertTrue(truncated.all())
        first, reward, terminated, truncated, _ = envs.step(zero)
        self.assertEqual((reward.tolist(), terminated.any(), truncated.any()), ([0, 0, 0], False, False))
        self.assertFalse(np.array_equal(first, last))
        self.assertEqual(envs.batch.time.tolist(), [0, 0, 0])

    def test_same_step(self) -> None:
        envs = self.make("CartPole", 3, max_episode_steps=2, autoreset_mode=gymnasium.vector.AutoresetMode.SAME_STEP)
        envs.reset(seed=0)
        zero = np.zeros((3, 1), np.float32)
        envs.step(zero)
        first, reward, _, truncated, infos = envs.step(zero)
        self.assertEqual((truncated.all(), reward.tolist()), (True, [1, 1, 1]))
        self.assertTrue(infos["_final_obs"].all())
        self.assertFalse(np.array_equal(infos["final_obs"][1], first[1]))

    def test_disabled(self) -> None:
        envs = self.make("CartPole", 3, max_episode_steps=2, autoreset_mode=gymnasium.vector.AutoresetMode.DISABLED)
        envs.reset(seed=0)
        zero = np.zeros((3, 1), np.float32)
        envs.step(zero)
        envs.step(zero)
        with self.assertRaisesRegex(ValueError, r"environments \[0, 1, 2\] are over"):
            envs.step(zero)
        envs.reset(options={"reset_mask": np.array([True, True, True])})
        envs.step(zero)

    def test_actions_are_checked(self) -> None:
        envs = self.make("Ant", 2)
        envs.reset(seed=0)
        with self.assertRaisesRegex(ValueError, r"actions are \(3, 8\); \(2, 8\)"):
            envs.step(np.zeros((3, 8), np.float32))

    def test_rows_in_shards_are_the_same_rows(self) -> None:
        sharded: Any = importlib.import_module("karakuri.gym.sharded").ShardedVectorEnv
        mode = gymnasium.vector.AutoresetMode.SAME_STEP
        played: list[list[Any]] = []
        for envs in (self.make("Hopper", 7, autoreset_mode=mode), sharded("Hopper", 7, 1, "here", autoreset_mode=mode),
                     sharded("Hopper", 7, 3, "here", autoreset_mode=mode)):
            rng, seen = np.random.default_rng(0), [envs.reset(seed=3)[0].tobytes()]
            for _ in range(80):
                *arrays, infos = envs.step(rng.uniform(-1, 1, (7, 3)).astype(np.float32))
                final = infos.get("final_obs", np.full(7, None, dtype=object))
                seen += [a.tobytes() for a in arrays] + [None if row is None else row.tobytes() for row in final]
            played.append(seen)
        self.assertEqual(played[0], played[1])
        self.assertEqual(played[0], played[2])
        for shards in (0, 8):
            with self.assertRaisesRegex(ValueError, "shards"):
                sharded("Hopper", 7, shards, "here")


DOG = """
<mujoco model="dog">
  <compiler angle="radian"/>
  <worldbody>
    <body name="trunk" pos="0 0 .32"><freejoint/><geom type="box" size=".2 .1 .05" mass="6"/>
      LEGS
    </body>
  </worldbody>
  <actuator>SERVOS</actuator>
  <keyframe><key name="home" qpos="0 0 .32 1 0 0 0 ZEROS" ctrl="ZEROS"/></keyframe>
</mujoco>"""


def dog(folder):
    """A quadruped of four legs of two joints, as a file."""
    legs, servos = [], []
    for k, (x, y) in enumerate(((.18, .1), (.18, -.1), (-.18, .1), (-.18, -.1))):
        legs.append(f'<body name="u{k}" pos="{x} {y} 0"><joint name="h{k}" type="hinge" axis="0 1 0" damping="1"/><geom type="capsule" fromto="0 0 0 0 0 -.15" '
                    f'size=".02" mass=".4"/><body name="l{k}" pos="0 0 -.15"><joint name="k{k}" type="hinge" axis="0 1 0" damping="1"/>'
                    f'<geom type="capsule" fromto="0 0 0 0 0 -.14" size=".02" mass=".2"/></body></body>')
        servos += [f'<position joint="{j}{k}" kp="80"/>' for j in "hk"]
    path = os.path.join(folder, "dog.xml")
    zeros = " ".join(["0"] * 8)
    with open(path, "w", encoding="utf-8") as file:
        file.write(DOG.replace("LEGS", "".join(legs)).replace("SERVOS", "".join(servos)).replace("ZEROS", zeros))
    return path


@unittest.skipUnless(HERE, "environments: gymnasium is not installed")
class Walking(unittest.TestCase):
    def test_joysticks_stand_on_the_flat_and_on_hills(self):
        with tempfile.TemporaryDirectory() as folder:
            path = dog(folder)
            for name in ("Go1Flat", "Go1Rough"):
                def run():
                    envs = gymnasium.make_vec(f"karakuri/{name}-v0", num_envs=8, vectorization_mode="vector_entry_point", model=path, autoreset_mode="SameStep")
                    obs, _ = envs.reset(seed=5)
                    falls, total = 0, 0.0
                    for _ in range(60):
                        obs, reward, over, _, _ = envs.step(np.zeros((8, 8), np.float32))
                        falls, total = falls + int(over.sum()), total + float(reward.mean())
                    return obs, falls, total
                obs, falls, total = run()
                self.assertEqual(falls, 0, name)
                self.assertGreater(total / 60, .3)
                np.testing.assert_array_equal(obs, run()[0])  # same seed, same numbers
                from gymnasium.utils.env_checker import check_env
                check_env(gymnasium.make(f"karakuri/{name}-v0", model=path).unwrapped, skip_render_check=True)

    def test_a_policy_learns_and_learns_the_same_again(self):
        from karakuri.gym import ppo
        def learn():
            envs = gymnasium.make_vec("karakuri/CartPole-v0", num_envs=8, vectorization_mode="vector_entry_point", autoreset_mode="SameStep")
            return ppo.train(envs, 8192, seed=2, horizon=64, minibatch=128)
        (one, curve), (two, _) = learn(), learn()
        for a, b in zip(one.net.W, two.net.W):
            np.testing.assert_array_equal(a, b)
        self.assertGreater(curve[-1][1], 1.5 * curve[1][1])
        with tempfile.TemporaryDirectory() as folder:
            one.save(os.path.join(folder, "p.npz"))
            np.testing.assert_array_equal(ppo.Policy.load(os.path.join(folder, "p.npz"))(np.zeros(4)), one(np.zeros(4)))

    def test_pictures_of_environments(self):
        env = gymnasium.make("karakuri/CartPole-v0", render_mode="rgb_array")
        env.reset(seed=1)
        self.assertEqual(env.render().shape, (360, 480, 3))


if __name__ == "__main__":
    unittest.main()
