import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arpLanguage } from './arp.ts';
import { type LinkLanguage, linkAddressText } from './link-message.ts';
import { neighbourDiscoveryLanguage } from './ndp.ts';

const ours = '02:00:00:00:00:05';
const theirs = '02:00:00:00:00:09';
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe.each([
  ['ARP', '10.3.0.100', arpLanguage(ours), arpLanguage(theirs)],
  [
    'neighbour discovery',
    'fd00:3::100',
    neighbourDiscoveryLanguage(ours, 'fe80::5'),
    neighbourDiscoveryLanguage(theirs, 'fe80::9'),
  ],
] as const)('%s', (_name, address, own: LinkLanguage, other: LinkLanguage) => {
  it('is understood by another of its kind', () => {
    expect(other.parse(own.probe(address).packet)).toMatchObject({
      address,
      message: { type: 'probe', from: ours },
    });
    expect(other.parse(own.announcement(address).packet)).toEqual({
      address,
      message: { type: 'claim', from: ours },
    });
    const probe = other.parse(own.probe(address).packet)?.message;
    if (probe?.type !== 'probe') throw new Error('no probe');
    expect(own.parse(other.answer(address, probe.replyTo).packet)).toEqual({
      address,
      message: { type: 'claim', from: theirs },
    });
  });

  it('survives whatever is on the link', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), (octets) => void own.parse(octets)));
    const good = own.announcement(address).packet;
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.nat(255), fc.nat(good.length), (at, value, length) => {
        const bad = good.slice(0, length);
        bad[at] = value;
        own.parse(bad);
      }),
    );
  });
});

const shared = { linkOf: () => '02:b4:0a:03:00:64', asker: '10.3.0.1' };
const theirShared = { ...shared, asker: '10.3.0.2' };

describe.each([
  ['ARP', '10.3.0.100', arpLanguage(ours, shared), arpLanguage(theirs, theirShared)],
  [
    'neighbour discovery',
    'fd00:3::100',
    neighbourDiscoveryLanguage(ours, 'fe80::5', shared),
    neighbourDiscoveryLanguage(theirs, 'fe80::9', shared),
  ],
] as const)('%s with a link-layer address that goes with the VIP', (_name, address, own, other) => {
  it('announces that one, and says to its like who does', () => {
    const { packet } = own.announcement(address);
    expect(hex(packet)).toContain('02b40a030064');
    expect(other.parse(packet)).toEqual({ address, message: { type: 'claim', from: ours } });
  });

  it('probes in its own name, and is answered with the shared one', () => {
    const probe = other.parse(own.probe(address).packet)?.message;
    if (probe?.type !== 'probe') throw new Error('no probe');
    expect(probe.from).toBe(ours);
    expect(hex(other.answer(address, probe.replyTo).packet)).toContain('02b40a030064');
  });
});

describe('an ARP probe with a link-layer address that goes with the VIP', () => {
  it('is a question with a sender, which a kernel that is a proxy answers, and its own address as the mark', () => {
    expect(hex(arpLanguage(ours, shared).probe('10.3.0.100').packet)).toBe(
      '00010800060400010200000000050a0300010200000000050a030064',
    );
  });

  it('is not taken for an announcement of a group, as hosts send that fill the target with ones', () => {
    const packet = Buffer.from('00010800060400010200000000090a030064ffffffffffff0a030064', 'hex');
    expect(arpLanguage(ours).parse(packet)?.message).toEqual({ type: 'claim', from: theirs });
  });
});

describe('ARP on the wire', () => {
  it('has the octets of RFC 5227', () => {
    const arp = arpLanguage(ours);
    const probe = arp.probe('10.3.0.100');
    expect(hex(probe.packet)).toBe('0001080006040001020000000005000000000000000000000a030064');
    expect(linkAddressText(probe.to)).toBe('ff:ff:ff:ff:ff:ff');
    const announcement = arp.announcement('10.3.0.100');
    expect(hex(announcement.packet)).toBe('00010800060400010200000000050a0300640000000000000a030064');
  });

  it('answers a question to the one who asked', () => {
    const arp = arpLanguage(ours);
    const heard = arp.parse(Buffer.from('00010800060400010200000000090a0300070000000000000a030064', 'hex'));
    expect(heard).toMatchObject({ address: '10.3.0.100', message: { type: 'question', from: theirs } });
    if (heard?.message.type !== 'question') throw new Error('no question');
    const { packet, to } = arp.answer('10.3.0.100', heard.message.replyTo);
    expect(hex(packet)).toBe('00010800060400020200000000050a0300640200000000090a030007');
    expect(linkAddressText(to)).toBe(theirs);
  });

  it('does not take a master that asks for another address from the VIP for one that answers for it', () => {
    const packet = Buffer.from('00010800060400010200000000090a0300640000000000000a030001', 'hex');
    expect(arpLanguage(ours).parse(packet)).toMatchObject({
      address: '10.3.0.1',
      message: { type: 'question' },
    });
  });
});

describe('neighbour discovery on the wire', () => {
  const language = neighbourDiscoveryLanguage(ours, 'fe80::5');

  it('probes from the unspecified address, to the solicited-node group', () => {
    const { packet, to } = language.probe('fd00:3::100');
    expect(linkAddressText(to)).toBe('33:33:ff:00:01:00');
    expect(hex(packet.subarray(8, 40))).toBe(`${'00'.repeat(16)}ff0200000000000000000001ff000100`);
    expect(packet[7]).toBe(255);
  });

  it.each([
    ['from another link', (packet: Uint8Array) => packet.fill(64, 7, 8)],
    ['with a wrong checksum', (packet: Uint8Array) => packet.fill(0, 42, 44)],
    ['with an option of no length', (packet: Uint8Array) => packet.fill(0, 65, 66)],
  ])('does not believe a packet %s', (_what, spoil) => {
    expect(language.parse(spoil(language.announcement('fd00:3::100').packet))).toBeUndefined();
  });
});
