"""A thousand pendulums at once: rows of arrays, stepped by all processors, with the same bits for any number of them."""
import numpy as np

import karakuri

XML = """
<mujoco>
  <worldbody><body name="link"><joint name="hinge" type="hinge" axis="0 1 0" damping=".1"/>
    <geom type="capsule" fromto="0 0 0 0 0 -1" size=".03" mass="1"/></body></worldbody>
  <actuator><motor name="motor" joint="hinge" ctrlrange="-5 5" ctrllimited="true"/></actuator>
</mujoco>
"""
model = karakuri.loads(XML)
hashes: set[bytes] = set()
for workers in (1, 2):
    batch = model.batch(1000, workers=workers)
    batch.q = np.linspace(-3, 3, 1000)[:, None]
    for _ in range(150):
        batch.control = -8 * batch.q - 2 * batch.v  # a controller for all of them
        batch.step(10)
    hashes.add(batch.q.tobytes())
print(f"{len(batch)} pendulums after {batch.time[0]:g} s: all within {np.abs(batch.q).max():.3f} rad of the lowest point")
assert np.abs(batch.q).max() < 0.1 and len(hashes) == 1
