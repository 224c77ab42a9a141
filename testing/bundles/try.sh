#!/usr/bin/env bash
# try.sh FOLDER VOLTBUS: tries what voltbus provision writes with the real cloud-init, Ansible and systemd:
# machines in namespaces, on a network of their own, whose parent runs beside them. FOLDER was filled by
# prepare.sh. Nothing of it outlives the script.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/yard.sh"
enter "$0" "$1" "$2"
folder=$1 program=$2 work=$3
cd "$work"

campus() { "$program" "$@" -c "$work/campus.yaml"; }
child() { campus children -f csv | grep "^$1,"; }
# start_parent waits for what the node says: a command that comes before it would open the data directory itself.
start_parent() {
  "$program" run -c campus.yaml >campus.log 2>&1 &
  parent=$!
  until_true "the parent runs" grep 'msg="node runs"' campus.log
}
stop_parent() { kill "$parent"; wait "$parent" || true; }

# connected NAME KEYS: whether the node is connected, and has had so many keys.
connected() {
  campus children show "$1" >show.json
  grep -q '"online": *{' show.json && grep -Eq "\"keys\": *$2\b" show.json
}
stored() { has ' good ' campus points "region/$1/zone1/temp"; }

# balanced NAME…: whether the ledger of the parent knows the nodes and misses nothing.
balanced() {
  campus ledger >ledger.txt 2>&1 || return
  local name
  for name in "$@"; do grep -q "$name" ledger.txt || return; done
  head -n 1 ledger.txt | grep -Eq '^(Nothing|Everything|All|No )'
}

# joins NAME: waits until the node is connected with a key of its own, and its readings are at the parent.
joins() {
  until_true "$1 is connected with a key of its own" connected "$1" 2
  until_true "readings of $1 are at the parent" stored "$1"
}

# tidy NAME: whether the files on the machine have the modes and owners that they should.
tidy() {
  on "$1" stat -c '%a %U:%G %n' /etc/voltbus/voltbus.yaml /var/lib/voltbus /var/lib/voltbus/parent.nk /var/lib/voltbus/parent.json >modes.txt
  diff - modes.txt <<'MODES'
640 root:voltbus /etc/voltbus/voltbus.yaml
700 voltbus:voltbus /var/lib/voltbus
600 voltbus:voltbus /var/lib/voltbus/parent.nk
600 voltbus:voltbus /var/lib/voltbus/parent.json
MODES
}

# seed NAME BUNDLE: gives a disk the bundle as cloud-init's NoCloud reads it.
seed() {
  mkdir -p "disk/$1/over/var/lib/cloud/seed/nocloud"
  cp "bundles/$2/cloud-init/"* "disk/$1/over/var/lib/cloud/seed/nocloud/"
}

lay_out
cat >campus.yaml <<'YAML'
node: {name: campus, data: campus}
listen: {http: 127.0.0.1:8080, bus: 10.213.0.1:4222}
YAML
cat >plants.csv <<'CSV'
name,prefix,host,site
plant-04,,10.213.0.14,north
plant-05,,10.213.0.15,north
plant-06,,10.213.0.16,south
CSV
start_parent
campus provision --count 3 --name 'plant-%02d' --prefix 'region/{name}' --out bundles
campus provision --from plants.csv --prefix 'region/{name}' --out bundles

step "the unit"
systemd-analyze security --offline=true bundles/voltbus.service | tail -n 1

step "cloud-init's own judgement"
mount -t tmpfs tmpfs "$folder/base/tmp"
for name in plant-01 plant-02 plant-03; do
  cp "bundles/$name/cloud-init/user-data" "$folder/base/tmp/"
  out=$(chroot "$folder/base" cloud-init schema --config-file /tmp/user-data 2>&1) || fail "$name: $out"
  [ "$out" = "Valid cloud-config: /tmp/user-data" ] || fail "$name: $out"
done
umount "$folder/base/tmp"
ok "valid, without a warning"

step "a machine that cloud-init sets up on its first start"
disk m1
seed m1 plant-01
mv disk/m1/over/etc/voltbus/devices.d/zone.yaml zone.m1
sed 's/m1/plant-01/' zone.m1 >disk/m1/over/etc/voltbus/devices.d/zone.yaml
boot m1 11
joins plant-01
until_true "cloud-init is done" has 'status: done' on m1 cloud-init status
on m1 grep -E ' (WARNING|ERROR|CRITICAL)' /var/log/cloud-init.log && fail "cloud-init warned"
ok "cloud-init warned of nothing"
tidy m1 || fail "modes of the files"
ok "keys are the node's alone"
on m1 systemd-analyze verify voltbus.service || fail "systemd-analyze verify"
ok "systemd finds nothing wrong in the unit"
halt m1
boot m1 11
until_true "the node is back after the power was cut" connected plant-01 2

step "the same bundle on a second machine"
disk m2
seed m2 plant-01
boot m2 12
until_true "the second one is told" has 'was replaced' on m2 voltbus uplink status -c /etc/voltbus/voltbus.yaml
until_true "the parent's audit log has it" has 'key was replaced' campus audit export
connected plant-01 2 || fail "the first one was disturbed"
ok "the first one is not disturbed"
halt m2

step "a copy of a disk that has joined"
halt m1
cp -a disk/m1 disk/m3
boot m1 11
until_true "the first one is back" connected plant-01 2
boot m3 13
until_true "the copy is told" has 'is connected already' on m3 voltbus uplink status -c /etc/voltbus/voltbus.yaml
until_true "the parent's audit log has it" has 'is connected already' campus audit export
halt m3

step "a machine whose parent is away on its first start"
stop_parent
disk plant-02
seed plant-02 plant-02
boot plant-02 12
until_true "the node runs" has '^active' on plant-02 systemctl is-active voltbus
until_true "it waits for the parent" has 'connecting|refused|unreachable' on plant-02 voltbus uplink status -c /etc/voltbus/voltbus.yaml
start_parent
joins plant-02

step "three machines that Ansible sets up"
ssh-keygen -q -t ed25519 -N '' -f ssh-key
number=14
for name in plant-04 plant-05 plant-06; do
  disk "$name" bare
  mkdir -p -m 0700 "disk/$name/over/root/.ssh"
  mkdir -p "disk/$name/over/etc/cloud"
  touch "disk/$name/over/etc/cloud/cloud-init.disabled"
  cp ssh-key.pub "disk/$name/over/root/.ssh/authorized_keys"
  boot "$name" "$number"
  number=$((number + 1))
done
ln -s "$program" "bundles/voltbus-$(uname -m)"
export ANSIBLE_HOST_KEY_CHECKING=False ANSIBLE_PYTHON_INTERPRETER=auto_silent ANSIBLE_TIMEOUT=60 ANSIBLE_NOCOWS=1 ANSIBLE_LOCAL_TEMP=$work/ansible HOME=$work
play() {
  "$folder/ansible/bin/ansible-playbook" -i bundles/hosts.yaml -u root --private-key ssh-key --limit plant-04,plant-05,plant-06 bundles/playbook.yaml "$@"
}
play --syntax-check >play.log 2>&1 || { cat play.log; fail "the syntax of the playbook"; }
play >play.log 2>&1 || { tail -40 play.log; fail "the playbook"; }
grep -q WARNING play.log && { grep WARNING play.log; fail "Ansible warned"; }
tail -n 4 play.log
for name in plant-04 plant-05 plant-06; do
  joins "$name"
  tidy "$name" || fail "modes of the files of $name"
done

step "a configuration that is changed on the machine, and then from above"
config=/etc/voltbus/voltbus.yaml
allow='uplink: {allow: ["call node:config.get", "call node:config.check", "call node:config.set", "call node:config.confirm"]}'
on plant-04 sh -c "echo '$allow' >>$config && systemctl reload voltbus"
until_true "the node lets its configuration be read" campus config show --node plant-04
campus config show --node plant-04 >pushed.yaml
echo 'devices: {region/plant-04/zone2: {driver: sim, interval: 1s, config: {model: zone}}}' >>pushed.yaml
campus config apply pushed.yaml --node plant-04
until_true "readings of the new device are at the parent" has ' good ' campus points region/plant-04/zone2/temp
on plant-04 cat "$config" | diff pushed.yaml - || fail "the file on the machine is another one"
[ "$(on plant-04 stat -c '%a %U:%G' "$config")" = "640 voltbus:voltbus" ] || fail "the mode of the changed file"
[ -z "$(on plant-04 sh -c 'ls -A /etc/voltbus | grep -v -e ^voltbus.yaml -e ^devices.d')" ] || fail "something is left in /etc/voltbus"
on plant-04 runuser -u voltbus -- touch /etc/voltbus/devices.d/more.yaml 2>/dev/null && fail "the service may write to devices.d"
ok "the file is the node's, and nothing is left beside it"
on plant-04 sh -c 'mkdir -p /run/systemd/system/voltbus.service.d && printf "[Service]\nReadWritePaths=\nReadOnlyPaths=/etc/voltbus\n" >/run/systemd/system/voltbus.service.d/fixed.conf && systemctl daemon-reload && systemctl restart voltbus'
until_true "the node is back, and may not write its configuration" campus config show --node plant-04
sed 's/interval: 1s/interval: 2s/' pushed.yaml >refused.yaml
campus config apply refused.yaml --node plant-04 >refused.txt 2>&1 && fail "a configuration is applied that cannot be written"
grep -q 'may not write here.*ReadWritePaths' refused.txt || { cat refused.txt; fail "the refusal does not say what to do"; }
campus config show --node plant-04 | diff pushed.yaml - || fail "a refused configuration is in the file"
ok "a configuration that cannot be written is refused, and changes nothing"
on plant-04 sh -c 'rm -r /run/systemd/system/voltbus.service.d && systemctl daemon-reload && systemctl restart voltbus'

step "Ansible once more"
play >play.log 2>&1 || { tail -40 play.log; fail "the playbook once more"; }
tail -n 4 play.log
[ "$(grep -c 'changed=0 ' play.log)" = 3 ] || fail "the second run changed something"
ok "a second run changes nothing"
for name in plant-04 plant-05 plant-06; do until_true "$name is connected" connected "$name" 2; done

step "the accounts"
until_true "the ledger of the parent misses nothing" balanced plant-01 plant-02 plant-04 plant-05 plant-06
head -n 1 ledger.txt
head -n 1 ledger.txt | grep -q 'of 7 nodes' || fail "the ledger is not that of the parent and its six descendants"
on plant-05 journalctl -u voltbus -o cat --no-pager >journal.txt
grep -q 'level=INFO.*made anew.*has a new key' journal.txt || { cat journal.txt; fail "the journal does not say why the node connected twice"; }
grep -E 'level=(WARN|ERROR)' journal.txt && fail "a node that joined without trouble warns"
ok "the journal of a node that joined warns of nothing"
campus provision --count 6 --name 'plant-%02d' --prefix 'region/{name}' --out bundles
step "all is as it should be"
