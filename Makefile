# Gantry. `make` alone lists what there is. Needs Go and git; other tools are used when they are there.

VERSION   := $(patsubst v%,%,$(shell git describe --tags --match 'v*' --dirty 2>/dev/null || echo 0.1.0-dev+$$(git describe --always --dirty 2>/dev/null || echo unknown)))
LDFLAGS   := -s -w -X main.version=$(VERSION)
REPO      ?= .
STATE     ?= .gantry/state
RUNS      ?= 10000
ONLY      ?=
TESTFLAGS ?=

# Packages by what their tests define. Only tracked files count: runs hold clones of other repositories.
UPDATING  = $$(git grep -l 'flag.Bool("update"' -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's|^|./|')

.PHONY: help build run test check bench docs
.PHONY: check-format check-vet check-staticcheck check-race check-fresh check-cross check-size check-report

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' Makefile

build: ## build bin/gantry: static, stripped, stamped with the version
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/gantry ./cmd/gantry

run: build ## launch this checkout, or REPO=<path or URL>, up to an opened pull request
	bin/gantry launch --state-dir '$(STATE)' '$(REPO)'

test: ## run every test, and see that they leave nothing behind
	.ci/tidy go test $(TESTFLAGS) ./...

check: check-format check-vet check-staticcheck check-cross check-fresh check-race check-size check-report ## everything that must hold before a merge

bench: ## measure the promises of speed (RUNS=10000 in the store, ONLY=start,calls)
	go run ./internal/bench -runs $(RUNS) -only '$(ONLY)'

docs: ## make the generated documents and golden files anew
	go test -count=1 $(UPDATING) -update

check-format:
	@files=$$(git ls-files '*.go' ':!:*/testdata/*' | xargs gofmt -l); \
	if [ -n "$$files" ]; then echo "not formatted (gofmt -w):"; echo "$$files"; exit 1; fi

check-vet:
	go vet ./...

check-staticcheck:
	go tool staticcheck ./...

check-race:
	@if command -v "$$(go env CC)" >/dev/null 2>&1; then \
		echo "go test -race ./..."; CGO_ENABLED=1 go test -race ./...; \
	else \
		echo "race tests skipped: the race detector needs a C compiler, and there is no $$(go env CC)"; test -z "$$GANTRY_CI"; \
	fi

check-fresh:
	@before=$$({ git status --porcelain; git diff; } | git hash-object --stdin); \
	$(MAKE) -s docs || exit 1; \
	after=$$({ git status --porcelain; git diff; } | git hash-object --stdin); \
	if [ "$$before" != "$$after" ]; then echo "generated files were stale; make docs has written them anew:"; git status --short; exit 1; fi

check-cross:
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 go build ./...
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 go build ./...

check-size: build
	@wc -c < bin/gantry | awk '{printf "bin/gantry: %.1f MB\n", $$1 / 1e6}'

check-report:
	go test ./internal/archtest -run '^TestReport$$' -count=1 -v
