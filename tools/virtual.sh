#!/usr/bin/env bash
# virtual.sh PROGRAM: build the program that runs whole nodes in the time of a world: with the simulated time of Go's runtime, which is for programs
# without C, so it has SQLite in Go and no DuckDB.
set -euo pipefail
program=$(realpath -m "$1")
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp go.mod go.sum "$work/"
go mod edit -replace github.com/duckdb/duckdb-go-bindings=./virtual/noduckdb "$work/go.mod"
CGO_ENABLED=0 go build -trimpath -tags faketime -modfile "$work/go.mod" -ldflags '-s -w -checklinkname=0' -o "$program" ./cmd/voltbus-virtual
