import { spawnSync } from 'node:child_process';
import { chainsThatDrop, type Finding } from '@bgp-lb/daemon';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SpeakerLab, VIP } from '../testing/speaker-lab.ts';
import { checkShutdownDelay } from './check-api-server.ts';
import { checkFirewall } from './check-host.ts';
import { judgeRouter } from './check-router.ts';

const TIMEOUT = 300_000;
const router = {
  address: '10.0.0.10',
  port: 179,
  asn: 1,
  holdTime: 9_000,
  ttlSecurityHops: 1,
  bfd: false,
  acceptAsSet: false,
  withoutCapabilities: [],
} as const;

describe('doctor by its judgements', () => {
  it.each([
    ['ECONNREFUSED', undefined, /no router listens there/],
    ['ETIMEDOUT', undefined, /firewall.*wants a password/],
    ['ETIMEDOUT', '/p', /password differs/],
    ['EHOSTUNREACH', undefined, /no way to it/],
    ['plain', undefined, /ttlSecurityHops/],
    ['plain', '/p', /no password for this master/],
  ])('tells why a router cannot be reached: %s', (attempt, passwordFile, fix) => {
    expect(judgeRouter({ ...router, passwordFile }, attempt, '')).toMatchObject({
      level: 'fault',
      place: '10.0.0.10 port 179',
      fix: expect.stringMatching(fix),
    });
  });

  it.each([
    ['no flag', '- kube-apiserver', 60_000, 'fault'],
    ['half a drain', '- --shutdown-delay-duration=15s', 10_000, 'fault'],
    ['enough', '- --shutdown-delay-duration=15s', 60_000, 'good'],
  ])('looks at the shutdown delay: %s', (_what, text, drain, level) => {
    expect(checkShutdownDelay('/m', text, drain).level).toBe(level);
  });

  it('names chains that drop by default, and what they have to accept', () => {
    const chain = { family: 'inet', table: 'filter', name: 'input', hook: 'input', policy: 'drop' };
    expect(checkFirewall(chainsThatDrop([chain], 'input'), ['TCP 6443 from clients'])).toMatchObject([
      { level: 'warning', place: 'inet filter input', fix: expect.stringContaining('TCP 6443') },
    ]);
    const accepting = chainsThatDrop(
      [
        { ...chain, policy: 'accept' },
        { ...chain, hook: 'forward' },
      ],
      'input',
    );
    expect(checkFirewall(accepting, [])).toMatchObject([{ level: 'good' }]);
  });
});

describe('doctor on a host', { timeout: TIMEOUT }, () => {
  let lab: SpeakerLab;

  beforeAll(() => {
    lab = new SpeakerLab();
    lab.configure();
  }, TIMEOUT);
  afterAll(() => lab.remove(), TIMEOUT);

  /** Runs the command; its findings of one check, and its exit code. */
  function doctor(): { code: number | null; of: (check: string) => Finding[] } {
    const main = new URL('../../../../dist/bgp-lb-speaker.mjs', import.meta.url).pathname;
    const command = [process.execPath, main, 'doctor', '-o', 'json', '--config', lab.path('speaker.yaml')];
    const { status, stdout, stderr } = spawnSync('ip', ['netns', 'exec', lab.master.name, ...command], {
      encoding: 'utf8',
    });
    if (stdout === '') throw new Error(stderr);
    const findings: Finding[] = JSON.parse(stdout);
    return { code: status, of: (check) => findings.filter((finding) => finding.check === check) };
  }

  it('finds what is wrong, says where, and what to do', async () => {
    await lab.startApiServer(['DNS:kubernetes', 'IP:10.9.0.2']);
    await lab.turn('ready');
    // The router's host has the VIP too, and answers for it.
    lab.peer.ip('address', 'add', `${VIP}/32`, 'dev', 'lo');
    lab.master.run(
      'nft',
      'add table inet f; add chain inet f in { type filter hook input priority 0; policy drop; }; add rule inet f in accept',
    );
    const { code, of } = doctor();
    expect(code).toBe(1);
    expect(of('vip owner')).toMatchObject([
      { level: 'fault', place: 'e0', value: expect.stringMatching(/answered for by ([0-9a-f]{2}:){5}/) },
    ]);
    expect(of('arp')).toMatchObject([
      { level: 'fault', place: 'e0', fix: expect.stringContaining('arp_ignore=1') },
    ]);
    expect(of('firewall')).toMatchObject([{ level: 'warning', place: 'inet f in' }]);
    expect(of('certificate')[0]).toMatchObject({
      level: 'fault',
      value: expect.stringContaining(`not for ${VIP}`),
    });
    expect(of('api server')).toMatchObject([{ level: 'good' }]);
    expect(of('ca')).toMatchObject([{ level: 'good' }]);
    expect(of('router 10.9.0.1')).toMatchObject([{ level: 'fault', value: 'refused' }]);
    expect(of('speaker')).toMatchObject([{ level: 'warning', value: 'does not run' }]);
  });

  it('takes each fault back when it is put right', async () => {
    lab.peer.ip('address', 'del', `${VIP}/32`, 'dev', 'lo');
    lab.master.run('nft', 'delete table inet f');
    lab.finishKubeadm();
    lab.configure({ routers: lab.bfdRouter('{}') });
    await lab.startRouter({ bfd: 300 });
    await lab.startSpeaker();
    await lab.until(({ routers }) =>
      routers.every(({ session, bfd }) => session === 'Established' && bfd === 'Up'),
    );
    await lab.until(({ bfd }) => bfd?.scheduling === 'SCHED_FIFO 10');
    const { of } = doctor();
    expect(of('bfd')).toMatchObject([{ level: 'good', place: 'thread', value: 'SCHED_FIFO 10' }]);
    for (const check of ['vip owner', 'arp', 'firewall', 'speaker', 'router 10.9.0.1']) {
      expect(of(check), check).toMatchObject([{ level: 'good' }]);
    }
  });
});
