import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { checkClock, type Finding } from '@bgp-lb/daemon';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestCa } from '../testing/certificates.ts';
import { field } from '../testing/network-namespace.ts';
import { CLIENT, NODE, ROUTER, SECOND_ROUTER, SpeakerLab, VIP } from '../testing/speaker-lab.ts';
import { checkCa } from './check-api-server.ts';

const TIMEOUT = 120_000;

/** On the link, with no host there. */
const NOBODY = '10.9.0.66';
/** Behind no route. */
const FAR = '203.0.113.1';
/** A router without a password. */
const OPEN_ROUTER = '10.9.0.5';

const clockAnswers = new URL('../testing/clock-answers.pl', import.meta.url).pathname;
const main = new URL('../../../../dist/bgp-lb-speaker.mjs', import.meta.url).pathname;

/** An /etc of its own, in the mount namespace that `ip netns exec` makes, in which kube-vip has a manifest. */
const withRival = `mount -t tmpfs tmpfs /mnt && mkdir /mnt/upper /mnt/work &&
mount -t overlay overlay -o lowerdir=/etc,upperdir=/mnt/upper,workdir=/mnt/work /etc &&
mkdir -p /etc/kubernetes/manifests && touch /etc/kubernetes/manifests/kube-vip.yaml && exec "$@"`;

let lab: SpeakerLab;

function routers(...addresses: readonly string[]): string {
  const entries = addresses.map(
    (address) => `{ address: ${address}, asn: 64512, passwordFile: ${lab.path('password')} }`,
  );
  return `[${entries.join(', ')}]`;
}

/** Runs the command; its findings of one check. @param runner a program that runs it */
function doctor(...runner: readonly string[]): (check: string) => readonly Finding[] {
  const args = ['doctor', '-o', 'json', '--config', lab.path('speaker.yaml')];
  const command = [...runner, process.execPath, main, ...args];
  const argv = ['netns', 'exec', lab.master.name, 'sh', '-c', withRival, 'sh', ...command];
  const { stdout, stderr } = spawnSync('ip', argv, { encoding: 'utf8' });
  if (stdout === '') throw new Error(stderr);
  const findings: Finding[] = JSON.parse(stdout);
  return (check) => findings.filter((finding) => finding.check === check);
}

beforeAll(() => {
  lab = new SpeakerLab();
  lab.peer.ip('address', 'add', `${OPEN_ROUTER}/24`, 'dev', 'e0');
  // The kernel gives up sooner.
  lab.master.run('sysctl', '-qw', 'net.ipv4.neigh.e0.retrans_time_ms=100');
}, TIMEOUT);
afterAll(() => lab.remove(), TIMEOUT);

describe('doctor on a host where everything is wrong', { timeout: TIMEOUT }, () => {
  let of: ReturnType<typeof doctor>;

  beforeAll(async () => {
    mkdirSync(lab.path('other'));
    new TestCa(lab.path('other'));
    lab.configure({
      routers: routers(ROUTER, SECOND_ROUTER, CLIENT, OPEN_ROUTER, NOBODY, FAR),
      apiServer: `{ address: ${NODE}, caFile: ${lab.path('other/ca.crt')} }`,
    });
    const listening =
      "require('net').createServer().listen(9475, '127.0.0.1', () => console.log(JSON.stringify({ up: true })))";
    const other = lab.master.startProgram(process.execPath, '-e', listening);
    await Promise.all([
      lab.startApiServer(),
      lab.startRouter({ address: CLIENT, password: 'another' }),
      lab.startRouter({ address: OPEN_ROUTER, password: '' }),
      other.next(field('up')),
    ]);
    await lab.turn('ready');
    lab.peer.run(
      'nft',
      `add table inet f; add chain inet f in { type filter hook input priority 0; }; add rule inet f in ip daddr ${SECOND_ROUTER} tcp dport 179 drop`,
    );
    lab.master.ip('address', 'add', `${VIP}/32`, 'dev', 'e0');
    lab.master.ip('address', 'add', `${VIP}/32`, 'dev', 'lo');
    of = doctor();
  }, TIMEOUT);

  it.each([
    ['nobody listens', ROUTER, 'refused', /start bgp-lb-router/],
    ['a firewall drops', SECOND_ROUTER, 'no answer', /firewall drops/],
    ['the password is another', CLIENT, 'no answer', /password differs/],
    ['the router has none', OPEN_ROUTER, 'connects only without password', /has no password for this master/],
    ['the host is down', NOBODY, 'EHOSTUNREACH', /does not answer ARP/],
    ['there is no route', FAR, 'ENETUNREACH', /route is missing/],
  ])('says of a router that %s', (_what, address, value, fix) => {
    expect(of(`router ${address}`)).toMatchObject([
      {
        level: 'fault',
        place: expect.stringContaining(`${address} port 179`),
        value: expect.stringContaining(value),
        fix: expect.stringMatching(fix),
      },
    ]);
  });

  it('finds the VIP on a link, and on lo without our mark', () => {
    expect(of('vip address')).toMatchObject([
      { level: 'warning', place: 'lo', value: expect.stringContaining('without our mark') },
      { level: 'fault', place: 'e0', fix: expect.stringContaining('kube-vip') },
    ]);
  });

  it('finds what may be another speaker: its port taken, and the manifest of a rival', () => {
    expect(of('another speaker')).toMatchObject([
      { level: 'fault', place: '127.0.0.1 port 9475', fix: expect.stringContaining('ss -ltnp') },
      { level: 'warning', place: '/etc/kubernetes/manifests/kube-vip.yaml' },
    ]);
    expect(of('speaker')).toEqual([]);
  });

  it('finds that the API server is of another CA', () => {
    expect(of('ca')).toMatchObject([{ level: 'good' }]);
    expect(of('api server')).toMatchObject([
      { level: 'fault', place: `${NODE} port 6443`, fix: expect.stringContaining('apiServer.caFile') },
    ]);
  });
});

describe('doctor on a host', { timeout: TIMEOUT }, () => {
  it('finds a closed port, a CA that is none, and a router that refuses us after TCP is connected', async () => {
    await lab.apiServer?.stop();
    writeFileSync(lab.path('none.crt'), 'no certificate\n');
    for (const link of ['e0', 'lo']) lab.master.ip('address', 'delete', `${VIP}/32`, 'dev', link);
    await lab.startRouter();
    lab.configure({
      routers: `[{ address: ${ROUTER}, asn: 64999, passwordFile: ${lab.path('password')} }]`,
      apiServer: `{ address: ${NODE}, caFile: ${lab.path('none.crt')} }`,
      api: `{ socket: ${lab.path('speaker.sock')}, listen: "127.0.0.1:9476" }`,
    });
    await lab.startSpeaker();
    await lab.until(({ routers: [one] }) => one?.lastNotificationSent !== null);
    const of = doctor();
    expect(of(`router ${ROUTER}`)).toMatchObject([
      {
        level: 'warning',
        value: expect.stringMatching(/^TCP is connected, but BGP is .*OPEN Message Error\/Bad Peer AS/),
      },
    ]);
    expect(of('ca')).toMatchObject([{ level: 'fault', fix: expect.stringContaining('PEM') }]);
    expect(of('api server')).toMatchObject([
      { level: 'fault', fix: expect.stringContaining('is machinePort its port?') },
    ]);
    expect(of('speaker')).toMatchObject([{ level: 'good' }]);
  });

  it('says of the clock what the kernel says, and goes on where that is not to be had', () => {
    // TIME_ERROR of adjtimex(2), as this machine has it: a test cannot make it so, as no namespace has a clock of its own.
    const isKept = spawnSync('perl', [clockAnswers], { encoding: 'utf8' }).stdout !== '5\n';
    const clock = (...runner: readonly string[]): readonly Finding[] => doctor(...runner)('time');
    expect(clock()).toMatchObject([{ level: isKept ? 'good' : 'warning' }]);
    expect(clock('perl', clockAnswers, '0')).toMatchObject([
      { level: 'good', value: expect.stringMatching(/^synchronized, 2/) },
    ]);
    expect(clock('perl', clockAnswers, '1')).toMatchObject([
      { level: 'warning', value: expect.stringContaining('the kernel does not say') },
    ]);
  });

  it('takes a CA for what it is worth today, and says when nobody keeps the clock', () => {
    const pem = lab.ca.certificate;
    expect(checkCa('ca.crt', pem, new Date())).toMatchObject([{ level: 'good' }]);
    for (const now of ['2001-01-01', '2101-01-01']) {
      expect(checkCa('ca.crt', pem, new Date(now))).toMatchObject([
        { level: 'fault', fix: expect.stringContaining('set the clock, or renew the CA') },
      ]);
    }
    expect(checkClock(false, new Date())).toMatchObject({
      level: 'warning',
      fix: expect.stringContaining('chrony'),
    });
  });
});
