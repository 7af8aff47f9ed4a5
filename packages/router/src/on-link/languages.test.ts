import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arpLanguage } from './arp.ts';
import { type LinkLanguage, linkAddressText } from './link-message.ts';
import { neighborDiscoveryLanguage } from './ndp.ts';

const ours = '02:00:00:00:00:05';
const theirs = '02:00:00:00:00:09';
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe.each([
  ['ARP', '10.3.0.100', arpLanguage(ours, '10.3.0.1'), arpLanguage(theirs, '10.3.0.2')],
  [
    'neighbor discovery',
    'fd00:3::100',
    neighborDiscoveryLanguage(ours, 'fe80::5'),
    neighborDiscoveryLanguage(theirs, 'fe80::9'),
  ],
] as const)('%s', (_name, address, own: LinkLanguage, other: LinkLanguage) => {
  it('is understood by another of its kind', () => {
    expect(other.parse(own.probe(address).packet)).toMatchObject({
      address,
      message: { type: 'probe', from: ours },
    });
    expect(other.parse(own.announcement(address).packet)).toEqual({
      address,
      message: { type: 'claim', from: ours, isPeer: true },
    });
    const probe = other.parse(own.probe(address).packet)?.message;
    if (probe?.type !== 'probe') throw new Error('no probe');
    const [first, ...more] = other.answer(address, probe.replyTo).map(({ packet }) => own.parse(packet));
    expect(first).toEqual({ address, message: { type: 'claim', from: theirs, isPeer: true } });
    // A reply of ARP follows, for a host that expects one: it says nothing of what its sender is.
    for (const one of more) {
      expect(one).toEqual({ address, message: { type: 'claim', from: theirs, isPeer: undefined } });
    }
  });

  it('asks who else has an address in its own name, and takes what a host answers', () => {
    const question = other.parse(own.question(address).packet)?.message;
    expect(question).toMatchObject({ type: 'question', from: ours, replyTo: { isPeer: false } });
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

const shared = { linkOf: () => '02:b4:0a:03:00:64' };

describe.each([
  ['ARP', '10.3.0.100', arpLanguage(ours, '10.3.0.1', shared), arpLanguage(theirs, '10.3.0.2', shared)],
  [
    'neighbor discovery',
    'fd00:3::100',
    neighborDiscoveryLanguage(ours, 'fe80::5', shared),
    neighborDiscoveryLanguage(theirs, 'fe80::9', shared),
  ],
] as const)('%s with a link-layer address that goes with the VIP', (_name, address, own, other) => {
  it('announces that one, and says to its like who does', () => {
    const { packet } = own.announcement(address);
    expect(hex(packet)).toContain('02b40a030064');
    expect(other.parse(packet)).toEqual({ address, message: { type: 'claim', from: ours, isPeer: true } });
  });

  it('probes in its own name, and is answered with the shared one', () => {
    const probe = other.parse(own.probe(address).packet)?.message;
    if (probe?.type !== 'probe') throw new Error('no probe');
    expect(probe.from).toBe(ours);
    const answers = other.answer(address, probe.replyTo);
    expect(answers).toHaveLength(1);
    expect(hex(answers[0]?.packet ?? new Uint8Array())).toContain('02b40a030064');
  });
});

describe('an ARP probe with a link-layer address that goes with the VIP', () => {
  it('is a question with a sender, which a kernel that is a proxy answers, and its own address as the mark', () => {
    expect(hex(arpLanguage(ours, '10.3.0.1', shared).probe('10.3.0.100').packet)).toBe(
      '00010800060400010200000000050a0300010200000000050a030064',
    );
  });

  it('is not taken for an announcement of a group, as hosts send that fill the target with ones', () => {
    const packet = Buffer.from('00010800060400010200000000090a030064ffffffffffff0a030064', 'hex');
    expect(arpLanguage(ours, '10.3.0.1').parse(packet)?.message).toEqual({
      type: 'claim',
      from: theirs,
      isPeer: false,
    });
  });

  it('is told by the shared address from the reply of any other host: a kernel that is a proxy marks nothing', () => {
    const reply = (link: string): string => `000108000604000202${link}0a0300640200000000050a030001`;
    const heard = (link: string) =>
      arpLanguage(ours, '10.3.0.1', shared).parse(Buffer.from(reply(link), 'hex'))?.message;
    expect(heard('b40a030064')).toMatchObject({ type: 'claim', isPeer: true, isShared: true });
    expect(heard('0000000009')).toMatchObject({ type: 'claim', isPeer: undefined });
  });
});

describe('ARP on the wire', () => {
  it('has the octets of RFC 5227, and in an announcement the mark', () => {
    const arp = arpLanguage(ours, '10.3.0.1');
    const probe = arp.probe('10.3.0.100');
    expect(hex(probe.packet)).toBe('0001080006040001020000000005000000000000000000000a030064');
    expect(linkAddressText(probe.to)).toBe('ff:ff:ff:ff:ff:ff');
    const announcement = arp.announcement('10.3.0.100');
    expect(hex(announcement.packet)).toBe('00010800060400010200000000050a0300640200000000050a030064');
  });

  it('answers a question to the one who asked', () => {
    const arp = arpLanguage(ours, '10.3.0.1');
    const heard = arp.parse(Buffer.from('00010800060400010200000000090a0300070000000000000a030064', 'hex'));
    expect(heard).toMatchObject({ address: '10.3.0.100', message: { type: 'question', from: theirs } });
    if (heard?.message.type !== 'question') throw new Error('no question');
    const [reply, ...more] = arp.answer('10.3.0.100', heard.message.replyTo);
    expect(hex(reply?.packet ?? new Uint8Array())).toBe(
      '00010800060400020200000000050a0300640200000000090a030007',
    );
    expect([linkAddressText(reply?.to ?? new Uint8Array()), more]).toEqual([theirs, []]);
  });

  it('answers a probe of a host with a reply, which goes to that host alone', () => {
    const arp = arpLanguage(ours, '10.3.0.1');
    const heard = arp.parse(Buffer.from('0001080006040001020000000009000000000000000000000a030064', 'hex'));
    if (heard?.message.type !== 'probe') throw new Error('no probe');
    const answers = arp.answer('10.3.0.100', heard.message.replyTo);
    expect(answers.map(({ packet, to }) => [packet[7], linkAddressText(to)])).toEqual([
      [1, theirs],
      [2, theirs],
    ]);
  });

  it('does not take a master that asks for another address from the VIP for one that answers for it', () => {
    const packet = Buffer.from('00010800060400010200000000090a0300640000000000000a030001', 'hex');
    expect(arpLanguage(ours, '10.3.0.1').parse(packet)).toMatchObject({
      address: '10.3.0.1',
      message: { type: 'question' },
    });
  });
});

describe('neighbor discovery on the wire', () => {
  const language = neighborDiscoveryLanguage(ours, 'fe80::5');

  it('probes from the unspecified address, to the solicited-node group', () => {
    const { packet, to } = language.probe('fd00:3::100');
    expect(linkAddressText(to)).toBe('33:33:ff:00:01:00');
    expect(hex(packet.subarray(8, 40))).toBe(`${'00'.repeat(16)}ff0200000000000000000001ff000100`);
    expect(packet[7]).toBe(255);
  });

  it('answers a probe to all nodes, not as solicited, from an address of ours (RFC 4861 section 7.2.4)', () => {
    const probe = language.parse(neighborDiscoveryLanguage(theirs, 'fe80::9').probe('fd00:3::100').packet);
    if (probe?.message.type !== 'probe') throw new Error('no probe');
    const [{ packet, to } = { packet: new Uint8Array(), to: new Uint8Array() }] = language.answer(
      'fd00:3::100',
      probe.message.replyTo,
    );
    expect(linkAddressText(to)).toBe('33:33:00:00:00:01');
    expect(hex(packet.subarray(8, 40))).toBe(`fe80${'00'.repeat(13)}05ff02${'00'.repeat(13)}01`);
    expect([packet[40], packet[44]]).toEqual([136, 0x20]);
  });

  it('does not take the random nonce of a kernel for a load balancer, nor a copy of its own', () => {
    const other = neighborDiscoveryLanguage(theirs, 'fe80::9');
    // A word of the mark and the checksum change places: the sum stays.
    const spoilt = other.probe('fd00:3::100').packet;
    const view = new DataView(spoilt.buffer);
    const [word, sum] = [view.getUint16(72), view.getUint16(42)];
    view.setUint16(72, sum);
    view.setUint16(42, word);
    expect(language.parse(spoilt)?.message).toMatchObject({ type: 'probe', from: undefined });
    // What says that it is ours, with the link-layer address of another.
    const copied = neighborDiscoveryLanguage(ours, 'fe80::9', { linkOf: () => theirs });
    expect(language.parse(copied.announcement('fd00:3::100').packet)?.message).toEqual({
      type: 'claim',
      from: theirs,
      isPeer: false,
    });
  });

  it.each([
    ['from another link', (packet: Uint8Array) => packet.fill(64, 7, 8)],
    ['with a wrong checksum', (packet: Uint8Array) => packet.fill(0, 42, 44)],
    ['with an option of no length', (packet: Uint8Array) => packet.fill(0, 65, 66)],
  ])('does not believe a packet %s', (_what, spoil) => {
    expect(language.parse(spoil(language.announcement('fd00:3::100').packet))).toBeUndefined();
  });
});
