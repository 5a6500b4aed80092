# `make demo` and `make test` need python3 (3.11 or newer), make, and access to the package
# registries. The targets install all other dependencies inside this folder.

PYTHON ?= python3
PORT ?= 0
# One process more than cores, because some tests wait for a server, a process or a time limit.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
CHROMIUM ?= chromium-headless-shell
UV_VERSION := 0.13.8
# An alternative environment, such as VENV=.venv-3.13 with PYTHON=python3.13.
VENV ?= .venv
BIN := $(VENV)/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
# With this variable, every process would compile all imported modules. For the CDK alone, this takes
# seconds.
unexport PYTHONDONTWRITEBYTECODE
# With this variable, tests might import a different copy of the package.
unexport PYTHONPATH
# Node then compiles the CDK once, and not in each process.
export NODE_COMPILE_CACHE := $(CURDIR)/build/node
# Read time zones from the pinned package instead of the machine's folders.
export PYTHONTZPATH :=

.PHONY: help demo test aws seeds e2e browser chromium zsh spamassassin spam fuzz model prove chaos sources state features rollout mutations enforce walk timetravel experiments pacing redrives attention simulate linear history slot window worst bench audit release check docs messages plots screenshots setup format lint types synth deploy lock clean

help: ## List the targets
	@grep -E '^[a-z0-9]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: setup ## Replay a real day on the embedded engine (WEEK=1 or DAYS=… more, KEEP=1 leaves it running, PORT=… sets its port)
	@$(BIN)/python -m demo --port $(PORT) $(if $(KEEP),--keep) $(if $(WEEK),--days 7,$(if $(DAYS),--days $(DAYS)))

PYTEST := $(BIN)/python -m pytest --dist loadfile --no-loadscope-reorder

test: setup ## Run the tests of the domain, the steps, rendering and the code style, on fakes and all cores (TESTS=… names some, WORKERS=… sets the processes)
	@$(PYTEST) -n $(WORKERS) $(or $(TESTS),tests/unit)

aws: setup ## Run the tests of adapters, functions and commands on moto, and of the CloudFormation templates (SEED=1: not the long tests)
	@$(PYTEST) -n $(WORKERS) $(if $(SEED),-m "not long") tests/contract tests/functions tests/infra tests/releases

seeds: setup .bench/.ready .release/.ready ## Run a short seed of each proof, and one round of each part of make bench
	@$(PYTEST) -n auto proofs

e2e: setup .awscli/.ready .clients/.ready zsh ## Test the stacks as deployed to the embedded engine, the runbook, and seeds of chaos, rollout and sources (SEED=1: not the long tests)
	@$(BIN)/python -m pytest -n 4 -m "e2e$(if $(SEED), and not long)" tests/e2e tests/runbook tests/lifetime tests/outage proofs/chaos proofs/rollout proofs/sources proofs/test_bench.py

browser: setup chromium ## Test emails and pages in Chromium on the deployed stacks: keyboard, axe-core (SEED=1: not the long tests)
	@CHROMIUM=$(CHROMIUM) $(BIN)/python -m pytest -vv -m "browser$(if $(SEED), and not long)" tests/browser

spam: setup spamassassin ## Print SpamAssassin's score of each kind of email in three languages; none may be above 0.0
	@$(BIN)/python -m proofs.spam

fuzz: setup ## Put 20,000 valid and invalid messages through the real handler (EXAMPLES=… sets how many)
	@$(BIN)/python -m proofs.fuzz $(if $(EXAMPLES),--examples $(EXAMPLES))

model: setup ## Search the states of delivery under each policy, then those of the due index and of happenings, 20 minutes (DEEP=1: 23)
	@$(BIN)/python -m proofs.model $(if $(DEEP),--deep)
	@$(BIN)/python -m proofs.arming
	@$(BIN)/python -m proofs.heads
	@$(BIN)/python -m proofs.cap
	@$(BIN)/python -m proofs.happening

rollout: setup ## Send 2,000 digests on the deployed stacks while versions of the templates come and go (DIGESTS=…, OVER=… seconds)
	@$(BIN)/python -m proofs.rollout $(if $(DIGESTS),--digests $(DIGESTS)) $(if $(OVER),--over $(OVER))

chaos: setup ## Send 2,000 digests on the deployed stacks and kill workers at random (DIGESTS=… sets how many)
	@$(BIN)/python -m proofs.chaos $(if $(DIGESTS),--digests $(DIGESTS))

sources: setup ## Send digests while a recommendation service is slow, fails, thrashes, is down (READERS=… for each, ONLY=…)
	@$(BIN)/python -m proofs.sources $(if $(READERS),--readers $(READERS)) $(if $(ONLY),--only "$(ONLY)")

state: setup ## Test 2,000 histories of workers that overlap, die and get no answer (EXAMPLES=… sets how many)
	@$(BIN)/python -m proofs.state $(if $(EXAMPLES),--examples $(EXAMPLES))

features: setup ## 2,000 histories of all features together; then without each rule one must break (EXAMPLES=…)
	@$(BIN)/python -m proofs.features $(if $(EXAMPLES),--examples $(EXAMPLES))

mutations: setup ## Remove each rule from the code, one at a time; its test must fail
	@$(BIN)/python -m proofs.mutations

enforce: setup ## Judge every call to AWS by the templates' policies, and every grant by its use (8 minutes)
	@$(BIN)/python -m proofs.enforce

walk: setup ## Check the hops of docs/architecture.md against a traced event (FILES=1 lists the files)
	@$(BIN)/python -m proofs.walk $(if $(FILES),--files)

timetravel: setup ## Test every zone and hour for three years, then 400 days of ticks for 2,000 readers
	@$(BIN)/python -m proofs.timetravel

prove: setup ## Kill every worker at every call and check that no event is lost or sent twice (EVERY=n: every n-th call, WITHOUT=rule)
	@$(BIN)/python -m proofs.prove $(if $(EVERY),--every $(EVERY)) $(if $(WITHOUT),--without $(WITHOUT))

pacing: setup ## Simulate a slot of 16,667 digests with immediate email, at 14 emails a second and others
	@$(BIN)/python -m proofs.pacing

redrives: setup ## Redrive 5,000 runs of ten outages on the support page, while its function is killed
	@$(BIN)/python -m proofs.redrives

attention: setup ## Send a week of a flooded reader with each feature for fewer emails off and on, and draw the picture of docs (DAYS=…: no picture)
	@$(BIN)/python -m proofs.attention $(if $(DAYS),--days $(DAYS))

simulate: setup ## Play the published case, then forecast a day of 10 million readers with SES at 500 a second
	@$(BIN)/python -m gazette_cli.simulate.published
	@$(BIN)/gazette simulate --readers 10000000 --events 3 --immediate 0.02 --quota 500 \
	  --set emails_per_second=450 --begin 2026-11-24 --html build/simulate.html

experiments: setup ## Check the verdicts on thousands of simulated experiments (NUMBER=… sets how many)
	@$(BIN)/python -m proofs.experiments $(if $(NUMBER),--number $(NUMBER))

linear: setup ## Measure fan-out on fakes: its calls follow the events, not the readers; memory and time
	@$(BIN)/python -m benchmarks.linear

history: setup ## Hold each use case against 10 to 10,000 past runs, threads, follows … of one reader (ONLY="choose, threads", SIZES="10 100")
	@$(BIN)/python -m proofs.history $(if $(ONLY),--only "$(ONLY)") $(if $(SIZES),--sizes $(SIZES))

slot: setup ## Measure 5,000 readers due in one slot of the deployed stacks (READERS=… sets how many, RATE=14 limits the rate)
	@$(BIN)/python -m benchmarks.slot $(if $(READERS),--readers $(READERS)) $(if $(RATE),--rate $(RATE))

window: setup ## Print what one email of 200,000 events costs: CPU and memory (EVENTS=…)
	@$(BIN)/python -m benchmarks.window $(if $(EVENTS),--events $(EVENTS))

worst: setup ## Print the CPU and memory cost of the worst messages and forms
	@$(BIN)/python -m benchmarks.worst

bench: setup .bench/.ready ## Measure every goal of speed and cost with its peers (ROUNDS=…, ONLY=name, WITHOUT=name)
	@$(BIN)/python -m benchmarks.bench $(if $(ROUNDS),--rounds $(ROUNDS)) $(foreach name,$(ONLY),--only $(name)) $(foreach name,$(WITHOUT),--without $(name))

audit: setup .audit/.ready ## Run cdk-nag, cfn-lint and checkov over every shape of a stage
	@$(BIN)/python -m proofs.audit

release: setup .release/.ready ## Build the wheels, the source distribution, the SBOM and the checksums of the version, twice (RECORD=1: for the tests)
	@$(BIN)/python -m release $(if $(RECORD),--record)

check: setup lint types ## Check format, lint and types

lint: setup ## Check format and lint
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .

types: setup ## Check types
	@$(BIN)/mypy

format: setup ## Format the code and fix what ruff can fix
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: setup ## Generate docs/events, docs/api, docs/content, docs/lifecycle.md, docs/configuration.md, docs/cli, the examples of docs/receipts.md, the policies of docs/rights-to-deploy.md and the sums of docs/tables.md
	@$(BIN)/gazette event schemas docs/events >/dev/null
	@$(BIN)/python -m tests.lifecycle_page
	@$(BIN)/python -m tests.configuration_page
	@$(BIN)/python -m tests.content_page
	@$(BIN)/python -m tests.receipts_page
	@$(BIN)/python -m tests.rights_page
	@$(BIN)/python -m tests.api_document
	@$(BIN)/python -m gazette_cli.reference.page
	@$(BIN)/python -m gazette_cli.cost.page
	@$(BIN)/python -m proofs.history.page

messages: setup ## Update the translation catalogues from the templates (FOLDER=… for your own)
	@$(BIN)/python -m gazette_cdk.assets.templates.messages $(FOLDER)

plots: setup ## Draw the plots of the docs, and print their figures; 36 hours of a stage pass (AGAIN=1: not again)
	@$(BIN)/python -m benchmarks.stagger
	@$(BIN)/python -m demo.picture $(if $(AGAIN),--again)

screenshots: setup chromium ## Take the screenshots of emails and pages in docs/images
	@CHROMIUM=$(CHROMIUM) $(BIN)/python -m tests.browser.screenshots

synth: setup ## Synthesise the stage STAGE (default prod) into build/cdk.out
	@$(BIN)/node node_modules/.bin/cdk synth --quiet $(if $(STAGE),-c stage=$(STAGE))

deploy: setup ## Deploy the stage STAGE (default prod) to your AWS account (REVERT_DRIFT=1: put back what was changed by hand)
	@$(BIN)/node node_modules/.bin/cdk deploy --all $(if $(STAGE),-c stage=$(STAGE)) $(if $(REVERT_DRIFT),--revert-drift)

lock: setup ## Update and pin all dependencies
	@for name in layers/dependencies/requirements requirements/dev requirements/engine \
	    requirements/awscli requirements/bench requirements/audit requirements/release; do \
	  $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --upgrade \
	    --generate-hashes --no-emit-index-url --no-header --no-annotate \
	    $$name.in --output-file $$name.txt || exit 1; \
	done
	@$(BIN)/npm install --package-lock-only
	@for folder in requirements/bench examples/typescript; do \
	  $(BIN)/npm install --package-lock-only --omit-lockfile-registry-resolved --prefix $$folder || exit 1; \
	done

setup: $(VENV)/.ready .engine/.ready node_modules/.ready ## Install what the targets need

$(VENV)/bin/uv:
	@command -v $(PYTHON) >/dev/null || \
	  { echo "make: $(PYTHON) is missing. Install Python 3.11 or newer, or say PYTHON=…" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "make: $(PYTHON) is too old. Say PYTHON=… for Python 3.11 or newer." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "make: $(PYTHON) cannot make environments. Install python3-venv." >&2; exit 1; }
	@echo "setting up $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

$(VENV)/.ready: requirements/dev.txt pyproject.toml | $(VENV)/bin/uv
	@$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements/dev.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

.engine/.ready: requirements/engine.txt | $(VENV)/bin/uv
	@echo "setting up .engine"
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python .engine
	@$(BIN)/uv pip sync --quiet --python .engine/bin/python --require-hashes requirements/engine.txt
	@touch $@

.awscli/.ready: requirements/awscli.txt | $(VENV)/.ready
	@echo "setting up .awscli"
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python .awscli
	@$(BIN)/uv pip sync --quiet --python .awscli/bin/python --require-hashes requirements/awscli.txt
	@touch $@

node_modules/.ready: package-lock.json | $(VENV)/.ready
	@echo "setting up node_modules"
	@$(BIN)/npm ci --loglevel=error --ignore-scripts >/dev/null
	@touch $@

.audit/.ready: requirements/audit.txt | $(VENV)/.ready
	@echo "setting up .audit"
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python .audit
	@$(BIN)/uv pip sync --quiet --python .audit/bin/python --require-hashes requirements/audit.txt
	@touch $@

.release/.ready: requirements/release.txt | $(VENV)/.ready
	@echo "setting up .release"
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python .release
	@$(BIN)/uv pip sync --quiet --python .release/bin/python --require-hashes requirements/release.txt
	@touch $@

.bench/.ready: requirements/bench.txt requirements/bench/package-lock.json | $(VENV)/.ready
	@echo "setting up .bench"
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python .bench
	@$(BIN)/uv pip sync --quiet --python .bench/bin/python --require-hashes requirements/bench.txt
	@cp requirements/bench/package.json requirements/bench/package-lock.json .npmrc .bench
	@$(BIN)/npm ci --prefix .bench --loglevel=error --ignore-scripts >/dev/null
	@touch $@

.clients/.ready: examples/typescript/package.json examples/typescript/package-lock.json | $(VENV)/.ready
	@echo "setting up .clients"
	@mkdir -p .clients
	@cp examples/typescript/package.json examples/typescript/package-lock.json .npmrc .clients
	@$(BIN)/npm ci --prefix .clients --loglevel=error --ignore-scripts >/dev/null
	@touch $@

chromium:
	@$(call from_apt,$(CHROMIUM),$(filter chromium-headless-shell,$(CHROMIUM)),chromium-headless-shell fonts-liberation)
	@command -v $(CHROMIUM) >/dev/null || \
	  { echo "make: $(CHROMIUM) is missing. Install the package chromium-headless-shell of Debian, or" \
	    "say CHROMIUM=chromium, or the path of another Chromium." >&2; exit 1; }

zsh:
	@$(call from_apt,zsh,zsh,zsh)
	@command -v zsh >/dev/null || { echo "make: zsh is missing. Install it." >&2; exit 1; }

spamassassin:
	@$(call from_apt,spamassassin,spamassassin,spamassassin)
	@command -v spamassassin >/dev/null || \
	  { echo "make: spamassassin is missing. Install Debian's package spamassassin." >&2; exit 1; }

# $(call from_apt,COMMAND,NAME,PACKAGES): install PACKAGES if COMMAND is missing, NAME is not empty and
# the machine has apt.
define from_apt
command -v $(1) >/dev/null || { \
  root=; [ "$$(id -u)" = 0 ] || root=sudo; \
  if [ -n "$(2)" ] && command -v apt-get >/dev/null \
    && { [ -z "$$root" ] || command -v sudo >/dev/null; }; then \
    echo "setting up $(2)" && $$root apt-get update -qq && \
    $$root env DEBIAN_FRONTEND=noninteractive \
      apt-get install -qq --no-install-recommends $(3) >/dev/null; \
  fi; }
endef

clean: ## Remove everything that was built or installed
	rm -rf .venv .venv-* .engine .awscli .audit .bench .clients .release node_modules build
