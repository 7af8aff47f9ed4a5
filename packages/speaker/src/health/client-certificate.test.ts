import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestCa } from '../testing/certificates.ts';
import { ClientCertificateReader } from './client-certificate.ts';

let folder: string;
let warnings: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bgp-lb-client-'));
  warnings = [];
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const path = (name: string): string => join(folder, name);

function reader(): ClientCertificateReader {
  const files = { certFile: path('client.crt'), keyFile: path('client.key') };
  return new ClientCertificateReader(files, (message) => warnings.push(message));
}

describe('the client certificate of the probe', () => {
  it('appears with its files, follows their renewal, and is not read again in between', () => {
    const ca = new TestCa(folder);
    const read = reader();
    expect(read.read()).toBeUndefined();
    const first = ca.serving(['DNS:prober']);
    copyFileSync(first.cert, path('client.crt'));
    copyFileSync(first.key, path('client.key'));
    const pair = read.read();
    expect(pair?.cert).toContain('BEGIN CERTIFICATE');
    expect(read.read()).toBe(pair);
    const renewed = ca.serving(['DNS:renewed']);
    copyFileSync(renewed.cert, path('client.crt'));
    // Half way through a renewal the two do not fit: the old pair stays.
    expect(read.read()).toBe(pair);
    copyFileSync(renewed.key, path('client.key'));
    expect(read.read()?.cert).not.toBe(pair?.cert);
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toMatch(/client\.crt.*ENOENT.*goes on without one/);
    expect(warnings[1]).toMatch(/goes on with the last good one/);
  });

  it('never shows the key', () => {
    writeFileSync(path('client.crt'), 'no certificate');
    writeFileSync(path('client.key'), 'SECRET KEY');
    expect(reader().read()).toBeUndefined();
    expect(warnings.join()).not.toContain('SECRET');
  });
});
