import { formatTable } from '@bgp-lb/daemon';
import { describe, expect, it } from 'vitest';
import { statusTables } from './status.ts';

const answer = {
  role: 'join',
  vips: [
    {
      vip: '10.0.0.100/32',
      state: 'advertised',
      bound: true,
      advertisement: 'normal',
      reason: 'the API server is ready',
    },
  ],
  gates: [{ name: 'bootstrap', pass: true, detail: 'proven' }],
  routers: [
    {
      address: '10.0.0.10',
      session: 'Active',
      sinceMs: 12_340,
      remoteAsn: null,
      password: true,
      lastDown: { kind: 'hold-timer-expired', text: 'hold timer expired', agoMs: 12_340 },
    },
  ],
};

describe('the status for people', () => {
  it('shows VIPs, gates and routers with the reason of each', () => {
    const [vips = '', gates = '', routers = ''] = statusTables(answer).map((table) => formatTable(table));
    expect(vips).toMatch(/10\.0\.0\.100\/32 +advertised +yes +normal +the API server is ready/);
    expect(gates).toMatch(/bootstrap +yes +proven/);
    expect(routers).toMatch(/10\.0\.0\.10 +Active +12\.3 s +- +yes +hold timer expired/);
  });

  it('bears an answer of another version', () => {
    for (const strange of [null, 'text', {}, { vips: 3, gates: [null] }]) {
      expect(() => statusTables(strange).map((table) => formatTable(table))).not.toThrow();
    }
  });
});
