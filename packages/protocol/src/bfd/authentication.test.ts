import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  admitBfdPacket,
  agreeOnKey,
  type BfdAuthentication,
  bfdAuthentication,
  forgetEndedKey,
  isBfdPacketSigned,
  signBfdPacket,
} from './authentication.ts';
import { type BfdControlPacket, decodeBfdControlPacket, encodeBfdControlPacket } from './control-packet.ts';
import { peerPacket } from './kit/machine.ts';

const sha1 = (octets: Uint8Array): Uint8Array => createHash('sha1').update(octets).digest();
const key = { id: 7, secret: Buffer.from('correct horse') };
const other = { id: 7, secret: Buffer.from('battery staple') };
const detectionTime = 150;

/** A packet of the peer, signed. */
function signed(sequence: number, by = key, fields: Partial<BfdControlPacket> = {}): Uint8Array {
  return signBfdPacket(encodeBfdControlPacket({ ...peerPacket, ...fields }), by, sequence, sha1);
}

/** What is left after a packet, or undefined when it is discarded. */
function hear(state: BfdAuthentication, payload: Uint8Array, now = 1000): BfdAuthentication | undefined {
  const packet = decodeBfdControlPacket(payload);
  if (typeof packet === 'string') return undefined;
  return admitBfdPacket(state, payload, packet, detectionTime, now, sha1);
}

function heard(state: BfdAuthentication, payload: Uint8Array, now = 1000): BfdAuthentication {
  const next = hear(state, payload, now);
  if (next === undefined) throw new Error('discarded');
  return next;
}

const plain = encodeBfdControlPacket(peerPacket);
const required = bfdAuthentication({ mode: 'required', key });

describe('a packet with Meticulous Keyed SHA1', () => {
  it('is 52 octets with the hash over all of them and the key in its place', () => {
    const payload = signed(0x0102_0304);
    const head = '20440334' + '0000004d' + '00000000' + '0000c350' + '0000c350' + '00000000';
    const section = '051c0700' + '01020304';
    const hashed = Buffer.from(
      `${head}${section}${Buffer.from('correct horse').toString('hex')}${'00'.repeat(7)}`,
      'hex',
    );
    expect(Buffer.from(payload).toString('hex')).toBe(
      `${head}${section}${createHash('sha1').update(hashed).digest('hex')}`,
    );
  });

  it('is taken where it is required, with the number that it has', () => {
    expect(heard(required, signed(5)).received).toEqual({ sequence: 5, at: 1000, detectionTime });
  });

  it('is discarded with another key, another key ID, or as soon as any bit of it differs', () => {
    expect(hear(required, signed(5, other))).toBeUndefined();
    expect(hear(required, signed(5, { ...key, id: 8 }))).toBeUndefined();
    const payload = signed(5);
    for (let bit = 0; bit < payload.length * 8; bit += 1) {
      const forged = payload.slice();
      forged[bit >> 3] = (forged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      // The reserved octet is part of what is hashed, and so is the rest.
      expect(hear(required, forged), `bit ${bit}`).toBeUndefined();
    }
  });

  it('is discarded when it is cut, whatever its Length says', () => {
    const payload = signed(5);
    for (let length = 0; length < payload.length; length += 1) {
      const cut = payload.slice(0, length);
      if (length > 3) cut[3] = length;
      expect(hear(required, cut), `${length} octets`).toBeUndefined();
    }
    const longer = Buffer.concat([payload, Buffer.from('trailer')]);
    expect(hear(required, longer)?.received?.sequence).toBe(5);
  });

  it('is discarded where none is in use (RFC 5880 section 6.8.6)', () => {
    expect(hear(bfdAuthentication({ mode: 'none' }), signed(5))).toBeUndefined();
    expect(hear(bfdAuthentication({ mode: 'none' }), plain)).toBeDefined();
  });
});

describe('the sequence number', () => {
  it.each([
    ['again', 100, 100, false],
    ['of an earlier packet', 100, 99, false],
    ['one ahead', 100, 101, true],
    ['three times Detect Mult ahead', 100, 109, true],
    ['further ahead', 100, 110, false],
    ['past the end, where it begins again', 0xffff_ffff, 0, true],
    ['three times Detect Mult ahead past the end', 0xffff_fffe, 7, true],
    ['further ahead past the end', 0xffff_fffe, 8, false],
    ['back over the end', 0, 0xffff_ffff, false],
  ])('%s: %i, then %i', (_, first, second, isTaken) => {
    const state = heard(required, signed(first));
    expect(hear(state, signed(second), 1010) !== undefined).toBe(isTaken);
  });

  it('is forgotten after twice the Detection Time, in which discarded packets do not count', () => {
    const state = heard(required, signed(100));
    expect(hear(state, signed(5000), 1000 + 2 * detectionTime - 1)).toBeUndefined();
    expect(heard(state, signed(5000), 1000 + 2 * detectionTime).received?.sequence).toBe(5000);
  });

  it('of a forged packet is not remembered', () => {
    const state = heard(required, signed(100));
    expect(hear(state, signed(105, other))).toBeUndefined();
    expect(heard(state, signed(101)).received?.sequence).toBe(101);
  });
});

describe('a key that is negotiated', () => {
  const before = bfdAuthentication({ mode: 'negotiated' });
  const agreed = agreeOnKey(before, key);
  const locked = heard(agreed, signed(5));

  it('changes nothing before it is agreed on: packets of both kinds are taken, and sent without', () => {
    expect(hear(before, plain)).toEqual(before);
    expect(hear(before, signed(5, other))).toEqual(before);
    expect(isBfdPacketSigned(before, 'Up')).toBe(false);
  });

  it('is sent at once, and required from the first valid packet on', () => {
    expect(isBfdPacketSigned(agreed, 'Down')).toBe(true);
    expect(hear(agreed, plain)).toEqual(agreed);
    expect(hear(agreed, signed(5, other))).toEqual(agreed);
    expect(locked.isRequired).toBe(true);
    expect(hear(locked, plain)).toBeUndefined();
    expect(hear(locked, signed(6, other))).toBeUndefined();
    expect(hear(locked, signed(5))).toBeUndefined();
    expect(hear(locked, signed(6))).toBeDefined();
  });

  it('is required no more when the agreement ends, and still sent as long as the session is Up', () => {
    const ended = agreeOnKey(locked, undefined);
    expect(hear(ended, plain)).toEqual(ended);
    expect(
      (['Up', 'AdminDown', 'Init', 'Down'] as const).map((state) => isBfdPacketSigned(ended, state)),
    ).toEqual([true, true, false, false]);
  });

  it('is forgotten in Down and Init once the agreement has ended, and never while it lasts', () => {
    const states = ['Up', 'AdminDown', 'Init', 'Down'] as const;
    const ended = agreeOnKey(locked, undefined);
    expect(states.map((state) => forgetEndedKey(ended, state).key)).toEqual([key, key, undefined, undefined]);
    for (const state of states) {
      const next = forgetEndedKey(forgetEndedKey(ended, 'Down'), state);
      expect(next).toEqual(before);
      expect(isBfdPacketSigned(next, state)).toBe(false);
      for (const other of [agreed, locked, required]) expect(forgetEndedKey(other, state)).toBe(other);
    }
  });

  it('that is agreed on again goes on where it was; another one begins anew', () => {
    const again = agreeOnKey(agreeOnKey(locked, undefined), { ...key, secret: Buffer.from(key.secret) });
    expect(heard(again, signed(5))).toEqual(again);
    expect(heard(again, signed(6)).isRequired).toBe(true);
    const anew = agreeOnKey(locked, other);
    expect(anew.received).toBeUndefined();
    expect(heard(anew, signed(5))).toEqual(anew);
    expect(heard(anew, signed(2, other)).isRequired).toBe(true);
  });

  it('has no meaning where the mode is another', () => {
    expect(agreeOnKey(required, other)).toBe(required);
  });
});

it.each([
  [{ id: 256, secret: key.secret }, 'BFD key ID: 256; allowed are 0 to 255'],
  [{ id: 1, secret: new Uint8Array(0) }, 'BFD key: 0 octets; allowed are 1 to 20'],
  [{ id: 1, secret: new Uint8Array(21) }, 'BFD key: 21 octets; allowed are 1 to 20'],
])('a key that cannot be sent is refused: %#', (bad, message) => {
  expect(() => bfdAuthentication({ mode: 'required', key: bad })).toThrow(message);
  expect(() => agreeOnKey(bfdAuthentication({ mode: 'negotiated' }), bad)).toThrow(message);
});
