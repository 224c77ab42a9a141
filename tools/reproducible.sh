#!/usr/bin/env bash
# Makes what is released twice, from two clones in different folders and with different caches of the compiler, and compares the bytes.
# tools/reproducible.sh FOLDER
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mkdir -p "$1" && cd "$1" && pwd)
[ -z "$(git -C "$root" status --porcelain)" ] || { echo "commit what you changed first: clones have what is committed" >&2; exit 1; }
one=$folder/one other=$folder/and/another/one
for place in "$one" "$other"; do
  rm -rf "$place"
  git clone --quiet "$root" "$place"
done
make -C "$one" dist
# The second one shares nothing that was compiled.
mkdir -p "$folder/tmp"
GOCACHE=$folder/cache TMPDIR=$folder/tmp TZ=Pacific/Auckland make -C "$other" dist
if diff "$one/dist/SHA256SUMS" "$other/dist/SHA256SUMS"; then
  echo "the same bytes twice"
else
  echo "the two builds differ" >&2
  exit 1
fi
