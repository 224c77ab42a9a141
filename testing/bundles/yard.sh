# Machines in namespaces, on a network of their own. Sourced by the trials.

# enter SELF FOLDER WHAT: runs the script SELF again in namespaces of its own, with FOLDER, WHAT and a new folder for the trial, and
# exits as it does. Inside it sets control, the folder of control groups, and returns.
enter() {
  if [ "${VOLTBUS_TRY_INSIDE:-}" != "" ]; then
    control=$VOLTBUS_TRY_CONTROL
    unset VOLTBUS_TRY_INSIDE VOLTBUS_TRY_CONTROL
    return
  fi
  local self=$1 folder what groups work status=0
  folder=$(realpath "$2") what=$(realpath "$3")
  groups=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
  [ -n "$groups" ] || { echo "cgroup2 is not mounted: systemd cannot be started in a namespace here" >&2; exit 1; }
  work=$(mktemp -d "$folder/trial.XXXXXX")
  VOLTBUS_TRY_INSIDE=1 VOLTBUS_TRY_CONTROL="$groups/voltbus-try-$$" \
    unshare --mount --net --pid --fork --kill-child --mount-proc "$self" "$folder" "$what" "$work" || status=$?
  find "$groups" -depth -type d -path "*/voltbus-try-$$*" -exec rmdir {} + 2>/dev/null || true
  if [ "$status" = 0 ]; then rm -rf "$work"; else echo "what is left of the trial is in $work" >&2; fi
  exit "$status"
}

step() { printf '\n== %s\n' "$*"; }
ok() { printf '   ok: %s\n' "$*"; }
fail() { printf '   FAILED: %s\n' "$*" >&2; exit 1; }

# until_true WHAT COMMAND…: repeats the command for two minutes until it succeeds.
until_true() {
  local what=$1 begun=$SECONDS
  shift
  until "$@" >"$work/last.out" 2>&1; do
    [ $((SECONDS - begun)) -lt 120 ] || { tail -20 "$work/last.out" >&2; fail "$what"; }
    sleep 0.5
  done
  ok "$what"
}

# has PATTERN COMMAND…: whether the command prints a line that matches.
has() {
  local pattern=$1
  shift
  "$@" 2>&1 | tee "$work/has.out" | grep -Eq "$pattern"
}

# disk NAME: a new disk with the system, the program in it, and a device to read.
disk() {
  mkdir -p "disk/$1/over" "disk/$1/work" "disk/$1/root"
  mkdir -p "disk/$1/over/usr/local/bin" "disk/$1/over/etc/voltbus/devices.d"
  [ "${2:-}" = bare ] || cp "$program" "disk/$1/over/usr/local/bin/voltbus"
  printf 'devices:\n  region/%s/zone1: {driver: sim, interval: 1s, config: {model: zone}}\n' "$1" >"disk/$1/over/etc/voltbus/devices.d/zone.yaml"
  echo "$1" >"disk/$1/over/etc/hostname"
  tr -d - </proc/sys/kernel/random/uuid >"disk/$1/over/etc/machine-id"
}

# boot NAME NUMBER: starts the machine with the disk NAME at 10.213.0.NUMBER.
boot() {
  local name=$1 address=10.213.0.$2 card
  printf -v card '02:00:0a:d5:00:%02x' "$2" # of the machine, as a real card's is: else systemd makes it from the disk's machine-id
  mount -t overlay overlay -o "lowerdir=$folder/base,upperdir=$work/disk/$name/over,workdir=$work/disk/$name/work" "disk/$name/root"
  ip netns add "$name"
  ip link add "to-$2" type veth peer name eth0 address "$card" netns "$name"
  link[$name]=to-$2
  ip link set "to-$2" master yard up
  ip -n "$name" link set lo up
  ip -n "$name" addr add "$address/24" dev eth0
  ip -n "$name" link set eth0 up
  mkdir -p "$control/$name"
  bash -c "echo \$\$ >$control/$name/cgroup.procs; exec ip netns exec $name unshare --mount --pid --fork --uts --ipc --cgroup --kill-child $here/machine.sh $work/disk/$name/root" >"$name.log" 2>&1 &
  outer[$name]=$!
  until_true "$name has systemd" on "$name" systemctl list-units
}

# on NAME COMMAND…: runs a command in a machine.
on() {
  local init
  init=$(pgrep -P "${outer[$1]}" | head -n 1) || return
  shift
  nsenter -t "$init" -m -u -i -n -p -- env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# halt NAME: cuts the power of a machine.
halt() {
  kill -9 "$(pgrep -P "${outer[$1]}" | head -n 1)" && wait "${outer[$1]}" 2>/dev/null || true
  ip link delete "${link[$1]}"
  ip netns delete "$1"
  umount "disk/$1/root"
}

# lay_out makes the network of the machines: this side has 10.213.0.1.
lay_out() {
  declare -gA outer link
  ip link add yard type bridge
  ip addr add 10.213.0.1/24 dev yard
  ip link set yard up
  ip link set lo up
  mkdir -p /run/netns
  mount -t tmpfs tmpfs /run/netns
  mkdir "$control"
}
