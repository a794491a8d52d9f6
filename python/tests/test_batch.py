"""What a batch tells beside its states: rays, contacts, derivatives; and what errors happened in."""
import pickle
import unittest

import numpy as np

import karakuri

YARD = """
<mujoco>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body name="box" pos="0 0 .3"><freejoint/><geom type="box" size=".2 .1 .1" mass="2"/>
      <body name="arm" pos="0 0 .1"><joint name="hinge" type="hinge" axis="0 1 0" damping=".1"/><geom type="capsule" fromto="0 0 .05 0 0 .4" size=".02" mass=".3"/></body>
    </body>
  </worldbody>
  <actuator><motor name="turn" joint="hinge"/></actuator>
  <sensor><jointpos joint="hinge"/></sensor>
</mujoco>"""


class Batches(unittest.TestCase):
    def setUp(self):
        self.model = karakuri.loads(YARD)

    def test_rays_measure_the_ground(self):
        rays = karakuri.height_scan(self.model, "box", (-.3, .3), (-.2, 0, .2), above=1)
        rays.append(karakuri.ray(self.model, "box", (0, 0, 2), (0, 0, -1), 5, axes="world", sees_all=True))
        batch = self.model.batch(3, rays=rays, contacts=8, poses=True)
        batch.q[:, 6] += (0, .1, .2)
        batch.forward()
        heights = 1 - batch.distances[:, :6]
        np.testing.assert_allclose(heights, -batch.poses[:, 1, 6:7] * np.ones((1, 6)), atol=1e-12)
        self.assertTrue((batch.distances[:, 6] < 2).all())
        self.assertTrue((batch.ncontact == 0).all())
        batch.step(600)
        self.assertTrue((batch.ncontact >= 3).all())
        forces = batch.contacts["force"][:, :, 2].sum(axis=1) * np.sign(batch.contacts["normal"][:, 0, 2])
        np.testing.assert_allclose(np.abs(forces), 2.3 * 9.81, rtol=.05)
        batch.vary(self.model.variation(mass={"box": 3}), [1])
        batch.forward()
        np.testing.assert_allclose(1 - batch.distances[:, 1], -batch.poses[:, 1, 6], atol=1e-9)
        again = pickle.loads(pickle.dumps(batch))
        again.step(5), batch.step(5)
        np.testing.assert_array_equal(again.distances, batch.distances)
        with self.assertRaises(ValueError):
            karakuri.ray(self.model, "box", (0, 0, 0), (0, 0, 1), 1, axes="side")
        with self.assertRaises(karakuri.InvalidArgument):
            self.model.batch(1, rays=[karakuri.ray(self.model, "box", (0, 0, 0), (0, 0, 1), 0)])

    def test_a_pendulum_is_linear_where_it_hangs(self):
        pendulum = karakuri.loads("""<mujoco><option timestep=".001"/><worldbody><body name="p"><joint name="j" type="hinge" axis="0 1 0"/>
          <geom type="sphere" pos="0 0 -1" size=".01" mass="1"/></body></worldbody><actuator><motor joint="j" gear="2"/></actuator>
          <sensor><jointvel joint="j"/></sensor></mujoco>""")
        batch = pendulum.batch(2)
        A, B, C, D = batch.linearize()
        h, inertia = .001, float(pendulum.dynamics().inertia(np.zeros(1))[0, 0])
        stiff = 9.81 / inertia  # m g l, m = l = 1
        exact = np.array([[1 - h * h * stiff / 2, h * (1 - h * h * stiff / 4)], [-h * stiff, 1 - h * h * stiff / 2]])
        np.testing.assert_allclose(A[1], exact, atol=1e-6)
        np.testing.assert_allclose(B[0][:, 0], [h * h / inertia, 2 * h / inertia], rtol=1e-5)
        np.testing.assert_allclose(C[0], A[0][1:], atol=1e-9)
        np.testing.assert_allclose(D[0], B[0][1:], atol=1e-9)

    def test_errors_tell_what_they_happened_in(self):
        with self.assertRaises(karakuri.Error) as caught:
            karakuri.loads('<mujoco>\n<include file="part.xml"/>\n</mujoco>', assets={"part.xml": b"<mujoco>\n<worldbody>\n</mujoco>"})
        self.assertEqual(caught.exception.line, 3)
        self.assertTrue(caught.exception.trail[0].startswith("included from "), caught.exception.trail)
        self.assertIn(caught.exception.trail[0], caught.exception.__notes__)

    def test_a_simulator_knows_where_bodies_are(self):
        sim = self.model.simulator()
        sim.step()
        d = self.model.dynamics().kinematics(sim.q, sim.v)
        np.testing.assert_array_equal(sim.pose("arm")[1], d.pose("arm")[1])
        np.testing.assert_allclose(sim.jacobian("arm") @ sim.v, sim.velocity("arm"), atol=1e-12)

    def test_pictures_are_arrays(self):
        sim = self.model.simulator()
        picture = sim.render(96, 64)
        self.assertEqual((picture.rgb.shape, picture.depth.shape, picture.body.shape), ((64, 96, 3), (64, 96), (64, 96)))
        self.assertLessEqual({self.model.body("box"), self.model.body("arm"), 0}, set(picture.body.reshape(-1).tolist()))
        self.assertTrue(picture._repr_png_().startswith(b"\x89PNG"))
        again = sim.render(96, 64)
        np.testing.assert_array_equal(picture.rgb, again.rgb)  # the same source, the same picture
        # from two meters in front of the box its nearer face is 1.8 m away
        close = sim.render(97, 65, eye=(2, 0, .3), target=(0, 0, .3), view=20)
        self.assertEqual(close.body[32, 48], self.model.body("box"))
        self.assertAlmostEqual(close.depth[32, 48], 1.8, places=3)
        with self.assertRaises(ValueError):
            sim.render(10, 10, eye=(1, 0, 0))
        with self.assertRaises((ValueError, OverflowError)):
            sim.render(100000, 10)


if __name__ == "__main__":
    unittest.main()
