#!/usr/bin/env bash
# Checks that the programs named as arguments are there and new enough, and installs system
# packages where that is possible (Debian and its children, as root). Otherwise it says, for all
# of them at once, what to install.
set -euo pipefail

# One at a time: targets of a parallel make call it, and the package manager has one lock.
mkdir -p "$(dirname "$0")/../build"
exec 9>"$(dirname "$0")/../build/.require.lock"
flock 9

missing=()

# at_least HAVE WANT: compares dotted versions.
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# install PACKAGE: installs a system package, or fails.
install() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
  echo "installing the system package $1" >&2
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$1" >/dev/null 2>&1 && return
  apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$1" >/dev/null
}

# need PROGRAM PACKAGE: wants a program on the path.
need() {
  command -v "$1" >/dev/null || install "$2" || missing+=("$1: install the package $2 (as root: apt-get install $2)")
}

check_go() {
  if ! command -v go >/dev/null; then
    missing+=("go: install Go 1.26 or newer, see https://go.dev/dl")
  elif version=$(go env GOVERSION 2>/dev/null) && at_least "${version#go}" 1.26; then
    return
  else
    missing+=("go: ${version:-this version} is too old, install Go 1.26 or newer, see https://go.dev/dl")
  fi
}

check_node() {
  if ! command -v node >/dev/null; then
    missing+=("node: install Node.js 20 or newer, see https://nodejs.org")
  elif version=$(node --version) && ! at_least "${version#v}" 20; then
    missing+=("node: $version is too old, install Node.js 20 or newer, see https://nodejs.org")
  elif ! command -v npm >/dev/null; then
    missing+=("npm: it comes with Node.js, or install the package npm")
  fi
}

check_venv() {
  python3 -c 'import ensurepip, venv' 2>/dev/null || install python3-venv ||
    missing+=("python3-venv: install the package python3-venv (as root: apt-get install python3-venv)")
}

# The one without the windows of a desktop takes half the processor time.
check_chromium() {
  command -v chromium-headless-shell >/dev/null || install chromium-headless-shell && return
  for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then return; fi
  done
  install chromium || missing+=("chromium: install the package chromium (as root: apt-get install chromium)")
}

check_postgresql() {
  command -v initdb >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null ||
    install postgresql || missing+=("postgresql: install the package postgresql (as root: apt-get install postgresql)")
}

check_mosquitto() {
  command -v mosquitto >/dev/null || [ -x /usr/sbin/mosquitto ] ||
    install mosquitto || missing+=("mosquitto: install the package mosquitto (as root: apt-get install mosquitto)")
}

check_mariadb() {
  { command -v mariadb-install-db && command -v my_print_defaults; } >/dev/null || { install mariadb-server-core && install mariadb-client-core; } ||
    missing+=("mariadb: install the packages mariadb-server-core and mariadb-client-core (as root: apt-get install mariadb-server-core mariadb-client-core)")
}

check_rabbitmq() {
  [ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] || install rabbitmq-server ||
    missing+=("rabbitmq: install the package rabbitmq-server (as root: apt-get install rabbitmq-server)")
}

check_cross_arm64() {
  command -v aarch64-linux-gnu-g++ >/dev/null || install g++-aarch64-linux-gnu ||
    missing+=("g++-aarch64-linux-gnu: install the package g++-aarch64-linux-gnu (as root: apt-get install g++-aarch64-linux-gnu)")
}

for thing in "$@"; do
  case $thing in
    go) check_go ;;
    node) check_node ;;
    venv) need python3 python3 && check_venv ;;
    chromium) check_chromium ;;
    postgresql) check_postgresql ;;
    mosquitto) check_mosquitto ;;
    mariadb) check_mariadb ;;
    rabbitmq) check_rabbitmq ;;
    cross-arm64) check_cross_arm64 ;;
    emulator) need qemu-aarch64 qemu-user ;;
    ip) need ip iproute2 ;;
    *) need "$thing" "$thing" ;;
  esac
done

if [ ${#missing[@]} -gt 0 ]; then
  echo "Some programs that Voltbus is built or tested with are not here:" >&2
  printf '  %s\n' "${missing[@]}" >&2
  exit 1
fi
