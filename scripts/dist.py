#!/usr/bin/env python3
"""What a release is made of, in dist/: dist.py [--out FOLDER] [--only source,deb,wheel,npm] [--jobs N]

    karakuri-VERSION.tar.gz            the repository's files
    libkarakuri…, karakuri….deb        library, headers, tool: where dpkg-deb is; checked by lintian where that is
    karakuri_dynamics-….whl            the Python package: where Python's headers are
    karakuri-dynamics-….tgz            the npm package: where npm is and `make web-engine` was made
    karakuri-VERSION.spdx.json         bill of materials
    SHA256SUMS                         checksums of all of them

The same commit gives the same bytes: times are those of the commit, owners are nobody, lists are sorted. What cannot be made here is told.
"""
import argparse
import gzip
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import sbom  # noqa: E402

ROOT = sbom.ROOT
BUILD = ROOT / "build" / "dist"
MAINTAINER = "The Karakuri authors <maintainers@karakuri.invalid>"
ABOUT = "Deterministic rigid multibody dynamics for robots"
MORE = """ Articulated robots from URDF and MJCF, certified contact forces, and the same
 bits on every machine."""


def must(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode:
        raise SystemExit(f"dist: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


# ---- source

def make_source(out):
    """A tar of the repository's files, gzip without a time."""
    name, raw = f"karakuri-{sbom.version()}", io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sbom.files():
            data = (ROOT / path).read_bytes()
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size, entry.mtime = len(data), sbom.epoch()
            entry.mode = 0o755 if os.access(ROOT / path, os.X_OK) else 0o644
            tar.addfile(entry, io.BytesIO(data))
    target = out / f"{name}.tar.gz"
    with target.open("wb") as file, gzip.GzipFile("", "wb", 9, file, sbom.epoch()) as packed:
        packed.write(raw.getvalue())


# ---- Debian

def architecture():
    return must("dpkg", "--print-architecture").strip()


def triplet():
    return must("cc", "-print-multiarch").strip() or must("dpkg-architecture", "-qDEB_HOST_MULTIARCH").strip()


def install_tree(jobs):
    """Everything as it is installed below /usr, without debugging symbols."""
    build, tree = BUILD / "build", BUILD / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    must("cmake", "-G", "Ninja", "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_INSTALL_PREFIX=/usr",
         f"-DCMAKE_INSTALL_LIBDIR=lib/{triplet()}", "-DKK_BUILD_TESTS=OFF", "-DKK_BUILD_EXAMPLES=OFF")
    must("cmake", "--build", build, "--parallel", jobs)
    must("cmake", "--install", build, "--strip", env={**os.environ, "DESTDIR": str(tree)})
    for page in (tree / "usr/share/man").rglob("*.1"):
        page.with_suffix(".1.gz").write_bytes(gzip.compress(page.read_bytes(), 9, mtime=sbom.epoch()))
        page.unlink()
    for archive in tree.rglob("*.a"):
        must("strip", "--strip-debug", "--enable-deterministic-archives", archive)
    return tree


def deb_parts():
    """(package, patterns below /usr, section, dependencies, what it is)"""
    so = re.sub(r"\.\d+$", "", sbom.version())
    library = f"libkarakuri{so}"
    return [
        (library, ["lib/*/libkarakuri.so.*"], "libs", "", "shared library"),
        ("libkarakuri-dev", ["lib/*/libkarakuri.so", "lib/*/libkarakuri.a", "lib/*/cmake", "lib/*/pkgconfig", "include"], "libdevel",
         f"{library} (= {sbom.version()})", "headers and static library"),
        ("karakuri", ["bin", "share/man", "share/bash-completion", "share/zsh", "share/fish", "share/karakuri"], "science", "", "command-line tool"),
    ]


COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: karakuri

Files: *
Copyright: 2026 The Karakuri authors
License: Apache-2.0
 On Debian systems, the full text of the Apache License version 2.0 can be found
 in the file /usr/share/common-licenses/Apache-2.0.
"""


def changelog(package):
    stamp = must("date", "-u", "-R", "-d", f"@{sbom.epoch()}").strip()
    return f"{package} ({sbom.version()}) unstable; urgency=medium\n\n  * See CHANGELOG.md of the source.\n\n -- {MAINTAINER}  {stamp}\n"


def needs(folder, package):
    """Dependencies of what is linked, from the C library's version."""
    programs = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink() and path.open("rb").read(4) == b"\x7fELF"]
    versions = [tuple(map(int, found)) for path in programs for found in re.findall(r"GLIBC_(\d+)\.(\d+)", must("objdump", "-T", path))]
    return [f"libc6 (>= {'.'.join(map(str, max(versions)))})"] if versions and package != "libkarakuri-dev" else []


def write_control(folder, package, section, dependency, what):
    depends = ", ".join([*needs(folder, package), *([dependency] if dependency else [])])
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()) // 1024
    lines = [f"Package: {package}", f"Version: {sbom.version()}", f"Architecture: {architecture()}", f"Maintainer: {MAINTAINER}",
             f"Installed-Size: {size}", *([f"Depends: {depends}"] if depends else []), f"Section: {section}", "Priority: optional",
             *(["Multi-Arch: same"] if package.startswith("lib") else []), f"Description: {ABOUT} ({what})", MORE]
    control = folder / "DEBIAN"
    control.mkdir()
    (control / "control").write_text("\n".join(lines) + "\n")
    if section == "libs":
        so = re.sub(r"\.\d+$", "", sbom.version())
        (control / "shlibs").write_text(f"libkarakuri {so} {package} (>= {sbom.version()})\n")
        (control / "triggers").write_text("activate-noawait ldconfig\n")
    sums = [f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}" for path in sorted((folder / "usr").rglob("*"))
            if path.is_file() and not path.is_symlink()]
    (control / "md5sums").write_text("\n".join(sums) + "\n")


def make_deb_package(tree, out, package, patterns, section, dependency, what):
    folder = BUILD / "deb" / package
    shutil.rmtree(folder, ignore_errors=True)
    for pattern in patterns:
        for path in sorted((tree / "usr").glob(pattern)):
            target = folder / "usr" / path.relative_to(tree / "usr")
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir() and not path.is_symlink():
                shutil.copytree(path, target, symlinks=True)
            else:
                shutil.copy2(path, target, follow_symlinks=False)
    doc = folder / "usr" / "share" / "doc" / package
    doc.mkdir(parents=True)
    (doc / "copyright").write_text(COPYRIGHT)
    (doc / "changelog.gz").write_bytes(gzip.compress(changelog(package).encode(), 9, mtime=sbom.epoch()))
    write_control(folder, package, section, dependency, what)
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            executable = path.is_dir() or path.parent.name == "bin"
            path.chmod(0o755 if executable else 0o644)
        os.utime(path, (sbom.epoch(), sbom.epoch()), follow_symlinks=False)
    target = out / f"{package}_{sbom.version()}_{architecture()}.deb"
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(sbom.epoch())}
    must("dpkg-deb", "--root-owner-group", "-Zxz", "--build", folder, target, env=environment)
    return target


def check_by_lintian(packages):
    if not shutil.which("lintian"):
        print("dist: no lintian, the Debian packages are not checked")
        return 0
    done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", *map(str, packages)], capture_output=True, text=True)
    told = [line for line in done.stdout.splitlines() if line[:2] in ("E:", "W:")]
    print("\n".join([*told, f"dist: lintian, {len(told)} errors and warnings"]))
    return 1 if told or done.returncode else 0


def make_deb(out, jobs):
    if not shutil.which("dpkg-deb"):
        print("dist: no dpkg-deb, no Debian packages")
        return 0
    tree = install_tree(jobs)
    return check_by_lintian([make_deb_package(tree, out, *part) for part in deb_parts()])


# ---- Python, npm

def make_wheel(out):
    done = subprocess.run([sys.executable, ROOT / "python" / "make.py", "wheel"], capture_output=True, text=True)
    wheels = sorted((ROOT / "dist").glob("*.whl"))
    if done.returncode or not wheels:
        print(f"dist: no wheel: {(done.stdout + done.stderr).strip().splitlines()[-1:]}")
        return
    for wheel in wheels:
        if wheel.parent != out:
            shutil.copy2(wheel, out)


def make_npm(out):
    if not shutil.which("npm") or not (ROOT / "web/engine/dist/index.js").exists():
        print("dist: no npm package: it needs npm and `make web-engine`")
        return
    must("npm", "pack", "--silent", "--pack-destination", out, cwd=ROOT / "web" / "engine")


def write_sums(out):
    names = sorted(path for path in out.iterdir() if path.is_file() and path.name != "SHA256SUMS")
    lines = [f"{sbom.digest(path, 'sha256')}  {path.name}" for path in names]
    (out / "SHA256SUMS").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "dist")
    parser.add_argument("--only", default="source,deb,wheel,npm")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    only = options.only.split(",")
    code = 0
    if "source" in only:
        make_source(options.out)
    if "deb" in only:
        code = make_deb(options.out, options.jobs)
    if "wheel" in only:
        make_wheel(options.out)
    if "npm" in only:
        make_npm(options.out)
    (options.out / f"karakuri-{sbom.version()}.spdx.json").write_text(sbom.json.dumps(sbom.document(), indent=1, sort_keys=True) + "\n")
    write_sums(options.out)
    return code


if __name__ == "__main__":
    sys.exit(main())
