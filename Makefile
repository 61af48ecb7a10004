# make demo | test | lint | bench: each creates .venv and installs what it needs, once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
BUILD_INPUTS := pyproject.toml fast_align_wrapper/CMakeLists.txt $(wildcard fast_align_wrapper/src/*)

.PHONY: demo test lint bench clean
