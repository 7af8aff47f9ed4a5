import { copyFileSync, existsSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import type { HostProcess } from '../../scripts/lab/host-process.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost, SpeakerStatus } from '../../scripts/lab/master-host.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';

const isAbsent = ({ vips }: SpeakerStatus): boolean => vips.every(({ state }) => state === 'absent');
const bootstrapGate = ({ gates }: SpeakerStatus): { pass: boolean; detail: string } | undefined =>
  gates.find(({ name }) => name === 'bootstrap');

function withoutVip(master: MasterHost): Promise<unknown> {
  return waitUntil(async () => !(await master.hasVip()), { what: `${master.name} without the VIP` });
}

/** Proven, unproven or void: what the speaker says once it has seen a green /readyz, so that only the proof keeps it back. */
function refusal(master: MasterHost, detail: string): Promise<SpeakerStatus> {
  return master.speaker.waitFor(
    `absent, since "${detail}"`,
    (status) =>
      isAbsent(status) &&
      status.gates.some(({ name, pass }) => name === 'readyz' && pass) &&
      bootstrapGate(status)?.pass === false &&
      bootstrapGate(status)?.detail.includes(detail) === true,
  );
}

describe('the proof of bootstrap over the lives of a machine', () => {
  let lab: Lab;
  let first: MasterHost;
  let second: MasterHost;
  let third: MasterHost;
  const state = (master: MasterHost): string => master.path('var/lib/bgp-lb/state.json');

  beforeAll(async () => {
    lab = await Lab.create({ masters: 3, controlPlane: 'stand-in' });
    first = lab.master(1);
    second = lab.master(2);
    third = lab.master(3);
    await lab.lb.router.start();
    first.placeSpeaker('init');
    expect(await first.kubeadmInit().exited).toMatchObject({ code: 0 });
    await lab.lb.waitForPool([first.address]);
    second.placeSpeaker('join');
    expect(await second.kubeadmJoin(first).exited).toMatchObject({ code: 0 });
    await inPool(first, second);
  });
  afterAll(async () => {
    await lab.destroy();
  });

  async function inPool(...masters: MasterHost[]): Promise<void> {
    await lab.lb.waitForPool(masters.map(({ address }) => address));
  }

  /** Follows a join to its end; the VIP may come only with kubeadm's success. */
  async function expectNoVipBeforeSuccess(joiner: MasterHost, kubeadm: HostProcess): Promise<void> {
    let looks = 0;
    while (kubeadm.isRunning) {
      const hasVip = await joiner.hasVip();
      // kubeadm's own end and the marker come within one look.
      if (!kubeadm.isRunning || existsSync(joiner.markerFile)) break;
      if (joiner.speaker.isRunning) looks += 1;
      expect(hasVip && kubeadm.isRunning).toBe(false);
      await sleep(20);
    }
    expect(await kubeadm.exited).toMatchObject({ code: 0 });
    expect(looks).toBeGreaterThan(5);
  }

  it('outlives a reboot: the master is back without a marker', async () => {
    await second.powerOff();
    await inPool(first);
    await second.powerOn();
    expect(existsSync(second.markerFile)).toBe(false);
    second.startKubelet();
    await inPool(first, second);
    expect(existsSync(second.markerFile)).toBe(false);
  });

  it('is void after kubeadm reset, and a new join with the same CA has to succeed first', async () => {
    // The speaker ends before ca.crt goes, so that nothing tells its successor but the file that the join writes.
    await second.apiServer?.kill();
    await second.speaker.waitFor('absent', isAbsent);
    await withoutVip(second);
    await inPool(first);
    await second.speaker.kill();
    await second.kubeadmReset();
    expect(JSON.parse(readFileSync(state(second), 'utf8'))).toHaveProperty('latch');
    second.placeSpeaker('join');
    const kubeadm = second.kubeadmJoin(first, { settleTime: 2_000 });
    await expectNoVipBeforeSuccess(second, kubeadm);
    await inPool(first, second);
  });

  it('is of one machine: a clone with another machine-id has proven nothing', async () => {
    await third.installCertificates(first);
    copyFileSync(state(second), state(third));
    // As old as in the image: the clone's ca.crt is the same file as the original's.
    const { mtime } = statSync(second.caFile);
    utimesSync(third.caFile, mtime, mtime);
    third.writeSpeakerConfig('join');
    await third.startApiServer();
    await third.startSpeaker();
    await refusal(third, 'machine-id differs');
    expect(await third.hasVip()).toBe(false);
    await inPool(first, second);
  });

  it('does not come from a marker that is older than ca.crt, as in a golden image', async () => {
    writeFileSync(third.markerFile, '');
    const longAgo = new Date(Date.now() - 86_400_000);
    utimesSync(third.markerFile, longAgo, longAgo);
    await refusal(third, 'older than ca.crt');
    expect(await third.hasVip()).toBe(false);
    // The success of kubeadm touches it.
    writeFileSync(third.markerFile, '');
    const now = new Date();
    utimesSync(third.markerFile, now, now);
    await inPool(first, second, third);
  });

  it('is void when ca.crt is of another cluster', async () => {
    await third.speaker.kill();
    await third.apiServer?.kill();
    for (const file of ['ca.crt', 'ca.key', 'apiserver.crt', 'apiserver.key']) {
      rmSync(`${third.pkiFolder}/${file}`);
    }
    await third.installCertificates();
    await third.startApiServer();
    await third.startSpeaker();
    await refusal(third, 'no key in common');
    await withoutVip(third);
    await inPool(first, second);
  });

  it('leaves a void first master off the VIP until prepare says what it is', async () => {
    await third.speaker.stop();
    third.writeSpeakerConfig('init');
    await third.startSpeaker();
    await refusal(third, 'void');
    expect(await third.hasVip()).toBe(false);
    await third.speaker.stop();
    expect(await third.speaker.command(['prepare', '--role', 'init'])).toMatchObject({ code: 0 });
    await third.startSpeaker();
    await third.speaker.waitFor('local-only', ({ vips }) => vips.every((vip) => vip.state === 'local-only'));
    await waitUntil(() => third.hasVip(), { what: 'm3 with the VIP for its kubeadm init' });
    await inPool(first, second);
  });
});

describe('prepare', () => {
  let lab: Lab;
  let first: MasterHost;
  let second: MasterHost;
  beforeAll(async () => {
    lab = await Lab.create({ masters: 2, controlPlane: 'stand-in' });
    [first, second] = [lab.master(1), lab.master(2)];
    await lab.lb.router.start();
    first.placeSpeaker('init');
    await first.kubeadmInit().exited;
    second.placeSpeaker('join');
    await second.kubeadmJoin(first).exited;
    await lab.lb.waitForPool([first.address, second.address]);
  });
  afterAll(async () => {
    await lab.destroy();
  });

  it('refuses to run beside a speaker, which would put everything back', async () => {
    const { code, stderr } = await second.speaker.command(['prepare']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('speaker') });
    expect(await second.hasVip()).toBe(true);
  });

  it('removes what a killed speaker left, without which a new join could not reach the others', async () => {
    await second.speaker.kill();
    await second.kubeadmReset();
    writeFileSync(second.markerFile, '');
    // The VIP is still on its lo: a join would talk to itself.
    expect(await second.hasVip()).toBe(true);
    const { code, stdout } = await second.speaker.command(['prepare', '-o', 'json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual([
      expect.stringContaining(vipAddress),
      expect.stringContaining('nft table inet bgp_lb_speaker'),
      expect.stringContaining('nft table inet bgp_lb_drain'),
      expect.stringContaining(second.markerFile),
      expect.stringContaining('proof of bootstrap'),
    ]);
    expect(await second.hasVip()).toBe(false);
    expect(await second.exec(['nft', 'list', 'tables'])).not.toContain('bgp_lb');
    expect(existsSync(second.markerFile)).toBe(false);

    second.placeSpeaker('join');
    expect(await second.kubeadmJoin(first).exited).toMatchObject({ code: 0 });
    await lab.lb.waitForPool([first.address, second.address]);
  });

  it('has nothing to do on a machine that it has prepared', async () => {
    await second.speaker.stop();
    await second.speaker.command(['prepare']);
    const { code, stdout } = await second.speaker.command(['prepare', '-o', 'json']);
    expect({ code, done: JSON.parse(stdout) }).toEqual({ code: 0, done: ['nothing to remove'] });
  });
});
