/** Files of HAProxy as guides and tools for Kubernetes have them. */
export interface HaproxyFile {
  readonly name: string;
  readonly text: string;
  /** For one that names no address for other hosts. */
  readonly vip?: string;
  /** What it must become: address, port, machinePort and the addresses of the members of each VIP. */
  readonly vips: readonly (readonly [string, number, number, ...string[]])[];
  /** The first words of each line, or section, that may be missed. */
  readonly left: readonly string[];
}

/** The shape of the one in kubeadm's guide for high availability, with its values filled in. */
export const kubeadmGuide: HaproxyFile = {
  name: "kubeadm's guide",
  vip: '10.0.0.100',
  vips: [['10.0.0.100', 443, 6443, '10.0.0.11', 'm2.example.net']],
  left: [],
  text: `global
    log stdout format raw local0
    daemon

defaults
    mode                    http
    log                     global
    option                  httplog
    option                  dontlognull
    option http-server-close
    option forwardfor       except 127.0.0.0/8
    option                  redispatch
    retries                 1
    timeout http-request    10s
    timeout queue           20s
    timeout connect         5s
    timeout client          35s
    timeout server          35s
    timeout http-keep-alive 10s
    timeout check           10s

# apiserver frontend which proxys to the control plane nodes
frontend apiserver
    bind *:443
    mode tcp
    option tcplog
    default_backend apiserverbackend

backend apiserverbackend
    option httpchk

    http-check connect ssl
    http-check send meth GET uri /healthz
    http-check expect status 200

    mode tcp
    balance     roundrobin

    server m1 10.0.0.11:6443 check verify none
    server m2 m2.example.net:6443 check verify none
`,
};

/** Beside keepalived, with statistics and a pace of checks for all servers. */
const pair: HaproxyFile = {
  name: 'a pair with keepalived and statistics',
  vips: [['192.168.10.10', 6443, 6443, '192.168.10.11', '192.168.10.12', '192.168.10.13']],
  left: [],
  text: `global
  log /dev/log local0
  chroot /var/lib/haproxy
  stats socket /run/haproxy/admin.sock mode 660 level admin
  stats timeout 30s
  user haproxy
  group haproxy
  daemon
  maxconn 20000
  ssl-default-bind-options ssl-min-ver TLSv1.2
defaults
  log global
  timeout connect 5000
  timeout client 50000
  timeout server 50000
listen stats
  bind *:9000
  mode http
  stats enable
  stats uri /stats
  stats refresh 10s
  stats auth admin:secret
  http-request use-service prometheus-exporter if { path /metrics }
frontend kubernetes-api
  bind 192.168.10.10:6443 transparent
  mode tcp
  option tcplog
  default_backend kubernetes-masters
backend kubernetes-masters
  mode tcp
  option tcp-check
  balance roundrobin
  default-server inter 10s downinter 5s rise 2 fall 2 slowstart 60s maxconn 250 maxqueue 256 weight 100
  server no 192.168.10.11:6443 check
  server null 192.168.10.12:6443 check
  server "true" 192.168.10.13:6443 check # the third
  server spare 192.168.10.14:6443 check disabled
`,
};

/** One on each node, for the node itself. */
const everyNode: HaproxyFile = {
  name: 'one on each node, bound to loopback',
  vip: 'fd00::100',
  vips: [['fd00::100', 6443, 6443, 'fd00::11', 'fd00::12']],
  left: [],
  text: `global
    maxconn                 4000
    log                     127.0.0.1 local0
defaults
    mode                    http
    option                  httplog
    timeout client          5m
    timeout server          5m
    timeout connect         30s
    maxconn                 4000
frontend healthz
  bind 0.0.0.0:8081
  bind :::8081
  mode http
  monitor-uri /healthz
frontend kube_api_frontend
  bind 127.0.0.1:6443
  bind [::1]:6443
  mode tcp
  option tcplog
  default_backend kube_api_backend
backend kube_api_backend
  mode tcp
  balance leastconn
  default-server inter 15s downinter 15s rise 2 fall 2 slowstart 60s maxconn 1000 maxqueue 256 weight 100
  option httpchk GET /healthz
  http-check expect status 200
  server node1 [fd00::11]:6443 check check-ssl verify none
  server node2 [fd00::12]:6443 check check-ssl verify none
`,
};

/** A cluster that has its ingress and its machines' configuration behind the same HAProxy. */
const manyPorts: HaproxyFile = {
  name: 'API, ingress and others behind one HAProxy',
  vips: [['10.1.0.5', 6443, 6443, 'boot.example.net', 'm0.example.net']],
  left: ['listen machine-config', 'listen ingress', 'frontend web', 'use_backend blog if'],
  text: `defaults
  mode tcp
  timeout connect 10s
  timeout client 1m
  timeout server 1m
listen api
  bind 10.1.0.5:6443
  server boot boot.example.net:6443 check inter 1s backup
  server m0 m0.example.net:6443 check inter 1s
listen machine-config
  bind 10.1.0.5:22623
  server m0 m0.example.net:22623 check inter 1s
listen ingress
  bind 10.1.0.5:443
  balance source
  server w0 w0.example.net:443 check inter 1s
frontend web
  bind 10.1.0.5:80
  mode http
  use_backend blog if { hdr(host) -i blog.example.net }
  default_backend blog
backend blog
  mode http
  server w0 w0.example.net:80
resolvers dns
  nameserver one 10.1.0.2:53
`,
};

/** Two clusters, told apart by their addresses; one of them sends some clients elsewhere, and some checks to another port. */
const twoClusters: HaproxyFile = {
  name: 'two clusters',
  vips: [
    ['10.2.0.5', 6443, 6443, '10.2.0.11', '10.2.0.12'],
    ['10.2.0.6', 443, 8443, '10.2.1.11'],
  ],
  left: ['use_backend tests if', 'send-proxy', 'server m3', 'tcp-request connection'],
  text: `defaults tcp-defaults
  mode tcp
  timeout connect 10s
  timeout client 1m
  timeout server 1m
defaults web from tcp-defaults
  mode http
frontend prod from tcp-defaults
  bind 10.2.0.5:6443
  tcp-request connection reject if { src 192.0.2.0/24 }
  use_backend tests if { src 10.9.0.0/16 }
  default_backend prod
frontend tests from tcp-defaults
  bind 10.2.0.6:443 name tests
  use_backend tests
backend prod from tcp-defaults
  option httpchk GET /readyz HTTP/1.0
  server m1 10.2.0.11 check port 6443 check-ssl verify none
  server m2 10.2.0.12:6443 check send-proxy verify none
  server m3 10.2.0.13:7443 check verify none
backend tests from tcp-defaults
  option httpchk GET /livez
  server t1 10.2.1.11:8443 check inter 3s verify required ca-file /etc/ssl/certs/ca-certificates.crt
`,
};

export const haproxyFiles: readonly HaproxyFile[] = [kubeadmGuide, pair, everyNode, manyPorts, twoClusters];
