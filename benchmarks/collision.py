#!/usr/bin/env python3
"""Collision beside libccd, FCL and Bullet (apt) and Coal (pip, comes with Pinocchio). Arguments go to the program."""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks" / "peers"))
import build as peers  # noqa: E402

HEADERS = {"ccd/ccd.h": "libccd-dev", "fcl/fcl.h": "libfcl-dev", "bullet/btBulletCollisionCommon.h": "libbullet-dev"}
# Coal and FCL bring two versions of octomap, hence two programs
PROGRAMS = {"collision_convex": (["collision_hulls"], ["-lcoal", "-lccd"]),
            "collision_scenes": (["collision_meshes", "collision_scenes"],
                                 ["-lfcl", "-loctomap", "-loctomath", "-lBulletCollision", "-lLinearMath", "-lccd"])}


def missing():
    return [package for header, package in HEADERS.items() if not (pathlib.Path("/usr/include") / header).exists()]


def build():
    if not peers.LIBRARY.exists():
        peers.give_up("build the library first: make")
    prefix = peers.fetch() / "cmeel.prefix"
    common = ["-O3", "-DNDEBUG", *peers.WARNINGS, "-ffp-contract=off", "-isystem", peers.eigen(), "-I", ROOT / "src"]
    own = {"collision_hulls": ["-isystem", prefix / "include"], "collision_scenes": ["-isystem", "/usr/include/bullet"]}
    programs = []
    for program, (sources, libraries) in PROGRAMS.items():
        objects = [peers.compile_object(ROOT / "benchmarks" / f"{name}.cpp", [*common, *own.get(name, [])])
                   for name in ["collision", *sources]]
        path = ["-L", prefix / "lib", f"-Wl,-rpath,{prefix / 'lib'}"] if "-lcoal" in libraries else []
        peers.run(peers.compiler(), *objects, peers.LIBRARY, *path, *libraries, "-lm", "-pthread", "-o",
                  peers.BUILD / program)
        programs.append(peers.BUILD / program)
    return programs


def arguments_beside(words):
    """What a run of the dynamics with these arguments asks of collision: out.json gets out.collision.json beside it."""
    wanted = ["--strict"] if "--strict" in words else []
    if "--json" in words[:-1]:
        path = pathlib.Path(words[words.index("--json") + 1])
        wanted += ["--json", str(path.with_suffix(".collision" + path.suffix))]
    return wanted


def join(parts, target):
    """One file of the rows of several."""
    whole = json.loads(parts[0].read_text())
    for part in parts[1:]:
        whole["rows"] += json.loads(part.read_text())["rows"]
    target.write_text(json.dumps(whole, indent=2) + "\n")


def measure(arguments):
    lacking = missing()
    if lacking:
        print(f"collision: not measured, for want of {' '.join(lacking)}; apt has them", file=sys.stderr)
        return 0
    wanted = arguments.index("--json") if "--json" in arguments[:-1] else None
    failed, parts = 0, []
    for program in build():
        own = list(arguments)
        if wanted is not None:
            parts.append(program.with_suffix(".json"))
            own[wanted + 1] = str(parts[-1])
        failed = subprocess.run([program, *own]).returncode or failed
    if parts and not failed:
        join(parts, pathlib.Path(arguments[wanted + 1]))
    return failed


if __name__ == "__main__":
    sys.exit(measure(sys.argv[1:]))
