"""Variations: parameters of each simulation."""
from __future__ import annotations

import pickle
import unittest

import numpy as np
from common import arm

import karakuri
from karakuri import add, c, scale


class Variations(unittest.TestCase):
    def setUp(self) -> None:
        self.model = arm()

    def test_numbers_are_those_of_a_model_compiled_so(self) -> None:
        numbers = {"mass": {"upper": 0.9, "ball": 0.4}, "com": {"lower": (0, 0.01, 0.1)}, "damping": {"elbow": 0.7}, "armature": 0.01,
                   "friction": 0.4, "kp": {"p_elbow": 33}, "gear": {"m_shoulder": 2}, "gravity": (0.5, 0, -8), "size": {0: (5, 5, 0.1)},
                   "place": {"lower": (0, 0, 0.31)}, "dry_friction": {"shoulder": 0.05}}
        varied = self.model.variation(**numbers)
        compiled = varied.spec().compile()
        self.assertEqual(varied.hash, compiled.hash)
        self.assertNotEqual(varied.hash, self.model.hash)
        self.assertEqual(self.model.spec().compile().hash, self.model.hash, "the model's own spec is as it was")
        one, other = varied.simulator(), compiled.simulator()
        for k in range(100):
            one.control = other.control = np.sin(k + np.arange(3))
            one.step()
            other.step()
        self.assertEqual(one.state.hash, other.state.hash)

    def test_a_mass_takes_its_moments_along(self) -> None:
        before = self.model.spec().body("upper").inertia
        after = self.model.variation(mass={"upper": 2 * before.mass}).spec().body("upper").inertia
        np.testing.assert_allclose(np.array(after.moment), 2 * np.array(before.moment), rtol=1e-15)
        self.assertEqual(after.mass, 2 * before.mass)

    def test_variations_of_variations_add_up(self) -> None:
        both = self.model.variation(mass={"upper": 0.9}).variation(mass={"lower": 0.2}, friction=0.5)
        self.assertEqual(both.hash, self.model.variation(mass={"upper": 0.9, "lower": 0.2}, friction=0.5).hash)
        self.assertIs(both.base, self.model)
        self.assertIs(self.model.base, self.model)

    def test_states_are_kept_apart(self) -> None:
        varied = self.model.variation(friction=0.2)
        with self.assertRaisesRegex(ValueError, "model"):
            varied.state().restore(self.model.state().save())
        with self.assertRaises(ValueError):
            karakuri.Simulator(varied, self.model.state())
        with self.assertRaises(ValueError):
            c.kk_step(varied.raw, self.model.state().raw, varied.simulator().raw)

    def test_pickled_ones_go_on(self) -> None:
        sim = self.model.variation(mass={"upper": 0.7}).simulator()
        sim.run(20)
        state = pickle.loads(pickle.dumps(sim.state))
        self.assertEqual(state.model.hash, sim.model.hash)
        other = state.model.simulator(state)
        sim.run(20)
        other.run(20)
        self.assertEqual(sim.state.hash, other.state.hash)

    def test_what_it_cannot_be_is_refused_by_name(self) -> None:
        for numbers, word in (({"mas": 1}, "mas"), ({"mass": {"nobody": 1}}, "nobody"), ({"mass": "heavy"}, "mass"), ({"com": 1}, "com"),
                              ({"gravity": 9.81}, "gravity"), ({"mass": {"upper": -1}}, "upper"), ({"friction": float("nan")}, "friction")):
            with self.assertRaisesRegex((ValueError, TypeError, LookupError), word):
                self.model.variation(**numbers)
        self.assertEqual(self.model.spec().compile().hash, self.model.hash)


class Batches(unittest.TestCase):
    def setUp(self) -> None:
        self.model = arm()
        self.draw = self.model.randomization(mass=scale(0.8, 1.2), friction=(0.3, 1.1), com={"upper": add(-0.01, 0.01)}, kd=(0.1, 0.3), gravity=add(-0.1, 0.1))

    def test_each_is_what_it_is_alone(self) -> None:
        variations = [None, *(self.draw.draw(seed) for seed in range(6)), None]
        batch = self.model.batch(8, variations=variations)
        batch.step(60)
        for k, varied in enumerate(variations):
            sim = (varied or self.model).simulator()
            sim.run(60)
            self.assertEqual(batch.state(k).hash, sim.state.hash)
        self.assertEqual(len({state.tobytes() for state in batch.q}), 7)

    def test_any_number_of_threads_gives_the_same_bits(self) -> None:
        variations = [self.draw.draw(seed) for seed in range(16)]
        found = set()
        for workers in (1, 2, 3):
            batch = self.model.batch(16, variations=variations, workers=workers)
            for _ in range(10):
                batch.step(5)
            found.add(batch.q.tobytes())
        self.assertEqual(len(found), 1)

    def test_they_may_be_let_go_of(self) -> None:
        batch = self.model.batch(4)
        for seed in range(20):
            batch.vary(self.draw.draw(seed), [seed % 4])
            batch.step(2)
        batch.vary(None)
        batch.reset()
        batch.step(3)
        sim = self.model.simulator()
        sim.run(3)
        self.assertEqual(batch.state(0).hash, sim.state.hash)

    def test_keyframes_and_pickles(self) -> None:
        batch = self.model.batch(3, variations=[self.draw.draw(k) for k in range(3)])
        batch.reset(keyframe="bent")
        np.testing.assert_array_equal(batch.q[1], batch.q[0])
        batch.step(5)
        other = pickle.loads(pickle.dumps(batch))
        batch.step(5)
        other.step(5)
        self.assertEqual(batch.q.tobytes(), other.q.tobytes())

    def test_draws_are_the_same_for_the_same_seed(self) -> None:
        self.assertEqual(self.draw.draw(3).hash, self.draw.draw(3).hash)
        self.assertNotEqual(self.draw.draw(3).hash, self.draw.draw(4).hash)
        numbers = self.draw.numbers(5)
        self.assertTrue(all(0.3 <= x <= 1.1 for x in numbers["friction"].values()))
        self.assertEqual(len(set(numbers["friction"].values())), 1)

    def test_bad_use_is_refused(self) -> None:
        batch = self.model.batch(2)
        with self.assertRaisesRegex(ValueError, "2 are wanted"):
            batch.vary([None])
        with self.assertRaisesRegex(ValueError, "variation"):
            c.kk_simulations_vary(batch.raw, 0, arm().raw)
        with self.assertRaisesRegex(LookupError, "simulation"):
            c.kk_simulations_vary(batch.raw, 7, None)
        with self.assertRaisesRegex(TypeError, "range"):
            self.model.randomization(friction="high")


if __name__ == "__main__":
    unittest.main()
