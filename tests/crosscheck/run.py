#!/usr/bin/env python3
"""Our results against Pinocchio's, MuJoCo's, Coal's, libccd's, FCL's and ODE's, for `make crosscheck`. Arguments go to the
programs: `--forests N`; `collision --pairs N` takes collision alone, `titan crawl` TITAN-VIII in
ODE."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "peers"))
sys.path.insert(0, str(ROOT / "benchmarks"))
import build as peers  # noqa: E402
import collision  # noqa: E402


def collide(arguments):
    """Distances and depths. Coal and FCL bring two versions of octomap, hence two programs."""
    lacking = collision.missing()
    if lacking:
        print(f"collision: not compared, for want of {' '.join(lacking)}; apt has them", file=sys.stderr)
        return 0
    prefix = peers.fetch() / "cmeel.prefix"
    programs = {"collision_convex": ["-L", prefix / "lib", f"-Wl,-rpath,{prefix / 'lib'}", "-lcoal", "-lccd"],
                "collision_meshes": ["-lfcl", "-loctomap", "-loctomath", "-lccd"]}
    failed = 0
    for name, libraries in programs.items():
        flags = ["-O2", *peers.WARNINGS, "-isystem", peers.eigen(), "-isystem", prefix / "include"]
        made = peers.compile_object(ROOT / "tests" / "crosscheck" / f"{name}.cpp", flags if "-lcoal" in libraries else flags[:-2])
        target = peers.BUILD / f"crosscheck_{name}"
        peers.run(peers.compiler(), made, peers.LIBRARY, *libraries, "-lm", "-pthread", "-o", target)
        failed |= subprocess.run([target, *arguments]).returncode
    return failed


def titan(arguments):
    """TITAN-VIII in ODE: what its joint feedback means (S4)."""
    if not any((pathlib.Path(folder) / "ode" / "ode.h").exists() for folder in ("/usr/include", "/usr/local/include")):
        print("titan: not compared, for want of ODE; apt has it as libode-dev", file=sys.stderr)
        return 0
    made = peers.compile_object(ROOT / "tests" / "crosscheck" / "titan_ode.cpp", ["-O2", *peers.WARNINGS])
    target = peers.BUILD / "crosscheck_titan"
    peers.run(peers.compiler(), made, peers.LIBRARY, "-lode", "-lm", "-pthread", "-o", target)
    return subprocess.run([target, ROOT / "models" / "titan8" / "titan8.xml", *arguments]).returncode


def mjcf_files():
    """Our own corpus, and other people's robots where there are some."""
    own = sorted((ROOT / "tests" / "io" / "mjcf").glob("*.xml"))
    others = pathlib.Path(os.environ.get("KK_MODELS", ROOT.parent / "shared" / "models"))
    return [*own, *sorted(others.glob("*/*.xml"))]


if __name__ == "__main__":
    if sys.argv[1:2] == ["collision"]:
        sys.exit(collide(sys.argv[2:]))
    if sys.argv[1:2] == ["titan"]:
        sys.exit(titan(sys.argv[2:]))
    program = peers.build("crosscheck", ROOT / "tests" / "crosscheck" / "crosscheck.cpp")
    failed = subprocess.run([program, *sys.argv[1:]]).returncode
    urdf = ROOT / "tests" / "crosscheck" / "urdf.py"
    failed |= subprocess.run([peers.VENV / "bin" / "python", urdf]).returncode
    mjcf = peers.build_with_mujoco("crosscheck_mjcf", ROOT / "tests" / "crosscheck" / "mjcf.cpp")
    failed |= subprocess.run([mjcf, "--states", "100", *mjcf_files()], cwd=peers.BUILD).returncode
    sys.exit(failed | collide([]) | titan([]))
