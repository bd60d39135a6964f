# Run `make help` for the list of targets.

GO       ?= go
FUZZTIME ?= 10m
BENCH    ?=
# TAGS are the build tags of released and benchmarked programs: see docs/decisions/0008-binary-size.md.
TAGS     ?= grpcnotrace
# LDFLAGS omit debug information and set what cadastre version prints.
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null)
COMMIT   ?= $(shell git rev-parse HEAD 2>/dev/null)
DATE     ?= $(shell git show -s --format=%cI HEAD 2>/dev/null)
VARS     := github.com/cadastre/cadastre/internal/cli
LDFLAGS  ?= -s -w -X $(VARS).Version=$(VERSION) -X $(VARS).Commit=$(COMMIT) -X $(VARS).Date=$(DATE)

.DEFAULT_GOAL := help

.PHONY: help
help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Build, tests and checks.

.PHONY: build
build: ## compile every package of every module
	$(GO) build ./...
	$(GO) -C applyruntime build ./...
	$(GO) -C applyconfig build ./...
	$(GO) -C test/bench build ./...
	$(GO) -C test/peers build ./...
	$(GO) -C test/clients build ./...
	$(GO) -C test/soak build -o /dev/null ./...

.PHONY: install
install: ## install cadastre and kubectl-own, with the tags of releases
	$(GO) install -tags $(TAGS) -ldflags '$(LDFLAGS)' ./cmd/cadastre ./cmd/kubectl-own

OUT ?= bin

.PHONY: man
man: ## write man pages of the command line to OUT/man (bin/man)
	$(GO) run -ldflags '$(LDFLAGS)' ./cmd/cadastre-docs man $(OUT)/man

.PHONY: completion
completion: ## write completion scripts for bash, zsh, fish and powershell to OUT/completion (bin/completion)
	$(GO) run ./cmd/cadastre-docs completion $(OUT)/completion

.PHONY: reference
reference: ## write a Markdown reference of every command and flag to OUT/reference (bin/reference)
	$(GO) run ./cmd/cadastre-docs markdown $(OUT)/reference

GEN := $(GO) run ./cmd/applyconfig-gen

.PHONY: applyconfig
applyconfig: ## generate the apply configurations of the built-in kinds (applyconfig/) and of metadata (applyruntime/meta/)
	$(GEN) meta --output-dir applyruntime --output-package github.com/cadastre/cadastre/applyruntime
	$(GEN) go k8s.io/api/... k8s.io/apimachinery/pkg/apis/meta/v1 --docs=false --output-dir applyconfig --output-package github.com/cadastre/cadastre/applyconfig
	$(GO) -C applyconfig build ./...

RELEASE ?=

.PHONY: release
release: ## make reproducible archives for all platforms in dist, with checksums and SBOMs; RELEASE='v0.1.0 linux/amd64' passes version and platforms
	test/tools/release $(RELEASE)

.PHONY: modules
modules: ## require the modules applyruntime and applyconfig at the version of the next tags; RELEASE=v0.1.0 passes it
	test/tools/modules $(RELEASE)

.PHONY: fmt
fmt: ## format every Go file
	gofmt -w .

.PHONY: lint
lint: ## run only the architecture and lint checks
	$(GO) test -count=1 ./test/repocheck

.PHONY: deadcode
deadcode: ## fail if a function of cmd/ or internal/ is unreachable from the programs, cadastretest and apiserver
	test/tools/deadcode

.PHONY: test
test: ## run every test of the main module, including architecture and lint checks
	$(GO) test ./...

.PHONY: ci
ci: ## run everything that must pass before a change is merged
	.ci/run

# Test modules: real clients, and test suites of other projects.

.PHONY: test-clients
test-clients: ## run real clients (kubectl, client-go, controller-runtime, Helm, Flux, curl) against the server
	$(GO) -C test/clients test ./...

.PHONY: test-applyconfig
test-applyconfig: ## apply generated configurations on the server, and compare them with client-go's
	$(GO) -C applyruntime test ./...
	$(GO) -C applyconfig test ./...
	$(GO) -C test/applyconfig test ./...

.PHONY: test-clients-peer
test-clients-peer: ## run the same clients against kube-apiserver, which proves their expectations
	CADASTRE_TARGET=kube-apiserver $(GO) -C test/clients test -count=1 ./...

.PHONY: test-kubectls
test-kubectls: ## migrate from client-side to server-side apply and back with every kubectl that is built; CADASTRE_TARGET=kube-apiserver uses kube-apiserver
	$(GO) -C test/clients test -count=1 -v ./kubectls

.PHONY: test-scheduler
test-scheduler: ## have the real kube-scheduler, if make scheduler has built it, schedule pods of the server; CADASTRE_TARGET=kube-apiserver asks the real server
	$(GO) -C test/clients test -count=1 -v ./scheduler

.PHONY: test-monitoring
test-monitoring: ## check the alerts and the dashboard with the parsers of Prometheus and Grafana's schemas
	$(GO) -C test/monitoring test ./...

.PHONY: test-upstream
test-upstream: ## run Kubernetes' own tests of admission policies against the server, from the module that make peers downloads
	$(GO) -C test/upstream test -count=1 ./...

ASSETS  ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/cadastre/envtest
ENVTEST ?= sigs.k8s.io/controller-runtime/pkg/client
# ENVTESTSKIP are tests of subresources that the server does not have.
ENVTESTSKIP ?= ServiceAccount tokens

.PHONY: test-envtest
test-envtest: ## run test suites of other projects that use envtest against the server; ENVTEST=sigs.k8s.io/controller-runtime/pkg/cache selects another suite
	$(GO) build -tags $(TAGS) -o $(ASSETS)/cadastre ./cmd/cadastre
	KUBEBUILDER_ASSETS=$$($(ASSETS)/cadastre envtest $(ASSETS)) $(GO) -C test/clients/envtest/suites test -count=1 $(ENVTEST) -args -ginkgo.skip='$(ENVTESTSKIP)'

.PHONY: test-bench
test-bench: ## run the tests of the benchmark module: fixtures, and that Cadastre and the upstream libraries return equal results
	$(GO) -C test/bench test ./...

# kube-apiserver, and comparisons with it.

.PHONY: peers
peers: ## build etcd, kube-apiserver and kubectl outside of the repository (see test/peers/); takes about 20 minutes
	nice -n 19 $(GO) -C test/peers run ./cmd/build

.PHONY: scheduler
scheduler: ## build the real kube-scheduler, outside the repository, for make test-scheduler; minutes, after make peers
	nice -n 19 $(GO) -C test/peers run ./cmd/build kube-scheduler

.PHONY: controller-manager
controller-manager: ## build the real kube-controller-manager, outside the repository; minutes, after make peers
	nice -n 19 $(GO) -C test/peers run ./cmd/build kube-controller-manager

KUBECTLS ?=

.PHONY: kubectls
kubectls: ## build kubectl of every minor version since 1.26 outside of the repository, a few minutes each; KUBECTLS=v1.26.15 builds one
	nice -n 19 $(GO) -C test/peers run ./cmd/kubectls $(KUBECTLS)

CONFORMANCE ?=

.PHONY: conformance
conformance: ## run every behaviour script on kube-apiserver and on Cadastre, print differences, write docs/conformance.md; CONFORMANCE='-run ^noop/ -record' passes flags
	$(GO) -C test/clients run ./cmd/conformance $(CONFORMANCE)

DIFFERENTIAL ?=

.PHONY: differential
differential: ## send random histories to kube-apiserver and to Cadastre for an hour, and write shrunk scripts of differences; DIFFERENTIAL='-time 5m -seed 7' passes flags
	$(GO) -C test/clients run ./cmd/differential $(DIFFERENTIAL)

MATERIAL ?=

.PHONY: oracle-material
oracle-material: ## compare kube-apiserver and Cadastre with the CRDs and samples of well-known projects, print differences, write test/clients/material/testdata; MATERIAL='-run istio' passes flags
	$(GO) -C test/clients run ./cmd/material $(MATERIAL)

RELEASES ?=

.PHONY: kubernetes
kubernetes: ## require a Kubernetes release in every module; RELEASES='v0.37.2 v1.37.1' are the versions of k8s.io/api and of k8s.io/kubernetes
	test/tools/kubernetes $(RELEASES)

# Comparisons with kube-apiserver's code.

.PHONY: oracle-catalog
oracle-catalog: ## compare discovery and OpenAPI with kube-apiserver's published documents; ORACLE=-update writes internal/discovery/testdata
	$(GO) test ./internal/discovery -count=1 -kubernetes "$$($(GO) -C test/peers/binaries mod download -json k8s.io/kubernetes | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')" $(ORACLE)

ORACLE ?=

.PHONY: oracle-rules
oracle-rules: ## compare internal/api/builtin with kube-apiserver's code; ORACLE='-seed 7 -count-each 5000 -write' passes flags
	$(GO) -C test/oracle/defaults test -count=1 . $(ORACLE)

.PHONY: oracle-validation
oracle-validation: ## compare the validation of internal/api/builtin with kube-apiserver's code; ORACLE='-seed 7 -pairs 1000' passes flags
	$(GO) -C test/oracle/validation test -count=1 . $(ORACLE)

.PHONY: oracle-structural
oracle-structural: ## compare internal/api/crd/structural with kube-apiserver's code; ORACLE='-seed 7 -schemas 5000' passes flags
	$(GO) -C test/oracle/structural test -count=1 . $(ORACLE)

.PHONY: oracle-admission
oracle-admission: ## compare the plugins in internal/admission/plugin with kube-apiserver's code; ORACLE=-update records its results, ORACLE='-seed 7 -cases 20000' compares more cases
	$(GO) -C test/oracle/admission test -count=1 . $(ORACLE)

.PHONY: oracle-tables
oracle-tables: ## write the tables of Kubernetes' printers to internal/encoding/testdata
	$(GO) -C test/oracle/tables test -count=1 ./...

# Long-running tests with a configurable duration.

HISTORIES ?= 200000

.PHONY: differential-apply
differential-apply: ## compare HISTORIES (200000) random histories of twelve requests each with structured-merge-diff
	$(GO) test ./apply -run 'TestDifferential' -histories $(HISTORIES) -timeout 24h -v

.PHONY: fuzz-short
fuzz-short: ## fuzz each target for ten seconds
	GO="$(GO)" FUZZTIME=10s test/tools/fuzz

.PHONY: fuzz
fuzz: ## fuzz each target for FUZZTIME (10m)
	GO="$(GO)" FUZZTIME=$(FUZZTIME) test/tools/fuzz

SOAK ?=

.PHONY: soak
soak: ## run a server for an hour beside polite users, a hostile user, kill -9, full disks and clock jumps, and check that nothing is lost; SOAK='-time 5m -seed 7' passes flags
	$(GO) -C test/soak run . -clock $(SOAK)

KILLS ?= 1000

.PHONY: kill
kill: ## kill a writing process KILLS (1000) times, and check that no acknowledged write is lost
	$(GO) test ./internal/storage/pebble -run 'TestKill' -kills $(KILLS) -timeout 24h -v

# Benchmarks.

.PHONY: bench-engine
bench-engine: ## compare the engine with structured-merge-diff, patches with strategicpatch, and both with a lower bound that only parses and writes JSON; BENCH='-run Pod' passes flags
	$(GO) -C test/bench run ./cmd/engine $(BENCH)

.PHONY: bench-lower-bound
bench-lower-bound: ## compare the JSON libraries that are candidates for the lower bound
	$(GO) -C test/bench run ./cmd/lowerbound $(BENCH)

.PHONY: bench-store
bench-store: ## compare the store and its cache with etcd on the same disk; BENCH='-run writers/64' passes flags
	$(GO) -C test/bench run ./cmd/store -large $(BENCH)

.PHONY: bench-server
bench-server: ## compare the server with kube-apiserver, if it is built, and with the lower bound; BENCH='-run apply -servers cadastre,kube-apiserver' passes flags
	$(GO) -C test/bench run ./cmd/server $(BENCH)

.PHONY: bench-optout
bench-optout: ## measure responses without managedFields: bytes, CPU, memory, allocations of clients; BENCH='-run watch/100/8' passes flags
	$(GO) -C test/bench run ./cmd/optout $(BENCH)

.PHONY: bench-custom
bench-custom: ## compare the server with kube-apiserver on custom resources: 500 CRDs, apply, a watch during load on another kind; BENCH='-run custom/change' passes flags
	$(GO) -C test/bench run ./cmd/custom $(BENCH)

.PHONY: bench-policy
bench-policy: ## measure what MutatingAdmissionPolicies add to an update, beside kube-apiserver; BENCH='-rounds 5' passes flags
	$(GO) -C test/bench run ./cmd/policy $(BENCH)

.PHONY: bench-fairness
bench-fairness: ## measure a polite user beside 1,000 hostile clients: slow bodies, unread lists, loops over OpenAPI; BENCH='-attacks openapi' passes flags
	$(GO) -C test/bench run ./cmd/fairness $(BENCH)

.PHONY: bench-embed
bench-embed: ## measure what embedding the server adds to a program: size, and time to the first answered request
	$(GO) test ./apiserver -run '^$$' -bench '^BenchmarkEmbedding$$' -benchtime 20x $(BENCH)

.PHONY: bench-migrate
bench-migrate: ## migrate 100,000 objects twice, then with client and server killed half-way, and check that nothing is lost; BENCH='-objects 1000' passes flags
	$(GO) -C test/bench run ./cmd/migrate $(BENCH)
