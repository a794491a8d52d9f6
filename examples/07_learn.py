"""A policy that is learned: a pole is balanced by four numbers, found by CMA-ES over a batch of simulations.

A generation of candidates is one batch, every candidate with several starts; the same seed gives the same policy on every machine.
"""
import numpy as np

import karakuri
from karakuri import c

XML = """
<mujoco>
  <option timestep="0.01"/>
  <worldbody>
    <body name="cart"><joint name="rail" type="slide" axis="1 0 0" damping=".2"/><geom type="box" size=".1 .06 .05" mass="5"/>
      <body name="pole"><joint name="hinge" type="hinge" axis="0 1 0" damping=".02"/>
        <geom type="capsule" fromto="0 0 0 0 0 .6" size=".03" mass="2.5"/></body></body>
  </worldbody>
  <actuator><motor name="push" joint="rail" gear="80" ctrlrange="-1 1" ctrllimited="true"/></actuator>
</mujoco>
"""
POPULATION, STARTS, STEPS = 16, 8, 200  # of 20 ms
model = karakuri.loads(XML)
batch = model.batch(POPULATION * STARTS, sensors=False)


def costs(policies: list[list[float]], starts: np.ndarray) -> np.ndarray:
    """Share of the time that the pole is down or the cart off its rail, and a little of how far both are from the middle."""
    batch.reset()
    batch.q[:, 1] = np.tile(starts, POPULATION)
    gains, cost = np.repeat(np.asarray(policies), STARTS, axis=0), np.zeros(len(batch))
    up = np.ones(len(batch), dtype=np.bool_)
    for _ in range(STEPS):
        seen = np.concatenate([batch.q, batch.v], axis=1)
        batch.control[:, 0] = np.sum(gains * seen, axis=1)
        batch.step(2)
        up &= (np.abs(batch.q[:, 1]) < 0.5) & (np.abs(batch.q[:, 0]) < 1)
        cost += np.where(up, 0.1 * np.clip(np.sum(np.abs(batch.q), axis=1), 0, 1), 1)
    return cost.reshape(POPULATION, STARTS).mean(axis=1) / STEPS


optimizer = c.kk_optimizer_create(c.kk_optimizer_def(n=4, population=POPULATION, seed=1, step=[3.0, 3, 3, 3]))
candidates, best = np.zeros((POPULATION, 4)), np.zeros(4)
for generation in range(30):
    c.kk_optimizer_ask(optimizer, candidates)
    c.kk_optimizer_tell(optimizer, costs(candidates.tolist(), np.linspace(-0.25, 0.25, STARTS)))
c.kk_optimizer_best(optimizer, best)
trial = costs([best.tolist()] * POPULATION, np.random.default_rng(1).uniform(-0.2, 0.2, STARTS))[0]
print(f"gains {np.round(best, 2)}: cost {trial:.4f} of new starts (1: it falls at once)")
assert trial < 0.05, "the pole stays up"
