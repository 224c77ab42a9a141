#!/usr/bin/env bash
# Runs every fuzz test for a while, one after the other: tools/fuzz.sh 10s [package...]
set -euo pipefail

time=${1:-10s}
shift || true
for dir in $(go list -f '{{.Dir}}' "${@:-./...}"); do
  for name in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$dir"/*_test.go 2>/dev/null); do
    echo "${dir#"$PWD"/} $name"
    # By default each input that covers something new is made smaller for up to a minute, in which nothing else is tried.
    go test -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 100x "$dir"
  done
done
