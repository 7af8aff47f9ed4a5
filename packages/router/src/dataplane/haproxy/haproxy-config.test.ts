import { describe, expect, it } from 'vitest';
import { configIdentity, haproxyConfig } from './haproxy-config.ts';
import type { HaproxySettings } from './haproxy-settings.ts';

const settings: HaproxySettings = {
  vips: [{ address: '10.0.0.100', port: 443, machinePort: 6443 }],
  check: { path: '/readyz', serverName: 'kubernetes', interval: 1000, timeout: 1000, rise: 2, fall: 3 },
  paths: {
    configFile: '/f/haproxy.cfg',
    stateFile: '/f/server-state',
    caFile: '/f/ca.crt',
    socket: '/run/haproxy.sock',
    masterSocket: '/run/master.sock',
  },
  ca: 'CA',
  maxConnections: 8000,
  idleTimeout: 3_600_000,
  userTimeout: 30_000,
  hardStopAfter: 3_600_000,
};

describe('the configuration of HAProxy', () => {
  const members = new Map([['10.0.0.100', [{ member: '10.0.0.11', port: 6443 }]]]);

  it('is what is tried against HAProxy 2.6', () => {
    expect(
      haproxyConfig(settings, members),
    ).toBe(`# Written by bgp-lb-router, which replaces it on every change of a member: changes by hand are lost.
global
  description ${configIdentity(settings)}
  stats socket /run/haproxy.sock mode 660 level admin expose-fd listeners
  stats timeout 1m
  maxconn 8000
  server-state-file /f/server-state
  hard-stop-after 3600000ms
  mworker-max-reloads 3
  spread-checks 0
defaults
  mode tcp
  load-server-state-from-file global
  timeout connect 3s
  timeout client 3600000ms
  timeout server 3600000ms
  timeout tunnel 3600000ms
  timeout client-fin 30s
  timeout check 1000ms
  timeout queue 1s
  option clitcpka
  clitcpka-idle 30s
  clitcpka-intvl 10s
  clitcpka-cnt 3
  option srvtcpka
  srvtcpka-idle 30s
  srvtcpka-intvl 10s
  srvtcpka-cnt 3
  option redispatch 1
  retries 2

frontend vip-10.0.0.100
  bind 10.0.0.100:443 transparent tcp-ut 30000ms
  tcp-request connection reject if { nbsrv(members-10.0.0.100) lt 1 }
  default_backend members-10.0.0.100

backend members-10.0.0.100
  balance leastconn
  option httpchk
  http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host kubernetes hdr Connection close
  http-check expect status 200 error-status L7OKC
  server anchor 127.0.0.1:1 disabled check-ssl verify required ca-file /f/ca.crt
  server 10.0.0.11 10.0.0.11:6443 weight 256 check check-ssl verify required verifyhost kubernetes ca-file /f/ca.crt check-sni kubernetes inter 1000ms fastinter 300ms downinter 300ms rise 2 fall 3 on-marked-down shutdown-sessions
`);
  });

  it('is the same one whoever its members are', () => {
    const description = (text: string): string => /description (.*)/.exec(text)?.[1] ?? '';
    expect(description(haproxyConfig(settings, members))).toBe(
      description(haproxyConfig(settings, new Map())),
    );
  });

  it.each<[string, Partial<HaproxySettings>]>([
    ['a VIP', { vips: [...settings.vips, { address: '10.0.0.101', port: 443, machinePort: 6443 }] }],
    ['a port', { vips: [{ address: '10.0.0.100', port: 8443, machinePort: 6443 }] }],
    ['the pace of checks', { check: { ...settings.check, interval: 500 } }],
    ['what members are to pass', { check: { ...settings.check, fall: 5 } }],
    ['the path of checks', { check: { ...settings.check, path: '/livez' } }],
    ['the CA', { ca: 'another' }],
    ['the time for idle connections', { idleTimeout: 60_000 }],
    ['the time of old workers', { hardStopAfter: 60_000 }],
  ])('is another one when %s changes', (_, change) => {
    expect(configIdentity({ ...settings, ...change })).not.toBe(configIdentity(settings));
  });

  it('has an exporter where one is asked for', () => {
    expect(haproxyConfig(settings, members)).not.toContain('exporter');
    const at = { host: 'fd00::10', port: 8405 };
    const text = haproxyConfig({ ...settings, exporter: at }, members);
    expect(text).toContain('frontend exporter\n  mode http\n');
    expect(text).toContain('  bind [fd00::10]:8405 transparent\n');
    expect(configIdentity({ ...settings, exporter: at })).not.toBe(configIdentity(settings));
  });

  it('verifies nobody while there is no CA', () => {
    const text = haproxyConfig({ ...settings, ca: undefined }, members);
    expect(text).toContain('verify none');
    expect(text).not.toContain('ca-file');
  });
});
