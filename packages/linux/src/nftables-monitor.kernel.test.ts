import { describe, expect, it } from 'vitest';
import { tableOf } from './nftables-monitor.ts';
import { useNamespace } from './testing/use-namespace.ts';

describe('the nftables monitor', () => {
  const test = useNamespace('nft-monitor', () => undefined);

  it('names the table whenever something in it is made, changed or deleted', async () => {
    const seen = await test.inside.run(async ({ linux, until }) => {
      const tables: string[] = [];
      const monitor = new linux.NftablesMonitor({
        changed: (table) => tables.push(table),
        overflow: () => tables.push('overflow'),
        error: (error) => tables.push(String(error)),
      });
      const nft = new linux.Nftables();
      const told = async (run: () => Promise<void>): Promise<string[]> => {
        tables.length = 0;
        await run();
        await until(() => tables.length > 0, 2000);
        return [...new Set(tables)];
      };
      const chain = { family: 'inet', table: 'ours', name: 'input' };
      const result = {
        table: await told(() => nft.apply([{ add: { table: { family: 'inet', name: 'ours' } } }])),
        chain: await told(() => nft.apply([{ add: { chain } }])),
        rule: await told(() =>
          nft.apply([
            { add: { rule: { family: 'inet', table: 'ours', chain: 'input', expr: [{ accept: null }] } } },
          ]),
        ),
        foreign: await told(() => nft.apply([{ add: { table: { family: 'ip', name: 'theirs' } } }])),
        deletion: await told(() => nft.deleteTable('inet', 'ours')),
        flush: await told(() => nft.apply([{ flush: { ruleset: null } }])),
      };
      monitor.close();
      return result;
    });
    expect(seen).toEqual({
      table: ['ours'],
      chain: ['ours'],
      rule: ['ours'],
      foreign: ['theirs'],
      deletion: ['ours'],
      flush: ['theirs'],
    });
  });
});

describe('a notification of nftables', () => {
  const message = (type: number, payload: readonly number[]) => ({
    type,
    flags: 0,
    sequence: 0,
    portId: 0,
    payload: new Uint8Array(payload),
  });

  it('names no table when it is the end of a transaction, or of another subsystem', () => {
    expect(tableOf(message(0x0a0f, [0, 0, 0, 1]))).toBeUndefined();
    expect(tableOf(message(0x0100, [0, 0, 0, 1]))).toBeUndefined();
  });

  it('is refused when it is cut off', () => {
    expect(() => tableOf(message(0x0a00, [1, 0]))).toThrow(/nfgenmsg/);
  });
});
