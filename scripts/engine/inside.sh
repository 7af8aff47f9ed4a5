#!/bin/sh
# inside.sh FOLDER ID: process 1 of the engine's own PID and mount namespaces.
#
# Makes a network namespace whose only way out is slirp4netns, an ordinary process that opens ordinary sockets, and
# runs dockerd in it: bridges, iptables rules and sysctls of the engine never meet those of the machine.
# Prints `ready` once the engine answers. Ends with its standard input or on SIGTERM, and everything ends with it;
# then it removes FOLDER and the engine's control groups.

set -eu

folder=$1
id=$2
PATH="$PATH:/usr/sbin:/sbin"
exec 3<&0 </dev/null

finish() {
  trap '' TERM INT HUP
  # As process 1 this reaches all of this PID namespace, and nothing else.
  kill -KILL -1 2>/dev/null || true
  wait
  awk -v folder="$folder/" 'index($5, folder) == 1 { print $5 }' /proc/self/mountinfo | sort -r |
    while read -r point; do umount -l "$point" || true; done
  # The kernel frees a killed process's control group a little later.
  for attempt in 1 2 3 4 5 6 7 8 9 10; do
    find /sys/fs/cgroup -depth -type d -path "*/bgp-lb-engine-$id*" -exec rmdir {} + 2>/dev/null && break
    sleep 0.1
  done
  rm -rf "$folder"
}
trap 'finish; exit 143' TERM INT HUP

# What is mounted from here on is seen by nobody else.
mount --make-rprivate /

: >"$folder/network"
unshare --net="$folder/network" ip link set lo up
mkfifo "$folder/way-out"
# In a mount namespace of its own slirp4netns goes on seeing the machine's resolv.conf.
unshare --mount slirp4netns --configure --disable-host-loopback --netns-type=path --ready-fd=4 \
  "$folder/network" tap0 4>"$folder/way-out" >"$folder/slirp4netns.log" 2>&1 &
read -r _ <"$folder/way-out" || true # it writes one octet, without a line end
nsenter --net="$folder/network" ip link show tap0 >/dev/null || {
  cat "$folder/slirp4netns.log" >&2
  finish
  exit 1
}

# An empty /run: no socket of another engine or containerd, of systemd, nor anything of ours that stays.
resolver=$(readlink -m /etc/resolv.conf)
mkdir "$folder/cgroup"
mount --rbind /sys/fs/cgroup "$folder/cgroup"
mount -t tmpfs -o mode=755 tmpfs /run
printf 'nameserver 10.0.2.3\n' >"$folder/resolv.conf"
[ -e "$resolver" ] || { mkdir -p "${resolver%/*}" && : >"$resolver"; }
mount --bind "$folder/resolv.conf" "$resolver"

# A view of /sys that belongs to the network namespace, with the control groups back in their place.
nsenter --net="$folder/network" mount -t sysfs sysfs /sys
mount --move "$folder/cgroup" /sys/fs/cgroup

printf '{}\n' >"$folder/daemon.json"
nsenter --net="$folder/network" dockerd \
  --config-file "$folder/daemon.json" --data-root "$folder/data" --exec-root /run/docker --pidfile /run/docker.pid \
  --host "unix://$folder/docker.sock" --bip 198.18.0.1/24 --default-address-pool base=198.18.128.0/17,size=24 \
  --cgroup-parent "/bgp-lb-engine-$id" --exec-opt native.cgroupdriver=cgroupfs --userland-proxy=false \
  >"$folder/dockerd.log" 2>&1 &
dockerd=$!
until docker --host "unix://$folder/docker.sock" version >/dev/null 2>&1; do
  kill -0 "$dockerd" 2>/dev/null || {
    tail -n 20 "$folder/dockerd.log" >&2
    finish
    exit 1
  }
  sleep 0.1
done
echo ready

# Reading ends when whoever holds the other end closes it or dies.
cat <&3 >/dev/null &
wait $! || true
finish
