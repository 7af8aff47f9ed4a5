import { describe, expect, it } from 'vitest';
import { useNamespace } from './testing/use-namespace.ts';

describe('counters of set elements', () => {
  const test = useNamespace('nft-counters', (namespace) => {
    namespace.ip('link', 'set', 'lo', 'up');
  });

  it('are read by their keys, and a set that is not there has none', async () => {
    const seen = await test.inside.run(async ({ linux }) => {
      const nft = new linux.Nftables();
      const base = { family: 'ip', table: 't' };
      const field = (protocol: string, name: string) => ({ payload: { protocol, field: name } });
      const count = {
        set: {
          op: 'update',
          elem: { concat: [field('ip', 'daddr'), field('tcp', 'dport')] },
          set: '@s',
          stmt: [{ counter: null }],
        },
      };
      await nft.apply([
        { add: { table: { family: 'ip', name: 't' } } },
        { add: { set: { ...base, name: 's', type: ['ipv4_addr', 'inet_service'], flags: ['timeout'] } } },
        { add: { chain: { ...base, name: 'c', type: 'filter', hook: 'output', prio: 0 } } },
        {
          add: {
            rule: {
              ...base,
              chain: 'c',
              expr: [{ match: { op: '==', left: field('tcp', 'dport'), right: 6443 } }, count],
            },
          },
        },
      ]);
      for (const address of ['127.0.0.1', '127.0.0.2', '127.0.0.2']) {
        const socket = linux.openTcpSocket(address, {});
        await new Promise((resolve) => {
          socket.on('error', resolve);
          socket.connect({ host: address, port: 6443 });
        });
      }
      const counters = new linux.NftCounters();
      const read = counters.elements('ip', 't', 's');
      const none = [counters.elements('ip', 't', 'other'), counters.elements('ip', 'other', 's')];
      counters.close();
      const terse = JSON.stringify(await nft.table('ip', 't', { terse: true }));
      return {
        read: read?.map(({ key, packets }) => `${Buffer.from(key).toString('hex')} ${packets}`).sort(),
        none,
        hasElements: [JSON.stringify(await nft.table('ip', 't')), terse].map((text) =>
          text.includes('127.0.0.2'),
        ),
      };
    });
    expect(seen).toEqual({
      read: ['7f000001192b0000 1', '7f000002192b0000 2'],
      none: [undefined, undefined],
      hasElements: [true, false],
    });
  });
});
