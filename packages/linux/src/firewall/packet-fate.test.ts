import { describe, expect, it } from 'vitest';
import { iptablesChains } from './iptables-rules.ts';
import { nftChains } from './nft-rules.ts';
import { packetFate } from './packet-fate.ts';

const packet = {
  version: 4,
  input: 'eth1',
  output: 'eth0',
  destination: '10.100.0.1',
  destinationPort: 6443,
} as const;

const base = { family: 'inet', table: 'fw', name: 'forward', type: 'filter', hook: 'forward', prio: 0 };
const meta = (key: string, right: unknown, op = '=='): object => ({
  match: { op, left: { meta: { key } }, right },
});
const field = (protocol: string, name: string, right: unknown): object => ({
  match: { op: '==', left: { payload: { protocol, field: name } }, right },
});
const state = (...right: readonly string[]): object => ({
  match: { op: 'in', left: { ct: { key: 'state' } }, right },
});
const accept = { accept: null };
const drop = { drop: null };
type Expression = readonly object[];

/** What a chain of nft with these rules makes of the packet. */
function nft(
  rules: readonly Expression[],
  policy = 'drop',
  others: Record<string, readonly Expression[]> = {},
) {
  const names = ['forward', ...Object.keys(others)];
  const chains = [
    { ...base, policy },
    ...names.slice(1).map((name) => ({ family: 'inet', table: 'fw', name })),
  ];
  const all = { forward: rules, ...others };
  const listed = names.flatMap((chain) =>
    (all[chain as 'forward'] ?? []).map((expr) => ({ family: 'inet', table: 'fw', chain, expr })),
  );
  return packetFate(nftChains(chains, listed), 'forward', packet);
}

function iptables(...lines: readonly string[]) {
  return packetFate(iptablesChains(lines.join('\n'), 'ip filter', 4), 'forward', packet);
}

describe('what a chain of nft does with the first packet of a connection', () => {
  it.each<[string, readonly Expression[]]>([
    ['by its policy, without rules', []],
    ['though another interface is accepted', [[meta('iifname', 'docker0'), accept]]],
    ['though all interfaces but its own are', [[meta('oifname', 'eth0', '!='), accept]]],
    ['though another port is', [[field('tcp', 'dport', { set: [80, { range: [8000, 9000] }] }), accept]]],
    [
      'though another protocol is',
      [
        [meta('l4proto', 'icmp'), accept],
        [field('udp', 'dport', 6443), accept],
      ],
    ],
    [
      'though another address is',
      [[field('ip', 'daddr', { prefix: { addr: '10.0.0.0', len: 16 } }), accept]],
    ],
    [
      'though the other IP version is',
      [
        [meta('nfproto', 'ipv6'), accept],
        [field('ip6', 'daddr', '::'), accept],
      ],
    ],
    ['though established connections are', [[state('established', 'related'), accept]]],
    ['though it is counted and logged', [[{ counter: {} }, { log: {} }]]],
    ['before what would accept it', [[meta('iifname', 'eth*'), { reject: null }], [accept]]],
    [
      'by a verdict map that has nothing for it',
      [
        [
          {
            vmap: {
              key: { ct: { key: 'state' } },
              data: {
                set: [
                  ['established', accept],
                  ['invalid', drop],
                ],
              },
            },
          },
        ],
      ],
    ],
  ])('is to drop it, for sure, %s', (_, rules) => {
    expect(nft(rules)).toMatchObject({ isDropped: 'yes', by: ['inet fw forward'] });
  });

  it.each<[string, readonly Expression[]]>([
    ['a condition on the packet itself', [[field('ip', 'saddr', '10.0.0.0'), accept]]],
    ['what connection tracking calls new', [[state('new'), accept]]],
    ['an extension of iptables that nft does not show', [[{ xt: { type: 'match', name: 'set' } }, accept]]],
    ['a set by its name', [[field('ip', 'daddr', '@vips'), accept]]],
    ['a limit', [[{ limit: { rate: 5 } }, accept]]],
    ['a statement that is not known here', [[{ tproxy: { port: 1 } }]]],
  ])('is not known with %s', (_, rules) => {
    expect(nft(rules)).toMatchObject({ isDropped: 'maybe', by: ['inet fw forward'] });
  });

  it.each<[string, readonly Expression[], Record<string, readonly Expression[]>?]>([
    ['its interfaces', [[meta('iifname', { set: ['eth0', 'eth1'] }), meta('oifname', 'eth0'), accept]]],
    ['its address and port', [[field('ip', 'daddr', '10.100.0.1'), field('th', 'dport', 6443), accept]]],
    ['new and untracked ones', [[state('new', 'untracked', 'established'), accept]]],
    ['a chain that is called', [[{ jump: { target: 'own' } }]], { own: [[meta('iifname', 'eth1'), accept]] }],
    [
      'a map by interface',
      [
        [
          {
            vmap: {
              key: { meta: { key: 'iifname' } },
              data: {
                set: [
                  ['lo', drop],
                  ['eth1', accept],
                ],
              },
            },
          },
        ],
      ],
    ],
  ])('is to accept it by a rule for %s', (_, rules, others) => {
    expect(nft(rules, 'drop', others).isDropped).toBe('no');
  });

  it('follows calls and returns', () => {
    const returning = { own: [[meta('iifname', 'eth1'), { return: null }], [accept]] };
    expect(nft([[{ jump: { target: 'own' } }]], 'drop', returning).isDropped).toBe('yes');
    expect(nft([[{ jump: { target: 'own' } }], [accept]], 'drop', returning).isDropped).toBe('no');
    // What has gone to a chain for good does not come back to the rules behind.
    expect(nft([[{ goto: { target: 'own' } }], [accept]], 'drop', returning).isDropped).toBe('yes');
    expect(nft([[{ goto: { target: 'own' } }], [drop]], 'accept', returning).isDropped).toBe('no');
  });

  it('counts chains of the hook and of the packet`s family alone, and each of them can drop it', () => {
    const chains = (changes: object) =>
      packetFate(nftChains([{ ...base, policy: 'drop', ...changes }], []), 'forward', packet).isDropped;
    expect(chains({})).toBe('yes');
    expect(chains({ family: 'ip' })).toBe('yes');
    expect(chains({ family: 'ip6' })).toBe('no');
    expect(chains({ family: 'bridge' })).toBe('no');
    expect(chains({ hook: 'input' })).toBe('no');
    const two = [
      { ...base, name: 'first', policy: 'accept' },
      { ...base, prio: 10, policy: 'drop' },
    ];
    expect(packetFate(nftChains(two, []), 'forward', packet).by).toEqual(['inet fw forward']);
  });
});

describe('what a chain of iptables does with it', () => {
  const docker = [
    '-P FORWARD DROP',
    '-N DOCKER-USER',
    '-A FORWARD -j DOCKER-USER',
    '-A FORWARD -o docker0 -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT',
    '-A FORWARD -i docker0 ! -o docker0 -j ACCEPT',
    '-A DOCKER-USER -j RETURN',
  ];

  it('is to drop it, for sure, where only a bridge of Docker is accepted', () => {
    expect(iptables(...docker)).toMatchObject({ isDropped: 'yes', by: ['ip filter FORWARD'] });
    expect(iptables(...docker.slice(1)).isDropped).toBe('no');
  });

  it('is to accept it where a rule for it comes first', () => {
    const own =
      '-A DOCKER-USER -d 10.100.0.1/32 -p tcp -m tcp --dport 6443 -m comment --comment "a b" -j ACCEPT';
    expect(iptables(...docker.slice(0, 5), own, ...docker.slice(5)).isDropped).toBe('no');
  });

  it.each([
    ['-s 10.0.0.0/8', 'maybe'],
    ['-m set --match-set clients src', 'maybe'],
    ['-m set ! --match-set clients src', 'maybe'],
    ['-p udp -m udp --dport 6443', 'yes'],
    ['-p tcp -m multiport --dports 80,6000:7000', 'no'],
    ['-p tcp -m multiport --dports 80,443', 'yes'],
    ['-i eth+', 'no'],
    ['! -i eth+', 'yes'],
    ['-m state --state NEW', 'maybe'],
    ['-m state --state NEW,UNTRACKED', 'no'],
    ['-m mark --mark 0x7', 'yes'],
    ['-m mark ! --mark 0x7/0xf', 'no'],
    ['-m limit --limit 5/sec', 'maybe'],
  ])('with one rule that accepts "%s", dropped: %s', (options, isDropped) => {
    expect(iptables('-P FORWARD DROP', `-A FORWARD ${options} -j ACCEPT`).isDropped).toBe(isDropped);
  });

  it('is to drop it by a last rule that rejects, and it is not known what a target of others does', () => {
    expect(
      iptables('-A FORWARD -i lo -j ACCEPT', '-A FORWARD -j REJECT --reject-with icmp-port-unreachable'),
    ).toMatchObject({
      isDropped: 'yes',
    });
    expect(iptables('-P FORWARD DROP', '-A FORWARD -j NFQUEUE --queue-num 1').isDropped).toBe('maybe');
  });
});

describe('the mark of a packet behind the chains of a hook', () => {
  const marks = (...lines: readonly string[]): unknown => {
    const chains = iptablesChains(lines.join('\n'), 'ip mangle', 4);
    const found = packetFate(chains, 'prerouting', packet).marks;
    return found === 'any' ? 'any' : [...found];
  };

  it('is what a rule sets for sure, what it may set, or any', () => {
    expect(marks()).toEqual([0]);
    expect(marks('-A PREROUTING -i eth1 -j MARK --set-xmark 0x7/0xffffffff')).toEqual([7]);
    expect(marks('-A PREROUTING -i eth2 -j MARK --set-xmark 0x7/0xffffffff')).toEqual([0]);
    expect(marks('-A PREROUTING -s 10.0.0.0/8 -j MARK --set-xmark 0x7/0xffffffff')).toEqual([0, 7]);
    expect(marks('-A PREROUTING -j MARK --set-xmark 0x7/0xff')).toBe('any');
    expect(marks('-A PREROUTING -j CONNMARK --restore-mark')).toBe('any');
  });

  it('may be that of before, where another rule may have decided first', () => {
    const set = '-A PREROUTING -j MARK --set-xmark 0x7/0xffffffff';
    expect(marks('-A PREROUTING -s 10.0.0.0/8 -j ACCEPT', set)).toEqual([0, 7]);
    expect(marks('-N own', '-A PREROUTING -s 10.0.0.0/8 -j own', set.replace('PREROUTING', 'own'))).toEqual([
      0, 7,
    ]);
  });

  it('counts for rules that ask for it', () => {
    const chains = nftChains(
      [{ ...base, hook: 'prerouting', policy: 'accept' }],
      [
        {
          family: 'inet',
          table: 'fw',
          chain: 'forward',
          expr: [{ mangle: { key: { meta: { key: 'mark' } }, value: 5 } }],
        },
        { family: 'inet', table: 'fw', chain: 'forward', expr: [meta('mark', 5), drop] },
      ],
    );
    expect(packetFate(chains, 'prerouting', packet).isDropped).toBe('yes');
  });
});
