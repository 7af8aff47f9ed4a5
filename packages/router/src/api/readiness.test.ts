import { describe, expect, it } from 'vitest';
import { readiness } from './readiness.ts';

const vip = '10.0.0.100/32';
const upstream = (advertised: boolean) => ({
  upstream: 'tor',
  advertised,
  reason: advertised ? '' : 'the BGP session is Active',
});

describe('/readyz of the router', () => {
  it.each([
    ['no upstream is configured', 1, []],
    ['an upstream has the VIP', 2, [upstream(false), upstream(true)]],
  ])('is well while the VIP is forwarded and %s', (_, forwarding, advertisements) => {
    expect(
      readiness({
        drain: 'none',
        vrrp: undefined,
        vips: [{ vip, forwarding, obstacle: undefined, advertisements }],
      }),
    ).toEqual({
      ready: true,
    });
  });

  it.each([
    ['no member is forwarded to', 0, [upstream(true)], `${vip} is forwarded to no member`],
    ['no upstream has it', 1, [upstream(false)], `${vip} is not advertised: tor: the BGP session is Active`],
  ])('is not while %s', (_, forwarding, advertisements, reason) => {
    const other = {
      vip: '10.0.0.101/32',
      forwarding: 1,
      obstacle: undefined,
      advertisements: [upstream(true)],
    };
    expect(
      readiness({
        drain: 'none',
        vrrp: undefined,
        vips: [other, { vip, forwarding, obstacle: undefined, advertisements }],
      }),
    ).toEqual({
      ready: false,
      reason,
    });
  });

  it.each(['leaving', 'withdrawn'] as const)('is not while the load balancer is drained: %s', (drain) => {
    const vips = [{ vip, forwarding: 3, obstacle: undefined, advertisements: [upstream(true)] }];
    expect(readiness({ drain, vrrp: undefined, vips })).toEqual({
      ready: false,
      reason: 'this load balancer is drained',
    });
  });
});
