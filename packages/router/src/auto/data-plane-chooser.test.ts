import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CarriedVips } from '../dataplane/kernel/carried-vips.ts';
import { MemoryDataPlane, MemoryHost } from '../dataplane/testing/memory-data-plane.ts';
import type { MemberPath } from '../paths/member-path.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import { ChoiceError, type DataPlaneChoice, readChoice, writeChoice } from './data-plane-choice.ts';
import { DataPlaneChooser } from './data-plane-chooser.ts';
import { UndecidedDataPlane } from './undecided-data-plane.ts';

const VIP = '10.100.0.1/32';
const answer = { answered: true, detail: 'answered 200', names: [] };
const passing: MemberPath = {
  ...{ vip: VIP, name: 'm1', nextHop: '10.0.0.11', byVip: answer, direct: answer },
  link: { name: 'eth0', kind: 'veth', isPointToPoint: false, members: 1 },
};
const one = new Map([[VIP, [{ nextHop: '10.0.0.11', weight: 256 }]]]);
const handlers = {
  ...{ forwarding: () => undefined, obstacle: () => undefined, link: () => undefined },
  ...{ dissent: () => undefined, configured: () => undefined, repaired: () => undefined },
  ...{ failing: () => undefined, operation: () => undefined },
};

describe('the choice of a data plane', () => {
  const clock = new ManualClock();
  let host: MemoryHost;
  let dataPlane: UndecidedDataPlane;
  let choices: DataPlaneChoice[];
  let problems: string[];
  let paths: () => readonly MemberPath[];
  let isDiskFull: boolean;
  let chooser: DataPlaneChooser;

  beforeEach(() => {
    host = new MemoryHost();
    const vip = { address: '10.100.0.1', port: 443, machinePort: 6443 };
    choices = [];
    problems = [];
    isDiskFull = false;
    paths = () => [passing];
    begin(new UndecidedDataPlane(new MemoryDataPlane(host, clock, [vip])));
  });
  afterEach(() => chooser.stop());

  function begin(undecided: UndecidedDataPlane): void {
    dataPlane = undecided;
    chooser = new DataPlaneChooser({
      ...{ dataPlane, test: async () => paths(), clock, wallClock: () => 0 },
      decided: (choice) => {
        if (isDiskFull) throw new Error('ENOSPC');
        choices.push(choice);
      },
      problem: (text) => problems.push(text),
    });
  }

  async function pass(seconds: number): Promise<void> {
    for (let tenth = 0; tenth < seconds * 10; tenth += 1) {
      clock.advance(100);
      await new Promise(setImmediate);
    }
  }

  it('leaves clients refused until it is made, and then carries what the pool wants', async () => {
    await dataPlane.start(handlers);
    chooser.start();
    dataPlane.setNextHops(one);
    await pass(2);
    expect(host.connect(VIP)).toBe('ECONNREFUSED');
    expect(dataPlane.forwarding(VIP)).toEqual([]);
    expect(chooser.status()).toMatchObject({ kind: null, decidedAt: null });
    await pass(4);
    expect(choices).toMatchObject([{ kind: 'kernel', decidedAt: '1970-01-01T00:00:00.000Z' }]);
    expect(chooser.status()).toEqual(choices[0]);
    expect(host.connect(VIP)).toBe('10.0.0.11');
    paths = () => [{ ...passing, byVip: { ...answer, answered: false } }];
    await pass(30);
    expect(choices).toHaveLength(1);
  });

  it('carries what is left of VIPs that came and went before it was made', async () => {
    const ports = { port: 443, machinePort: 6443 };
    const first = { address: '10.100.0.1', prefix: '10.100.0.1/32', ...ports };
    const second = { address: '10.100.0.2', prefix: '10.100.0.2/32', ...ports };
    // What the kernel's data plane goes by: it refuses a VIP that it was told to carry no more.
    const carried = new CarriedVips([first, second]);
    const inner = new MemoryDataPlane(host, clock, [first, second]);
    inner.setVips = (vips) => {
      carried.set(vips, 0);
      return new Map();
    };
    inner.setNextHops = (changes) => carried.setNextHops(changes);
    const undecided = new UndecidedDataPlane(inner);
    const nextHops = one.get(VIP) ?? [];
    undecided.setNextHops(new Map([first, second].map(({ prefix }) => [prefix, nextHops])));
    undecided.setVips([first]);
    undecided.choose();
    expect(carried.asked).toEqual(
      new Map([
        [first.prefix, nextHops],
        [second.prefix, []],
      ]),
    );
    undecided.setNextHops(new Map([[first.prefix, []]]));
    expect(carried.asked.get(first.prefix)).toEqual([]);
  });

  it('is followed as soon as the data plane takes what the pool wants, and made once', async () => {
    let isRefusing = true;
    const inner = new MemoryDataPlane(host, clock, [{ address: '10.100.0.1', port: 443, machinePort: 6443 }]);
    const take = inner.setNextHops.bind(inner);
    inner.setNextHops = (changes) => {
      if (isRefusing) throw new RangeError('not now');
      take(changes);
    };
    begin(new UndecidedDataPlane(inner));
    await dataPlane.start(handlers);
    chooser.start();
    dataPlane.setNextHops(one);
    await pass(10);
    expect(problems).toEqual(['the data plane cannot be chosen: not now']);
    expect(choices).toHaveLength(1);
    isRefusing = false;
    await pass(2);
    expect(host.connect(VIP)).toBe('10.0.0.11');
    expect(choices).toHaveLength(1);
  });

  it('carries nothing when HAProxy is chosen', async () => {
    await dataPlane.start(handlers);
    paths = () => [{ ...passing, byVip: { ...answer, answered: false, detail: 'timed out' } }];
    chooser.start();
    dataPlane.setNextHops(one);
    await pass(8);
    expect(choices).toMatchObject([{ kind: 'haproxy', reason: expect.stringContaining('timed out') }]);
    expect(host.connect(VIP)).toBe('ECONNREFUSED');
  });

  it('is for what carries connections already, which are not cut', async () => {
    host.forwarded.set(VIP, one.get(VIP) ?? []);
    paths = () => [{ ...passing, byVip: { ...answer, answered: false } }];
    await dataPlane.start(handlers);
    chooser.start();
    await pass(1);
    expect(choices).toMatchObject([{ kind: 'kernel', reason: 'the kernel forwards to members already' }]);
    expect(host.connect(VIP)).toBe('10.0.0.11');
  });

  it('is made again and again until the disk takes it, which is said once', async () => {
    await dataPlane.start(handlers);
    isDiskFull = true;
    chooser.start();
    await pass(10);
    expect(problems).toEqual(['the data plane cannot be chosen: ENOSPC']);
    expect(chooser.status().kind).toBeNull();
    isDiskFull = false;
    await pass(2);
    expect(choices).toHaveLength(1);
  });
});

describe('the choice on disk', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'bgp-lb-choice-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is what was written, and nothing where none was', () => {
    const path = join(folder, 'data-plane.json');
    expect(readChoice(path)).toBeUndefined();
    const choice = {
      kind: 'haproxy',
      reason: 'm1 is dropped',
      decidedAt: '2026-01-02T03:04:05.678Z',
    } as const;
    writeChoice(path, choice);
    expect(readChoice(path)).toEqual(choice);
  });

  it.each(['', '{', '{"version":2}', '{"version":1,"kind":"memory","reason":"","decidedAt":"now"}'])(
    'is not guessed from %j: what serves would be cut',
    (text) => {
      const path = join(folder, 'data-plane.json');
      writeFileSync(path, text);
      expect(() => readChoice(path)).toThrow(ChoiceError);
    },
  );
});
