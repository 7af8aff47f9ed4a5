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
import { checkWayBack, type WayBack } from '../way-back/check-way-back.ts';
import { readWayBack } from '../way-back/read-way-back.ts';
import { answering, readStuckAnswers } from '../way-back/stuck-answers.ts';

/** Between two readings of a counter where no speaker has one of before (ms). */
const APART = 1000;

/** What answers of this master to clients depend on, read now. @throws NetlinkError, SysctlError */
export async function examineWayBack(
  config: SpeakerConfig,
  routes: RouteSocket,
  status: SpeakerStatus | undefined,
): Promise<readonly Finding[]> {
  const dropped = status?.kernel.reversePathDrops ?? (await droppedMeanwhile());
  const ways = readWayBack({ config, routes, firewall: await firewall(), dropped });
  return checkWayBack(ways, readStuckAnswers(answering(config.vips)));
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
