/** Members that speakers announce and a list names, with HAProxy: one source goes, the other goes on. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Lab } from '../../scripts/lab/lab.ts';
import { others } from '../kit/cluster.ts';
import { failuresOf, servedBy, startHaproxyCluster } from '../kit/haproxy-lab.ts';

const TIMEOUT = 120_000;

describe('members of BGP and of a list together', { timeout: TIMEOUT }, () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startHaproxyCluster();
  }, TIMEOUT);
  afterAll(() => lab?.destroy());

  async function take(members: { readonly bgp: boolean; readonly isListed: boolean }): Promise<void> {
    const list = members.isListed ? lab.masters.map(({ name, address }) => ({ name, address })) : [];
    const sources = { bgp: members.bgp, static: list };
    lab.lb.writeConfig({
      vips: [{ address: '10.100.0.1', port: 443, machinePort: 6443, members: sources }],
    });
    expect(await lab.lb.router.query(['reload'])).toMatchObject({ code: 0, stderr: '' });
  }

  /** What each source says of the members, one line for all that are the same. */
  async function said(): Promise<string[]> {
    const { vips } = (await lab.lb.router.status()) as unknown as {
      vips: { members: { sources: { kind: string; says: string }[] }[] }[];
    };
    const lines = vips.flatMap(({ members }) =>
      members.map(({ sources }) =>
        sources
          .map(({ kind, says }) => `${kind}: ${says}`)
          .sort()
          .join(', '),
      ),
    );
    return [...new Set(lines)];
  }

  it('are served on without a gap when the list comes, when BGP goes, comes back, and the list goes', async () => {
    await lab.client.open(60, { exchangeEvery: 200 });
    await lab.client.startLoop({ every: 20 });
    await expect.poll(said).toEqual(['bgp: announced']);
    await take({ bgp: true, isListed: true });
    await expect.poll(said).toEqual(['bgp: announced, static: listed']);
    await servedBy(lab, lab.masters);
    await take({ bgp: false, isListed: true });
    await expect.poll(said).toEqual(['bgp: session up, not announced, static: listed']);
    const { stdout } = await lab.lb.router.query(['status']);
    expect(stdout).toContain('judged by health alone');
    await servedBy(lab, lab.masters);
    await take({ bgp: true, isListed: true });
    await expect.poll(said, { timeout: 20_000 }).toEqual(['bgp: announced, static: listed']);
    await take({ bgp: true, isListed: false });
    await expect.poll(said).toEqual(['bgp: announced']);
    await servedBy(lab, lab.masters);
    expect(await failuresOf(lab.client.stopLoop())).toEqual({ failed: 0, reasons: {} });
    expect(await lab.client.check()).toMatchObject({ alive: 60, broken: 0 });
  });

  it('go by what the speaker says while its session is up: a member that withdraws is out, though it is listed', async () => {
    await take({ bgp: true, isListed: true });
    const member = lab.master(2);
    expect(await member.speaker.query(['drain', '--force'], 60_000)).toMatchObject({ code: 0 });
    await servedBy(lab, others(lab, member), 20_000);
    const { stdout } = await lab.lb.router.query(['explain']);
    expect(stdout).toMatch(/sources of .*static: listed/);
    expect((await member.speaker.query(['undrain'])).code).toBe(0);
    await servedBy(lab, lab.masters, 20_000);
  });
});
