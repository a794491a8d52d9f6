#!/usr/bin/env python3
"""Sweeps: what they cost beside a loop in C, whether memory is flat, and how fast a controller in another process is asked.

    benchmarks/sweep.py [overhead] [points] [control] [driver] [--points N] [--strict]

overhead  10 ms a point: processor time of driver and worker against benchmarks/sweep.c over the same points, and the same hashes; least of three
points    1e5 points of the double pendulum by one command: how long, and the largest memory of driver and workers after a tenth and at the end
driver    processor time of the driver for a block and of merging for a byte, with blocks that cost nothing: what docs/lab/sweeps-at-scale.md stands on
control   36 joints: round trips a second of `karakuri run --controller` with the clients in C and Python, and the hash in process
"""
import argparse
import importlib.util
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "release"
PENDULUM = ROOT / "models" / "double_pendulum" / "double_pendulum.xml"
BAR_OVERHEAD, BAR_MEMORY, BAR_TRIPS = 1.02, 1.10, 20000

STUDY = f"""
model = "{PENDULUM}"
horizon = {{horizon}}
design = "sobol"
points = {{points}}
block = {{block}}
[parameters]
mass.upper = {{{{low = 3, high = 7}}}}
start.upper.q = {{{{low = -1, high = 1}}}}
[scalars]
swing = "end:lower.q"
tip = "end:tip.z"
"""


def environment():
    return {**os.environ, "PYTHONPATH": str(BUILD / "python"), "PATH": f"{BUILD}{os.pathsep}{os.environ['PATH']}"}


def children_seconds():
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return use.ru_utime + use.ru_stime


def sweep_seconds(folder, points, horizon, block, engine="processes:1"):
    """Processor seconds of the whole command, start and merge included."""
    study = folder / "study.toml"
    study.write_text(STUDY.format(points=points, horizon=horizon, block=block))
    shutil.rmtree(folder / "study", ignore_errors=True)
    before = children_seconds()
    subprocess.run([sys.executable, "-m", "karakuri.sweep", "sweep", str(study), "--on", engine, "-q"], check=True, env=environment(), stdout=subprocess.DEVNULL)
    return children_seconds() - before


def compiled(folder):
    program = folder / "loop"
    subprocess.run(["cc", "-std=c17", "-O2", "-Wall", "-Wextra", f"-I{ROOT}/include", str(ROOT / "benchmarks" / "sweep.c"), str(BUILD / "libkarakuri.a"),
                    "-lpthread", "-o", str(program)], check=True)
    return program


def measure_overhead(options):
    import numpy as np
    sys.path.insert(0, str(BUILD / "python"))
    from karakuri import sweep
    steps, points = 8000, options.points or 1000
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        loop, ours, start, theirs = compiled(folder), [], [], []
        for _ in range(3):
            ours.append(sweep_seconds(folder, points, steps * 0.005, 64))
            rows = np.load(folder / "study" / "results.npy")
            np.column_stack([rows["mass.upper"], rows["start.upper.q"]]).tofile(folder / "table")
            done = subprocess.run([str(loop), str(PENDULUM), str(folder / "table"), str(steps), str(folder / "hashes")], check=True, capture_output=True, text=True)
            theirs.append(float(done.stdout.split()[1]))
            same = (np.fromfile(folder / "hashes", np.uint64) == rows["hash"]).all()
            start.append(sweep_seconds(folder, 1, steps * 0.005, 64))
    each = min(theirs) / points
    marginal, whole = (min(ours) - min(start)) / points / each, min(ours) / min(theirs)
    del sweep
    print(f"overhead: {points} points of {1e3 * each:.2f} ms; the sweep takes {marginal:.4f} of the loop in C a point, bar {BAR_OVERHEAD}; with the "
          f"start of both processes ({min(start):.2f} s, once a study) {whole:.4f}; {'the same hashes' if same else 'OTHER HASHES'}")
    return marginal <= BAR_OVERHEAD and bool(same)


def resident(pid):
    """MB of a process and all below it."""
    found = 0
    try:
        found = int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) / 1024
        for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            found += resident(int(child))
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            if task.name != str(pid):
                found += sum(resident(int(child)) for child in (task / "children").read_text().split())
    except (OSError, TypeError):
        pass
    return found


def measure_points(options):
    points = options.points or 100_000
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "study.toml").write_text(STUDY.format(points=points, horizon=0.5, block=256))
        seen, start = [], time.monotonic()
        child = subprocess.Popen([sys.executable, "-m", "karakuri.sweep", "sweep", str(folder / "study.toml"), "--json"], env=environment(),
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

        def watch():
            journal = folder / "study" / "shard-0-of-1.journal"
            while child.poll() is None:
                seen.append((journal.stat().st_size if journal.exists() else 0, resident(child.pid)))
                time.sleep(0.2)

        watcher = threading.Thread(target=watch)
        watcher.start()
        answer = json.loads(child.communicate()[0])
        watcher.join()
        took = time.monotonic() - start
    largest = max(size for size, _ in seen)
    early = max(memory for size, memory in seen if size <= 0.1 * largest)
    late = max(memory for size, memory in seen if size >= 0.9 * largest)
    print(f"points: {answer['points']} in {took:.1f} s, {answer['failed']} failed; {early:.0f} MB by the first tenth, {late:.0f} MB in the last, "
          f"ratio {late / early:.3f}, bar {BAR_MEMORY}")
    return late <= BAR_MEMORY * early and answer["points"] == points


def canned(packed, expected, number, values=None):
    """A block's outcome without its work."""
    from karakuri.sweep.block import Outcome
    return Outcome(number, canned.rows[number], (), (), 0.64, "somewhere:1")


def engine_seconds(engines, name, packed, tasks=1000, ahead=6):
    """Of a task that does nothing, with a study to send and to bring back, so many of them under way."""
    executor, _ = engines.open_engine(name, 2)
    executor.submit(max, packed, b"").result()
    waiting, start = [], time.process_time()
    for _ in range(tasks):
        waiting.append(executor.submit(max, packed, b""))
        if len(waiting) > ahead:
            waiting.pop(0).result()
    while waiting:
        waiting.pop().result()
    each = (time.process_time() - start) / tasks
    executor.shutdown()
    return each


def measure_driver(options):
    """Blocks of 64 points that are there at once: all time is the driver's."""
    import numpy as np
    sys.path.insert(0, str(BUILD / "python"))
    from karakuri.sweep import driver, engines, results, study
    blocks = (options.points or 256_000) // 64
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "study.toml").write_text(STUDY.format(points=64 * blocks, horizon=1, block=64))
        plan = study.prepare(folder / "study.toml")
        rows = np.zeros(64 * blocks, plan.dtype)
        rows["index"], rows["swing"] = np.arange(len(rows)), np.random.default_rng(0).normal(size=len(rows))
        canned.rows = [rows[64 * k:64 * (k + 1)].tobytes() for k in range(blocks)]
        driver.run_block, own = canned, driver.merge
        driver.merge = lambda *words, **named: None
        start = time.process_time()
        driver.run(plan, folder / "out", engine=engines.Serial())
        each = (time.process_time() - start) / blocks
        start = time.process_time()
        summary = results.write_summary
        results.write_summary = lambda *words: None
        own(plan, folder / "out")
        merge = time.process_time() - start
        start = time.process_time()
        summary(plan, rows, folder)
        summing = time.process_time() - start
    for name, package in (("processes:2", "karakuri"), ("ray", "ray"), ("dask", "distributed")):
        if importlib.util.find_spec(package):
            print(f"driver: {1e6 * engine_seconds(engines, name, plan.pack()):.0f} us a task of {name}, processor time of the driver's process alone", flush=True)
    size = rows.nbytes / 1e6
    print(f"driver: {1e6 * each:.0f} us a block of 64 points beside the engine's own; merging {size / merge:.0f} MB/s; the summary {1e6 * summing / len(rows) / 2:.2f} us "
          f"a point and scalar; a row has {plan.dtype.itemsize} bytes, a task {len(plan.pack())}")
    return True


def tree(joints=36):
    """Limbs of six hinges with a motor each, on a fixed base, apart from each other."""
    limbs, motors = "", ""
    for limb in range(joints // 6):
        text, end = "", ""
        for k in range(6):
            name = f"j{6 * limb + k}"
            text += (f'<body name="b{6 * limb + k}" pos="0 0 {-0.2 if k else 0}"><joint name="{name}" axis="{(1, 0, 0)[k % 3]} {(0, 1, 0)[k % 3]} {(0, 0, 1)[k % 3]}" '
                     f'damping="0.2"/><geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.03" mass="0.5" contype="0" conaffinity="0"/>')
            end += "</body>"
            motors += f'<motor name="{name}" joint="{name}"/>'
        limbs += text.replace('pos="0 0 0"', f'pos="{limb} 0 0"', 1) + end
    return f'<mujoco model="tree"><option timestep="0.001"/><worldbody>{limbs}</worldbody><actuator>{motors}</actuator></mujoco>'


def in_process(path, steps):
    """Hash after the same control law here."""
    sys.path.insert(0, str(BUILD / "python"))
    import karakuri
    sim = karakuri.load(path).simulator()
    start = sim.q.copy()
    for _ in range(steps):
        sim.control = 20 * (start - sim.q) - 1 * sim.v
        sim.step()
    return f"{sim.state.hash:016x}"


def measure_control(options):
    steps = options.points or 100_000
    with tempfile.TemporaryDirectory() as place:
        folder, good = pathlib.Path(place), True
        model = folder / "tree.xml"
        model.write_text(tree())
        subprocess.run(["cc", "-std=gnu99", "-O2", "-ffp-contract=off", str(ROOT / "examples/controller/hold.c"), "-o", str(folder / "hold")], check=True)
        wanted = in_process(model, steps)
        clients = {"C": str(folder / "hold"), "Python": f"{sys.executable} -m karakuri.control {ROOT}/examples/controller/hold.py"}
        for name, command in clients.items():
            rates = []
            for _ in range(3):
                done = subprocess.run([str(BUILD / "karakuri"), "run", str(model), "-t", str(steps * 0.001), "--controller", command, "--json"],
                                      env=environment(), capture_output=True, text=True)
                found = json.loads(done.stdout)
                rates.append(found["steps"] / found["wall_seconds"])
            alone = json.loads(subprocess.run([str(BUILD / "karakuri"), "run", str(model), "-t", str(steps * 0.001), "--json"], capture_output=True, text=True).stdout)
            trip = 1 / max(rates) - alone["wall_seconds"] / alone["steps"]
            same = found["state_hash"] == wanted
            good = good and same and (name != "C" or max(rates) >= BAR_TRIPS)
            print(f"control: client in {name}: {max(rates):.0f} round trips a second with their steps of 36 joints, bar {BAR_TRIPS} (in C); a trip alone "
                  f"{1e6 * trip:.1f} us; {'the hash as in process' if same else 'ANOTHER HASH'}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*")
    parser.add_argument("--points", type=int, help="instead of each part's own number")
    parser.add_argument("--strict", action="store_true", help="fail where a bar is missed")
    options = parser.parse_args()
    parts = {"overhead": measure_overhead, "points": measure_points, "control": measure_control, "driver": measure_driver}
    good = [parts[name](options) for name in options.what or parts]
    return int(options.strict and not all(good))


if __name__ == "__main__":
    sys.exit(main())
