#!/usr/bin/env bash
# Builds a libFuzzer target with the address and undefined-behavior sanitizers and runs it.
#
#   scripts/fuzz.sh xml [seconds]     new inputs go to build/fuzz/xml; the corpus in tests/fuzz/corpus/xml is only read
#   KK_FUZZ_RUNS=1000000 ends it after so many executions; KK_FUZZ_LENGTH=512 bounds the inputs' bytes (4096)
set -euo pipefail
cd "$(dirname "$0")/.."

target=${1:?usage: scripts/fuzz.sh target [seconds]}
seconds=${2:-60}
folder=build/fuzz/$target
objects=build/fuzz/objects
compiler=(clang)
if command -v ccache >/dev/null; then
    compiler=(ccache clang)
fi
mkdir -p "$folder/corpus" "$objects"
mapfile -t float_flags < <(grep '^-' cmake/float_flags.txt)
# shellcheck disable=SC2054 # the comma belongs to the flag
flags=(-std=c17 -Wno-psabi -gline-tables-only -O2 "${float_flags[@]}" -fsanitize=address,undefined -fno-sanitize-recover=all -DKKI_ONE_VARIANT
    -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    -Iinclude -Isrc)

# Only layers that the target can reach, with kernels for one robot. A source that is newer than its object is compiled again,
# and all of them where a header is newer.
layers='base|math|geometry|model|dynamics|collision|io'
if [ "$target" = view ] || [ "$target" = recording ]; then
    layers='[a-z]*'
fi
header=$(find src include cmake ! -name '*.c' -type f -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2-)
find "$objects" -name '*.o' ! -newer "$header" -delete
compile() {
    while read -r source; do
        object=$objects/${source//\//_}.o
        if [ ! -f "$object" ] || [ "src/$source" -nt "$object" ]; then
            echo "-c src/$source -o $object"
        fi
    done | xargs -r -P "$(nproc)" -L 1 "${compiler[@]}" "${flags[@]}" "$@"
}
# Only what reads is watched for coverage: the rest would make every execution slower and steer towards itself.
watched='^(base|geometry|io|view)/'
sources=$(find src -name '*.c' ! -path '*/kernels/kernels.c' -printf '%P\n' | grep -E "^($layers)/" | sort)
# Comparisons of numbers and single characters are not handed to the fuzzer, which sees those of words (strcmp) and has its
# dictionaries: that took half of the time of urdf and mjcf.
characters='^(base|geometry)/|^io/(xml|xacro|expression|path|resolve|mjcf)'
grep -E "$watched" <<<"$sources" | grep -Ev "$characters" | compile -fsanitize=fuzzer-no-link
grep -E "$characters" <<<"$sources" | compile -fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp
grep -Ev "$watched" <<<"$sources" | compile
object=$objects/kernels_scalar.o
if [ ! -f "$object" ] || [ src/dynamics/kernels/kernels.c -nt "$object" ]; then
    "${compiler[@]}" "${flags[@]}" -DKKI_LANES=1 -DKKI_VARIANT=scalar -c src/dynamics/kernels/kernels.c -o "$object"
fi
library=$folder/libkarakuri.a
rm -f "$library"
ar rcs "$library" "$objects"/*.o
# where robots are read out of XML, two thirds of the changes keep it well formed
programs=("tests/fuzz/fuzz_$target.c")
if [ "$target" = urdf ] || [ "$target" = mjcf ]; then
    programs+=(tests/fuzz/mutate_xml.c)
fi
clang "${flags[@]}" -fsanitize=fuzzer "${programs[@]}" "$library" -o "$folder/fuzz_$target"
options=()
if [ -f "tests/fuzz/$target.dict" ]; then
    options+=("-dict=tests/fuzz/$target.dict")
fi
# freed memory is kept as long as an execution lasts: the pages of the default 256 MB cost a third of the time of urdf and mjcf
export ASAN_OPTIONS=${ASAN_OPTIONS:-quarantine_size_mb=4:malloc_context_size=8}
# the weighting by entropy costs a third of the time in targets of many branches
"$folder/fuzz_$target" -max_total_time="$seconds" -runs="${KK_FUZZ_RUNS:--1}" -max_len="${KK_FUZZ_LENGTH:-4096}" -entropic=0 \
    -timeout=5 -rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$folder/" "${options[@]}" "$folder/corpus" "tests/fuzz/corpus/$target"
