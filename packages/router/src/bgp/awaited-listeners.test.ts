import { describe, expect, it } from 'vitest';
import { awaitedListeners } from './awaited-listeners.ts';

describe('addresses to listen on', () => {
  it('are named while no interface has them', () => {
    const own = ['127.0.0.1', '10.0.0.10', 'fd00:0:0::10', 'fe80::1'];
    const listened = ['0.0.0.0', '::', '127.0.0.9', '10.0.0.10', 'fd00::10', 'fe80::1%eth0', '100.64.0.10'];
    expect(awaitedListeners(listened, own)).toEqual([
      'listen.addresses: no interface has 100.64.0.10 yet; neighbors are heard there once one has',
    ]);
  });

  it('of loopback are there', () => {
    expect(awaitedListeners(['127.0.0.1', '192.0.2.77'])).toHaveLength(1);
  });
});
