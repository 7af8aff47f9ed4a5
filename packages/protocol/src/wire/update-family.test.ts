import { expect, it } from 'vitest';
import { ipv4Unicast, ipv6Unicast } from '../types/family.ts';
import { familyOfUpdate } from './update-family.ts';

const update = (withdrawn: string, attributes: string, nlri = ''): Uint8Array => {
  const octets = (text: string): string => (text.length / 2).toString(16).padStart(4, '0');
  const body = octets(withdrawn) + withdrawn + octets(attributes) + attributes + nlri;
  const length = (19 + body.length / 2).toString(16).padStart(4, '0');
  return Uint8Array.from(Buffer.from(`${'ff'.repeat(16)}${length}02${body}`, 'hex'));
};

it('tells the family of an UPDATE by its multiprotocol attributes', () => {
  expect(familyOfUpdate(update('', ''))).toBe(ipv4Unicast);
  expect(familyOfUpdate(update('180a0000', '400101004002004003040a000001', '200a640001'))).toBe(ipv4Unicast);
  expect(familyOfUpdate(update('', '40010100800f03000201'))).toBe(ipv6Unicast);
  // Extended Length.
  expect(familyOfUpdate(update('', '900f0003000201'))).toBe(ipv6Unicast);
});

it('tells none for what it does not know or cannot read', () => {
  expect(familyOfUpdate(update('', '800f03400446'))).toBeUndefined();
  const whole = update('180a0000', '40010100800f03000201');
  for (let length = 0; length < whole.length; length++) {
    expect(familyOfUpdate(whole.subarray(0, length))).toBeUndefined();
  }
});
