import { type Command, controlRequest } from '@bgp-lb/daemon';
import type { NeighborChanges } from './neighbor-changes.ts';

/** `reload`: as SIGHUP, with an answer. */
export const reloadCommand: Command = {
  syntax: 'reload',
  describe:
    'Have the running router take the neighbors of its configuration anew, without touching the others',
  prints: true,
  asksDaemon: true,
  async run(context) {
    // The daemon is of the same release.
    const changes = (await controlRequest(context.socket, 'POST', '/api/v1/reload')) as NeighborChanges;
    context.print(changes, ({ added, removed, changed, updated }) => ({
      columns: ['neighbor', 'change'],
      rows: [
        ...added.map((name) => [name, 'added']),
        ...removed.map((name) => [name, 'removed']),
        ...changed.map((name) => [name, 'session made anew']),
        ...updated.map((name) => [name, 'updated, its session goes on']),
      ],
      empty: 'no neighbor has changed',
    }));
    return 0;
  },
};
