#!/usr/bin/env bash
# Runs the demonstration from the sources, and the page with its changes at once: a changed Go file builds and starts the node anew, a
# changed file of the page is in the browser as soon as it is saved. Ctrl-C ends both.
set -uo pipefail
cd "$(dirname "$0")/.."
dir=build/dev
mkdir -p "$dir"
node= page=

finish() {
  trap - EXIT INT TERM
  [ -z "$page" ] || kill "$page" 2>/dev/null
  [ -z "$node" ] || { kill -INT "$node" 2>/dev/null; wait "$node" 2>/dev/null; }
  exit 0
}
trap finish EXIT INT TERM

start() {
  (cd "$dir" && exec ./voltbus demo) &
  node=$!
}

address() { sed -n 's/.*"http":"\([^"]*\)".*/\1/p' "$dir/voltbus-demo/data/node.json" 2>/dev/null; }

touch "$dir/looked"
go build -trimpath -o "$dir/voltbus" ./cmd/voltbus || exit 1
rm -f "$dir/voltbus-demo/data/node.json"
start
until [ -n "$(address)" ]; do
  kill -0 "$node" 2>/dev/null || exit 1
  sleep 0.2
done
VOLTBUS_URL=$(address) npm --prefix web run dev &
page=$!
echo "dev: the page with its changes stands at the address below, with #token=$(cat "$dir/voltbus-demo/data/admin.token") behind it"

while kill -0 "$page" 2>/dev/null; do
  sleep 1
  changed=$(find . \( -name node_modules -o -name build -o -name .git \) -prune -o -name '*.go' -newer "$dir/looked" -print -quit)
  [ -n "$changed" ] || continue
  touch "$dir/looked"
  echo "dev: $changed changed; building"
  go build -trimpath -o "$dir/voltbus.new" ./cmd/voltbus || continue # the one that runs goes on
  kill -INT "$node" 2>/dev/null
  wait "$node" 2>/dev/null
  mv "$dir/voltbus.new" "$dir/voltbus"
  start
done
