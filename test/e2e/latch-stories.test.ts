/** The lives of machines, told on one cluster of three masters, each with the files of a real one. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import { createAuthority, issueServingCertificate } from '../../scripts/lab/cluster-pki.ts';
import type { HostProcess } from '../../scripts/lab/host-process.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { addresses, waitForAllActive } from '../kit/cluster.ts';
import { eventsSince, lastEvent, member } from '../kit/router-view.ts';

/** Milliseconds that a state is waited for: a busy machine takes its time. */
const patience = 100_000;

describe('the proof of bootstrap', { timeout: 300_000 }, () => {
  let lab: Lab;
  let first: MasterHost;
  let second: MasterHost;
  let third: MasterHost;

  beforeAll(async () => {
    lab = await Lab.create({
      masters: 3,
      controlPlane: 'stand-in',
      router: { pool: { initialHold: '200ms' } },
      kubeadm: { phaseTime: 20, settleTime: 500 },
    });
    [first, second, third] = [lab.master(1), lab.master(2), lab.master(3)];
    await lab.lb.router.start(patience);
    first.placeSpeaker('init');
    expect((await first.kubeadmInit().exited).code).toBe(0);
    await lab.lb.waitForPool([first.address], patience);
    for (const joiner of [second, third]) {
      joiner.placeSpeaker('join');
      expect((await joiner.kubeadmJoin(first).exited).code).toBe(0);
    }
    await waitForAllActive(lab, patience);
  }, 300_000);
  afterAll(async () => {
    await lab.destroy();
  });

  const allActive = (): Promise<void> => waitForAllActive(lab, patience);
  /** What the speaker noted of ca.crt, once it has seen it as it is now: with this number of keys. */
  async function hasSeenCa(master: MasterHost, keys: number): Promise<void> {
    const stateFile = master.path('var/lib/bgp-lb/state.json');
    const { mtimeMs } = statSync(master.caFile);
    await waitUntil(
      () => {
        const { latch } = JSON.parse(readFileSync(stateFile, 'utf8')) as {
          latch?: { caKeys: string[]; caModifiedAt: number };
        };
        return latch?.caModifiedAt === mtimeMs && latch?.caKeys.length === keys;
      },
      { what: `${master.name} has seen its ca.crt`, timeoutMs: patience },
    );
  }

  async function transitionsSince(event: number): Promise<readonly unknown[]> {
    return (await eventsSince(lab, event)).filter(({ type }) => type === 'member-transition');
  }

  /** Follows a join to its end: its own VIP would have led it to itself. */
  async function joinsWithoutVip(joiner: MasterHost, kubeadm: HostProcess): Promise<void> {
    const before = joiner.kubeadmSuccesses().length;
    while (kubeadm.isRunning) {
      const hasVip = await joiner.hasVip();
      if (joiner.kubeadmSuccesses().length === before && hasVip) {
        throw new Error(`${joiner.name} has the VIP before its join has succeeded\n${kubeadm.tail()}`);
      }
      await sleep(20);
    }
    expect(await kubeadm.exited, kubeadm.tail()).toMatchObject({ code: 0 });
  }

  it('outlives a touch of ca.crt on all masters at once: nobody leaves the pool', async () => {
    const since = await lastEvent(lab);
    const now = new Date();
    for (const { caFile } of lab.masters) {
      utimesSync(caFile, now, now);
      writeFileSync(caFile, readFileSync(caFile));
    }
    await Promise.all(lab.masters.map((master) => hasSeenCa(master, 1)));
    expect(await transitionsSince(since)).toEqual([]);
  });

  it('outlives a cold start of everything: no master runs, and no API server answers anybody', async () => {
    await Promise.all([lab.lb, ...lab.masters].map((host) => host.powerOff()));
    await Promise.all([lab.lb, ...lab.masters].map((host) => host.powerOn()));
    expect(lab.masters.map(({ markerFile }) => existsSync(markerFile))).toEqual([false, false, false]);
    for (const master of lab.masters) master.startKubelet();
    await lab.lb.router.start(patience);
    await allActive();
    expect((await lab.client.request()).ok).toBe(true);
  });

  it('holds in a snapshot that is restored', async () => {
    await third.powerOff();
    const snapshot = `${lab.folder}/snapshot`;
    cpSync(third.folder, snapshot, { recursive: true, preserveTimestamps: true });
    await third.powerOn();
    third.startKubelet();
    await allActive();
    await third.powerOff();
    rmSync(third.folder, { recursive: true });
    cpSync(snapshot, third.folder, { recursive: true, preserveTimestamps: true });
    await third.powerOn();
    third.startKubelet();
    await allActive();
  });

  it('is void where prepare was forgotten, and the join goes on when the VIP of the killed speaker has run out', async () => {
    await second.speaker.kill();
    await second.kubeadmReset();
    expect(await second.hasVip()).toBe(true);
    second.placeSpeaker('join');
    const kubeadm = second.kubeadmJoin(first);
    await lab.lb.waitForPool([first.address, third.address], patience);
    // It asks itself, where nothing listens.
    await waitUntil(() => kubeadm.tail(1) === '[preflight] started', {
      what: 'the joiner in its discovery',
      timeoutMs: patience,
    });
    // The rest of 90 seconds, in short.
    await second.exec([
      'ip',
      'address',
      'change',
      `${vipAddress}/32`,
      'dev',
      'lo',
      'valid_lft',
      '1',
      'preferred_lft',
      '0',
    ]);
    await waitUntil(async () => !(await second.hasVip()), {
      what: 'the end of the lease',
      timeoutMs: patience,
    });
    await joinsWithoutVip(second, kubeadm);
    await allActive();
  });

  it('begins anew for the first master that joins its own cluster again', async () => {
    await first.kubeadmReset();
    expect((await first.speaker.command(['prepare', '--role', 'join'], patience)).code).toBe(0);
    // Its configuration still says init.
    first.placeSpeaker('init');
    await joinsWithoutVip(first, first.kubeadmJoin(third));
    await allActive();
    expect((await first.speaker.status()).role).toBe('join');
    expect(addresses(lab.masters).sort()).toEqual(await lab.lb.pool());
  });

  it('follows a rotation of the CA on masters and router: the old one, both, the new one', async () => {
    const old = readFileSync(first.caFile, 'utf8');
    const fresh = `${lab.folder}/new-pki`;
    mkdirSync(fresh);
    await createAuthority(fresh);
    const renewed = readFileSync(`${fresh}/ca.crt`, 'utf8');
    const write = (caFile: string, text: string): void => {
      writeFileSync(`${caFile}.next`, text);
      renameSync(`${caFile}.next`, caFile);
    };
    const health = async (): Promise<readonly (string | undefined)[]> =>
      Promise.all(lab.masters.map(async (master) => (await member(lab, master))?.health));
    const everyone = (what: string): readonly string[] => lab.masters.map(() => what);
    /** The router has judged all by this file: a certificate of another CA does not pass. */
    const routerTrusts = async (text: string, outcome: 'passing' | 'failing'): Promise<void> => {
      write(lab.lb.caFile, text);
      await expect.poll(health, { timeout: patience }).toEqual(everyone(outcome));
    };
    await routerTrusts(renewed, 'failing');
    await routerTrusts(old, 'passing');
    await allActive();

    const since = await lastEvent(lab);
    for (const caFile of [...lab.masters, lab.lb].map((host) => host.caFile))
      write(caFile, `${old}${renewed}`);
    await Promise.all(lab.masters.map((master) => hasSeenCa(master, 2)));
    expect(await transitionsSince(since)).toEqual([]);

    for (const master of lab.masters) {
      const names = { nodeName: master.name, nodeAddress: master.address, serviceAddress: '10.96.0.1' };
      await issueServingCertificate(master.pkiFolder, { ...names, endpointAddress: vipAddress }, fresh);
      await master.stopApiServer();
      cpSync(`${fresh}/ca.key`, `${master.pkiFolder}/ca.key`);
      await master.startApiServer();
      await allActive();
    }
    const beforeNew = await lastEvent(lab);
    for (const caFile of [...lab.masters, lab.lb].map((host) => host.caFile)) write(caFile, renewed);
    await Promise.all(lab.masters.map((master) => hasSeenCa(master, 1)));
    expect(await transitionsSince(beforeNew)).toEqual([]);
    // The old one is not trusted any more by any, and the new one by all.
    await routerTrusts(old, 'failing');
    await routerTrusts(renewed, 'passing');
    await allActive();
    expect((await lab.client.request()).ok).toBe(true);
  });
});
