import { describe, expect, it } from 'vitest';
import {
  type BfdControlPacket,
  decodeBfdControlPacket,
  describeBfdDiagnostic,
  encodeBfdControlPacket,
} from './control-packet.ts';
import { peerPacket } from './kit/machine.ts';

const up: BfdControlPacket = {
  ...peerPacket,
  diagnostic: 3,
  state: 'Up',
  poll: true,
  myDiscriminator: 0x01020304,
  yourDiscriminator: 0xfffefdfc,
  desiredMinTx: 300_000,
  requiredMinRx: 0,
  requiredMinEchoRx: 50_000,
};
const upHex = '23e0031801020304fffefdfc000493e000000000' + '0000c350';

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
const patched = (offset: number, ...octets: readonly number[]): Uint8Array => {
  const copy = bytes(upHex);
  copy.set(octets, offset);
  return copy;
};

describe('a BFD Control packet', () => {
  it('is written as RFC 5880 section 4.1 draws it', () => {
    expect(Buffer.from(encodeBfdControlPacket(up)).toString('hex')).toBe(upHex);
  });

  it('is read back field by field', () => {
    expect(decodeBfdControlPacket(bytes(upHex))).toEqual(up);
  });

  it.each(['AdminDown', 'Down', 'Init', 'Up'] as const)('carries the state %s', (state) => {
    expect(decodeBfdControlPacket(encodeBfdControlPacket({ ...up, state }))).toMatchObject({ state });
  });

  it.each([
    { bit: 'poll', octet: 0xe0 },
    { bit: 'final', octet: 0xd0 },
    { bit: 'controlPlaneIndependent', octet: 0xc8 },
    { bit: 'demand', octet: 0xc2 },
  ] as const)('has the bit of $bit where it belongs', ({ bit, octet }) => {
    const packet = { ...up, poll: false, [bit]: true };
    expect(encodeBfdControlPacket(packet)[1]).toBe(octet);
    expect(decodeBfdControlPacket(patched(1, octet))).toEqual(packet);
  });

  it.each([
    { what: 'version 0', payload: patched(0, 0x03), reason: 'version' },
    { what: 'version 2', payload: patched(0, 0x43), reason: 'version' },
    { what: 'no octet', payload: new Uint8Array(0), reason: 'length' },
    { what: '23 octets', payload: bytes(upHex).subarray(0, 23), reason: 'length' },
    { what: 'Length 23', payload: patched(3, 23), reason: 'length' },
    { what: 'Length 25 in a payload of 24', payload: patched(3, 25), reason: 'length' },
    { what: 'Length 24 with the A bit', payload: patched(1, 0xc4), reason: 'length' },
    { what: 'Detect Mult 0', payload: patched(2, 0), reason: 'detect-mult' },
    { what: 'the M bit', payload: patched(1, 0xc1), reason: 'multipoint' },
    { what: 'My Discriminator 0', payload: patched(4, 0, 0, 0, 0), reason: 'my-discriminator' },
    { what: 'Your Discriminator 0 in Up', payload: patched(8, 0, 0, 0, 0), reason: 'your-discriminator' },
    {
      what: 'Your Discriminator 0 in Init',
      payload: patched(1, 0x80, 3, 24, 1, 2, 3, 4, 0, 0, 0, 0),
      reason: 'your-discriminator',
    },
  ])('with $what is discarded: $reason', ({ payload, reason }) => {
    expect(decodeBfdControlPacket(payload)).toBe(reason);
  });

  it.each([
    { state: 'Down', flags: 0x40 },
    { state: 'AdminDown', flags: 0x00 },
  ])('may have Your Discriminator 0 in $state', ({ state, flags }) => {
    expect(decodeBfdControlPacket(patched(1, flags, 3, 24, 1, 2, 3, 4, 0, 0, 0, 0))).toMatchObject({
      state,
      yourDiscriminator: 0,
    });
  });

  it('with the A bit and room for its section is left to the session', () => {
    const payload = new Uint8Array([...patched(1, 0xc4, 3, 26), 1, 4]);
    expect(decodeBfdControlPacket(payload)).toMatchObject({ authenticationPresent: true });
  });

  it('ignores octets after its Length', () => {
    expect(decodeBfdControlPacket(new Uint8Array([...bytes(upHex), 9, 9]))).toEqual(up);
  });

  it('has words for its diagnostic', () => {
    expect(describeBfdDiagnostic(1)).toBe('Control Detection Time Expired');
    expect(describeBfdDiagnostic(31)).toBe('diagnostic 31');
  });
});
