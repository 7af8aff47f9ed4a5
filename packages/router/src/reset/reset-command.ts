import { type Command, controlRequest } from '@bgp-lb/daemon';
import type { ResetSession } from './reset-route.ts';

/** `reset`: ends one session and opens it again. */
export const resetCommand: Command = {
  syntax: 'reset <neighbor>',
  describe:
    'End the BGP session with a neighbor by Cease/Administrative Reset, and open it again; a master is out of the pool until then',
  asksDaemon: true,
  positionals: { neighbor: { describe: 'name or address of a neighbor', type: 'string' } },
  options: {
    text: {
      type: 'string',
      requiresArg: true,
      describe: "For the neighbor's operator (RFC 9003), up to 255 octets",
    },
  },
  async run(context) {
    const { neighbor, text } = context.args;
    const body = { neighbor, ...(text !== undefined && { text }) };
    const reset = (await controlRequest(context.socket, 'POST', '/api/v1/reset', body)) as ResetSession;
    context.write(`${reset.neighbor}: session ended (was ${reset.from}), and opened again\n`);
    return 0;
  },
};
