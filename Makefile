# Two commands to start with: make demo, make test. Go is all that is needed; tools are pinned and run from their modules.

GO       ?= go
FUZZTIME ?= 10s
TESTFLAGS ?=

GOLANGCI    := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0

# What runs concurrently and must stay free of races.
RACE := ./faultserver/... ./assert/... ./suites/driver/... ./suites/cli/...

# Retry libraries for Go that are put to the test, in a module of their own.
GOCLIENTS := suites/interop/go

.DEFAULT_GOAL := help
.PHONY: help build demo test race interop bench fuzz lint cover clean

help: ## list what make can do
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/retrygate
	$(GO) build -o bin/retrygate ./suites/cmd/retrygate

demo: build ## judge the curl (or wget, or python3) of this machine; takes about two minutes
	@url='{{url}}/driver/status'; \
	if command -v curl >/dev/null; then set -- curl -sS --retry 3; \
	elif command -v wget >/dev/null; then set -- wget -q -O - --tries 4; \
	elif command -v python3 >/dev/null; then set -- python3 -c 'import sys, urllib.request as u; u.urlopen(sys.argv[1])'; \
	else echo "demo: none of curl, wget and python3 is installed; name a client of yours: bin/retrygate verify -- COMMAND"; exit 1; fi; \
	echo "demo: does $$1 keep the strict retry contract? Every scenario, side by side, in about two minutes."; echo; \
	code=0; bin/retrygate verify -- "$$@" "$$url" || code=$$?; echo; \
	case $$code in \
	0) echo "demo: $$1 keeps the contract (exit 0, as it would in your build)";; \
	1) echo "demo: $$1 breaks the contract, and says so with exit 1, which would stop your build; the demo itself is well";; \
	3) echo "demo: something could not be decided on this machine (exit 3); the demo itself is well";; \
	*) exit $$code;; esac

test: ## vet and test everything
	$(GO) vet ./...
	$(GO) test -timeout 30m $(TESTFLAGS) ./...
	cd $(GOCLIENTS) && $(GO) vet ./... && $(GO) test $(TESTFLAGS) ./...

race: ## test the concurrent packages under the race detector (needs a C compiler)
	$(GO) test -race -timeout 30m $(TESTFLAGS) $(RACE)

interop: ## install and judge real clients, and write the scoreboard; ONLY=go,curl narrows it
	$(GO) run ./suites/cmd/interop $(if $(ONLY),-only $(ONLY))

bench: ## measure the server, the proxy, the journal, the judge and a contract in virtual time
	$(GO) test -run '^$$' -bench . -benchmem ./faultserver/... ./assert/... ./suites/selftest

fuzz: ## run each fuzzer for FUZZTIME (10s)
	@set -e; for package in $$($(GO) list ./...); do \
		for fuzzer in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz' || true); do \
			echo "$$package $$fuzzer"; \
			$(GO) test -run '^$$' -fuzz "^$$fuzzer\$$" -fuzztime $(FUZZTIME) $$package; \
		done; \
	done

lint: ## check style, import rules and known vulnerabilities
	@if command -v golangci-lint >/dev/null && golangci-lint version | grep -q 'version v\?2'; then golangci-lint run; \
	else $(GO) run $(GOLANGCI) run; fi
	@GOBIN=$(CURDIR)/bin $(GO) install $(GOVULNCHECK)
	@code=0; bin/govulncheck ./... || code=$$?; \
	case $$code in 0) ;; \
	3) exit 1;; \
	*) echo "lint: govulncheck could not run (exit $$code), most likely because its database is out of reach: nothing is known about vulnerabilities";; esac

cover: ## write coverage.out and print the total
	$(GO) test -coverprofile coverage.out -coverpkg ./... ./...
	@$(GO) tool cover -func coverage.out | tail -1

clean: ## remove what make made
	rm -rf bin coverage.out suites/interop/build suites/samples/*/classes suites/samples/*/lib suites/samples/*/node_modules
