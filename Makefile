# Everything a newcomer types. Needs Python >= 3.11 (and < 3.14), Java >= 17 and make; nothing else.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

BIN := .venv/bin
STAMP := .venv/.installed
PYTHON ?= $(shell for name in python3.13 python3.12 python3.11 python3; do \
	$$name -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null && echo $$name && break; done)

.PHONY: help venv quickstart up down status test unit lint audit format wheel lowest matrix faults faults-smoke bench fuzz

help: ## Show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 15

venv: $(STAMP) ## Create .venv with everything pinned (quick when nothing changed)

$(STAMP): pyproject.toml config/constraints.txt
	@if [ -z "$(PYTHON)" ]; then \
		echo "No Python from 3.11 to 3.13 was found: install one, or name it with make PYTHON=/path/to/python3." >&2; exit 1; fi
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv .venv || { rm -rf .venv; \
		echo "$(PYTHON) cannot create virtual environments (Debian: apt-get install python3-venv)." >&2; exit 1; }
	@[ -x $(BIN)/uv ] || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip install --compile-bytecode --python $(BIN)/python -c config/constraints.txt -e '.[dev]'
	@$(BIN)/python -m compileall -q connect_core
	@touch $(STAMP)

quickstart: venv ## Start everything, run the examples, show the data and the addresses
	@$(BIN)/connect quickstart

up: venv ## Start the embedded stack, with no connector
	@$(BIN)/connect dev up

down: venv ## End the embedded stack, all of it and nothing else
	@$(BIN)/connect dev down

status: venv ## Show the embedded stack's services
	@$(BIN)/connect dev status

test: venv ## Run all suites, with real servers; list at the end what was not run
	@$(BIN)/python -m tests.suites

unit: venv ## Run the quick tests, which need no server
	@$(BIN)/python -m tests.suites unit

audit: venv ## Look the pinned packages up among known vulnerabilities
	@$(BIN)/python -m tests.audit

lint: venv ## Check style, types and the import direction
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --verbose

format: venv ## Format the code and correct what can be corrected
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

wheel: venv ## Build the wheel in dist
	@$(BIN)/uv build --quiet --wheel && ls dist/*.whl

lowest: venv ## Run the tests without servers on the lowest versions that the wheel takes
	@$(BIN)/python -m tests.packaging.lowest

matrix: venv lowest ## Run the unit tests on every Python that is installed, on the lowest versions, what takes minutes, and all combinations
	@for version in 3.11 3.12 3.13; do \
		if ! python=$$($(BIN)/uv python find --no-python-downloads --no-project --system $$version 2>/dev/null); then \
			echo "Python $$version is not installed: left out"; continue; fi; \
		$(BIN)/uv venv --quiet --allow-existing --python "$$python" .cache/matrix/$$version; \
		$(BIN)/uv pip install --quiet --python .cache/matrix/$$version/bin/python -c config/constraints.txt -e '.[dev]'; \
		echo "Python $$version"; \
		.cache/matrix/$$version/bin/python -m pytest -q -m "not servers and not browser and not faults"; \
	done
	@$(BIN)/python -m pytest -q -m matrix
	@CONNECT_MATRIX=1 $(BIN)/python -m pytest -q tests/integration/test_jdbc_{round_trip,properties,outage}.py \
		tests/integration/test_{backfilled_day,filesystem_matrix,schema_evolution}.py tests/benchmarks/test_beside.py tests/migration/test_live_connect.py \
		tests/connectors/filesystem/test_replacing.py

faults: venv ## Kill and pause processes while data moves; ends with a table of what was lost
	@$(BIN)/python -m tests.faults

faults-smoke: venv ## The rows of the fault matrix that find most, in some minutes
	@$(BIN)/python -m tests.faults --smoke

bench: venv ## Measure each lane beside the same work by Apache Kafka Connect and others; figures in .cache/benchmarks
	@mkdir -p .cache/benchmarks
	@$(BIN)/python -m tests.benchmarks.latency --json .cache/benchmarks/latency.json
	-@$(BIN)/python -m tests.benchmarks.long_history --json .cache/benchmarks/long_history.json
	-@$(BIN)/python -m tests.benchmarks.fairness --json .cache/benchmarks/fairness.json
	-@$(BIN)/python -m tests.benchmarks.many_connectors --json .cache/benchmarks/many_connectors.json
	-@$(BIN)/python -m tests.benchmarks.servers --json .cache/benchmarks/servers.json
	-@$(BIN)/python -m tests.benchmarks.dag_file --json .cache/benchmarks/dag_file.json
	-@$(BIN)/python -m tests.benchmarks.spark_workers --json .cache/benchmarks/spark_workers.json
	-@$(BIN)/python -m tests.benchmarks.memory --json .cache/benchmarks/memory.json
	@$(BIN)/python -m tests.benchmarks.beside --json .cache/benchmarks/figures.json --chart .cache/benchmarks/figures.svg

fuzz: venv ## Compare Connect's own Java classes with ours on 200,000 random cases, both lanes on thousands; a million faulty steps
	@CONNECT_MATRIX=1 $(BIN)/python -m pytest -q -n 2 -m "not matrix and not servers and not browser and not faults" \
		tests/{api,connectors,converters,fuzz,java,java_host,kafka,migration,plan,rest,schema_registry,store,transforms}
	@CONNECT_MATRIX=1 $(BIN)/python -m tests.suites simulator
	@$(BIN)/python -m tests.fuzz
