#!/usr/bin/env bash
# Makes what is released for an architecture, from what "make build" prepared: tools/dist.sh ARCH FOLDER. The linker's options are in
# LEAN, nfpm in NFPM. The same commit gives the same bytes, wherever and whenever it is made.
set -euo pipefail
cd "$(dirname "$0")/.."
arch=$1 out=$2 triple=
stage=build/dist/$arch

# The version stands in the first heading of the changelog.
heading=$(grep -m 1 '^## ' CHANGELOG.md)
VERSION=$(sed -E 's/^## ([0-9.]+).*/\1/' <<<"$heading")
case $heading in *"not released"*) VERSION=$VERSION-dev ;; esac
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export VERSION SOURCE_DATE_EPOCH ARCH=$arch STAGE=$stage PROGRAM=$stage/voltbus

rm -rf "$stage"
mkdir -p "$stage" "$out"
if [ "$arch" != "$(go env GOHOSTARCH)" ]; then
  case $arch in arm64) triple=aarch64-linux-gnu ;; amd64) triple=x86_64-linux-gnu ;; *) echo "there is no $arch: write amd64 or arm64" >&2; exit 2 ;; esac
  export CC=$triple-gcc CXX=$triple-g++
fi
echo "voltbus $VERSION for $arch"
CGO_ENABLED=1 GOOS=linux GOARCH=$arch go build -trimpath -ldflags "$LEAN -X voltbus/cmd/voltbus/shell.release=$VERSION" -o "$PROGRAM" ./cmd/voltbus

# The package depends on the libraries of this system, or newer ones: it is refused where the program would not start.
newest() { "${triple:+$triple-}objdump" -T "$PROGRAM" | grep -o "$1[0-9.]*" | sed "s/$1//" | sort -V | tail -n 1; }
LIBC=$(newest GLIBC_)
case $(newest GLIBCXX_) in # https://gcc.gnu.org/onlinedocs/libstdc++/manual/abi.html
  3.4.30) LIBSTDCXX=12 ;; 3.4.31 | 3.4.32) LIBSTDCXX=13 ;; 3.4.33) LIBSTDCXX=14 ;; 3.4.34) LIBSTDCXX=15 ;;
  *) echo "add GLIBCXX_$(newest GLIBCXX_) to tools/dist.sh" >&2; exit 1 ;;
esac
export LIBC LIBSTDCXX

sed 's|/usr/local/bin/|/usr/bin/|' deploy/systemd/voltbus.service >"$stage/voltbus.service"
gzip --no-name --best --stdout CHANGELOG.md >"$stage/changelog.gz"
printf 'voltbus (%s-1) unstable; urgency=medium\n\n  * See changelog.gz.\n\n -- The Voltbus developers <voltbus@voltbus.invalid>  %s\n' \
  "${VERSION/-/\~}" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip --no-name --best >"$stage/changelog.Debian.gz"
rm -f "$out"/*_"$arch".deb "$out"/*-"$arch".tar.gz
$NFPM package --config deploy/package/nfpm.yaml --packager deb --target "$out/"

name=voltbus-$VERSION-linux-$arch
mkdir -p "$stage/$name"
cp "$PROGRAM" LICENSE cmd/voltbus/notices/* deploy/systemd/voltbus.service "$stage/$name/"
tar --create --directory "$stage" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX "$name" |
  gzip --no-name --best >"$out/$name.tar.gz"
cp cmd/voltbus/notices/sbom.*.json "$out/"
(cd "$out" && rm -f SHA256SUMS && sha256sum -- * >SHA256SUMS && cat SHA256SUMS)
