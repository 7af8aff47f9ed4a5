/**
 * Writes docs/fsm.md: what the FSM does in every state on every event, found by asking it.
 * `node scripts/fsm-table.ts`; a test fails when the file is not what this makes.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FsmEvent } from '@bgp-lb/protocol';
import { step } from '@bgp-lb/protocol';
import { actionText, config, sampleEvents, sampleStates } from '@bgp-lb/protocol/testing';

/** The file that is made. */
export const fsmTableFile: string = fileURLToPath(new URL('../docs/fsm.md', import.meta.url));

/** Numbers of RFC 4271 section 8.1 and RFC 9687 section 3, where the events have one. */
const numbers: Readonly<Record<FsmEvent['type'], string>> = {
  ManualStart: '1',
  ManualStop: '2',
  AutomaticStart: '3',
  ManualStart_with_PassiveTcpEstablishment: '4',
  AutomaticStart_with_PassiveTcpEstablishment: '5',
  AutomaticStart_with_DampPeerOscillations: '6',
  AutomaticStart_with_DampPeerOscillations_and_PassiveTcpEstablishment: '7',
  AutomaticStop: '8',
  ConnectRetryTimer_Expires: '9',
  HoldTimer_Expires: '10',
  KeepaliveTimer_Expires: '11',
  DelayOpenTimer_Expires: '12',
  IdleHoldTimer_Expires: '13',
  TcpConnection_Valid: '14',
  Tcp_CR_Invalid: '15',
  Tcp_CR_Acked: '16',
  TcpConnectionConfirmed: '17',
  TcpConnectionFails: '18',
  BGPOpen: '19, 20',
  BGPHeaderErr: '21',
  BGPOpenMsgErr: '22',
  OpenCollisionDump: '23',
  NotifMsgVerErr: '24',
  NotifMsg: '25',
  KeepAliveMsg: '26',
  UpdateMsg: '27',
  UpdateMsgErr: '28',
  SendHoldTimer_Expires: '29',
  RouteRefreshMsg: '',
  RouteRefreshMsgErr: '',
};

const head = `# The finite state machine

Made by \`node scripts/fsm-table.ts\` from \`packages/protocol/src/fsm\`; do not edit.

One BGP connection, as RFC 4271 section 8.2.2 has it, with the subcodes of RFC 6608, the second connection of RFC 4724
section 5 and the send hold timer of RFC 9687. Times are seconds before jitter: hold time 90, connectRetryTime 120, a wait of
5 after a failed attempt. The two connections of a peer, their collision and the damping of a peer that keeps failing are one
level up, in \`peer-fsm.ts\`.

Where it differs from the text of RFC 4271, and why:

- TcpConnectionFails in Connect goes to Active, not to Idle: from Idle it would start again at once (\`connect.ts\`).
- NotifMsg in OpenSent is not answered by a NOTIFICATION (RFC 4271 section 6.4; \`open-sent.ts\`).
- BGPHeaderErr in Established is answered by its own code, as RFC 4271 section 6.1 says, not by an FSM error.
- NotifMsg and TcpConnectionFails in Established count as oscillations, and so does a version error, which does not count for
  the ConnectRetryCounter. A lost collision does not.

Words: \`start T n\` starts or restarts timer T with n seconds; \`damp\` counts an oscillation; \`counter\` is the
ConnectRetryCounter; every way to Idle stops all timers of the connection.
`;

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

/** The text of docs/fsm.md. */
export function fsmTable(): string {
  const events = Object.values(sampleEvents);
  const overview = table(
    ['', 'event', ...sampleStates.map(({ title }) => title)],
    events.map((event) => [
      numbers[event.type],
      event.type,
      ...sampleStates.map(({ state }) => {
        const next = step(state, event, config);
        return next.state === state && next.actions.length === 0 ? '' : next.state.name;
      }),
    ]),
  );
  const sections = sampleStates.map(({ title, state }) => {
    const rows = events.flatMap((event) => {
      const next = step(state, event, config);
      if (next.state === state && next.actions.length === 0) return [];
      const actions = next.actions.filter(({ type }) => type !== 'stopTimer').map(actionText);
      return [[numbers[event.type], event.type, next.state.name, actions.join(', '), next.reason]];
    });
    return `## ${title}\n\n${table(['', 'event', 'next', 'actions', 'reason'], rows)}\n`;
  });
  return `${head}\n## Next states\n\nAn empty cell: nothing happens.\n\n${overview}\n\n${sections.join('\n')}`;
}

/** What docs/fsm.md says now. */
export function writtenFsmTable(): string {
  return readFileSync(fsmTableFile, 'utf8');
}

if (import.meta.main) writeFileSync(fsmTableFile, fsmTable());
