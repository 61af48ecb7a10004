# make demo | test | test-torch | test-browser | lint | bench | evidence | fuzz: each creates its
# environment and installs what it needs, once. PyTorch's tests have one of their own, since it is large.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
RUNTIME := $(VENV)/.runtime
DEVELOPMENT := $(VENV)/.development
COVERAGE_EVAL_SHARED ?= ../shared
TORCH_VENV := .venv-torch
TORCH_PY := $(TORCH_VENV)/bin/python
TORCH := $(TORCH_VENV)/.torch
BROWSER := $(VENV)/.browser
FRONTEND := coverage_eval/html_report/frontend
PACKAGES := $(FRONTEND)/node_modules/.package-lock.json
BUILD_INPUTS := pyproject.toml fast_align_wrapper/CMakeLists.txt $(wildcard fast_align_wrapper/src/*)

.PHONY: demo test test-torch test-browser report lint format bench fuzz figures evidence clean

demo: $(RUNTIME)
	$(BIN)/coverage-eval demo

test: $(DEVELOPMENT)
	$(PY) -m pytest -n 2 --dist loadfile --mpl --ignore tests/browser

# The files with tests that are skipped without PyTorch; here, a skipped test is a failure.
test-torch: $(TORCH)
	$(TORCH_PY) -m pytest --no-skips $$(grep -rl 'importorskip("torch"' tests)

# What is not there (Chromium, node and its packages) is said, and its tests are skipped.
test-browser: $(BROWSER) $(PACKAGES)
	$(PY) -m pytest tests/browser

# The script of the HTML report, which the repository carries.
report: $(PACKAGES)
	cd $(FRONTEND) && npm run build

lint: $(DEVELOPMENT)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(DEVELOPMENT)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# deepdow solves constrained sparsemax too, with a solver of a hundred megabytes: only compared here.
bench: $(DEVELOPMENT) $(TORCH)
	for script in $$(grep -L 'import torch' tests/bench/bench_*.py); do $(PY) $$script || exit 1; done
	$(TORCH_PY) -m pip install --quiet deepdow || true
	for script in $$(grep -l 'import torch' tests/bench/bench_*.py); do $(TORCH_PY) $$script || exit 1; done

# Seconds for each of its campaigns; what fails is kept in tests/fuzz/corpus.
FUZZ_SECONDS ?= 60
fuzz: $(DEVELOPMENT)
	$(PY) -m tests.fuzz --seconds $(FUZZ_SECONDS)

figures: $(DEVELOPMENT) $(BROWSER)
	$(PY) notebooks/make_figures.py
	$(PY) -m tests.browser.make_pictures

# Minutes, on the corpora of COVERAGE_EVAL_SHARED: writes notebooks/evidence.md and its figure.
evidence: $(DEVELOPMENT)
	$(PY) notebooks/evidence $(COVERAGE_EVAL_SHARED)/data

clean:
	rm -rf $(VENV) $(TORCH_VENV) build dist

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

$(BROWSER): $(DEVELOPMENT)
	$(PY) -m pip install --quiet --group browser
	@touch $@

$(PACKAGES): $(FRONTEND)/package.json $(FRONTEND)/package-lock.json
	@command -v npm >/dev/null || echo "no npm: the report's script is not built or tested" >&2
	@! command -v npm >/dev/null || (cd $(FRONTEND) && npm ci --ignore-scripts --no-audit --no-fund) || \
	  echo "npm could not install the packages of the report's script, which is not built or tested" >&2

# The build for processors comes first: the other brings gigabytes for graphics cards.
$(TORCH): $(BUILD_INPUTS)
	$(PYTHON) -m venv $(TORCH_VENV)
	$(TORCH_PY) -m pip install --quiet --upgrade pip
	$(TORCH_PY) -m pip install --quiet 'torch==2.13.0+cpu' 2>/dev/null || \
	  $(TORCH_PY) -m pip install --quiet torch
	$(TORCH_PY) -m pip install --quiet --editable '.[meteor]' --group torch
	@touch $@
