import type { ReloadRule } from '@bgp-lb/daemon';

/** What the speaker takes by a reload. */
export const speakerReload: ReloadRule = {
  takes: ['routers', 'log'],
  otherwise: 'a start of the speaker takes (with stopMode keep, no connection breaks)',
};
