import { VIRTUAL_ROUTER } from './keepalived-config.ts';

/** What keepalived says of the instance that has the VIPs. */
export type InstanceState = 'master' | 'backup' | 'fault' | 'stop';

/** The owner has heard one of lower priority that takes itself for the owner: for a moment there were two. */
const LOWER_HEARD = 'MASTER_RX_LOWER_PRI';

const STATES: ReadonlyMap<string, InstanceState> = new Map([
  ['MASTER', 'master'],
  ['BACKUP', 'backup'],
  ['FAULT', 'fault'],
  ['STOP', 'stop'],
  ['DELETED', 'stop'],
  [LOWER_HEARD, 'master'],
]);

/** What a line of the notify FIFO says. */
export interface NotifyLine {
  readonly state: InstanceState;
  readonly priority: number;
  /** Another took itself for the owner too. */
  readonly isContested: boolean;
}

/** A line of the notify FIFO: `INSTANCE "bgp-lb" MASTER 240`. Lines about other things, and of later releases, are none. Pure. */
export function parseNotifyLine(line: string): NotifyLine | undefined {
  const [, name, word = '', priority] = /^INSTANCE "([^"]*)" ([A-Z_]+) (\d{1,3})$/.exec(line.trim()) ?? [];
  const state = STATES.get(word);
  if (name !== VIRTUAL_ROUTER || state === undefined) return undefined;
  return { state, priority: Number(priority), isContested: word === LOWER_HEARD };
}
