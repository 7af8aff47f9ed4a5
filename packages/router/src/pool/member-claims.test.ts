import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MemberClaims } from './member-claims.ts';
import type { SourceId } from './member-source.ts';
import { down, up } from './testing/pool-bench.ts';

const sources: readonly SourceId[] = ['bgp', 'static', 'configMap'].map((kind) => ({ kind, name: '' }));
const path = {
  intent: 'active',
  why: '',
  isListed: false,
  isStale: false,
  staleReason: '',
  identities: [],
} as const;
const listed = { name: 'm1', address: '10.0.0.11', draining: false };

/** Everything that one source may say of a member, by its own. */
const say = fc.constantFrom<((claims: MemberClaims, source: SourceId) => void)[]>(
  (claims, source) => claims.setSession(source, 'm1', up),
  (claims, source) => claims.setSession(source, 'm1', down),
  (claims, source) => claims.announce(source, 'm1', path),
  (claims, source) => claims.announce(source, 'm1', { ...path, intent: 'draining', why: 'drained' }),
  (claims, source) => claims.makeStale(source, 'closed'),
  (claims, source) => claims.withdraw(source),
  (claims, source) => claims.complete(source),
  (claims, source) => claims.list(source, listed),
  (claims, source) => claims.list(source, { ...listed, draining: true }),
  (claims, source) => claims.list(source, undefined),
);

it('changes nothing that another source says, whatever one says or takes back', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...sources), say), { maxLength: 60 }), (history) => {
      const claims = new MemberClaims(() => true);
      for (const [source, apply] of history) {
        const others = () => claims.views().filter(({ kind }) => kind !== source.kind);
        const before = others();
        apply(claims, source);
        expect(others()).toEqual(before);
      }
      const said = claims.views().map(({ says }) => says);
      const isAnnounced = said.some((one) => one.startsWith('announced') || one.startsWith('stale'));
      const isListed = said.some((one) => one.startsWith('listed'));
      expect(isAnnounced && claims.path === undefined).toBe(false);
      expect(claims.path !== undefined && !isAnnounced && !isListed && !claims.isListed).toBe(false);
    }),
  );
});
