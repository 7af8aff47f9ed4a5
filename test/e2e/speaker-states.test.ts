import { rmSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { localAsn, vipAddress } from '../../scripts/lab/addresses.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import { startMaster } from '../kit/cluster.ts';
import { httpOn } from '../kit/host-http.ts';
import { member, neighbor, routesOf } from '../kit/router-view.ts';

/** A row of the speaker's state table, each cell read where it takes effect: kernel, session, router. */
interface Row {
  readonly state: string;
  readonly vipOnLo: boolean;
  readonly portMapping: boolean;
  readonly session: string;
  /** LOCAL_PREF, communities, and why less is asked for, as the router received it. */
  readonly advertised: string;
  /** The member's state and share in the router's pool. */
  readonly pool: string;
}

const ordinary = 'LOCAL_PREF 100';
/** GRACEFUL_SHUTDOWN (RFC 8326) and the reason of DESIGN: ASN:2:1 drains, ASN:2:2 is a last resort. */
const lesser = (reason: number): string => `LOCAL_PREF 0, 65535:0, ${localAsn}:2:${reason}`;

describe('what each state of a master means for its kernel and for the router', () => {
  let lab: Lab;
  let subject: MasterHost;

  beforeAll(async () => {
    lab = await Lab.create({
      masters: 3,
      controlPlane: 'stand-in',
      machinePort: 6444,
      speaker: { drain: { timeout: '3s' } },
    });
    await lab.lb.router.start();
    await startMaster(lab, lab.master(1));
    await lab.lb.waitForPool([lab.master(1).address]);
    subject = lab.master(2);
    await subject.installCertificates(lab.master(1));
    await subject.startApiServer();
  });
  afterAll(async () => {
    await lab.destroy();
  });
  afterEach(async () => {
    rmSync(subject.path('run/drain'), { force: true });
    await subject.setApiServer('ready');
  });

  async function row(master: MasterHost): Promise<Row> {
    const [status, vipOnLo, mapped, session, routes, inPool] = await Promise.all([
      master.speaker.status(),
      master.hasVip(),
      master.exec(['nft', '-j', 'list', 'set', 'inet', 'bgp_lb_speaker', 'mapped4']),
      neighbor(lab, master.address),
      routesOf(lab),
      member(lab, master),
    ]);
    const path = routes.received.find(({ nextHop }) => nextHop === master.address);
    const reasons = path?.largeCommunities.filter((value) => !value.startsWith(`${localAsn}:1:`)) ?? [];
    return {
      state: status.vips[0]?.state ?? '',
      vipOnLo,
      portMapping: mapped.includes(vipAddress),
      session: session?.state ?? '',
      advertised:
        path === undefined
          ? ''
          : [`LOCAL_PREF ${path.localPref}`, ...path.communities, ...reasons].join(', '),
      pool: `${inPool?.state ?? 'unknown'} ${inPool?.weight ?? 0}`,
    };
  }

  /** Kernel, speaker and router come to agree within moments; from then on all cells are as expected at once. */
  async function expectRow(master: MasterHost, expected: Row): Promise<void> {
    await expect.poll(() => row(master), { timeout: 10_000, interval: 50 }).toEqual(expected);
  }

  const bound = { vipOnLo: true, portMapping: true, session: 'Established' };
  const unbound = { vipOnLo: false, portMapping: false, session: 'Established' };

  it('absent: a joiner has a session and nothing else, and leftovers are removed', async () => {
    await subject.exec(['ip', 'address', 'add', `${vipAddress}/32`, 'dev', 'lo']);
    subject.writeSpeakerConfig('join');
    await subject.startSpeaker();
    await expectRow(subject, { state: 'absent', ...unbound, advertised: '', pool: 'out 0' });
  });

  it('local-only: the first master during kubeadm init has the VIP for itself', async () => {
    const first = lab.master(3);
    await first.installCertificates(lab.master(1));
    first.writeSpeakerConfig('init');
    await first.startSpeaker();
    await expectRow(first, { state: 'local-only', ...bound, advertised: '', pool: 'out 0' });
    await first.startApiServer();
    // By its own port mapping, to its own API server, though no other client is sent there.
    const answer = await httpOn(first, {
      protocol: 'https:',
      host: vipAddress,
      port: 6443,
      path: '/version',
    });
    expect(answer).toMatchObject({ status: 200, error: '' });
    expect(await lab.lb.pool()).toEqual([lab.master(1).address]);
  });

  it('advertised: everything, with a full share', async () => {
    writeFileSync(subject.markerFile, '');
    await expectRow(subject, { state: 'advertised', ...bound, advertised: ordinary, pool: 'active 256' });
  });

  it('last-resort: weight 1 while /readyz is red, and the full share again when it is green', async () => {
    await subject.setApiServer('not-ready', ['etcd']);
    await expectRow(subject, {
      state: 'last-resort',
      ...bound,
      advertised: lesser(2),
      pool: 'last-resort 1',
    });
    await subject.setApiServer('ready');
    await expectRow(subject, { state: 'advertised', ...bound, advertised: ordinary, pool: 'active 256' });
  });

  it('draining: weight 1 while a client is there, then withdrawn and unbound, and back when it is over', async () => {
    const { byMaster } = await lab.client.open(30);
    expect(byMaster[subject.name]).toBeGreaterThan(0);
    writeFileSync(subject.path('run/drain'), '');
    await expectRow(subject, { state: 'draining', ...bound, advertised: lesser(1), pool: 'draining 1' });
    await lab.client.closeAll();
    await expectRow(subject, { state: 'absent', ...unbound, advertised: '', pool: 'out 0' });
    rmSync(subject.path('run/drain'));
    await expectRow(subject, { state: 'advertised', ...bound, advertised: ordinary, pool: 'active 256' });
  });

  it('absent again: a master whose API server is dead does not keep the VIP', async () => {
    await subject.setApiServer('closed');
    await expectRow(subject, { state: 'absent', ...unbound, advertised: '', pool: 'out 0' });
  });
});
