import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { machineLoadBalancerStatus } from '../api/machine-load-balancer.ts';
import { providerStatus } from '../api/providers.ts';
import { at, instance, loadBalancer, machine, NOON, object, snapshot } from '../testing/objects.ts';
import { reconcile } from './reconcile.ts';
import type { Outcome } from './snapshot.ts';

const text = (most: number): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constantFrom('', 'x', 'x'.repeat(most), 'x'.repeat(most + 1), '\u{1f600}'.repeat(most)),
    fc.string({ maxLength: 8, unit: 'binary' }),
  );
const zone = fc.option(text(256), { nil: undefined });
const someMachine = fc
  .record({
    number: fc.integer({ min: 1, max: 5 }),
    status: zone,
    spec: zone,
    address: fc.constantFrom('10.0.0.11', 'fd00::1', `fe80::1%${'e'.repeat(60)}`, 'm1.example.net', ''),
    isLeaving: fc.boolean(),
    key: fc.constantFrom('example.net/note', 'bgp-lb.dev/drain'),
  })
  .map(({ number, status, spec, address, isLeaving, key }) => ({
    ...machine(
      number,
      { failureDomain: status, addresses: [{ type: 'InternalIP', address }] },
      { annotations: { [key]: '' }, ...(isLeaving ? { deletionTimestamp: at(-1) } : {}) },
    ),
    spec: { failureDomain: spec },
  }));
const someProvider = fc
  .record({
    reason: text(1_024),
    observedBy: fc.option(text(1_024), { nil: undefined }),
    message: text(32_768),
  })
  .map(({ reason, observedBy, message }) =>
    object('F5LoadBalancer', 'prod', {
      status: {
        address: { host: '192.0.2.9' },
        initialization: { provisioned: true },
        members: [1, 2, 3].map((number) => ({ name: `m${number}`, healthy: number > 1, reason, observedBy })),
        conditions: [
          {
            type: 'Ready',
            status: 'True',
            reason: 'Up',
            message,
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
      },
    }),
  );
const member = { name: 'm1', draining: true, reason: 'x' };
const someStatus = fc.constantFrom(
  undefined,
  { members: [member] },
  { members: [{ ...member, drainingSince: at(7_200) }] },
  { members: [{ ...member, drainingSince: 'yesterday' }] },
);
const isHosted = fc.boolean();

const cases = fc
  .record({
    isHosted,
    candidates: fc.uniqueArray(someMachine, { selector: ({ metadata }) => metadata.name, maxLength: 5 }),
    provider: someProvider,
    status: someStatus,
    said: text(1_024),
  })
  .map((parts) => {
    const providerRef = { apiGroup: 'f5.example.net', kind: 'F5LoadBalancer', name: 'prod' };
    return snapshot({
      candidates: parts.candidates,
      loadBalancer: loadBalancer(parts.isHosted ? {} : { vip: undefined, providerRef }, parts.status),
      ...(parts.isHosted ? {} : { provider: parts.provider }),
      instances: ['lb-1', 'lb-2'].map((name) => instance(name, { 1: parts.said, 2: parts.said, 3: true })),
    });
  });

const statusIn = ({ applies }: Outcome, what: string): unknown =>
  applies.find((apply) => apply.what === what)?.fields['status'];

describe('what is written', () => {
  it('keeps the schema of its kind, whatever Machines, LB hosts and providers say', () => {
    fc.assert(
      fc.property(cases, (parts) => {
        const outcome = reconcile(parts);
        const status = machineLoadBalancerStatus.safeParse(statusIn(outcome, 'status'));
        expect(status.error?.issues).toBeUndefined();
        const provider = providerStatus.safeParse(statusIn(outcome, 'provider-status') ?? {});
        expect(provider.error?.issues).toBeUndefined();
        for (const { drainingSince } of status.data?.members ?? [])
          expect(Date.parse(drainingSince ?? at(0))).toBeLessThanOrEqual(NOON);
        expect(JSON.stringify(outcome.applies)).not.toMatch(/\\ud[89a-f]/);
      }),
      { numRuns: 300 },
    );
  });
});
