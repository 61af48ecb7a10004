# make demo | test | reproduce | test-torch | test-spark | test-browser | lint | docs | wheel | test-wheel |
# test-lowest | bench | evidence | fuzz: each creates its environment and installs what it needs,
# once. PyTorch and Spark are large, so each has an environment of its own.
PYTHON ?= python3
# Keep Python's compiled files, even if the shell asks not to.
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
RUNTIME := $(VENV)/.runtime
DEVELOPMENT := $(VENV)/.development
COVERAGE_EVAL_SHARED ?= ../shared
TORCH_VENV := .venv-torch
TORCH_PY := $(TORCH_VENV)/bin/python
TORCH := $(TORCH_VENV)/.torch
# One pip serves all environments; modules are compiled when they are first imported, because most
# of a large package never are.
INSTALL := $(PY) -m pip --python
SPARK_VENV := .venv-spark
SPARK_PY := $(SPARK_VENV)/bin/python
SPARK := $(SPARK_VENV)/.spark
BROWSER := $(VENV)/.browser
DOCS := $(VENV)/.docs
PACKAGING := $(VENV)/.packaging
LOWEST_VENV := .venv-lowest
FRONTEND := coverage_eval/comparison/report/frontend
PACKAGES := $(FRONTEND)/node_modules/.package-lock.json
BUILD_INPUTS := pyproject.toml fast_align_wrapper/CMakeLists.txt $(wildcard fast_align_wrapper/src/*)

.PHONY: demo test reproduce test-torch test-spark test-browser report lint format bench fuzz figures evidence clean
.PHONY: docs wheel test-wheel test-lowest

demo: $(RUNTIME)
	$(BIN)/coverage-eval demo
	@echo; echo "The command is $(BIN)/coverage-eval; 'uv tool install .' puts it on your PATH."

test: $(DEVELOPMENT)
	$(PY) -m pytest -n 2 --dist loadfile --mpl

# The tests that `make test` leaves out without PyTorch; here, a skipped test is a failure.
test-torch: $(TORCH)
	$(TORCH_PY) -m pytest -n 2 --dist loadfile --no-skips --only torch

# The tests of Spark; without Java they are skipped visibly. (`make test` runs those of jobs.)
# Java compiles quickly rather than well here, because the jobs take seconds.
test-spark: $(SPARK)
	JDK_JAVA_OPTIONS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC" \
	  $(SPARK_PY) -m pytest tests/spark/test_spark.py

# Tests that need Chromium or node are skipped without them, with the reason.
test-browser: $(BROWSER) $(PACKAGES)
	$(PY) -m pytest tests/browser

# Builds the site into build/site, with warnings as errors; then follows its links and runs the
# notebooks. (`make test` runs the examples on its pages.)
docs: $(DOCS)
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --config-file notebooks/docs/mkdocs.yml
	$(PY) -m pytest -n 2 --dist loadfile tests/site tests/notebooks

# The source distribution and, built from it, a wheel whose aligner needs nothing of this system, so
# it runs on any Linux with this kind of processor; auditwheel checks this and names the wheel.
wheel: $(PACKAGING)
	rm -rf dist build/wheel
	$(PY) -m build --outdir build/wheel -C cmake.define.ALIGNER=ON -C cmake.define.ALIGNER_STATIC=ON
	PATH="$(CURDIR)/$(BIN):$$PATH" $(PY) -m auditwheel repair --wheel-dir dist build/wheel/*.whl
	mv build/wheel/*.tar.gz dist

# On every installed Python, or on those in PYTHONS; then the recipe of a container.
test-wheel: wheel
	.ci/test_wheel $(PYTHONS)
	.ci/test_container

# Tests of everything that calls a dependency (scores, tables, statistics, pictures, commands), with the
# oldest Python and the oldest versions that the package allows.
LOWEST_PYTHON ?= $(shell ls -d $(HOME)/.pyenv/versions/3.10.*/bin/python 2>/dev/null | head -n 1)
LOWEST_TESTS := tests/core tests/repetition tests/coverage tests/quality tests/outputs tests/plotting \
  tests/comparison/test_table.py tests/comparison/test_rendering.py tests/attention/test_registry.py \
  tests/cli/test_common.py tests/cli/test_drop.py tests/test_api.py
test-lowest: $(PACKAGING)
	$(BIN)/uv venv --quiet --clear --python $(or $(LOWEST_PYTHON),python3.10) $(LOWEST_VENV)
	VIRTUAL_ENV=$(LOWEST_VENV) $(BIN)/uv pip compile --quiet --resolution lowest-direct \
	  --only-binary :all: --extra meteor --extra parquet --output-file build/lowest.txt pyproject.toml
	VIRTUAL_ENV=$(LOWEST_VENV) $(BIN)/uv pip install --quiet --constraint build/lowest.txt \
	  --editable '.[meteor,parquet]' --group lowest
	$(LOWEST_VENV)/bin/python -m pytest $(LOWEST_TESTS)

# Builds the script of the HTML report, which is in the repository.
report: $(PACKAGES)
	cd $(FRONTEND) && npm run build

# The report's TypeScript is checked and formatted where its packages are: there may be no node.
lint: $(DEVELOPMENT) $(PACKAGES)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	! test -e $(PACKAGES) || npm --prefix $(FRONTEND) --silent run lint

format: $(DEVELOPMENT) $(PACKAGES)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	! test -e $(PACKAGES) || npm --prefix $(FRONTEND) --silent run format

bench: $(DEVELOPMENT) $(TORCH)
	$(PY) -m tests.bench
	$(TORCH_PY) -m tests.bench torch

# Runs damaged files for a minute, others every time; it prints the seed that repeats them.
FUZZ ?= --seconds 60
fuzz: $(DEVELOPMENT)
	$(PY) -m tests.fuzz $(FUZZ)

# Trains, decodes and scores the eight systems of Table 1, very small ones, on some sentences of
# notebooks/tanaka; takes half a minute. A second run gives the same files, to the bit.
# Such models say much the same whatever the source says, so the table's differences mean nothing.
REPRODUCED := build/reproduce
reproduce: $(TORCH)
	rm -rf $(REPRODUCED) && mkdir -p $(REPRODUCED)
	for side in ja en; do \
	  gunzip -c notebooks/tanaka/train.$$side.gz | head -n 600 > $(REPRODUCED)/train.$$side; \
	  gunzip -c notebooks/tanaka/train.$$side.gz | tail -n 50 > $(REPRODUCED)/valid.$$side; \
	  head -n 100 notebooks/tanaka/test.$$side > $(REPRODUCED)/test.$$side; \
	done
	OMP_NUM_THREADS=1 $(TORCH_PY) notebooks/reproduction/train.py \
	  --train $(REPRODUCED)/train.ja $(REPRODUCED)/train.en \
	  --valid $(REPRODUCED)/valid.ja $(REPRODUCED)/valid.en \
	  --test $(REPRODUCED)/test.ja $(REPRODUCED)/test.en \
	  --settings notebooks/reproduction/tiny.json -o $(REPRODUCED)/run

figures: $(DEVELOPMENT) $(BROWSER)
	$(PY) notebooks/reproduction
	$(PY) notebooks/evidence
	$(PY) notebooks/make_figures.py
	$(PY) -m tests.browser.make_pictures

# Measures notebooks/evidence/tables, and writes evidence.md, its pictures and the pages that quote the
# tables; takes a quarter of an hour, and the corpora of COVERAGE_EVAL_SHARED. `make figures` only writes.
evidence: $(DEVELOPMENT)
	$(PY) notebooks/evidence $(COVERAGE_EVAL_SHARED)/data
	$(PY) notebooks/evidence
	$(PY) notebooks/docs/taken.py

clean:
	rm -rf $(VENV) $(TORCH_VENV) $(SPARK_VENV) $(LOWEST_VENV) build dist

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
	$(PY) -m pip install --quiet --no-compile --editable '.[meteor]' --group dev
	@touch $@ $(RUNTIME)

$(DOCS): $(DEVELOPMENT)
	$(PY) -m pip install --quiet --no-compile --group docs
	@touch $@

$(PACKAGING): $(PY)
	$(PY) -m pip install --quiet --group packages
	@mkdir -p build
	@touch $@

$(BROWSER): $(DEVELOPMENT)
	$(PY) -m pip install --quiet --no-compile --group browser
	@touch $@

$(PACKAGES): $(FRONTEND)/package.json $(FRONTEND)/package-lock.json
	@command -v npm >/dev/null || echo "no npm: the report's script is not built or tested" >&2
	@! command -v npm >/dev/null || (cd $(FRONTEND) && npm ci --ignore-scripts --no-audit --no-fund) || \
	  echo "npm could not install the packages of the report's script, which is not built or tested" >&2

# Try the CPU build first: the other one brings gigabytes for GPUs.
$(TORCH): $(PY) $(BUILD_INPUTS)
	$(PYTHON) -m venv --without-pip $(TORCH_VENV)
	$(INSTALL) $(TORCH_PY) install --quiet --no-compile 'torch==2.13.0+cpu' 2>/dev/null || \
	  $(INSTALL) $(TORCH_PY) install --quiet --no-compile torch
	$(INSTALL) $(TORCH_PY) install --quiet --no-compile --editable '.[meteor,parquet]' --group torch
	@touch $@

$(SPARK): $(PY) $(BUILD_INPUTS)
	$(PYTHON) -m venv --without-pip $(SPARK_VENV)
	$(INSTALL) $(SPARK_PY) install --quiet --no-compile --editable '.[spark]' --group spark
	@touch $@
