# Everything a developer does, as targets. "make" alone lists them. Nothing has to be prepared:
# each target fetches and builds what it needs, once, and keeps the traces of it in build/.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

PKG       ?= ./...
FUZZTIME  ?= 10s
SOAK      ?= 10m
HISTORIES ?= 1000
SEED      ?=
BENCH     ?= .
BENCHTIME ?= 1s
COUNT     ?= 1
TIMEOUT   ?= 15m

# Whole nodes with an engine in C gain little from the race detector and take most of its time.
RACE_SKIP ?= /(store/duckdb|bench|lab)(/|$$)

version_of = $(shell sed -n 's|^[[:space:]]*$(1) \(v[^ ]*\).*|\1|p' tools/go.mod)
LINT       := build/tools/golangci-lint-$(call version_of,github.com/golangci/golangci-lint/v2)
GOTESTSUM  := build/tools/gotestsum-$(call version_of,gotest.tools/gotestsum)
HELM       := build/tools/helm-$(shell sed -n 's|^[[:space:]]*helm.sh/helm/v3 \(v[^ ]*\).*|\1|p' tools/helm/go.mod)
VERSITYGW  := build/tools/versitygw-$(shell sed -n 's|^[[:space:]]*github.com/versity/versitygw \(v[^ ]*\).*|\1|p' tools/versitygw/go.mod)
NFPM       := build/tools/nfpm-$(shell sed -n 's|^[[:space:]]*github.com/goreleaser/nfpm/v2 \(v[^ ]*\).*|\1|p' tools/nfpm/go.mod)
FERRETDB   := build/tools/ferretdb-$(shell sed -n 's|^[[:space:]]*github.com/FerretDB/FerretDB \(v[^ ]*\).*|\1|p' tools/ferretdb/go.mod)
BENCHSTAT  := build/tools/benchstat-$(call version_of,golang.org/x/perf)

WEB         := $(wildcard web/package.json)
WEB_SOURCES := $(shell [ -d web ] && find web -type f -not -path '*/node_modules/*' -not -path 'web/dist/*' -not -name '*.go' | sed 's/ /\\ /g')
PEERS       := $(wildcard testing/peers/requirements.txt)
AGENTS      := $(patsubst %/pyproject.toml,%,$(wildcard agents/*/pyproject.toml))
SDK_SOURCES := $(shell find python/src -type f -name '*.py') python/src/voltbus/py.typed python/pyproject.toml python/README.md

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  \033[1m%-10s\033[0m %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# ---- build and run

# Without symbols for debuggers, and without those of the engine in C++, which nothing loads at run time: a
# quarter smaller. Stack traces and profiles name functions and lines all the same. The engine's completion of SQL for shells, which nothing
# calls, is not linked: to its loader it is one more name of the extension for JSON, which is loaded once.
COMPLETION := _ZN6duckdb21AutocompleteExtension4LoadERNS_15ExtensionLoaderE _ZN6duckdb21AutocompleteExtension4NameB5cxx11Ev \
  _ZNK6duckdb21AutocompleteExtension7VersionB5cxx11Ev _ZTVN6duckdb21AutocompleteExtensionE
LEAN := -s -w -extldflags "-no-pie -Wl,--no-export-dynamic,--gc-sections $(foreach symbol,$(COMPLETION),-Wl,--defsym=$(symbol)=$(subst 21Autocomplete,13Json,$(symbol)))"

.PHONY: build
build: build/.go web sdk ## build bin/voltbus with the web screens and the Python SDK inside
	go build -trimpath -ldflags '$(LEAN)' -o bin/voltbus ./cmd/voltbus

.PHONY: virtual
virtual: build/.go web sdk ## build bin/voltbus-virtual, which runs whole nodes in the time of a world
	tools/virtual.sh bin/voltbus-virtual

# The architecture of what "make dist" makes.
ARCH ?= $(shell go env GOHOSTARCH 2>/dev/null)

.PHONY: dist
dist: build/.go build/.cross-$(ARCH) web sdk $(NFPM) ## make the Debian package, archive, bills of materials and checksums in dist/; with ARCH=arm64 for that
	LEAN='$(LEAN)' NFPM='$(CURDIR)/$(NFPM)' tools/dist.sh $(ARCH) dist

build/.cross-%: tools/require.sh
	@[ '$*' = "$$(go env GOHOSTARCH)" ] || tools/require.sh cross-$*
	@mkdir -p $(@D) && touch $@

.PHONY: reproducible
reproducible: ## make all of dist/ twice in different places, and compare the bytes
	tools/reproducible.sh build/reproducible

.PHONY: try-arm64
try-arm64: ## make dist/ for arm64, and start a node of it in an emulator
	@$(MAKE) dist ARCH=arm64
	@tools/require.sh emulator
	testing/packages/emulated.sh build/dist/arm64/voltbus

.PHONY: try-package
try-package: dist ## install, upgrade, remove and purge the Debian package on a machine with the real systemd; as root
	testing/bundles/prepare.sh build/try-bundles
	testing/packages/try.sh build/try-bundles dist

.PHONY: run
run: build ## build and start a demo site on loopback; prints the address of its page
	@exec bin/voltbus demo

.PHONY: dev
dev: build/.go web sdk ## run the demonstration and its page from the sources; what is saved is there at once
	@tools/dev.sh

.PHONY: sdk
sdk: build/.sdk ## build the wheel of the Python SDK into python/dist

# The same sources give the same bytes: hatchling writes no time of its own.
build/.sdk: $(SDK_SOURCES) build/.sdk-tools
	rm -f python/dist/*.whl
	cd python && ../.venv/bin/python -m hatchling build --target wheel --directory dist
	@touch $@

build/.sdk-tools: python/requirements-build.txt build/.venv
	@tools/venv.sh $<
	@touch $@

.PHONY: web
web: $(if $(WEB),web/dist/index.html) ## bundle the web screens into web/dist

web/dist/index.html: $(WEB_SOURCES) build/.web-modules
	npm --prefix web run build
	@touch $@

# Not "npm ci": it refuses a lock file that leaves out optional packages for other platforms, as
# one does that was written where they cannot be had. The versions are the locked ones all the same.
build/.web-modules: web/package-lock.json build/.node
	npm --prefix web install --no-save --no-audit --no-fund
	@touch $@

# ---- test

.PHONY: test
ifeq ($(origin PKG),command line)
# The Go tests of some packages. What they talk to is prepared only if they talk to other programs.
ifneq ($(filter test,$(MAKECMDGOALS)),)
TALKS := $(shell go list -test -deps $(PKG) 2>/dev/null | grep -x 'voltbus/testing/peers')
endif
test: build/.go $(if $(TALKS),build/.postgresql build/.mosquitto build/.servers build/.iproute peers deploy-tools web sdk)
	go test -shuffle=on -timeout $(TIMEOUT) $(PKG)
else
test: build run-go run-nodes test-python test-web ## run all tests: Go with real peers, the SDK on a real node, the web screens in Chromium; with PKG the Go tests of some packages
	@$(AGAIN) build/run-go.json build/run-nodes.json
	@[ ! -s build/flaky.txt ] || { echo; echo "FLAKY: these failed, and passed when run once more, alone. Mend them:"; sed 's/^/  /' build/flaky.txt; }
endif

# The parts of the tests need nothing of each other: make -j runs them beside each other.
test-python test-web: | test-begin

.PHONY: test-begin
test-begin:
	@mkdir -p build && rm -f build/flaky.txt

# Without vet, which "make check" runs among the linters. The tests of whole nodes wait more than they work: they run beside the others.
# What fails does not end the run: it runs once more, alone, when all else has ended.
GO_TESTS = $(GOTESTSUM) --format pkgname --format-icons text --jsonfile build/$@.json --packages "$(1)" -- -vet=off -shuffle=on -timeout 20m $(2) \
	  || [ -s build/$@.json ]
GO_TEST_NEEDS := build/.go build/.postgresql build/.mosquitto build/.servers build/.iproute $(GOTESTSUM) peers deploy-tools web sdk
AGAIN := go run ./testing/again -flaky build/flaky.txt

# How many tests of whole nodes run at once: they wait more than they work.
NODE_TESTS := 3

# The packages whose tests take longest begin first, so that the run does not wait for them at its end.
LONGEST := $(addprefix voltbus/,testing/docs lab/study store/postgres store/duckdb cmd/voltbus bus)

# How many packages are tested at once: many tests wait for a disk or a peer.
PACKAGES_AT_ONCE := 3

.PHONY: run-go run-nodes
run-go: $(GO_TEST_NEEDS) | test-begin
	@rm -f build/$@.json
	$(call GO_TESTS,$(LONGEST) $$(go list ./... | grep -vxF $(LONGEST:%=-e %) -e voltbus/node | tr '\n' ' '),-p $(PACKAGES_AT_ONCE))

run-nodes: $(GO_TEST_NEEDS) | test-begin
	@rm -f build/$@.json
	$(call GO_TESTS,./node,-parallel $(NODE_TESTS))

.PHONY: test-go test-nodes
test-go: run-go
	@$(AGAIN) build/run-go.json

test-nodes: run-nodes
	@$(AGAIN) build/run-nodes.json

.PHONY: test-python
test-python: build build/.python-tools ## test the Python SDK, in memory and on a real node, and the agents
	VOLTBUS_BIN=$(CURDIR)/bin/voltbus tools/once_more.sh pytest python ../.venv/bin/python -m pytest
	for agent in $(AGENTS); do echo "$$agent"; \
	  PYTHONPATH=$(CURDIR)/python/src tools/once_more.sh pytest $$agent ../../.venv/bin/python -m pytest || exit 1; done

build/.python-tools: python/requirements-dev.txt build/.venv
	@tools/venv.sh $<
	@touch $@

.PHONY: test-web
test-web: $(if $(WEB),web/dist/index.html build/.chromium build peers)
ifneq ($(WEB),)
	npm --prefix web test
	VOLTBUS_BIN=$(CURDIR)/bin/voltbus tools/once_more.sh vitest web npx vitest run --config e2e/vitest.config.ts
endif

.PHONY: bench-web
bench-web: build/.chromium build ## measure the screens in Chromium against a real node
	VOLTBUS_BIN=$(CURDIR)/bin/voltbus npm --prefix web run bench

.PHONY: race
race: build/.go build/.postgresql build/.mosquitto build/.servers build/.iproute $(GOTESTSUM) peers web ## run the Go tests with the race detector
	$(GOTESTSUM) --format pkgname --format-icons text -- -race -shuffle=on -timeout $(TIMEOUT) \
	  $$(go list $(PKG) | grep -Ev '$(RACE_SKIP)')

# The attacks are the Go tests that are named TestAttack…, wherever they stand.
.PHONY: attack
attack: build/.go web sdk ## run the tests that attack a node and its parts, those named TestAttack…
	packages=$$(git grep --untracked -lE '^func TestAttack' -- '*_test.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|') && \
	  go test -count=1 -timeout $(TIMEOUT) -run '^TestAttack' $$packages

.PHONY: soak-nodes
soak-nodes: build/.go ## kill nodes in a row at random under load for SOAK (10m); SEED repeats a run
	VOLTBUS_SOAK=$(SOAK) VOLTBUS_SEED=$(SEED) go test -count=1 -v -timeout 0 -run TestNodesInARowKilled ./node

.PHONY: soak-stores
soak-stores: build/.go build/.postgresql ## drive each store through HISTORIES (1000) random histories beside the one in memory
	go test -count=1 -timeout 0 -run KeepsThePromisesOfAStore ./store/duckdb ./store/postgres -rapid.checks=$(HISTORIES)

.PHONY: soak-replicas
soak-replicas: build/.go ## kill replicas, and have them stand still, in turn for SOAK (10m) under load of MQTT clients, an agent and commands; all must balance at the end
	VOLTBUS_SOAK=$(SOAK) go test -count=1 -v -timeout 0 -run TestSoakReplicas ./node

.PHONY: storm
storm: build/.go ## report the last gasps of STORM (1000000) meters at once, beside readings; none may be lost
	VOLTBUS_STORM=$(STORM) go test -count=1 -v -timeout $(TIMEOUT) -run TestAStormOfLastGasps ./node

# The last version whose nodes do not say who asks from another node, send large blocks whole, and write
# the file of origins anew for each.
OLD ?= ff0a157
STORM ?= 1000000

.PHONY: skew
skew: build/.go ## run nodes of the program at the commit OLD together with those of this one
	old=$$(tools/program_at.sh $(OLD) build/skew) && \
	  go build -trimpath -o build/skew/voltbus-now ./cmd/voltbus && \
	  VOLTBUS_OLD=$$old VOLTBUS_NEW=$(CURDIR)/build/skew/voltbus-now \
	  go test -count=1 -v -run 'TestProgramsOfTwoVersions|TestNodesThatAreUpdated' ./node

.PHONY: test-virtual
test-virtual: build virtual ## test whole nodes in virtual time, with the program that is built for them
	VOLTBUS_VIRTUAL=$(CURDIR)/bin/voltbus-virtual go test -count=1 -v ./cmd/voltbus-virtual ./virtual/clock ./virtual/field ./virtual/cable

.PHONY: test-timescale
test-timescale: build/.go build/.postgresql ## test the store in PostgreSQL and nodes with it on this machine's TimescaleDB
	VOLTBUS_TIMESCALEDB=1 go test -count=1 -timeout $(TIMEOUT) ./store/postgres
	VOLTBUS_TIMESCALEDB=1 go test -count=1 -timeout $(TIMEOUT) -run 'Database' ./node

.PHONY: test-citus
test-citus: build/.go build/.postgresql ## test the metering store in PostgreSQL and nodes with it on this machine's Citus
	VOLTBUS_CITUS=1 go test -count=1 -v -timeout $(TIMEOUT) ./meter/store/postgres
	VOLTBUS_CITUS=1 go test -count=1 -v -timeout $(TIMEOUT) -run 'DatabaseOfReadings' ./node

.PHONY: try-bundles
try-bundles: build ## set machines up from bundles with the real cloud-init, Ansible and systemd; as root
	testing/bundles/prepare.sh build/try-bundles
	testing/bundles/try.sh build/try-bundles bin/voltbus

.PHONY: fuzz
fuzz: build/.go ## run every fuzz test for FUZZTIME (10s) each, in PKG
	tools/fuzz.sh $(FUZZTIME) $(PKG)

.PHONY: fuzz-bacnet
fuzz-bacnet: build/.go ## run each parser of BACnet for 30 minutes
	tools/fuzz.sh 30m ./protocol/bacnet/...

.PHONY: fuzz-opcua
fuzz-opcua: build/.go ## run each parser of OPC UA for 30 minutes
	tools/fuzz.sh 30m ./protocol/opcua/... ./driver/opcua/...

.PHONY: bench-opcua
bench-opcua: build/.go peers ## measure 10,000 monitored items of OPC UA servers
	go run ./bench/opcua -server asyncua -processes 2
	go run ./bench/opcua -server node-opcua -processes 1

.PHONY: bench-agents
bench-agents: build build/.python-tools ## measure agents in Go and Python, and what it costs to know one of 10,000
	go run ./bench/agent_request
	go test -run '^$$' -bench 'Authenticate|Connect' ./bus
	cd python && VOLTBUS_BIN=$(CURDIR)/bin/voltbus PYTHONPATH=src ../.venv/bin/python -m bench.agents

.PHONY: bench
bench: build/.go $(BENCHSTAT) ## run the benchmarks that match BENCH, in PKG, COUNT times
	@mkdir -p build/bench
	go test -run '^$$' -bench '$(BENCH)' -benchmem -benchtime $(BENCHTIME) -count $(COUNT) -timeout 60m $(PKG) | tee build/bench/latest.txt
	@$(BENCHSTAT) build/bench/latest.txt

.PHONY: peers
peers: $(if $(PEERS),build/.peers) ## make .venv with the programs that the tests talk to

build/.peers: $(PEERS) testing/peers/profiles.txt build/.venv $(VERSITYGW) $(FERRETDB) build/.node-example build/.sparkplug build/.nodeopcua build/.mqttjs
	@tools/venv.sh $<
	@tools/venv.sh testing/peers/profiles.txt --no-deps
	@touch $@

.PHONY: spark
spark: build/.spark peers ## try the guide on analysing a fleet, and its alarm, with PySpark, some 500 MB
	VOLTBUS_SPARK_PYTHON=$(CURDIR)/build/spark/bin/python go test -count=1 -run 'TestTheRecipes|TestSparkRaises' -v ./sink/s3 ./node

build/.spark: testing/peers/spark.txt build/.venv build/.sdk
	python3 -m venv build/spark
	build/spark/bin/python -m pip install --quiet --disable-pip-version-check --requirement $< python/dist/*.whl
	@touch $@

.PHONY: deploy-tools
deploy-tools: build/.deploy $(HELM) $(NFPM) ## fetch and build what checks the files of deploy/

build/.deploy: testing/peers/deploy.txt build/.venv
	@tools/venv.sh $<
	@touch $@

# The example of an agent in JavaScript, and what checks the document of the bus.
build/.node-example: docs/examples/node/package.json docs/examples/node/package-lock.json build/.node
	npm --prefix docs/examples/node install --no-save --no-audit --no-fund
	@touch $@

# An edge node of Sparkplug B of another project.
build/.sparkplug: testing/peers/sparkplug/package.json testing/peers/sparkplug/package-lock.json build/.node
	npm --prefix testing/peers/sparkplug install --no-save --no-audit --no-fund --ignore-scripts
	@touch $@

# An OPC UA server of another project.
build/.nodeopcua: testing/peers/nodeopcua/package.json testing/peers/nodeopcua/package-lock.json build/.node
	npm --prefix testing/peers/nodeopcua install --no-save --no-audit --no-fund --ignore-scripts
	@touch $@

# A client of MQTT of another project.
build/.mqttjs: testing/peers/mqttjs/package.json testing/peers/mqttjs/package-lock.json build/.node
	npm --prefix testing/peers/mqttjs install --no-save --no-audit --no-fund --ignore-scripts
	@touch $@

# ---- check

.PHONY: check
check: fmt-check lint arch check-web check-python ## check format, linters (vet among them), import table, types of web and SDK

.PHONY: fmt-check
fmt-check: $(LINT)
	@$(LINT) fmt --diff || { echo 'some files are not formatted: run "make fmt"' >&2; exit 1; }

.PHONY: vet
vet: build/.go web
	go vet $(PKG)

.PHONY: lint
# With -trimpath, Go's cache gives the linters the paths of another clone, which may be gone.
lint: $(LINT) web ## run the linters
	GOFLAGS=-trimpath=false $(LINT) run $(PKG)

.PHONY: arch
arch: build/.go ## check who imports whom
	go test -count=1 ./internal/archtest

.PHONY: check-web
check-web: $(if $(WEB),build/.web-modules)
ifneq ($(WEB),)
	npm --prefix web run check --if-present
endif

.PHONY: check-python
check-python: build/.python-tools
	cd python && ../.venv/bin/python -m ruff format --check --quiet . || { echo 'some Python files are not formatted: run "make fmt"' >&2; exit 1; }
	cd python && ../.venv/bin/python -m ruff check --quiet .
	cd python && ../.venv/bin/python -m mypy
	cd agents && ../.venv/bin/python -m ruff format --check --quiet . || { echo 'some agents are not formatted: run "make fmt"' >&2; exit 1; }
	cd agents && ../.venv/bin/python -m ruff check --quiet .
	for agent in $(AGENTS); do (cd $$agent && MYPYPATH=$(CURDIR)/python/src:src ../../.venv/bin/python -m mypy --config-file ../mypy.ini --explicit-package-bases src tests) || exit 1; done

.PHONY: fmt
fmt: $(LINT) build/.python-tools ## format the Go and Python code
	$(LINT) fmt
	cd python && ../.venv/bin/python -m ruff format --quiet .
	cd agents && ../.venv/bin/python -m ruff format --quiet .

# ---- upkeep

.PHONY: generate
generate: build/.go build/.python-tools ## write the generated files anew
	go generate $(PKG)
	cd python && PYTHONPATH=src ../.venv/bin/python tools/reference.py

.PHONY: deps
deps: build/.go $(LINT) $(GOTESTSUM) $(BENCHSTAT) peers $(if $(WEB),build/.web-modules build/.chromium) ## fetch and build all that the other targets need
	go mod download

.PHONY: clean
clean: ## remove what was built; keeps fetched modules and build/tools
	rm -rf bin .venv web/node_modules
	find build -mindepth 1 -maxdepth 1 -not -name tools -exec rm -rf {} + 2>/dev/null || true
	find python/dist -mindepth 1 -not -name .gitkeep -delete 2>/dev/null || true
	find web/dist -mindepth 1 -not -name .gitkeep -delete 2>/dev/null || true

$(LINT): build/.go tools/go.mod tools/go.sum
	go -C tools build -o ../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@touch $@

$(GOTESTSUM): build/.go tools/go.mod tools/go.sum
	go -C tools build -o ../$@ gotest.tools/gotestsum
	@touch $@

$(BENCHSTAT): build/.go tools/go.mod tools/go.sum
	go -C tools build -o ../$@ golang.org/x/perf/cmd/benchstat
	@touch $@

$(NFPM): build/.go tools/nfpm/go.mod tools/nfpm/go.sum
	go -C tools/nfpm build -o ../../$@ github.com/goreleaser/nfpm/v2/cmd/nfpm
	@touch $@

$(HELM): build/.go tools/helm/go.mod tools/helm/go.sum
	go -C tools/helm build -o ../../$@ helm.sh/helm/v3/cmd/helm
	@touch $@

$(FERRETDB): build/.go tools/ferretdb/build.sh tools/ferretdb/go.mod tools/ferretdb/go.sum
	tools/ferretdb/build.sh $(CURDIR)/$@
	@touch $@

$(VERSITYGW): build/.go tools/versitygw/go.mod tools/versitygw/go.sum
	go -C tools/versitygw build -o ../../$@ github.com/versity/versitygw/cmd/versitygw
	@touch $@

# What has to be on the machine, checked once and again when the check changes.
build/.go: tools/require.sh
	@tools/require.sh go gcc g++
	@mkdir -p $(@D) && touch $@

build/.node: tools/require.sh
	@tools/require.sh node
	@mkdir -p $(@D) && touch $@

build/.venv: tools/require.sh
	@tools/require.sh venv
	@mkdir -p $(@D) && touch $@

build/.postgresql: tools/require.sh
	@tools/require.sh postgresql
	@mkdir -p $(@D) && touch $@

build/.mosquitto: tools/require.sh
	@tools/require.sh mosquitto
	@mkdir -p $(@D) && touch $@

build/.servers: tools/require.sh
	@tools/require.sh victoria-metrics mariadb rabbitmq
	@mkdir -p $(@D) && touch $@

build/.iproute: tools/require.sh
	@tools/require.sh ip
	@mkdir -p $(@D) && touch $@

build/.chromium: tools/require.sh
	@tools/require.sh chromium
	@mkdir -p $(@D) && touch $@
