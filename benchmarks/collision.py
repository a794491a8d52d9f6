#!/usr/bin/env python3
"""Collision beside libccd, FCL and Bullet (apt) and Coal (pip, comes with Pinocchio). Arguments go to the program."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks" / "peers"))
import build as peers  # noqa: E402

HEADERS = {"ccd/ccd.h": "libccd-dev", "fcl/fcl.h": "libfcl-dev", "bullet/btBulletCollisionCommon.h": "libbullet-dev"}
SOURCES = ["collision", "collision_hulls", "collision_meshes", "collision_scenes"]
LIBRARIES = ["-lfcl", "-loctomap", "-loctomath", "-lBulletCollision", "-lLinearMath", "-lccd", "-lm"]


def missing():
    return [package for header, package in HEADERS.items() if not (pathlib.Path("/usr/include") / header).exists()]


def build():
    if not peers.LIBRARY.exists():
        peers.give_up("build the library first: make")
    prefix = peers.fetch() / "cmeel.prefix"
    common = ["-O3", "-DNDEBUG", *peers.WARNINGS, "-ffp-contract=off", "-isystem", peers.eigen(), "-I", ROOT / "src"]
    own = {"collision_hulls": ["-isystem", prefix / "include"], "collision_scenes": ["-isystem", "/usr/include/bullet"]}
    objects = [peers.compile_object(ROOT / "benchmarks" / f"{name}.cpp", [*common, *own.get(name, [])])
               for name in SOURCES]
    program = peers.BUILD / "collision"
    peers.run(peers.compiler(), *objects, peers.LIBRARY, "-L", prefix / "lib", f"-Wl,-rpath,{prefix / 'lib'}", "-lcoal",
              *LIBRARIES, "-pthread", "-o", program)
    return program


def arguments_beside(words):
    """What a run of the dynamics with these arguments asks of collision: out.json gets out.collision.json beside it."""
    wanted = ["--strict"] if "--strict" in words else []
    if "--json" in words[:-1]:
        path = pathlib.Path(words[words.index("--json") + 1])
        wanted += ["--json", str(path.with_suffix(".collision" + path.suffix))]
    return wanted


def measure(arguments):
    lacking = missing()
    if lacking:
        print(f"collision: not measured, for want of {' '.join(lacking)}; apt has them", file=sys.stderr)
        return 0
    return subprocess.run([build(), *arguments]).returncode


if __name__ == "__main__":
    sys.exit(measure(sys.argv[1:]))
