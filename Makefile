# Every chore is one word. `make` alone lists them.
.DEFAULT_GOAL := help
SHELL := /bin/bash
BIN := .venv/bin
DOCS ?=
PORT ?=
GPU ?=
AT = $(or $(PORT),8765)
ENV_FILE ?= .env
COMPOSE = docker compose --env-file $(ENV_FILE)
PARTS := shared $(wildcard services/*)
DECLARED := deploy/setup constraints.txt $(PARTS:%=%/pyproject.toml) $(wildcard services/*/apt-packages.txt)

.PHONY: help install run index search serve dev test lint types check stack chaos bench up down logs

help: ## list the targets
	@sed -nE 's/^([a-z]+):.*## (.*)/\1|\2/p' Makefile | awk -F'|' '{printf "  make %-8s %s\n", $$1, $$2}'

.venv/.run-installed: $(DECLARED)
	@deploy/setup run

.venv/.dev-installed: .venv/.run-installed tests/apt-packages.txt
	@deploy/setup dev

install: .venv/.dev-installed ## virtual environment, system packages where apt allows it, development tools

run: .venv/.run-installed ## index DOCS=<folder> and serve it over MCP at http://127.0.0.1:PORT/mcp
	@test -n "$(DOCS)" || { echo "say which folder: make run DOCS=<folder>"; exit 64; }
	@exec $(BIN)/seoga run "$(DOCS)" --port $(AT)

index: .venv/.run-installed ## index DOCS=<folder> and stop
	@test -n "$(DOCS)" || { echo "say which folder: make index DOCS=<folder>"; exit 64; }
	@exec $(BIN)/seoga index "$(DOCS)"

search: .venv/.run-installed ## search all knowledge bases: Q="words"
	@test -n "$(Q)" || { echo 'say what: make search Q="words"'; exit 64; }
	@exec $(BIN)/seoga search -- "$(Q)"

serve: .venv/.run-installed ## serve what is indexed over MCP at http://127.0.0.1:PORT/mcp
	@exec $(BIN)/seoga serve --transport http --port $(AT)

dev: .venv/.run-installed ## the four services as processes on 127.0.0.1, ports PORT to PORT+3
	@PORT=$(AT) exec deploy/dev

test: install ## unit, contract and end-to-end tests that need no container engine
	$(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder -m "not containers and not chaos"

lint: install ## style, import rules, size limits
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/lint-imports && $(BIN)/python .ci/size_limits.py

types: install ## mypy, strict
	$(BIN)/mypy

check: test lint types ## test, lint and types

stack: install ## the end-to-end test in containers (needs a running Docker engine)
	$(BIN)/pytest -m containers tests/e2e

chaos: install ## runs and services killed, stopped, doubled and starved, ROUNDS times; every index is audited
	CHAOS_ROUNDS=$(or $(ROUNDS),200) $(BIN)/pytest -s -m chaos tests/chaos

bench: install ## a benchmark by name: NAME=keyword_10k, run_md, scale or eval
	@test -f "tests/bench/bench_$(NAME).py" || { echo "say which: $$(cd tests/bench && ls bench_*.py | sed 's/bench_\(.*\).py/NAME=\1/' | xargs)"; exit 64; }
	$(BIN)/python tests/bench/bench_$(NAME).py

up: ## the four containers over DOCS=<folder>, on 127.0.0.1:PORT; GPU=1: speech on an NVIDIA GPU
	@DOCS="$(DOCS)" PORT=$(PORT) GPU=$(GPU) ENV_FILE=$(ENV_FILE) deploy/up

down: ## stop the containers; the index stays in its volume
	@$(COMPOSE) down

logs: ## follow the logs of the containers
	@$(COMPOSE) logs -f --tail 100
