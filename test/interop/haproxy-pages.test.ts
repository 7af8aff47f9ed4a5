/** docs/haproxy.md and docs/migration.md, command by command, on a machine with systemd and two masters beside it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority, issueServingCertificate } from '../../scripts/lab/cluster-pki.ts';
import { kubeadmGuide } from '../kit/kubeadm-guide.ts';
import { NetworkNamespace } from '../kit/network-namespace.ts';
import { chapterBlocks } from '../kit/page-blocks.ts';
import { SystemdMachine } from '../kit/systemd-machine.ts';

type StandIn = typeof import('../../scripts/lab/api-server-stand-in.ts');

const script = fileURLToPath(new URL('../../scripts/deb.ts', import.meta.url));
const vip = '10.0.0.100';
/** Where the reader of a page is. */
const here = '/run/reader';

let machine: SystemdMachine;
let folder: string;
const masters: NetworkNamespace[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bgp-lb-haproxy-page-'));
  const made = execFileSync(process.execPath, [script, '--compress', 'none', folder], { encoding: 'utf8' });
  const [router = ''] = made.trim().split('\n');
  machine = await SystemdMachine.start();
  await machine.run('mkdir', '-p', here, '/etc/haproxy');
  machine.provide(router, `${here}/${basename(router)}`);
  await machine.run('ip', 'link', 'add', 'eth0', 'type', 'bridge');
  await machine.run('ip', 'address', 'add', '10.0.0.10/24', 'dev', 'eth0');
  await machine.run('ip', 'link', 'set', 'eth0', 'up');
  await createAuthority(folder);
  machine.provide(join(folder, 'ca.crt'), `${here}/ca.crt`);
  const names = ['127.0.0.1 localhost'];
  for (const n of [1, 2]) {
    const address = `10.0.0.${10 + n}`;
    names.push(`${address} m${n}.example.net`);
    await startMaster(`m${n}`, address);
  }
  await readable('/etc/hosts', `${names.join('\n')}\n`);
  await readable('/etc/resolv.conf', 'nameserver 127.0.0.1\n');
}, 180_000);
afterAll(async () => {
  await machine?.remove();
  for (const master of masters) await master.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** An API server on a machine of its own, by a cable to a port of the load balancer's bridge. */
async function startMaster(name: string, address: string): Promise<void> {
  const namespace = NetworkNamespace.create(name);
  masters.push(namespace);
  const peer = ['type', 'veth', 'peer', 'name', name, 'netns', String(machine.pid)];
  namespace.ip('link', 'add', 'eth0', ...peer);
  namespace.ip('address', 'add', `${address}/24`, 'dev', 'eth0');
  namespace.ip('link', 'set', 'eth0', 'up');
  await machine.run('ip', 'link', 'set', name, 'master', 'eth0', 'up');
  const own = join(folder, name);
  mkdirSync(own);
  const certified = {
    nodeName: name,
    nodeAddress: address,
    serviceAddress: '10.96.0.1',
    endpointAddress: vip,
  };
  await issueServingCertificate(own, certified, folder);
  const text = (file: string): string => readFileSync(file, 'utf8');
  const server = await namespace.start<StandIn>(
    new URL('../../scripts/lab/api-server-stand-in.ts', import.meta.url),
  );
  await server.run((standIn, options) => new standIn.ApiServer({ ...options, mode: 'ready' }).start(), {
    ...{ nodeName: name, port: 6443, storeFolder: own, shutdownDelay: 0 },
    ca: text(join(folder, 'ca.crt')),
    certificate: text(join(own, 'apiserver.crt')),
    key: text(join(own, 'apiserver.key')),
  });
}

async function readable(path: string, text: string): Promise<void> {
  // Not into the file of this system, which a link may lead to.
  await machine.run('rm', '-f', path);
  machine.write(path, text);
  await machine.run('chmod', '0644', path);
}

/** Runs a block as its reader does, each command until it succeeds: what was started needs a moment. */
async function runBlock(text: string): Promise<void> {
  for (const command of text.trim().split('\n')) {
    await expect
      .poll(
        async () => {
          const { code, stderr } = await machine.try('sh', '-ec', `cd ${here} && ${command}`);
          return { command, code, stderr: code === 0 ? '' : stderr };
        },
        // An installation is one command.
        { timeout: 90_000, interval: 200 },
      )
      .toEqual({ command, code: 0, stderr: '' });
  }
}

describe('the page about HAProxy, from nothing', { timeout: 120_000 }, () => {
  it('has a configuration of eight lines, after which the API answers on the VIP', async () => {
    const blocks = chapterBlocks('haproxy.md', 'From nothing');
    const [, yaml] = blocks.map(({ text }) => text);
    expect(blocks.map(({ language }) => language)).toEqual(['', 'yaml', '', '']);
    expect(yaml?.trim().split('\n')).toHaveLength(8);
    for (const { language, text } of blocks) {
      if (language === 'yaml') await readable('/etc/bgp-lb/router.yaml', text);
      else await runBlock(text);
    }
    const ask =
      blocks
        .at(-1)
        ?.text.split('\n')
        .find((line) => line.startsWith('curl')) ?? '';
    // By HTTP/1.1, as the stand-in says nothing of its health by HTTP/2.
    expect(await machine.run('sh', '-c', ask.replace('curl', 'curl --silent --fail --http1.1'))).toBe('ok');
    await expect
      .poll(() => machine.run('bgp-lb-router', 'status'), { timeout: 20_000 })
      .toMatch(/m1\.example\.net[^\n]*active[\s\S]*m2\.example\.net[^\n]*active/);
    expect(await machine.run('systemctl', 'is-enabled', 'bgp-lb-router', 'bgp-lb-haproxy.path')).toBe(
      'enabled\nenabled\n',
    );
  });

  it('changes the members by a reload of the router that leaves HAProxy as it is', async () => {
    const pid = (): Promise<string> =>
      machine.run('systemctl', 'show', '--property=MainPID', '--value', 'bgp-lb-haproxy');
    const before = await pid();
    const workers = (): Promise<string> => machine.run('pgrep', '--parent', before.trim());
    const worker = await workers();
    const file = await machine.run('cat', '/etc/bgp-lb/router.yaml');
    await readable('/etc/bgp-lb/router.yaml', file.replace(', { address: m2.example.net }', ''));
    await runBlock('systemctl reload bgp-lb-router');
    await expect
      .poll(() => machine.run('bgp-lb-router', 'fib'), { timeout: 20_000 })
      .not.toContain('10.0.0.12');
    expect([await pid(), await workers()]).toEqual([before, worker]);
  });

  it('upgrades the package under a connection that goes on, through the same HAProxy', async () => {
    // One connection, a request at a time: a line for each answer, and one when it breaks.
    machine.write(
      `${here}/held.mjs`,
      `import { appendFileSync, readFileSync } from 'node:fs';
       import { Agent, get } from 'node:https';
       const agent = new Agent({ keepAlive: true, maxSockets: 1 });
       const ca = readFileSync('${here}/ca.crt');
       const say = (text) => appendFileSync('${here}/held', text + '\\n');
       const ask = () => {
         const request = get({ host: '${vip}', port: 443, path: '/readyz', agent, ca }, (answer) => {
           const { localPort } = answer.socket;
           answer.resume().on('end', () => { say(localPort); setTimeout(ask, 50); });
         });
         request.on('error', (error) => { say(error.message); setTimeout(ask, 50); });
       };
       ask();`,
    );
    const answers = async (): Promise<string[]> =>
      (await machine.run('sh', '-c', `touch ${here}/held && cat ${here}/held`)).trim().split('\n');
    const node = '/usr/lib/bgp-lb/node';
    await machine.run('systemd-run', '--unit=held', node, `${here}/held.mjs`);
    await expect.poll(async () => (await answers()).length, { timeout: 20_000 }).toBeGreaterThan(5);
    const processes = async (): Promise<string> => {
      const main = await machine.run('systemctl', 'show', '--property=MainPID', '--value', 'bgp-lb-haproxy');
      return `${main}${await machine.run('pgrep', '--parent', main.trim())}`;
    };
    const router = (): Promise<string> =>
      machine.run('systemctl', 'show', '--property=MainPID', '--value', 'bgp-lb-router');
    const [before, routerBefore] = [await processes(), await router()];
    await machine.run('sh', '-c', `dpkg --force-unsafe-io --install ${here}/*.deb`);
    await expect
      .poll(async () => (await machine.try('bgp-lb-router', 'fib', '--diff')).code, { timeout: 20_000 })
      .toBe(0);
    expect(await router()).not.toBe(routerBefore);
    expect(await processes()).toBe(before);
    const seen = (await answers()).length;
    await expect.poll(async () => (await answers()).length, { timeout: 20_000 }).toBeGreaterThan(seen + 10);
    // All on one connection, from one port.
    expect(new Set(await answers()).size).toBe(1);
    await machine.run('systemctl', 'stop', 'held');
  });
});

describe('the page about migration, with a haproxy.cfg of the guide', { timeout: 180_000 }, () => {
  it('leaves no request of a client without an answer', async () => {
    // The host before that day: Debian's HAProxy with a file by hand, and the package of the router just installed.
    await machine.run('systemctl', 'stop', 'bgp-lb-router', 'bgp-lb-haproxy.path', 'bgp-lb-haproxy.service');
    await machine.run('bgp-lb-router', 'uninstall');
    await machine.run('rm', '-rf', '/etc/bgp-lb/router.yaml', '/var/lib/bgp-lb/haproxy');
    await machine.run('systemctl', 'start', 'bgp-lb-haproxy.path');
    await machine.run('ip', 'address', 'add', `${vip}/32`, 'dev', 'eth0');
    await readable('/etc/haproxy/haproxy.cfg', guide);
    await machine.run('systemctl', 'enable', 'haproxy');
    await machine.run('systemctl', 'start', 'haproxy');
    await runBlock(chapterBlocks('haproxy.md', "Beside kubeadm's guide")[0]?.text ?? '');
    // A client of every moment: one line for each request that fails.
    const curl = `curl --silent --show-error --fail --http1.1 --max-time 5 --output /dev/null --cacert ca.crt https://${vip}:6443/readyz`;
    await runBlock(curl);
    machine.write(`${here}/client.sh`, `while :; do ${curl} 2>>failed && echo >>served; sleep 0.02; done\n`);
    await machine.run(
      'systemd-run',
      '--unit=client',
      `--working-directory=${here}`,
      'sh',
      `${here}/client.sh`,
    );
    const blocks = chapterBlocks('migration.md', 'From a hand-made haproxy.cfg, staying with HAProxy');
    const [back, ...onward] = blocks.toReversed();
    for (const { text } of onward.toReversed()) {
      await runBlock(text);
      if (text.includes('bgp-lb-router fib')) {
        // As the page says: on when each member has passed its check.
        const onOtherPort = curl.replace(':6443', ':16443');
        await runBlock(onOtherPort);
        // Its exit status is 1 while there are some.
        await runBlock('bgp-lb-router fib --diff');
      }
    }
    const lines = async (file: string): Promise<number> =>
      Number((await machine.run('sh', '-c', `touch ${here}/${file} && wc -l <${here}/${file}`)).trim());
    await expect
      .poll(() => machine.try('systemctl', 'is-active', 'haproxy'), { timeout: 20_000 })
      .toMatchObject({
        stdout: expect.stringMatching(/^(inactive|failed)\n$/),
      });
    const served = await lines('served');
    await expect.poll(() => lines('served'), { timeout: 20_000 }).toBeGreaterThan(served + 20);
    expect({ failed: await lines('failed'), text: await machine.run('cat', `${here}/failed`) }).toEqual({
      failed: 0,
      text: '',
    });
    // The old one was bound to all addresses.
    const listening = await machine.run('ss', '-Hltn', 'sport', '=', ':6443');
    expect(listening.trim().split('\n')).toEqual([expect.stringContaining(` ${vip}:6443 `)]);

    await runBlock(back?.text ?? '');
    expect(await machine.run('ss', '-Hltn', 'sport', '=', ':6443')).toContain(' 0.0.0.0:6443 ');
    await runBlock(curl);
    expect(await machine.run('ip', 'route', 'show', 'table', 'all', 'proto', '84')).toBe('');
  });
});

/** As kubeadm's guide has it, with Debian's places. */
const guide = kubeadmGuide({
  global: ['log /dev/log local0', 'daemon'],
  bind: '*:6443',
  servers: [1, 2].map((n) => `m${n} m${n}.example.net:6443 check verify none`),
});
