#!/usr/bin/env python3
"""Sweeps on real engines: the same bytes on each, and what kills do.

agree   a study with early stopping and a search on each engine, and the study in 1, 2 and 7 shards: the same bytes, the same best candidate; training rows as actors of Ray
kills   a study is run by an engine while its workers and its driver are killed (SIGKILL) at random moments; the driver is given again until
        the study is done. The merged result must be that of an undisturbed run byte for byte, with each block once in the journal.

    tests/sweep/run.py [agree] [kills] [--engine processes|ray|dask|mpi]... [--kills N] [--seed S] [--python PYTHON]

Without PYTHON an environment with the packages of the engines is made under build/python; mpi needs Debian's openmpi-bin as well. Engines whose package is missing are
skipped and told. Prints «N passed, N failed» last.
"""
import argparse
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
ENGINES = {"processes": ("karakuri", 1000), "ray": ("ray", 20), "dask": ("distributed", 20), "mpi": ("mpi4py", 20)}
STUDY = """
model = "{model}"
horizon = 2
every = 0.1
design = "latin"
points = {points}
block = 8
seed = 4
[parameters]
mass.upper = {{low = 3, high = 7}}
start.upper.q = {{low = -1, high = 1}}
[scalars]
swing = "end:lower.q"
top = "max:tip.z"
[rungs]
score = "max:tip.z"
at = [1]
"""
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", PYTHONPATH=str(BUILD / "python"), RAY_AUTH_MODE="disabled",
                  RAY_DEDUP_LOGS="0", RAY_USAGE_STATS_ENABLED="0")


def stat(pid):
    """(parent, command line) of a process; None: it is gone."""
    try:
        parent = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        return parent, pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except (OSError, IndexError, ValueError):
        return None


def below(root):
    """All processes under one, with their command lines."""
    table = {int(p.name): found for p in pathlib.Path("/proc").iterdir() if p.name.isdigit() and (found := stat(p.name))}
    found, wave = {}, {root}
    while wave:
        wave = {pid for pid, (parent, _) in table.items() if parent in wave and pid not in found}
        found.update((pid, table[pid][1]) for pid in wave)
    return found


class Engine:
    """How a driver is started on an engine, and which processes are its workers."""

    def __init__(self, name, python, folder):
        self.name, self.python, self.folder, self.servers = name, python, folder, []

    def open(self):
        """Servers that outlive the driver."""

    def command(self, out):
        words = [self.python, "-m", "karakuri.sweep", "sweep", str(self.folder / "study.toml"), "--out", str(out), "-q"]
        return [*words, "--on", "processes:2"]

    def workers(self, driver):
        return [pid for pid, line in below(driver.pid).items() if "karakuri.sweep.processes" in line]

    def start(self, *words):
        server = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        self.servers.append(server)
        return server

    def close(self):
        for server in self.servers:
            for pid in [*below(server.pid), server.pid]:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            server.wait()


class Ray(Engine):
    """A cluster of two nodes' processes on this machine."""

    PORT = 6399

    def open(self):
        ray = pathlib.Path(self.python).parent / "ray"
        common = ["--num-cpus=1", "--disable-usage-stats", "--object-store-memory=80000000", "--block"]
        self.start(ray, "start", "--head", f"--port={self.PORT}", "--include-dashboard=false", *common)
        time.sleep(8)
        self.start(ray, "start", f"--address=127.0.0.1:{self.PORT}", *common)
        time.sleep(6)

    def command(self, out):
        return [*super().command(out)[:-1], f"ray:127.0.0.1:{self.PORT}"]

    def workers(self, driver):
        return [pid for server in self.servers for pid, line in below(server.pid).items() if line.startswith("ray::_call")]


class Dask(Engine):
    PORT = 8796

    def open(self):
        self.start(self.python, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", self.PORT, "--no-dashboard")
        for k in range(2):
            self.start(self.python, "-m", "distributed.cli.dask_worker", f"tcp://127.0.0.1:{self.PORT}", "--nthreads", 1, "--no-dashboard",
                       "--local-directory", self.folder / f"dask{k}")
        time.sleep(4)

    def command(self, out):
        return [*super().command(out)[:-1], f"dask:tcp://127.0.0.1:{self.PORT}"]

    def workers(self, driver):
        """Children of the nannies, which start them again."""
        return [pid for server in self.servers[1:] for pid, line in below(server.pid).items() if "spawn_main" in line]


class Mpi(Engine):
    """A rank that dies takes the job with it; the job is given again."""

    def command(self, out):
        words = super().command(out)
        return ["mpirun", "--oversubscribe", "-n", "3", self.python, "-m", "mpi4py.futures", *words[1:-1], "mpi"]

    def workers(self, driver):
        return [pid for pid, line in below(driver.pid).items() if "mpi4py.futures" in line]


KINDS = {"processes": Engine, "ray": Ray, "dask": Dask, "mpi": Mpi}


def result(out):
    return b"".join((out / name).read_bytes() for name in ("results.npy", "failures.csv", "summary.csv"))


def blocks_in(python, out):
    """Blocks in the journal, in its order."""
    program = "import sys; from karakuri.sweep.journal import Scan\nwith Scan(sys.argv[1]) as s: print(*s.blocks())"
    done = subprocess.run([python, "-c", program, str(out / "shard-0-of-1.journal")], capture_output=True, text=True, check=True)
    return [int(word) for word in done.stdout.split()]


def one_study(engine, out, wanted, kills, rng):
    """Kills until the study is done, at most so many times. How many of workers and drivers, or what went wrong."""
    count, workers_killed, drivers_killed = 0, 0, 0
    while True:
        driver = subprocess.Popen(engine.command(out), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        pause = rng.uniform(0.01, 0.4) if engine.name == "processes" else rng.uniform(0.3, 3)
        of_driver = rng.random() < 0.25
        while True:
            try:
                driver.wait(pause if count < kills else 300)
                break
            except subprocess.TimeoutExpired:
                pass
            pool = [] if of_driver else engine.workers(driver)
            victim = driver.pid if of_driver else rng.choice(pool) if pool else None
            if victim is not None and count < kills:
                try:
                    os.kill(victim, signal.SIGKILL)
                    count += 1
                    drivers_killed += of_driver
                    workers_killed += not of_driver
                except ProcessLookupError:
                    pass
            of_driver, pause = rng.random() < 0.15, rng.uniform(0.01, 0.25) if engine.name == "processes" else rng.uniform(0.2, 2)
        text = driver.stderr.read()
        driver.stderr.close()
        if driver.returncode == 0:
            break
        if driver.returncode > 0 and engine.name != "mpi" and "error" in text:
            return workers_killed, drivers_killed, f"the driver ended with code {driver.returncode}: {text[-500:]}"
    found = blocks_in(engine.python, out)
    if sorted(found) != list(range(len(found))):
        return workers_killed, drivers_killed, f"blocks in the journal: {found}"
    return workers_killed, drivers_killed, "" if result(out) == wanted else "the merged result is another"


SEARCH = """
[search]
maximize = "top"
generations = 5
"""

ACTORS = """
import hashlib, sys
import numpy as np
from karakuri.gym.sharded import ShardedVectorEnv
from karakuri.gym import VectorEnv

def played(envs):
    rng, seen = np.random.default_rng(0), [envs.reset(seed=3)[0]]
    for _ in range(60):
        seen += envs.step(rng.uniform(-1, 1, (24, 3)).astype(np.float32))[:4]
    return b"".join(np.asarray(x).tobytes() for x in seen)

assert played(VectorEnv("Hopper", 24)) == played(ShardedVectorEnv("Hopper", 24, 2, cpus=0.1)) == played(ShardedVectorEnv("Hopper", 24, 3, cpus=0.1))
"""


def agree(engines, options):
    """All engines give the bytes of one process."""
    good, bad = [], []
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        text = STUDY.format(model=ROOT / "models/double_pendulum/double_pendulum.xml", points=400)
        (folder / "study.toml").write_text(text)
        (folder / "search.toml").write_text(text + SEARCH)

        def run(words, out, study="study.toml"):
            words = [str(word) for word in words]
            words[words.index(str(folder / "study.toml"))] = str(folder / study)
            done = subprocess.run([*words, "--json"], capture_output=True, text=True)
            if done.returncode:
                return done.stderr[-500:].encode()
            return result(out) if study == "study.toml" else done.stdout[done.stdout.index("{"):].encode()

        plain = Engine("processes", options.python, folder).command
        wanted = run([*plain(folder / "one")[:-1], "serial"], folder / "one")
        best = run([*plain(folder / "best")[:-1], "serial"], folder / "best", "search.toml")
        for shards in (2, 7):
            out = folder / f"cut{shards}"
            for k in reversed(range(shards)):
                subprocess.run([*plain(out), "--shard", f"{k}/{shards}"], check=True, stdout=subprocess.DEVNULL)
            (good if run([*plain(out), "--merge"], out) == wanted else bad).append(f"{shards} shards")
        for name in engines:
            engine = KINDS[name](name, options.python, folder)
            try:
                engine.open()
                for study, answer in (("study.toml", wanted), ("search.toml", best)):
                    out = folder / f"{name}-{study}"
                    (good if run(engine.command(out), out, study) == answer else bad).append(f"{name}, {study[:-5]}")
            finally:
                engine.close()
        page = subprocess.run([options.python, "-m", "unittest", "test_sweep.Guide"], capture_output=True, text=True, cwd=ROOT / "python" / "tests")
        (bad if page.returncode else good).append(f"the blocks of the guide{page.stderr[-500:] if page.returncode else ''}")
        if "ray" in engines and not subprocess.run([options.python, "-c", "import gymnasium"], capture_output=True).returncode:
            done = subprocess.run([options.python, "-c", ACTORS], capture_output=True, text=True)
            (bad if done.returncode else good).append(f"rows as actors of Ray{done.stderr[-500:] if done.returncode else ''}")
    print(f"the same bytes: {'; '.join(good)}" + (f"\nFAILED other bytes: {'; '.join(bad)}" if bad else ""), flush=True)
    return len(good), len(bad), 0


def missing(name, python):
    """Why an engine cannot be tested here, or nothing."""
    package = ENGINES[name][0]
    if subprocess.run([python, "-c", f"import {package}"], capture_output=True).returncode:
        return f"{python} has no {package}"
    return "no mpirun (Debian package openmpi-bin)" if name == "mpi" and not shutil.which("mpirun") else ""


def environment():
    """The package built, and a Python with numpy and the engines; mpi4py where MPI is."""
    sys.path.insert(0, str(ROOT / "python"))
    import make
    make.check_python()
    make.build(2)
    return str(make.environment(sys.executable, ["numpy", "gymnasium", "ray", "distributed", *(["mpi4py"] if shutil.which("mpirun") else [])]))


def test(name, options, rng):
    kills = options.kills or ENGINES[name][1]
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        points = 2400 if name == "processes" else 4000
        (folder / "study.toml").write_text(STUDY.format(model=ROOT / "models/double_pendulum/double_pendulum.xml", points=points))
        plain = Engine("processes", options.python, folder)
        subprocess.run([*plain.command(folder / "undisturbed")[:-1], "serial"], check=True, stdout=subprocess.DEVNULL)
        wanted, engine = result(folder / "undisturbed"), KINDS[name](name, options.python, folder)
        workers = drivers = studies = 0
        start, problem = time.monotonic(), ""
        try:
            engine.open()
            while workers + drivers < kills and not problem:
                more = one_study(engine, folder / f"out{studies}", wanted, kills - workers - drivers, rng)
                workers, drivers, problem, studies = workers + more[0], drivers + more[1], more[2], studies + 1
        finally:
            engine.close()
    print(f"{name}: {workers} kills of workers and {drivers} of drivers over {studies} studies of {points} points in {time.monotonic() - start:.0f} s: "
          f"{problem or 'the same bytes, no block lost or doubled'}", flush=True)
    return int(not problem), int(bool(problem)), 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=("agree", "kills", []))
    parser.add_argument("--engine", action="append", choices=ENGINES)
    parser.add_argument("--kills", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--python")
    options = parser.parse_args()
    options.python = options.python or environment()
    rng, counts, engines = random.Random(options.seed), [(0, 0, 0)], []
    for name in options.engine or ENGINES:
        why = missing(name, options.python)
        if why:
            print(f"skipped sweep on {name}: {why}")
            counts.append((0, 0, 1))
        else:
            engines.append(name)
    if not options.what or "agree" in options.what:
        counts.append(agree(engines, options))
    if not options.what or "kills" in options.what:
        counts += [test(name, options, rng) for name in engines]
    passed, failed, skipped = (sum(column) for column in zip(*counts))
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
