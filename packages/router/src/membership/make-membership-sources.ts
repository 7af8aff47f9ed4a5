import { join } from 'node:path';
import { endpointText } from '@bgp-lb/protocol';
import type { Clock } from '@bgp-lb/protocol/node';
import type { BgpNeighbors } from '../bgp/bgp-neighbors.ts';
import type { RouterConfig } from '../config/router-config.ts';
import { stateFiles } from '../config/state-files.ts';
import type { RouterObserver } from '../observe/router-observer.ts';
import type { Pool } from '../pool/pool.ts';
import { BgpMembership } from './bgp-membership.ts';
import { ConfigMapMembership } from './config-map-membership.ts';
import { KeptAnswers } from './kept-answers.ts';
import { MembershipSources } from './membership-sources.ts';
import { nameLookup } from './name-lookup.ts';
import { StaticMembership } from './static-membership.ts';

/** API servers of members that are asked at most. */
const MOST_SERVERS = 16;

export interface MembershipSourcesOptions {
  /** What the router was started with. */
  readonly initial: RouterConfig;
  readonly bgp: BgpNeighbors;
  /** Whether this host may be the deaf one. */
  readonly isDoubted: (nextHop: string) => boolean;
  readonly pools: ReadonlyMap<string, Pool>;
  readonly clock: Clock;
  readonly observer: Pick<RouterObserver, 'memberSource' | 'problem'>;
}

/** All sources of members. One that is not configured asks no server and reports nothing. */
export function makeMembershipSources(options: MembershipSourcesOptions): MembershipSources {
  const { initial, bgp, isDoubted, pools, clock, observer } = options;
  const kept = (name: string): KeptAnswers =>
    new KeptAnswers(join(initial.stateDir, name), (problem) => observer.problem(problem));
  const tell = observer.memberSource.bind(observer);
  return new MembershipSources([
    new BgpMembership(bgp, isDoubted),
    new StaticMembership({
      config: initial,
      lookup: nameLookup(),
      clock,
      kept: kept(stateFiles.memberNames),
      tell,
    }),
    new ConfigMapMembership({
      ...{ config: initial, clock, tell, wallClock: Date.now, kept: kept(stateFiles.memberLists) },
      knownServers: (config) => knownServers(config, pools),
    }),
  ]);
}

/** Every member runs an API server, at its own address too. */
function knownServers(
  { vips, healthCheck }: RouterConfig,
  pools: ReadonlyMap<string, Pool>,
): { url: string; serverName: string }[] {
  const urls = [...pools.values()].flatMap((pool) => {
    const vip = vips.find(({ address }) => pool.vip.startsWith(`${address}/`));
    return pool.members().map(({ nextHop }) => {
      return `https://${endpointText(nextHop, vip?.machinePort ?? 6443)}`;
    });
  });
  return [...new Set(urls)]
    .slice(0, MOST_SERVERS)
    .map((url) => ({ url, serverName: healthCheck.serverName }));
}
