#!/usr/bin/env python3
"""Our results against Pinocchio's and MuJoCo's, for `make crosscheck`. Arguments go to the program: `--forests N`."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "peers"))
import build as peers  # noqa: E402

if __name__ == "__main__":
    program = peers.build("crosscheck", ROOT / "tests" / "crosscheck" / "crosscheck.cpp")
    failed = subprocess.run([program, *sys.argv[1:]]).returncode
    urdf = ROOT / "tests" / "crosscheck" / "urdf.py"
    failed |= subprocess.run([peers.VENV / "bin" / "python", urdf]).returncode
    sys.exit(failed)
