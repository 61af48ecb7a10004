# make demo | test | lint | bench: each creates .venv and installs what it needs, once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
RUNTIME := $(VENV)/.runtime
DEVELOPMENT := $(VENV)/.development
BUILD_INPUTS := pyproject.toml fast_align_wrapper/CMakeLists.txt $(wildcard fast_align_wrapper/src/*)

.PHONY: demo test lint format bench figures clean

demo: $(RUNTIME)
	$(BIN)/coverage-eval demo

test: $(DEVELOPMENT)
	$(PY) -m pytest -n 2 --dist loadfile --mpl

lint: $(DEVELOPMENT)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(DEVELOPMENT)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(DEVELOPMENT)
	for script in tests/bench/bench_*.py; do $(PY) $$script || exit 1; done

figures: $(DEVELOPMENT)
	$(PY) notebooks/make_figures.py

clean:
	rm -rf $(VENV) build dist

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "coverage-eval needs Python 3.10 or newer: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null || \
	  { echo "coverage-eval needs a C++17 compiler for its word aligner; install one, for example: apt-get install g++" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --upgrade pip

$(RUNTIME): $(PY) $(BUILD_INPUTS)
	$(PY) -m pip install --quiet --editable .
	@touch $@

$(DEVELOPMENT): $(PY) $(BUILD_INPUTS)
	$(PY) -m pip install --quiet --editable '.[meteor]' --group dev
	@touch $@ $(RUNTIME)
