/** A haproxy.cfg in the shape of the one in kubeadm's guide to highly available topologies. */
export function kubeadmGuide(settings: {
  /** Lines of `global`. */
  readonly global: readonly string[];
  /** `*:6443` */
  readonly bind: string;
  /** `m1 10.0.0.11:6443 check verify none` */
  readonly servers: readonly string[];
}): string {
  const { global, bind, servers } = settings;
  return `global
${global.map((line) => `  ${line}`).join('\n')}
defaults
  mode http
  log global
  option httplog
  option redispatch
  retries 1
  timeout queue 20s
  timeout connect 5s
  timeout client 35s
  timeout server 35s
  timeout check 10s
frontend apiserver
  bind ${bind}
  mode tcp
  option tcplog
  default_backend apiserverbackend
backend apiserverbackend
  option httpchk
  http-check connect ssl
  http-check send meth GET uri /healthz
  http-check expect status 200
  mode tcp
  balance roundrobin
${servers.map((server) => `  server ${server}`).join('\n')}
`;
}
