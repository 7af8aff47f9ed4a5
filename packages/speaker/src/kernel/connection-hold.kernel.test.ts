import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field, type LineProcess, NetworkNamespace } from '../testing/network-namespace.ts';

const VIP = '10.100.0.1';
const VIP6 = 'fd00:100::1';
const program = new URL('../testing/connection-hold-process.ts', import.meta.url).pathname;

let client: NetworkNamespace;
let master: NetworkNamespace;
let hold: LineProcess;

/** A master whose API server listens at the VIPs' port, and a client. */
beforeAll(async () => {
  client = new NetworkNamespace('client');
  master = new NetworkNamespace('master');
  client.connect('e0', master);
  client.ip('address', 'add', '10.9.0.1/24', 'dev', 'e0');
  master.ip('address', 'add', '10.9.0.2/24', 'dev', 'e0');
  client.ip('address', 'add', 'fd00:9::1/64', 'dev', 'e0', 'nodad');
  master.ip('address', 'add', 'fd00:9::2/64', 'dev', 'e0', 'nodad');
  master.ip('address', 'add', `${VIP}/32`, 'dev', 'lo');
  master.ip('address', 'add', `${VIP6}/128`, 'dev', 'lo');
  client.ip('route', 'add', VIP, 'via', '10.9.0.2');
  client.ip('route', 'add', VIP6, 'via', 'fd00:9::2');
  const echo = `require('node:net').createServer((s) => s.on('error', () => {}).pipe(s))
    .listen(6443, '::', () => console.log('{"listening":true}'))`;
  await master.startProgram(process.execPath, '-e', echo).next(field('listening'));
  const vips = [VIP, VIP6].map((address) => ({ address, port: 6443, machinePort: 6443 }));
  hold = master.start(program, JSON.stringify(vips));
  expect(await apply('none')).toBe(1);
});

afterAll(async () => {
  await Promise.all([client.remove(), master.remove()]);
});

/** @returns how often nft was run for it */
async function apply(what: 'none' | 'refusals' | 'newcomers'): Promise<unknown> {
  hold.send({ [VIP]: what, [VIP6]: what });
  return answered();
}

async function answered(): Promise<unknown> {
  return await hold.next((message) => field('runs')(message) ?? field('failed')(message));
}

/** What becomes of a connection within a second. */
function connect(address: string, port = 6443): string {
  const words = '0) echo connected;; 124) echo no answer;; *) echo refused;;';
  const script = `timeout 1 bash -c '</dev/tcp/${address}/${port}' 2>/dev/null; case $? in ${words} esac`;
  return client.run('bash', '-c', script).trim();
}

describe.each([VIP, VIP6])('what a master that leaves holds off at %s', (vip) => {
  it('answers no newcomer, and leaves established connections and other addresses alone', async () => {
    const script = `
      const s = require('node:net').connect(6443, '${vip}');
      s.on('connect', () => console.log('{"connected":true}'));
      s.on('data', () => console.log('{"answered":true}'));
      process.stdin.on('data', () => s.write('x'));`;
    const established = client.startProgram(process.execPath, '-e', script);
    await established.next(field('connected'));
    expect(await apply('newcomers')).toBe(0);
    expect(connect(vip)).toBe('no answer');
    expect(connect(vip, 6444)).toBe('no answer');
    expect(connect(vip === VIP ? '10.9.0.2' : 'fd00:9::2')).toBe('connected');
    established.send('ask');
    expect(await established.next(field('answered'))).toBe(true);
    await apply('none');
    expect(connect(vip)).toBe('connected');
  });

  it('keeps refusals back, so that the client asks again', async () => {
    expect(connect(vip, 6444)).toBe('refused');
    expect(await apply('refusals')).toBe(0);
    expect(connect(vip, 6444)).toBe('no answer');
    expect(connect(vip)).toBe('connected');
    await apply('none');
    expect(connect(vip, 6444)).toBe('refused');
    expect(master.run('nft', 'list', 'table', 'inet', 'bgp_lb_drain')).not.toContain('elements');
  });
});

describe('the table of a drain', () => {
  it('is made again by the next drain, and in the midst of one, with what is held', async () => {
    master.run('nft', 'flush', 'ruleset');
    expect(await apply('newcomers')).toBe(1);
    expect(connect(VIP)).toBe('no answer');
    master.run('nft', 'flush', 'ruleset');
    expect(connect(VIP)).toBe('connected');
    hold.send({ repair: true });
    expect(await hold.next(field('repaired'))).toBe(
      'made the table inet bgp_lb_drain again, which was missing',
    );
    await answered();
    expect(connect(VIP)).toBe('no answer');
    expect(connect(VIP6)).toBe('no answer');
    hold.send({ repair: true });
    expect(await answered()).toBe(0);
    expect(await apply('none')).toBe(0);
    expect(connect(VIP)).toBe('connected');
  });

  it('forgets what a speaker that was killed has held', async () => {
    await apply('newcomers');
    const successor = master.start(
      program,
      JSON.stringify([{ address: VIP, port: 6443, machinePort: 6443 }]),
    );
    successor.send({ [VIP]: 'none' });
    expect(await successor.next(field('runs'))).toBe(1);
    expect(connect(VIP)).toBe('connected');
    expect(connect(VIP6)).toBe('connected');
  });

  it('has elements that end by themselves', async () => {
    await apply('newcomers');
    const sets = master.run('nft', 'list', 'table', 'inet', 'bgp_lb_drain');
    await apply('none');
    expect(sets).toMatch(/10\.100\.0\.1 \. 6443 timeout 30s expires \d+s/);
    expect(sets).toMatch(/10\.100\.0\.1 timeout 1h1m40s expires 1h1m/);
  });
});
