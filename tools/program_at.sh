#!/usr/bin/env bash
# Builds the program as it was at a commit, in a worktree that is there only meanwhile, and prints where
# it is: tools/program_at.sh COMMIT FOLDER. One that was built before is not built again.
set -euo pipefail

wanted=$1 folder=$2
if ! commit=$(git rev-parse --verify --quiet "$wanted^{commit}"); then
  echo "the history here does not hold the commit $wanted: fetch it whole (git fetch --unshallow), or name another one, make skew OLD=COMMIT" >&2
  exit 1
fi
mkdir -p "$folder"
program=$(cd "$folder" && pwd)/voltbus-${commit:0:12}
if [ ! -x "$program" ]; then
  tree=$(mktemp -d)
  trap 'git worktree remove --force "$tree/voltbus" 2>/dev/null; rm -rf "$tree"; git worktree prune' EXIT
  git worktree add --quiet --detach "$tree/voltbus" "$commit"
  go -C "$tree/voltbus" build -trimpath -ldflags "-X main.release=${commit:0:12} -X voltbus/cmd/voltbus/shell.release=${commit:0:12}" -o "$program.new" ./cmd/voltbus
  mv "$program.new" "$program"
fi
echo "$program"
