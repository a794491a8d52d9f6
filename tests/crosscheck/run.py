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


def run(program, *arguments):
    return subprocess.run([program, *arguments]).returncode


if __name__ == "__main__":
    result = run(peers.build("crosscheck", ROOT / "tests" / "crosscheck" / "crosscheck.cpp"), *sys.argv[1:])
    mjcf = peers.build_with_mujoco("crosscheck_mjcf", ROOT / "tests" / "crosscheck" / "mjcf.cpp")
    sys.exit(result or run(mjcf, "--states", "100", *mjcf_files()))
