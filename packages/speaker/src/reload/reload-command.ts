import { type Command, controlRequest } from '@bgp-lb/daemon';
import type { RouterChanges } from '../bgp/advertiser.ts';

/** `reload`: as SIGHUP, with an answer. */
export const reloadCommand: Command = {
  syntax: 'reload',
  describe:
    'Have the running speaker take the routers of its configuration anew, without touching the other sessions',
  prints: true,
  asksDaemon: true,
  async run(context) {
    // The daemon is of the same release.
    const changes = (await controlRequest(context.socket, 'POST', '/api/v1/reload')) as RouterChanges;
    context.print(changes, ({ added, removed, changed }) => ({
      columns: ['router', 'change'],
      rows: [
        ...added.map((router) => [router, 'added']),
        ...removed.map((router) => [router, 'removed']),
        ...changed.map((router) => [router, 'session made anew']),
      ],
      empty: 'no session has changed',
    }));
    return 0;
  },
};
