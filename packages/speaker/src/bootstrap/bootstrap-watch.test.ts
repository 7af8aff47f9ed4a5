import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestCa } from '../testing/certificates.ts';
import { type BootstrapOptions, BootstrapWatch } from './bootstrap-watch.ts';

let folder: string;
let complaints: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bgp-lb-bootstrap-'));
  complaints = [];
  writeFileSync(path('machine-id'), 'machine-1\n');
  writeFileSync(path('ca.crt'), firstCa.certificate);
  utimesSync(path('ca.crt'), written, written);
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Keys take time: two CAs serve all tests. */
const firstCa = new TestCa();
const secondCa = new TestCa();

afterAll(() => {
  for (const ca of [firstCa, secondCa]) rmSync(ca.folder, { recursive: true, force: true });
});

/** When ca.crt was written: whole seconds, which every way to set a file's time keeps. */
const written = Math.floor(Date.now() / 1000) - 60;

function path(file: string): string {
  return join(folder, file);
}

/** A speaker's start: what it knows comes from the disk alone. */
function start(changes: Partial<BootstrapOptions> = {}): BootstrapWatch {
  const options: BootstrapOptions = {
    role: 'join',
    markers: [path('bootstrapped')],
    stateDir: path('state'),
    machineIdFile: path('machine-id'),
    caFile: path('ca.crt'),
    kubeadmFolder: path('kubeadm'),
    ...changes,
  };
  return new BootstrapWatch(options, (message) => complaints.push(message));
}

function prove(): BootstrapWatch {
  writeFileSync(path('bootstrapped'), '');
  const watch = start();
  expect(watch.observe().proof).toBe('proven');
  return watch;
}

describe('the latch on disk', () => {
  it('keeps the proof over a restart, and the marker is gone', () => {
    prove();
    expect(existsSync(path('bootstrapped'))).toBe(false);
    expect(start().observe()).toMatchObject({ proof: 'proven', isNewProof: false });
  });

  it('is readable by root alone and leaves no half-written file', () => {
    prove();
    expect(statSync(path('state/state.json')).mode & 0o777).toBe(0o600);
    expect(existsSync(path('state/state.json.new'))).toBe(false);
  });

  it('holds again once a machine-id that was not there at start can be read', () => {
    prove();
    rmSync(path('machine-id'));
    const watch = start();
    expect(watch.observe().proof).toBe('void');
    writeFileSync(path('machine-id'), 'machine-1\n');
    expect(watch.observe().proof).toBe('proven');
  });

  it('remembers which VIPs this member has advertised', () => {
    const watch = prove();
    watch.noteAdvertised('10.0.0.100');
    watch.noteAdvertised('10.0.0.100');
    expect(start().advertised).toEqual(['10.0.0.100']);
  });

  it('tells that a marker has just appeared', () => {
    const watch = start();
    expect(watch.observe()).toMatchObject({ proof: 'unproven', isNewProof: false });
    writeFileSync(path('bootstrapped'), '');
    expect(watch.observe()).toMatchObject({ proof: 'proven', isNewProof: true });
    expect(watch.observe()).toMatchObject({ proof: 'proven', isNewProof: false });
  });

  it('is void on another machine', () => {
    prove();
    writeFileSync(path('machine-id'), 'machine-2\n');
    expect(start().observe().proof).toBe('void');
  });

  it('is void when ca.crt was missing in three looks, not in two', () => {
    const watch = prove();
    rmSync(path('ca.crt'));
    expect([watch.observe(), watch.observe(), watch.observe()].map(({ proof }) => proof)).toEqual([
      'proven',
      'proven',
      'void',
    ]);
  });

  it('survives a moment without ca.crt, as a replacement makes it', () => {
    const watch = prove();
    rmSync(path('ca.crt'));
    watch.observe();
    watch.observe();
    writeFileSync(path('ca.crt'), firstCa.certificate);
    utimesSync(path('ca.crt'), written, written);
    expect(watch.observe().proof).toBe('proven');
    expect(watch.observe().proof).toBe('proven');
  });

  it('is void when ca.crt is of another cluster', () => {
    const watch = prove();
    writeFileSync(path('ca.crt'), secondCa.certificate);
    expect(watch.observe().proof).toBe('void');
  });

  it('follows a rotation that keeps one key in common', () => {
    const watch = prove();
    writeFileSync(path('ca.crt'), `${firstCa.certificate}${secondCa.certificate}`);
    expect(watch.observe().proof).toBe('proven');
    expect(watch.observe().caKeys).toHaveLength(2);
    writeFileSync(path('ca.crt'), secondCa.certificate);
    expect(start().observe().proof).toBe('proven');
  });

  it('is void when a re-join made the same ca.crt again', () => {
    const watch = prove();
    rmSync(path('ca.crt'));
    writeFileSync(path('ca.crt'), firstCa.certificate);
    expect(watch.observe().proof).toBe('void');
  });

  it.each([
    ['touch', () => utimesSync(path('ca.crt'), new Date(), new Date())],
    ['a tool that writes what is there already', () => writeFileSync(path('ca.crt'), firstCa.certificate)],
    ['chmod and chown', () => chmodSync(path('ca.crt'), 0o600)],
    [
      'a restored backup',
      () => {
        cpSync(path('ca.crt'), path('backup'), { preserveTimestamps: true });
        renameSync(path('backup'), path('ca.crt'));
      },
    ],
  ])('outlives what is no re-join: %s', (_, change) => {
    const watch = prove();
    change();
    expect(watch.observe().proof).toBe('proven');
    expect(start().observe().proof).toBe('proven');
  });

  it('is not made by an empty marker older than ca.crt', () => {
    writeFileSync(path('bootstrapped'), '');
    utimesSync(path('bootstrapped'), written - 1, written - 1);
    const status = start().observe();
    expect(status.proof).toBe('unproven');
    expect(status.detail).toContain('older than ca.crt');
    expect(existsSync(path('bootstrapped'))).toBe(true);
  });

  it('does not believe a state of an unknown version', () => {
    prove();
    const text = readFileSync(path('state/state.json'), 'utf8').replace('"version": 1', '"version": 2');
    writeFileSync(path('state/state.json'), text);
    expect(start().observe().proof).toBe('void');
  });
});

describe('the role of cluster-api', () => {
  it('comes from the file that the kubeadm provider wrote', () => {
    expect(start({ role: 'cluster-api' }).observe().role).toBe('join');
    const watch = start({ role: 'cluster-api', kubeadmFolder: folder });
    writeFileSync(path('kubeadm.yaml'), '');
    expect(watch.observe().role).toBe('init');
  });
});
