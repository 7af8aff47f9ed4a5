#!/bin/sh
# Runs the interoperability tests against the daemons of another Debian release, beside those of this machine:
#
#   newer-daemons.sh fetch FOLDER [SUITE]      downloads FRR, BIRD 2 and 3, GoBGP, OpenBGPD, HAProxy and Compose of SUITE (trixie)
#   newer-daemons.sh run FOLDER COMMAND...     runs a command that finds those where it looks for this machine's
#
# BIRD is version 3 with BIRD=3, and Compose a plugin of docker by DOCKER_CONFIG. Nothing is installed: the packages are unpacked
# below FOLDER, and `run` puts them over the machine's own in a mount namespace that ends with the command. As root, with Debian's
# packages of the tests installed. They come from the mirror that apt uses, or from MIRROR.
# Exit status: that of the command; 1 a step failed, 2 wrong usage.

set -eu

usage() {
  sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
  exit 2
}

[ $# -ge 2 ] || usage
step=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
shift 2

# apt-get with everything of its own below the folder.
apt() {
  apt-get -q -y -o Dir::State="$folder/apt" -o Dir::State::status="$folder/apt/status" -o Dir::Cache="$folder/apt" \
    -o Dir::Etc="$folder/apt/etc" -o Dir::Etc::sourcelist="$folder/apt/etc/sources.list" -o Dir::Etc::sourceparts=- \
    -o APT::Install-Recommends=false -o APT::Sandbox::User=root -o Debug::NoLocking=1 "$@"
}

# The first of apt's mirrors that has Debian itself: neither its updates alone nor somebody else's packages.
debian_mirror() {
  apt-get indextargets --format '$(ORIGIN) $(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
    awk '$1 == "Debian" && $2 !~ /-/ { print $3; exit }'
}

fetch() {
  suite=${1:-trixie}
  mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial" "$folder/apt/etc/preferences.d"
  : >"$folder/apt/status"
  printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' \
    "${MIRROR:-$(debian_mirror)}" "$suite" >"$folder/apt/etc/sources.list"
  apt update
  # With all that they need, the C library included.
  apt install --download-only frr bird2 gobgpd openbgpd haproxy
  (cd "$folder/apt/archives" && apt download bird3 docker-compose)
  for package in "$folder"/apt/archives/*.deb; do
    case $package in
      */bird3_*) dpkg -x "$package" "$folder/bird3" ;;
      # A program of Go, which the machine's own C library will do for.
      */docker-compose_*) dpkg -x "$package" "$folder/compose" ;;
      *) dpkg -x "$package" "$folder/root" ;;
    esac
  done
}

# Puts a program that starts that of the folder, with the libraries it was built with, in the place of the machine's own.
replace() {
  place=$1
  program=$2
  [ -x "$program" ] || { echo "newer-daemons: no $program: fetch first" >&2; exit 1; }
  [ -e "$place" ] || { echo "newer-daemons: no $place, which it would take the place of" >&2; exit 1; }
  libraries=$folder/root/usr/lib/x86_64-linux-gnu
  wrapper=$folder/programs/$(printf '%s' "$place" | tr / _)
  # Under the machine's own name: OpenBGPD starts its parts by that.
  printf '#!/bin/sh\nexec %s/ld-linux-x86-64.so.2 --argv0 "$0" --library-path %s:%s/frr %s "$@"\n' \
    "$libraries" "$libraries" "$libraries" "$program" >"$wrapper"
  chmod 755 "$wrapper"
  mount --bind "$wrapper" "$(readlink -f "$place")"
}

# Inside the mount namespace.
replace_all() {
  mkdir -p "$folder/programs"
  root=$folder/root
  for name in zebra bgpd bfdd; do replace "/usr/lib/frr/$name" "$root/usr/lib/frr/$name"; done
  replace /usr/bin/vtysh "$root/usr/bin/vtysh"
  case ${BIRD:-2} in
    2) bird=$root ;;
    3) bird=$folder/bird3 ;;
    *) usage ;;
  esac
  for name in bird birdc; do replace "/usr/sbin/$name" "$bird/usr/sbin/$name"; done
  for name in gobgp gobgpd; do replace "/usr/bin/$name" "$root/usr/bin/$name"; done
  for name in bgpd bgpctl haproxy; do replace "/usr/sbin/$name" "$root/usr/sbin/$name"; done
  DOCKER_CONFIG=$folder/compose/usr/libexec/docker
  export DOCKER_CONFIG
}

case $step in
  fetch) fetch "$@" ;;
  run)
    [ $# -ge 1 ] || usage
    exec unshare --mount "$0" run-inside "$folder" "$@"
    ;;
  run-inside)
    replace_all
    exec "$@"
    ;;
  *) usage ;;
esac
