# Two commands do everything: `make demo` and `make test`. Both set up first.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test setup lint types imports unit other-processors processors faults weights bench wheels format screenshots clean help

help: ## say what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

demo: $(READY) ## train a real translator in five minutes, score it, use it
	$(BIN)/dragoman demo runs/demo

test: lint types imports unit other-processors ## run every check

setup: $(READY) ## make the virtual environment and install everything into it

$(READY): pyproject.toml constraints.txt
	@echo "setting up $(VENV) (a minute or two, once)"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	    --constraint constraints.txt --editable '.[dev]'
	@touch $(READY)

lint: $(READY) ## ruff: style and likely mistakes
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## mypy, strict
	$(BIN)/mypy

imports: $(READY) ## import-linter: imports go down the ladder only
	$(BIN)/lint-imports

unit: $(READY) ## pytest, warnings as errors
	$(BIN)/pytest -n 2 --dist worksteal

other-processors: $(READY) ## the kernels' tests as on AVX2, and without a compiler
	$(BIN)/python tools/processors.py --quick

processors: $(READY) ## what a processor decides, as SSE, AVX2, AVX-512, Clang, one core
	$(BIN)/python tools/processors.py

faults: $(READY) ## what takes long: many faults in a row, two machines, compiling
	$(BIN)/pytest -m faults

weights: $(READY) ## known answers of other programs' models, fetched by their hashes
	$(BIN)/pytest -m weights

bench: $(READY) ## a short version of every benchmark beside its peers, in one table
	$(BIN)/python benchmarks/bench.py

wheels: $(READY) ## what is published, into dist: kernels for each kind of processor
	$(BIN)/python tools/wheels.py dist

format: $(READY) ## let ruff rewrite what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

screenshots: $(READY) ## picture every page of the studio, from the demo's model
	$(BIN)/python tools/screenshots.py runs/demo docs/studio

clean: ## remove what was set up and built, but no model
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
