#!/usr/bin/env bash
# Finds what the machine lacks for the named sets and installs it with apt-get, as root or by sudo without a password. Where that is
# impossible it prints the one command to run: it fails for a required package and goes on without an optional one.
#
#   scripts/setup.sh base          what `make` needs: a C compiler, CMake, Ninja, Python (for scripts)
#   scripts/setup.sh base test     and what tests use where they find it: clang, a C++ compiler, pkg-config, WebAssembly
#   scripts/setup.sh base check    and what `make check` needs: clang-format, clang-tidy, shellcheck
#   scripts/setup.sh base bench    and what `make bench` and `make crosscheck` need: clang, a C++ compiler, Eigen, Python's venv; and what
#                                  the first uses where it finds it: libccd, FCL, Bullet, ODE, DART
#   scripts/setup.sh base zoo      and what `make zoo` and `make test-long` need: Python's venv
#   scripts/setup.sh base cross    and what adds other processors to the determinism test: cross compilers and an emulator
#   scripts/setup.sh base web      and what `make web` needs: clang for WebAssembly, node, npm; and what its test uses: Chromium
#
# KK_NO_INSTALL=1 never installs anything.
set -euo pipefail

required=()
optional=()

have() { command -v "$1" >/dev/null 2>&1; }

require() { required+=("$1"); }
wish() { optional+=("$1"); }

# Debian's name of clang's run-time library for wasm32 carries the version of clang
wasm_runtime_package() {
    local version=""
    if have clang; then
        version=$(clang -dumpversion | cut -d. -f1)
    elif have apt-cache; then
        version=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9][0-9]*\)$/\1/p')
    fi
    echo "libclang-rt-${version:-14}-dev-wasm32"
}

has_wasm_runtime() {
    have clang || return 1
    local libraries
    libraries=$(clang -print-resource-dir)/lib
    compgen -G "$libraries/*/libclang_rt.builtins-wasm32.a" >/dev/null ||
        compgen -G "$libraries/wasm32*/libclang_rt.builtins.a" >/dev/null
}

look_for_base() {
    have cmake || require cmake
    have ninja || require ninja-build
    have cc || require gcc
    [ -e /usr/include/stdio.h ] || require libc6-dev
    have python3 || require python3
}

look_for_test() {
    have gcc || ! have cc || wish gcc # clang alone builds; tests compare both
    have c++ || wish g++
    have clang || wish clang
    have nm || wish binutils
    have pkg-config || wish pkg-config
    have wasm-ld || wish lld
    have llvm-ar || wish llvm
    have node || wish nodejs
    [ -e /usr/include/expat.h ] || wish libexpat1-dev
    [ -e /usr/lib/wasm32-wasi/crt1.o ] || wish wasi-libc
    has_wasm_runtime || wish "$(wasm_runtime_package)"
    # of the Python package
    python3 -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' || wish python3-dev
    python3 -c 'import venv, ensurepip' >/dev/null 2>&1 || wish python3-venv
}

look_for_check() {
    have clang || require clang
    have clang-format || require clang-format
    have clang-tidy || require clang-tidy
    have shellcheck || wish shellcheck
}

look_for_bench() {
    have clang || require clang
    have c++ || require g++
    [ -e /usr/include/eigen3/Eigen/Core ] || require libeigen3-dev
    python3 -c 'import venv, ensurepip' >/dev/null 2>&1 || require python3-venv
    # peers of collision; its rows are left out where they cannot be had
    [ -e /usr/include/ccd/ccd.h ] || wish libccd-dev
    [ -e /usr/include/fcl/fcl.h ] || wish libfcl-dev
    [ -e /usr/include/bullet/btBulletCollisionCommon.h ] || wish libbullet-dev
    # and of scenes
    [ -e /usr/include/ode/ode.h ] || wish libode-dev
    [ -e /usr/include/dart/simulation/World.hpp ] || wish libdart-dev
}

look_for_zoo() {
    python3 -c 'import venv, ensurepip' >/dev/null 2>&1 || require python3-venv
}

look_for_cross() {
    have qemu-aarch64 || require qemu-user
    have aarch64-linux-gnu-gcc || require gcc-aarch64-linux-gnu
    [ -e /usr/aarch64-linux-gnu/include/stdio.h ] || require libc6-dev-arm64-cross
    have riscv64-linux-gnu-gcc || require gcc-riscv64-linux-gnu
    [ -e /usr/riscv64-linux-gnu/include/stdio.h ] || require libc6-dev-riscv64-cross
}

look_for_web() {
    have clang || require clang
    have wasm-ld || require lld
    have llvm-ar || require llvm
    [ -e /usr/lib/wasm32-wasi/crt1.o ] || require wasi-libc
    has_wasm_runtime || require "$(wasm_runtime_package)"
    have node || require nodejs
    have npm || require npm
    have chromium || have chromium-browser || have google-chrome || wish chromium
}

look() {
    required=()
    optional=()
    local set
    for set in "$@"; do
        case $set in
        base | test | check | bench | zoo | cross | web) "look_for_$set" ;;
        *)
            echo "setup.sh: unknown set $set" >&2
            exit 2
            ;;
        esac
    done
}

as_root=()
can_install() {
    [ -z "${KK_NO_INSTALL:-}" ] || return 1
    have apt-get || return 1
    [ "$(id -u)" -ne 0 ] || return 0
    have sudo && sudo -n true 2>/dev/null || return 1
    as_root=(sudo -n)
}

apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@"; }

install_packages() { apt install --no-install-recommends "$@"; }

# all at once, and where that fails one by one, so that one unknown name does not hold up the rest
install_missing() {
    echo "setup: installing $*"
    apt update || true
    install_packages "$@" && return
    local package
    for package in "$@"; do
        install_packages "$package" || echo "setup: could not install $package"
    done
}

look "$@"
if [ $((${#required[@]} + ${#optional[@]})) -gt 0 ] && can_install; then
    # apt-get's own words go to stderr: the last line of stdout belongs to the tests
    install_missing "${required[@]}" "${optional[@]}" >&2
    look "$@"
fi
if [ ${#required[@]} -gt 0 ]; then
    echo "setup: missing ${required[*]}. Please run this, then try again:" >&2
    echo "    sudo apt-get install -y ${required[*]} ${optional[*]}" >&2
    exit 1
fi
if [ ${#optional[@]} -gt 0 ]; then
    echo "setup: going on without ${optional[*]}; what needs them will be skipped. To have them:"
    echo "    sudo apt-get install -y ${optional[*]}"
fi
