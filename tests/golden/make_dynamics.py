#!/usr/bin/env python3
"""Makes tests/golden/dynamics/*.inc anew from Pinocchio and MuJoCo. Run by hand, after `make`."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "peers"))
import build as peers  # noqa: E402

if __name__ == "__main__":
    folder = ROOT / "tests" / "golden" / "dynamics"
    folder.mkdir(exist_ok=True)
    program = peers.build("make_dynamics", ROOT / "tests" / "golden" / "make_dynamics.cpp")
    sys.exit(subprocess.run([program, folder, "tests/golden/make_dynamics.py"]).returncode)
