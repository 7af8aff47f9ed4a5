import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RouterConfig } from '../config/router-config.ts';
import { routerSchema } from '../config/schema.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import { KeptAnswers } from './kept-answers.ts';
import type { MembershipEvent } from './membership-source.ts';
import { type NameAnswer, nameLookup } from './name-lookup.ts';
import type { SourceEvent } from './source-status.ts';
import { StaticMembership } from './static-membership.ts';
import { listConformance } from './testing/membership-conformance.ts';

const VIP = '10.100.0.1/32';

let folder: string;
let clock: ManualClock;
let names: Map<string, NameAnswer | Error>;
let asked: string[];
let told: SourceEvent[];
let events: MembershipEvent[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bgp-lb-static-'));
  [clock, names, asked, told, events] = [new ManualClock(), new Map(), [], [], []];
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function config(vips: readonly (readonly [address: string, ...members: object[]])[]): RouterConfig {
  return routerSchema.parse({
    asn: 64512,
    neighbors: [
      { name: 'masters', role: 'master', range: '10.0.0.0/24', asn: 64512 },
      { name: 'masters6', role: 'master', range: 'fd00::/64', asn: 64512 },
    ],
    vips: vips.map(([address, ...members]) => ({ address, members: { static: members } })),
  });
}

function newSource(initial: RouterConfig): StaticMembership {
  return new StaticMembership({
    config: initial,
    clock,
    kept: new KeptAnswers(join(folder, 'names.json'), (problem) => {
      throw new Error(problem);
    }),
    lookup: async (name, family) => {
      asked.push(`${family} ${name}`);
      const answer = names.get(`${family} ${name}`) ?? new Error(`${name}: ENOTFOUND`);
      if (answer instanceof Error) throw answer;
      return answer;
    },
    tell: (event) => told.push(event),
  });
}

async function started(initial: RouterConfig): Promise<StaticMembership> {
  const source = newSource(initial);
  await source.start((more) => events.push(...more));
  await settled();
  return source;
}

/** Answers of names have been taken. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Addresses of each list that was reported for a VIP. */
const lists = (vip = VIP): string[] =>
  events.flatMap((event) =>
    event.type === 'listed' && event.vip === vip ? [event.members.map(({ address }) => address).join()] : [],
  );

listConformance('a static list', async () => {
  const source = newSource(config([['10.100.0.1']]));
  return {
    source,
    vip: VIP,
    // It has neither a port of its own nor drains.
    sayable: ({ port: _, ...member }) => ({ ...member, draining: false }),
    write: async (members) =>
      source.configure(config([['10.100.0.1', ...members.map(({ draining: _, ...one }) => one)]])),
    close: async () => undefined,
  };
});

describe('names of members', () => {
  const byName = config([
    ['10.100.0.1', { address: '10.0.0.11' }, { name: 'm2', address: 'm2.example.net', zone: 'b' }],
  ]);

  it('are members with all their addresses, and are asked for again when the TTL is over, and not before', async () => {
    names.set('4 m2.example.net', { addresses: ['10.0.0.12'], ttl: 60 });
    const source = await started(byName);
    expect(lists()).toEqual(['10.0.0.11', '10.0.0.11,10.0.0.12']);
    names.set('4 m2.example.net', { addresses: ['10.0.0.13', '10.0.0.14'], ttl: 60 });
    clock.advance(59_999);
    await settled();
    expect(asked).toHaveLength(1);
    clock.advance(1);
    await settled();
    expect(lists().at(-1)).toBe('10.0.0.11,10.0.0.13,10.0.0.14');
    const last = events.at(-1);
    expect(last?.type === 'listed' && last.members.map(({ name, zone }) => [name, zone])).toEqual([
      ['10.0.0.11', undefined],
      ['m2 (10.0.0.13)', 'b'],
      ['m2 (10.0.0.14)', 'b'],
    ]);
    expect(told.map(({ text }) => text)).toEqual([
      'm2.example.net is 10.0.0.12 now',
      'm2.example.net is 10.0.0.13, 10.0.0.14 now, it was 10.0.0.12',
    ]);
    await source.stop();
  });

  it.each([
    [0, 5_000],
    [undefined, 30_000],
    [86_400, 3_600_000],
  ])('with a TTL of %s are asked for again after %i ms', async (ttl, ms) => {
    names.set('4 m2.example.net', { addresses: ['10.0.0.12'], ttl });
    const source = await started(byName);
    clock.advance(ms - 1);
    await settled();
    expect(asked).toHaveLength(1);
    clock.advance(1);
    await settled();
    expect(asked).toHaveLength(2);
    await source.stop();
  });

  it('keep their last good answer while nobody answers, over a restart too, and say so once', async () => {
    names.set('4 m2.example.net', { addresses: ['10.0.0.12'], ttl: 5 });
    const first = await started(byName);
    names.clear();
    for (let count = 0; count < 5; count += 1) {
      clock.advance(30_000);
      await settled();
    }
    expect(first.status().at(-1)).toMatchObject({
      members: 1,
      problem: 'm2.example.net: ENOTFOUND',
      heardMs: 150_000,
    });
    expect(told.filter(({ isBad }) => isBad)).toEqual([
      expect.objectContaining({ text: 'm2.example.net: ENOTFOUND; it stays 10.0.0.12' }),
    ]);
    await first.stop();
    events = [];
    const second = await started(byName);
    expect(lists()).toEqual(['10.0.0.11,10.0.0.12']);
    expect(second.status().at(-1)?.detail).toBe('10.0.0.12, as it was before the restart');
    names.set('4 m2.example.net', { addresses: ['10.0.0.12'], ttl: 5 });
    clock.advance(30_000);
    await settled();
    expect(second.status().at(-1)).toMatchObject({ problem: '', detail: '10.0.0.12' });
    await second.stop();
  });

  it('are asked for in the family of each VIP, and never make a VIP a member of itself', async () => {
    names.set('4 m', { addresses: ['10.0.0.11', '10.100.0.1'], ttl: 60 });
    names.set('6 m', { addresses: ['fd00::11'], ttl: 60 });
    const source = await started(
      config([
        ['10.100.0.1', { address: 'm' }],
        ['fd62::1', { address: 'm' }],
      ]),
    );
    expect([lists(), lists('fd62::1/128')]).toEqual([['10.0.0.11'], ['fd00::11']]);
    await source.stop();
  });

  it('that a reload takes away are asked for no more, and those that stay not once more for it', async () => {
    names.set('4 m2.example.net', { addresses: ['10.0.0.12'], ttl: 60 });
    names.set('4 m3', { addresses: ['10.0.0.13'], ttl: 60 });
    const source = await started(byName);
    source.configure(config([['10.100.0.1', { address: 'm2.example.net' }, { address: 'm3' }]]));
    await settled();
    source.configure(config([['10.100.0.1', { address: 'm3' }]]));
    expect(lists().slice(2)).toEqual(['10.0.0.12', '10.0.0.12,10.0.0.13', '10.0.0.13']);
    expect(asked).toEqual(['4 m2.example.net', '4 m3']);
    clock.advance(60_000);
    await settled();
    expect(asked).toEqual(['4 m2.example.net', '4 m3', '4 m3']);
    source.configure(config([['10.100.0.1']]));
    expect(lists().at(-1)).toBe('');
    await source.stop();
  });

  it('are not taken for what no member can be', async () => {
    await expect(nameLookup()('localhost', 4)).rejects.toThrow(
      'localhost has no IPv4 address that a member may have',
    );
  });
});
