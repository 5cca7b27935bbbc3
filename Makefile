# Everything that a fresh machine needs is done by the first command that is typed.
# `make demo` shows the product, `make test` checks it; both work offline once set up.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# Of `make test-spark`: the server alone; the tests and the client run in $(VENV).
SPARK_VENV  := .venv-spark
SPARK_READY := $(SPARK_VENV)/.ready
# Of `make fuzz`.
SECONDS ?= 600
KILLS  ?= 20
PROGRAMS ?= 100000
# Of `make redteam`.
SEEDS  ?= 1000
FIRST  ?= 0
# nested or clusters: all its releases are recoded record by record.
LOCAL  ?=
# usual, or one of the kinds that CONTRIBUTING lists (sweep, rules, formats ...): only such releases.
KIND   ?=
# Of `make coverage`: which tests are run; all if none are named.
TESTS  ?=
# Two cores are enough for two workers; CI machines and laptops differ, so ask.
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)

.PHONY: demo test test-spark lint types layers unit docs test-python test-pythons coverage fuzz redteam bench format clean help

help:
	@echo "make demo     run the demonstration; it says where its report is"
	@echo "make test     all checks: lint, types, layers, tests, docs"
	@echo "make test-spark    the engines' cases on a real Apache Spark (Java 17; first a download of 450 MB)"
	@echo "make lint | types | layers | unit | docs    one of them"
	@echo "make test-python PYTHON=python3.12    the tests with another Python, in an environment of its own"
	@echo "make test-pythons    the same with each supported Python that is found here (long)"
	@echo "make coverage which lines the tests run, by package: TESTS=tests/data (long)"
	@echo "make fuzz     broken inputs, random properties, killed runs: SECONDS=600 KILLS=20 PROGRAMS=100000 SEED= (long)"
	@echo "make redteam  made-up releases, protected and attacked by plain code: SEEDS=1000 FIRST=0 (long)"
	@echo "make bench    speed and memory (long; not part of the tests)"
	@echo "make format   put the code into shape"

demo: $(READY)
	$(BIN)/divulge demo --out build/demo

test: lint types layers unit docs

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

layers: $(READY)
	$(BIN)/lint-imports --no-cache

unit: $(READY)
	CHROMIUM="$$(sh tools/find-chromium.sh)" $(BIN)/pytest -n $(JOBS) --dist worksteal --durations=30

docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir build/site

# Java is looked for before anything large is fetched.
test-spark: $(READY)
	@java="$$(sh tools/find-java.sh)"; \
	if [ -z "$$java" ]; then \
		echo "Apache Spark was not tested: it needs Java 17 or later (sudo apt install openjdk-17-jre-headless)."; \
		[ "$$CI" != true ]; \
	else \
		$(MAKE) --no-print-directory $(SPARK_READY) && \
		$(BIN)/python tools/spark_server.py --home $(SPARK_VENV) --java "$$java" -- \
			$(BIN)/pytest -m spark tests/engines; \
	fi

test-python:
	$(MAKE) unit PYTHON=$(PYTHON) VENV=.venv-$(notdir $(PYTHON))

# One that is not found is said, at the end.
test-pythons:
	set -e; for python in $$(python3 tools/supported_pythons.py --found); do \
		$(MAKE) test-python PYTHON=$$python; done
	@python3 tools/supported_pythons.py

# The table is printed even if a test fails, and then make fails.
coverage: $(READY)
	rm -rf build/coverage && mkdir -p build/coverage
	CHROMIUM="$$(sh tools/find-chromium.sh)" $(BIN)/coverage run -m pytest -n $(JOBS) --dist worksteal $(TESTS); \
		status=$$?; \
		$(BIN)/coverage combine --quiet && \
		$(BIN)/coverage json --quiet -o build/coverage/lines.json && \
		$(BIN)/python tools/coverage_by_package.py build/coverage/lines.json && \
		exit $$status

fuzz: $(READY)
	$(BIN)/python tools/fuzz.py --seconds $(SECONDS) --kills $(KILLS) --programs $(PROGRAMS) $(if $(SEED),--seed $(SEED))

redteam: $(READY)
	$(BIN)/python tests/redteam/campaign.py --seeds $(SEEDS) --first $(FIRST) $(if $(LOCAL),--local $(LOCAL)) $(if $(KIND),--kind $(KIND))

bench: $(READY)
	@for script in $(filter-out benchmarks/measure.py benchmarks/%_report.py,$(wildcard benchmarks/*.py)); do \
		echo "== $$script"; $(BIN)/python $$script || exit 1; done

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf build $(VENV) $(SPARK_VENV)

# The stamp is written last: a set-up that was interrupted is done again.
$(READY): pyproject.toml constraints.txt
	@sh tools/check-python.sh $(PYTHON)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	$(BIN)/python -m pip check --disable-pip-version-check
	$(BIN)/python -m divulge.engines.warm
	@touch $(READY)

# Built on this machine out of what the index has (one archive of 450 MB; a minute or two).
$(SPARK_READY): constraints-spark.txt
	@sh tools/check-python.sh $(PYTHON)
	rm -rf $(SPARK_VENV)
	$(PYTHON) -m venv $(SPARK_VENV)
	$(SPARK_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints-spark.txt setuptools
	$(SPARK_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-build-isolation --requirement constraints-spark.txt
	@touch $(SPARK_READY)
