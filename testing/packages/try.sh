#!/usr/bin/env bash
# try.sh FOLDER DIST: installs, upgrades, removes and purges the Debian package in DIST on a machine with the real systemd, in
# namespaces. FOLDER was filled by ../bundles/prepare.sh. Nothing of it outlives the script.
set -euo pipefail
here=$(cd "$(dirname "$0")/../bundles" && pwd)
. "$here/yard.sh"
package=$2
[ ! -d "$package" ] || package=$(echo "$package"/voltbus_*_"$(dpkg --print-architecture)".deb)
enter "$0" "$1" "$package"
folder=$1 work=$3
cd "$work"
lay_out

voltbus() { on plant runuser -u voltbus -- voltbus "$@" -c /etc/voltbus/voltbus.yaml; }
gone() { ! on plant test -e "$1"; }

disk plant bare
rm -r disk/plant/over/etc/voltbus
mkdir -p disk/plant/over/etc/cloud
touch disk/plant/over/etc/cloud/cloud-init.disabled
cp "$package" disk/plant/over/voltbus.deb

step "install"
boot plant 11
on plant dpkg --install /voltbus.deb >install.log 2>&1 || { cat install.log; fail "dpkg"; }
until_true "the service runs" has '^active' on plant systemctl is-active voltbus
until_true "the node answers" voltbus health
on plant stat -c '%a %U:%G %n' /etc/voltbus /etc/voltbus/voltbus.yaml /var/lib/voltbus >modes.txt
diff - modes.txt <<'MODES' || fail "modes of the files"
770 root:voltbus /etc/voltbus
640 root:voltbus /etc/voltbus/voltbus.yaml
700 voltbus:voltbus /var/lib/voltbus
MODES
ok "the files have the modes and owners that they should"
on plant systemd-analyze verify voltbus.service || fail "systemd-analyze verify"
on plant dpkg --verify voltbus || fail "dpkg --verify"
ok "systemd and dpkg find nothing wrong"

step "upgrade"
on plant sh -c 'printf "devices: {hall/zone: {driver: sim, interval: 1s, config: {model: zone}}}\n" >/etc/voltbus/more.yaml
  sed -i "s|^devices: {}|include: [more.yaml]|" /etc/voltbus/voltbus.yaml && chgrp voltbus /etc/voltbus/more.yaml && chmod 0640 /etc/voltbus/more.yaml'
on plant systemctl reload voltbus
until_true "a device is read" has ' good ' voltbus points hall/zone/temp
before=$(on plant systemctl show --property MainPID voltbus)
on plant dpkg --install /voltbus.deb >upgrade.log 2>&1 || { cat upgrade.log; fail "dpkg"; }
until_true "the service runs again" has '^active' on plant systemctl is-active voltbus
[ "$(on plant systemctl show --property MainPID voltbus)" != "$before" ] || fail "the service was not restarted"
until_true "it reads on, with its own configuration" has ' good ' voltbus points hall/zone/temp
until_true "the ledger misses nothing" has '^(Nothing|Everything|All)' voltbus ledger

step "remove"
on plant dpkg --remove voltbus >remove.log 2>&1 || { cat remove.log; fail "dpkg"; }
gone /usr/bin/voltbus || fail "the program is still there"
on plant test -e /var/lib/voltbus/admin.token || fail "the data is gone"
on plant test -e /etc/voltbus/voltbus.yaml || fail "the configuration is gone"
has '^active' on plant systemctl is-active voltbus && fail "the service still runs"
ok "the program is gone; configuration and readings are there"

step "install again"
on plant dpkg --install /voltbus.deb >install.log 2>&1 || { cat install.log; fail "dpkg"; }
until_true "the node reads on" has ' good ' voltbus points hall/zone/temp

step "purge"
on plant dpkg --purge voltbus >purge.log 2>&1 || { cat purge.log; fail "dpkg"; }
for place in /usr/bin/voltbus /etc/voltbus /var/lib/voltbus /usr/share/voltbus /lib/systemd/system/voltbus.service; do
  gone "$place" || fail "$place is still there"
done
on plant getent passwd voltbus && fail "the user is still there"
ok "nothing is left"
step "all is as it should be"
