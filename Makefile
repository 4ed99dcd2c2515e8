# Every target sets itself up; `make` alone lists them.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo "sudo -n")

.DEFAULT_GOAL := help
.PHONY: help setup system demo lab test lint notebooks browser bench

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## make .venv with all that the course, the grader and the tests need

$(READY): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12"; exit 1; }
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

system: ## install the browser for the tests, where apt-get and root or sudo are at hand
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || [ -d "/Applications/Google Chrome.app" ] || \
	  if command -v apt-get >/dev/null && $(SUDO) true 2>/dev/null; then \
	    $(SUDO) apt-get update -qq && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium fonts-dejavu >/dev/null; \
	  else echo "No chromium here and no way to install it: install Chromium or Chrome, or the browser tests are skipped."; fi

demo: setup ## build a course with a class of sample students in build/demo-course and grade it end to end
	$(BIN)/autograder demo build/demo-course

lab: setup ## open the released parts as a student sees them, and Formgrader as a teacher does
	@[ -f build/demo-course/nbgrader_config.py ] || $(BIN)/autograder demo build/demo-course
	cd build/demo-course && ../../$(BIN)/jupyter lab --ServerApp.root_dir=.

test: setup system lint ## run every test, and every notebook under strict nbval
	$(BIN)/python -m pytest -q -n 2 --dist loadfile --ignore=tests/browser
	@# alone, since a browser on a busy machine loses key presses; what failed is tried once more and must then pass
	$(BIN)/python -m pytest -q tests/browser || $(BIN)/python -m pytest -q --last-failed tests/browser
	$(BIN)/python -m pytest -p no:cacheprovider --nbval --nbval-cell-timeout=60 notebooks

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

notebooks: setup ## for authors: write the kit's examples and execute all notebooks as git keeps them
	$(BIN)/python -m autograder.authoring

browser: setup system ## run the tests in a real browser only
	$(BIN)/python -m pytest tests/browser

bench: setup system ## measure, as ratios: grading against stock nbgrader, key press to new picture
	$(BIN)/python tests/bench/grading.py
	$(BIN)/python tests/bench/sliders.py
