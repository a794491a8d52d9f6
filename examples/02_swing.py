"""A humanoid of 36 degrees of freedom swings from two elastic ropes, its joints held by springs alone.

Nothing takes energy out, so whatever the sum of kinetic, gravity, rope and spring energy drifts by is the integrator's error.
"""
import pathlib

import numpy as np

import karakuri
from karakuri import c

STEPS, DT, ROPE, SPRING = 800, 1e-3, 6000.0, 60.0

model = karakuri.load(pathlib.Path(__file__).parents[1] / "models" / "hrp2" / "hrp2.xml", floor=False)
dynamics = model.dynamics()
hands = [model.body("left_hand"), model.body("right_hand")]

# hang by the hands, a little off the vertical and turned in the waist; springs are slack in this pose
q, v = model.neutral(), np.zeros(model.nv)
q[:4] = np.array(c.kk_quat_exp([0.1, 0.3, 0]))
rest = q.copy()
dynamics.kinematics(q)
bar = [dynamics.pose(hand)[1] + [0, 0, 0.1] for hand in hands]


def accelerate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Joint springs (not on the free base) and rope forces, then the acceleration they cause."""
    tau, a, pull = np.zeros(model.nv), np.zeros(model.nv), np.zeros((model.nbody, 6))
    tau[6:] = -SPRING * (q[7:] - rest[7:])
    dynamics.kinematics(q)
    for hand, end in zip(hands, bar):
        R, p = dynamics.pose(hand)
        pull[hand, 3:] = R.T @ (ROPE * (end - p))
    c.kk_forward_dynamics_external(model.raw, dynamics.raw, q, v, tau, pull, a)
    return a


def energy(q: np.ndarray, v: np.ndarray) -> float:
    total = sum(dynamics.energy(q, v)) + 0.5 * SPRING * np.sum((q[7:] - rest[7:]) ** 2)
    dynamics.kinematics(q)
    return float(total + sum(0.5 * ROPE * np.sum((end - dynamics.pose(hand)[1]) ** 2) for hand, end in zip(hands, bar)))


start, worst = energy(q, v), 0.0
for step in range(STEPS):  # Runge and Kutta's fourth order on the configuration manifold
    k1 = accelerate(q, v)
    k2 = accelerate(model.integrate(q, DT / 2 * v), v2 := v + DT / 2 * k1)
    k3 = accelerate(model.integrate(q, DT / 2 * v2), v3 := v + DT / 2 * k2)
    k4 = accelerate(model.integrate(q, DT * v3), v4 := v + DT * k3)
    q = model.integrate(q, DT / 6 * (v + 2 * v2 + 2 * v3 + v4))
    v = v + DT / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    if step % 50 == 0:
        worst = max(worst, abs(energy(q, v) - start))
print(f"{model.nv} degrees of freedom, {model.mass:.1f} kg, {STEPS * DT:g} s: energy {start:.6f} J, worst drift {worst:.1e} J")
assert np.linalg.norm(v) > 0.5, "it swings"
assert worst < 1e-2, "energy is kept"
