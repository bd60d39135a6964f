# Run `make help` for the list of targets.

GO       ?= go
FUZZTIME ?= 10m
BENCH    ?=

.DEFAULT_GOAL := help

.PHONY: help
help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## compile every package of every module
	$(GO) build ./...
	$(GO) -C bench build ./...

.PHONY: test
test: ## run every test of the engine, architecture and lint checks included
	$(GO) test ./...

.PHONY: test-bench
test-bench: ## run the benchmark module's tests: fixtures, peer, same results
	$(GO) -C bench test ./...

.PHONY: lint
lint: ## run only the architecture and lint checks
	$(GO) test -count=1 ./internal/repocheck

.PHONY: fmt
fmt: ## format every Go file
	gofmt -w .

.PHONY: fuzz-short
fuzz-short: ## fuzz each target for ten seconds
	GO="$(GO)" FUZZTIME=10s tools/fuzz

.PHONY: fuzz
fuzz: ## fuzz each target for FUZZTIME (10m)
	GO="$(GO)" FUZZTIME=$(FUZZTIME) tools/fuzz

.PHONY: bench-engine
bench-engine: ## compare the engine with structured-merge-diff and the floor; BENCH='-run Pod' passes flags
	$(GO) -C bench run ./cmd/engine $(BENCH)

.PHONY: bench-floor
bench-floor: ## compare the JSON libraries that could be the floor
	$(GO) -C bench run ./cmd/floor $(BENCH)

.PHONY: bench-store
bench-store: ## compare the store and its cache with etcd on the same disk; BENCH='-run writers/64' passes flags
	$(GO) -C bench run ./cmd/store -large $(BENCH)

ORACLE ?=

.PHONY: oracle-rules
oracle-rules: ## compare internal/rules with kube-apiserver's own code; ORACLE='-seed 7 -count-each 5000 -write' passes flags
	$(GO) -C internal/rules/oracle test -count=1 . $(ORACLE)

KILLS ?= 1000

.PHONY: kill
kill: ## kill a process that writes KILLS (1000) times, and look for what is lost
	$(GO) test ./internal/store/local -run 'TestKill' -kills $(KILLS) -timeout 24h -v

.PHONY: ci
ci: ## everything that must pass before a change lands
	.ci/run

HISTORIES ?= 200000

.PHONY: soak
soak: ## compare HISTORIES (200000) random histories with structured-merge-diff, twelve requests each
	$(GO) test ./apply -run 'TestDifferential' -histories $(HISTORIES) -timeout 24h -v
