"""A robot by calls: one link on a hinge. The torque that holds it still is m g l sin q."""
import math

import karakuri

mass, length, angle = 2.0, 0.7, 0.5

# the spec is the editable description; body 0 is the world
spec = karakuri.Spec()
spec.add_body(name="link", joint={"name": "hinge", "type": "hinge", "axis": (0, 1, 0)},
              inertia=karakuri.c.kk_inertia_solid_sphere(mass, 0.05))
spec.body("link").inertia.com = (0, 0, -length)

# the model never changes; dynamics are scratch that can be thrown away
model = spec.compile()
tau = model.dynamics().inverse([angle], [0], [0])[0]
expected = mass * 9.81 * length * math.sin(angle)
print(f"torque that holds the pendulum at {angle:.2f} rad: {tau:.12f} N m (m g l sin q = {expected:.12f})")
assert abs(tau - expected) < 1e-12
