# Run `make help` for the list of targets.

GO       ?= go
FUZZTIME ?= 10m
BENCH    ?=

.DEFAULT_GOAL := help

.PHONY: help
help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Tests, and what must be right before a change lands.

.PHONY: build
build: ## compile every package of every module
	$(GO) build ./...
	$(GO) -C bench build ./...
	$(GO) -C peers build ./...
	$(GO) -C clients build ./...

.PHONY: fmt
fmt: ## format every Go file
	gofmt -w .

.PHONY: lint
lint: ## run only the architecture and lint checks
	$(GO) test -count=1 ./internal/repocheck

.PHONY: test
test: ## run every test of the engine, architecture and lint checks included
	$(GO) test ./...

.PHONY: ci
ci: ## everything that must pass before a change lands
	.ci/run

# The modules beside the engine: real clients, and others' suites.

.PHONY: test-clients
test-clients: ## run real clients (kubectl, client-go, controller-runtime, Helm, Flux, curl) against the server
	$(GO) -C clients test ./...

.PHONY: test-clients-peer
test-clients-peer: ## run the same clients against the real kube-apiserver, which proves what they expect
	CADASTRE_TARGET=kube-apiserver $(GO) -C clients test -count=1 ./...

.PHONY: test-kubectls
test-kubectls: ## have every kubectl that is built go from client-side to server-side apply and back; CADASTRE_TARGET=kube-apiserver asks the real server
	$(GO) -C clients test -count=1 -v ./kubectls

ASSETS  ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/cadastre/envtest
ENVTEST ?= sigs.k8s.io/controller-runtime/pkg/client
# What is not served: these subresources.
ENVTESTSKIP ?= ServiceAccount tokens|Pod evictions|Pod bindings|approve CSRs

.PHONY: test-envtest
test-envtest: ## run others' test suites that use envtest against the server, but for what is not served; ENVTEST=sigs.k8s.io/controller-runtime/pkg/cache runs another
	$(GO) build -o $(ASSETS)/cadastre ./cmd/cadastre
	KUBEBUILDER_ASSETS=$$($(ASSETS)/cadastre envtest $(ASSETS)) $(GO) -C clients/envtest/suites test -count=1 $(ENVTEST) -args -ginkgo.skip='$(ENVTESTSKIP)'

.PHONY: test-bench
test-bench: ## run the benchmark module's tests: fixtures, peer, same results
	$(GO) -C bench test ./...

# The real servers, and what is asked of both.

.PHONY: peers
peers: ## build the real etcd, kube-apiserver and kubectl, outside the repository (see peers/); some twenty minutes
	nice -n 19 $(GO) -C peers run ./cmd/build

KUBECTLS ?=

.PHONY: kubectls
kubectls: ## build kubectl of every minor version since 1.26, outside the repository; minutes for each; KUBECTLS=v1.26.15 builds only that
	nice -n 19 $(GO) -C peers run ./cmd/kubectls $(KUBECTLS)

CONFORMANCE ?=

.PHONY: conformance
conformance: ## run every behaviour script on the real kube-apiserver and on ours, tell where they differ, write docs/conformance.md; CONFORMANCE='-run ^noop/ -record' passes flags
	$(GO) -C clients run ./cmd/conformance $(CONFORMANCE)

DIFFERENTIAL ?=

.PHONY: differential
differential: ## send random histories to the real kube-apiserver and to ours for an hour, and shrink what differs to scripts; DIFFERENTIAL='-time 5m -seed 7' passes flags
	$(GO) -C clients run ./cmd/differential $(DIFFERENTIAL)

MATERIAL ?=

.PHONY: oracle-material
oracle-material: ## ask the real kube-apiserver and ours the same about the definitions and objects of well-known projects, tell each difference, write clients/material/testdata; MATERIAL='-run istio' passes flags
	$(GO) -C clients run ./cmd/material $(MATERIAL)

# Kubernetes' own code, compared with ours.

.PHONY: oracle-catalog
oracle-catalog: ## hold discovery and OpenAPI against kube-apiserver's own documents; tell each difference
	$(GO) test ./internal/catalog -count=1 -kubernetes "$$($(GO) -C peers/binaries mod download -json k8s.io/kubernetes | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')"

ORACLE ?=

.PHONY: oracle-rules
oracle-rules: ## compare internal/rules with kube-apiserver's own code; ORACLE='-seed 7 -count-each 5000 -write' passes flags
	$(GO) -C internal/rules/oracle test -count=1 . $(ORACLE)

.PHONY: oracle-validation
oracle-validation: ## compare the validation of internal/rules with kube-apiserver's own code; ORACLE='-seed 7 -pairs 1000' passes flags
	$(GO) -C internal/rules/oracle-validation test -count=1 . $(ORACLE)

.PHONY: oracle-structural
oracle-structural: ## compare internal/structural with kube-apiserver's own code; ORACLE='-seed 7 -schemas 5000' passes flags
	$(GO) -C internal/structural/oracle test -count=1 . $(ORACLE)

.PHONY: oracle-tables
oracle-tables: ## ask Kubernetes' own printers for tables, and write their answers to internal/codec/testdata
	$(GO) -C internal/codec/oracle test -count=1 ./...

# What takes as long as it is given.

HISTORIES ?= 200000

.PHONY: soak
soak: ## compare HISTORIES (200000) random histories with structured-merge-diff, twelve requests each
	$(GO) test ./apply -run 'TestDifferential' -histories $(HISTORIES) -timeout 24h -v

.PHONY: fuzz-short
fuzz-short: ## fuzz each target for ten seconds
	GO="$(GO)" FUZZTIME=10s tools/fuzz

.PHONY: fuzz
fuzz: ## fuzz each target for FUZZTIME (10m)
	GO="$(GO)" FUZZTIME=$(FUZZTIME) tools/fuzz

KILLS ?= 1000

.PHONY: kill
kill: ## kill a process that writes KILLS (1000) times, and look for what is lost
	$(GO) test ./internal/store/local -run 'TestKill' -kills $(KILLS) -timeout 24h -v

# Benchmarks.

.PHONY: bench-engine
bench-engine: ## compare the engine with structured-merge-diff, patches with strategicpatch, and both with the floor; BENCH='-run Pod' passes flags
	$(GO) -C bench run ./cmd/engine $(BENCH)

.PHONY: bench-floor
bench-floor: ## compare the JSON libraries that could be the floor
	$(GO) -C bench run ./cmd/floor $(BENCH)

.PHONY: bench-store
bench-store: ## compare the store and its cache with etcd on the same disk; BENCH='-run writers/64' passes flags
	$(GO) -C bench run ./cmd/store -large $(BENCH)

.PHONY: bench-server
bench-server: ## compare the server with kube-apiserver, where it is built, and the floor; BENCH='-run apply' passes flags
	$(GO) -C bench run ./cmd/server $(BENCH)

.PHONY: bench-optout
bench-optout: ## measure answers without managedFields: bytes, CPU, memory, clients' allocations; BENCH='-run watch/100/8' passes flags
	$(GO) -C bench run ./cmd/optout $(BENCH)

.PHONY: bench-custom
bench-custom: ## compare the server with kube-apiserver on custom resources: 500 definitions, apply, a watch beside work on another kind; BENCH='-run custom/change' passes flags
	$(GO) -C bench run ./cmd/custom $(BENCH)

.PHONY: bench-migrate
bench-migrate: ## migrate 100,000 objects, twice, then with client and server killed half-way, and look for what is lost; BENCH='-objects 1000' passes flags
	$(GO) -C bench run ./cmd/migrate $(BENCH)
