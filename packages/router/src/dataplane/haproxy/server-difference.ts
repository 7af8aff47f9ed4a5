import { hostPrefix } from '@bgp-lb/protocol';
import { FULL_WEIGHT, type WeightedNextHop } from '../../pool/member-view.ts';
import { backendOf } from './haproxy-settings.ts';
import type { RunningServer } from './run-time-answers.ts';

/** What HAProxy is to do with a member of a VIP. */
export interface WantedServer {
  /** Its address, which is its name too. */
  readonly member: string;
  readonly port: number;
  /** 0 to 256. */
  readonly weight: number;
  /** Only what it has goes on, and new connections go elsewhere. */
  readonly isDrained: boolean;
  /** It is used whatever its check says: too few members are good, and the pool overrules health. */
  readonly isOverruled: boolean;
}

/** One command of the run-time API, for one server. */
export interface ServerCommand {
  /** The VIP, as a prefix. */
  readonly vip: string;
  readonly member: string;
  readonly command: string;
  /** What HAProxy answers when it is done. */
  readonly expected: readonly string[];
  /** What there is against what is wanted, in words. */
  readonly difference: string;
  /** The server is not there yet. */
  readonly isAddition?: true;
}

/** What is to be done, and what has to be waited for first. */
export interface ServerDifference {
  readonly commands: readonly ServerCommand[];
  /** The next look should come soon: a check has to pass, or a connection to end. */
  readonly isWaiting: boolean;
}

/** @param newServer what stands behind the name in `add server` */
export type NewServer = (wanted: WantedServer) => string;

/**
 * Weights of the pool as HAProxy is to have them. A member of the least weight is to keep what it has. Beside others it is
 * drained, so that it gets no new connection at all; where there are no others it serves.
 */
export function wantedServers(
  nextHops: readonly WeightedNextHop[],
  machinePort: number,
  isOverruled: (nextHop: string) => boolean,
): WantedServer[] {
  const hasFull = nextHops.some(({ weight }) => weight === FULL_WEIGHT);
  return nextHops.map(({ nextHop, weight, port = machinePort }) => ({
    member: nextHop,
    port,
    // One weight for all that serve: the last resort of several is spread evenly too.
    weight: FULL_WEIGHT,
    isDrained: hasFull && weight < FULL_WEIGHT,
    isOverruled: isOverruled(nextHop),
  }));
}

/**
 * What turns the servers of a backend into those that are wanted. Pure, and the same whatever has changed them.
 * @param address of the VIP
 */
export function serverDifference(
  address: string,
  wanted: readonly WantedServer[],
  running: readonly RunningServer[],
  newServer: NewServer,
): ServerDifference {
  const byName = new Map(running.map((server) => [server.name, server]));
  const names = new Set(wanted.map(({ member }) => member));
  const removed = running.filter(({ name }) => !names.has(name));
  const changes = wanted.map((one) => {
    const server = byName.get(one.member);
    return server === undefined ? added(address, one, newServer) : changed(address, one, server);
  });
  return {
    // First those that leave: each millisecond is one in which clients are sent to a dead member.
    commands: [
      ...removed.flatMap((server) => leaving(address, server)),
      ...changes.flatMap(({ commands }) => commands),
    ],
    isWaiting: removed.length > 0 || changes.some(({ isWaiting }) => isWaiting),
  };
}

/** Drained until its first check has passed: HAProxy takes a new server for good, and would send it connections at once. */
function added(address: string, wanted: WantedServer, newServer: NewServer): ServerDifference {
  const { member } = wanted;
  const name = `${backendOf(address)}/${member}`;
  const difference = 'missing';
  const vip = hostPrefix(address);
  const base = { vip, member, difference, isAddition: true } as const;
  return {
    commands: [
      {
        ...base,
        command: `add server ${name} ${newServer(wanted)}`,
        expected: ['New server registered.'],
      },
      { ...base, command: `set server ${name} state drain`, expected: [''] },
      { ...base, command: `enable health ${name}`, expected: [''] },
    ],
    isWaiting: true,
  };
}

/** `maint` ends its connections by `on-marked-down shutdown-sessions`; it is deleted when the last is gone. */
function leaving(address: string, { name: member, admin, sessions }: RunningServer): ServerCommand[] {
  const name = `${backendOf(address)}/${member}`;
  const base = { vip: hostPrefix(address), member, difference: 'there, and no member of the pool' };
  const commands: ServerCommand[] = [];
  if (admin !== 'maint')
    commands.push({ ...base, command: `set server ${name} state maint`, expected: [''] });
  if (sessions > 0) {
    commands.push({ ...base, command: `shutdown sessions server ${name}`, expected: [''] });
  }
  commands.push({ ...base, command: `del server ${name}`, expected: deletions });
  return commands;
}

/** Sessions that were shut down take a moment: then it is asked again. */
const deletions: readonly string[] = [
  'Server deleted.',
  'Server still has connections attached to it, cannot remove it.',
];

function changed(address: string, wanted: WantedServer, server: RunningServer): ServerDifference {
  const { member, port, weight } = wanted;
  const name = `${backendOf(address)}/${member}`;
  const commands: ServerCommand[] = [];
  const say = (command: string, difference: string, expected: readonly string[] = ['']): void => {
    commands.push({ vip: hostPrefix(address), member, command, expected, difference });
  };
  if (server.address !== member || server.port !== port) {
    const command = `set server ${name} addr ${member} port ${port}`;
    // The answer tells what was changed into what.
    say(command, `address ${server.address} port ${server.port}, wanted ${member} port ${port}`, anyAnswer);
  }
  if (server.weight !== weight) {
    say(`set server ${name} weight ${weight}`, `weight ${server.weight}, wanted ${weight}`);
  }
  if (server.isChecked === wanted.isOverruled) {
    const command = `${wanted.isOverruled ? 'disable' : 'enable'} health ${name}`;
    say(command, `${server.isChecked ? 'checked' : 'not checked'}, wanted otherwise`);
  }
  if (wanted.isOverruled && !server.isUp) {
    say(`set server ${name} health up`, `${server.status}, used all the same since too few members are good`);
  }
  // One that comes from `drain` or `maint` may have failed its check for all that is known: a passed one is waited for.
  const isProven = wanted.isOverruled || (server.isUp && server.check === 'L7OK');
  const admin = wanted.isDrained || (server.admin !== 'ready' && !isProven) ? 'drain' : 'ready';
  if (server.admin !== admin) {
    say(`set server ${name} state ${admin}`, `${server.admin}, wanted ${admin}`);
  }
  return { commands, isWaiting: !wanted.isDrained && admin === 'drain' };
}

/** The next look tells whether it was done. */
const anyAnswer: readonly string[] = [];
