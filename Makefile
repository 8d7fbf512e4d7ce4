# Everything a developer or a curious user runs. Needs Python >= 3.11, a Rust toolchain and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What the extension is built from: a change to any of it rebuilds it.
RUST := $(shell find rust -path rust/reference -prune -o -name '*.rs' -print -o -name Cargo.toml -print)
FUZZ_TARGETS := $(basename $(notdir $(wildcard rust/reference/fuzz/fuzz_targets/*.rs)))
FUZZ_SECONDS ?= 30
# A comma ends an argument of make's functions.
comma := ,
LOG := tests/data/demo.strace.zst
# For the tools that make a release: what they compile does not mix with development builds.
DIST := build/dist
# On Linux zig links against the oldest glibc of the platform tag, whatever version the machine has.
DIST_FLAGS := $(if $(filter Linux,$(shell uname)),--zig --compatibility manylinux2014)

# The tests start the command thousands of times. Where Python may not keep what it compiled, each
# start would take 0.6 s longer.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-rust test-python lint format bench guard picture docs pages pictures rooms screenshots fuzz dist clean

help: ## Print this list.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | column -t -s "$$(printf '\t')"

# The tests use the same release build as the demonstration and the benches: building takes minutes.
$(VENV)/.installed: pyproject.toml Cargo.toml Cargo.lock $(RUST)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --editable .
	$(BIN)/python -m compileall -q python/tracefast
	touch $@

# The groups of pyproject.toml, which pip knows since 25.1.
$(VENV)/.developed: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group dev
	touch $@

demo: $(VENV)/.installed ## Build, parse a real log, and print its files and forks.
	mkdir -p demo
	$(BIN)/tracefast parse $(LOG) -o demo/demo.parquet
	$(BIN)/tracefast files demo/demo.parquet --top 15
	$(BIN)/tracefast forks demo/demo.parquet --top 15

test: test-rust test-python ## Run all tests.

# The extension is tested from Python: it cannot be linked without an interpreter. Benches need many
# crates that no test needs.
test-rust: ## Run the tests of the Rust crates.
	cargo test --locked --workspace --exclude tracefast-py --exclude tracefast-benches

# `load` hands out tests one by one, so that a long file does not keep one process busy alone. One
# process more than there are processors: a sixth of the time, tests wait for programs.
test-python: $(VENV)/.developed ## Run the tests of the Python package and of the installed command.
	$(BIN)/python -m pytest -n $$(($$(getconf _NPROCESSORS_ONLN) + 1)) --dist load

lint: $(VENV)/.developed ## Check formatting, lints and types; change nothing.
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/stubtest tracefast._core

format: $(VENV)/.developed ## Format the code.
	cargo fmt --all
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

bench: $(VENV)/.developed ## Measure speed and memory, or memory alone with SIZE=10G; BENCH='--size 200MB' passes options.
	$(BIN)/python benches/run.py $(if $(SIZE),--only memory --sizes 1GB$(comma)$(SIZE)) $(BENCH)

# Counts instructions, which do not depend on what else runs on the machine.
guard: $(VENV)/.developed ## Fail if a stage takes 5 % more instructions than recorded; RECORD=1 records.
	$(BIN)/python benches/guard.py $(if $(RECORD),--record)

picture: $(VENV)/.developed ## Draw docs/comparison.svg from the newest result in benches/results.
	$(BIN)/python benches/picture.py

# Warnings are errors: a link that leads nowhere, a parameter that is not described.
docs: $(VENV)/.developed ## Make the site from docs/ in build/site.
	$(BIN)/python -m sphinx --builder html --fresh-env --fail-on-warning --keep-going --quiet docs build/site
	@echo 'build/site/index.html'

pages: $(VENV)/.developed ## Update what commands print and columns mean on the pages.
	$(BIN)/python tools/column_lists.py
	$(BIN)/python tools/rules.py
	$(BIN)/python tools/pages.py

rooms: ## Draw docs/rooms: which rooms of the code import which; fail if there is a cycle.
	$(PYTHON) tools/rooms.py

pictures: $(VENV)/.developed ## Draw docs/pictures: the flow of data of recorded runs.
	$(BIN)/python tools/pictures.py

screenshots: $(VENV)/.developed ## Draw docs/screenshots from the demo log.
	$(BIN)/python tools/screenshots.py

# Corpora grow in rust/reference/fuzz/corpus; a finding is a file in rust/reference/fuzz/artifacts. The thread that reads
# a source ends on its own, perhaps after the run: no leak.
fuzz: ## Run each fuzz target for FUZZ_SECONDS (30); FUZZ_LOGS=DIR takes seeds from logs.
	@cargo +nightly --version >/dev/null 2>&1 || { \
		echo 'make fuzz needs the nightly toolchain: rustup toolchain install nightly' >&2; exit 2; }
	@cargo fuzz --version >/dev/null 2>&1 || { \
		echo 'make fuzz needs cargo-fuzz: cargo install --locked cargo-fuzz' >&2; exit 2; }
	$(PYTHON) rust/reference/fuzz/seeds.py $(FUZZ_LOGS)
	@set -e; for target in $(FUZZ_TARGETS); do \
		echo "fuzz $$target for $(FUZZ_SECONDS) s"; \
		cargo +nightly fuzz run --fuzz-dir rust/reference/fuzz $$target -- \
			-max_total_time=$(FUZZ_SECONDS) -max_len=4096 -timeout=20 -detect_leaks=0 \
			-print_final_stats=1; \
	done

# Installing from the sdist builds a wheel from it, and so does this. The wheel is built twice: the
# first one learns from logs what the second one should do fast (docs/speed.md).
dist: ## Make a wheel and an sdist in dist/, check them, and try each in an empty environment.
	rm -rf dist
	$(PYTHON) -m venv $(DIST)
	$(DIST)/bin/python -m pip install --quiet --disable-pip-version-check \
		'maturin[zig]>=1.9,<2' auditwheel twine
	PATH="$(CURDIR)/$(DIST)/bin:$$PATH" $(DIST)/bin/python tools/profile_guided.py $(DIST)/profile \
		maturin build --release --locked $(DIST_FLAGS) --target-dir $(DIST)/target --out dist
	$(DIST)/bin/maturin sdist --out dist
	$(DIST)/bin/twine check --strict dist/*
	$(if $(findstring manylinux,$(DIST_FLAGS)),$(DIST)/bin/auditwheel show dist/*.whl | tee -a /dev/stderr | grep -q '"manylinux_2_17_')
	PYTHON=$(PYTHON) tests/smoke.sh dist/*.whl
	PYTHON=$(PYTHON) tests/smoke.sh dist/*.tar.gz

clean: ## Remove what was built.
	rm -rf $(VENV) target demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find python tests tools benches -name __pycache__ -prune -exec rm -rf {} +
	rm -f python/tracefast/_core*.so
