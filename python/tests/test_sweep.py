"""Studies: the same bytes by any cut and engine, kills, faults by name, designs, early stopping, searches, the command."""
from __future__ import annotations

import concurrent.futures as futures
import importlib.util
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
from typing import Any
from unittest import mock

import numpy as np
from common import arm

import karakuri
from karakuri import sweep
from karakuri.sweep import block, design, driver, journal, processes, shards, summary
from karakuri.sweep.engines import Serial

ROOT = pathlib.Path(__file__).resolve().parents[2]
PENDULUM = ROOT / "models" / "double_pendulum" / "double_pendulum.xml"


def study(**changes: Any) -> sweep.Study:
    settings: dict[str, Any] = dict(
        model=str(PENDULUM), horizon=0.5, design="random", points=60, seed=7, block=8,
        parameters={"mass.upper": sweep.Range(low=3, high=7), "start.upper.q": sweep.Range(low=-1, high=1),
                    "gravity.z": sweep.Range(low=0.9, high=1.1, how="scale"), "control.lower": sweep.Range(values=(0, 1))},
        scalars={"swing": "end:lower.q", "top": "max:tip.z", "mean": "mean:upper.v"}, curves={"tip": "tip.x"}, every=0.05)
    return sweep.Study(**{**settings, **changes})


class Case(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def bytes_of(self, name: str) -> bytes:
        return b"".join((self.folder / name / file).read_bytes() for file in ("results.npy", "failures.csv", "summary.csv"))

    def undisturbed(self, **changes: Any) -> bytes:
        sweep.run(study(**changes), self.folder / "undisturbed", engine="serial")
        return self.bytes_of("undisturbed")


class Bytes(Case):
    def test_shards_and_engines(self) -> None:
        wanted = self.undisturbed()
        for shards_, engine in ((2, "serial"), (7, "serial"), (1, "processes:2")):
            out = self.folder / f"{shards_}-{engine[:4]}"
            for k in reversed(range(shards_)):
                sweep.run(study(), out, engine=engine, shard=(k, shards_))
            sweep.merge(sweep.prepare(study()), out)
            self.assertEqual(self.bytes_of(out.name), wanted, (shards_, engine))

    def test_any_executor_will_do(self) -> None:
        wanted = self.undisturbed()
        with futures.ThreadPoolExecutor(3) as pool:
            sweep.run(study(), self.folder / "threads", engine=pool)
        self.assertEqual(self.bytes_of("threads"), wanted)

    def test_cut_anew_in_the_middle(self) -> None:
        wanted = self.undisturbed()
        out = self.folder / "anew"
        sweep.run(study(), out, engine="serial", shard=(1, 3))
        with mock.patch.object(driver, "run_block", wraps=block.run_block) as run:
            sweep.run(study(), out, engine="serial")
        self.assertEqual(run.call_count, 5)  # of 8 blocks 1, 4 and 7 were there
        self.assertEqual(self.bytes_of("anew"), wanted)

    def test_a_point_is_what_it_is_alone(self) -> None:
        plan = sweep.prepare(study())
        results = sweep.run(study(), self.folder / "all", engine="serial")
        assert results is not None
        for k in (0, 13, 59):
            row = results.rows[k]
            model = plan.model.variation(mass={"upper": row["mass.upper"]}, gravity=(0, 0, -9.8 * row["gravity.z"]))
            sim = model.simulator()
            sim.state.q[0] = row["start.upper.q"]
            sim.control[1] = row["control.lower"]
            top, speed = -np.inf, 0.0
            for step in range(100):
                sim.step()
                if step % 10 == 9:
                    top, speed = max(top, sim.pose("lower")[1][2]), speed + sim.v[0]
            self.assertEqual((row["swing"], row["hash"], row["steps"]), (sim.q[1], sim.state.hash, 100))
            self.assertEqual(row["mean"], speed / 10)

    def test_searches(self) -> None:
        changes: dict[str, Any] = dict(
            parameters={"start.upper.q": sweep.Range(low=-1, high=1), "start.lower.q": sweep.Range(low=-1, high=1)}, curves={}, block=4,
            search=sweep.Search(maximize="top", generations=4))
        found = [sweep.search(study(**changes), self.folder / name, engine=engine) for name, engine in (("a", "serial"), ("b", "processes:2"))]
        self.assertEqual(found[0], found[1])
        again = sweep.search(study(**{**changes, "search": sweep.Search(maximize="top", generations=6)}), self.folder / "a", engine="serial")
        self.assertEqual(again.history[:4], found[0].history)
        self.assertEqual(len(again.history), 6)


class Kills(Case):
    def test_workers(self) -> None:
        wanted = self.undisturbed()
        pool = processes.Processes(2)
        over = threading.Event()

        def kill() -> None:
            for turn in range(8):
                while not pool.pids and not over.is_set():
                    time.sleep(0.001)
                for pid in pool.pids[turn % 2:][:1]:
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
                over.wait(0.04)

        killer = threading.Thread(target=kill)
        killer.start()
        sweep.run(study(), self.folder / "killed", engine=pool)
        over.set()
        killer.join()
        pool.shutdown()
        self.assertEqual(self.bytes_of("killed"), wanted)

    def test_drivers(self) -> None:
        """At each write, before it, within it and after it."""
        wanted = self.undisturbed()
        program = textwrap.dedent("""
            import os, sys
            from karakuri.sweep import journal
            import test_sweep
            left, part, plain = int(sys.argv[2]), float(sys.argv[3]), journal.write_all
            def write(handle, data):
                global left
                left -= 1
                if left == 0:
                    plain(handle, data[:int(part * len(data))])
                    os.kill(os.getpid(), 9)
                plain(handle, data)
            journal.write_all = write
            test_sweep.sweep.run(test_sweep.study(), sys.argv[1], engine="serial")
        """)
        out = self.folder / "killed"
        path = [str(pathlib.Path(karakuri.__file__).parents[1]), str(pathlib.Path(__file__).parent)]
        for left, part in ((1, 0.5), (1, 1), (2, 0), (2, 0.3), (3, 0.999), (3, 1)):
            done = subprocess.run([sys.executable, "-c", program, str(out), str(left), str(part)], env={**os.environ, "PYTHONPATH": os.pathsep.join(path)})
            self.assertEqual(done.returncode, -signal.SIGKILL)
        sweep.run(study(), out, engine="serial")
        self.assertEqual(self.bytes_of("killed"), wanted)
        with journal.Scan(out / "shard-0-of-1.journal") as scan:
            blocks = list(scan.blocks())
        self.assertEqual(sorted(blocks), list(range(8)), "none lost, none doubled")

    def test_a_block_that_ends_its_worker_is_named(self) -> None:
        with mock.patch.object(driver, "run_block", fatal), mock.patch.object(driver, "LOSSES", 2):
            with self.assertRaisesRegex(sweep.LostWorker, "block 2, points 16 to 23.*SIGKILL"):
                sweep.run(study(), self.folder / "fatal", engine="processes:1")
        wanted = self.undisturbed()
        sweep.run(study(), self.folder / "fatal", engine="serial")
        self.assertEqual(self.bytes_of("fatal"), wanted, "the others were kept")


def fatal(packed: bytes, expected: int, number: int, values: Any) -> Any:
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return block.run_block(packed, expected, number, values)


class Faults(Case):
    def started(self) -> pathlib.Path:
        out = self.folder / "out"
        sweep.run(study(), out, engine="serial", shard=(0, 2))
        return out / "shard-0-of-2.journal"

    def test_two_drivers(self) -> None:
        path = self.started()
        header = driver.header_of(sweep.prepare(study()))
        with journal.Journal(path, header):
            with self.assertRaisesRegex(sweep.JournalBusy, f"another driver.*process {os.getpid()}"):
                sweep.run(study(), path.parent, engine="serial", shard=(0, 2))
        sweep.run(study(), path.parent, engine="serial", shard=(0, 2))

    def test_no_room(self) -> None:
        """A limit on the size of files is the disk that is full; what was written before stays, and no torn record."""
        wanted = self.undisturbed()
        out = self.folder / "full"
        size = (self.folder / "undisturbed" / "shard-0-of-1.journal").stat().st_size
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        try:
            for share in (0.01, 0.3, 0.7):
                resource.setrlimit(resource.RLIMIT_FSIZE, (int(share * size), before[1]))
                with self.assertRaisesRegex(sweep.NoRoom, "make room"):
                    sweep.run(study(), out, engine="serial")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, old)
        with journal.Scan(out / "shard-0-of-1.journal") as scan:
            self.assertGreater(len(list(scan.blocks())), 2)
        sweep.run(study(), out, engine="serial")
        self.assertEqual(self.bytes_of("full"), wanted)

    @unittest.skipUnless(os.geteuid() == 0, "a full disk: only root can mount one")
    def test_a_full_disk_and_one_that_is_read_only(self) -> None:
        """The same by a real disk of 16 kB."""
        place = self.folder / "disk"
        place.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(place)], capture_output=True).returncode:
            self.skipTest("a full disk: mount is not allowed here")
        try:
            with self.assertRaisesRegex(sweep.NoRoom, "No space left"):
                sweep.run(study(), place / "out", engine="serial")
            subprocess.run(["mount", "-o", "remount,size=1m", str(place)], check=True)
            sweep.run(study(), place / "out", engine="serial")
            found = b"".join((place / "out" / name).read_bytes() for name in ("results.npy", "failures.csv", "summary.csv"))
            subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
            for out in ("out", "new"):
                with self.assertRaisesRegex(sweep.ReadOnly, "Read-only.*--out"):
                    sweep.run(study(), place / out, engine="serial")
        finally:
            subprocess.run(["umount", "-l", str(place)], check=True)
        self.assertEqual(found, self.undisturbed())

    def test_read_only(self) -> None:
        with mock.patch("os.open", side_effect=PermissionError(30, "Read-only file system")):
            with self.assertRaisesRegex(sweep.ReadOnly, "--out"):
                sweep.run(study(), self.folder, engine="serial")

    def test_another_library(self) -> None:
        """On a worker, by its name and by its bits; and in a journal."""
        path = self.started()
        with mock.patch.object(block, "version", lambda: "0.0.1"), self.assertRaisesRegex(sweep.OtherVersion, "0.0.1"):
            sweep.run(study(), path.parent, engine="serial", shard=(1, 2))
        with mock.patch.object(driver, "probe", lambda plan: 1), self.assertRaisesRegex(sweep.OtherVersion, "probe"):  # pyright: ignore
            sweep.run(study(), self.folder / "new", engine="serial")
        with mock.patch.object(driver, "probe", lambda plan: 1), self.assertRaisesRegex(sweep.OtherStudy, "bits"):  # pyright: ignore
            sweep.run(study(), path.parent, engine="serial", shard=(0, 2))
        with mock.patch.object(driver, "version", lambda: "0.0.1"), self.assertRaisesRegex(sweep.OtherStudy, "version"):
            sweep.run(study(), path.parent, engine="serial", shard=(0, 2))

    def test_other_studies(self) -> None:
        path = self.started()
        for changes in ({"seed": 8}, {"horizon": 0.6}, {"scalars": {"swing": "end:lower.v"}}, {"parameters": {}}):
            with self.assertRaisesRegex(sweep.OtherStudy, "another study"):
                sweep.run(study(**changes), path.parent, engine="serial", shard=(0, 2))

    def test_altered_journals(self) -> None:
        path = self.started()
        good = path.read_bytes()
        rng = np.random.default_rng(1)
        seen = set()
        for place in rng.integers(0, len(good), 60):
            bad = bytearray(good)
            bad[place] ^= 1 << rng.integers(8)
            path.write_bytes(bad)
            with self.assertRaises(sweep.SweepError) as caught:
                sweep.merge(sweep.prepare(study()), path.parent)
            seen.add(type(caught.exception).__name__)
            self.assertNotIsInstance(caught.exception, sweep.Disagreement)
        self.assertIn("JournalCorrupt", seen)
        for cut in rng.integers(0, len(good), 30):
            path.write_bytes(good[:cut])
            with self.assertRaises(sweep.SweepError):
                sweep.merge(sweep.prepare(study()), path.parent)
        path.write_bytes(good + bytes(300))  # what a machine leaves that lost its power
        sweep.run(study(), path.parent, engine="serial", shard=(0, 2))
        self.assertEqual(path.read_bytes(), good)

    def test_what_lacks_is_told(self) -> None:
        path = self.started()
        with self.assertRaisesRegex(sweep.Missing, "28 of 60 points.*from point 8"):
            sweep.merge(sweep.prepare(study()), path.parent)

    def test_other_bits_are_told(self) -> None:
        path = self.started()
        header = driver.header_of(sweep.prepare(study()))
        with journal.Scan(path) as scan:
            record = next(scan.records())
        with journal.Journal(path.parent / "shard-0-of-1.journal", header) as other:
            other.add(journal.Record(record.block, bytes(len(record.rows)), b"[]", b""))
        with self.assertRaisesRegex(sweep.Disagreement, "points 0 to 7"):
            sweep.merge(sweep.prepare(study()), path.parent)

    def test_a_missing_package_is_named(self) -> None:
        with mock.patch("importlib.import_module", side_effect=ImportError("no")):
            for engine in ("ray", "dask", "mpi"):
                with self.assertRaisesRegex(sweep.MissingPackage, "pip install"):
                    sweep.open_engine(engine)


class Studies(Case):
    def test_mistakes_are_named(self) -> None:
        for changes, word in (({"design": "sobel"}, "sobel"), ({"points": 0}, "points"), ({"horizon": 0}, "horizon"), ({"every": None}, "every"),
                              ({"scalars": {"x": "end:nobody.z"}}, "nobody"), ({"scalars": {"x": "tip.z"}}, "end:"), ({"until": "tip.z"}, "until"),
                              ({"parameters": {"mas.upper": sweep.Range(low=1, high=2)}}, "mas"), ({"controller": "nothing.py:f"}, "nothing.py"),
                              ({"parameters": {"mass.nobody": sweep.Range(low=1, high=2)}}, "nobody"), ({"recordings": "some"}, "some"),
                              ({"parameters": {"mass.upper": sweep.Range(low=2, high=1)}}, "low must be below high"),
                              ({"parameters": {"controller.x": sweep.Range(low=0, high=1)}}, "no controller"), ({"block": 0}, "block"),
                              ({"scalars": {"mass.upper": "end:lower.q"}}, "two columns"), ({"rungs": sweep.Rungs("end:lower.q", (2,))}, "rungs")):
            with self.assertRaisesRegex(sweep.StudyError, word):
                sweep.prepare(study(**changes))

    def test_texts(self) -> None:
        path = self.folder / "study.toml"
        text = f"model = '{PENDULUM}'\nhorizon = 0.2\ndesign = 'grid'\n[parameters]\nmass.upper = [4, 5]\nstart.upper.q = {{low = -1, high = 1, count = 5}}\n" \
               "[scalars]\nswing = 'end:lower.q'\n"
        path.write_text(text)
        plan = sweep.prepare(path)
        self.assertEqual((plan.points, list(plan.study.parameters)), (10, ["mass.upper", "start.upper.q"]))
        self.assertEqual(plan.design.values(3, 3).tolist(), [[4, 0.5], [4, 1], [5, -1]])
        (self.folder / "study.py").write_text(f"from karakuri import sweep\nstudy = sweep.Study({str(PENDULUM)!r}, horizon=0.2, design='grid')\n")
        self.assertEqual(sweep.prepare(self.folder / "study.py").points, 1)
        for bad, word in (("horizen = 1", "horizen"), ("[parameters]\nmass.upper = {low = 1, lo = 1}", "'lo'"), ("[rungs]\nscore = 1", "at"), ("x =", "study.toml")):
            path.write_text(f"model = 'a.xml'\nhorizon = 1\n{bad}\n")
            with self.assertRaisesRegex(sweep.StudyError, word):
                sweep.prepare(path)

    def test_early_stopping(self) -> None:
        wanted = dict(until="lower.q > 0.1", rungs=sweep.Rungs("max:upper.q", (0.1, 0.25)), curves={})
        results = sweep.run(study(**wanted), self.folder / "a", engine="serial")
        assert results is not None
        rows = results.rows
        for first in range(0, 60, 8):
            mine = rows[first:first + 8]
            for rung, step in ((1, 20), (2, 50)):
                there = mine[(mine["rung"] >= rung)]
                out = (there["status"] == 2) & (there["rung"] == rung)
                self.assertEqual(len(there) - out.sum(), max(-(-len(there) // 2), 1) if len(there) else 0)
                self.assertTrue((there["steps"][out] == step).all())
        self.assertEqual(sum(results.statuses.values()), 60)
        self.assertGreater(results.statuses["stopped"], 0)
        stopped = rows[rows["status"] == 1]
        self.assertTrue((stopped["swing"] > 0.1).all() and (stopped["time"] < 0.5).all())
        out = self.folder / "b"
        for k in range(3):
            sweep.run(study(**wanted), out, engine="serial", shard=(k, 3))
        sweep.merge(sweep.prepare(study(**wanted)), out)
        self.assertEqual(self.bytes_of("a"), self.bytes_of("b"))

    def test_failures_controllers_and_recordings(self) -> None:
        (self.folder / "pd.py").write_text(textwrap.dedent("""
            def pd(batch, kp):
                def step(batch):
                    batch.control[:, 0] = -kp * batch.q[:, 0]
                    step.work = step.work + kp
                step.work = 0 * kp
                return step
        """))
        recorded = [1, 51]
        changes: dict[str, Any] = dict(
            folder=str(self.folder), controller="pd.py:pd", recordings=recorded, curves={}, points=52, model=str(PENDULUM),
            parameters={"controller.kp": sweep.Range(low=0, high=20), "spec.body.upper.inertia.mass": sweep.Range(low=-1, high=5)},
            scalars={"swing": "end:upper.q", "work": "controller:work"})
        results = sweep.run(study(**changes), self.folder / "a", engine="serial")
        assert results is not None
        failed = results.rows["spec.body.upper.inertia.mass"] < 0
        self.assertFalse(failed[recorded].any())
        self.assertEqual(results.statuses["failed"], failed.sum())
        self.assertEqual(sorted(results.failures), np.flatnonzero(failed).tolist())
        self.assertIn("mass", results.failures[int(np.flatnonzero(failed)[0])])
        self.assertTrue(np.isnan(results.rows["swing"][failed]).all())
        np.testing.assert_allclose(results.rows["work"][~failed], 100 * results.rows["controller.kp"][~failed])
        for point in recorded:
            with self.subTest(point):
                recording = karakuri.c.kk_recording_read_file(str(self.folder / "a" / "recordings" / f"{point:08}.kkr"))
                last = karakuri.c.kk_recording_get_frame(recording, karakuri.c.kk_recording_get_info(recording).steps - 1)
                self.assertEqual(last.state_hash, results.rows["hash"][point])
        with self.assertRaisesRegex(sweep.StudyError, "pde"):
            sweep.run(study(**{**changes, "controller": "pd.py:pde"}), self.folder / "c", engine="serial")

    def test_noise_is_of_the_point(self) -> None:
        wanted: dict[str, Any] = dict(model=arm(), horizon=0.05, parameters={}, points=10, scalars={"imu": "end:imu.2"}, curves={}, every=None)
        found = []
        for shards_ in (1, 3):
            out = self.folder / str(shards_)
            for k in range(shards_):
                sweep.run(study(**wanted, ), out, engine="serial", shard=(k, shards_))
            found.append(sweep.merge(sweep.prepare(study(**wanted)), out).column("imu"))
        self.assertEqual(found[0].tobytes(), found[1].tobytes())
        self.assertEqual(len(set(found[0].tolist())), 10)


class Designs(unittest.TestCase):
    def test_sobol_is_that_of_joe_and_kuo(self) -> None:
        """The first points of the first dimensions, as printed with their numbers; and nets: every cell of a grid once."""
        unit = [[design.sobol_bits(i, d) / 2.0 ** 32 for d in range(4)] for i in range(5)]
        self.assertEqual(unit, [[0, 0, 0, 0], [.5, .5, .5, .5], [.75, .25, .25, .25], [.25, .75, .75, .75], [.375, .375, .625, .875]])
        for d in range(design.SOBOL_MOST):
            self.assertEqual(sorted(design.sobol_bits(i, d) >> 24 for i in range(256)), list(range(256)))

    def test_latin_hypercubes(self) -> None:
        for n in (1, 2, 37, 256):
            own = design.Design("latin", {"a": sweep.Range(low=0, high=n), "b": sweep.Range(low=0, high=n)}, n, 5, 1)
            values = own.values(0, n)
            for d in range(2):
                self.assertEqual(sorted(np.floor(values[:, d]).tolist()), list(range(n)))

    def test_points_do_not_wait_for_each_other(self) -> None:
        ranges = {"a": sweep.Range(low=1, high=100, log=True), "b": sweep.Range(mean=2, sd=3), "c": sweep.Range(values=(1, 5))}
        for kind in ("random", "latin", "sobol"):
            own = design.Design(kind, ranges, 5000, 1, 2)
            values = own.values(0, 10000)
            np.testing.assert_array_equal(own.values(777, 5), values[777:782])
            np.testing.assert_array_equal(values[::2], values[1::2])
            self.assertAlmostEqual(np.log10(values[:, 0]).mean(), 1, delta=0.02)
            self.assertAlmostEqual(values[:, 1].mean(), 2, delta=0.15)
            self.assertAlmostEqual(values[:, 1].std(), 3, delta=0.15)

    def test_quantiles_of_the_normal_distribution(self) -> None:
        for u, z in ((0.5, 0), (0.975, 1.959963984540054), (0.01, -2.3263478740408408), (1e-20, -9.262340089798408), (1e-5, -4.264890793922825)):
            self.assertAlmostEqual(design.normal_quantile(u), z, delta=1e-14 * max(abs(z), 1))

    def test_shards_by_environment(self) -> None:
        for environment, wanted in (({}, (0, 1)), ({"SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_COUNT": "4", "SLURM_ARRAY_TASK_MIN": "1",
                                                     "SLURM_ARRAY_TASK_STEP": "2"}, (3, 4)),
                                    ({"JOB_COMPLETION_INDEX": "2", "KARAKURI_SHARDS": "5"}, (2, 5)), ({"KARAKURI_SHARD": "0", "KARAKURI_SHARDS": "3"}, (0, 3))):
            self.assertEqual(shards.shard_of(environment), wanted)
        for bad in ({"JOB_COMPLETION_INDEX": "2"}, {"KARAKURI_SHARD": "3", "KARAKURI_SHARDS": "3"}, {"SLURM_ARRAY_TASK_ID": "x"}):
            with self.assertRaises(sweep.SweepError):
                shards.shard_of(bad)

    def test_summaries_are_exact(self) -> None:
        rng = np.random.default_rng(2)
        rows = np.zeros(70001, [("status", "<i4"), ("x", "<f8")])
        rows["x"] = rng.normal(size=len(rows)) * 10.0 ** rng.integers(-3, 4, len(rows))
        rows["x"][5], rows["status"][:3] = np.nan, 3
        good = np.sort(rows["x"][(rows["status"] != 3) & np.isfinite(rows["x"])])
        found = summary.statistics(rows, "x")
        self.assertEqual((found["count"], found["min"], found["max"]), (len(good), good[0], good[-1]))
        for q in summary.QUANTILES:
            self.assertEqual(found[f"q{q:g}"], good[int(q * len(good))])
        self.assertAlmostEqual(found["mean"], good.mean(), delta=1e-12)
        self.assertAlmostEqual(found["sd"] / good.std(ddof=1), 1, delta=1e-12)


TOOL = ROOT / "build" / "release" / "karakuri"


@unittest.skipUnless(TOOL.exists(), "karakuri optimize --on: the tool is not built")
class Tool(Case):
    def test_optimize_elsewhere_is_that_of_the_tool(self) -> None:
        words = [str(TOOL), "optimize", str(PENDULUM), "-t", "0.5", "--limit", "50", "--maximize", "mean:tip.x", "--effort", "0.5", "-g", "3", "--knots", "4"]
        environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(karakuri.__file__).parents[1]), "KARAKURI_PYTHON": sys.executable}
        found = []
        for k, more in enumerate(([], ["--on", "processes:2"])):
            done = subprocess.run([*words, *more, "--json", "-q", "-o", str(self.folder / f"{k}.csv")], capture_output=True, text=True, env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            answer = json.loads(done.stdout)
            found.append((answer["cost"], answer["best"], answer["population"], (self.folder / f"{k}.csv").read_bytes()))
        self.assertEqual(found[0], found[1])


PAGE = ROOT / "docs" / "guide" / "from-one-laptop-to-a-cluster.md"
PACKAGES = {"ray": "ray", "dask": "distributed", "mpi": "mpi4py"}


@unittest.skipUnless(TOOL.exists(), "docs/guide/from-one-laptop-to-a-cluster.md: the tool is not built")
class Guide(Case):
    """Every block of the page, in its order; those of an engine where it is installed."""

    def setUp(self) -> None:
        super().setUp()
        (self.folder / "models").symlink_to(ROOT / "models")
        (self.folder / "bin").mkdir()
        package = str(pathlib.Path(karakuri.__file__).parents[1])
        self.env = {**os.environ, "PATH": os.pathsep.join([str(self.folder / "bin"), str(TOOL.parent), os.environ["PATH"]]), "PYTHONPATH": package,
                    "KARAKURI_PYTHON": sys.executable, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                    "OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
        (self.folder / "bin" / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')  # a link would lose its virtual environment
        (self.folder / "bin" / "python").chmod(0o755)

    def lacks(self, name: str | None) -> bool:
        return name in PACKAGES and (importlib.util.find_spec(PACKAGES[name]) is None or (name == "mpi" and shutil.which("mpirun") is None))

    def test_blocks(self) -> None:
        blocks = re.findall(r"^```(\w+)(?: +(\S+))?\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
        self.assertGreaterEqual(len(blocks), 10)
        results: set[bytes] = set()
        for language, name, text in blocks:
            if language != "sh":
                (self.folder / name).write_text(text, encoding="utf-8")
                continue
            lines = "".join(line for line in text.splitlines(True) if not line.startswith("pip install"))
            with self.subTest(text):
                if self.lacks(name):
                    continue
                done = subprocess.run(["sh", "-e", "-c", lines], cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=300)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for folder in ("study", "sharded", "on-ray", "on-dask", "on-mpi"):
            if not self.lacks(folder[3:]):
                results.add((self.folder / folder / "results.npy").read_bytes())
        self.assertEqual(len(results), 1, "the same bytes on all engines")


class Command(Case):
    def run_words(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        path = str(pathlib.Path(karakuri.__file__).parents[1])
        return subprocess.run([sys.executable, "-m", "karakuri.sweep", *words], capture_output=True, text=True, cwd=self.folder,
                              env={**os.environ, "PYTHONPATH": path, **environment})

    def test_a_study_in_shards(self) -> None:
        (self.folder / "s.toml").write_text(f"model = '{PENDULUM}'\nhorizon = 0.1\npoints = 10\nblock = 2\n[parameters]\nmass.upper = {{low = 3, high = 4}}\n"
                                            "[scalars]\nswing = 'end:lower.q'\n")
        for k in range(2):
            done = self.run_words("sweep", "s.toml", "--on", "serial", SLURM_ARRAY_TASK_ID=str(k), SLURM_ARRAY_TASK_COUNT="2")
            self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_words("sweep", "s.toml", "--merge", "--json", "--csv", "s.csv")
        self.assertEqual((done.returncode, json.loads(done.stdout)["done"]), (0, 10))
        self.assertEqual(len((self.folder / "s.csv").read_text().splitlines()), 11)
        done = self.run_words("sweep", "nothing.toml")
        self.assertEqual(done.returncode, 2)
        self.assertIn("nothing.toml", done.stderr)

    def test_the_progress_bar(self) -> None:
        import io
        from karakuri.sweep.progress import Progress
        file = io.StringIO()
        with Progress(100, 20, file) as bar:
            bar.add(30, 2)
            self.assertIn("50 of 100 points", bar.line())
            self.assertIn("2 failed", bar.line())
            self.assertRegex(bar.line(), r"\d+/s, \d+:\d\d left")
        self.assertIn("50 of 100", file.getvalue())


if __name__ == "__main__":
    unittest.main()
