import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataPlaneProcess } from './testing/data-plane-process.ts';
import { LbNamespaces } from './testing/lb-namespaces.ts';

let lab: LbNamespaces;
let plane: DataPlaneProcess;
let servers: ChildProcess[] = [];

beforeEach(async () => {
  lab = new LbNamespaces(['client', 'm1', 'm2']);
  plane = await DataPlaneProcess.in(lab.lb);
  await plane.start();
});

afterEach(async () => {
  for (const server of servers) {
    server.kill('SIGKILL');
  }
  servers = [];
  await plane?.kill();
  lab?.remove();
});

async function run(member: string, program: string): Promise<ChildProcess> {
  const argv = ['netns', 'exec', lab.member(member).namespace, process.execPath, '-e', program];
  const child = spawn('ip', argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  servers.push(child);
  return child;
}

/** Answers on every address of the member with its name. */
async function serve(member: string, port = 6443): Promise<void> {
  const child = await run(
    member,
    `require('node:net').createServer((s) => { s.on('error', () => {}); s.end('${member}'); })
       .listen(${port}, '0.0.0.0', () => console.log('up'))`,
  );
  await once(child.stdout ?? child, 'data');
}

/** What a client on the other side of the LB reads from the VIP, or its error. */
async function connect(port: number): Promise<string> {
  const child = await run(
    'client',
    `const s = require('node:net').connect({ host: '10.100.0.1', port: ${port} });
     s.setTimeout(2000, () => { console.log('timeout'); process.exit(); });
     s.on('data', (d) => console.log(String(d))); s.on('error', (e) => console.log(e.code));`,
  );
  const [data] = await once(child.stdout ?? child, 'data');
  return String(data).trim();
}

/** The client must not hold the VIP itself. */
function clientWithoutVip(): void {
  lab.exec('ip', '-n', lab.member('client').namespace, 'addr', 'del', '10.100.0.1/32', 'dev', 'lo');
}

describe('a socket through a member', () => {
  it.each(['0', '1', '2'])(
    'reaches that very member while the VIP is unreachable, with rp_filter %s',
    async (mode) => {
      await serve('m1');
      await serve('m2');
      lab.exec('sysctl', '-qw', `net.ipv4.conf.all.rp_filter=${mode}`);
      await plane.setProbed([lab.member('m1').address, lab.member('m2').address]);
      lab.exec('sysctl', '-qw', `net.ipv4.conf.to-m1.rp_filter=${mode}`);
      expect(await plane.probe(lab.member('m1').address)).toBe('m1');
      expect(await plane.probe(lab.member('m2').address)).toBe('m2');
    },
  );

  it('is refused by a member that does not serve, whoever else does', async () => {
    await serve('m2');
    await plane.setProbed([lab.member('m1').address, lab.member('m2').address]);
    await plane.setNextHops([{ nextHop: lab.member('m2').address, weight: 256 }]);
    expect(await plane.probe(lab.member('m1').address)).toBe('ECONNREFUSED');
    expect(await plane.probe(lab.member('m2').address)).toBe('m2');
  });

  it('never falls back to the pool when the link of its member is down', async () => {
    await serve('m2');
    await plane.setProbed([lab.member('m1').address, lab.member('m2').address]);
    await plane.setNextHops([{ nextHop: lab.member('m2').address, weight: 256 }]);
    lab.setCarrier('m1', 'down');
    // Before the data plane has heard of it, and after.
    expect(await plane.probe(lab.member('m1').address)).not.toBe('m2');
    await plane.event(({ text }) => text.includes('set-route') || text.includes('delete-route'));
    expect(await plane.probe(lab.member('m1').address)).toBe('NoWayError: to-m1 is down');
  });
});

describe('what passes towards the VIP', () => {
  it('is the port of the VIP and nothing else of the masters', async () => {
    clientWithoutVip();
    await serve('m1');
    await serve('m1', 10250);
    await plane.setNextHops([{ nextHop: lab.member('m1').address, weight: 256 }]);
    expect(await connect(6443)).toBe('m1');
    expect(await connect(10250)).toBe('ECONNREFUSED');
  });

  it('fails at once while the pool is empty', async () => {
    clientWithoutVip();
    await serve('m1');
    expect(await connect(6443)).toBe('EHOSTUNREACH');
  });
});
