import { type BfdStateChange, type BfdThreadHandlers, schedulingText } from '@bgp-lb/protocol/node';
import { describe, expect, it } from 'vitest';
import type { RouterPeerConfig } from '../config/speaker-config.ts';
import { RouterBfd } from './router-bfd.ts';

const timing = { transmitInterval: 50, receiveInterval: 60, detectMultiplier: 3 } as const;
const auto = { authentication: 'auto', keyId: 1 } as const;
const base = {
  port: 179,
  asn: 64512,
  holdTime: 9_000,
  ttlSecurityHops: 1,
  bfd: false,
  acceptAsSet: false,
  withoutCapabilities: [],
} as const;
const plain: RouterPeerConfig = { ...base, address: '10.0.0.9' };
const watched: RouterPeerConfig = {
  ...base,
  address: '10.0.0.10',
  bfd: { ...timing, ...auto, strict: false },
};
const strict: RouterPeerConfig = {
  ...base,
  address: '10.0.0.11',
  ttlSecurityHops: 3,
  bfd: { ...timing, ...auto, strict: true },
};

const failure: Omit<BfdStateChange, 'id'> = {
  from: 'Up',
  to: 'Down',
  reason: 'detection-expired',
  isFailure: true,
  diagnostic: 1,
  remoteDiagnostic: 0,
  at: 1_150,
  lastReceivedAt: 1_000,
  detectionTime: 150,
  timerDelay: 0,
  areOthersSilent: false,
};
const up = { ...failure, from: 'Init', to: 'Up', reason: 'peer-agrees', isFailure: false } as const;
const adminDown = { ...failure, reason: 'peer-admin-down', isFailure: false } as const;

/** BFD whose thread is in the hands of the test. */
function start(routers: readonly RouterPeerConfig[], passwords: Record<string, string[]> = {}) {
  const done: string[] = [];
  const added: unknown[] = [];
  let handlers: BfdThreadHandlers | undefined;
  let clock = 500;
  const bfd = new RouterBfd({
    routers,
    passwords: new Map(Object.entries(passwords)),
    start: (given) => {
      handlers = given;
      return {
        add: (session) => added.push(session),
        authenticate: (id, key) =>
          done.push(`authenticate ${id} ${key === undefined ? 'no more' : 'by the agreed key'}`),
        remove: (id) => done.push(`remove ${id}`),
        status: () => Promise.reject(new Error('the thread is dead')),
        stop: async () => {
          done.push('stop');
        },
      };
    },
    dead: (router) => done.push(`dead ${router}`),
    mayConnect: (router, isAllowed) => done.push(`${isAllowed ? 'release' : 'hold'} ${router}`),
    changed: ({ id, to }, verdict) => done.push(`${id} ${to} ${verdict}`),
    scheduled: (scheduling) => done.push(schedulingText(scheduling)),
    failed: (what) => done.push(what),
    now: () => clock,
  });
  return {
    bfd,
    added,
    handlers: () => handlers,
    change: (router: RouterPeerConfig, change: Omit<BfdStateChange, 'id'>): string[] => {
      handlers?.changed({ ...change, id: router.address });
      return done.splice(0);
    },
    establish: (router: RouterPeerConfig, at = 500) => {
      clock = at;
      bfd.sessionEstablished(router.address, undefined);
    },
    taken: () => done.splice(0),
  };
}

describe('authentication', () => {
  const key = { id: 0, secret: new Uint8Array(20) };
  const fixed: RouterPeerConfig = {
    ...watched,
    bfd: { ...timing, strict: false, authentication: 'meticulous-keyed-sha1', keyId: 3 },
  };

  it('is negotiated where there is a password, and follows the session of BGP', () => {
    const one = start([watched], { [watched.address]: ['secret'] });
    expect(one.added).toMatchObject([{ authentication: { mode: 'negotiated' } }]);
    one.bfd.sessionEstablished(watched.address, key);
    expect(one.taken()).toEqual(['authenticate 10.0.0.10 by the agreed key']);
    one.bfd.sessionLost(watched.address);
    expect(one.taken()).toEqual(['authenticate 10.0.0.10 no more']);
    one.bfd.sessionEstablished(watched.address, undefined);
    expect(one.taken()).toEqual([]);
  });

  it('is in use at once with BFD that begins after BGP', () => {
    const passwords = new Map([[watched.address, ['secret']]]);
    const one = start([{ ...base, address: watched.address }], Object.fromEntries(passwords));
    one.bfd.sessionEstablished(watched.address, key);
    one.bfd.setRouters([watched], passwords);
    expect(one.taken()).toEqual(['authenticate 10.0.0.10 by the agreed key']);
  });

  it('is the present password itself where the configuration says so; with another one it begins anew', () => {
    const one = start([fixed], { [fixed.address]: ['secret', 'next'] });
    const ofPassword = (password: string) => ({
      authentication: { mode: 'required', key: { id: 3, secret: Buffer.from(password) } },
    });
    expect(one.added).toMatchObject([ofPassword('secret')]);
    one.bfd.setRouters([fixed], new Map([[fixed.address, ['secret']]]));
    expect(one.taken()).toEqual([]);
    one.bfd.setRouters([fixed], new Map([[fixed.address, ['next']]]));
    expect(one.taken()).toEqual(['remove 10.0.0.10']);
    expect(one.added.at(-1)).toMatchObject(ofPassword('next'));
  });
});

describe('BFD with the routers', () => {
  it('has no thread while no router asks for it', async () => {
    const one = start([plain]);
    expect(one.handlers()).toBeUndefined();
    expect(one.bfd.state(plain.address)).toBe('off');
    expect(await one.bfd.status()).toBeUndefined();
    await one.bfd.stop();
  });

  it('begins and ends sessions with the routers that come and go, and leaves the others alone', () => {
    const one = start([plain]);
    one.bfd.setRouters([plain, watched], new Map());
    one.change(watched, up);
    one.bfd.setRouters([{ ...watched, holdTime: 3_000 }, strict], new Map());
    expect(one.added).toHaveLength(2);
    expect(one.taken()).toEqual([]);
    expect(one.bfd.state(watched.address)).toBe('Up');
    one.bfd.setRouters(
      [{ ...watched, bfd: { ...timing, ...auto, transmitInterval: 100, strict: false } }],
      new Map(),
    );
    expect(one.taken()).toEqual(['remove 10.0.0.10', 'remove 10.0.0.11']);
    expect(one.added.at(-1)).toMatchObject({ id: '10.0.0.10', transmitInterval: 100 });
    one.bfd.setRouters([plain], new Map());
    one.taken();
    // What the session that was taken back says last is no death.
    expect(one.change(watched, failure)).toEqual([]);
    expect(one.bfd.state(watched.address)).toBe('off');
  });

  it('speaks from the address that BGP has, where that is configured', () => {
    const one = start([{ ...watched, sourceAddress: '10.0.0.1' }]);
    expect(one.added).toMatchObject([{ localAddress: '10.0.0.1' }]);
  });

  it('has one session per router from the start, with the intervals of each', () => {
    const one = start([plain, watched, strict]);
    expect(one.added).toEqual([
      { id: '10.0.0.10', remoteAddress: '10.0.0.10', multihop: false, ...timing },
      { id: '10.0.0.11', remoteAddress: '10.0.0.11', multihop: true, ...timing },
    ]);
    expect([plain, watched].map(({ address }) => one.bfd.state(address))).toEqual(['off', 'Down']);
    one.change(watched, up);
    expect(one.bfd.state(watched.address)).toBe('Up');
  });

  it('ends the BGP session of a router that fell silent', () => {
    const one = start([watched]);
    one.change(watched, up);
    one.establish(watched);
    expect(one.change(watched, failure)).toEqual(['10.0.0.10 Down failure', 'dead 10.0.0.10']);
  });

  it('leaves the new session of a restarted router alone', () => {
    const one = start([watched]);
    one.change(watched, up);
    one.establish(watched);
    one.bfd.sessionLost(watched.address);
    one.establish(watched, 1_100);
    expect(one.change(watched, failure)).toEqual(['10.0.0.10 Down earlier-process']);
  });

  it('takes AdminDown of the router for no death, and a router without BFD as it is', () => {
    const one = start([watched]);
    one.establish(watched);
    one.change(watched, up);
    expect(one.change(watched, adminDown)).toEqual(['10.0.0.10 Down no-failure']);
    one.bfd.sessionLost(watched.address);
    expect(one.taken()).toEqual([]);
  });

  it('says how its thread is scheduled, what it refused, and that a thread that ended is nobody’s death', async () => {
    const one = start([watched]);
    one.establish(watched);
    one.change(watched, up);
    one.handlers()?.started?.({ policy: 'fifo', value: 10, refusals: [] });
    one.handlers()?.refused('10.0.0.10', 'port taken');
    one.handlers()?.failed(new Error('out of memory'));
    expect(one.taken()).toEqual([
      'SCHED_FIFO 10',
      'with 10.0.0.10: port taken',
      'its thread ended and is started again: out of memory',
    ]);
    expect(one.bfd.state(watched.address)).toBe('Down');
    expect(await one.bfd.status()).toBeUndefined();
  });

  it('that is stopped ends no session any more', async () => {
    const one = start([watched]);
    one.establish(watched);
    one.change(watched, up);
    await one.bfd.stop();
    expect(one.taken()).toEqual(['stop']);
    expect(one.change(watched, failure)).toEqual(['10.0.0.10 Down failure']);
    one.bfd.sessionLost(watched.address);
    expect(one.taken()).toEqual([]);
  });
});

describe('BGP with a router that is strict', () => {
  it('waits for BFD, and waits again after its death', () => {
    const one = start([strict]);
    expect(one.bfd.isAwaited(strict.address)).toBe(true);
    expect(one.change(strict, up)).toEqual(['10.0.0.11 Up no-failure', 'release 10.0.0.11']);
    expect(one.bfd.isAwaited(strict.address)).toBe(false);
    one.establish(strict);
    expect(one.change(strict, failure)).toEqual(['10.0.0.11 Down failure', 'dead 10.0.0.11']);
    one.bfd.sessionLost(strict.address);
    expect(one.taken()).toEqual(['hold 10.0.0.11']);
  });

  it('stays when the router takes BFD down, and waits for BFD once it has ended', () => {
    const one = start([strict]);
    one.change(strict, up);
    one.establish(strict);
    expect(one.change(strict, adminDown)).toEqual(['10.0.0.11 Down no-failure']);
    one.bfd.sessionLost(strict.address);
    expect(one.taken()).toEqual(['hold 10.0.0.11']);
  });
});

describe('the timing of BFD that is not configured', () => {
  it.each([
    ['10.0.0.10', 300, 3],
    ['100.64.0.10', 1000, 5],
    ['fd7a:115c:a1e0::10', 1000, 5],
  ])('follows from the address of the router: with %s %d ms x %d', (address, interval, detectMultiplier) => {
    const { added } = start([{ ...base, address, bfd: { ...auto, strict: false } }]);
    expect(added).toMatchObject([
      { id: address, transmitInterval: interval, receiveInterval: interval, detectMultiplier },
    ]);
  });
});
