#!/usr/bin/env bash
# Runs a test program, and what failed of it once more, alone:
#
#   tools/once_more.sh pytest DIRECTORY COMMAND...    a pytest command line, run in DIRECTORY
#   tools/once_more.sh vitest DIRECTORY COMMAND...    a vitest command line, run in DIRECTORY
#
# A test that passes the second time is a defect of the test or of the program. It does not fail the run: it is
# listed in build/flaky.txt, which the run prints at its end.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
flaky=$root/build/flaky.txt
mkdir -p "$root/build"

# More failures than these are no matter of luck.
most=10

again_pytest() { # DIRECTORY COMMAND...
  local dir=$1 names
  shift
  cd "$dir"
  rm -f .pytest_cache/v/cache/lastfailed
  "$@" && return 0
  [ -s .pytest_cache/v/cache/lastfailed ] || return 1
  names=$(sed -n 's/^ *"\(.*\)": true,\{0,1\}$/\1/p' .pytest_cache/v/cache/lastfailed)
  [ -n "$names" ] && [ "$(wc -l <<<"$names")" -le "$most" ] || return 1
  echo "once more, alone:" && sed 's/^/  /' <<<"$names"
  "$@" --last-failed --last-failed-no-failures none || return 1
  sed "s|^|$dir |" <<<"$names" >>"$flaky"
}

again_vitest() { # DIRECTORY COMMAND...
  local dir=$1 report names
  shift
  cd "$dir"
  report=$root/build/vitest-$$.json
  "$@" --reporter=default --reporter=json --outputFile.json="$report" && { rm -f "$report"; return 0; }
  names=$(node -e '
    const { readFileSync } = require("node:fs");
    for (const file of JSON.parse(readFileSync(process.argv[1], "utf8")).testResults)
      if (file.status === "failed") console.log(file.name);' "$report") || return 1
  rm -f "$report"
  [ -n "$names" ] && [ "$(wc -l <<<"$names")" -le "$most" ] || return 1
  echo "once more, alone:" && sed 's/^/  /' <<<"$names"
  xargs -d '\n' "$@" <<<"$names" || return 1
  sed "s|^$root/||" <<<"$names" >>"$flaky"
}

case ${1:-} in
pytest) shift && again_pytest "$@" ;;
vitest) shift && again_vitest "$@" ;;
*) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
esac
