#!/usr/bin/env bash
# prepare.sh FOLDER: has in FOLDER what try.sh needs: a Debian system with systemd, cloud-init and an SSH
# server in base, and Ansible in ansible. They serve the trial alone.
set -euo pipefail
folder=$1
release=bookworm

if [ "$(uname -s)" != Linux ] || [ "$(id -u)" != 0 ]; then
  echo "make try-bundles starts machines in namespaces: run it as root on Linux, such as in a virtual machine" >&2
  exit 1
fi
for need in debootstrap:debootstrap ip:iproute2 ssh:openssh-client ssh-keygen:openssh-client unshare:util-linux python3:python3; do
  command -v "${need%%:*}" >/dev/null && continue
  command -v apt-get >/dev/null || { echo "install ${need#*:}: this is no Debian, so it is not done from here" >&2; exit 1; }
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${need#*:}" >/dev/null
done

mkdir -p "$folder"
if [ ! -e "$folder/ansible/.ready" ]; then
  rm -rf "$folder/ansible"
  python3 -m venv "$folder/ansible"
  "$folder/ansible/bin/pip" install --quiet --disable-pip-version-check ansible-core==2.19.14
  touch "$folder/ansible/.ready"
fi
if [ ! -e "$folder/.base" ]; then
  rm -rf "$folder/base"
  debootstrap --variant=minbase "$release" "$folder/base" http://deb.debian.org/debian >"$folder/debootstrap.log" || { tail -5 "$folder/debootstrap.log" >&2; exit 1; }
  cp /etc/resolv.conf "$folder/base/etc/resolv.conf"
  unshare --mount --pid --fork --kill-child chroot "$folder/base" sh -eu >"$folder/base.log" 2>&1 <<'SYSTEM' || { tail -5 "$folder/base.log" >&2; exit 1; }
mount -t proc proc /proc
export DEBIAN_FRONTEND=noninteractive
apt-get install -y -qq --no-install-recommends systemd systemd-sysv dbus udev python3 openssh-server iproute2 cloud-init ca-certificates
rm -f /etc/ssh/ssh_host_* /etc/machine-id
ssh-keygen -A
touch /etc/machine-id
mkdir -p /root/.ssh
chmod 0700 /root/.ssh
echo 'locale: false' >/etc/cloud/cloud.cfg.d/90-no-locales.cfg
SYSTEM
  touch "$folder/.base"
fi
