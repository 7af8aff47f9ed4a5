import { beforeEach, describe, expect, it } from 'vitest';
import type { RouterConfig } from '../config/router-config.ts';
import { routerSchema } from '../config/schema.ts';
import { bgp, up } from '../pool/testing/pool-bench.ts';
import { planVips, setVips, type VipChanges, type VipParts } from './vip-changes.ts';

const [one, two, three] = [{ address: '10.100.0.1' }, { address: '10.100.0.2' }, { address: '10.100.0.3' }];

function config(...vips: readonly object[]): RouterConfig {
  const neighbors = [{ name: 'masters', role: 'master', range: '10.0.0.0/24', asn: 64512 }];
  return routerSchema.parse({ asn: 64512, vips, neighbors });
}

const plan = (before: readonly object[], after: readonly object[]): VipChanges =>
  planVips(config(...before).vips, config(...after).vips);

describe('a reload of the VIPs', () => {
  let log: string[];
  let parts: VipParts;
  beforeEach(() => {
    log = [];
    const note = (...words: readonly unknown[]): void => {
      log.push(
        words.map((word) => (typeof word === 'object' ? JSON.stringify(word) : String(word))).join(' '),
      );
    };
    parts = {
      advertiser: {
        setAdvertised: (vips) => {
          for (const [vip, { members }] of vips) note('advertise', vip, members);
        },
      },
      pools: {
        configure: ({ vips }) =>
          note(
            'pools',
            vips.map(({ address }) => address),
          ),
      },
      controller: {
        adopt: (vip, members) => note('adopt', vip, members),
        begin: (vip, standing) => note('begin', vip, standing),
        end: (vip) => note('end', vip),
        reconsider: () => note('reconsider'),
      },
      rebalancer: { forget: (vip) => note('no rebalance', vip) },
      dataPlane: {
        setVips: (vips) => {
          note(
            'kernel',
            vips.map(({ address, port }) => `${address}:${port}`),
          );
          return new Map([['10.100.0.2/32', [{ nextHop: '10.0.0.11', weight: 256 }]]]);
        },
      },
      onLink: { setAddresses: (addresses) => note('on link', addresses) },
      forwardingTimes: { setVips: (vips) => note('times', vips) },
      health: { restart: (vip) => note('probe anew', vip) },
      membership: {
        standing: () => [{ type: 'session', source: bgp, nextHop: '10.0.0.11', name: 'm1', session: up }],
        configure: () => note('membership'),
      },
      bgp: {
        setVips: (addresses) => {
          note('import', addresses);
          return ['10.0.0.13'];
        },
      },
    };
  });

  it('finds what differs by address, whatever the order', () => {
    expect(plan([one, two], [two, one])).toEqual({ added: [], removed: [], changed: [] });
    expect(plan([one, two], [{ ...two, machinePort: 7443 }, three])).toEqual({
      added: ['10.100.0.3'],
      removed: ['10.100.0.1'],
      changed: ['10.100.0.2'],
    });
  });

  it('withdraws one that goes before anything else of it goes, and the kernel has it last', () => {
    expect(setVips(config(one), plan([one, two], [one]), parts)).toEqual(['10.0.0.13']);
    expect(log).toEqual([
      'advertise 10.100.0.2/32 0',
      'pools ["10.100.0.1"]',
      'end 10.100.0.2/32',
      'no rebalance 10.100.0.2/32',
      'times ["10.100.0.1/32"]',
      'kernel ["10.100.0.1:6443"]',
      'on link ["10.100.0.1"]',
      'import ["10.100.0.1"]',
    ]);
  });

  it('has the kernel refuse a new one before masters are asked for it, and its pool knows who is there', () => {
    setVips(config(one, two), plan([one], [one, two]), parts);
    expect(log).toEqual([
      'pools ["10.100.0.1","10.100.0.2"]',
      'times ["10.100.0.1/32","10.100.0.2/32"]',
      'kernel ["10.100.0.1:6443","10.100.0.2:6443"]',
      'adopt 10.100.0.2/32 [{"nextHop":"10.0.0.11","weight":256}]',
      'begin 10.100.0.2/32 [{"type":"session","source":{"kind":"bgp","name":""},"nextHop":"10.0.0.11","name":"m1","session":{"isLive":true,"state":"Established"}}]',
      'on link ["10.100.0.1","10.100.0.2"]',
      'import ["10.100.0.1","10.100.0.2"]',
    ]);
  });

  it('changes a port by the firewall and the probes of that VIP', () => {
    const changed = { ...two, port: 7443 };
    setVips(config(one, changed), plan([one, two], [one, changed]), parts);
    expect(log).toContain('kernel ["10.100.0.1:6443","10.100.0.2:7443"]');
    expect(log.filter((line) => /advertise|adopt|begin|end|probe|reconsider/.test(line))).toEqual([
      'probe anew 10.100.0.2/32',
      'reconsider',
    ]);
  });
});
