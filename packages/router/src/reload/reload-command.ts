import { type Command, controlRequest } from '@bgp-lb/daemon';
import type { ReloadChanges } from './reload-changes.ts';

/** `reload`: as SIGHUP, with an answer. */
export const reloadCommand: Command = {
  syntax: 'reload',
  describe:
    'Have the running router take its configuration anew, without touching neighbors and VIPs that stay as they are',
  prints: true,
  asksDaemon: true,
  async run(context) {
    // The daemon is of the same release.
    const changes = (await controlRequest(context.socket, 'POST', '/api/v1/reload')) as ReloadChanges;
    context.print(changes, ({ added, removed, changed, updated, vips, settings }) => ({
      columns: ['neighbor, VIP or key', 'change'],
      rows: [
        ...added.map((name) => [name, 'added']),
        ...removed.map((name) => [name, 'removed']),
        ...changed.map((name) => [name, 'session made anew']),
        ...updated.map((name) => [name, 'updated, its session goes on']),
        ...vips.added.map((vip) => [vip, 'VIP added']),
        ...vips.removed.map((vip) => [vip, 'VIP withdrawn and removed']),
        ...vips.changed.map((vip) => [vip, 'VIP has another port']),
        ...settings.map((key) => [key, 'taken']),
      ],
      empty: 'nothing has changed',
    }));
    return 0;
  },
};
