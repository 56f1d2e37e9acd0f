# Everything runs in a virtual environment of its own, .venv; `make demo` is the place to start.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= 2

# Several things at once: where one waits, for a download, a browser or its last test, another computes. What each says
# comes together, but where it takes long: progress of the demo, benchmarks and soaks is seen as it comes.
MAKEFLAGS += --jobs=3 --no-print-directory
ifeq ($(filter demo bench soak coverage sanitize,$(MAKECMDGOALS)),)
MAKEFLAGS += --output-sync=line
endif

# uv installs in a third of pip's processor time. Where it is not to be had, or pip has settings that uv does not read,
# such as an index of one's own, pip installs instead and says what is wrong.
WANTED := --quiet --constraint constraints.txt
INSTALL := install() { $(BIN)/uv pip install $(WANTED) --python $(BIN)/python "$$@" 2> /dev/null \
  || $(BIN)/pip install --no-compile $(WANTED) "$$@"; }; install

.PHONY: setup system-packages demo test test-library test-studies verify sanitize coverage soak lint bench docs clean

setup: $(STAMP)

# Half of what tests need is large and only compared with: it is installed while sources are checked. The engine is
# compiled with the installation, and by itself when its C sources have changed.
$(VENV)/.checkable: $(BIN)/pip pyproject.toml constraints.txt hatch_build.py studies/pyproject.toml
	@echo "Installing robodyn and its tests into $(VENV): about 1.3 GB, half a minute ..."
	@$(INSTALL) --editable '.[test,lint]' --editable ./studies
	@touch $@ $(VENV)/.demo

$(STAMP): $(VENV)/.checkable
	@echo "Installing what tests compare with, Pinocchio, its robots and a cross compiler: another 1.3 GB ..."
	@$(INSTALL) 'robodyn[referees]'
	@touch $@

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "robodyn needs Python 3.11 or newer: make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV) \
	  || { echo "No virtual environment could be made. On Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@$@ install $(WANTED) uv 2> /dev/null || true

# Programs of the system that some tests call: LibreOffice recalculates exported workbooks, Chromium opens reports.
SYSTEM_PACKAGES := libreoffice-calc-nogui chromium chromium-driver
SYSTEM_PROGRAMS := soffice chromium chromedriver
APT := DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 -qq

system-packages:
	@missing=; for program in $(SYSTEM_PROGRAMS); do command -v $$program > /dev/null || missing=1; done; \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	  echo "Installing LibreOffice and Chromium, about a minute ..."; \
	  $(APT) update; $(APT) install -y --no-install-recommends $(SYSTEM_PACKAGES) > /dev/null || true; fi
	@for program in $(SYSTEM_PROGRAMS); do command -v $$program > /dev/null || { echo; \
	  echo "*** $$program is missing: the tests that need it will be SKIPPED."; \
	  echo "*** On Debian and Ubuntu: apt-get install $(SYSTEM_PACKAGES)"; echo; }; done

# The demo installs what a user needs: no tests, no rivals.
$(VENV)/.demo: $(BIN)/pip pyproject.toml constraints.txt hatch_build.py studies/pyproject.toml
	@echo "Installing robodyn into $(VENV), about a minute ..."
	@$(INSTALL) --editable '.[plot,studio]' --editable ./studies
	@touch $@

OUT ?= out
DEMO := rx90-weld --with budget,loops --signal 'deviation.*' --signal 'joint[23].velocity' --note examples/weld_demo.md

demo: $(VENV)/.demo
	@mkdir -p $(OUT)
	@$(BIN)/robodyn report $(DEMO) --out $(OUT)/rx90-weld.html
	@echo "Open this page: replay of the weld, path error by cause, margins of all loops."
	@echo "Then try: $(BIN)/robodyn studio rx90-weld"

# Compiled modules are kept, whatever the shell says: tests start hundreds of processes. Native code is made quickly: the
# same bits, and most machines move for a second only.
TEST_PYTHON := PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 ROBODYN_OPTIMISATION=$${ROBODYN_OPTIMISATION-0} $(BIN)/python
PYTEST := $(TEST_PYTHON) -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

test: lint test-library

# Modules that tests import, and tests with their asserts, are compiled once and not by each of the workers; meanwhile
# referees are installed.
$(VENV)/.compiled: $(VENV)/.checkable
	@$(TEST_PYTHON) -m pytest --collect-only --quiet > /dev/null || true
	@touch $@

# One worker more than for computing alone: tests of the library wait for browsers, compilers and servers.
test-library: setup system-packages $(VENV)/.compiled
	@echo "Testing the library ..."
	@$(PYTEST) -n $$(($(WORKERS) + 1))

# Every figure of every published study, and the machines they are of. They are compared with publications and need none
# of the referees: they begin while those are installed.
test-studies: $(VENV)/.checkable
	@echo "Testing the studies ..."
	@$(PYTEST) --config-file studies/pyproject.toml --rootdir studies studies/tests

# What was compared with what others made: closed forms, publications, other programs, logs. Written as a page of the docs.
PROOFS := tests/references tests/convergence/test_stiff.py tests/systems/test_fmu_export.py
PAGE ?= docs/verification.md

verify: setup system-packages
	@$(PYTEST) --verification $(PAGE) $(PROOFS)

# Engines that check themselves: every access to memory and every operation, then every access from several threads.
# The runtimes come before Python, which knows nothing of them; what they say is not captured. What builds engines has
# none to check.
ENGINE := src/robodyn/computation/engine/building.py
ENGINE_TESTS ?= tests/unit/engine tests/unit/simulation/test_lanes.py tests/convergence
THREAD_TESTS ?= tests/unit/engine/test_threads.py
CHECKED := --capture=sys --ignore tests/unit/engine/test_building.py --ignore tests/unit/engine/test_library.py
runtime = $$(cc -print-file-name=lib$(1).so)

sanitize: setup
	$(BIN)/python $(ENGINE) build/engine-address.so address undefined
	ROBODYN_ENGINE="$(CURDIR)/build/engine-address.so" LD_PRELOAD="$(call runtime,asan) $(call runtime,ubsan)" \
	  ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc $(PYTEST) $(CHECKED) $(ENGINE_TESTS)
	$(BIN)/python $(ENGINE) build/engine-thread.so thread
	ROBODYN_ENGINE="$(CURDIR)/build/engine-thread.so" LD_PRELOAD="$(call runtime,tsan)" \
	  $(BIN)/python -m pytest $(CHECKED) $(THREAD_TESTS)

# Branches of the engine that tests take, each of its allocations failed once, and small faults that tests must see; by
# default all of it, in some hours.
MUTANTS ?= 500
COVERED ?= tests/unit/engine tests/unit/simulation tests/unit/cosimulation tests/unit/perturbation tests/unit/gym tests/convergence tests/systems tests/identities

coverage: setup
	$(BIN)/python tests/soak/engine.py coverage $(COVERED) --workers $(WORKERS)
	$(BIN)/python tests/soak/engine_mutants.py --count $(MUTANTS) --seed $(SEED) $(COVERED)
	LD_PRELOAD="$(call runtime,asan) $(call runtime,ubsan)" ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
	  $(BIN)/python tests/soak/engine_mutants.py --count $(MUTANTS) --seed $(SEED) --again --checked $(COVERED)

# Spoiled files and random machines by the thousands, from SEED on, TWINS of them described otherwise, BARS of them
# certified, and published robots or those of ROBOTS; what fails is reported, files are kept in build/soak.
FILES ?= 20000
MACHINES ?= 5000
TWINS ?= 500
BARS ?= 1000
ROBOTS ?=
SEED ?= 1

soak: setup
	PYTHONPATH="tests:$$PYTHONPATH" $(BIN)/python tests/soak/files.py --count $(FILES) --seed $(SEED)
	PYTHONPATH="tests:$$PYTHONPATH" $(BIN)/python tests/soak/machines.py --count $(MACHINES) --first $(SEED)
	PYTHONPATH="tests:$$PYTHONPATH" $(BIN)/python tests/soak/metamorphic.py --count $(TWINS) --first $(SEED)
	PYTHONPATH="tests:$$PYTHONPATH" $(BIN)/python tests/soak/error_bars.py --count $(BARS) --first $(SEED)
	PYTHONPATH="tests:$$PYTHONPATH" $(BIN)/python tests/soak/robots.py $(ROBOTS)

lint: $(VENV)/.checkable
	@echo "Checking the sources ..."
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# `make bench OPTIONS='--page docs/benchmarks.md'` writes what it finds into the page.
OPTIONS ?=

bench: setup
	$(INSTALL) --editable '.[bench]'
	$(BIN)/python -m benchmarks $(OPTIONS)

# Pages of the studies are written once; `make clean` removes them. The site needs nothing of what tests need.
STUDY_PAGES := $(patsubst %,docs/studies/%.md,scara epaas constraints rx90 cosimulation)

$(VENV)/.docs: $(BIN)/pip pyproject.toml constraints.txt hatch_build.py studies/pyproject.toml
	@echo "Installing what the site needs into $(VENV) ..."
	@$(INSTALL) --editable '.[docs]' --editable ./studies
	@touch $@

docs: $(VENV)/.docs $(STUDY_PAGES)
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs site
	@echo "The site is site/index.html"

docs/studies/%.md: | $(VENV)/.docs
	$(BIN)/robodyn reproduce $* --page docs/studies > /dev/null

clean:
	rm -rf $(VENV) src/robodyn/computation/engine/_engine* out site docs/studies docs/api docs/gallery docs/jupyter_execute dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
