import { encodeMessage } from '@bgp-lb/protocol';
import { describe, expect, it } from 'vitest';
import { messageText } from '../kit/message-text.ts';
import { contextOf, judge, type WireVector, wireVectors } from '../kit/wire-vector.ts';

const files = [
  'exabgp-encoding',
  'exabgp-decoding',
  'gobgp-bgpkit',
  'frr-unit',
  'frr-rfc7606',
  'pcap-messages',
] as const;

describe.each(files)('%s', (file) => {
  it.each(wireVectors(file).map((vector) => [vector.name, vector] as const))('%s', (_name, vector) => {
    const context = contextOf(vector);
    const { outcome, faults, message } = judge(Buffer.from(vector.hex, 'hex'), context);
    expect({ outcome, faults, text: message && messageText(message) }).toEqual({
      outcome: vector.outcome,
      faults: vector.faults ?? [],
      text: vector.text,
    });
    if (message === undefined || vector.encoding === undefined) return;
    const again = encodeMessage(message, context);
    if (vector.encoding === 'identical') {
      expect(Buffer.from(again).toString('hex')).toBe(vector.hex);
      return;
    }
    const reread = judge(again, context);
    expect(reread.message && messageText(reread.message)).toBe(vector.text);
    expect(reread.faults).toEqual([]);
  });
});

describe('the set', () => {
  const all: readonly WireVector[] = files.flatMap(wireVectors);

  it('has each vector once, with its source, and the RFC where it differs from it', () => {
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
    for (const { source, against } of all) {
      expect(source).not.toBe('');
      if (against !== undefined) expect(against.because).toMatch(/RFC \d+ section \d/);
    }
  });

  it('judges every outcome, and writes most of what is accepted octet by octet as it came', () => {
    const count = (condition: (vector: WireVector) => boolean): number => all.filter(condition).length;
    expect(all.length).toBeGreaterThanOrEqual(573);
    expect(count(({ outcome }) => outcome === 'treat-as-withdraw')).toBeGreaterThan(100);
    expect(count(({ outcome }) => outcome === 'attribute-discard')).toBeGreaterThan(100);
    expect(count(({ outcome }) => outcome.startsWith('reset'))).toBeGreaterThan(50);
    expect(count(({ encoding }) => encoding === 'identical')).toBeGreaterThan(100);
  });
});
