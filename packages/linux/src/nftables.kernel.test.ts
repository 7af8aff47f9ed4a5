import { describe, expect, it } from 'vitest';
import { useNamespace } from './testing/use-namespace.ts';

describe('nftables', () => {
  const test = useNamespace('nft');

  it('applies a table in one transaction, lists it, and deletes it as often as one likes', async () => {
    const seen = await test.inside.run(async ({ linux }) => {
      const nftables = new linux.Nftables();
      const table = { family: 'inet', name: 'bgp-lb' };
      const within = { family: 'inet', table: 'bgp-lb' };
      const absent = await nftables.table('inet', 'bgp-lb');
      await nftables.apply([
        { add: { table } },
        { add: { set: { ...within, name: 'vips', type: 'ipv4_addr', flags: ['timeout'] } } },
        { add: { chain: { ...within, name: 'forward', type: 'filter', hook: 'forward', prio: 0 } } },
        {
          add: { element: { ...within, name: 'vips', elem: [{ elem: { val: '10.100.0.1', timeout: 90 } }] } },
        },
      ]);
      const listed = await nftables.table('inet', 'bgp-lb');
      await nftables.deleteTable('inet', 'bgp-lb');
      await nftables.deleteTable('inet', 'bgp-lb');
      return { absent, listed, after: await nftables.table('inet', 'bgp-lb') };
    });
    expect(seen.absent).toBeUndefined();
    expect(seen.listed?.map((object) => Object.keys(object)[0])).toEqual(['table', 'set', 'chain']);
    expect(JSON.stringify(seen.listed)).toContain('"val":"10.100.0.1","timeout":90');
    expect(seen.after).toBeUndefined();
  });

  it('changes nothing when one command of a transaction is refused, and says which transaction', async () => {
    const seen = await test.inside.run(async ({ linux, rejectionOf }) => {
      const nftables = new linux.Nftables();
      const refusal = await rejectionOf(
        nftables.apply([
          { add: { table: { family: 'inet', name: 'half' } } },
          { add: { chain: { family: 'inet', table: 'nowhere', name: 'forward' } } },
        ]),
      );
      return { refusal, half: await nftables.table('inet', 'half') };
    });
    expect(seen.refusal).toMatchObject({ name: 'NftablesError', reason: 'refused' });
    expect(seen.refusal?.['message']).toMatch(
      /^nft refused \[add table inet half; add chain inet nowhere forward\]: .*No such file or directory/,
    );
    expect(seen.half).toBeUndefined();
  });

  it('takes a transaction that no pipe or argument would hold', async () => {
    const count = await test.inside.run(async ({ linux }) => {
      const nftables = new linux.Nftables();
      const within = { family: 'inet', table: 'large' };
      const elem = Array.from({ length: 20_000 }, (_, index) => `10.60.${index >> 8}.${index & 255}`);
      await nftables.apply([
        { add: { table: { family: 'inet', name: 'large' } } },
        { add: { set: { ...within, name: 'many', type: 'ipv4_addr' } } },
        { add: { element: { ...within, name: 'many', elem } } },
      ]);
      const listed = JSON.stringify(await nftables.table('inet', 'large'));
      await nftables.deleteTable('inet', 'large');
      return listed.split('10.60.').length - 1;
    });
    expect(count).toBe(20_000);
  });

  it('reads the tables that have a chain of a kind, each whole, and no other', async () => {
    const seen = await test.inside.run(async ({ linux }) => {
      const nftables = new linux.Nftables();
      const chain = (table: string, name: string, base: object = {}): object => ({
        add: { chain: { family: 'ip', table, name, ...base } },
      });
      const output = { hook: 'output', prio: 0 };
      const tables = ['filter', 'nat', 'none'].map((name) => ({ add: { table: { family: 'ip', name } } }));
      await nftables.apply([
        ...tables,
        chain('filter', 'OUTPUT', { type: 'filter', ...output }),
        chain('filter', 'own'),
        chain('nat', 'OUTPUT', { type: 'nat', ...output }),
        chain('nat', 'SERVICES'),
        ...['filter', 'nat'].map((table) => ({
          add: { rule: { family: 'ip', table, chain: 'OUTPUT', expr: [{ accept: null }] } },
        })),
      ]);
      const found = await nftables.tablesWith(({ type }) => type === 'filter');
      for (const { add } of tables) await nftables.deleteTable('ip', add.table.name);
      return found;
    });
    expect(seen.chains.map(({ table, name }) => `${table} ${name}`)).toEqual(['filter OUTPUT', 'filter own']);
    expect(seen.rules).toMatchObject([{ table: 'filter', chain: 'OUTPUT', expr: [{ accept: null }] }]);
    expect(seen.unread).toEqual([]);
  });

  it('reads the other tables where one is too large, and says which that is', async () => {
    const seen = await test.inside.run(async ({ linux, scriptFile }) => {
      const chains = ['large', 'gone', 'small', 'nat'].map((table) => ({
        chain: { family: 'ip', table, name: 'out', type: table === 'nat' ? 'nat' : 'filter' },
      }));
      const print = (objects: readonly object[]): string => `echo '${JSON.stringify({ nftables: objects })}'`;
      const program = scriptFile(`case "$*" in
        *chains) ${print(chains)};;
        *large) exec yes;;
        *gone) echo 'Error: No such file or directory' >&2; exit 1;;
        *small) ${print(chains.slice(2, 3))};;
        *) echo 'this one is not to be read' >&2; exit 1;;
      esac`);
      return new linux.Nftables(program).tablesWith(({ type }) => type === 'filter');
    });
    expect(seen.chains).toMatchObject([{ table: 'small' }]);
    expect(seen.unread).toEqual([
      { table: 'ip large', problem: expect.stringMatching(/printed more than 16777216 octets$/) },
    ]);
  });

  it('says that nft is not installed, or hangs, or prints nonsense', async () => {
    const errors = await test.inside.run(async ({ linux, rejectionOf, scriptFile }) => [
      await rejectionOf(new linux.Nftables('no-such-nft').table('inet', 'x')),
      await rejectionOf(
        new linux.Nftables(scriptFile('exec sleep 60'), { timeLimit: 100 }).table('inet', 'x'),
      ),
      await rejectionOf(new linux.Nftables(scriptFile('echo pardon')).table('inet', 'x')),
      await rejectionOf(new linux.Nftables(scriptFile('exec yes')).table('inet', 'x')),
      await rejectionOf(new linux.Nftables(scriptFile('exit 3')).apply([])),
    ]);
    expect(errors.map((error) => error?.['reason'])).toEqual([
      'missing',
      'timeout',
      'unreadable',
      'unreadable',
      'refused',
    ]);
    expect(errors[0]?.['message']).toBe('no-such-nft is not installed: on Debian, apt-get install nftables');
    expect(errors[4]?.['message']).toMatch(/ended with 3$/);
  });
});
