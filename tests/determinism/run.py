#!/usr/bin/env python3
"""Same bits everywhere: builds the library, hash_states.c and hash_runs.c by every compiler, optimization level and target that this
machine has, runs them all, and compares the hashes scene by scene over builds and kernel variants.

-O3 and WebAssembly are the libraries of the presets, as they are shipped. For the rest the compilers are called directly, not
through CMake, so that a flag the build forgets is not forgotten here as well; the flags that the results rest on and the kernel
variants come from cmake/float_flags.txt and cmake/variants.txt.
"""
import argparse
import concurrent.futures
import functools
import os
import pathlib
import platform
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "build" / "determinism"
KERNELS = ROOT / "src" / "dynamics" / "kernels" / "kernels.c"
PROGRAMS = ("hash_states", "hash_runs")
OWN_SOURCES = [*(ROOT / "tests" / "determinism" / f"{name}.c" for name in PROGRAMS), ROOT / "tests" / "harness.c", ROOT / "models" / "robots.c",
               *(ROOT / "tests" / "support" / name for name in ("scene.c", "states.c", "everything.c"))]
HOST = {"AMD64": "x86_64"}.get(platform.machine(), platform.machine())
# beside -O3 of both; every level of both compilers takes twice as long, and is for `make determinism`
LEVELS = {"gcc": ("-O0",), "clang": ("-O2",)}
ALL_LEVELS = ("-O0", "-O2")
# no scene reads a file, shows itself or plans a motion, and these layers would be half of the compiling
LAYERS_WITHOUT_SCENES = ("motion", "io", "view")


def words_of(path):
    """The lines of a small table, as lists of words, without comments."""
    lines = (line.split() for line in path.read_text().splitlines() if not line.startswith("#"))
    return [line for line in lines if line]


class Variant:
    def __init__(self, name, lanes, processor, macro, *flags):
        self.name, self.lanes, self.processor, self.macro, self.flags = name, lanes, processor, macro, flags

    def is_for(self, processor):
        return self.processor in ("any", processor)

    def needs(self):
        """The CPU features the variant runs on, as /proc/cpuinfo names them."""
        return [flag[2:] for flag in self.flags if flag.startswith("-mavx")]


class Build:
    """One way to make the program: compiler, flags, and how to run the result."""

    def __init__(self, name, processor, compiler, flags, link_flags=(), suffix="", runner=(), preset=None):
        self.name, self.processor, self.compiler = name, processor, compiler
        self.preset = preset  # of CMake, whose library is taken; None where all is compiled here
        self.flags, self.link_flags, self.runner = list(flags), list(link_flags), list(runner)
        self.directory = OUT / name.replace(" ", "")
        self.suffix = suffix
        self.error = None
        self.hashes = {}  # (scene, variant) -> hash


def find_builds(skips, wants_all):
    builds = []
    for compiler, preset in (("gcc", "release"), ("clang", "clang-release")):
        if shutil.which(compiler):
            builds += [Build(f"{compiler} {level}", HOST, compiler, [level])
                       for level in (ALL_LEVELS if wants_all else LEVELS[compiler])]
            builds.append(Build(f"{compiler} -O3", HOST, compiler, ["-O3"], preset=preset))
        else:
            skips.append(f"{compiler}: not installed")
    missing = what_wasm_lacks()
    if missing:
        skips.append(f"wasm: {missing}")
    else:
        target = ["--target=wasm32-wasi", f"--sysroot={os.environ.get('KK_WASI_SYSROOT', '/usr')}", "-msimd128",
                  "-fno-vectorize", "-fno-slp-vectorize"]  # see CMakeLists.txt
        node = ["node", str(ROOT / "scripts" / "run_wasm.mjs")]
        link = [*target, "-Wl,-z,stack-size=1048576"]  # as cmake/wasm32-wasi.cmake
        builds.append(Build("wasm -O3", "wasm32", "clang", ["-O3", *target], link, ".wasm", node, preset="wasm"))
    if wants_all:
        return builds + find_cross_builds(("aarch64", "riscv64"))
    if os.environ.get("KK_TEST_CROSS"):
        return builds + find_cross_builds(("aarch64",))
    skips.append("aarch64 under an emulator: with KK_TEST_CROSS=1, where `make setup-cross` was made")
    return builds


def find_cross_builds(processors):
    """Other processors under an emulator. They contract to fused multiply-add by default, which x86-64 does not. -O3 is the library of the preset, as it
    would be shipped: with NEON on aarch64, whose vectors the kernels' lanes become."""
    builds = []
    for processor in processors:
        compiler, emulator = f"{processor}-linux-gnu-gcc", f"qemu-{processor}"
        has_library = pathlib.Path(f"/usr/{processor}-linux-gnu/include/stdio.h").exists()
        if shutil.which(compiler) and shutil.which(emulator) and has_library:
            builds.append(Build(f"{processor} -O3", processor, compiler, ["-O3"], ["-static"], "", [emulator], preset=processor))
    if not builds:
        print("note: `make setup-cross` adds aarch64 and riscv64 under an emulator to this table")
    return builds


def what_wasm_lacks():
    """Empty where a WebAssembly program can be built and run, otherwise the reason why not."""
    for program, package in (("clang", "clang"), ("wasm-ld", "lld"), ("node", "nodejs")):
        if not shutil.which(program):
            return f"{program} is not installed (Debian package {package})"
    if not pathlib.Path(os.environ.get("KK_WASI_SYSROOT", "/usr"), "lib/wasm32-wasi/crt1.o").exists():
        return "no WASI C library (Debian package wasi-libc)"
    resources = subprocess.run(["clang", "-print-resource-dir"], capture_output=True, text=True).stdout.strip()
    if not list(pathlib.Path(resources, "lib").glob("*/libclang_rt.builtins*wasm32*")) \
            and not list(pathlib.Path(resources, "lib").glob("*wasm32*/libclang_rt.builtins*")):
        return "clang's run-time library for wasm32 is missing (Debian package libclang-rt-<version>-dev-wasm32)"
    version = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout.strip().lstrip("v")
    if int(version.split(".")[0] or 0) < 18:
        return f"node {version} is too old, 18 is needed"
    return ""


def library_sources():
    layers = [words[0] for words in words_of(ROOT / "src" / "LAYERS")]
    layers = [layer for layer in layers if layer not in LAYERS_WITHOUT_SCENES]
    sources = [path for layer in layers for path in sorted((ROOT / "src" / layer).rglob("*.c"))]
    return [path for path in sources if path != KERNELS]


def newest_header():
    headers = [path for folder in ("include", "src", "tests", "models") for path in (ROOT / folder).rglob("*.h")]
    return max(path.stat().st_mtime for path in headers)


def compile_jobs(build, variants):
    """All (source, object, command) of a build."""
    own = [variant for variant in variants if variant.is_for(build.processor) and not lacks(variant)]
    macros = sorted({f"-D{variant.macro}" for variant in own if variant.macro != "-"})
    flags = [words[0] for words in words_of(ROOT / "cmake" / "float_flags.txt")]
    common = [build.compiler, "-std=c17", *flags, "-fvisibility=hidden", "-Wno-psabi", "-DNDEBUG",
              *(f"-I{ROOT / folder}" for folder in ("include", "src", "tests", "models", "tools")), *build.flags]
    jobs = []

    def add(source, object_name, extra):
        target = build.directory / object_name
        jobs.append((source, target, [*common, *extra, "-c", str(source), "-o", str(target)]))

    for source in OWN_SOURCES if build.preset else [*OWN_SOURCES, *library_sources()]:
        add(source, "_".join(source.relative_to(ROOT).with_suffix(".o").parts), macros)
    for variant in [] if build.preset else own:
        add(KERNELS, f"kernels_{variant.name}.o",
            [f"-DKKI_LANES={variant.lanes}", f"-DKKI_VARIANT={variant.name}", *variant.flags])
    return jobs


def build_preset(name, jobs):
    """The library of a preset; empty on success."""
    folder = ROOT / "build" / name
    error = "" if (folder / "build.ninja").exists() else run_command(["cmake", "--preset", name])
    return error or run_command(["cmake", "--build", str(folder), "--parallel", str(jobs), "--target", "karakuri_static"])


def run_command(command):
    """Empty on success, otherwise what went wrong."""
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    return "" if done.returncode == 0 else f"{' '.join(command)}\n{done.stdout}{done.stderr}".rstrip()


def compile_one(job, header_time):
    source, target, command = job
    record = target.with_suffix(".command")
    if target.exists() and record.exists() and record.read_text() == " ".join(command) \
            and target.stat().st_mtime > max(header_time, source.stat().st_mtime):
        return ""
    record.unlink(missing_ok=True)
    error = run_command(command)
    if not error:
        record.write_text(" ".join(command))
    return error


def make_and_run(builds, variants, jobs, steps):
    header_time = newest_header()
    failures = {preset: build_preset(preset, jobs) for preset in dict.fromkeys(build.preset for build in builds) if preset}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        work = {}
        for build in builds:
            build.directory.mkdir(parents=True, exist_ok=True)
            work[build] = [(job[1], pool.submit(compile_one, job, header_time)) for job in compile_jobs(build, variants)]
        for build in builds:
            errors = [failures.get(build.preset), *(future.result() for _, future in work[build])]
            build.error = next((error for error in errors if error), None)
        runs = [pool.submit(link_and_run_all, build, [target for target, _ in work[build]], steps)
                for build in builds if build.error is None]
        for run in runs:
            run.result()


def link_and_run_all(build, objects, steps):
    for name in PROGRAMS:
        others = [f"tests_determinism_{other}.o" for other in PROGRAMS if other != name]
        own = [target for target in objects if target.name not in others]
        if build.error is None:
            link_and_run(build, name, own, [str(steps)] if name == "hash_runs" else [])


def link_and_run(build, name, objects, arguments):
    # libm: only because an unoptimized square root may be a call; scripts/check_symbols.py looks after the library
    program = build.directory / (name + build.suffix)
    library = [str(ROOT / "build" / build.preset / "libkarakuri.a")] if build.preset else []
    link = [build.compiler, *build.link_flags, *map(str, objects), *library, "-o", str(program), "-lm"]
    build.error = run_command(link) or None
    if build.error:
        return
    done = subprocess.run([*build.runner, str(program), *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        build.error = f"{program.name} ended with {done.returncode}\n{done.stdout}{done.stderr}".rstrip()
        return
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) != 3:
            build.error = f"not a line `scene variant hash`: {line!r}"
            return
        build.hashes[words[0], words[1]] = words[2]


@functools.lru_cache(None)
def cpu_features():
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("flags"):
                return set(line.split(":", 1)[1].split())
    except OSError:
        pass
    return set()


def lacks(variant):
    """The first CPU feature that a variant of this machine's processor needs and does not find, or None."""
    needs = variant.needs() if variant.processor == HOST else []
    return next((need for need in needs if need not in cpu_features()), None)


def compare(builds, variants, skips):
    """Prints the table; counts (passed, failed) cells."""
    good = [build for build in builds if build.error is None]
    rows = list(dict.fromkeys(row for build in good for row in build.hashes))
    reference = {}
    for build in good:
        for (scene, _), value in build.hashes.items():
            reference.setdefault(scene, value)
    widths = [max(len(build.name), 8) for build in good]
    width = max([len(scene) for scene, _ in rows] + [5])
    print(f"{'scene':{width}}  {'variant':14} {'hash':16}  "
          + "  ".join(f"{build.name:{w}}" for build, w in zip(good, widths)))
    passed, failed = 0, 0
    for scene, variant in rows:
        cells = []
        for build in good:
            value = build.hashes.get((scene, variant))
            # a build of the same processor that ran this scene on this variant elsewhere must run it here as well
            expected = any((scene, variant) in other.hashes for other in good if other.processor == build.processor)
            if value == reference[scene]:
                passed += 1
                cells.append("same")
            elif value is not None or expected:
                failed += 1
                cells.append("DIFFERS " + value[:6] if value else "MISSING")
            else:
                cells.append("-")
        print(f"{scene:{width}}  {variant:14} {reference[scene]}  "
              + "  ".join(f"{cell:{w}}" for cell, w in zip(cells, widths)))
    ran = {variant for _, variant in rows}
    for variant in variants:
        if variant.name not in ran and (lacks(variant) or not variant.is_for(HOST)):
            skips.append(f"variant {variant.name}: this CPU has no {lacks(variant) or variant.processor}")
        elif variant.name not in ran:
            print(f"variant {variant.name}: this CPU has what it needs, but no scene ran on it")
            failed += 1
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--steps", type=int, default=40, help="of each of the thirteen simulations; `make determinism` takes 10000")
    parser.add_argument("--all", action="store_true", help="every level of both compilers, and other processors under an emulator")
    parser.add_argument("--builds", default="", help="only those whose name begins with one of these, comma between")
    options = parser.parse_args()

    skips = []
    variants = [Variant(*words) for words in words_of(ROOT / "cmake" / "variants.txt")]
    builds = find_builds(skips, options.all)
    wanted = tuple(options.builds.split(",")) if options.builds else ("",)
    builds = [build for build in builds if build.name.startswith(wanted)]
    make_and_run(builds, variants, options.jobs, options.steps)
    passed, failed = compare(builds, variants, skips)
    for build in builds:
        if build.error is not None:
            print(f"{build.name}: {build.error}")
            failed += 1
    if passed + failed == 0:
        print("no compiler found")
        failed = 1
    for skip in skips:
        print(f"skipped {skip}")
    print(f"{passed} passed, {failed} failed" + (f", {len(skips)} skipped" if skips else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
