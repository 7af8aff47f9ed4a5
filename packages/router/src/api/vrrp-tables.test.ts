import { formatTable } from '@bgp-lb/daemon';
import { describe, expect, it } from 'vitest';
import { vrrpStatus } from '../vrrp/testing/vrrp-status.ts';
import type { VrrpStatus } from '../vrrp/vrrp-status.ts';
import { vrrpTables } from './vrrp-tables.ts';

const shown = (over: Partial<VrrpStatus> = {}): string =>
  vrrpTables(vrrpStatus(over))
    .map((table) => formatTable(table))
    .join('\n');

describe('what people read of VRRP', () => {
  it('is nothing where this host has no part in it', () => {
    expect(vrrpTables(null)).toEqual([]);
  });

  it('is who has the VIPs, since when and why', () => {
    expect(shown()).toMatch(
      /eth0 +100 +backup +61s +10\.0\.0\.3 has them, with priority 250 +10\.0\.0\.3 +240 +- +-$/m,
    );
  });

  it('is each peer: whether it could serve, and when it was heard', () => {
    expect(shown()).toMatch(/10\.0\.0\.3 +yes +120ms ago/);
    expect(shown()).toMatch(/10\.0\.0\.4 +no +never/);
  });

  it('says that no owner is heard, why this host cannot serve, and what keeps keepalived from running', () => {
    const state = { state: 'stop', why: 'keepalived does not run' } as const;
    expect(shown({ ...state, owner: null, unfit: 'HAProxy is gone', problem: 'VRID 100 is used' })).toMatch(
      /stop +61s +keepalived does not run +none +240 +HAProxy is gone +VRID 100 is used/,
    );
  });
});
