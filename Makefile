# Every target sets itself up; `make` alone lists them.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo "sudo -n")
APT := { command -v apt-get && $(SUDO) true; } >/dev/null 2>&1
CLUSTERS := /etc/postgresql-common/createcluster.d
# $(call install,packages,what is so without them)
install = if $(APT) && $(SUDO) apt-get update -qq && \
	    $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(1) >/dev/null; then :; \
	  else echo "No way to install $(1) here: until you do, $(2)."; fi

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

system: ## install the tests' browser, bubblewrap and PostgreSQL, where apt-get and root or sudo are at hand
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || [ -d "/Applications/Google Chrome.app" ] || \
	  $(call install,chromium fonts-dejavu,the browser tests are skipped)
	@command -v bwrap >/dev/null || [ "$$(uname)" != Linux ] || \
	  $(call install,bubblewrap,student code is graded unsealed)
	@# its programs only: no server is set up on this machine, the tests start and stop one of their own
	@command -v initdb >/dev/null || [ -n "$$(ls -d /usr/lib/postgresql/*/bin/initdb 2>/dev/null)" ] || \
	  { ! $(APT) || { $(SUDO) mkdir -p $(CLUSTERS) && echo "create_main_cluster = false" | $(SUDO) tee $(CLUSTERS)/none.conf >/dev/null; }; \
	    $(call install,postgresql,a grade book in PostgreSQL is not tested); }

demo: setup ## build a course with a class of sample students in build/demo-course and grade it end to end
	$(BIN)/autograder demo build/demo-course

lab: setup ## open the released parts as a student sees them, and Formgrader as a teacher does
	@[ -f build/demo-course/nbgrader_config.py ] || $(BIN)/autograder demo build/demo-course
	cd build/demo-course && ../../$(BIN)/jupyter lab --ServerApp.root_dir=.

test: setup system lint ## run every test, and every notebook under strict nbval
	$(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder --ignore=tests/browser
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

bench: setup system ## measure on a quiet machine, half an hour: grading against stock nbgrader, key press to new picture
	$(BIN)/python tests/bench/grading.py
	$(BIN)/python tests/bench/sliders.py
