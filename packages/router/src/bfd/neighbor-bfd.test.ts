import type { BfdSessionOptions, BfdStateChange, BfdThreadHandlers } from '@bgp-lb/protocol/node';
import { beforeEach, describe, expect, it } from 'vitest';
import type { NeighborConfig } from '../config/router-config.ts';
import { routerSchema } from '../config/schema.ts';
import { NeighborBfd } from './neighbor-bfd.ts';

const neighbors = routerSchema.parse({
  asn: 64512,
  vips: [{ address: '10.100.0.1' }],
  neighbors: [
    { name: 'masters', role: 'master', range: '10.0.0.0/24', asn: 64512 },
    { name: 'silent', role: 'master', range: '10.1.0.0/24', asn: 64512, bfd: false },
    { name: 'far', role: 'master', address: '10.2.0.11', asn: 64512, ttlSecurityHops: 2 },
    { name: 'tor', role: 'upstream', address: '10.3.0.1', asn: 65001, bfd: { strict: true } },
    { name: 'plain', role: 'upstream', address: '10.4.0.1', asn: 65001 },
  ],
}).neighbors;
const [masters, silent, far, tor] = neighbors as readonly [
  NeighborConfig,
  NeighborConfig,
  NeighborConfig,
  NeighborConfig,
];
const timing = { transmitInterval: 300, receiveInterval: 300, detectMultiplier: 3 };
const failure = {
  from: 'Up',
  to: 'Down',
  reason: 'detection-expired',
  isFailure: true,
  diagnostic: 1,
  remoteDiagnostic: 0,
  at: 5000,
  lastReceivedAt: 4100,
  detectionTime: 900,
  timerDelay: 1,
  areOthersSilent: false,
} as const;

let log: string[];
let sessions: BfdSessionOptions[];
let established: Set<string>;
let waiting: (() => void)[];
let lateness: number;
let shortest: number | undefined;
let now: number;
let thread: BfdThreadHandlers;
let bfd: NeighborBfd;

function change(id: string, changed: Partial<BfdStateChange> = {}): void {
  thread.changed({ id, ...failure, ...changed });
}

const up = { from: 'Init', to: 'Up', reason: 'peer-agrees', isFailure: false } as const;

/** All that waited in the sockets was read. */
function read(): void {
  for (const run of waiting.splice(0)) {
    run();
  }
}

beforeEach(() => {
  log = [];
  sessions = [];
  established = new Set(['10.0.0.11', '10.0.0.12', '10.3.0.1']);
  waiting = [];
  lateness = 0;
  shortest = undefined;
  now = 1000;
  bfd = new NeighborBfd({
    neighbors,
    passwordOf: () => undefined,
    agreedKey: () => undefined,
    start: (handlers) => {
      thread = handlers;
      return {
        scheduling: undefined,
        add: (session) => sessions.push(session),
        remove: (id) => log.push(`remove ${id}`),
        authenticate: () => undefined,
        change: (id, timing) => log.push(`change ${id} ${Object.values(timing).join('/')}`),
        setAdminDown: () => undefined,
        status: () => Promise.reject(new Error('dead')),
        stop: async () => {
          log.push('stop');
        },
      };
    },
    isEstablished: (address) => established.has(address),
    dead: ({ addresses, doubtful, window }) => {
      const doubt = doubtful.size === 0 ? '' : `, doubtful ${[...doubtful].join(' ')}`;
      log.push(`dead ${addresses.join(' ')} within ${window}${doubt}`);
    },
    lateness: () => lateness,
    missedWithin: (detectionTime) => {
      shortest = detectionTime;
    },
    required: (address, _, isUp) => log.push(`required ${address} ${isUp ? 'up' : 'down'}`),
    changed: ({ id, to }, { name }, failure) => {
      log.push(`${name} ${id} ${to} ${failure?.died ?? ''}`.trim());
    },
    scheduled: () => undefined,
    problem: (text) => log.push(text),
    afterReading: (run) => waiting.push(run),
    now: () => now,
  });
});

describe('sessions of BFD', () => {
  it('begin at once with configured addresses that have BFD, on the right port', () => {
    bfd.start();
    expect(sessions).toEqual([
      { id: '10.2.0.11', remoteAddress: '10.2.0.11', multihop: true, ...timing },
      { id: '10.3.0.1', remoteAddress: '10.3.0.1', multihop: false, ...timing },
    ]);
    bfd.sessionEstablished('10.2.0.11', far, '10.2.0.10');
    expect(sessions).toHaveLength(2);
  });

  it('begin with those of a range when BGP does, from the address of its connection, and end with them', () => {
    bfd.sessionEstablished('10.0.0.11', masters, '10.0.0.10');
    bfd.sessionEstablished('10.1.0.11', silent, '10.1.0.10');
    const session = { id: '10.0.0.11', remoteAddress: '10.0.0.11', localAddress: '10.0.0.10' };
    expect(sessions).toEqual([{ ...session, multihop: false, ...timing }]);
    expect(bfd.stateOf('10.0.0.11')).toEqual({ state: 'Down', since: 1000 });
    expect(bfd.stateOf('10.1.0.11')).toBeUndefined();
    change('10.0.0.11', up);
    bfd.forget('10.0.0.11');
    bfd.forget('10.1.0.11');
    change('10.0.0.11', { to: 'AdminDown', isFailure: false });
    expect(log).toEqual(['masters 10.0.0.11 Up', 'remove 10.0.0.11']);
    expect(bfd.stateOf('10.0.0.11')).toEqual({ state: 'Up', since: 5000 });
  });

  it('are slow with a neighbor whose address is one of an overlay, and say within which time they are missed', () => {
    bfd.sessionEstablished('100.64.0.11', masters, '100.64.0.10');
    const slow = { transmitInterval: 1000, receiveInterval: 1000, detectMultiplier: 5 };
    expect(sessions).toMatchObject([{ id: '100.64.0.11', ...slow }]);
    expect(shortest).toBe(5000);
  });

  it('are remembered when they have ended, of a bounded number of neighbors, and as long as they stand', () => {
    bfd.sessionEstablished('10.0.0.1', masters, undefined);
    for (let n = 0; n < 3000; n++) {
      const address = `10.0.${n >> 8}.${n & 255}`;
      if (address === '10.0.0.1') continue;
      bfd.sessionEstablished(address, masters, undefined);
      bfd.forget(address);
    }
    const known = Array.from({ length: 3000 }, (_, n) => bfd.stateOf(`10.0.${n >> 8}.${n & 255}`));
    expect(known.filter((state) => state !== undefined)).toHaveLength(1024);
    expect(known[1]).toBeDefined();
    expect(known[2999]).toBeDefined();
  });

  it('have no status while the thread is dead, and have failed nobody by that', async () => {
    bfd.sessionEstablished('10.0.0.11', masters, undefined);
    change('10.0.0.11', up);
    thread.failed(new Error('out of memory'));
    read();
    expect(log).toEqual(['masters 10.0.0.11 Up', 'BFD is not running, and is started again: out of memory']);
    expect(bfd.stateOf('10.0.0.11')?.state).toBe('Down');
    expect(await bfd.status()).toBeUndefined();
  });
});

describe('a failure of BFD', () => {
  beforeEach(() => {
    bfd.sessionEstablished('10.0.0.11', masters, undefined);
    bfd.sessionEstablished('10.0.0.12', masters, undefined);
  });

  it('is believed when nothing else waited in the sockets', () => {
    change('10.0.0.11');
    expect(log).toEqual([]);
    read();
    expect(log).toEqual(['dead 10.0.0.11 within 901', 'masters 10.0.0.11 Down host']);
  });

  it('is not believed when the end of TCP had waited in the socket', () => {
    change('10.0.0.11');
    established.delete('10.0.0.11');
    read();
    expect(log).toEqual(['masters 10.0.0.11 Down process']);
  });

  it.each([
    { ...up, from: 'Down' },
    { ...up, to: 'Init', reason: 'peer-heard' },
  ] as const)('is not believed when the neighbor is heard again before we act: $to', (again) => {
    change('10.0.0.11');
    change('10.0.0.12');
    change('10.0.0.11', { ...again, at: 5100 });
    read();
    expect(log).toContain('dead 10.0.0.12 within 901');
    expect(log).toContain('masters 10.0.0.11 Down nothing');
  });

  it('is believed when the neighbor was heard before, and not since', () => {
    change('10.0.0.11', { ...up, at: 4000 });
    change('10.0.0.11');
    read();
    expect(log).toContain('masters 10.0.0.11 Down host');
  });

  it('is judged together with those of the same turn', () => {
    change('10.0.0.11');
    change('10.0.0.12', { timerDelay: 400 });
    expect(waiting).toHaveLength(1);
    read();
    expect(log[0]).toBe('dead 10.0.0.11 10.0.0.12 within 1300, doubtful 10.0.0.12');
    change('10.0.0.11');
    read();
    expect(log.at(-1)).toBe('masters 10.0.0.11 Down host');
  });
});

describe('our own lateness', () => {
  const peerDown = { reason: 'peer-down', remoteDiagnostic: 1 } as const;

  beforeEach(() => {
    bfd.sessionEstablished('10.0.0.11', masters, undefined);
    bfd.sessionEstablished('10.0.0.12', masters, undefined);
  });

  it.each([
    [449, 'dead 10.0.0.11 within 901'],
    [450, 'dead 10.0.0.11 within 901, doubtful 10.0.0.11'],
  ])('of %i ms casts doubt on what a neighbor says of us', (ms, line) => {
    lateness = ms;
    change('10.0.0.11', peerDown);
    read();
    expect(log[0]).toBe(line);
  });

  it('is not needed for doubt when nobody else is heard either', () => {
    change('10.0.0.11', { areOthersSilent: true });
    read();
    expect(log[0]).toBe('dead 10.0.0.11 within 901, doubtful 10.0.0.11');
  });

  it('makes what the neighbor says of us for a second as doubtful as its own failure', () => {
    change('10.0.0.11', { areOthersSilent: true });
    change('10.0.0.12');
    // Before anything is judged, and when its session is gone: what the neighbor says may be read first.
    bfd.forget('10.0.0.11');
    now = failure.at + 1000;
    expect(bfd.isDoubted('10.0.0.11')).toBe(true);
    expect(bfd.isDoubted('10.0.0.12')).toBe(false);
    now = failure.at + 1001;
    expect(bfd.isDoubted('10.0.0.11')).toBe(false);
  });

  it('of the main thread says nothing of a silence, which another thread heard', () => {
    lateness = 5000;
    change('10.0.0.11');
    read();
    expect(log[0]).toBe('dead 10.0.0.11 within 901');
  });

  it.each([
    [900, 'dead 10.0.0.12 within 901, doubtful 10.0.0.12'],
    [901, 'dead 10.0.0.12 within 901'],
  ])('of the BFD thread casts doubt on a silence %i ms later', (ms, line) => {
    change('10.0.0.11', { timerDelay: 225 });
    read();
    change('10.0.0.12', { at: failure.at + ms });
    read();
    expect(log.filter((text) => text.startsWith('dead'))).toEqual([
      'dead 10.0.0.11 within 1125, doubtful 10.0.0.11',
      line,
    ]);
  });
});

describe('a neighbor that must have BFD', () => {
  it('is not waited for when it is Up again before its failure is judged', () => {
    bfd.start();
    change('10.3.0.1', up);
    established.delete('10.3.0.1');
    change('10.3.0.1', { reason: 'peer-down' });
    change('10.3.0.1', { ...up, from: 'Down', at: 5001 });
    read();
    expect(log.filter((line) => line.startsWith('required')).at(-1)).toBe('required 10.3.0.1 up');
  });

  it('is waited for until BFD is Up, and again after a failure, but not after AdminDown', () => {
    bfd.start();
    change('10.3.0.1', up);
    change('10.3.0.1', { reason: 'peer-admin-down', isFailure: false });
    change('10.3.0.1', up);
    change('10.3.0.1');
    read();
    bfd.sessionEstablished('10.3.0.1', tor, '10.3.0.10');
    expect(tor.name).toBe('tor');
    expect(log.filter((line) => line.startsWith('required'))).toEqual([
      'required 10.3.0.1 down',
      'required 10.3.0.1 up',
      'required 10.3.0.1 up',
      'required 10.3.0.1 down',
      'required 10.3.0.1 down',
    ]);
  });
});

describe('a reload', () => {
  it('gives sessions another timing without an end, and new ones too', () => {
    bfd.start();
    bfd.sessionEstablished('10.0.0.11', masters, undefined);
    bfd.sessionEstablished('10.1.0.11', silent, undefined);
    log = [];
    const faster = { transmitInterval: 50, receiveInterval: 60, detectMultiplier: 5 };
    const retimed = (from: NeighborConfig): NeighborConfig => ({
      ...from,
      bfd: from.bfd !== false && { ...from.bfd, ...faster },
    });
    const after = neighbors.map((each) => (each === masters || each === far ? retimed(each) : each));
    bfd.configure({ neighbors: after });
    expect(log).toEqual(['change 10.0.0.11 50/60/5', 'change 10.2.0.11 50/60/5']);
    bfd.sessionEstablished('10.0.0.12', after[0] as NeighborConfig, undefined);
    expect(sessions.at(-1)).toMatchObject({ id: '10.0.0.12', ...faster });
    // What else changes of a neighbor is none of its business.
    bfd.configure({ neighbors: after.map((each) => ({ ...each, med: 7 }) as NeighborConfig) });
    expect(log).toHaveLength(2);
  });

  it('say within which time they are missed, the shortest, for as long as they stand', () => {
    expect(shortest).toBeUndefined();
    const slow = timing.transmitInterval * timing.detectMultiplier;
    bfd.sessionEstablished('10.0.0.11', masters, undefined);
    bfd.sessionEstablished('10.1.0.11', silent, undefined);
    expect(shortest).toBe(slow);
    const faster = { transmitInterval: 50, receiveInterval: 60, detectMultiplier: 3 };
    const fast = {
      ...masters,
      bfd: masters.bfd !== false && { ...masters.bfd, ...faster },
    } as NeighborConfig;
    bfd.sessionEstablished('10.0.0.12', fast, undefined);
    expect(shortest).toBe(150);
    bfd.forget('10.0.0.12');
    expect(shortest).toBe(slow);
    bfd.configure({ neighbors: neighbors.map((each) => (each === masters ? fast : each)) });
    expect(shortest).toBe(150);
    bfd.detach();
    expect(shortest).toBeUndefined();
  });
});
