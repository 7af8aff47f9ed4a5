import { asn, parseIpAddress, pathAttributes, SegmentType } from '@bgp-lb/protocol';
import { describe, expect, it } from 'vitest';
import { type ExportPolicy, withExportPolicy } from './export-policy.ts';
import { originatedAttributes } from './upstream-routes.ts';

const local = asn(64512);
const nextHop = parseIpAddress('10.0.0.10');
const external = originatedAttributes(local, { address: nextHop });
const none: ExportPolicy = { prepend: 0, communities: [] };
const large = (localData2: number) => ({ globalAdministrator: 64512, localData1: 7, localData2 });
const sequence = (...asns: number[]) => [{ type: SegmentType.AsSequence, asns: asns.map(asn) }];

describe('what an upstream hears', () => {
  it('is the bare route without a policy', () => {
    expect(withExportPolicy(external, none, local, 3)).toEqual(external);
  });

  it('is MED, AS path and communities as configured, in another AS', () => {
    const policy = { ...none, med: 0, prepend: 2, communities: [64512 * 65536 + 9, 5, large(2), large(1)] };
    expect(withExportPolicy(external, policy, local, 3)).toEqual(
      pathAttributes({
        origin: 0,
        asPath: sequence(64512, 64512, 64512),
        nextHop,
        multiExitDisc: 0,
        communities: [64512 * 65536 + 9, 5],
        largeCommunities: [large(1), large(2)],
      }),
    );
  });

  it('keeps the communities of a member beside those of the policy, each once', () => {
    const member = { ...external, communities: [7, 5], largeCommunities: [large(3)] };
    const made = withExportPolicy(member, { ...none, communities: [5, large(1)] }, local, 3);
    expect(made.communities).toEqual([5, 7]);
    expect(made.largeCommunities).toEqual([large(1), large(3)]);
  });

  it.each([
    [3, sequence(64512), undefined],
    [2, sequence(64512, 64512, 64512), 50],
  ])('is less attractive while the pool has fewer members than it should (%i)', (members, asPath, med) => {
    const policy = { ...none, degraded: { below: 3, prepend: 2, med: 50 } };
    const made = withExportPolicy(external, policy, local, members);
    expect([made.asPath, made.multiExitDisc]).toEqual([asPath, med]);
  });

  it('does not put more than 255 into a segment', () => {
    const full = { ...external, asPath: sequence(...Array.from({ length: 250 }, () => 64512)) };
    const made = withExportPolicy(full, { ...none, prepend: 16 }, local, 3);
    expect(made.asPath?.map(({ asns }) => asns.length)).toEqual([16, 250]);
  });
});
