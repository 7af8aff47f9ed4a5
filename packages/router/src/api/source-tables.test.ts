import { formatTable } from '@bgp-lb/daemon';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { checkSources } from '../doctor/check-sources.ts';
import type { MemberSourceStatus } from '../membership/source-status.ts';
import { observeSources } from '../observe/source-metrics.ts';
import type { RouterStatus } from './router-status.ts';
import { sourceTables } from './source-tables.ts';

const good: MemberSourceStatus = {
  kind: 'configMap',
  name: 'lb/pool',
  vips: ['10.100.0.1'],
  members: 2,
  detail: 'generation 7, from https://10.0.0.11:6443',
  heardMs: 12_000,
  problem: '',
  ignored: '',
  credential: { kind: 'token', state: 'good', expiresAt: 1_796_000_000 },
};
const empty: MemberSourceStatus = {
  ...{ kind: 'static', name: 'm2.example.net', vips: ['10.100.0.1'], members: 0, detail: 'no address known' },
  ...{ heardMs: null, problem: 'queryA ENOTFOUND m2.example.net', ignored: '', credential: null },
};

describe('the lists that members come from', () => {
  it('are shown with what each source says of each member', () => {
    const sources = [
      { kind: 'bgp', name: '', says: 'announced' },
      { kind: 'configMap', name: 'lb/pool', says: 'listed, draining' },
    ];
    const vips = [{ vip: '10.100.0.1/32', members: [{ name: 'm1', sources }] }];
    const status = { memberSources: [good, empty], vips } as unknown as RouterStatus;
    const text = sourceTables(status)
      .map((table) => formatTable(table))
      .join('\n');
    expect(text).toMatch(
      /configMap +lb\/pool +2 +generation 7, from https:\/\/10.0.0.11:6443 +12s ago +token, ends 2026-11-30T\S+Z/,
    );
    expect(text).toMatch(/static +m2.example.net +0 +no address known +- +- +queryA ENOTFOUND/);
    expect(text).toMatch(/10.100.0.1\/32 +m1 +bgp +announced/);
    expect(text).toMatch(/10.100.0.1\/32 +m1 +configMap lb\/pool +listed, draining/);
    expect(sourceTables({ ...status, memberSources: [] })).toEqual([]);
  });

  it('are findings of doctor: what is old a warning, what has nobody or has ended a fault', () => {
    const levels = (one: MemberSourceStatus): string[] => checkSources([one]).map(({ level }) => level);
    const ending = { kind: 'token', state: 'ending', expiresAt: 1 } as const;
    expect(levels(good)).toEqual(['good', 'good']);
    expect(levels({ ...good, problem: 'x', credential: ending })).toEqual(['warning', 'warning']);
    expect(levels({ ...good, credential: { ...ending, state: 'expired' } })).toEqual(['good', 'fault']);
    expect(levels(empty)).toEqual(['fault']);
    expect(levels({ ...good, ignored: 'port 7443 of m1 is not used' })).toEqual(['good', 'warning', 'good']);
  });

  it('are metrics', async () => {
    const registry = new Registry();
    observeSources(registry, 'x_', () => [good, empty]);
    const lines = (await registry.metrics())
      .split('\n')
      .filter((line) => !line.startsWith('#') && line !== '');
    expect(lines.sort()).toEqual([
      'x_member_source_credential_expiry_timestamp_seconds{kind="configMap",list="lb/pool"} 1796000000',
      'x_member_source_heard_seconds{kind="configMap",list="lb/pool"} 12',
      'x_member_source_members{kind="configMap",list="lb/pool"} 2',
      'x_member_source_members{kind="static",list="m2.example.net"} 0',
      'x_member_source_up{kind="configMap",list="lb/pool"} 1',
      'x_member_source_up{kind="static",list="m2.example.net"} 0',
    ]);
  });
});
