import { AddressFlag } from '@bgp-lb/linux';
import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.ts';
import { type OnLinkChange, type OnLinkHost, OnLinkResponder } from './on-link-responder.ts';

const [first, second] = ['10.0.0.100', '10.0.0.101'];
const link = { index: 2, name: 'eth0', isUp: true, isLoopback: false, address: '02:00:00:00:00:01' };

describe('the responder when the VIPs change', () => {
  let clock: ManualClock;
  let opened: (readonly string[])[];
  let closed: number;
  let refusal: Error | undefined;
  let changes: OnLinkChange[];
  let addresses: { index: number; address: string; length: number; flags?: number }[];
  let responder: OnLinkResponder;

  beforeEach(() => {
    clock = new ManualClock();
    opened = [];
    closed = 0;
    refusal = undefined;
    changes = [];
    addresses = [{ index: 2, address: '10.0.0.10', length: 24 }];
    const host = {
      links: () => [link],
      addresses: () => addresses,
      open: ({ addresses }: { addresses: readonly string[] }) => {
        if (refusal !== undefined) throw refusal;
        opened.push(addresses);
        return {
          send: () => undefined,
          close: () => {
            closed += 1;
          },
        };
      },
    } as unknown as OnLinkHost;
    responder = new OnLinkResponder({
      interfaces: ['eth0'],
      addresses: [first],
      host,
      clock,
      changed: (change) => changes.push(change),
    });
    responder.start();
    responder.setServing(first, true);
    clock.advance(10_000);
    expect(phases()).toEqual({ [first]: 'answering' });
    changes = [];
  });

  const phases = (): Record<string, string> =>
    Object.fromEntries(responder.status().map(({ address, phase }) => [address, phase]));

  it('claims a new one, and goes on answering for the one that stays', () => {
    responder.setAddresses([first, second]);
    expect(opened.at(-1)).toEqual([first, second]);
    expect([opened.length, closed]).toEqual([2, 1]);
    expect(phases()).toEqual({ [first]: 'answering', [second]: 'probing' });
    responder.setServing(second, true);
    clock.advance(10_000);
    expect(phases()).toEqual({ [first]: 'answering', [second]: 'answering' });
    expect(changes.filter(({ address }) => address === first)).toEqual([]);
  });

  it('knows since when each is as it is, also one that comes back', () => {
    const since = (): number[] => responder.status().map((one) => clock.now() - responder.sinceOf(one));
    const answering = since();
    expect(answering[0]).toBeGreaterThan(5_000);
    expect(answering[0]).toBeLessThan(10_000);
    clock.advance(1_000);
    responder.setAddresses([first, second]);
    clock.advance(100);
    expect(since()).toEqual([(answering[0] ?? 0) + 1_100, 100]);
    responder.setAddresses([second]);
    responder.setAddresses([first, second]);
    clock.advance(50);
    expect(since()).toEqual([50, 150]);
  });

  it('is silent about one that goes, and closes its socket with the last', () => {
    responder.setAddresses([first, second]);
    responder.setAddresses([second]);
    expect(opened.at(-1)).toEqual([second]);
    responder.setAddresses([]);
    expect(closed).toBe(opened.length);
    expect(responder.status()).toEqual([]);
    clock.advance(60_000);
    expect(opened).toHaveLength(3);
    responder.setAddresses([first]);
    expect(phases()).toEqual({ [first]: 'probing' });
  });

  it("does not speak from an address that may be another's, and does once it is known not to be", () => {
    const vip = 'fd00::100';
    const linkLocal = { index: 2, address: 'fe80::1', length: 64 };
    addresses = [{ ...linkLocal, flags: AddressFlag.Tentative }];
    responder.setAddresses([vip]);
    expect(changes.at(-1)).toMatchObject({ phase: 'absent', problem: expect.stringContaining('passed') });
    addresses = [{ ...linkLocal, flags: AddressFlag.DadFailed }];
    clock.advance(1_000);
    expect(phases()).toEqual({ [vip]: 'absent' });
    addresses = [{ ...linkLocal, flags: AddressFlag.Permanent }];
    clock.advance(1_000);
    expect(phases()).toEqual({ [vip]: 'probing' });
  });

  it('touches nothing when nothing changes', () => {
    responder.setAddresses([first]);
    expect([opened.length, closed]).toEqual([1, 0]);
  });

  it('says so when it cannot hear of the new one, and tries again', () => {
    refusal = new Error('ENOBUFS');
    responder.setAddresses([first, second]);
    expect(changes).toMatchObject([
      { address: first, from: 'answering', phase: 'absent', problem: 'ENOBUFS' },
      { address: second, phase: 'absent', problem: 'ENOBUFS' },
    ]);
    refusal = undefined;
    clock.advance(1_000);
    expect(phases()).toEqual({ [first]: 'probing', [second]: 'probing' });
  });
});
