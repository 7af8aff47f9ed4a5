import { describe, expect, it } from 'vitest';
import { replaceMessages } from './nftables-elements.ts';
import { useNamespace } from './testing/use-namespace.ts';

describe('elements of nftables sets', () => {
  const test = useNamespace('nft-elements');

  it('are replaced in one transaction, with their time anew, in sets of one field and of more', async () => {
    const seen = await test.inside.run(async ({ linux, thrownBy }) => {
      const nft = new linux.Nftables();
      const within = { family: 'inet', table: 'ours' };
      const set = (name: string, type: unknown) => ({
        add: { set: { ...within, name, type, flags: ['timeout'] } },
      });
      await nft.apply([
        { add: { table: { family: 'inet', name: 'ours' } } },
        set('addresses', 'ipv4_addr'),
        set('services', ['ipv6_addr', 'inet_service']),
      ]);
      const listed = async (): Promise<unknown> =>
        (await nft.table('inet', 'ours'))
          ?.map((object) => object['set'])
          .filter((object) => object !== undefined)
          .map((object) => Reflect.get(object as object, 'elem'))
          .map((elem) =>
            JSON.parse(
              JSON.stringify(elem ?? null, (key, value: unknown) => (key === 'expires' ? undefined : value)),
            ),
          );
      const elements = new linux.NftElements();
      const replace = (addresses: readonly string[], services: readonly string[], name = 'services') =>
        elements.replace('inet', 'ours', [
          { set: 'addresses', elements: addresses.map((one) => ({ key: [one], timeout: 30_000 })) },
          { set: name, elements: services.map((one) => ({ key: [one, 6443], timeout: 3_600_000 })) },
        ]);
      replace(['10.100.0.1', '10.100.0.2'], ['fd00::1']);
      const first = await listed();
      replace(['10.100.0.2'], []);
      const second = await listed();
      const refusal = thrownBy(() => replace(['10.100.0.9'], ['fd00::9'], 'none'));
      const third = await listed();
      await nft.deleteTable('inet', 'ours');
      const without = thrownBy(() => replace([], []));
      elements.close();
      return { first, second, refusal, third, without };
    });
    const element = (val: unknown, timeout: number) => ({ elem: { val, timeout } });
    expect(seen.first).toEqual([
      [element('10.100.0.1', 30), element('10.100.0.2', 30)],
      [element({ concat: ['fd00::1', 6443] }, 3600)],
    ]);
    expect(seen.second).toEqual([[element('10.100.0.2', 30)], null]);
    expect(seen.refusal).toMatchObject({
      name: 'NetlinkError',
      errno: 'ENOENT',
      request: 'replace elements of inet ours addresses, none',
    });
    expect(seen.third).toEqual(seen.second);
    expect(seen.without).toMatchObject({ errno: 'ENOENT' });
  });

  it('are changed by a socket whose changes the monitor tells from those of others, also after a refusal', async () => {
    const seen = await test.inside.run(async ({ linux, thrownBy, until }) => {
      const nft = new linux.Nftables();
      const [first, second] = [new linux.NftElements(), new linux.NftElements()];
      const within = { family: 'inet', table: 'ours' };
      await nft.apply([
        { add: { table: { family: 'inet', name: 'ours' } } },
        { add: { set: { ...within, name: 'some', type: 'ipv4_addr', flags: ['timeout'] } } },
      ]);
      const owners: boolean[] = [];
      const monitor = new linux.NftablesMonitor({
        changed: (_, portId) => owners.push(first.isOwn(portId)),
        overflow: () => undefined,
        error: () => undefined,
      });
      const told = async (change: () => unknown): Promise<boolean[]> => {
        owners.length = 0;
        await change();
        await until(() => owners.length > 0, 2000);
        return [...new Set(owners)];
      };
      const sets = (key: string, set = 'some') => [{ set, elements: [{ key: [key], timeout: 30_000 }] }];
      const elem = { ...within, name: 'some', elem: ['10.100.0.9'] };
      const result = {
        ours: await told(() => first.replace('inet', 'ours', sets('10.100.0.1'))),
        another: await told(() => second.replace('inet', 'ours', sets('10.100.0.2'))),
        nft: await told(() => nft.apply([{ add: { element: elem } }])),
        refusal: thrownBy(() => first.replace('inet', 'ours', sets('10.100.0.1', 'none')))?.['errno'],
        oursAgain: await told(() => first.replace('inet', 'ours', sets('10.100.0.1'))),
      };
      monitor.close();
      for (const one of [first, second]) one.close();
      await nft.deleteTable('inet', 'ours');
      return result;
    });
    expect(seen).toEqual({
      ours: [true],
      another: [false],
      nft: [false],
      refusal: 'ENOENT',
      oursAgain: [true],
    });
  });

  it('are refused to whom may not', async () => {
    const refusal = await test.inside.run(async ({ linux, thrownBy }) => {
      process.seteuid?.('nobody');
      const elements = new linux.NftElements();
      try {
        return thrownBy(() => elements.replace('inet', 'ours', [{ set: 'x', elements: [] }]));
      } finally {
        elements.close();
        process.seteuid?.(0);
      }
    });
    expect(refusal).toMatchObject({ name: 'NetlinkError', errno: 'EPERM' });
  });
});

describe('the messages of a set', () => {
  it('are as include/uapi/linux/netfilter/nf_tables.h has them', () => {
    const set = { set: 's', elements: [{ key: ['10.100.0.1', 6443], timeout: 30_000 }] };
    const sent = replaceMessages('inet', 't', set).map((writer) =>
      Buffer.from(writer.finish(1)).toString('hex'),
    );
    expect(sent).toEqual(
      [
        [
          '24000000 0e0a 0500 01000000 00000000', // NFT_MSG_DELSETELEM, REQUEST ACK
          '01 00 0000', // NFPROTO_INET
          '0600 0100 7400 0000', // NFTA_SET_ELEM_LIST_TABLE
          '0600 0200 7300 0000', // NFTA_SET_ELEM_LIST_SET
        ],
        [
          '48000000 0c0a 0504 01000000 00000000', // NFT_MSG_NEWSETELEM, REQUEST ACK CREATE
          '01 00 0000',
          '0600 0100 7400 0000',
          '0600 0200 7300 0000',
          '2400 0380', // NFTA_SET_ELEM_LIST_ELEMENTS
          '2000 0180', // NFTA_LIST_ELEM
          '1000 0180 0c00 0100 0a640001 192b0000', // NFTA_SET_ELEM_KEY, NFTA_DATA_VALUE
          '0c00 0400 0000000000007530', // NFTA_SET_ELEM_TIMEOUT: 30 s
        ],
      ].map((lines) => lines.join('').replaceAll(' ', '')),
    );
  });
});
