# Two commands do everything: `make demo` shows Tether at work, `make test` tests it.
# Both make the virtual environment when it is missing or its inputs have changed.

PYTHON ?= python3
VENV := .venv
READY := $(VENV)/ready
RUN := $(VENV)/bin/python
# The rooms whose proofs `make proof` runs; all of them if empty.
ROOM ?=
ROUNDS ?= 50
# Tests wait for disks and databases, so there are more of them at once than processors.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) \* 3 / 2)
# A PostgreSQL that `make bench` measures too.
URL ?=
# Real histories with labels, which are not part of this repository.
CORPORA ?= ../shared/corpora
TIMELINES := $(wildcard $(CORPORA)/orphans/timeline_*)
SYMBOLS := $(wildcard $(CORPORA)/symbols/*.jsonl.gz)
# The repositories that the oracles of symbols are about: owner/name is in owner+name/repo.
REPOS ?=
# Repositories to measure lineage on besides this one, and what their ids of tasks look like:
# --repo DIR --ids TEMPLATE …
LINEAGE ?=
HISTORIES := $(foreach each,$(TIMELINES),--timeline $(each) --labels $(subst timeline_,labels_,$(each)))

.PHONY: demo test lint proof bench docs lock clean help

demo: $(READY)
	@$(VENV)/bin/tether demo

test: $(READY)
	$(RUN) -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

lint: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports --no-cache

# The full counts; the figures go to docs/proofs with the commit that they are true of.
proof: $(READY)
	TETHER_SCALE=1 $(RUN) -m pytest tests -m proof --proof-out=docs/proofs $(if $(ROOM),--proof-room=$(ROOM))

bench: $(READY)
	$(VENV)/bin/tether bench startup --rounds $(ROUNDS) --json > bench/startup.json
	$(VENV)/bin/tether bench claims $(if $(URL),--url '$(URL)') --json > bench/claims.json
	$(VENV)/bin/tether bench tasks --tasks 1000 --tasks 10000 --tasks 100000 --json > bench/tasks.json
	$(VENV)/bin/tether bench tasks --all-open --json > bench/tasks-all-open.json
	$(VENV)/bin/tether bench evidence --json > bench/evidence.json
	$(VENV)/bin/tether bench evidence --scale 10 --rounds 1 --json > bench/evidence-10x.json
	$(if $(HISTORIES),$(VENV)/bin/tether bench orphans $(HISTORIES) --json > bench/orphans.json,@echo "No histories in $(CORPORA)/orphans: bench/orphans.json stays as it is.")
	$(VENV)/bin/tether bench vacuum --json > bench/vacuum.json
	$(VENV)/bin/tether bench vacuum --scale 10 --rounds 1 --json > bench/vacuum-10x.json
	$(VENV)/bin/tether bench coordinator --json > bench/coordinator.json
	$(if $(REPOS),$(foreach each,$(SYMBOLS),$(VENV)/bin/tether bench symbols --oracle $(each) --repos $(REPOS) --brief --json > bench/symbols-$(notdir $(each:.jsonl.gz=)).json &&) true,@echo "No REPOS: bench/symbols-*.json stay as they are.")
	$(VENV)/bin/tether bench lineage --repo . $(LINEAGE) --json > bench/lineage.json
	$(if $(LINEAGE),$(VENV)/bin/tether bench attributions $(LINEAGE) --json > bench/attributions.json,@echo "No LINEAGE: bench/attributions.json stays as it is.")
	$(RUN) scripts/bench_table.py
	$(RUN) scripts/accuracy.py

# Reference pages that are made from the code.
docs: $(READY)
	$(RUN) scripts/reference.py

# Needs the network; run it after changing a dependency.
lock: $(READY)
	$(RUN) -m pip install --quiet uv
	$(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--all-extras --group dev --no-emit-package tether --no-header \
		pyproject.toml -o requirements.lock

# A changed dependency changes the lock too.
$(READY): requirements.lock scripts/venv
	@echo "Setting up $(VENV), once; this takes about a minute."
	@scripts/venv $(PYTHON) $(VENV)

help:
	@echo "make demo    show Tether at work"
	@echo "make test    run the tests; ARGS='-k lock' chooses"
	@echo "make lint    ruff, mypy, layers"
	@echo "make proof   the full counts; ROOM=store chooses"
	@echo "make bench   measure, as ratios"
	@echo "make docs    write the generated pages"
	@echo "make clean   remove the virtual environment, for another PYTHON or a moved clone"

clean:
	rm -rf $(VENV)
