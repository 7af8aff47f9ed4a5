import { setTimeout } from 'node:timers/promises';
import type { Finding } from '@bgp-lb/daemon';
import {
  type Firewall,
  NftablesError,
  type RouteSocket,
  readFirewall,
  reversePathDrops,
} from '@bgp-lb/linux';
import type { SpeakerConfig } from '../config/speaker-config.ts';
import type { SpeakerStatus } from '../status.ts';
import { checkWayBack, unknownWayBack, unreadTable, type WayBack } from '../way-back/check-way-back.ts';
import { readWayBack } from '../way-back/read-way-back.ts';
import { answering, readStuckAnswers, type StuckAnswers } from '../way-back/stuck-answers.ts';

/** Between two readings of a counter where no speaker has one of before (ms). */
const APART = 1000;

/** What answers of this master to clients depend on, read now. @throws NetlinkError, SysctlError */
export async function examineWayBack(
  config: SpeakerConfig,
  routes: RouteSocket,
  status: SpeakerStatus | undefined,
): Promise<readonly Finding[]> {
  const dropped = status?.kernel.reversePathDrops ?? (await droppedMeanwhile());
  const found = await firewall();
  const ways = readWayBack({ config, routes, firewall: found, dropped });
  const unknown = found.unread.map(unreadTable);
  let stuck: StuckAnswers | undefined;
  try {
    stuck = readStuckAnswers(answering(config.vips));
  } catch (error) {
    unknown.push(unknownWayBack('TCP', error));
  }
  return checkWayBack(ways, stuck, unknown);
}

/** A count since boot may be of long ago: whether it rises tells. */
async function droppedMeanwhile(): Promise<WayBack['dropped']> {
  const before = reversePathDrops();
  await setTimeout(APART);
  return { packets: reversePathDrops() - before, ms: APART };
}

async function firewall(): Promise<Firewall> {
  try {
    return await readFirewall();
  } catch (error) {
    // That nft does not answer is a finding of its own.
    if (error instanceof NftablesError) return { chains: [], unread: [] };
    throw error;
  }
}
