#!/usr/bin/env bash
# Installs what a file of requirements names into .venv, which it makes if it is not there. Further arguments are
# options of pip. Only one at a time: targets of a parallel make share it.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p build
exec 9>build/.venv.lock
flock 9
[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check --requirement "$@"
