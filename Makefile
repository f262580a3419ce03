# Two commands do everything: `make demo` and `make test`. Each sets up what it needs in this folder.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name 'Cargo.toml') Cargo.toml Cargo.lock
PYTHON_SOURCES := python tests tools bench demo examples docs/conf.py docs/extensions docs/pictures
PLUGINS := python/coquina/plugins

BENCHES := arrays.codecs arrays.small arrays.bloscpack_grid images.images images.fields arrays.slices arrays.unseen arrays.chunk_size hdf5.hdf5 hdf5.many_nodes compute.compute tables.table indexes.index tuner.tuner tables.trillion
run_benches = failed=; for name in $(1); do echo "python -m bench.$$name $(2)"; \
    $(BIN)/python -m bench.$$name $(2) || failed="$$failed $$name"; done; \
    test -z "$$failed" || { echo "failed:$$failed"; exit 1; }

SPHINX = $(BIN)/python -m sphinx -q -W --keep-going

.PHONY: view view-test view-packages demo docs linkcheck test test-long bench bench-long bench-quick lint rust-tests python-tests plugins tools map clean

# The demo needs neither the tests' packages nor link-time optimisation: it has a build of its own until `make test`
# or another target builds everything.
demo: $(if $(wildcard $(VENV)/.built),$(VENV)/.built,$(VENV)/.demo)
	$(BIN)/python demo/pack_demo.py
	$(BIN)/python demo/array_demo.py
	$(BIN)/python demo/hdf5_demo.py
	$(BIN)/python demo/compute_demo.py
	$(BIN)/python demo/table_demo.py

# The guide and the reference, as a site; and whether its links into the world lead anywhere, which needs a network.
docs: $(VENV)/.built
	$(SPHINX) -b html docs docs/_build/html
	@echo "make docs: docs/_build/html/index.html"

linkcheck: $(VENV)/.built
	$(SPHINX) -b linkcheck docs docs/_build/linkcheck

test: lint rust-tests python-tests
	@echo "make test: all passed"

# Fifty million mutated chunks, every test that takes minutes, and random cases that no run had before: `make test`
# draws the same ones each time. `make test-long SEED=...` repeats a run.
test-long: SEED := $(shell od -An -N4 -tu4 /dev/urandom | tr -d ' ')
test-long: export PROPTEST_RNG_SEED = $(SEED)
test-long: export COQUINA_FUZZ_SEED = $(SEED)
test-long: lint rust-tests $(VENV)/.built
	@echo "make test-long: SEED=$(SEED)"
	COQUINA_FUZZ_MUTATIONS=50000000 cargo test -q --release -p coquina-fuzz
	$(PYTEST) -m "long or not long" --hypothesis-profile=fresh --hypothesis-seed=$(SEED) \
	    -o faulthandler_timeout=4000

# Every figure, the summary, the gallery: one to two hours on two cores. A bench that fails does not stop the others.
bench: $(VENV)/.built
	$(call run_benches,$(BENCHES),)
	$(BIN)/python -m bench.common.gallery

# The larger grids, hours, and some 30 GB of disk for indexes of a hundred million rows.
bench-long: $(VENV)/.built
	$(call run_benches,$(filter-out %.small %.images %.trillion,$(BENCHES)),--full)

bench-quick: $(VENV)/.built
	$(call run_benches,$(BENCHES),--quick)

# The tree of the code, with what each file says it is. `make map IN="bench tests"` shows other folders.
map:
	@$(PYTHON) tools/code_map.py $(IN)

# The page of `coquina view`, for which this needs npm (Node 20): the bundle, and its package in the environment. Nothing
# else here needs npm; tests that look at the page are skipped without it, or without Chromium.
view: $(VENV)/.dependencies view-packages
	cd view && npm run -s build
	rm -rf view/build
	$(BIN)/python -m pip install -q --no-deps --no-build-isolation ./view

view-test: view-packages
	cd view && npm run -s check && npm run -s test

view-packages: view/node_modules/.fetched

view/node_modules/.fetched: view/package.json view/package-lock.json
	cd view && npm install --no-save --no-audit --no-fund
	touch $@

lint: $(VENV)/.built
	cargo fmt --all --check
	cargo clippy -q --workspace --all-targets -- -D warnings
	$(BIN)/ruff check $(PYTHON_SOURCES)
	$(BIN)/ruff format --check $(PYTHON_SOURCES)
	$(BIN)/pyright --project pyproject.toml --pythonpath $(BIN)/python

rust-tests: tools
	cargo test -q

# As many processes as CPUs: a test takes one core, mostly, and waits for others as seldom as can be.
PYTEST = $(BIN)/python -m pytest -n auto --dist worksteal

python-tests: $(VENV)/.built
	$(PYTEST)

# Says what is missing, before a long build fails for want of it.
tools:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	    { echo "coquina needs Python 3.11 or newer as '$(PYTHON)' (set PYTHON=...)"; exit 1; }
	@command -v cargo >/dev/null || { echo "coquina needs Rust 1.90 or newer: https://rustup.rs"; exit 1; }
	@command -v cc >/dev/null || { echo "coquina needs a C compiler (cc) for liblz4, libzstd and libdeflate"; exit 1; }

# Packages that extras of pyproject.toml name, without those of coquina itself.
packages_of = $(BIN)/python -c 'import sys, tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
    wanted = p["dependencies"] + [w for extra in sys.argv[1:] for w in p["optional-dependencies"][extra]]; \
    print(*(w for w in wanted if not w.startswith("coquina")), sep="\n")' $(1)

$(VENV)/.maturin: | tools
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check 'maturin>=1.9,<2'
	touch $@

# Builds the extension and installs the package. What maturin and pip print is shown if they fail.
develop = { $(BIN)/maturin develop $(1) > $(VENV)/maturin.log 2>&1 || { cat $(VENV)/maturin.log; false; }; }

# The packages are fetched while the crates are compiled.
$(VENV)/.demo: pyproject.toml $(RUST_SOURCES) | $(VENV)/.maturin
	@echo "Compiling coquina, and fetching the packages that the demo compares it with: about three minutes."
	@$(call packages_of,demo) > $(VENV)/demo-packages.txt
	@$(BIN)/python -m pip install -q --disable-pip-version-check -r $(VENV)/demo-packages.txt & packages=$$!; \
	. $(BIN)/activate && $(call develop,--profile demo --skip-install) && wait $$packages && \
	$(call develop,--profile demo)
	@touch $@

$(VENV)/.dependencies: pyproject.toml | $(VENV)/.maturin
	$(BIN)/python -m pip install -q --upgrade pip
	$(call packages_of,arrow browse serve demo bench docs dev) > $(VENV)/packages.txt
	$(BIN)/python -m pip install -q -r $(VENV)/packages.txt
	touch $@

$(VENV)/.built: $(VENV)/.dependencies $(RUST_SOURCES) $(wildcard images/*.* images/coquina_images/*.py)
	. $(BIN)/activate && $(call develop,--release)
	$(MAKE) plugins
	$(BIN)/python -m pip install -q --no-deps --no-build-isolation ./images
	touch $@

# The package's HDF5 plugins: a library with all filters, which is the plugin of Blosc2, and one that points to it
# for each further filter id.
plugins: $(VENV)/.maturin
	$(BIN)/python tools/build_backend.py

clean:
	rm -rf $(VENV) target demo-out tests-out view/node_modules view/coquina_view/static view/build docs/_build docs/api $(PLUGINS)/lib*
