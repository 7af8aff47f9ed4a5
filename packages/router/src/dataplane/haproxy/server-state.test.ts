import { expect, it } from 'vitest';
import { coldState, warmState } from './server-state.ts';

it('begins a new worker with the state of the old one, and has members that this lacks down until their first check', () => {
  const cold = coldState(
    new Map([
      [
        '10.0.0.100',
        ['10.0.0.11', '10.0.0.12'].map((member) => ({
          member,
          port: 6443,
          weight: 256,
          isDrained: false,
          isOverruled: false,
        })),
      ],
    ]),
  );
  const [, header, first, second] = cold.split('\n');
  // SRV_ST_RUNNING, as it is while the check of the first passes.
  const running = first?.replace(' 10.0.0.11 0 ', ' 10.0.0.11 2 ');
  expect(running).not.toBe(first);
  const warm = warmState(`1\n${header}\n${running}`, cold);
  expect(warm).toBe(`1\n${header}\n${running}\n${second}\n`);
});
