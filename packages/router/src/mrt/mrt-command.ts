import { type Command, controlBytes, UsageError } from '@bgp-lb/daemon';

/** `mrt`: BGP messages as an MRT file on standard output. */
export const mrtCommand: Command = {
  syntax: 'mrt',
  describe: 'Write the last BGP messages to standard output, as an MRT file (RFC 6396)',
  asksDaemon: true,
  options: {
    neighbor: {
      type: 'string',
      requiresArg: true,
      describe: 'only those with this neighbor, by name or address',
    },
    follow: { alias: 'f', type: 'boolean', describe: 'go on with every message from now on' },
  },
  async run(context) {
    if (context.isTerminal) {
      throw new UsageError('an MRT file is not for a terminal: mrt > FILE, or mrt | bgpdump -m -');
    }
    const query = new URLSearchParams();
    const { neighbor, follow } = context.args;
    if (typeof neighbor === 'string') {
      query.set('neighbor', neighbor);
    }
    if (follow === true) {
      query.set('follow', 'true');
    }
    await controlBytes(context.socket, `/api/v1/mrt?${query}`, (bytes) => context.write(bytes));
  },
};
