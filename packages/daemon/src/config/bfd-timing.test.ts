import { describe, expect, it } from 'vitest';
import { bfdTiming } from './bfd-timing.ts';

const times = (address: string, configured = {}): string => {
  const { transmitInterval, receiveInterval, detectMultiplier } = bfdTiming(configured, address);
  return `${transmitInterval}/${receiveInterval} x ${detectMultiplier}`;
};

describe('the timing of BFD that is not configured', () => {
  it.each(['10.0.0.11', '100.63.255.255', '100.128.0.0', 'fd00::1', 'fd7a:115c:a1e1::1', 'fe80::11%eth0'])(
    'is 300 ms x 3 with %s',
    (address) => {
      expect(times(address)).toBe('300/300 x 3');
    },
  );

  it.each(['100.64.0.0', '100.127.255.255', 'fd7a:115c:a1e0::1', 'fd7a:115c:a1e0:ffff::1'])(
    'is 1 s x 5 with %s, an address of Tailscale',
    (address) => {
      expect(times(address)).toBe('1000/1000 x 5');
    },
  );

  it('gives way to each key that is configured', () => {
    expect(times('100.64.0.11', { transmitInterval: 50 })).toBe('50/1000 x 5');
    expect(times('100.64.0.11', { receiveInterval: 50, detectMultiplier: 2 })).toBe('1000/50 x 2');
  });
});
