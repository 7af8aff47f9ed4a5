import { formatTable } from '@bgp-lb/daemon';
import { describe, expect, it } from 'vitest';
import { type ShownStatus, statusTables } from './status-tables.ts';

const ended = (text: string, agoMs: number) => ({ text, agoMs });
const router: ShownStatus['routers'][number] = {
  address: '10.0.0.10',
  session: 'Active',
  bfd: 'Down',
  sinceMs: 12_340,
  remoteAsn: null,
  password: true,
  lastDown: ended('hold timer expired', 12_340),
  lastNotificationSent: null,
  lastNotificationReceived: null,
  lastFailure: null,
};
const vip: ShownStatus['vips'][number] = {
  vip: '10.0.0.100/32',
  state: 'advertised',
  bound: true,
  advertisement: 'normal',
  advertisedTo: ['10.0.0.10'],
  elsewhere: [],
  reason: 'the API server is ready',
};
const status: ShownStatus = {
  vips: [vip],
  gates: [{ name: 'bootstrap', pass: true, detail: 'proven', sinceMs: 61_000 }],
  routers: [router],
  bfd: { scheduling: 'nice -15 (sched_setscheduler: EPERM)', missing: ['IPv4 port 3784: EADDRINUSE'] },
  drainAnnotation: null,
  otherMasters: [],
  kernel: {
    ...{ uplinks: ['eth0'], routesMissing: null, fault: null, md5: null },
    ...{ wayBack: [], reversePathDrops: null },
  },
};
const shown = (changes: Partial<ShownStatus> = {}): string[] =>
  statusTables({ ...status, ...changes }).map((table) => formatTable(table));

describe('the status for people', () => {
  it('shows VIPs, gates and routers with the reason of each, and how BFD runs', () => {
    const [vips = '', gates = '', routers = '', bfd = ''] = shown();
    expect(vips).toMatch(
      /10\.0\.0\.100\/32 +advertised +yes +normal +to 10\.0\.0\.10 +the API server is ready/,
    );
    expect(gates).toMatch(/bootstrap +yes +61s +proven/);
    expect(routers).toMatch(/10\.0\.0\.10 +Active +12s +Down +- +yes +hold timer expired \(12s ago\)/);
    expect(bfd).toMatch(/nice -15 \(sched_setscheduler: EPERM\) +IPv4 port 3784: EADDRINUSE/);
  });

  it('says of a VIP that no router has it, whatever is wanted', () => {
    expect(shown({ vips: [{ ...vip, advertisedTo: [] }] })[0]).toMatch(
      /advertised +yes +normal +no +the API/,
    );
  });

  it('gives the error of the session before its age, and an attempt that failed before it', () => {
    const established = { ...router, session: 'Established', sinceMs: 3_600_000 } as const;
    const before = { ...established, lastDown: ended('hold timer expired', 3_605_000) };
    expect(shown({ routers: [before] })[2]).toContain('hold timer expired (3605s ago)');
    const failure = ended('TCP connection failed: connect ENETUNREACH', 900);
    expect(shown({ routers: [{ ...router, lastFailure: failure }] })[2]).toContain(
      'TCP connection failed: connect ENETUNREACH (900ms ago)',
    );
  });

  it('has no table of BFD where no router has it', () => {
    expect(shown({ bfd: null })).toHaveLength(3);
  });

  it('shows what of the host is not as it should be', () => {
    const kernel = { ...status.kernel, fault: 'add VIP: EPERM', routesMissing: ['no route to 10.0.0.100'] };
    const notes = shown({ kernel, vips: [{ ...vip, elsewhere: ['eth0'] }] })[1];
    for (const text of ['add VIP: EPERM', '10.0.0.100/32 is on eth0', 'no route to 10.0.0.100']) {
      expect(notes).toContain(text);
    }
  });

  it('shows the other masters that the routers tell of', () => {
    const other = { vip: '10.0.0.100/32', address: '10.0.0.12', routers: ['10.0.0.10'], asksForLess: true };
    expect(shown({ otherMasters: [other] }).at(-1)).toMatch(
      /10\.0\.0\.100\/32 +10\.0\.0\.12 +yes +10\.0\.0\.10/,
    );
  });

  it('shows the drain annotation where it is followed', () => {
    const drainAnnotation = { node: 'm', wish: 'drain', succeededMs: 2_000, error: 'list: 403' } as const;
    expect(shown({ drainAnnotation }).at(-1)).toMatch(/m +drain +2s ago +list: 403/);
  });
});
