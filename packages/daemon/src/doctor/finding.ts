import type { Table } from '../output/table.ts';

/** What one look at this machine gave. */
export interface Finding {
  /** What was looked at: `vip owner`, `router 10.0.0.10`. */
  readonly check: string;
  /** `fault`: clients are or will be harmed. `warning`: it may be so on purpose. */
  readonly level: 'good' | 'warning' | 'fault';
  /** Where: a file, an interface, an address. */
  readonly place: string;
  /** What is there. */
  readonly value: string;
  /** What to do about it; empty for what is good. */
  readonly fix: string;
}

export function good(check: string, place: string, value: string): Finding {
  return { check, level: 'good', place, value, fix: '' };
}

export function fault(check: string, place: string, value: string, fix: string): Finding {
  return { check, level: 'fault', place, value, fix };
}

export function warning(check: string, place: string, value: string, fix: string): Finding {
  return { check, level: 'warning', place, value, fix };
}

const order = { fault: 0, warning: 1, good: 2 } as const;

/** The findings for people, what is bad first. */
export function findingsTable(findings: readonly Finding[]): Table {
  const sorted = [...findings].sort((a, b) => order[a.level] - order[b.level]);
  return {
    columns: ['level', 'check', 'place', 'value', 'fix'],
    rows: sorted.map(({ level, check, place, value, fix }) => [level, check, place, value, fix]),
  };
}
