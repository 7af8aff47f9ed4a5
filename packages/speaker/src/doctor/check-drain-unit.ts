import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Finding, fault, good, warning } from '@bgp-lb/daemon';
import { DEFAULT_SOCKET } from '../config/default-socket.ts';
import type { SpeakerConfig } from '../config/speaker-config.ts';
import { DRAIN_UNIT, stopSeconds } from '../host-units/drain-unit.ts';

const properties = ['LoadState', 'ActiveState', 'TimeoutStopUSec', 'Environment', 'ExecStop'] as const;

/** Milliseconds for systemctl. */
const ANSWER_TIME = 5_000;

/** What systemd says of the unit as it is in force, drop-ins included; undefined where no systemd runs, as in the pod. */
export async function showDrainUnit(): Promise<string | undefined> {
  const args = ['show', DRAIN_UNIT, ...properties.map((name) => `--property=${name}`)];
  try {
    return (await promisify(execFile)('systemctl', args, { timeout: ANSWER_TIME })).stdout;
  } catch {
    return undefined;
  }
}

/**
 * Whether the unit that drains this master before its host shuts down will do that: it is made for the defaults, or for another
 * configuration. Pure. @param shown what `systemctl show` says
 */
export function checkDrainUnit(
  { api, drain }: Pick<SpeakerConfig, 'api' | 'drain'>,
  shown: string | undefined,
): readonly Finding[] {
  if (shown === undefined) return [];
  const lines = shown.split('\n');
  const value = (name: (typeof properties)[number]): string =>
    lines.find((line) => line.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
  const check = 'drain unit';
  if (value('LoadState') !== 'loaded') {
    return [
      warning(
        check,
        DRAIN_UNIT,
        `is ${value('LoadState') || 'not there'}: nothing drains this master before its host shuts down`,
        'install the Debian package bgp-lb-speaker, or run `bgp-lb-speaker drain --until-reboot` before each shutdown',
      ),
    ];
  }
  const findings = [
    ...(value('ActiveState') === 'active'
      ? []
      : [
          warning(
            check,
            DRAIN_UNIT,
            `is ${value('ActiveState')}: it drains when it is stopped, and so does nothing now`,
            `systemctl enable --now ${DRAIN_UNIT}`,
          ),
        ]),
    ...checkSocket(socketOf(value('ExecStop'), value('Environment')), api.socket),
    ...checkTime(seconds(value('TimeoutStopUSec')), drain.timeout),
  ];
  return findings.length > 0
    ? findings
    : [good(check, DRAIN_UNIT, 'asks this speaker, and has the time that a drain may last')];
}

function checkSocket(asked: string, socket: string): readonly Finding[] {
  if (asked === socket) return [];
  return [
    fault(
      'drain unit',
      DRAIN_UNIT,
      `asks at ${asked}, and api.socket is ${socket}: it drains nobody`,
      `systemctl edit ${DRAIN_UNIT}: [Service] Environment="BGP_LB_SOCKET=${socket}"`,
    ),
  ];
}

function checkTime(given: number, timeout: number): readonly Finding[] {
  const wanted = stopSeconds(timeout);
  if (given >= wanted) return [];
  return [
    fault(
      'drain unit',
      DRAIN_UNIT,
      `is given ${given} s by TimeoutStopSec, and drain.timeout is ${timeout / 1000} s: systemd ends the drain before it is over`,
      `systemctl edit ${DRAIN_UNIT}: [Service] TimeoutStopSec=${wanted}`,
    ),
  ];
}

/** `--socket` of the command, else BGP_LB_SOCKET, else the default: as the command itself has it. */
function socketOf(command: string, environment: string): string {
  const flag = / --socket (.+?)(?= ;| --)/.exec(command)?.[1];
  const [, quoted, plain] = /(?:^| )(?:"BGP_LB_SOCKET=([^"]*)"|BGP_LB_SOCKET=(\S+))/.exec(environment) ?? [];
  return flag ?? quoted ?? plain ?? DEFAULT_SOCKET;
}

const unitSeconds: Readonly<Record<string, number>> = {
  ...{ us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3_600 },
  ...{ d: 86_400, w: 604_800, month: 2_629_800, y: 31_557_600 },
};

/** A time span as systemctl prints it (systemd.time(7)): `1min 30s`, `infinity`. */
function seconds(span: string): number {
  if (span === 'infinity') return Number.POSITIVE_INFINITY;
  const parts = span.matchAll(/([\d.]+)([a-z]+)/g);
  return [...parts].reduce((sum, [, count, name = '']) => sum + Number(count) * (unitSeconds[name] ?? 0), 0);
}
