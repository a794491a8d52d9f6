#!/usr/bin/env python3
"""Our results against Pinocchio's and MuJoCo's, for `make crosscheck`. Arguments go to the program: `--forests N`."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "peers"))
import build as peers  # noqa: E402



def mjcf_files():
    """Our own corpus, and other people's robots where there are some."""
    own = sorted((ROOT / "tests" / "io" / "mjcf").glob("*.xml"))
    others = pathlib.Path(os.environ.get("KK_MODELS", ROOT.parent / "shared" / "models"))
    return [*own, *sorted(others.glob("*/*.xml"))]


if __name__ == "__main__":
    program = peers.build("crosscheck", ROOT / "tests" / "crosscheck" / "crosscheck.cpp")
    failed = subprocess.run([program, *sys.argv[1:]]).returncode
    urdf = ROOT / "tests" / "crosscheck" / "urdf.py"
    failed |= subprocess.run([peers.VENV / "bin" / "python", urdf]).returncode
    mjcf = peers.build_with_mujoco("crosscheck_mjcf", ROOT / "tests" / "crosscheck" / "mjcf.cpp")
    failed |= subprocess.run([mjcf, "--states", "100", *mjcf_files()], cwd=peers.BUILD).returncode
    sys.exit(failed)
