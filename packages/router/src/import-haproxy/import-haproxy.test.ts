import { describe, expect, it } from 'vitest';
import { readHaproxyConfig } from './imported-config.ts';
import { routerYaml } from './router-yaml.ts';

// The shape of the one in kubeadm's guide for high availability, with its values filled in.
const guide = `global
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
`;

describe('a haproxy.cfg of kubeadm', () => {
  it('becomes our configuration', () => {
    const imported = readHaproxyConfig(guide);
    expect(imported.unknown).toEqual([]);
    const { text, notes } = routerYaml(imported, '10.0.0.100');
    expect(text).toBe(`apiVersion: bgp-lb.dev/v1alpha1
kind: Router
# Without BGP neighbours any number does.
asn: 64512
vips:
  - address: 10.0.0.100
    port: 443
    machinePort: 6443
    members:
      bgp: false
      static:
        - { name: m1, address: 10.0.0.11 }
        - { name: m2, address: m2.example.net }
dataplane: { kind: haproxy }
`);
    expect(notes).toEqual([expect.stringContaining('verify none')]);
  });

  it('says of each line that is not taken over why', () => {
    const { replaced } = readHaproxyConfig(guide);
    const reasonOf = (text: string): string | undefined => replaced.find((one) => one.text === text)?.reason;
    expect(reasonOf('timeout client 35s')).toContain('watch');
    expect(reasonOf('http-check send meth GET uri /healthz')).toContain('/readyz');
    expect(reasonOf('balance roundrobin')).toBeDefined();
  });

  it('names every line that it does not understand, with its number', () => {
    const odd = guide
      .replace('    daemon\n', '    daemon\n    lua-load x.lua\n')
      .replace('m1 10.0.0.11:6443 check', 'm1 10.0.0.11:6443 send-proxy check');
    expect(readHaproxyConfig(odd).unknown).toEqual([
      { number: 4, text: 'lua-load x.lua' },
      { number: 40, text: 'send-proxy' },
    ]);
  });

  it.each([
    ['bind 10.0.0.100:6443 transparent', { address: '10.0.0.100', port: 6443 }],
    ['bind [fd00::100]:443', { address: 'fd00::100', port: 443 }],
    ['bind :8443', { address: undefined, port: 8443 }],
    ['bind :::8443 v4v6', { address: undefined, port: 8443 }],
  ])('reads %s', (line, bind) => {
    expect(readHaproxyConfig(`frontend f\n ${line}\n`)).toMatchObject({ binds: [bind], unknown: [] });
  });

  it('takes the pace of checks', () => {
    const text =
      'backend b\n default-server inter 2s rise 3 fall 4\n server m1 10.0.0.11:6443 check # first\n';
    const imported = readHaproxyConfig(text);
    expect(imported).toMatchObject({ check: { interval: 2000, rise: 3, fall: 4 }, unknown: [] });
    expect(routerYaml(imported, undefined).text).toContain(
      'healthCheck: { interval: 2000ms, rise: 3, fall: 4 }',
    );
  });

  it.each(['bind /run/x.sock', 'bind nonsense', 'server m1', 'bind 10.0.0.1:99999'])(
    'does not guess: %s',
    (line) => {
      expect(readHaproxyConfig(`frontend f\n${line}\n`).unknown).toEqual([{ number: 2, text: line }]);
    },
  );
});
