#!/usr/bin/env python3
"""Ours beside the peers, for `make bench`: dynamics, scenes, loading, collision, simbench, piles, batch, python, bars; `make bench ARGS="scenes"`
runs one of them.

`--json FILE` gathers what all of them found, `--strict` fails when a bar is missed; other arguments go to the program and
need its name before them: `ARGS="dynamics --robot arm7"`, `ARGS="scenes --scene anymal --stages"`.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks" / "peers"))
sys.path.insert(0, str(ROOT / "benchmarks"))
import build as peers  # noqa: E402
import collision  # noqa: E402

PROGRAMS = ("dynamics", "scenes", "loading", "collision", "simbench", "piles", "batch", "python", "bars")
WORK = ROOT / "build" / "bench"


def library_compiler():
    """The compiler and flags of our own library, as its build recorded them."""
    cache = ROOT / "build" / "release" / "CMakeCache.txt"
    known = dict(line.split("=", 1) for line in cache.read_text().splitlines() if "=" in line and line[0].isalpha())
    name = known.get("CMAKE_C_COMPILER:FILEPATH") or known.get("CMAKE_C_COMPILER:STRING") or "cc"
    version = subprocess.run([name, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    return f"{version} {known.get('KK_OPTIMIZE:STRING', '')}".strip()


def command_of(name):
    if name == "dynamics":
        program = peers.build("dynamics", ROOT / "benchmarks" / "dynamics.cpp")
        return [program, "--note", f"library={library_compiler()}"]
    if name == "piles":
        WORK.mkdir(parents=True, exist_ok=True)
        return [peers.build_scenes("pile_race"), "--work", WORK]
    if name == "simbench":
        return [peers.build_simbench()]
    WORK.mkdir(parents=True, exist_ok=True)
    program = peers.build_scenes(name, worlds=name == "scenes")
    return [program, "--models", ROOT.parent / "shared" / "models", "--work", WORK]


def measure_python(name, words):
    """Programs in Python run in a virtual environment with our package and MuJoCo."""
    sys.path.insert(0, str(ROOT / "python"))
    import make
    try:
        make.check_python()
        python = make.environment(sys.executable, ["numpy", "mujoco==4.0.*"])
    except make.Missing as missing:
        print(f"{name}: left out, no {missing}")
        return 0
    peers.BUILD.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(make.build(2))}
    return subprocess.run([python, ROOT / "benchmarks" / f"{name}.py", *words], env=environment).returncode


def draw_points():
    """Time by contact points as a picture, by our own tool."""
    table, tool = WORK / "contact_points.csv", ROOT / "build" / "release" / "karakuri"
    if table.exists() and len(table.read_text().splitlines()) > 2 and tool.exists():
        picture = WORK / "contact_points.svg"
        done = subprocess.run([tool, "plot", table, "--x", "points", "--out", picture], capture_output=True, text=True)
        where = picture.relative_to(ROOT) if done.returncode == 0 else f"none: {done.stderr.strip()}"
        print(f"\ntime by contact points: {table.relative_to(ROOT)}, picture {where}")


# ms a step of 1000 bodies: 1.5 times the better of Box3D and Jolt; most that a body may cost more among ten times as many; two workers
PILES = {"spheres": 2.25, "boxes": 3.5, "stacks": 1.45}
GROWTH, TWO_WORKERS = 0.3, 1.7


def judged(holds):
    return "ok" if holds else "MISSED"


def microseconds(program, scene, bodies):
    said = subprocess.run([program, "--scene", scene, "--bodies", str(bodies), "--steps", "5", "--rounds", "8"],
                          capture_output=True, text=True, check=True).stdout
    return float(re.search(r"of its own thread\s+(\d+) us", said)[1])


def measure_growth(program):
    """All sizes in turn, three times, and the least of each: what waits for memory moves with what else the host does."""
    failed = 0
    for scene, bar in PILES.items():
        sizes = (100, 1000, 10000)
        turns = [[microseconds(program, scene, n) / n for n in sizes] for _ in range(3)]
        few, some, many = (min(turn) for turn in zip(*turns))
        growth = max(some / few, many / some) - 1
        failed |= some > bar or growth > GROWTH
        print(f"{scene:8} {some:5.2f} ms for 1000, bar {bar:g}  {judged(some <= bar)};  a body of 100, 1000, 10 000: {few:.2f}, {some:.2f}, "
              f"{many:.2f} us, {some / few - 1:+.0%}, {many / some - 1:+.0%}, bar {GROWTH:+.0%}  {judged(growth <= GROWTH)}", flush=True)
    return failed


def measure_workers(program):
    """By the wall's clock, which other programs spoil: the best of three."""
    said = [subprocess.run([program, "--scene", "boxes", "--workers", "2", "--rounds", "30"], capture_output=True, text=True,
                           check=True).stdout for _ in range(3)]
    best = max(float(re.search(r"([0-9.]+) times as fast", text)[1]) for text in said)
    same = all("the same bits" in text for text in said)
    holds = best >= TWO_WORKERS and same
    print(f"two workers on 1000 boxes by the wall's clock: {best:.2f} times one, bar {TWO_WORKERS:g}, "
          f"{'the same bits' if same else 'OTHER BITS'}  {judged(holds)}", flush=True)
    return not holds


def measure_piles():
    """A fixed budget on a thousand bodies, its growth, and two workers."""
    program = peers.build_piles()
    failed = subprocess.run([program, "--stages"]).returncode
    print("ten thousand in a cube, whose columns are twice as high", flush=True)
    failed |= subprocess.run([program, "--bodies", "10000", "--deep", "--settle", "150", "--steps", "5", "--rounds", "3"]).returncode
    print("two workers, reckoned on idle cores", flush=True)
    failed |= subprocess.run([program, "--scene", "boxes", "--workers", "2", "--reckon"]).returncode
    missed = measure_growth(program) | measure_workers(program)
    return failed | ("--strict" in sys.argv and missed)


def take_option(words, key):
    if key not in words:
        return None
    at = words.index(key)
    value = words[at + 1] if at + 1 < len(words) else sys.exit(f"{key} needs a file")
    del words[at:at + 2]
    return pathlib.Path(value)


def main():
    words = sys.argv[1:]
    target = take_option(words, "--json")
    chosen = [words.pop(0)] if words and words[0] in PROGRAMS else PROGRAMS
    if len(chosen) > 1 and [word for word in words if word != "--strict"]:
        sys.exit("say which program the arguments are for: " + ", ".join(PROGRAMS))
    failed, gathered = 0, {}
    for name in chosen:
        part = peers.BUILD / f"{name}.json"
        part.unlink(missing_ok=True)
        if name == "bars":
            failed |= subprocess.run([sys.executable, ROOT / "benchmarks" / "bars.py"]).returncode
        elif name == "collision":
            failed |= collision.measure(["--json", str(part), *words])
        elif name in ("batch", "python"):
            failed |= measure_python(name, ["--json", str(part), *(w for w in words if name == "batch" or w != "--strict")])
        else:
            failed |= subprocess.run([*command_of(name), "--json", part, *words]).returncode
        if part.exists():
            gathered.setdefault(name, json.loads(part.read_text()))
        if name == "scenes":
            draw_points()
        if name == "piles" and not [word for word in words if word != "--strict"]:
            failed |= measure_piles()
    if target:
        target.write_text(json.dumps(gathered, indent=2) + "\n")
    return failed


if __name__ == "__main__":
    sys.exit(main())
