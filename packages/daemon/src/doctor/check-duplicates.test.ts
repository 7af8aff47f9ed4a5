import { describe, expect, it } from 'vitest';
import { checkDuplicates } from './check-duplicates.ts';

const address = { address: 'fd00::1', interface: 'eth0', hasFailed: false, isTentative: false };

describe('doctor on duplicate addresses', () => {
  it('is content where each address is in use', () => {
    expect(checkDuplicates([address])).toMatchObject([{ level: 'good' }]);
  });

  it('names one that another host has, and one that is still looked for', () => {
    const failed = { ...address, address: 'fd00::2', hasFailed: true, isTentative: true };
    const tentative = { ...address, address: 'fd00::3', isTentative: true };
    expect(checkDuplicates([address, failed, tentative])).toMatchObject([
      { level: 'fault', place: 'eth0', value: expect.stringContaining('fd00::2 is dadfailed') },
      { level: 'warning', place: 'eth0', value: expect.stringContaining('fd00::3 is tentative') },
    ]);
  });
});
