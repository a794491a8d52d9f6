#!/usr/bin/env python3
"""Ours beside the peers in one run, for `make bench`. Arguments go to the program of dynamics: `--json FILE`, `--robot arm7`;
those after `collision` to that of collision, and the dynamics are left out: `collision --json FILE --only meshes`."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks" / "peers"))
import build as peers  # noqa: E402

sys.path.insert(0, str(ROOT / "benchmarks"))
import collision  # noqa: E402


def library_compiler():
    """The compiler and flags of our own library, as its build recorded them."""
    cache = ROOT / "build" / "release" / "CMakeCache.txt"
    known = dict(line.split("=", 1) for line in cache.read_text().splitlines() if "=" in line and line[0].isalpha())
    name = known.get("CMAKE_C_COMPILER:FILEPATH") or known.get("CMAKE_C_COMPILER:STRING") or "cc"
    version = subprocess.run([name, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    return f"{version} {known.get('KK_OPTIMIZE:STRING', '')}".strip()


def main():
    if sys.argv[1:2] == ["collision"]:
        return collision.measure(sys.argv[2:])
    program = peers.build("dynamics", ROOT / "benchmarks" / "dynamics.cpp")
    notes = ["--note", f"library={library_compiler()}"]
    failed = subprocess.run([program, *notes, *sys.argv[1:]]).returncode
    return failed or collision.measure(collision.arguments_beside(sys.argv[1:]))


if __name__ == "__main__":
    sys.exit(main())
