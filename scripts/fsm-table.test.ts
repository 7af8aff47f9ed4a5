import { expect, it } from 'vitest';
import { fsmTable, writtenFsmTable } from './fsm-table.ts';

it('docs/fsm.md shows what the FSM does; node scripts/fsm-table.ts brings it up to date', () => {
  expect(writtenFsmTable()).toBe(fsmTable());
});
