#!/usr/bin/env python3
"""Ours beside the peers, for `make bench`: dynamics, scenes, loading, collision, simbench, piles; `make bench ARGS="scenes"`
runs one of them.

`--json FILE` gathers what all of them found, `--strict` fails when a bar is missed; other arguments go to the program and
need its name before them: `ARGS="dynamics --robot arm7"`, `ARGS="scenes --scene anymal --stages"`.
"""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks" / "peers"))
sys.path.insert(0, str(ROOT / "benchmarks"))
import build as peers  # noqa: E402
import collision  # noqa: E402

PROGRAMS = ("dynamics", "scenes", "loading", "collision", "simbench", "piles")
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


def draw_points():
    """Time by contact points as a picture, by our own tool."""
    table, tool = WORK / "contact_points.csv", ROOT / "build" / "release" / "karakuri"
    if table.exists() and len(table.read_text().splitlines()) > 2 and tool.exists():
        picture = WORK / "contact_points.svg"
        done = subprocess.run([tool, "plot", table, "--x", "points", "--out", picture], capture_output=True, text=True)
        where = picture.relative_to(ROOT) if done.returncode == 0 else f"none: {done.stderr.strip()}"
        print(f"\ntime by contact points: {table.relative_to(ROOT)}, picture {where}")


def measure_piles():
    """A fixed budget on a thousand bodies, its growth, and two workers."""
    program = peers.build_piles()
    failed = subprocess.run([program, "--stages"]).returncode
    for bodies in ("100", "10000"):
        failed |= subprocess.run([program, "--bodies", bodies, "--steps", "5", "--rounds", "5"]).returncode
    print("the same in a cube, whose columns are twice as high", flush=True)
    failed |= subprocess.run([program, "--bodies", "10000", "--deep", "--settle", "150", "--steps", "5", "--rounds", "3"]).returncode
    failed |= subprocess.run([program, "--scene", "boxes", "--workers", "2", "--reckon"]).returncode
    print("and by the wall's clock, which other programs spoil", flush=True)
    return failed | subprocess.run([program, "--scene", "boxes", "--workers", "2", "--rounds", "30"]).returncode


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
        if name == "collision":
            failed |= collision.measure(["--json", str(part), *words])
        else:
            failed |= subprocess.run([*command_of(name), "--json", part, *words]).returncode
        if part.exists():
            gathered.setdefault(name, json.loads(part.read_text()))
        if name == "scenes":
            draw_points()
        if name == "piles" and not words:
            failed |= measure_piles()
    if target:
        target.write_text(json.dumps(gathered, indent=2) + "\n")
    return failed


if __name__ == "__main__":
    sys.exit(main())
