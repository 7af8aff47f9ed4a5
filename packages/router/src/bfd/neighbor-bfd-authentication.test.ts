import type { BfdKey } from '@bgp-lb/protocol';
import type { BfdSessionOptions } from '@bgp-lb/protocol/node';
import { beforeEach, describe, expect, it } from 'vitest';
import type { NeighborConfig } from '../config/router-config.ts';
import { routerSchema } from '../config/schema.ts';
import { NeighborBfd } from './neighbor-bfd.ts';

const [masters] = routerSchema.parse({
  asn: 64512,
  vips: [{ address: '10.100.0.1' }],
  neighbors: [{ name: 'masters', role: 'master', range: '10.0.0.0/24', asn: 64512 }],
}).neighbors as readonly [NeighborConfig];

let log: string[];
let sessions: BfdSessionOptions[];
let passwords: Map<string, string>;
let agreed: Map<string, BfdKey>;
let bfd: NeighborBfd;

/** What was done since the last call. */
function taken(): string[] {
  return log.splice(0);
}

beforeEach(() => {
  log = [];
  sessions = [];
  passwords = new Map();
  agreed = new Map();
  const ignore = (): undefined => undefined;
  bfd = new NeighborBfd({
    neighbors: [masters],
    passwordOf: (name) => passwords.get(name),
    agreedKey: (address) => agreed.get(address),
    start: () => ({
      scheduling: undefined,
      add: (session) => sessions.push(session),
      remove: (id) => log.push(`remove ${id}`),
      authenticate: (id, key) =>
        log.push(`authenticate ${id} ${key === undefined ? 'no more' : 'by the agreed key'}`),
      change: ignore,
      setAdminDown: ignore,
      status: () => Promise.reject(new Error('not asked')),
      stop: () => Promise.resolve(),
    }),
    isEstablished: () => true,
    dead: ignore,
    required: ignore,
    changed: ignore,
    scheduled: ignore,
    problem: ignore,
    lateness: () => 0,
    missedWithin: ignore,
    afterReading: ignore,
    now: () => 1000,
  });
});

describe('authentication of BFD with a neighbor', () => {
  const key = { id: 0, secret: new Uint8Array(20) };

  it('is negotiated with neighbors that have a password, and follows the sessions of BGP', () => {
    passwords.set('masters', 'secret');
    agreed.set('10.0.0.11', key);
    bfd.sessionEstablished('10.0.0.11', masters, '10.0.0.10');
    expect(sessions.at(-1)?.authentication).toEqual({ mode: 'negotiated' });
    expect(taken()).toEqual(['authenticate 10.0.0.11 by the agreed key']);
    bfd.sessionLost('10.0.0.11');
    bfd.sessionLost('10.0.0.11');
    expect(taken()).toEqual(['authenticate 10.0.0.11 no more']);
    agreed.clear();
    bfd.sessionEstablished('10.0.0.11', masters, '10.0.0.10');
    expect(taken()).toEqual([]);
  });

  it('ends where the next session of BGP has not agreed on it, whatever came between', () => {
    passwords.set('masters', 'secret');
    agreed.set('10.0.0.11', key);
    bfd.sessionEstablished('10.0.0.11', masters, '10.0.0.10');
    agreed.clear();
    bfd.sessionEstablished('10.0.0.11', masters, '10.0.0.10');
    expect(taken()).toEqual(['authenticate 10.0.0.11 by the agreed key', 'authenticate 10.0.0.11 no more']);
  });

  it('is the password itself, or none, where the configuration says so; with another password the session is replaced', () => {
    passwords.set('masters', 'secret');
    const set = (authentication: 'meticulous-keyed-sha1' | 'none'): NeighborConfig => {
      if (masters.bfd === false) throw new Error('no BFD');
      return { ...masters, bfd: { ...masters.bfd, authentication, keyId: 3 } };
    };
    bfd.sessionEstablished('10.0.0.11', set('meticulous-keyed-sha1'), '10.0.0.10');
    bfd.sessionEstablished('10.0.0.12', set('none'), '10.0.0.10');
    expect(sessions.map(({ authentication }) => authentication)).toEqual([
      { mode: 'required', key: { id: 3, secret: Buffer.from('secret') } },
      undefined,
    ]);
    bfd.configure({ neighbors: [masters] });
    expect(taken()).toEqual([]);
    passwords.set('masters', 'another');
    bfd.configure({ neighbors: [masters] });
    expect(taken()).toEqual(['remove 10.0.0.11']);
    expect(sessions.at(-1)).toMatchObject({
      id: '10.0.0.11',
      authentication: { key: { secret: Buffer.from('another') } },
    });
  });
});
