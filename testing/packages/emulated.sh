#!/usr/bin/env bash
# emulated.sh PROGRAM: starts a node of a program for arm64 in an emulator of its processor, and asks it for a reading.
set -euo pipefail
program=$(realpath "$1")
work=$(mktemp -d)
node=
trap '[ -z "$node" ] || kill "$node" 2>/dev/null || true; rm -rf "$work"' EXIT
emulated() { qemu-aarch64 -L /usr/aarch64-linux-gnu "$program" "$@"; }

cd "$work"
emulated version --json
cat >voltbus.yaml <<'YAML'
node: {name: board, data: data}
listen: {http: 127.0.0.1:0, bus: "off"}
devices:
  hall/zone: {driver: sim, interval: 1s, config: {model: zone}}
YAML
emulated check -c voltbus.yaml
qemu-aarch64 -L /usr/aarch64-linux-gnu "$program" run -c voltbus.yaml >node.log 2>&1 &
node=$!
begun=$SECONDS
until emulated points hall/zone/temp -c voltbus.yaml 2>/dev/null | grep -q ' good '; do
  kill -0 "$node" 2>/dev/null || { cat node.log >&2; exit 1; }
  [ $((SECONDS - begun)) -lt 180 ] || { cat node.log >&2; echo "there is no reading after three minutes" >&2; exit 1; }
done
emulated points hall/zone/temp -c voltbus.yaml
emulated ledger -c voltbus.yaml | sed -n 1p
kill "$node"
wait "$node" || { echo "it ended with $?" >&2; tail -5 node.log >&2; exit 1; }
node=
echo "a node for arm64 started, read, stored, and stopped cleanly"
