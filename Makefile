# The front door. CMake and Ninja do the work (docs/decisions/0006); this file knows the words.
#
#   make            build the library and the tool (build/release)
#   make demo       build and run the demonstration
#   make test       build and run all tests; the last line is «N passed, N failed»
#   make exam       run scenes with known answers; plots in build/exam
#   make bench      measure beside the peers; ARGS="scenes" one of dynamics, scenes, loading
#   make exact      prove a million random distances and as many times of impact, in hours; PAIRS= SHOTS= SEED= how many
#   make crosscheck compare the results with the peers'
#   make check      format, static analysis, layers, shell scripts, sanitizers
#   make coverage   lines and branches that the unit tests reach; ARGS=--missing lists the others
#   make install    install library, headers, CMake package, pkg-config file and the tool; PREFIX=/usr/local DESTDIR=
#   make format     format the sources
#   make clean      remove everything that was built
#
# TESTS="unit headers" runs only those steps (tests/run.py --list names them); ARGS=... goes to the bench or crosscheck program.

SHELL := /bin/bash
PREFIX ?= /usr/local
DEMO ?= 03_stand
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
TESTS ?=
ARGS ?=

SOURCES = $(shell git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.cpp')
# tests/golden holds makers of reference data, which are run by hand
TIDY_SOURCES = $(filter src/%.c tests/%.c examples/%.c tools/%.c,$(filter-out tests/install/% tests/golden/%,$(SOURCES)))

.PHONY: all demo test exam bench exact crosscheck check check-format check-tidy check-layers check-shell check-sanitizers coverage \
	install format clean help setup-% build-%
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

demo: setup-base
	@$(MAKE) -s --no-print-directory build/release/build.ninja
	@cmake --build --preset release --parallel $(JOBS) --target example_$(DEMO)
	@mkdir -p build/demo && cd build/demo && ../release/examples/$(DEMO)
	@echo "picture                  build/demo/stand.svg"

test: setup-test
	@python3 tests/run.py --jobs $(JOBS) $(TESTS)

exam: setup-base build-release
	@mkdir -p build/exam && build/release/karakuri exam --out build/exam $(ARGS)

bench: setup-bench build-release
	@python3 benchmarks/run.py $(ARGS)

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

install: all
	@cmake --install build/release --prefix "$(PREFIX)"

format: setup-check
	@clang-format -i $(SOURCES)

clean:
	rm -rf build
