import { describe, expect, it } from 'vitest';
import { generate } from '../docs/sections.ts';
import { figures } from '../figures.ts';
import { lbReport } from '../testing/small-lb-report.ts';

describe('the report of the load balancer', () => {
  const { sections, plots } = generate({ lb: lbReport }, 'plots');

  it('has what is of FRR, and what had no effect', () => {
    expect(sections['lb-latency']).toMatch(/LOCAL_PREF 0 \| bgp-lb \| +2\.00 \| .* 0\.03 \|/);
    expect(sections['lb-latency']).toContain('FRR 1');
    expect(sections['lb-starts']).toMatch(/bgp-lb \| +450 \| .* 2\.25 \|/);
  });

  it('has ours before FRR, and why a connection of ours broke', () => {
    const text = sections['lb-survivors'] ?? '';
    expect(text.indexOf('bgp-lb')).toBeLessThan(text.indexOf('FRR'));
    expect(text).toContain('bgp-lb, 3 masters, leave of m1: {"reset":1}');
    expect(text).not.toContain('{"reset":40}');
  });

  it('has its plots in the page', () => {
    expect(Object.keys(plots)).toEqual([
      'lb-update.svg',
      'lb-withdrawal.svg',
      'lb-cease.svg',
      'lb-survivors.svg',
      'lb-starts.svg',
    ]);
    for (const file of Object.keys(plots)) expect(sections['plots-lb']).toContain(`(plots/${file})`);
  });

  it('is held to pools of all sizes: one that was not measured leaves the promise open', () => {
    const survivors = lbReport.survivors.filter(({ masters }) => masters !== 16);
    const [figure] = figures({ lb: { ...lbReport, survivors } }).filter(({ what }) =>
      what.startsWith('survivors'),
    );
    expect(figure).toMatchObject({ measured: undefined, met: false });
  });

  it.each([
    ['UPDATE to kernel, p50', 2, false],
    ['UPDATE to kernel, p99', 9, false],
    ['withdrawal to next hop gone, p50', 2, true],
    ['Cease to next hop gone, p50', 4, false],
    ['survivors of a leave, any victim', 1, false],
    ['connections after a return, any victim', 0, true],
    ['16 VIPs x 16 members, all changed, p99', 60, false],
    ['packets through restarts of the router', 0, true],
    ['router started, p50', 450, true],
    ['speaker started, one router, p50', undefined, false],
  ])('is held to: %s', (what, measured, met) => {
    expect(figures({ lb: lbReport }).find((one) => one.what === what)).toMatchObject({ measured, met });
  });
});
