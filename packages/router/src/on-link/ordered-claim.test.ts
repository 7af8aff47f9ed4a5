import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.ts';
import { arpLanguage } from './arp.ts';
import { type OnLinkHost, OnLinkResponder } from './on-link-responder.ts';

const vip = '10.0.0.100';
const own = '02:00:00:00:00:09';
const lower = '02:00:00:00:00:01';
const broadcast = 'ff:ff:ff:ff:ff:ff';

/** An ARP packet about the VIP. */
function arp(operation: 1 | 2, from: string, sender: string, target: string): Uint8Array {
  const mac = from.split(':').map((octet) => Number.parseInt(octet, 16));
  const ip = (text: string): number[] => text.split('.').map(Number);
  return Uint8Array.from([
    0,
    1,
    8,
    0,
    6,
    4,
    0,
    operation,
    ...mac,
    ...ip(sender),
    0,
    0,
    0,
    0,
    0,
    0,
    ...ip(target),
  ]);
}
const question = arp(1, lower, '10.0.0.50', vip);

describe('a VIP that VRRP gives and takes', () => {
  let clock: ManualClock;
  let sent: string[];
  let hear: (packet: Uint8Array) => void;
  let responder: OnLinkResponder;

  beforeEach(() => {
    clock = new ManualClock();
    sent = [];
    const link = { index: 2, name: 'eth0', isUp: true, isLoopback: false, address: own };
    const host = {
      links: () => [link],
      addresses: () => [{ index: 2, address: '10.0.0.10', length: 24 }],
      open: (_options: unknown, handlers: { packet(packet: Uint8Array): void }) => {
        hear = (packet) => handlers.packet(packet);
        return {
          send: (packet: Uint8Array, to: Uint8Array) => {
            const target = [...to].map((octet) => octet.toString(16).padStart(2, '0')).join(':');
            sent.push(`${packet[7] === 2 || isClaim(packet) ? 'has it' : 'asks'} ${target}`);
          },
          close: () => undefined,
        };
      },
    } as unknown as OnLinkHost;
    responder = new OnLinkResponder({
      interfaces: ['eth0'],
      addresses: [vip],
      host,
      clock,
      isOrdered: true,
      changed: () => undefined,
    });
    responder.start();
  });

  const language = arpLanguage(lower, '10.0.0.50');
  const isClaim = (packet: Uint8Array): boolean => language.parse(packet)?.message.type === 'claim';
  const phase = (): string | undefined => responder.status()[0]?.phase;

  it('is neither answered nor asked for before, whether its pool has a member or not', () => {
    responder.setServing(vip, true);
    hear(question);
    clock.advance(60_000);
    expect(sent).toEqual([]);
    expect(phase()).toBe('standby');
  });

  it('is announced and answered in the moment in which it is given, also with an empty pool', () => {
    responder.setOwner(true);
    clock.advance(0);
    expect(sent).toEqual([`has it ${broadcast}`]);
    hear(question);
    expect(sent.at(-1)).toBe(`has it ${lower}`);
    expect(phase()).toBe('answering');
  });

  it('is announced again when another host may have announced it, and only by the one that has it', () => {
    responder.announceAgain();
    clock.advance(60_000);
    expect(sent).toEqual([]);
    responder.setOwner(true);
    clock.advance(5_000);
    sent = [];
    responder.announceAgain();
    clock.advance(2_000);
    expect(sent).toEqual([`has it ${broadcast}`, `has it ${broadcast}`, `has it ${broadcast}`]);
  });

  it('is answered no more in the moment in which it is taken', () => {
    responder.setOwner(true);
    clock.advance(5000);
    responder.setOwner(false);
    sent = [];
    hear(question);
    clock.advance(60_000);
    expect(sent).toEqual([]);
  });

  it('is not given up for one of a lower link-layer address that claims it', () => {
    responder.setOwner(true);
    clock.advance(5000);
    for (const packet of [arp(2, lower, vip, vip), arp(1, lower, vip, vip)]) hear(packet);
    expect(phase()).toBe('answering');
    expect(responder.status()).toMatchObject([{ owner: lower }]);
  });

  it('stays as it is when the VIPs change', () => {
    responder.setOwner(true);
    responder.setAddresses([vip, '10.0.0.101']);
    expect(responder.status().map((one) => one.phase)).toEqual(['answering', 'answering']);
    responder.setOwner(false);
    responder.setAddresses(['10.0.0.102']);
    expect(responder.status().map((one) => one.phase)).toEqual(['standby']);
  });
});
