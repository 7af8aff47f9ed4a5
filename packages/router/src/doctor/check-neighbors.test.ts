import { describe, expect, it } from 'vitest';
import { checkNeighbors, type ExaminedNeighbor } from './check-neighbors.ts';

const tor: ExaminedNeighbor = {
  name: 'tor',
  address: '10.0.1.1',
  state: 'Active',
  holdTime: 9,
  sinceMs: 60_000,
  bfd: { state: 'Up', authentication: 'none' },
  lastDown: null,
  lastNotificationSent: null,
  lastNotificationReceived: null,
  lastFailure: null,
};
const failed = (text: string): ExaminedNeighbor => ({ ...tor, lastFailure: { text, agoMs: 1 } });

describe('doctor of a neighbor', () => {
  it('finds nothing where the session is Established, whatever was before', () => {
    expect(checkNeighbors([{ ...failed('x'), state: 'Established' }])).toMatchObject([{ level: 'good' }]);
  });

  it('says what a session rests on whose BFD is not Up', () => {
    const session = { ...tor, state: 'Established' } as const;
    expect(
      checkNeighbors([
        { ...session, bfd: { state: 'Down', authentication: 'none' } },
        { ...session, bfd: { state: 'Up', authentication: 'agreed' } },
        { ...session, bfd: null },
      ]),
    ).toMatchObject([
      { level: 'warning', value: expect.stringContaining('hold timer alone, after 9 s') },
      { level: 'warning', value: expect.stringContaining('no valid packet has come') },
      { level: 'good', value: expect.stringContaining('BFD is not configured') },
    ]);
  });

  it.each([
    ['TCP connection failed: connect ENETUNREACH 10.0.1.1:179', /no route.*ip route get 10\.0\.1\.1/],
    ['TCP connection failed: connect EHOSTUNREACH 10.0.1.1:179', /ip neigh show 10\.0\.1\.1/],
    ['TCP connection failed: connect ECONNREFUSED 10.0.1.1:179', /nothing listens/],
    ['no TCP connection in time, next attempt', /firewall.*passwords differ/],
  ])('says what to do about an attempt that ended so: %s', (text, fix) => {
    const [finding] = checkNeighbors([failed(text)]);
    expect(finding).toMatchObject({ level: 'fault', place: 'tor', fix: expect.stringMatching(fix) });
    expect(finding?.value).toBe(`BGP session with 10.0.1.1 Active: ${text}`);
    // Neither AS nor password is asked after where TCP did not get that far, unless silence may be the password.
    expect(finding?.fix).not.toMatch(/\bAS\b/);
  });

  it.each([
    ['OPEN Message Error/Bad Peer AS', /asn/],
    ['Cease/Connection Rejected', /no session configured/],
    ['Cease/Administrative Shutdown: maintenance', /operator/],
  ])('says what to do about a NOTIFICATION: %s', (text, fix) => {
    const [finding] = checkNeighbors([{ ...tor, lastNotificationReceived: { text, agoMs: 5 } }]);
    expect(finding?.value).toContain(`received NOTIFICATION ${text}`);
    expect(finding?.fix).toMatch(fix);
  });

  it('says so where no attempt has ended yet', () => {
    expect(checkNeighbors([tor])[0]).toMatchObject({ value: expect.stringContaining('never established') });
  });
});
