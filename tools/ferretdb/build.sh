#!/usr/bin/env bash
# Builds FerretDB into the file that is named. Its program wants a file with its version among its sources, which its release scripts make.
set -euo pipefail
cd "$(dirname "$0")"
module=github.com/FerretDB/FerretDB
work=$(mktemp -d)
trap 'chmod -R u+w "$work" && rm -rf "$work"' EXIT
go mod download "$module" # go list names no folder for what is not on the machine yet
cp -r "$(go list -m -f '{{.Dir}}' "$module")" "$work/src"
chmod -R u+w "$work/src"
go list -m -f '{{.Version}}' "$module" >"$work/src/build/version/version.txt"
cd "$work/src"
GOWORK=off go build -o "$1" ./cmd/ferretdb
