# make demo   install into .venv and answer a question over this project's own docs, offline
# make test   install into .venv and run every test
# make check  the quick loop: format, lint, types, layers, unit tests
# make fuzz   the properties once more, with examples that are new each time
# make quality DATA=FOLDER   retrieval, claims and answers on development sets

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
# A CPU build of torch, before anything can ask for another one: builds for GPUs are several gigabytes.
TORCH := torch==2.13.0
DEV := citeproc-py hatchling hypothesis import-linter mypy pexpect playwright psutil pybtex pyte pytest rispy ruff trustme

.PHONY: demo test check fuzz quality docs clean

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(STAMP): $(VENV)/bin/python pyproject.toml
	@echo "installing asky into $(VENV) (a few minutes the first time)"
	$(PIP) "$(TORCH)"
	$(PIP) --editable ".[offline]"
	@touch $@

$(DEV_STAMP): $(STAMP) Makefile
	$(PIP) $(DEV)
	@touch $@

demo: $(STAMP)
	ASKY_HOME=$(CURDIR)/.demo $(BIN)/asky -r -d docs "How does asky check that a citation is real?"

test: $(DEV_STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest

check: $(DEV_STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest tests/unit tests/property tests/architecture -m "not model and not slow"

fuzz: $(DEV_STAMP)
	$(BIN)/python -m pytest tests --hypothesis-profile=fuzz -m hypothesis

quality: $(DEV_STAMP)
	$(BIN)/python -m pytest tests/quality --data "$(DATA)" -s

docs: $(DEV_STAMP)
	$(BIN)/python -m asky.cli.reference

clean:
	rm -rf $(VENV) .demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
