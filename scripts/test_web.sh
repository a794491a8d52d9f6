#!/usr/bin/env bash
# The page's tests, apart from `make test` because they need npm's packages: `make test-web` where that is possible, and otherwise one
# line that says what is missing. Ends well in both cases; fails where a test fails.
set -euo pipefail
cd "$(dirname "$0")/.."

skip() {
    echo "test-web: skipped, $1"
    exit 0
}

for program in clang wasm-ld node npm; do
    command -v "$program" >/dev/null 2>&1 || skip "there is no $program"
done
[ -n "${CHROMIUM:-}" ] || command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 ||
    command -v google-chrome >/dev/null 2>&1 || skip "there is no Chromium (set CHROMIUM, or install it)"
[ -d web/node_modules ] || npm --prefix web ping --loglevel=error >/dev/null 2>&1 || skip "npm's registry cannot be reached"
exec make --no-print-directory test-web
