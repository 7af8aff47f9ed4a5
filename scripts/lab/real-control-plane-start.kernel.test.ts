import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Lab } from './lab.ts';

const shebang = `#!${process.execPath}\n`;

/** Understands the arguments that the lab gives to kube-apiserver; `/readyz` is red for its first 200 ms. */
const fakeApiServer = `${shebang}
  const { createServer } = require('node:https');
  const { readFileSync } = require('node:fs');
  const flag = (name) => process.argv.find((a) => a.startsWith('--' + name + '='))?.split('=')[1];
  const start = Date.now();
  createServer({ cert: readFileSync(flag('tls-cert-file')), key: readFileSync(flag('tls-private-key-file')) },
    (request, answer) => {
      answer.statusCode = request.url === '/readyz' && Date.now() - start < 200 ? 500 : 200;
      answer.end('ok');
    }).listen(Number(flag('secure-port')));`;

/** Answers member/add as etcd's gateway does, knowing one member. */
const fakeEtcd = `${shebang}
  const { createServer } = require('node:http');
  console.error('arguments ' + process.argv.slice(2).join(' '));
  createServer((request, answer) => answer.end(JSON.stringify({ members: [
    { name: 'm1', peerURLs: ['http://10.0.0.11:2380'] }, { peerURLs: ['http://10.0.0.12:2380'] },
  ] }))).listen(2379);`;

describe('a lab whose KUBEBUILDER_ASSETS names a control plane', () => {
  let assets: string;
  let lab: Lab;

  beforeAll(async () => {
    assets = mkdtempSync(`${tmpdir()}/bgplb-assets-`);
    for (const [name, text] of Object.entries({ 'kube-apiserver': fakeApiServer, etcd: fakeEtcd })) {
      writeFileSync(`${assets}/${name}`, text);
      chmodSync(`${assets}/${name}`, 0o755);
    }
    vi.stubEnv('KUBEBUILDER_ASSETS', assets);
    lab = await Lab.create({ masters: 2 });
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await lab.destroy();
    rmSync(assets, { recursive: true, force: true });
  });

  const etcdLog = (n: number): string =>
    lab
      .master(n)
      .processes.find(({ name }) => name === 'etcd')
      ?.tail() ?? '';

  it('starts etcd and kube-apiserver on the first master and waits until /readyz is green', async () => {
    const master = lab.master(1);
    await master.installCertificates();
    await master.startApiServer();
    expect(await lab.client.request({ host: master.address, path: '/readyz' })).toMatchObject({
      ok: true,
      master: 'm1',
    });
    expect(etcdLog(1)).toContain('--initial-cluster-state=new');
  });

  it('adds the etcd of the next master to the cluster before it starts it', async () => {
    await lab.master(2).installCertificates(lab.master(1));
    await lab.master(2).startApiServer();
    expect(etcdLog(2)).toContain(
      '--initial-cluster=m1=http://10.0.0.11:2380,m2=http://10.0.0.12:2380 --initial-cluster-state=existing',
    );
  });

  it('keeps long connections by requests, and has no modes to set', async () => {
    const host = lab.master(2).address;
    expect(await lab.client.open(3, { host })).toMatchObject({ opened: 3, byMaster: { m2: 3 } });
    expect(await lab.client.check()).toMatchObject({ alive: 3, broken: 0 });
    await expect(lab.master(2).setApiServer('not-ready')).rejects.toThrow('has no modes');
  });
});
