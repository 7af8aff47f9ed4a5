#!/bin/sh
# start-frr.sh [GATEWAY VIP]: FRR with the configuration /etc/bgp-lb/frr.conf, in which @PASSWORD@ stands for the BGP
# password. As a master it has a gateway and the VIP. As a router it knows what BGP tells it and has no other way: its
# engine's gateway would take what is for a VIP that is gone to the world outside, and redirect the client there.
# bgpd is the container's main program, and no watchfrr runs beside it: restarting containers is the engine's.
set -eu
if [ $# -gt 0 ]; then
  ip route replace default via "$1"
  ip address replace "$2/32" dev lo
else
  ip route flush exact default
fi
install -d -o frr -g frr /run/frr
rm -f /run/frr/*
# The file is read as root, but by nobody else: it holds the password.
umask 077
sed "s/@PASSWORD@/$(cat /shared/bgp-password)/" /etc/bgp-lb/frr.conf >/run/frr/bgpd.conf
chown frr:frr /run/frr/bgpd.conf
umask 022
: >/etc/frr/vtysh.conf
/usr/lib/frr/zebra --daemon -A 127.0.0.1 -f /dev/null
/usr/lib/frr/bfdd --daemon -A 127.0.0.1 -f /dev/null
exec /usr/lib/frr/bgpd -A 127.0.0.1 -f /run/frr/bgpd.conf
