# `make serve` and `make test` work on a machine that has only Python (3.12 or newer, with venv) and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# For each target of `make fuzz`.
FUZZ_SECONDS ?= 60
# Programs of the tests that replace methods of ours, which have to exist: the others of the tests are not checked.
CHANGED := $(addprefix tests/conformance/,holdem/faulty_programs.py oldmaid/faulty_tables.py oldmaid/faulty_players.py oldmaid/changed_programs.py mutants/oldmaid_tables.py mutants/mutant_wire.py)
# The requirement files that `make audit` reads.
AUDITED ?= run dev browser bench interop fuzz
# Many tests wait for a process or a timer, so run 3 workers per processor.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(3 * (os.cpu_count() or 1))')

# Python reuses its bytecode and the rewritten tests even where the environment says not to write them.
export PYTHONDONTWRITEBYTECODE :=
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

.PHONY: setup messages serve demo pictures test test-extended test-browser test-interop wheel-compiled test-compiled test-all crash check fmt bench fuzz audit docs lock clean
.DEFAULT_GOAL := setup

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 12) else "croupier needs Python 3.12 or newer; $(PYTHON) is %d.%d (choose another: make PYTHON=python3.13)" % v[:2])'
	$(PYTHON) -m venv $(VENV)

# Run-time dependencies: hashed wheels, then the package itself without resolving anything else.
$(VENV)/run.stamp: $(BIN)/python requirements/run.txt pyproject.toml
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/run.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

# Development dependencies: tests, linters, documentation. pip would compile them on one processor; what cannot be
# compiled, such as a template in a library, is no error.
$(VENV)/dev.stamp: $(VENV)/run.stamp requirements/dev.txt
	$(BIN)/python -m pip install --quiet --no-compile --require-hashes -r requirements/dev.txt
	-$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib
	@touch $@

setup: $(VENV)/dev.stamp  ## install everything for development in .venv

serve: $(VENV)/run.stamp  ## serve all rooms on their default ports
	@exec $(BIN)/croupier serve $(ARGS)

demo: $(VENV)/run.stamp  ## open all rooms with bots at every table, and the lobby in the browser
	@exec $(BIN)/croupier demo $(ARGS)

test: $(VENV)/dev.stamp  ## run the tests that show every clause once, in about 3 minutes
	$(PYTEST) --hypothesis-profile quick -m "not slow and not long and not extended and not browser and not interop" $(ARGS)

test-extended: $(VENV)/dev.stamp  ## run what `make test` leaves out but the tests that run for minutes, and random tests with more examples
	$(PYTEST) -m "not slow and not long and not browser and not interop and (extended or hypothesis)" $(ARGS)

$(VENV)/browser.stamp: $(VENV)/dev.stamp requirements/browser.txt
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/browser.txt
	@touch $@

# A browser keeps a processor busy, so one worker for each.
test-browser: $(VENV)/browser.stamp  ## run the tests of the web app with Chromium, which has to be installed
	$(PYTEST) -n auto -m browser tests/web/browser $(ARGS)

$(VENV)/interop.stamp: $(VENV)/dev.stamp requirements/interop.txt
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/interop.txt
	@touch $@

test-interop: $(VENV)/interop.stamp  ## run the tests with the libraries of others: environments, datasets, MCP, clusters
	$(PYTEST) -m interop tests/interop $(ARGS)

dist/compiled: $(VENV)/dev.stamp hatch_build.py pyproject.toml $(shell find src -name '*.py')
	rm -rf $@
	HATCH_BUILD_HOOK_ENABLE_CUSTOM=true $(BIN)/python -m hatchling build --target wheel --directory $@

wheel-compiled: dist/compiled  ## build a wheel in which mypyc has compiled the engine of hold'em, in dist/compiled

# The wheel lies in a folder that precedes the sources in the import path.
test-compiled: dist/compiled  ## run what `make test` runs with the compiled wheel
	rm -rf build/compiled
	$(BIN)/python -m pip install --quiet --no-deps --target build/compiled dist/compiled/*.whl
	PYTHONPATH=$(CURDIR)/build/compiled $(MAKE) test

test-all: $(VENV)/dev.stamp  ## run all tests, five minutes of faults included, but the long fuzz and soak tests, and those with a browser or other libraries
	$(PYTEST) $(ARGS)

check: $(VENV)/dev.stamp  ## check format, lint, types, layers and prose
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy bench/*.py
	$(BIN)/mypy examples/*.py
	$(BIN)/mypy --explicit-package-bases docs
	$(BIN)/mypy --explicit-package-bases --follow-imports silent --enable-error-code explicit-override $(CHANGED)
	$(BIN)/lint-imports
	$(BIN)/python -m docs.check_prose

fmt: $(VENV)/dev.stamp  ## format, and apply automatic lint fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# atheris, which guides the fuzzing by coverage, exists for CPython on Linux only.
$(VENV)/fuzz.stamp: $(VENV)/dev.stamp requirements/fuzz.txt
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/fuzz.txt
	@touch $@

fuzz: $(VENV)/fuzz.stamp  ## fuzz each parser for FUZZ_SECONDS, then run the long fuzz and soak tests
	$(BIN)/python -m tests.fuzz --seconds $(FUZZ_SECONDS) $(TARGETS)
	$(BIN)/python -m pytest -n auto -m slow $(ARGS)

# A virtual environment of its own, so that pip-audit sees no package of ours.
$(VENV)/audit.stamp: $(BIN)/python requirements/audit.txt
	$(PYTHON) -m venv $(VENV)/audit
	$(VENV)/audit/bin/python -m pip install --quiet --require-hashes -r requirements/audit.txt
	@touch $@

# --strict: a library that the vulnerability database does not know, or that cannot be looked up, is a failure.
audit: $(VENV)/audit.stamp  ## look for known vulnerabilities in all locked libraries; needs the network
	@failed=; for file in $(AUDITED); do \
	  echo "== requirements/$$file.txt"; \
	  $(VENV)/audit/bin/pip-audit --strict --progress-spinner off --disable-pip --require-hashes \
	    -r requirements/$$file.txt || failed="$$failed $$file"; \
	done; \
	if [ -n "$$failed" ]; then \
	  echo "VULNERABLE, OR NOT AUDITED:$$failed (see above; without the network nothing is known about them)" >&2; \
	  exit 1; \
	fi

crash: $(VENV)/dev.stamp  ## kill servers and a store 200 times each at random moments, fill their disk, and check what is left
	$(BIN)/python -m pytest -n $(WORKERS) -m slow "tests/recording/test_crash_holdem.py::test_a_server_may_be_killed_a_thousand_times[0]" tests/recording/test_crash_oldmaid.py tests/recording/test_crash_deal_record.py tests/store/test_crash.py $(ARGS)

$(VENV)/bench.stamp: $(VENV)/dev.stamp requirements/bench.txt
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/bench.txt
	@touch $@

bench: $(VENV)/bench.stamp  ## run every benchmark with its yardstick; see bench/results.md
	$(BIN)/python bench/start_up.py
	$(BIN)/python bench/rules.py
	$(BIN)/python bench/solve.py
	$(BIN)/python bench/arena.py
	$(BIN)/python bench/arena_holdem.py
	$(BIN)/python bench/arena_programs.py
	$(BIN)/python bench/servers.py
	$(BIN)/python bench/workers.py
	$(BIN)/python bench/ranks.py
	$(BIN)/python bench/hands.py
	$(BIN)/python bench/oldmaid_rules.py
	$(BIN)/python bench/oldmaid.py
	$(BIN)/python bench/store.py
	$(BIN)/python bench/recovery.py
	$(BIN)/python bench/matrix.py
	$(BIN)/python bench/rest.py
	$(BIN)/python bench/web.py
	$(BIN)/python bench/capacity.py
	$(BIN)/python bench/nodes.py

docs: $(VENV)/dev.stamp  ## update the generated parts, then build the pages with warnings as errors
	$(BIN)/python -m docs.generate
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

COMPILE = $(VENV)/lock/bin/uv pip compile --quiet --universal --python-version 3.12 --generate-hashes --no-header --no-annotate --upgrade

pictures: $(VENV)/browser.stamp  ## take the pictures of the README with Chromium, from a running demo
	$(BIN)/python -m docs.pictures

messages: $(VENV)/dev.stamp  ## add new texts to the catalogues of the other languages, and compile them
	$(BIN)/python -m docs.messages

lock: pyproject.toml  ## recompile the requirement files
	$(PYTHON) -m venv $(VENV)/lock
	$(VENV)/lock/bin/python -m pip install --quiet uv
	$(COMPILE) pyproject.toml --group build -o requirements/run.txt
	$(COMPILE) pyproject.toml --group dev -c requirements/run.txt -o requirements/dev.txt
	$(COMPILE) pyproject.toml --extra bus --extra postgresql --extra tracing --group build -c requirements/dev.txt -o requirements/server.txt
	$(COMPILE) pyproject.toml --group dev --group browser -c requirements/dev.txt -o requirements/browser.txt
	$(COMPILE) pyproject.toml --group dev --group bench -c requirements/dev.txt -o requirements/bench.txt
	$(COMPILE) pyproject.toml --group dev --group interop -c requirements/dev.txt -o requirements/interop.txt
	$(COMPILE) pyproject.toml --group dev --group fuzz -c requirements/dev.txt -o requirements/fuzz.txt
	$(COMPILE) pyproject.toml --group audit -c requirements/run.txt -o requirements/audit.txt

clean:
	rm -rf $(VENV) build dist docs/_build .mypy_cache .pytest_cache .ruff_cache .hypothesis
