import { beforeEach, describe, expect, it } from 'vitest';
import type { ProbeReport } from '../health/member-probe.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import { Pool } from './pool.ts';
import { PoolController } from './pool-controller.ts';
import { bgp, down, settings, up } from './testing/pool-bench.ts';

const good: ProbeReport = { verdict: 'good', result: 'ok', tookMs: 1, detail: 'answered 200', warnings: [] };
const [V4, OTHER, V6] = ['10.100.0.1/32', '10.100.0.2/32', 'fd00::1/128'];

let clock: ManualClock;
let log: string[];
let controller: PoolController;
let pools: ReadonlyMap<string, Pool>;

beforeEach(() => {
  clock = new ManualClock();
  log = [];
  pools = new Map([V4, OTHER, V6].map((vip) => [vip, new Pool(vip, settings)]));
  controller = new PoolController({
    pools,
    dataPlane: {
      setNextHops: (changes) => {
        const lines = [...changes].map(([vip, nextHops]) =>
          [
            vip,
            ...nextHops.map(
              ({ nextHop, weight, port }) => `${nextHop}${port === undefined ? '' : `:${port}`}x${weight}`,
            ),
          ].join(' '),
        );
        log.push(`kernel ${lines.join('; ')}`);
      },
      probeWays: {
        setProbed: (nextHops) => log.push(`probed ${nextHops.join(' ')}`.trim()),
        socketThrough: () => {
          throw new Error('not asked for');
        },
      },
    },
    clock,
    setTargets: (vip, targets) =>
      targets.length > 0 &&
      log.push(`targets ${vip} ${targets.map(({ nextHop, urgency }) => `${nextHop}/${urgency}`)}`),
    onChanged: (vip) => log.push(`changed ${vip}${pools.get(vip)?.isDoubtful === true ? ', doubtful' : ''}`),
    onTransition: (vip, { member, from, to }) => log.push(`transition ${vip} ${member} ${from} ${to}`),
  });
});

function announce(vip: string, nextHop: string): void {
  controller.membership([{ type: 'session', source: bgp, nextHop, name: nextHop, session: up }]);
  controller.membership([{ type: 'announced', source: bgp, vip, nextHop, name: nextHop, intent: 'active' }]);
}

function lines(start: string): string[] {
  return log.filter((line) => line.startsWith(start));
}

describe('the pool controller', () => {
  it('has a way for probes before it probes', () => {
    announce(V4, '10.0.0.11');
    const probed = log.indexOf('probed 10.0.0.11');
    expect(probed).toBeGreaterThanOrEqual(0);
    expect(probed).toBeLessThan(log.indexOf(`targets ${V4} 10.0.0.11/rising`));
  });

  it('changes the kernel when the initial hold is over, by its own timer', () => {
    announce(V4, '10.0.0.11');
    controller.probed(V4, '10.0.0.11', good);
    controller.probed(V4, '10.0.0.11', good);
    expect(lines('kernel')).toEqual([]);
    clock.advance(2000);
    expect(lines('kernel')).toEqual([`kernel ${V4} 10.0.0.11x256`]);
  });

  it('changes the kernel before it tells anybody of a withdrawal', () => {
    controller.adopt(V4, [{ nextHop: '10.0.0.11', weight: 256 }]);
    announce(V4, '10.0.0.11');
    log.length = 0;
    controller.membership([
      { type: 'withdrawn', source: bgp, vip: V4, nextHop: '10.0.0.11', reason: 'Cease' },
    ]);
    expect(log).toEqual([`kernel ${V4}`, `changed ${V4}`, 'probed', `transition ${V4} 10.0.0.11 active out`]);
  });

  it('changes all that happened at one moment by one call, and only what comes out of it', () => {
    for (const vip of [V4, OTHER]) {
      controller.adopt(vip, [
        { nextHop: '10.0.0.11', weight: 256 },
        { nextHop: '10.0.0.12', weight: 256 },
      ]);
      announce(vip, '10.0.0.11');
      announce(vip, '10.0.0.12');
    }
    log.length = 0;
    const withdrawn = { type: 'withdrawn', source: bgp, nextHop: '10.0.0.11', reason: 'Cease' } as const;
    controller.membership([
      { ...withdrawn, vip: V4 },
      { ...withdrawn, vip: OTHER },
      {
        type: 'session',
        source: bgp,
        nextHop: '10.0.0.11',
        name: '10.0.0.11',
        session: down,
        reason: 'Cease',
      },
    ]);
    expect(log.filter((line) => !line.startsWith('targets'))).toEqual([
      `kernel ${V4} 10.0.0.12x256; ${OTHER} 10.0.0.12x256`,
      `changed ${V4}`,
      `changed ${OTHER}`,
      'probed 10.0.0.12',
      `transition ${V4} 10.0.0.11 active out`,
      `transition ${OTHER} 10.0.0.11 active out`,
    ]);
    log.length = 0;
    // A member that leaves and is there again within it is no change of what is wanted.
    const announced = {
      type: 'announced',
      source: bgp,
      nextHop: '10.0.0.12',
      name: '10.0.0.12',
      intent: 'draining',
    } as const;
    controller.membership([
      { ...announced, vip: V4 },
      { ...announced, vip: V4, intent: 'last-resort' },
    ]);
    expect(lines('kernel')).toEqual([`kernel ${V4} 10.0.0.12x1`]);
  });

  it('does not touch the kernel when nothing changes for it', () => {
    controller.adopt(V4, [{ nextHop: '10.0.0.11', weight: 256 }]);
    announce(V4, '10.0.0.11');
    log.length = 0;
    controller.probed(V4, '10.0.0.11', good);
    clock.advance(100_000);
    expect(lines('kernel')).toEqual([]);
  });

  it('tells a session to all VIPs of its family, and a path to its own', () => {
    announce(V4, '10.0.0.11');
    announce(V6, 'fd00:1::11');
    controller.probed(V4, '10.0.0.11', good);
    controller.probed(V4, '10.0.0.11', good);
    clock.advance(2000);
    expect(lines('kernel')).toEqual([`kernel ${V4} 10.0.0.11x256`]);
    expect(lines(`targets ${OTHER}`)).toEqual([]);
    expect(lines(`targets ${V6}`)).not.toEqual([]);
  });

  it('takes dead hosts out of all VIPs of their family, and says when a pool is in doubt', () => {
    for (const nextHop of ['10.0.0.11', '10.0.0.12']) {
      controller.adopt(V4, [{ nextHop, weight: 256 }]);
      announce(V4, nextHop);
    }
    controller.adopt(V6, [{ nextHop: 'fd00:1::11', weight: 256 }]);
    log.length = 0;
    const members = ['10.0.0.11', 'fd00:1::11'].map((nextHop) => ({ nextHop, reason: 'BFD down' }));
    controller.membership([{ type: 'lost', source: bgp, members, window: 900 }]);
    expect(lines('kernel')).toEqual([`kernel ${V4} 10.0.0.12x256`]);
    expect(lines('changed')).toEqual([`changed ${V4}`, `changed ${V6}, doubtful`]);
    clock.advance(2000);
    expect(lines('kernel').at(-1)).toBe(`kernel ${V6}`);
  });

  it('takes members out whose link has no carrier', () => {
    controller.adopt(V4, [{ nextHop: '10.0.0.11', weight: 256 }]);
    log.length = 0;
    controller.link('10.0.0.11', 'no carrier on eth0');
    controller.link('10.0.0.11', undefined);
    expect(lines('kernel')).toEqual([`kernel ${V4}`, `kernel ${V4} 10.0.0.11x256`]);
  });

  it('fires no timer after it was closed', () => {
    announce(V4, '10.0.0.11');
    controller.probed(V4, '10.0.0.11', good);
    controller.probed(V4, '10.0.0.11', good);
    controller.close();
    clock.advance(100_000);
    expect(lines('kernel')).toEqual([]);
  });
});

describe('a VIP that comes while the router runs', () => {
  it('has a pool that knows of sessions, of links without carrier and of drains, and the other pools hear nothing', () => {
    const NEW = '10.100.0.3/32';
    announce(V4, '10.0.0.11');
    controller.link('10.0.0.12', 'no carrier on eth0');
    controller.drain('10.0.0.11', { until: 0, isForced: true });
    const before = structuredClone(pools.get(V4)?.members());
    (pools as Map<string, Pool>).set(NEW, new Pool(NEW, settings));
    log = [];
    const session = { type: 'session', source: bgp, session: up } as const;
    controller.configure(new Map([[NEW, [{ nextHop: '10.0.0.11', weight: 256 }]]]), [
      { ...session, nextHop: '10.0.0.11', name: 'm1' },
      { ...session, nextHop: '10.0.0.12', name: 'm2' },
      { ...session, nextHop: 'fd00::11', name: 'm1-v6' },
      {
        type: 'barrier',
        source: bgp,
        nextHop: '10.0.0.13',
        barrier: 'bfd',
        reason: 'BFD is not Up (strict)',
      },
    ]);
    expect(
      pools
        .get(NEW)
        ?.members()
        .map(({ name, session }) => `${name} ${session}`),
    ).toEqual(['m1 Established', 'm2 Established', '10.0.0.13 Idle']);
    for (const nextHop of ['10.0.0.11', '10.0.0.12', '10.0.0.13']) {
      controller.membership([
        { type: 'announced', source: bgp, vip: NEW, nextHop, name: nextHop, intent: 'active' },
      ]);
      for (let i = 0; i < settings.rise; i++) controller.probed(NEW, nextHop, good);
    }
    clock.advance(settings.initialHold);
    expect(
      pools
        .get(NEW)
        ?.members()
        .map(({ reason }) => reason),
    ).toEqual([expect.stringMatching(/drained/), 'no carrier on eth0', 'BFD is not Up (strict)']);
    expect(pools.get(V4)?.members()).toEqual(before);
  });

  it('is probed no more when it goes, and its timer does not fire', () => {
    announce(V4, '10.0.0.11');
    controller.probed(V4, '10.0.0.11', good);
    controller.probed(V4, '10.0.0.11', good);
    log = [];
    (pools as Map<string, Pool>).delete(V4);
    controller.configure(new Map(), []);
    expect(log).toEqual(['probed']);
    clock.advance(60_000);
    expect(lines('kernel')).toEqual([]);
  });
});

describe('the port that a member has of its own', () => {
  const list = (port: number | undefined): void =>
    controller.membership([
      {
        type: 'listed',
        source: { kind: 'configMap', name: 'a' },
        vip: V4,
        members: [
          {
            address: '10.0.0.11',
            name: 'm1',
            draining: false,
            ...(port !== undefined && { port }),
          },
        ],
      },
    ]);

  beforeEach(() => {
    controller.adopt(V4, [{ nextHop: '10.0.0.11', weight: 256, port: 7443 }]);
  });

  it('is the one that it was found with until a list says it', () => {
    expect(pools.get(V4)?.nextHops()).toEqual([{ nextHop: '10.0.0.11', weight: 256, port: 7443 }]);
    list(7443);
    expect(lines('kernel').every((line) => line.includes('10.0.0.11:7443x256'))).toBe(true);
    expect(pools.get(V4)?.nextHops()).toEqual([{ nextHop: '10.0.0.11', weight: 256, port: 7443 }]);
  });

  it.each([
    ['another one', 8443, ':8443'],
    ['none', undefined, ''],
  ])('goes to the data plane when it alone changes to %s', (_, port, text) => {
    list(port);
    expect(lines('kernel').at(-1)).toBe(`kernel ${V4} 10.0.0.11${text}x256`);
  });
});
