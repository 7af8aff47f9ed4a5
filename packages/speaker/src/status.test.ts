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
      bfd: 'Down',
      sinceMs: 12_340,
      remoteAsn: null,
      password: true,
      lastDown: { kind: 'hold-timer-expired', text: 'hold timer expired', agoMs: 12_340 },
    },
  ],
  bfd: { scheduling: 'nice -15 (sched_setscheduler: EPERM)', missing: ['IPv4 port 3784: EADDRINUSE'] },
};

describe('the status for people', () => {
  it('shows VIPs, gates and routers with the reason of each, and how BFD runs', () => {
    const [vips = '', gates = '', routers = '', bfd = ''] = statusTables(answer).map((table) =>
      formatTable(table),
    );
    expect(vips).toMatch(/10\.0\.0\.100\/32 +advertised +yes +normal +the API server is ready/);
    expect(gates).toMatch(/bootstrap +yes +proven/);
    expect(routers).toMatch(/10\.0\.0\.10 +Active +Down +12\.3 s +- +yes +hold timer expired/);
    expect(bfd).toMatch(/nice -15 \(sched_setscheduler: EPERM\) +IPv4 port 3784: EADDRINUSE/);
  });

  it('has no table of BFD where no router has it', () => {
    expect(statusTables({ ...answer, bfd: null })).toHaveLength(3);
  });

  it('shows the other masters that the routers tell of', () => {
    const other = { vip: '10.0.0.100/32', address: '10.0.0.12', routers: ['10.0.0.10'], asksForLess: true };
    const shown = statusTables({ ...answer, otherMasters: [other] }).map((table) => formatTable(table));
    expect(shown.at(-1)).toMatch(/10\.0\.0\.100\/32 +10\.0\.0\.12 +yes +10\.0\.0\.10/);
  });

  it('shows the drain annotation where it is followed', () => {
    const drainAnnotation = { node: 'm', wish: 'drain', succeededMs: 2_000, error: 'list: 403' };
    const shown = statusTables({ ...answer, drainAnnotation }).map((table) => formatTable(table));
    expect(shown.at(-1)).toMatch(/m +drain +2\.0 s +list: 403/);
  });

  it('bears an answer of another version', () => {
    for (const strange of [null, 'text', {}, { vips: 3, gates: [null] }]) {
      expect(() => statusTables(strange).map((table) => formatTable(table))).not.toThrow();
    }
  });
});
