# The front door. CMake and Ninja do the work (docs/decisions/0006); this file knows the words.
#
#   make            build the library and the tool (build/release)
#   make demo       a humanoid walks for 20 s: figures, and a report in build/demo
#   make view       build and show a robot live in the browser; MODEL=models/crane/crane.urdf ARGS=...
#   make pictures   draw the README's pictures into docs/pictures
#   make test       build and run all tests; the last line is «N passed, N failed»
#   make test-long  what does not fit into ten minutes: the zoo, all exams and experiments, kills of sweeps; the last line likewise
#   make zoo        every model that everybody has, beside MuJoCo, in an hour; ARGS="--model humanoid --regime random --seed 1 --json new.json --compare old.json"
#   make exam       run scenes with known answers; plots in build/exam
#   make determinism  thirteen simulations of 10 000 steps: same bits by every compiler, level, variant, number of threads and in WebAssembly
#   make bench      measure beside the peers; ARGS="scenes" one of dynamics, scenes, loading, collision, simbench, piles, batch, python
#   make instructions  instructions a step of thirty public models, which no load of the machine moves; ARGS="--compare old.json --functions 20"
#   make solverbench  every method of the contact solver on the problems of tests/corpus; ARGS="--compare old.json", --json, --method, --family
#   make exact      prove a million random distances, depths in meshes and times of impact, in hours; PAIRS= SHOTS= SEED= how many
#   make crosscheck compare the results with the peers'
#   make check      format, static analysis, layers, shell scripts, sanitizers
#   make measure-stream  what showing a simulation costs the process that simulates
#   make coverage   lines and branches that the unit tests reach; ARGS=--missing lists the others
#   make web        build the WebAssembly engine and the viewer page (web/viewer/dist); needs node and npm
#   make crane      play the crane game in a browser
#   make test-web   the page in Chromium without a window, and native against WebAssembly bit by bit
#   make bench-web  the engine in node beside itself in native code and other engines' npm packages; ARGS=3 rounds
#   make python     build the Python package and test it in a virtual environment under build/
#   make wheel      a wheel of it in dist/
#   make dist       what a release is made of, in dist/: source, Debian packages, wheel, npm package, bill of materials, checksums
#   make install    install library, headers, CMake package, pkg-config file and the tool; PREFIX=/usr/local DESTDIR=
#   make format     format the sources
#   make clean      remove everything that was built
#
# TESTS="unit headers" runs only those steps (tests/run.py --list names them); ARGS=... goes to the bench or crosscheck program.

SHELL := /bin/bash
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
TESTS ?=
ARGS ?=

SOURCES = $(shell git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.cpp')
# tests/golden holds makers of reference data, which are run by hand
TIDY_SOURCES = $(filter src/%.c tests/%.c examples/%.c tools/%.c,$(filter-out tests/install/% tests/golden/%,$(SOURCES)))

.PHONY: all demo show view pictures measure-stream test test-long exam zoo instructions determinism bench solverbench exact crosscheck check check-format check-tidy check-layers check-shell \
	check-sanitizers coverage install format clean help python wheel dist web web-engine web-packages crane test-web bench-web setup-% build-%
.DEFAULT_GOAL := all

all: setup-base build-release

help:
	@sed -n 's/^#   //p' Makefile

setup-base:
	@scripts/setup.sh base

setup-%:
	@scripts/setup.sh base $*

build/%/build.ninja:
	@cmake --preset $* --log-level=WARNING

build-%:
	@$(MAKE) -s --no-print-directory build/$*/build.ninja
	@cmake --build --preset $* --parallel $(JOBS)

# DEMO=03_stand runs an example instead
demo: setup-base
	@$(MAKE) -s --no-print-directory build/release/build.ninja
	@cmake --build --preset release --parallel $(JOBS) --target $(if $(DEMO),example_$(DEMO),karakuri_cli)
	@mkdir -p build/demo
ifdef DEMO
	@cd build/demo && ../release/examples/$(DEMO)
else
	@build/release/karakuri walk models/hrp2/hrp2_bush.xml --simulate --stabilize --report build/demo/walk.html
	@$(MAKE) -s --no-print-directory show
endif

# a scene for whoever looks: live in the browser where there is a display, else a file that opens in one, and a picture
SHOW ?= models/hrp2/hrp2.xml --keyframe half_sitting
show:
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ] && command -v xdg-open >/dev/null; then build/release/karakuri view $(SHOW); else \
	mkdir -p build/demo; \
	build/release/karakuri view $(SHOW) --save build/demo/demo.html --quiet >/dev/null && \
	build/release/karakuri render $(SHOW) --time 1 --forces --out build/demo/demo.png --quiet >/dev/null && \
	echo "open in any browser      build/demo/demo.html" && echo "picture                  build/demo/demo.png"; fi

MODEL ?= models/hrp2/hrp2.xml
view: setup-base build-release
	@build/release/karakuri view $(MODEL) $(ARGS)

pictures: setup-base build-release
	@scripts/pictures.sh

measure-stream: setup-base build-release
	@python3 tests/server/measure.py $(ARGS)

test: setup-test
	@python3 tests/run.py --jobs $(JOBS) $(TESTS)

test-long: setup-zoo build-release
	@python3 tests/run.py --long --jobs $(JOBS) $(TESTS)

zoo: setup-zoo build-release
	@python3 benchmarks/zoo/run.py $(ARGS)

instructions: setup-base
	@python3 benchmarks/instructions.py $(ARGS)

exam: setup-base build-release
	@mkdir -p build/exam && build/release/karakuri exam --out build/exam $(ARGS)

determinism: setup-base
	@python3 tests/determinism/run.py --all --jobs $(JOBS) --steps 10000 $(ARGS)

bench: setup-bench build-release
	@python3 benchmarks/run.py $(ARGS)

solverbench: setup-base
	@$(MAKE) -s --no-print-directory build/release/build.ninja
	@cmake --build --preset release --parallel $(JOBS) --target karakuri_solverbench
	@build/release/karakuri_solverbench $(ARGS) tests/corpus/*.bin

PAIRS ?= 1000000
SHOTS ?= 1000000
SEED ?= 1
exact: setup-base build-release
	@KK_EXACT_PAIRS=$(PAIRS) KK_EXACT_SHOTS=$(SHOTS) KK_EXACT_SEED=$(SEED) build/release/karakuri_tests exact_

crosscheck: setup-bench build-release
	@python3 tests/crosscheck/run.py $(ARGS)

check: setup-check check-format check-tidy check-layers check-shell check-sanitizers
	@echo "check: all good"

check-format: setup-check
	@clang-format --dry-run -Werror $(SOURCES)

check-tidy: setup-check
	@cmake --preset clang-release --log-level=WARNING > /dev/null
	@printf '%s\n' $(TIDY_SOURCES) | xargs -n 1 -P $(JOBS) clang-tidy -p build/clang-release --quiet \
		2> >(grep -v 'warnings* generated' >&2)

check-layers: setup-base
	@python3 scripts/check_layers.py

check-shell:
	@if command -v shellcheck >/dev/null; then shellcheck scripts/*.sh .ci/run; \
	else echo "check: no shellcheck, shell scripts not checked"; fi

check-sanitizers: setup-base
	@python3 tests/run.py --jobs $(JOBS) sanitizers

coverage: setup-base build-coverage
	@find build/coverage -name '*.gcda' -delete
	@build/coverage/karakuri_tests >/dev/null
	@python3 scripts/coverage.py $(ARGS) build/coverage

# `npm ci` wants every platform's optional package in the lock file, also of registries that do not carry them
web-packages: setup-web
	@test -e web/node_modules/.package-lock.json && test web/node_modules/.package-lock.json -nt web/package-lock.json || \
		npm --prefix web install --no-save --no-audit --no-fund --loglevel=error

web-engine: web-packages
	@$(MAKE) -s --no-print-directory build/web/build.ninja
	@cmake --build --preset web --parallel $(JOBS) --target karakuri_web
	@node web/pack.mjs
	@npm --prefix web run --silent build -w engine --loglevel=error

web: web-engine
	@npm --prefix web run --silent check --loglevel=error
	@npm --prefix web run --silent build -w viewer --loglevel=error
	@node web/film.mjs

crane: web
	@node web/serve.mjs --open '#crane'

test-web: setup-base build-release web
	@node web/tests/engine.mjs
	@node web/tests/hashes.mjs
	@node web/tests/browser.mjs $(TESTS)

bench-web: setup-base build-scalar web-engine
	@test -d web/bench/node_modules || npm --prefix web/bench install --no-save --no-audit --no-fund --loglevel=error
	@node web/bench/native.mjs $(ARGS)
	@node web/bench/run.mjs $(ARGS)

python: setup-base
	@python3 python/make.py test --jobs $(JOBS) $(ARGS)

dist: setup-base
	@python3 scripts/dist.py --jobs $(JOBS) $(ARGS)

wheel: setup-base
	@python3 python/make.py wheel

install: all
	@cmake --install build/release --prefix "$(PREFIX)"
	@# programs find the library at once where the loader keeps a cache and we may write it; a staged tree is not this machine's
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ] && [ "$$(uname)" = Linux ] && command -v ldconfig >/dev/null; then ldconfig; fi

format: setup-check
	@clang-format -i $(SOURCES)

clean:
	rm -rf build
