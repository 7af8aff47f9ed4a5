import { createHash, randomInt } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { join } from 'node:path';
import { MAX_STATE_SIZE, readRegularFile } from '@bgp-lb/daemon';
import { parseRouterId, type RouterId, routerId } from '@bgp-lb/protocol';
import type { RouterConfig } from '../config/router-config.ts';
import { stateFiles } from '../config/state-files.ts';

/** What the choice of a router id may ask of the host. */
export interface IdentityHost {
  /** Our source address towards an address; `undefined` without a route. */
  sourceTowards(address: string): string | undefined;
  /** /etc/machine-id; `undefined` where there is none. */
  machineId(): string | undefined;
}

/**
 * The BGP Identifier: the configured one, else the one that was chosen before, else the source address towards the
 * first neighbor, else a hash of the machine id (a host without IPv4). Where neither is to be had and there is no neighbor, as in a container
 * with a list of members, any number does. What was chosen is kept: a change would
 * make every neighbor take us for another router.
 * @param complain told when it cannot be kept: a full disk is no reason to forward nothing
 */
export function chooseRouterId(
  config: RouterConfig,
  host: IdentityHost,
  complain: (problem: string) => void,
): RouterId {
  if (config.routerId !== undefined) {
    return parseRouterId(config.routerId);
  }
  const kept = keptRouterId(config.stateDir);
  if (kept !== undefined) {
    return kept;
  }
  const chosen = bySource(config, host) ?? byMachine(host) ?? byChance(config);
  if (chosen === undefined) {
    throw new Error(
      'routerId: there is no route to the first neighbor and no machine id to choose one by; set routerId',
    );
  }
  try {
    keep(config.stateDir, chosen);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    complain(`the router id ${chosen} cannot be kept, and may be another one after a restart: ${why}`);
  }
  return parseRouterId(chosen);
}

function bySource({ vips, neighbors }: RouterConfig, host: IdentityHost): string | undefined {
  for (const neighbor of neighbors) {
    const place =
      neighbor.address ?? (neighbor.role === 'master' ? neighbor.range?.split('/')[0] : undefined);
    const source =
      place === undefined || !isIPv4(place) ? undefined : host.sourceTowards(probeAddress(place));
    const isUsable = source !== undefined && !source.startsWith('127.') && isIPv4(source);
    if (isUsable && !vips.some(({ address }) => address === source)) {
      return source;
    }
  }
  return undefined;
}

/** The first host of a range: its own address is the network's (10.0.0.0), which has a broadcast route. */
function probeAddress(place: string): string {
  const octets = place.split('.').map(Number);
  return octets[3] === 0 ? [...octets.slice(0, 3), 1].join('.') : place;
}

function byMachine(host: IdentityHost): string | undefined {
  const id = host.machineId();
  if (id === undefined) {
    return undefined;
  }
  // 0 is no BGP Identifier (RFC 6286 section 2.1); the last bit is free to give.
  const hash = createHash('sha256').update(`bgp-lb router ${id}`).digest().readUInt32BE(0);
  return textOf(hash === 0 ? 1 : hash);
}

/** No neighbor hears it now; one that is added later is to meet no other router of this id. */
function byChance({ neighbors }: RouterConfig): string | undefined {
  return neighbors.length === 0 ? textOf(randomInt(1, 0xffff_ffff)) : undefined;
}

function textOf(identifier: number): string {
  const number = routerId(identifier);
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff).join('.');
}

function keptRouterId(stateDir: string): RouterId | undefined {
  try {
    return parseRouterId(
      readRegularFile(join(stateDir, stateFiles.routerId), MAX_STATE_SIZE).toString().trim(),
    );
  } catch {
    // Absent, or not what was written: chosen again.
    return undefined;
  }
}

function keep(stateDir: string, chosen: string): void {
  mkdirSync(stateDir, { recursive: true, mode: 0o755 });
  const path = join(stateDir, stateFiles.routerId);
  writeFileSync(`${path}.new`, `${chosen}\n`, { mode: 0o644 });
  renameSync(`${path}.new`, path);
}
