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
});

afterAll(async () => {
  await Promise.all([client.remove(), master.remove()]);
});

async function apply(what: 'none' | 'refusals' | 'newcomers'): Promise<void> {
  hold.send({ [VIP]: what, [VIP6]: what });
  expect(await hold.next((message) => field('held')(message) ?? field('failed')(message))).toBe(true);
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
    await apply('newcomers');
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
    await apply('refusals');
    expect(connect(vip, 6444)).toBe('no answer');
    expect(connect(vip)).toBe('connected');
    await apply('none');
    expect(connect(vip, 6444)).toBe('refused');
    expect(master.run('nft', 'list', 'tables')).toBe('');
  });
});
