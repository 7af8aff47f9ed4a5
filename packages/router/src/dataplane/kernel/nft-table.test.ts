import { describe, expect, it } from 'vitest';
import { filterTable, type NftJson, type NftTableOptions, nftCommands, tableFaults } from './nft-table.ts';

const options = {
  vips: [{ address: '10.100.0.1', port: 6443 }],
  replyMark: 0x84000,
  refuseUnrouted: true,
  notrack: true,
};

const commandsOf = (changed: Partial<NftTableOptions> = {}): NftJson[] =>
  nftCommands(filterTable({ ...options, ...changed }));

/** What `nft -j list table` answers after the commands: the objects themselves, with handles. */
function listed(commands: readonly NftJson[]): NftJson[] {
  return commands.flatMap((command) => {
    const added = command['add'];
    return typeof added === 'object' && added !== null ? [structuredClone(added) as NftJson] : [];
  });
}

describe('the nft table', () => {
  it('is made anew in one transaction, whether it was there or not', () => {
    expect(
      commandsOf()
        .slice(0, 3)
        .map((command) => Object.keys(command)[0]),
    ).toEqual(['add', 'delete', 'add']);
  });

  it('is intact when it is listed as it was made', () => {
    expect(tableFaults(listed(commandsOf()), filterTable(options))).toEqual([]);
  });

  it.each([
    ['a rule is gone', (all: NftJson[]) => all.slice(0, -1), 'chain forward: rule 4 of 4 is missing'],
    [
      'a chain is gone',
      (all: NftJson[]) => all.filter((object) => !/"(name|chain)":"forward"/.test(JSON.stringify(object))),
      'chain forward: missing',
    ],
    [
      'a rule was added',
      (all: NftJson[]) => [...all, { rule: { chain: 'forward', expr: [] } }],
      'chain forward: rules that are not wanted: 1',
    ],
    [
      'a rule was put at another place',
      (all: NftJson[]) => [...all.slice(0, -2), ...all.slice(-2).reverse()],
      'chain forward: its rules are in another order, or there twice',
    ],
    [
      'a chain was added',
      (all: NftJson[]) => [...all, { chain: { name: 'input', hook: 'input' } }],
      'chain input: not wanted',
    ],
    [
      'a policy was changed',
      (all: NftJson[]) => JSON.parse(JSON.stringify(all).replace('"policy":"accept"', '"policy":"drop"')),
      'chain prerouting: the kernel has hook prerouting priority -300 policy drop; wanted hook prerouting priority -300 policy accept',
    ],
  ])('is not intact when %s', (_, spoil, fault) => {
    expect(tableFaults(spoil(listed(commandsOf())), filterTable(options)).map(({ text }) => text)).toEqual([
      fault,
    ]);
  });

  it('is not intact when another port or another setting is wanted', () => {
    const there = listed(commandsOf());
    expect(tableFaults(there, filterTable({ ...options, notrack: false }))).not.toEqual([]);
    const other = filterTable({ ...options, vips: [{ address: '10.100.0.1', port: 8443 }] });
    const [fault] = tableFaults(there, other);
    expect(JSON.stringify(fault?.rule)).toContain('8443');
  });

  it('resets new connections to a VIP without members, before anything else is done with them', () => {
    const rules = (refuseUnrouted: boolean): string[] =>
      listed(commandsOf({ refuseUnrouted })).map((object) => JSON.stringify(object));
    expect(rules(true).filter((rule) => rule.includes('"fib":{"result":"oif"'))).toEqual([
      expect.stringContaining('"reject":{"type":"tcp reset"}'),
    ]);
    expect(rules(false).filter((rule) => rule.includes('"fib":{"result":"oif"'))).toEqual([]);
  });

  it.each([
    ['10.100.0.1', 'icmp', 'redirect', 32, '0x0a640001'],
    ['fd00::1', 'icmpv6', 'nd-redirect', 128, '0xfd000000000000000000000000000001'],
  ])('drops what would lead clients of %s past this host', (address, protocol, type, len, destination) => {
    const [rule] = listed(commandsOf({ vips: [{ address, port: 6443 }] })).flatMap(({ rule: one }) =>
      one !== undefined && (one as NftJson)['chain'] === 'redirects' ? [(one as NftJson)['expr']] : [],
    );
    expect(rule).toEqual([
      { match: { op: '==', left: { payload: { protocol, field: 'type' } }, right: type } },
      { match: { op: '==', left: { payload: { base: 'th', offset: 192, len } }, right: destination } },
      { counter: null },
      { drop: null },
    ]);
  });

  it('mentions connection tracking only when it is loaded', () => {
    expect(JSON.stringify(commandsOf({ notrack: false }))).not.toContain('notrack');
  });
});
