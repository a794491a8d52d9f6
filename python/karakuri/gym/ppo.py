"""Proximal policy optimization (Schulman et al. 2017) on a page, with numpy alone: a vector of environments learns on the processor it is stepped by.

    python -m karakuri.gym.ppo karakuri/Hopper-v0 --steps 2000000 --out hopper.npz

Two networks of two hidden layers (tanh), one for the mean of the action and one for the value, with generalized advantages (Schulman et al. 2016), running
normalization of observations and rewards, Adam, and gradients written out by hand. Same seed, same weights, on the same machine and numpy.
"""
from __future__ import annotations

import argparse
import time
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Net:
    """x → tanh → tanh → y, its gradient, and Adam."""

    def __init__(self, sizes: tuple[int, ...], gain: float, rng: np.random.Generator, extra: int = 0) -> None:
        self.W: list[Array] = []
        for k, (n, m) in enumerate(zip(sizes, sizes[1:])):
            q = np.linalg.qr(rng.standard_normal((max(n, m), max(n, m))))[0][:n, :m]  # orthogonal
            self.W += [q * (gain if k == len(sizes) - 2 else 2 ** 0.5), np.zeros(m)]
        self.W.append(np.zeros(extra))  # what does not depend on x: the logarithm of the action's spread
        self.m, self.s, self.t = [w * 0 for w in self.W], [w * 0 for w in self.W], 0

    def __call__(self, x: Array) -> Array:
        self.a = [x]
        for k in range(0, len(self.W) - 3, 2):
            self.a.append(np.tanh(self.a[-1] @ self.W[k] + self.W[k + 1]))
        return self.a[-1] @ self.W[-3] + self.W[-2]

    def learn(self, dy: Array, dextra: Array | float, rate: float) -> None:
        """One step of Adam down the gradient; dy belongs to the last call."""
        g: list[Array] = [np.zeros_like(self.W[-1]) + dextra]
        for k in range(len(self.W) - 3, -1, -2):
            a = self.a[k // 2]
            g[:0] = [a.T @ dy, dy.sum(axis=0)]
            dy = dy @ self.W[k].T * (1 - a * a)
        scale = min(1, 0.5 / (np.sqrt(sum(float((x * x).sum()) for x in g)) + 1e-8))
        self.t += 1
        for w, x, m, s in zip(self.W, g, self.m, self.s):
            m += 0.1 * (x * scale - m)
            s += 0.001 * ((x * scale) ** 2 - s)
            w -= rate * (m / (1 - 0.9 ** self.t)) / (np.sqrt(s / (1 - 0.999 ** self.t)) + 1e-5)


class Scale:
    """Running mean and variance (Welford, by batches)."""

    def __init__(self, size: int) -> None:
        self.mean, self.var, self.count = np.zeros(size), np.ones(size), 1e-4

    def see(self, x: Array) -> None:
        n, d = len(x), x.mean(axis=0) - self.mean
        total = self.count + n
        self.var = (self.var * self.count + x.var(axis=0) * n + d * d * self.count * n / total) / total
        self.mean, self.count = self.mean + d * n / total, total

    def __call__(self, x: Array) -> Array:
        return np.clip((x - self.mean) / np.sqrt(self.var + 1e-8), -10, 10)


class Policy:
    """What was learned: `policy(observation)` is the action, from −1 to 1 of its range."""

    def __init__(self, observations: int, actions: int, rng: np.random.Generator, hidden: tuple[int, ...] = (64, 64), spread: float = 1) -> None:
        self.net, self.scale = Net((observations, *hidden, actions), 0.01, rng, actions), Scale(observations)
        self.net.W[-1][:] = np.log(spread)

    def __call__(self, observation: Array) -> Array:
        return self.net(self.scale(np.atleast_2d(observation)))

    def save(self, path: str) -> None:
        np.savez(path, *self.net.W, mean=self.scale.mean, var=self.scale.var)

    @classmethod
    def load(cls, path: str) -> Policy:
        with np.load(path) as kept:
            W = [kept[f"arr_{k}"] for k in range(len(kept.files) - 2)]
            policy = cls(W[0].shape[0], W[-2].shape[0], np.random.default_rng(0), tuple(w.shape[1] for w in W[:-3:2]))
            policy.net.W, policy.scale.mean, policy.scale.var = W, kept["mean"], kept["var"]
        return policy


def train(envs: gymnasium.vector.VectorEnv[Any, Any, Any], steps: int, *, seed: int = 0, horizon: int = 128, epochs: int = 8, minibatch: int = 512,
          rate: float = 3e-4, gamma: float = 0.99, trace: float = 0.95, clip: float = 0.2, entropy: float = 0, hidden: tuple[int, ...] = (64, 64),
          spread: float = 1, seconds: float = np.inf, goal: float = np.inf, say: Any = None) -> tuple[Policy, list[tuple[int, float]]]:
    """Learns for so many steps of all environments together, or until the mean return of a hundred episodes is the goal. Gives the policy and (steps, mean return).
    The environments reset in the step that ends them (SAME_STEP)."""
    rng, n, begun = np.random.default_rng(seed), envs.num_envs, time.perf_counter()
    no, na = envs.single_observation_space.shape[0], envs.single_action_space.shape[0]
    low, high = envs.single_action_space.low.astype(float), envs.single_action_space.high.astype(float)
    policy, value, gain = Policy(no, na, rng, hidden, spread), Net((no, *hidden, 1), 1, rng), Scale(1)
    O, U, L, R, V, D = (np.zeros((horizon, n, *s)) for s in ((no,), (na,), (), (), (), ()))
    raw, _ = envs.reset(seed=seed)
    policy.scale.see(raw)
    ret, total, recent, curve = np.zeros(n), np.zeros(n), [], []
    for done in range(0, steps, horizon * n):
        for t in range(horizon):  # experience
            obs = policy.scale(raw)
            mean, std = policy.net(obs), np.exp(policy.net.W[-1])
            action = mean + std * rng.standard_normal(mean.shape)
            O[t], U[t], V[t] = obs, action, value(obs)[:, 0]
            L[t] = -(((action - mean) / std) ** 2 / 2 + policy.net.W[-1]).sum(axis=1)
            raw, reward, terminated, truncated, infos = envs.step((low + (np.clip(action, -1, 1) + 1) / 2 * (high - low)).astype(np.float32))
            over = terminated | truncated
            total, ret = total + reward, ret * gamma + reward
            gain.see(ret[:, None])
            R[t], D[t] = np.clip(reward / np.sqrt(gain.var[0] + 1e-8), -10, 10), over
            if truncated.any():  # cut off, not over: the rest is worth what the value says
                last = np.stack([infos["final_obs"][k] for k in np.flatnonzero(truncated)])
                R[t, truncated] += gamma * value(policy.scale(last))[:, 0]
            recent = (recent + total[over].tolist())[-100:]
            total[over], ret[over] = 0, 0
            policy.scale.see(raw)
        A, last = np.zeros_like(R), np.zeros(n)
        following = value(policy.scale(raw))[:, 0]
        for t in range(horizon - 1, -1, -1):
            delta = R[t] + gamma * following * (1 - D[t]) - V[t]
            A[t] = last = delta + gamma * trace * (1 - D[t]) * last
            following = V[t]
        o, u, l, a, r = (x.reshape(horizon * n, *x.shape[2:]) for x in (O, U, L, A, A + V))
        now = rate * (1 - done / steps) if np.isfinite(steps) else rate
        for _ in range(epochs):
            order = rng.permutation(len(o))
            for k in range(0, len(o), minibatch):
                i = order[k:k + minibatch]
                mean, std = policy.net(o[i]), np.exp(policy.net.W[-1])
                z = (u[i] - mean) / std
                ratio = np.exp(np.clip(-(z * z / 2 + policy.net.W[-1]).sum(axis=1) - l[i], -20, 20))
                adv = (a[i] - a[i].mean()) / (a[i].std() + 1e-8)
                held = ((ratio > 1 + clip) & (adv > 0)) | ((ratio < 1 - clip) & (adv < 0))
                w = (-adv * ratio * ~held / len(i))[:, None]
                policy.net.learn(w * z / std, (w * (z * z - 1)).sum(axis=0) - entropy, now)
                value.learn((value(o[i])[:, 0] - r[i])[:, None] / len(i), 0, now)
        curve.append((done + horizon * n, float(np.mean(recent)) if recent else 0.0))
        if say:
            say(f"{curve[-1][0]:>10} steps  {time.perf_counter() - begun:7.1f} s  return {curve[-1][1]:10.1f}")
        if time.perf_counter() - begun > seconds or (len(recent) == 100 and curve[-1][1] >= goal):
            break
    return policy, curve


def main() -> None:
    import karakuri.gym  # noqa: F401  the ids
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("env")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--envs", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=np.inf)
    parser.add_argument("--goal", type=float, default=np.inf)
    parser.add_argument("--out")
    given = parser.parse_args()
    envs = gymnasium.make_vec(given.env, num_envs=given.envs, vectorization_mode="vector_entry_point", autoreset_mode="SameStep")
    policy, _ = train(envs, given.steps, seed=given.seed, seconds=given.seconds, goal=given.goal, say=print)
    if given.out:
        policy.save(given.out)


if __name__ == "__main__":
    main()
