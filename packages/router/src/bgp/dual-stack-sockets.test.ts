import type { Sockets } from '@bgp-lb/protocol/node';
import { describe, expect, it } from 'vitest';
import { dualStackSockets } from './dual-stack-sockets.ts';

/** Writes down the keys that listeners are given. */
function recording(keys: string[]): Sockets {
  return {
    open: () => {
      throw new Error('not asked for');
    },
    accepted: () => undefined,
    listen: async ({ address, port }) => ({
      address,
      port,
      setPassword: (prefix) => keys.push(`${address} ${prefix}`),
      close: async () => undefined,
    }),
  };
}

describe('passwords of neighbours', () => {
  it('of both families reach the listeners that can see them', async () => {
    const keys: string[] = [];
    const sockets = dualStackSockets(recording(keys));
    for (const address of ['0.0.0.0', '::']) {
      const listener = await sockets.listen({ address, port: 179, backlog: 1 }, () => undefined);
      listener.setPassword('10.0.0.0/24', 'secret');
      listener.setPassword('fd00::/64', 'secret');
    }
    expect(keys).toEqual(['0.0.0.0 10.0.0.0/24', ':: 10.0.0.0/24', ':: fd00::/64']);
  });
});
