import { describe, expect, it } from 'vitest';
import { forwardingFault, unfitness } from './host-fitness.ts';
import { vrrpSettings } from './testing/vrrp-config.ts';
import { instanceFindings, ownerFinding } from './vrrp-footprint.ts';

describe('what doctor finds of VRRP', () => {
  it.each([
    [[], true, 'good', 'this host answers for it'],
    [['02:00:00:00:00:01'], false, 'good', '02:00:00:00:00:01 answers for it'],
    [[], false, 'fault', 'no host answers for it'],
    [['02:00:00:00:00:01'], true, 'fault', '2 hosts answer for it: this host, 02:00:00:00:00:01'],
    [['02:00:00:00:00:01', '02:00:00:00:00:02'], false, 'fault', '2 hosts answer'],
  ] as const)('owners %j and this host %j: %s', (others, isHere, level, words) => {
    const finding = ownerFinding('10.0.0.100', others, isHere);
    expect(finding).toMatchObject({ level, place: '10.0.0.100' });
    expect(finding.value).toContain(words);
  });

  it('is each virtual router of the link, and a fault where one that is no peer has our VRID', () => {
    const settings = vrrpSettings();
    const of = (source: string, vrid: number) =>
      ({ source, vrid, version: 3, priority: 9, agoMs: 1 }) as const;
    const beacon = settings.peerBeacons.get('10.0.0.3') ?? 0;
    const heard = [
      of('10.0.0.2', settings.vrid),
      of('10.0.0.3', settings.vrid),
      of('10.0.0.3', beacon),
      of('10.0.0.9', 7),
      of('10.0.0.9', settings.vrid),
    ];
    expect(
      instanceFindings(settings, heard).map(({ level, value }) => [level, value.split(': ')[1]]),
    ).toEqual([
      ['good', 'a peer, which has the VIPs'],
      ['good', 'a peer that says that it can serve'],
      ['good', 'of others'],
      ['fault', 'no peer, and it has our VRID'],
    ]);
  });
});

describe('a host', () => {
  const eth1 = { name: 'eth1', isUp: true, hasCarrier: true };
  const facts = { links: [eth1], trackInterfaces: ['eth1'], dataPlane: undefined, isDrained: false };

  it.each([
    [{}, undefined],
    [{ links: [] }, 'there is no interface eth1'],
    [{ links: [{ ...eth1, isUp: false }] }, 'eth1 is down'],
    [{ links: [{ ...eth1, hasCarrier: false }] }, 'no carrier on eth1'],
    [{ dataPlane: 'HAProxy is gone' }, 'HAProxy is gone'],
    [{ isDrained: true }, 'it is drained'],
  ])('with %j is unfit: %s', (over, expected) => {
    expect(unfitness({ ...facts, ...over })).toBe(expected);
  });

  it('forwards nothing when the setting of a family that has a VIP is off', () => {
    const off = (name: string): string => (name.includes('ipv6') ? '0' : '1');
    expect(forwardingFault(['10.0.0.100'], off)).toBeUndefined();
    expect(forwardingFault(['10.0.0.100', 'fd00::1'], off)).toContain('net.ipv6.conf.all.forwarding is 0');
    const unreadable = (): string => {
      throw new Error('ENOENT');
    };
    expect(forwardingFault(['10.0.0.100'], unreadable)).toBeUndefined();
  });
});
