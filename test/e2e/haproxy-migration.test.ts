/** docs/migration.md: from a haproxy.cfg of kubeadm's guide to the router's HAProxy, on the same host with the same VIP and port. */
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import type { HostProcess } from '../../scripts/lab/host-process.ts';
import type { Lab } from '../../scripts/lab/lab.ts';
import type { JsonObject } from '../../scripts/lab/object-store.ts';
import { tryCommand } from '../../scripts/lab/run-command.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { createHaproxyLab, servedBy, workers } from '../kit/haproxy-lab.ts';
import { kubeadmGuide } from '../kit/kubeadm-guide.ts';

const router = new URL('../../dist/bgp-lb-router.mjs', import.meta.url).pathname;
const port = 6443;
/** Any that is free on the host. */
const portMeanwhile = 16_443;
const watches = 30;

describe.each([
  ['the VIP', `${vipAddress}:${port}`],
  ['all addresses', `*:${port}`],
])('a HAProxy by hand that is bound to %s', { timeout: 90_000 }, (_, bind) => {
  let lab: Lab;
  let byHand: HostProcess;
  let file: string;

  beforeAll(async () => {
    lab = await createHaproxyLab({ vipPort: port });
    for (const master of lab.masters.slice(1)) await master.installCertificates(lab.master(1));
    await Promise.all(lab.masters.map((master) => master.startApiServer()));
    file = lab.lb.path('etc/haproxy-by-hand.cfg');
    const servers = lab.masters.map(({ name, address }) => `${name} ${address}:6443 check verify none`);
    writeFileSync(file, kubeadmGuide({ global: ['log stdout format raw local0'], bind, servers }));
    await lab.lb.exec(['ip', 'address', 'add', `${vipAddress}/32`, 'dev', 'eth1']);
    byHand = lab.lb.spawn('by-hand', ['haproxy', '-W', '-f', file]);
    await waitUntil(async () => (await lab.client.request()).ok, { what: 'the old HAProxy serves' });
  }, 60_000);
  afterAll(() => lab?.destroy());

  /** router.yaml as import-haproxy prints it, with the lab's own places of files. */
  async function imported(): Promise<(over: JsonObject) => void> {
    const argv = [process.execPath, router, 'import-haproxy', file, '--vip', vipAddress];
    const { code, stdout } = await tryCommand(argv);
    expect(code).toBe(0);
    const { vips, healthCheck = {} } = parse(stdout) as { vips: JsonObject[]; healthCheck?: JsonObject };
    expect(vips).toMatchObject([{ address: vipAddress, port, machinePort: 6443 }]);
    return (over) =>
      lab.lb.writeConfig({ neighbors: [], healthCheck, vips: vips.map((vip) => ({ ...vip, ...over })) });
  }

  it('is replaced without a connection that fails or breaks', async () => {
    expect(await lab.client.open(watches, { exchangeEvery: 100 })).toMatchObject({ failed: 0 });
    await lab.client.startLoop({ every: 10 });
    const write = await imported();

    write({ port: portMeanwhile });
    await lab.lb.router.start();
    await servedBy(lab, lab.masters, 20_000);

    const before = await workers(lab);
    write({ port });
    expect((await lab.lb.router.query(['reload'])).code).toBe(0);
    await waitUntil(async () => (await workers(lab).catch(() => before)).current !== before.current, {
      what: 'a worker with the port of the clients',
    });
    await servedBy(lab, lab.masters);
    await asked(200);

    // Who waits to be accepted by the old one is not reset when it listens no more.
    await lab.lb.writeSysctls({ 'net.ipv4.tcp_migrate_req': '1' });
    // To its first process alone, as `systemctl kill --kill-whom=main`.
    process.kill(byHand.pid ?? 0, 'SIGUSR1');
    await asked(200);
    expect(await lab.client.stopLoop()).toMatchObject({ failed: 0, reasons: {} });
    expect(await lab.client.check()).toMatchObject({ alive: watches, broken: 0 });

    // The old one has those alone, and ends with the last of them.
    expect(byHand.isRunning).toBe(true);
    await lab.client.closeAll();
    await byHand.exited;
    expect((await lab.client.request()).ok).toBe(true);
  });

  /** Waits for so many more requests. */
  async function asked(count: number): Promise<void> {
    const { sent } = await lab.client.loopReport();
    await waitUntil(async () => (await lab.client.loopReport()).sent >= sent + count, {
      what: `${count} requests`,
      timeoutMs: 30_000,
    });
  }
});
