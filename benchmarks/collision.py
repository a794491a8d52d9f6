#!/usr/bin/env python3
"""Collision of convex hulls beside Coal (pip, comes with Pinocchio) and libccd (apt: libccd-dev)."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks" / "peers"))
import build as peers  # noqa: E402


def main():
    if not pathlib.Path("/usr/include/ccd/ccd.h").exists():
        peers.give_up("libccd's headers are missing; apt has them as libccd-dev")
    if not peers.LIBRARY.exists():
        peers.give_up("build the library first: make")
    prefix = peers.fetch() / "cmeel.prefix"
    flags = ["-O3", "-DNDEBUG", *peers.WARNINGS, "-ffp-contract=off", "-isystem", peers.eigen(), "-isystem",
             prefix / "include", "-I", ROOT / "src"]
    program = peers.BUILD / "collision"
    source = peers.compile_object(ROOT / "benchmarks" / "collision.cpp", flags)
    peers.run(peers.compiler(), source, peers.LIBRARY, "-L", prefix / "lib", f"-Wl,-rpath,{prefix / 'lib'}", "-lcoal",
              "-lccd", "-lm", "-o", program)
    return subprocess.run([program, *sys.argv[1:]]).returncode


if __name__ == "__main__":
    sys.exit(main())
