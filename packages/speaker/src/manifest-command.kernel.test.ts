import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const main = new URL('./main.ts', import.meta.url).pathname;
let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'bgp-lb-manifest-')));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('manifest names the configuration by a path that the kubelet finds, wherever it was written', () => {
  writeFileSync(
    join(folder, 'speaker.yaml'),
    'apiVersion: bgp-lb.dev/v1alpha1\nkind: Speaker\nrole: join\nasn: 64512\nvips: [{ address: 10.9.0.100 }]\nrouters: [{ address: 10.0.0.10, asn: 64512 }]\n',
  );
  const pod = execFileSync(process.execPath, [main, 'manifest', '-c', 'speaker.yaml'], {
    cwd: folder,
    encoding: 'utf8',
  });
  const paths = [...pod.matchAll(/^\s*(?:path|mountPath): (\S+)$/gm)].map(([, path = '']) => path);
  expect(paths).toContain(join(folder, 'speaker.yaml'));
  expect(paths.filter((path) => !path.startsWith('/'))).toEqual([]);
  expect(pod).toMatch(new RegExp(`--config\\n\\s+- ${folder}/speaker.yaml`));
});
