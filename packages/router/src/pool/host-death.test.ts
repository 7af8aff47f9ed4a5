import { describe, expect, it } from 'vitest';
import { Bench, down, running } from './testing/pool-bench.ts';

const lost = (nextHops: readonly string[], window = 900) =>
  ({
    type: 'lost',
    members: nextHops.map((nextHop) => ({ nextHop, reason: 'BFD down' })),
    window,
  }) as const;
const link = (nextHop: string, reason?: string) =>
  ({ type: 'barrier', nextHop, barrier: 'link', reason }) as const;
const ended = (nextHop: string, reason?: string) =>
  ({
    type: 'session',
    nextHop,
    name: nextHop,
    session: down,
    ...(reason !== undefined && { reason }),
  }) as const;

describe('a member whose host BFD says is dead', () => {
  it('is out at once, with its path', () => {
    const bench = running('a', 'b').send(lost(['a']));
    expect(bench.weights()).toEqual({ b: 256 });
    expect(bench.pool.probes().map(({ nextHop }) => nextHop)).toEqual(['b']);
  });

  it('says since when, whatever its session says of its own end', () => {
    const bench = running('a', 'b').send(lost(['a']));
    const since = bench.now;
    bench.wait(500).send(ended('a', 'NOTIFICATION sent: Cease/BFD Down'));
    bench.send({ type: 'withdrawn', nextHop: 'c', reason: 'unknown' });
    expect(bench.state('a')).toBe('out: BFD down');
    expect(bench.pool.members()[0]).toMatchObject({ reasonSince: since });
  });

  it('must prove itself anew when it comes back', () => {
    const bench = running('a', 'b')
      .send(lost(['a']))
      .wait(5000)
      .announce('a');
    expect(bench.weights()).toEqual({ b: 256 });
    expect(bench.pool.members()[0]?.reasonSince).toBeUndefined();
    expect(bench.probe('a', 'good', 2).weights()).toEqual({ a: 256, b: 256 });
  });

  it('stays when its process had died before: BFD fell silent with it', () => {
    const bench = running('a', 'b').send({ type: 'stale', nextHop: 'a', reason: 'TCP closed' });
    expect(bench.send(lost(['a'])).state('a')).toBe('stale: TCP closed');
  });

  it('that is not in use changes nothing', () => {
    const bench = running('a', 'b')
      .announce('c')
      .send(lost(['c', 'unknown']));
    expect(bench.weights()).toEqual({ a: 256, b: 256 });
    expect(bench.state('c')).toBe('out: BFD down');
  });

  it('is out although it was found in the kernel and not claimed yet', () => {
    const members = ['a', 'b'].map((nextHop) => ({ nextHop, weight: 256 }));
    const bench = new Bench().send({ type: 'adopted', members }).send(lost(['a']));
    expect(bench.weights()).toEqual({ b: 256 });
  });
});

describe('a member that BFD lost while this process hung', () => {
  const doubted = { type: 'lost', window: 900 } as const;
  const members = [{ nextHop: 'a', reason: 'BFD down', isDoubtful: true }];

  it('is kept for 2 s and probed, so that its connections do not move', () => {
    const bench = running('a', 'b').send({ ...doubted, members });
    expect(bench.weights()).toEqual({ a: 256, b: 256 });
    expect(bench.state('a')).toBe(
      'stale: BFD down, but this host may have been deaf: probed before that is believed',
    );
    expect(bench.pool.isDoubtful).toBe(false);
    expect(bench.pool.probes()[0]).toEqual({ nextHop: 'a', urgency: 'doubted' });
    expect(bench.wait(2000).weights()).toEqual({ b: 256 });
  });

  it('stays while its probes are answered, though every one says that it is not ready', () => {
    const bench = running('a', 'b')
      .send({ ...doubted, members })
      .probe('a', 'answered', 10)
      .probe('a', 'soft', 1);
    expect(bench.weights()).toEqual({ a: 1, b: 256 });
    expect(bench.probe('a', 'soft', 1).weights()).toEqual({ b: 256 });
  });

  it.each(['good', 'answered'] as const)(
    'waits for its speaker as one whose session alone is gone, once its probes are %s',
    (verdict) => {
      const bench = running('a', 'b').send({ ...doubted, members });
      expect(bench.probe('a', verdict, 1).wait(1999).weights()).toEqual({ a: 256, b: 256 });
      bench.probe('a', verdict, 1);
      expect(bench.state('a')).toBe('stale: BFD down, but its API server answers: waiting for its speaker');
      expect(bench.pool.probes()[0]).toEqual({ nextHop: 'a', urgency: 'doubted' });
      expect(bench.wait(59_999).weights()).toEqual({ a: 256, b: 256 });
      expect(bench.wait(1).state('a')).toBe('out: BFD down');
    },
  );

  it('goes at once when its probes fail after all, though BFD may say it again', () => {
    const bench = running('a', 'b')
      .send({ ...doubted, members })
      .probe('a', 'good', 2)
      .send({ ...doubted, members })
      .wait(10_000);
    expect(bench.weights()).toEqual({ a: 256, b: 256 });
    expect(bench.probe('a', 'soft', 2).weights()).toEqual({ b: 256 });
    expect(bench.state('a')).toBe('out: BFD down; then 2 probes failed: soft');
  });

  it('stays when its speaker is back, and goes when its probes fail', () => {
    const stays = running('a', 'b')
      .send({ ...doubted, members })
      .announce('a')
      .wait(5000);
    expect(stays.weights()).toEqual({ a: 256, b: 256 });
    const goes = running('a', 'b')
      .send({ ...doubted, members })
      .probe('a', 'soft', 2);
    expect(goes.weights()).toEqual({ b: 256 });
  });
});

describe('a pool that BFD empties', () => {
  it.each([
    ['in one turn', 0],
    ['one after the other within the window', 300],
  ])('%s is kept for 2 s, in doubt, and probed fast', (_, apart) => {
    const bench = running('a', 'b', 'c');
    if (apart === 0) {
      bench.send(lost(['a', 'b', 'c']));
    } else {
      for (const member of ['a', 'b', 'c']) {
        bench.send(lost([member])).wait(apart);
      }
      bench.wait(-apart);
    }
    expect(bench.weights()).toEqual({ a: 256, b: 256, c: 256 });
    expect(bench.pool.isDoubtful).toBe(true);
    expect(bench.state('a')).toBe(
      'stale: BFD down, as all the others at once: probed before that is believed',
    );
    expect(bench.pool.probes().map(({ urgency }) => urgency)).toEqual(['doubted', 'doubted', 'doubted']);
    expect(bench.wait(1999 - apart).weights()).toEqual({ a: 256, b: 256, c: 256 });
    expect(bench.wait(1 + apart).weights()).toEqual({});
    expect(bench.state('a')).toBe('out: BFD down');
    expect(bench.pool.members()[0]?.reasonSince).toBeDefined();
    expect(bench.pool.isDoubtful).toBe(false);
  });

  it('keeps only those that were lost together', () => {
    const bench = running('a', 'b', 'c')
      .send(lost(['a']))
      .wait(901)
      .send(lost(['b', 'c']));
    expect(bench.weights()).toEqual({ b: 256, c: 256 });
  });

  it('keeps the weight of a member that was draining', () => {
    const bench = running('a', 'b')
      .announce('a', 'draining')
      .send(lost(['a', 'b']));
    expect(bench.weights()).toEqual({ a: 1, b: 256 });
  });

  it('serves on with those that answer, and is in doubt no more: speakers that hang everywhere are no outage', () => {
    const bench = running('a', 'b', 'c').send(lost(['a', 'b', 'c']));
    expect(bench.probe('a', 'good', 2).pool.isDoubtful).toBe(false);
    bench.probe('b', 'good', 2).probe('c', 'unreachable', 2);
    expect(bench.wait(30_000).weights()).toEqual({ a: 256, b: 256 });
    expect(bench.announce('a').state('a')).toBe('active: ');
  });

  it('keeps a member that its speaker claims, without a gap', () => {
    const bench = running('a', 'b')
      .send(lost(['a', 'b']))
      .wait(500)
      .announce('a');
    expect(bench.state('a')).toBe('active: ');
    expect(bench.pool.isDoubtful).toBe(false);
    expect(bench.wait(2000).weights()).toEqual({ a: 256 });
  });

  it('gives up a member whose probes fail', () => {
    const bench = running('a', 'b')
      .send(lost(['a', 'b']))
      .probe('a', 'unreachable', 2);
    expect(bench.weights()).toEqual({ b: 256 });
    expect(bench.state('a')).toBe('out: BFD down; then 2 probes failed: unreachable');
  });

  it('is kept no longer when BFD says it twice', () => {
    const bench = running('a')
      .send(lost(['a']))
      .wait(1500)
      .send(lost(['a']))
      .wait(500);
    expect(bench.weights()).toEqual({});
  });

  it('is not in doubt as long as one member stays', () => {
    const bench = running('a', 'b').send(lost(['a']));
    expect(bench.pool.isDoubtful).toBe(false);
  });
});

describe('a member behind a link without carrier', () => {
  it('is out at once, with the reason', () => {
    const bench = running('a', 'b').send(link('a', 'no carrier on eth0'));
    expect(bench.weights()).toEqual({ b: 256 });
    expect(bench.state('a')).toBe('out: no carrier on eth0');
  });

  it('counts neither as good nor as bad for the panic threshold', () => {
    const bench = running('a', 'b', 'c').send(link('a', 'no carrier')).send(link('b', 'no carrier'));
    bench.probe('c', 'refused', 3);
    expect(bench.weights()).toEqual({});
  });

  it('is probed fast when the link is back, and in again when it has passed anew', () => {
    const bench = running('a', 'b').send(link('a', 'no carrier on eth0')).probe('a', 'unreachable', 3);
    bench.send(link('a'));
    expect(bench.pool.probes()[0]).toEqual({ nextHop: 'a', urgency: 'rising' });
    expect(bench.probe('a', 'good', 1).weights()).toEqual({ b: 256 });
    expect(bench.probe('a', 'good', 1).weights()).toEqual({ a: 256, b: 256 });
  });

  it('is out even while its session is lost or while it is in doubt', () => {
    const bench = running('a', 'b').send(link('a', 'no carrier')).send(link('b', 'no carrier'));
    expect(bench.send(lost(['a', 'b'])).weights()).toEqual({});
  });

  it('comes back without the initial hold once all that were there before are good again', () => {
    const bench = running('a', 'b').send(link('a', 'no carrier')).send(link('b', 'no carrier')).wait(300);
    bench.send(link('a')).send(link('b')).probe('a', 'good', 2);
    expect(bench.weights()).toEqual({});
    expect(bench.probe('b', 'good', 2).weights()).toEqual({ a: 256, b: 256 });
  });

  it('waits for the others no longer than the initial hold', () => {
    const bench = running('a', 'b').send(link('a', 'no carrier')).send(link('b', 'no carrier'));
    expect(bench.send(link('a')).probe('a', 'good', 2).wait(2000).weights()).toEqual({ a: 256 });
  });
});

describe('a member that must have BFD', () => {
  const bfd = (reason?: string) => ({ type: 'barrier', nextHop: 'a', barrier: 'bfd', reason }) as const;

  it('is out until BFD is Up', () => {
    const bench = running('b').send(ended('a')).send(bfd('BFD is not Up (strict)'));
    bench.announce('a').probe('a', 'good', 2);
    expect(bench.state('a')).toBe('out: BFD is not Up (strict)');
    expect(bench.send(bfd()).weights()).toEqual({ a: 256, b: 256 });
  });

  it('is waited for although nobody has heard of it before', () => {
    const bench = running('b').send(bfd('BFD is not Up (strict)')).announce('a').probe('a', 'good', 2);
    expect(bench.weights()).toEqual({ b: 256 });
  });

  it('stays when it was found in the kernel, or its process died', () => {
    const bench = new Bench().send({ type: 'adopted', members: [{ nextHop: 'a', weight: 256 }] });
    expect(bench.send(bfd('BFD is not Up (strict)')).weights()).toEqual({ a: 256 });
  });
});
