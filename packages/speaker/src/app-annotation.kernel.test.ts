import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NODE, path, routesOf, SpeakerLab } from './testing/speaker-lab.ts';

const TIMEOUT = 240_000;

let lab: SpeakerLab;

beforeEach(() => {
  lab = new SpeakerLab();
}, TIMEOUT);

afterEach(() => lab.remove(), TIMEOUT);

function configure(): void {
  mkdirSync(lab.path('api'));
  const annotation = `{ node: master, kubeconfig: ${lab.path('api/kubeconfig')} }`;
  lab.configure({
    // An API server that is slow on a busy machine is not what is looked at here.
    apiServer: `{ caFile: ${lab.path('ca.crt')}, timeout: 2s, fall: 20 }`,
    drain: `{ file: ${lab.path('drain')}, timeout: 60s, annotation: ${annotation} }`,
  });
}

function writeKubeconfig(): void {
  writeFileSync(
    lab.path('api/kubeconfig'),
    `
current-context: a
contexts: [{ name: a, context: { cluster: a, user: a } }]
clusters: [{ name: a, cluster: { server: "https://${NODE}:6443", certificate-authority: ${lab.path('ca.crt')} } }]
users: [{ name: a, user: { token: word } }]
`,
  );
}

describe('drain by the annotation of the Node', { timeout: TIMEOUT }, () => {
  it('needs no credentials to start, begins and ends with the annotation, and outlives the speaker', async () => {
    configure();
    const [router] = await Promise.all([lab.startRouter(), lab.startApiServer()]);
    await lab.turn('ready');
    lab.finishKubeadm();
    const speaker = await lab.startSpeaker();
    expect(await routesOf(router)).toEqual([path.normal]);
    await lab.until(({ drainAnnotation }) => drainAnnotation?.error?.includes('ENOENT') ?? false);
    expect(lab.ask('explain')).toMatch(/drain annotation of master +no .*ENOENT/);
    writeKubeconfig();
    await lab.until(({ drainAnnotation }) => drainAnnotation?.error === null);

    await lab.turn('annotate force');
    expect(await routesOf(router)).toEqual([path.draining]);
    expect(await routesOf(router)).toEqual([]);
    expect(await lab.reach('absent')).toBe('drained by annotation');
    expect(JSON.parse(readFileSync(lab.path('state/drain-annotation.json'), 'utf8'))).toMatchObject({
      wish: 'force',
    });
    expect(() => lab.ask('undrain')).toThrow('still drained: annotation');
    await speaker.stop('SIGTERM');

    // Nothing tells it of the annotation now.
    writeFileSync(lab.path('api/kubeconfig'), '{}');
    await lab.startSpeaker();
    await lab.until(
      ({ routers, gates }) =>
        routers[0]?.session === 'Established' && gates.some(({ name, pass }) => name === 'readyz' && pass),
    );
    expect(await lab.reach('absent')).toBe('drained by annotation');
    writeKubeconfig();
    await lab.turn('annotate false');
    expect(await routesOf(router)).toEqual([path.normal]);
  });
});
