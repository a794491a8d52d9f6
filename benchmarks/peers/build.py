"""Fetches the peers and builds programs that stand them beside ours. Used by `make bench` and `make crosscheck`.

The peers come as pip packages into a virtual environment of their own (build/venv); their headers and libraries are
inside. Pinocchio is a library of templates: it is compiled here, with the flags that are best for it (clang, -O3,
-march=native), which takes some minutes the first time and is kept in build/peers.
"""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "peers"
VENV = ROOT / "build" / "venv"
LIBRARY = ROOT / "build" / "release" / "libkarakuri.a"
PEERS = ROOT / "benchmarks" / "peers"
SIMBENCH = ROOT / "tools" / "cli" / "simbench" / "simbench.h"
PACKAGES = ["pin==4.1.0", "mujoco==4.0.0"]  # the versions all published figures and golden files are from
ZOO_PACKAGES = ["mujoco-core==4.0.1"]  # the zoo's, whose bars are set beside this one: the library alone

# what Pinocchio's own CMake package asks for
PINOCCHIO_DEFINES = ["-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
                     "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DBOOST_FUSION_INVOKE_MAX_ARITY=12"]
WARNINGS = ["-Wall", "-Wextra", "-Wshadow"]


def give_up(text):
    sys.exit(f"peers: {text}")


def run(*command, **options):
    words = [str(word) for word in command]
    if subprocess.run(words, **options).returncode != 0:
        give_up("this failed: " + " ".join(words))


def fetch(packages=tuple(PACKAGES), venv=VENV):
    """The virtual environment with the peers in it; gives its site-packages."""
    stamp = venv / "packages.txt"
    wanted = "\n".join(packages) + "\n"
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"peers: installing {' '.join(packages)} into {venv.relative_to(ROOT)}", file=sys.stderr)
        run(sys.executable, "-m", "venv", "--clear", venv)
        run(venv / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
        stamp.write_text(wanted)
    return next((venv / "lib").glob("python3*/site-packages"))


def eigen():
    for folder in ("/usr/include/eigen3", "/usr/local/include/eigen3", "/opt/homebrew/include/eigen3"):
        if (pathlib.Path(folder) / "Eigen" / "Core").exists():
            return folder
    return give_up("Eigen's headers are missing; `scripts/setup.sh base bench` installs them (libeigen3-dev)")


def compiler():
    found = shutil.which("clang++") or shutil.which("c++")
    return found or give_up("no C++ compiler; `scripts/setup.sh base bench` installs one")


def headers():
    return [*PEERS.glob("*.hpp"), *(ROOT / "benchmarks").glob("*.hpp"), *(ROOT / "benchmarks" / "zoo").glob("*.h"), *(ROOT / "include").rglob("*.h"),
            ROOT / "models" / "robots.h", SIMBENCH]


def is_fresh(target, sources):
    return target.exists() and all(target.stat().st_mtime > source.stat().st_mtime for source in sources)


def compile_object(source, flags, command=None):
    """Compiles a source unless the object is newer than it, every header and these flags."""
    target = BUILD / (str(source.relative_to(ROOT)).replace("/", "_") + ".o")
    record = target.with_suffix(".flags")
    words = [str(word) for word in [*(command or [compiler(), "-std=c++17"]), *flags]]
    # the peers' objects see only the header they begin with and the public ones
    own = [PEERS / name for name in re.findall(r'#include "(\w+\.hpp)"', source.read_text())]
    seen = [*own, SIMBENCH, *(ROOT / "include").rglob("*.h")] if source.parent == PEERS else headers()
    if not (is_fresh(target, [source, *seen]) and record.exists() and record.read_text() == " ".join(words)):
        print(f"peers: compiling {source.relative_to(ROOT)}", file=sys.stderr)
        BUILD.mkdir(parents=True, exist_ok=True)
        run(*words, "-I", ROOT / "include", "-c", source, "-o", target)
        record.write_text(" ".join(words))
    return target


def build(program, source):
    """Builds `source` with ours and both peers into build/peers/`program`; gives its path."""
    if not LIBRARY.exists():
        give_up("build the library first: make")
    site = fetch()
    prefix, mujoco = site / "cmeel.prefix", site / "mujoco"
    mujoco_library = next(mujoco.glob("libmujoco.so.*"))
    # one set of instruction flags for everything that holds Eigen types: their alignment depends on it
    native = ["-O3", "-march=native", "-DNDEBUG", *WARNINGS, "-isystem", eigen()]
    plain = ["-O2", *WARNINGS, "-Wconversion"]
    objects = [
        compile_object(PEERS / "pinocchio.cpp", [*native, *PINOCCHIO_DEFINES, "-isystem", prefix / "include"]),
        compile_object(PEERS / "mujoco.cpp", [*native, "-isystem", mujoco / "include"]),
        compile_object(PEERS / "ours.cpp", plain),
        compile_object(source, plain),
        robots_object(),
    ]
    target = BUILD / program
    if not is_fresh(target, [*objects, LIBRARY]):
        run(compiler(), *objects, LIBRARY, mujoco_library, f"-Wl,-rpath,{mujoco}", "-pthread", "-lm", "-o", target)
    return target


def build_with_mujoco(program, source):
    """Builds `source` with ours and MuJoCo's own interface into build/peers/`program`; gives its path."""
    if not LIBRARY.exists():
        give_up("build the library first: make")
    mujoco = fetch() / "mujoco"
    mujoco_library = next(mujoco.glob("libmujoco.so.*"))
    compiled = compile_object(source, ["-O2", *WARNINGS, "-Wconversion", "-isystem", mujoco / "include"])
    target = BUILD / program
    if not is_fresh(target, [compiled, LIBRARY]):
        run(compiler(), compiled, LIBRARY, mujoco_library, f"-Wl,-rpath,{mujoco}", "-pthread", "-lm", "-o", target)
    return target


def robots_object():
    return compile_object(ROOT / "models" / "robots.c", ["-O2", "-ffp-contract=off", *WARNINGS],
                          [shutil.which("clang") or "cc", "-std=c17"])


def optional_worlds(prefix="world", bullet="", bullet_flags=()):
    """Engines that apt may have installed: objects, libraries and defines of those that can be compiled and linked.

    `prefix` of their sources in peers/; `bullet` behind the names of its libraries."""
    wanted = {"ode": ("ode/ode.h", ["-lode"], []),
              "bullet": ("bullet/btBulletDynamicsCommon.h",
                         [f"-l{name}{bullet}" for name in ("BulletDynamics", "BulletCollision", "LinearMath")],
                         ["-isystem", "/usr/include/bullet", *bullet_flags]),
              "dart": ("dart/simulation/World.hpp", ["-ldart"], ["-isystem", "/usr/include/eigen3"])}
    objects, libraries, defines = [], [], []
    for name, (header, needed, flags) in wanted.items():
        if not (pathlib.Path("/usr/include") / header).exists():
            print(f"peers: no {name} here (apt: lib{name}-dev), its rows are left out", file=sys.stderr)
            continue
        objects.append(compile_object(PEERS / f"{prefix}_{name}.cpp", ["-O3", "-DNDEBUG", *WARNINGS, *flags]))
        libraries += needed
        defines.append(f"-DKK_WITH_{name.upper()}")
    return objects, libraries, defines


def build_scenes(program, worlds=True):
    """Builds benchmarks/`program`.cpp, which sets whole scenes beside MuJoCo; gives its path."""
    if not LIBRARY.exists():
        give_up("build the library first: make")
    mujoco = fetch() / "mujoco"
    mujoco_library = next(mujoco.glob("libmujoco.so.*"))
    plain = ["-O2", *WARNINGS, "-Wconversion", "-isystem", mujoco / "include"]
    objects, libraries, defines = optional_worlds() if worlds else ([], [], [])
    objects = [*objects, robots_object(), compile_object(ROOT / "benchmarks" / "texts.cpp", plain),
               compile_object(ROOT / "benchmarks" / f"{program}.cpp", [*plain, *defines])]
    if worlds:
        objects += [compile_object(PEERS / f"world_{name}.cpp", plain) for name in ("ours", "mujoco")]
    target = BUILD / program
    if not is_fresh(target, [*objects, LIBRARY]):
        run(compiler(), *objects, LIBRARY, mujoco_library, f"-Wl,-rpath,{mujoco}", *libraries, "-pthread", "-lm", "-o",
            target)
    return target


def build_piles():
    """Builds benchmarks/piles.c, ours alone; gives its path."""
    source, target = ROOT / "benchmarks" / "piles.c", BUILD / "piles"
    made = compile_object(source, ["-O2", "-ffp-contract=off", *WARNINGS], [shutil.which("clang") or "cc", "-std=gnu17"])
    if not is_fresh(target, [made, LIBRARY]):
        run(compiler(), made, LIBRARY, "-pthread", "-lm", "-o", target)
    return target


def build_simbench():
    """Builds benchmarks/simbench.cpp, SimBenchmark's scenes in all engines; gives its path."""
    if not LIBRARY.exists():
        give_up("build the library first: make")
    mujoco = fetch() / "mujoco"
    mujoco_library = next(mujoco.glob("libmujoco.so.*"))
    objects, libraries, defines = optional_worlds("simbench", "-float64", ["-DBT_USE_DOUBLE_PRECISION"])
    plain = ["-O2", *WARNINGS, "-Wconversion", "-isystem", mujoco / "include", *defines]
    folder = ROOT / "tools" / "cli" / "simbench"
    c_compiler = [shutil.which("clang") or "cc", "-std=c17"]
    objects += [compile_object(source, ["-O2", "-ffp-contract=off", *WARNINGS], c_compiler)
                for source in sorted(folder.glob("*.c"))]
    objects += [compile_object(PEERS / "simbench_mujoco.cpp", plain),
                compile_object(ROOT / "benchmarks" / "simbench.cpp", plain)]
    target = BUILD / "simbench"
    if not is_fresh(target, [*objects, LIBRARY]):
        run(compiler(), *objects, LIBRARY, mujoco_library, f"-Wl,-rpath,{mujoco}", *libraries, "-pthread", "-lm", "-o",
            target)
    return target


def build_zoo(with_mujoco=True, library=LIBRARY, name=None):
    """Builds benchmarks/zoo, with MuJoCo or ours alone; gives its path."""
    if not library.exists():
        give_up("build the library first: make")
    folder = ROOT / "benchmarks" / "zoo"
    mujoco = fetch(tuple(ZOO_PACKAGES), ROOT / "build" / "zoo_venv") / "mujoco" if with_mujoco else None
    flags = ["-O2", "-ffp-contract=off", *WARNINGS, "-Wconversion"]
    c_compiler = shutil.which("clang") or "cc"
    sources = [source for source in sorted(folder.glob("*.c"))
               if source.stem != "peer_none" and (with_mujoco or not source.stem.endswith("_mujoco"))]
    sources += [] if with_mujoco else [folder / "peer_none.c"]
    objects = [compile_object(source, [*flags, "-isystem", mujoco / "include"] if source.stem.endswith("_mujoco") else flags,
                              [c_compiler, "-std=gnu17"]) for source in sources]
    target = BUILD / (name or ("zoo" if with_mujoco else "zoo_alone"))
    if not is_fresh(target, [*objects, library]):
        linked = [next(mujoco.glob("libmujoco.so.*")), f"-Wl,-rpath,{mujoco}"] if mujoco else []
        run(c_compiler, *objects, library, *linked, "-pthread", "-lm", "-o", target)
    return target
