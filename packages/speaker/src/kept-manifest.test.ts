import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keepManifest, restoreManifest } from './kept-manifest.ts';

let folder: string;
let manifest: string;
let stateDir: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bgp-lb-manifest-'));
  manifest = join(folder, 'kubernetes/manifests/bgp-lb-speaker.yaml');
  stateDir = join(folder, 'state');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the manifest after kubeadm reset, which empties the folder of the kubelet', () => {
  it('is put back as it was placed last', () => {
    keepManifest(stateDir, 'image: one\n');
    keepManifest(stateDir, 'image: two\n');
    expect(restoreManifest(stateDir, manifest)).toEqual([expect.stringContaining(`put ${manifest} back`)]);
    expect(readFileSync(manifest, 'utf8')).toBe('image: two\n');
    expect(statSync(manifest).mode & 0o777).toBe(0o600);
  });

  it('is left alone where there is one', () => {
    keepManifest(stateDir, 'image: one\n');
    restoreManifest(stateDir, manifest);
    writeFileSync(manifest, 'edited\n');
    expect(restoreManifest(stateDir, manifest)).toEqual([]);
    expect(readFileSync(manifest, 'utf8')).toBe('edited\n');
  });

  it('is not made where none was ever placed', () => {
    expect(restoreManifest(stateDir, manifest)).toEqual([]);
    expect(existsSync(manifest)).toBe(false);
  });
});
