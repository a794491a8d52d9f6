#!/usr/bin/env bash
# Builds a libFuzzer target with the address and undefined-behaviour sanitizers and runs it.
#
#   scripts/fuzz.sh xml [seconds]     new inputs go to build/fuzz/xml; the corpus in tests/fuzz/corpus/xml is only read
set -euo pipefail
cd "$(dirname "$0")/.."

target=${1:?usage: scripts/fuzz.sh target [seconds]}
seconds=${2:-60}
folder=build/fuzz/$target
mkdir -p "$folder/corpus"
mapfile -t float_flags < <(grep '^-' cmake/float_flags.txt)
mapfile -t sources < <(find src/base src/math src/geometry src/io -name '*.c' | sort)
clang -std=c17 -g -O1 "${float_flags[@]}" -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
    -Iinclude -Isrc "tests/fuzz/fuzz_$target.c" "${sources[@]}" -o "$folder/fuzz_$target"
options=()
if [ -f "tests/fuzz/$target.dict" ]; then
    options+=("-dict=tests/fuzz/$target.dict")
fi
"$folder/fuzz_$target" -max_total_time="$seconds" -max_len=4096 -timeout=5 -rss_limit_mb=1024 -print_final_stats=1 \
    -artifact_prefix="$folder/" "${options[@]}" "$folder/corpus" "tests/fuzz/corpus/$target"
