import { describe, expect, it } from 'vitest';
import { vrrpStatus } from '../vrrp/testing/vrrp-status.ts';
import { vrrpReasons } from './vrrp-reasons.ts';

describe('what explain says of VRRP', () => {
  it('is nothing where this host has no part in it', () => {
    expect(vrrpReasons(null)).toEqual([]);
  });

  it('passes on a load balancer that stands by, and on the owner', () => {
    expect(vrrpReasons(vrrpStatus())).toEqual([
      {
        what: 'gate VRRP eth0',
        pass: true,
        sinceMs: 61_000,
        reason: 'backup: 10.0.0.3 has them, with priority 250; 10.0.0.3 has the VIPs',
        next: '',
      },
      { what: 'VRRP peers', pass: true, sinceMs: null, reason: '10.0.0.3 could serve', next: '' },
    ]);
    const owner = vrrpStatus({ state: 'master', owner: '10.0.0.2', why: '10.0.0.3 fell silent' });
    expect(vrrpReasons(owner)[0]).toMatchObject({
      pass: true,
      reason: 'master: 10.0.0.3 fell silent; 10.0.0.2 has the VIPs',
    });
  });

  it.each([
    ['backup', null, 'no load balancer is heard that has the VIPs', 'it takes the VIPs by itself'],
    ['fault', '10.0.0.3', '10.0.0.3 has the VIPs', 'what it names, on this host'],
    ['stop', '10.0.0.3', '10.0.0.3 has the VIPs', 'systemctl status bgp-lb-keepalived.service'],
  ] as const)('fails in %s beside the owner %s, and says what to do', (state, owner, reason, next) => {
    const [gate] = vrrpReasons(vrrpStatus({ state, owner }));
    expect(gate).toMatchObject({ pass: false, reason: expect.stringContaining(reason) });
    expect(gate?.next).toContain(next);
  });

  it('names what keeps keepalived from running, why this host cannot serve, and that no peer could', () => {
    const peers = [{ address: '10.0.0.3', isFit: false, heardMs: null }];
    const reasons = vrrpReasons(vrrpStatus({ problem: 'VRID 100 is used', unfit: 'HAProxy is gone', peers }));
    expect(reasons.slice(1)).toMatchObject([
      { what: 'keepalived', pass: false, reason: 'VRID 100 is used' },
      { what: 'fit to serve', pass: false, reason: 'HAProxy is gone' },
      { what: 'VRRP peers', pass: false, next: expect.stringContaining('IP protocol 112') },
    ]);
  });
});
