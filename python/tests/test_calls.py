"""karakuri.c: every public call is there, and misuse is an exception that names the argument."""
from __future__ import annotations

import gc
import pathlib
import re
import subprocess
import sys
import threading
import unittest
from typing import Any, Callable

import numpy as np

from karakuri import c
from common import arm

HEADERS = pathlib.Path(__file__).resolve().parents[2] / "include" / "karakuri"


class Reach(unittest.TestCase):
    def test_every_public_call_is_bound(self) -> None:
        """Counted by another reader than the generator's: names in front of a parenthesis in the headers without comments."""
        text = "\n".join(path.read_text() for path in sorted(HEADERS.glob("*.h")))
        text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
        names = set(re.findall(r"^(?:KK_API|static inline)\b[^;{]*?\b(kk_\w+)\(", text, re.M))
        kinds = re.findall(r"^ +X\((\w+), \"[a-z ]+\"\)", text.split("define KK_SPEC_KINDS")[1].split("define KK_SPEC_DECLARE")[0], re.M)
        self.assertEqual(len(kinds), 18)
        for kind in kinds:
            names |= {f"kk_spec_add_{kind}", f"kk_spec_{kind}", f"kk_spec_{kind}_const", f"kk_spec_{kind}_count"}
        self.assertGreater(len(names), 500)
        self.assertEqual(names - set(c.CALLS), {"kk_text_free"})  # texts are freed by themselves
        self.assertEqual([name for name in c.CALLS if not callable(getattr(c, name))], [])

    def test_documents_are_the_headers(self) -> None:
        self.assertIn("One step.", c.kk_step.__doc__ or "")


class Misuse(unittest.TestCase):
    def setUp(self) -> None:
        self.model = arm().raw
        self.state = c.kk_state_create(self.model)
        self.simulator = c.kk_simulator_create(self.model)
        self.data = c.kk_data_create(self.model)
        self.nq, self.nv = c.kk_model_nq(self.model), c.kk_model_nv(self.model)

    def refuse(self, kind: type[BaseException], name: str, call: Callable[[], Any]) -> None:
        with self.assertRaises(kind) as caught:
            call()
        self.assertIn(name, str(caught.exception))

    def test_types(self) -> None:
        step: Any = c.kk_step
        self.refuse(TypeError, "argument model", lambda: step(self.state, self.model, self.simulator))
        self.refuse(TypeError, "argument simulator", lambda: step(self.model, self.state, None))
        self.refuse(TypeError, "kk_step takes 3 to 4", lambda: step(self.model))
        self.refuse(TypeError, "argument name", lambda: c.kk_model_find_body(self.model, 3))  # type: ignore[arg-type]
        self.refuse(ValueError, "argument name", lambda: c.kk_model_find_body(self.model, "a\0b"))
        self.refuse(OverflowError, "argument body", lambda: c.kk_body_pose(self.model, self.data, 1 << 40))
        self.refuse(TypeError, "argument gravity", lambda: c.kk_spec_set_gravity(c.kk_spec_create(), "down"))  # type: ignore[arg-type]
        self.refuse(ValueError, "argument gravity", lambda: c.kk_spec_set_gravity(c.kk_spec_create(), [1, 2]))

    def test_arrays(self) -> None:
        def kinematics(q: Any) -> None:
            c.kk_kinematics(self.model, self.data, q)
        kinematics(c.kk_state_q(self.state))
        kinematics([1.0, 0, 0, 0] + [0] * (self.nq - 4))
        self.refuse(ValueError, "argument q has 2 numbers", lambda: kinematics([1, 2]))
        self.refuse(ValueError, "argument q has", lambda: kinematics(np.zeros(self.nq + 1)))
        self.refuse(TypeError, "argument q must be of float64", lambda: kinematics(np.zeros(self.nq, np.float32)))
        self.refuse(TypeError, "argument q must be of float64", lambda: kinematics(np.zeros(self.nq, np.int64)))
        self.refuse(TypeError, "argument q must be of float64", lambda: kinematics(np.zeros(self.nq, ">f8")))
        self.refuse(ValueError, "argument q must be a C-contiguous", lambda: kinematics(np.zeros(2 * self.nq)[::2]))
        self.refuse(TypeError, "argument q", lambda: kinematics("text"))
        self.refuse(TypeError, "argument q", lambda: kinematics(None))
        fixed = np.zeros(self.nq)
        fixed.flags.writeable = False
        self.refuse(ValueError, "argument q must be a C-contiguous and writable", lambda: c.kk_model_neutral(self.model, fixed))
        self.refuse(TypeError, "argument q", lambda: c.kk_model_neutral(self.model, [0.0] * self.nq))  # type: ignore[arg-type]

    def test_inputs_have_the_length_of_the_model(self) -> None:
        short = c.kk_input(control=np.zeros(1))
        self.refuse(ValueError, "argument input has 1 numbers in control", lambda: c.kk_step(self.model, self.state, self.simulator, short))
        self.refuse(TypeError, "control must be of float64", lambda: c.kk_input(control=np.zeros(3, np.float32)))

    def test_bytes_have_the_length_of_the_model(self) -> None:
        options = c.kk_ik_options(fixed=bytes(self.nv - 1))
        self.refuse(ValueError, "argument options has 8 numbers in fixed; the model wants 9",
                    lambda: c.kk_ik_solve(self.model, c.kk_ik_create(self.model, 1), [], options, np.zeros(self.nq)))

    def test_models_that_do_not_match(self) -> None:
        spec = c.kk_spec_create()
        c.kk_spec_add_body(spec, c.kk_body_def(name="x", inertia=c.kk_inertia_solid_sphere(1, 1)))
        other = c.kk_model_compile(spec)
        self.refuse(ValueError, "argument state belongs to another model than model",
                    lambda: c.kk_step(self.model, c.kk_state_create(other), self.simulator))
        self.refuse(ValueError, "argument data belongs to another model", lambda: c.kk_kinematics(other, self.data, [0.0]))

    def test_what_others_need_is_not_freed(self) -> None:
        self.refuse(ValueError, "is still needed", lambda: c.kk_model_free(self.model))
        view = c.kk_state_q(self.state)
        self.refuse(ValueError, "is still needed", lambda: c.kk_state_free(self.state))
        del view
        c.kk_state_free(self.state)
        self.refuse(ReferenceError, "argument state was freed", lambda: c.kk_state_time(self.state))
        self.refuse(ReferenceError, "argument state was freed", lambda: c.kk_state_free(self.state))

    def test_views_keep_their_owners(self) -> None:
        q = np.asarray(c.kk_state_q(c.kk_state_create(arm().raw)))
        readings = np.asarray(c.kk_simulations_q(c.kk_simulations_create(arm().raw, 3)))
        gc.collect()
        filler = [bytearray(1 << 16) for _ in range(50)]
        q[:] = 7
        readings[:] = 8
        self.assertEqual(float(q.sum() + readings.sum()), 7 * self.nq + 24 * self.nq)
        del filler

    def test_structures_keep_what_they_lead_to(self) -> None:
        placed = c.kk_placed(geometry=c.kk_geometry_create(c.kk_shape_def(size=[.1, 0, 0])), pose=c.kk_transform_identity())
        body = c.kk_body_def(joint=c.kk_joint_def(name="a" + "b" * 40), name="x" * 50)
        gc.collect()
        filler = ["y" * 50 + str(k) for k in range(1000)]
        self.assertEqual((body.name, body.joint.name), ("x" * 50, "a" + "b" * 40))
        self.assertIsNotNone(c.kk_placed_point(placed, [1, 0, 0]))
        joint = body.joint
        del body
        gc.collect()
        self.assertEqual(joint.name, "a" + "b" * 40)
        self.assertEqual(len(filler), 1000)

    def test_definitions_are_asked_for_again_after_adding(self) -> None:
        spec = c.kk_spec_create()
        c.kk_spec_add_body(spec, c.kk_body_def(name="one"))
        view = c.kk_spec_body(spec, 1)
        assert view is not None
        view.name = "changed " * 4
        for k in range(100):
            c.kk_spec_add_body(spec, c.kk_body_def(name=f"more {k}"))
        self.refuse(ReferenceError, "ask for it again", lambda: view.name)
        again = c.kk_spec_body(spec, 1)
        assert again is not None
        self.assertEqual(again.name, "changed " * 4)

    def test_choices_are_checked(self) -> None:
        joint = c.kk_joint_def()
        self.refuse(ValueError, "type is 57; its choices have numbers from 0 to 8", lambda: setattr(joint, "type", 57))
        self.assertEqual(joint.type, c.KK_JOINT_HINGE)

    def test_counts_cannot_be_forged(self) -> None:
        mesh = c.kk_mesh_def(name="m", vertex=np.zeros((4, 3)), face=np.zeros((2, 3), np.int32))
        self.assertEqual((mesh.vertex_count, mesh.face_count), (4, 2))
        self.refuse(AttributeError, "vertex_count", lambda: setattr(mesh, "vertex_count", 10**6))
        field = c.kk_height_field_def(name="f", rows=10, columns=10, height=np.zeros(99))
        self.refuse(ValueError, "argument def has 99 numbers in height; 100", lambda: c.kk_spec_add_height_field(c.kk_spec_create(), field))

    def test_what_calls_made_keeps_its_arrays(self) -> None:
        command = c.kk_command_create(self.model)
        self.refuse(AttributeError, "control of this kk_command is read-only", lambda: setattr(command, "control", np.zeros(3)))
        sequence = c.kk_sequence_create(c.kk_sequence_def(model=self.model, count=1, width=self.nq, time=[0], value=list(np.asarray(c.kk_state_q(self.state)))))
        player = c.kk_player_create(self.model, sequence)
        self.refuse(ValueError, "pid has 1 items; 3 are wanted", lambda: setattr(player, "pid", [c.kk_pid()]))
        player.pid = [c.kk_pid(kp=1)] * 3
        self.assertEqual(len(player.pid or []), 3)

    def test_one_thread_at_a_time(self) -> None:
        inside, go_on = threading.Event(), threading.Event()
        command = c.kk_command_create(self.model)

        def hold(*_: Any) -> None:
            inside.set()
            go_on.wait(10)
        thread = threading.Thread(target=lambda: c.kk_run(self.model, self.state, self.simulator, command, hold, 1))
        thread.start()
        self.assertTrue(inside.wait(10))
        try:
            self.refuse(RuntimeError, "one thread at a time", lambda: c.kk_step(self.model, self.state, self.simulator))
            self.refuse(RuntimeError, "one thread at a time", lambda: c.kk_state_set_time(self.state, 1))
            self.refuse(RuntimeError, "one thread at a time", lambda: c.kk_simulator_free(self.simulator))
        finally:
            go_on.set()
            thread.join()
        c.kk_step(self.model, self.state, self.simulator)

    def test_many_threads_on_their_own(self) -> None:
        hashes: list[int] = []

        def run() -> None:
            state, simulator = c.kk_state_create(self.model), c.kk_simulator_create(self.model)
            for _ in range(200):
                c.kk_step(self.model, state, simulator)
            hashes.append(c.kk_state_hash(state))
        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(hashes), 4)
        self.assertEqual(len(set(hashes)), 1)

    def test_callbacks(self) -> None:
        seen: list[float] = []
        command = c.kk_command_create(self.model)

        def control(model: c.kk_model, state: c.kk_state, dt: float, given: c.kk_command) -> None:
            assert given.control is not None
            given.control[0] = 1.5
            seen.append(memoryview(c.kk_state_q(state))[0])
        c.kk_run(self.model, self.state, self.simulator, command, control, 5)
        self.assertEqual(len(seen), 5)

        def fail(*_: Any) -> None:
            raise KeyError("mine")
        with self.assertRaises(KeyError):
            c.kk_run(self.model, self.state, self.simulator, command, fail, 5)
        def cost(x: list[float]) -> float:
            return (x[0] - 1) ** 2 + (x[1] + 2) ** 2
        optimizer = c.kk_optimizer_create(c.kk_optimizer_def(n=2, seed=1))
        c.kk_optimizer_run(optimizer, cost, 80)
        best = np.zeros(2)
        c.kk_optimizer_best(optimizer, best)
        np.testing.assert_allclose(best, [1, -2], atol=1e-4)
        with self.assertRaises(ZeroDivisionError):
            c.kk_optimizer_run(optimizer, lambda *_: 1 / 0, 1)

    def test_recordings(self) -> None:
        chunks: list[bytes] = []
        recorder = c.kk_recorder_create(self.model, self.state, None, chunks.append)
        for _ in range(5):
            c.kk_step(self.model, self.state, self.simulator)
            c.kk_recorder_add(recorder, self.state, None, c.kk_simulator_report(self.simulator))
        c.kk_recorder_close(recorder)
        self.refuse(ReferenceError, "argument recorder was freed", lambda: c.kk_recorder_close(recorder))
        recording = c.kk_recording_read_bytes("memory", b"".join(chunks))
        self.assertEqual(c.kk_recording_get_info(recording).steps, 5)
        self.assertEqual(c.kk_recording_get_frame(recording, 4).state_hash, c.kk_state_hash(self.state))

    def test_sessions_take_specs_over(self) -> None:
        spec, _ = c.kk_load_file("a.xml", c.kk_load_options(file=[c.kk_file(path="a.xml", bytes=b"<mujoco/>")]))
        session = c.kk_session_create(spec)
        self.refuse(ReferenceError, "argument spec was freed", lambda: c.kk_spec_name(spec))
        self.refuse(ValueError, "argument spec is read-only", lambda: c.kk_session_create(c.kk_session_spec(session)))
        model = c.kk_session_model(session)
        c.kk_session_step(session, 3)
        self.refuse(ReferenceError, "ask for it again", lambda: c.kk_model_nq(model))
        self.assertEqual(c.kk_model_nq(c.kk_session_model(session)), 0)


class Chaos(unittest.TestCase):
    def test_nothing_crashes(self) -> None:
        """Every call with arguments that mostly fit and sometimes do not, in a process of its own."""
        script = pathlib.Path(__file__).with_name("chaos.py")
        for seed in ("1", "2"):
            done = subprocess.run([sys.executable, "-X", "faulthandler", str(script), seed, "4000"],
                                  capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr[-3000:] + done.stdout[-300:])
            self.assertGreater(int(done.stdout.split()[0]), 300)  # so many different calls went through


if __name__ == "__main__":
    unittest.main()
