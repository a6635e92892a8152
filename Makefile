# Every target sets itself up: a .venv from requirements.lock, made again when that file or pyproject.toml changes.
PYTHON ?= $(shell for p in python3.11 python3; do $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
STAMP := .venv/.made

export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
# Dates in built files: the last commit's, or a constant outside a repository.
SOURCE_DATE_EPOCH ?= $(or $(shell git log -1 --format=%ct 2>/dev/null),1767225600)
export SOURCE_DATE_EPOCH

.PHONY: book test full lowest bench lint dist clean

book: $(STAMP)
	$(BIN)/repeval build

test: lint
	$(BIN)/python -m pytest -n auto --dist loadfile -m "not full and not bench"

# All studies at full size; every figure with date and versions goes to _build/full.json.
full: lint lowest
	$(BIN)/python -m pytest -m "not bench"
	$(BIN)/repeval build --full
	$(BIN)/repeval claims --full --json _build/full.json

# Part of the tests, and one book, on the lowest versions that pyproject.toml allows.
lowest:
	@test -n "$(PYTHON)"
	rm -rf .venv-lowest
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install -qq -r requirements.lowest.lock
	.venv-lowest/bin/python -m pip install -qq --no-deps --no-build-isolation -e .
	.venv-lowest/bin/python -m pytest -q -n auto --dist loadfile -m "not full and not bench" tests/test_cli.py tests/test_faults.py \
	  tests/io/test_load.py tests/report/test_analysis.py tests/companion/plots
	.venv-lowest/bin/python -m pytest -q tests/notebooks/test_notebooks.py -k "default or small"
	.venv-lowest/bin/python -m pytest -q tests/companion/book/test_build.py -k everything

# Timings beside other packages; copy _build/benchmarks.json to data/ for the page on speed.
bench: $(STAMP)
	$(BIN)/python -m pip install -qq -r tests/benchmarks/requirements.lock
	$(BIN)/python -m pytest -m bench tests/benchmarks

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/python -m tests.notebooks.cells
	$(BIN)/lint-imports --no-logo --cache-dir _build/.cache/imports

# Wheel and sdist, into dist/.
dist: $(STAMP)
	rm -rf dist
	$(BIN)/python -m hatchling build

clean:
	rm -rf _build dist

$(STAMP): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "No Python 3.11 or newer found: install it, then run make again (or: make PYTHON=/path/to/python)" >&2; exit 1; }
	@rm -rf .venv
	@$(PYTHON) -m venv .venv >/dev/null 2>&1 || { rm -rf .venv; echo "$(PYTHON) -m venv does not work here: apt-get install python3-venv, then run make again" >&2; exit 1; }
	$(BIN)/python -m pip install -qq -r requirements.lock
	$(BIN)/python -m pip install -qq --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q repeval
	@touch $@
