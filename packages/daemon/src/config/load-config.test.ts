import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { faultsOf, HEAD, loadSample, sampleSchema } from '../testing/sample-schema.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { loadConfig } from './load-config.ts';
import { MAX_CONFIG_SIZE } from './yaml-source.ts';

const folder = temporaryFolder();
afterEach(() => folder.remove());

function loadFile(file: string): unknown {
  return loadConfig({ schema: sampleSchema, file, apiVersion: 'bgp-lb.dev/v1alpha1', kind: 'Router' });
}

describe('a good configuration', () => {
  it('gives values in units of the program, defaults included', () => {
    const { config } = loadSample(
      `${HEAD}asn: 64512\npanicThreshold: 25%\nneighbors: [{ name: m, range: 10.0.0.0/24, asn: [1, '1.10'], holdTime: 1.5m }]\n`,
    );
    expect(config).toEqual({
      asn: 64512,
      vips: [{ address: '10.0.0.100', port: 6443 }],
      neighbors: [{ name: 'm', range: '10.0.0.0/24', asn: [1, 65546], holdTime: 90_000 }],
      healthCheck: { serverName: 'kubernetes', interval: 1000, rise: 2 },
      panicThreshold: 0.25,
      api: { socket: '/run/bgp-lb/router.sock' },
      routeToVip: false,
      role: 'init',
    });
  });

  it('may use anchors and aliases', () => {
    const { config } = loadSample(
      `${HEAD}asn: &as 64512\nneighbors: [{ name: a, asn: *as }, { name: b, asn: *as }]\n`,
    );
    expect(config.neighbors.map((neighbor) => neighbor.asn)).toEqual([64512, 64512]);
  });

  it('may have apiVersion and kind in its schema', () => {
    const schema = z.strictObject({ apiVersion: z.string(), kind: z.string() });
    const options = { schema, file: 'f', text: 'apiVersion: v1\nkind: K\n', apiVersion: 'v1', kind: 'K' };
    expect(loadConfig(options).config).toEqual({ apiVersion: 'v1', kind: 'K' });
  });

  it('says where each value came from', () => {
    const { origin } = loadSample(`${HEAD}asn: 64512\n`, {
      argv: { 'vips.0.port': '7443' },
      env: { BGP_LB_ROLE: 'join' },
    });
    expect(['asn', 'vips.0.address', 'vips.0.port', 'role', 'panicThreshold'].map(origin)).toEqual([
      'router.yaml:4:6',
      'router.yaml:3:19',
      '--vips.0.port',
      'BGP_LB_ROLE',
      'default',
    ]);
  });
});

describe('a file that cannot be read', () => {
  it('that is missing is named', () => {
    const file = join(folder.path, 'none.yaml');
    expect(faultsOf(() => loadFile(file)).text).toBe(
      `${file}: cannot be read: there is no such file (ENOENT)`,
    );
  });

  it('that is a folder is named as one', () => {
    mkdirSync(join(folder.path, 'folder'), { recursive: true });
    expect(faultsOf(() => loadFile(join(folder.path, 'folder'))).text).toMatch(
      /cannot be read: it is a folder/,
    );
  });

  it('that is too large is not read', () => {
    mkdirSync(folder.path, { recursive: true });
    const file = join(folder.path, 'large.yaml');
    writeFileSync(file, '#'.repeat(MAX_CONFIG_SIZE + 1));
    chmodSync(file, 0o600);
    expect(faultsOf(() => loadFile(file)).text).toBe(
      `${file}: cannot be read: it has more than ${MAX_CONFIG_SIZE} octets`,
    );
  });

  it('that is a pipe is not waited for: a daemon that reloads has other work', () => {
    mkdirSync(folder.path, { recursive: true });
    const file = join(folder.path, 'pipe.yaml');
    execFileSync('mkfifo', [file]);
    expect(faultsOf(() => loadFile(file)).text).toBe(
      `${file}: cannot be read: it is neither a file nor a link to one`,
    );
  });

  it('that is not UTF-8 is refused', () => {
    mkdirSync(folder.path, { recursive: true });
    const file = join(folder.path, 'latin1.yaml');
    writeFileSync(file, Buffer.from([0x61, 0x3a, 0x20, 0xe9]));
    expect(faultsOf(() => loadFile(file)).text).toBe(`${file}: cannot be read: it is not UTF-8 text`);
  });
});

describe('apiVersion and kind', () => {
  it("of another program are the only fault that is shown, since every key would be another program's", () => {
    const { text } = faultsOf(() =>
      loadSample('apiVersion: bgp-lb.dev/v1alpha1\nkind: Speaker\nrole: x\nfoo: 1\n'),
    );
    expect(text.split('\n')).toEqual([
      'router.yaml:2:7: kind: is not what this program reads, got "Speaker"; allowed: Router',
      '    2 | kind: Speaker',
      '      |       ^',
    ]);
  });

  it('that are missing are faults beside the others', () => {
    const { diagnostics } = faultsOf(() => loadSample('vips: [{ address: 10.0.0.1 }]\n'));
    expect(diagnostics.map((one) => `${one.path}: ${one.message}`)).toEqual([
      'apiVersion: is required',
      'asn: is required',
      'kind: is required',
    ]);
  });
});
