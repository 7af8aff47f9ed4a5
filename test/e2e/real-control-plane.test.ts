/** With KUBEBUILDER_ASSETS: what only a real kube-apiserver can say of the credentials and the annotation. */
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueAdminCertificate, issueClientCertificate } from '../../scripts/lab/cluster-pki.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import { controlPlaneAssets } from '../../scripts/lab/real-control-plane.ts';
import { runCommand } from '../../scripts/lab/run-command.ts';

const TIMEOUT = 300_000;
const patience = 120_000;
const assets = controlPlaneAssets();
const nodes = '/api/v1/nodes';

interface Answer {
  readonly status: number;
  readonly body: string;
}

describe('a speaker beside a real kube-apiserver', { timeout: TIMEOUT }, () => {
  let lab: Lab;
  let master: MasterHost;

  beforeAll(async () => {
    if (assets === undefined) return;
    lab = await Lab.create({ masters: 1, shutdownDelay: 5_000, router: { pool: { flapHold: '0s' } } });
    master = lab.master(1);
    await lab.lb.router.start(patience);
    await master.installCertificates();
    await issueAdminCertificate(master.pkiFolder);
    await issueClientCertificate(master.pkiFolder, 'speaker', `/CN=bgp-lb-speaker:${master.name}`);
    writeFileSync(master.path('etc/kubeconfig'), kubeconfig());
    writeFileSync(master.markerFile, '');
    const annotation = { node: master.name, kubeconfig: master.path('etc/kubeconfig') };
    master.writeSpeakerConfig('init', { drain: { file: master.path('run/drain'), annotation } });
    await master.startApiServer();
    await master.startSpeaker();
  }, TIMEOUT);
  afterAll(async () => {
    await lab?.destroy();
  });

  function kubeconfig(): string {
    const file = (name: string): string => `${master.pkiFolder}/${name}`;
    const server = `https://${master.address}:6443`;
    return JSON.stringify({
      'current-context': 'a',
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      clusters: [{ name: 'a', cluster: { server, 'certificate-authority': file('ca.crt') } }],
      users: [
        { name: 'a', user: { 'client-certificate': file('speaker.crt'), 'client-key': file('speaker.key') } },
      ],
    });
  }

  /** One request to its API, as `admin` or as `speaker`. */
  async function api(as: 'admin' | 'speaker', method: string, path: string, body?: object): Promise<Answer> {
    const { address, pkiFolder: pki } = master;
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const program = `
      import { request } from 'node:https';
      import { readFileSync } from 'node:fs';
      const read = (name) => readFileSync('${pki}/' + name);
      const options = { host: '${address}', port: 6443, path: '${path}', method: '${method}', ca: read('ca.crt'),
        cert: read('${as}.crt'), key: read('${as}.key'), headers: { 'content-type': '${type}' } };
      request(options, async (answer) => {
        const body = (await answer.toArray()).join('');
        console.log(JSON.stringify({ status: answer.statusCode, body }));
      }).end(readFileSync(0));`;
    const argv = [process.execPath, '--input-type=module', '-e', program];
    return JSON.parse(
      await master.exec(argv, { input: body === undefined ? '' : JSON.stringify(body) }),
    ) as Answer;
  }

  async function grant(): Promise<void> {
    const { stdout } = await master.speaker.command(['manifest', '--rbac']);
    const toJson = 'import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)';
    const { items } = JSON.parse(await runCommand(['python3', '-c', toJson], { input: stdout })) as {
      items: readonly { kind: string }[];
    };
    for (const item of items) {
      const path = `/apis/rbac.authorization.k8s.io/v1/${item.kind.toLowerCase()}s`;
      expect(await api('admin', 'POST', path, item)).toMatchObject({ status: 201 });
    }
  }

  const annotate = (word: string | null): Promise<Answer> =>
    api('admin', 'PATCH', `${nodes}/${master.name}`, {
      metadata: { annotations: { 'bgp-lb.dev/drain': word } },
    });
  const reaches = async (state: string): Promise<void> => {
    await master.speaker.waitFor(state, ({ vips: [vip] }) => vip?.state === state, patience);
  };

  it('is in the pool by the certificates that kubeadm makes, without a credential', async ({ skip }) => {
    skip(assets === undefined, 'optional: kubebuilder-assets');
    await lab.lb.waitForPool([master.address], patience);
  });

  it('follows the annotation with the RBAC that it prints, which allows nothing else', async ({ skip }) => {
    skip(assets === undefined, 'optional: kubebuilder-assets');
    const own = `${nodes}?fieldSelector=metadata.name%3D${master.name}`;
    expect(await api('speaker', 'GET', own)).toMatchObject({ status: 403 });
    await grant();
    expect(
      await api('admin', 'POST', nodes, {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: master.name },
      }),
    ).toMatchObject({ status: 201 });
    // The authorizer hears of a new role a moment later.
    await expect.poll(() => api('speaker', 'GET', own), { timeout: patience }).toMatchObject({ status: 200 });
    for (const path of [nodes, `${nodes}/${master.name}`, '/api/v1/namespaces/kube-system/secrets']) {
      expect({ path, ...(await api('speaker', 'GET', path)) }).toMatchObject({ path, status: 403 });
    }
    expect(await annotate('force')).toMatchObject({ status: 200 });
    await reaches('absent');
    expect((await master.speaker.status()).vips).toMatchObject([{ reason: 'drained by annotation' }]);
    expect(await annotate(null)).toMatchObject({ status: 200 });
    await reaches('advertised');
  });

  it('drains at the first sight of [-]shutdown, and is back with the next API server', async ({ skip }) => {
    skip(assets === undefined, 'optional: kubebuilder-assets');
    const stopped = master.stopApiServer();
    await master.speaker.waitFor(
      'the API server that says that it stops',
      ({ gates }) =>
        gates.some(({ name, detail }) => name === 'readyz' && detail.includes('[-]shutdown failed')),
      patience,
    );
    await stopped;
    await reaches('absent');
    await master.startApiServer();
    await reaches('advertised');
    await lab.lb.waitForPool([master.address], patience);
  });
});
