import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Lab } from './lab.ts';

describe('a host of the lab', () => {
  let lab: Lab;

  beforeAll(async () => {
    lab = await Lab.create({ masters: 1, controlPlane: 'stand-in' });
    await lab.master(1).installCertificates();
    await lab.master(1).startApiServer();
  });
  afterAll(async () => {
    await lab.destroy();
  });

  const macAddress = async (): Promise<string | undefined> =>
    (await lab.master(1).ipJson<{ address: string }[]>('link', 'show', 'dev', 'eth0'))[0]?.address;

  it('keeps its connections over a cut of its link that is mended', async () => {
    const host = lab.master(1).address;
    expect(await lab.client.open(5, { host })).toMatchObject({ opened: 5, byMaster: { m1: 5 } });
    await lab.master(1).disconnect();
    expect(await lab.client.check(300)).toMatchObject({ alive: 0, reasons: { 'no answer': 5 } });
    await lab.master(1).reconnect();
    expect(await lab.client.check(10_000)).toMatchObject({ alive: 5, broken: 0 });
    await lab.client.closeAll();
  });

  it('goes silently when the power is cut, and comes back with its files and its MAC address but an empty kernel', async () => {
    const master = lab.master(1);
    const before = await macAddress();
    await master.exec(['ip', 'address', 'add', '10.100.0.1/32', 'dev', 'lo']);
    await lab.client.open(5, { host: master.address });

    await master.powerOff();
    expect(master.isOn).toBe(false);
    expect(master.apiServer?.isRunning).toBe(false);
    // A process that dies on a live host would have been reported with ECONNRESET or the end of the stream.
    expect(await lab.client.check(300)).toMatchObject({ alive: 0, reasons: { 'no answer': 5 } });

    await master.powerOn();
    expect(await macAddress()).toBe(before);
    expect(await master.hasVip()).toBe(false);
    await master.startApiServer();
    expect(await lab.client.request({ host: master.address })).toMatchObject({ ok: true, master: 'm1' });
    // Its kernel knows nothing of the old connections.
    expect(await lab.client.check(10_000)).toMatchObject({ alive: 0, reasons: { ECONNRESET: 5 } });
    await lab.client.closeAll();
  });

  it('tells a client that does not trust the server, and one that asks by a name the certificate lacks', async () => {
    const host = lab.master(1).address;
    const admin = `${lab.master(1).pkiFolder}/admin.crt`;
    expect(await lab.client.request({ host, caFile: admin })).toMatchObject({ ok: false });
    expect(await lab.client.request({ host: '10.0.0.11' })).toMatchObject({ ok: true });
    await lab.master(1).exec(['ip', 'address', 'add', '10.0.0.99/24', 'dev', 'eth0']);
    expect(await lab.client.request({ host: '10.0.0.99' })).toMatchObject({
      ok: false,
      error: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
  });
});
