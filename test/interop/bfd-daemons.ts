/** bfdd of FRR and BIRD as BFD peers in a network namespace. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { birdc, birdDaemon, birdView } from '../../scripts/lab/bird.ts';
import { frrDaemon, frrView, vtysh, writeFrrConfig } from '../../scripts/lab/frr.ts';
import type { PrivateView } from '../../scripts/lab/private-view.ts';
import type { NetworkNamespace } from '../kit/network-namespace.ts';

/** A session of the peer. */
export interface PeerSession {
  readonly local: string;
  readonly remote: string;
  readonly device: string;
  /** ms, in both directions; the multiplier is 3. */
  readonly interval: number;
}

/** A BFD daemon that runs. */
export interface BfdDaemon {
  /** The sessions' states by the address of the other end, in lower case. */
  states(): ReadonlyMap<string, string>;
  /** Why each session last changed its state, in the daemon's words; nothing where it does not tell. */
  diagnostics(): readonly string[];
  /** Takes all sessions administratively down, or lets them begin again. */
  setAdminDown(isDown: boolean): void;
  /** The process, for signals. */
  readonly process: ChildProcess;
  stop(): Promise<void>;
}

export type StartDaemon = (
  namespace: NetworkNamespace,
  sessions: readonly PeerSession[],
  /** Only BIRD has it: Meticulous Keyed SHA1 by this password, as key 1. */
  password?: string,
) => BfdDaemon;

function launch(namespace: NetworkNamespace, view: PrivateView, [program = '', ...argv]: readonly string[]) {
  const process = spawn('ip', ['netns', 'exec', namespace.name, program, ...argv], { stdio: 'ignore' });
  const stop = async (): Promise<void> => {
    if (process.exitCode === null && process.signalCode === null) {
      const exit = once(process, 'exit');
      process.kill('SIGKILL');
      await exit;
    }
    rmSync(view.folder, { recursive: true, force: true });
  };
  return { process, stop };
}

function ask([program = '', ...argv]: readonly string[]): string {
  return execFileSync(program, argv, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}

/** FRR's bfdd, alone, with its peers in its file. */
export const startBfdd: StartDaemon = (namespace, sessions) => {
  const view = frrView(mkdtempSync(join(tmpdir(), 'bgp-lb-bfdd-')));
  const peer = ({ remote, local }: PeerSession): string => `peer ${remote} local-address ${local}`;
  const lines = sessions.flatMap((session) => [
    ` ${peer(session)}`,
    `  receive-interval ${session.interval}`,
    `  transmit-interval ${session.interval}`,
    '  no shutdown',
    ' !',
  ]);
  writeFrrConfig(view, 'bfdd', ['bfd', ...lines, '!']);
  const started = launch(namespace, view, frrDaemon(view, 'bfdd'));
  const peers = (): readonly { peer: string; status: string; diagnostic: string }[] =>
    JSON.parse(ask(vtysh(view, 'show bfd peers json')));
  return {
    ...started,
    states: () => new Map(peers().map((each) => [each.peer, each.status])),
    diagnostics: () => peers().map(({ diagnostic }) => diagnostic),
    setAdminDown(isDown) {
      const change = isDown ? 'shutdown' : 'no shutdown';
      const changes = sessions.flatMap((session) => [peer(session), change, 'exit']);
      ask(vtysh(view, 'configure terminal', 'bfd', ...changes));
    },
  };
};

/** BIRD's bfd protocol with configured neighbors. */
export const startBird: StartDaemon = (namespace, sessions, password) => {
  const authentication =
    password === undefined ? '' : `authentication meticulous keyed sha1; password "${password}";`;
  const intervals = new Map(sessions.map(({ device, interval }) => [device, interval]));
  const view = birdView(mkdtempSync(join(tmpdir(), 'bgp-lb-bird-')), [
    'router id 192.0.2.1;',
    'protocol device { }',
    'protocol bfd watch {',
    ...[...intervals].map(
      ([device, ms]) => `  interface "${device}" { interval ${ms} ms; multiplier 3; ${authentication} };`,
    ),
    ...sessions.map(({ remote, local, device }) => `  neighbor ${remote} dev "${device}" local ${local};`),
    '}',
  ]);
  const started = launch(namespace, view, birdDaemon(view));
  return {
    ...started,
    states() {
      const rows = ask(birdc(view, 'show', 'bfd', 'sessions'))
        .split('\n')
        .slice(3);
      return new Map(
        rows.flatMap((row): [string, string][] => {
          const [address = '', , state = ''] = row.split(/\s+/);
          return address === '' ? [] : [[address, state.toLowerCase()]];
        }),
      );
    },
    diagnostics: () => [],
    setAdminDown(isDown) {
      ask(birdc(view, isDown ? 'disable' : 'enable', 'watch'));
    },
  };
};
