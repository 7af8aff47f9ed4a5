import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestCa } from '../testing/certificates.ts';
import { withoutDescriptors } from '../testing/out-of-descriptors.ts';
import { BootstrapWatch } from './bootstrap-watch.ts';

let folder: string;
let complaints: string[];
let mounted: string[];
const ca = new TestCa();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bgp-lb-state-'));
  complaints = [];
  mounted = [];
  writeFileSync(path('machine-id'), 'machine-1\n');
  writeFileSync(path('ca.crt'), ca.certificate);
  const written = Math.floor(Date.now() / 1000) - 60;
  utimesSync(path('ca.crt'), written, written);
});

afterEach(() => {
  for (const mount of mounted) execFileSync('umount', [mount]);
  rmSync(folder, { recursive: true, force: true });
});

afterAll(() => rmSync(ca.folder, { recursive: true, force: true }));

function path(file: string): string {
  return join(folder, file);
}

const stateFile = (): string => path('state/state.json');

function start(): BootstrapWatch {
  return new BootstrapWatch(
    {
      role: 'join',
      markers: [path('state/bootstrapped')],
      stateDir: path('state'),
      machineIdFile: path('machine-id'),
      caFile: path('ca.crt'),
    },
    (message) => complaints.push(message),
  );
}

/** What an operator does who knows that this machine is a member: `touch`. */
function touchMarker(): void {
  mkdirSync(path('state'), { recursive: true });
  writeFileSync(path('state/bootstrapped'), '');
}

function prove(): BootstrapWatch {
  touchMarker();
  const watch = start();
  expect(watch.observe().proof).toBe('proven');
  return watch;
}

function mount(...options: readonly string[]): void {
  execFileSync('mount', [...options, path('state')]);
  mounted.push(path('state'));
}

describe('a state.json that is not one', () => {
  it.each([
    ['cut short', () => writeFileSync(stateFile(), '{"version":1,"latch":')],
    ['empty', () => writeFileSync(stateFile(), '')],
    ['of an unknown version', () => writeFileSync(stateFile(), '{"version":2,"consumed":[]}')],
    ['binary', () => writeFileSync(stateFile(), Buffer.from([0, 0xff, 0xfe, 0]))],
    [
      'a folder',
      () => {
        rmSync(stateFile());
        mkdirSync(stateFile());
        writeFileSync(join(stateFile(), 'something'), '');
      },
    ],
  ])('%s: proves nothing, is put aside, and one marker makes the machine a member again', (_, spoil) => {
    prove();
    spoil();
    const status = start().observe();
    expect(status).toMatchObject({ proof: 'void', detail: expect.stringContaining('state.json.corrupt') });
    expect(complaints).toEqual([expect.stringContaining('state.json is not believed')]);
    expect(existsSync(`${stateFile()}.corrupt`)).toBe(true);
    // A restart does not forget it.
    expect(start().observe().proof).toBe('void');
    touchMarker();
    expect(start().observe().proof).toBe('proven');
  });

  it('is put aside though an earlier one is there', () => {
    prove();
    mkdirSync(`${stateFile()}.corrupt/full`, { recursive: true });
    writeFileSync(stateFile(), 'second');
    expect(start().observe().proof).toBe('void');
    expect(readFileSync(`${stateFile()}.corrupt`, 'utf8')).toBe('second');
  });
});

describe('a state.json that cannot be read', () => {
  /** root reads everything but what is no file: a socket or a loop of links stands for a bad disk, and for what a pod without CAP_DAC_OVERRIDE may not read. */
  function spoil(): string {
    const good = readFileSync(stateFile(), 'utf8');
    rmSync(stateFile());
    execFileSync('ln', ['-s', 'state.json', stateFile()]);
    return good;
  }

  it.each([
    ['a file without end', () => truncateSync(stateFile(), 2 ** 40), /has more than 262144 octets/],
    [
      'a pipe that nobody writes to',
      () => {
        rmSync(stateFile());
        execFileSync('mkfifo', [stateFile()]);
      },
      /neither a file nor a link to one/,
    ],
  ])('since it is %s costs neither memory nor time', (_, become, detail) => {
    prove();
    become();
    expect(start().observe()).toMatchObject({ proof: 'void', detail: expect.stringMatching(detail) });
  });

  it('does not end the speaker: the proof is void with the reason, the file is left alone', () => {
    prove();
    spoil();
    const status = start().observe();
    expect(status).toMatchObject({
      proof: 'void',
      detail: expect.stringMatching(/state.json cannot be read: ELOOP/),
    });
    expect(complaints).toEqual([expect.stringContaining('cannot be read')]);
    expect(existsSync(`${stateFile()}.corrupt`)).toBe(false);
  });

  it('is read again until it can be, without a restart', () => {
    prove();
    const good = spoil();
    let now = 0;
    const clock = performance.now;
    performance.now = () => now;
    try {
      const watch = start();
      expect(watch.observe().proof).toBe('void');
      rmSync(stateFile());
      writeFileSync(stateFile(), good);
      now = 4_999;
      expect(watch.observe().proof).toBe('void');
      now = 5_000;
      expect(watch.observe().proof).toBe('proven');
    } finally {
      performance.now = clock;
    }
  });
});

describe('a ca.crt that cannot be read', () => {
  it('does not cost a master its proof: it is a shortage of this process, and over with it', () => {
    const watch = prove();
    const rotated = `${ca.certificate}\n`;
    writeFileSync(path('ca.crt'), rotated);
    const looks = withoutDescriptors(() => [1, 2, 3, 4].map(() => watch.observe()));
    for (const look of looks) {
      expect(look).toMatchObject({ proof: 'proven', detail: expect.stringContaining('EMFILE') });
    }
    expect(watch.caPem).toBe(ca.certificate);
    expect(watch.observe()).toMatchObject({ proof: 'proven', detail: expect.not.stringContaining('EMFILE') });
    expect(watch.caPem).toBe(rotated);
  });

  it('is not taken for one that is gone when not even its inode can be looked at', () => {
    const watch = prove();
    rmSync(path('ca.crt'));
    execFileSync('ln', ['-s', 'ca.crt', path('ca.crt')]);
    for (const look of [1, 2, 3, 4].map(() => watch.observe())) expect(look.proof).toBe('proven');
    rmSync(path('ca.crt'));
    expect([1, 2, 3].map(() => watch.observe().proof)).toEqual(['proven', 'proven', 'void']);
  });
});

describe('a disk that does not take the state', () => {
  /** The marker is there already: on a full disk an empty file still finds room, on one that is read-only it was before. */
  function expectServiceWithoutSaving(reason: string): BootstrapWatch {
    const watch = start();
    const status = watch.observe();
    expect(status).toMatchObject({ proof: 'proven', isNewProof: true });
    expect(status.detail).toContain(
      `state.json cannot be written, what is known is lost with a restart: ${reason}`,
    );
    expect(complaints).toEqual([expect.stringContaining(reason)]);
    // The marker stays for as long as it is all that survives a restart.
    expect(existsSync(path('state/bootstrapped'))).toBe(true);
    expect(start().observe().proof).toBe('proven');
    return watch;
  }

  it('full: the master serves, says that a restart loses the proof, and saves it when there is room', () => {
    mkdirSync(path('state'));
    mount('-t', 'tmpfs', '-o', 'size=64k', 'tmpfs');
    touchMarker();
    execFileSync('sh', ['-c', 'cat /dev/zero > "$1" 2> /dev/null || true', 'sh', path('state/filler')]);
    const watch = expectServiceWithoutSaving('ENOSPC');
    rmSync(path('state/filler'));
    const after = watch.observe();
    expect(after.detail).not.toContain('cannot be written');
    expect(existsSync(path('state/bootstrapped'))).toBe(false);
    expect(statSync(stateFile()).size).toBeGreaterThan(100);
    expect(start().observe().proof).toBe('proven');
  });

  it('full: a state that is there already is never cut short', () => {
    mkdirSync(path('state'));
    mount('-t', 'tmpfs', '-o', 'size=64k', 'tmpfs');
    const watch = prove();
    execFileSync('sh', ['-c', 'cat /dev/zero > "$1" 2> /dev/null || true', 'sh', path('state/filler')]);
    watch.noteAdvertised('10.0.0.100');
    expect(watch.observe().detail).toContain('ENOSPC');
    expect(start().observe().proof).toBe('proven');
  });

  it('read-only: the same', () => {
    touchMarker();
    mount('--bind', path('state'));
    execFileSync('mount', ['-o', 'remount,bind,ro', path('state')]);
    expectServiceWithoutSaving('EROFS');
  });

  it('a file in the place of the folder: void with the reason, and no end of the process', () => {
    writeFileSync(path('state'), '');
    const status = start().observe();
    expect(status).toMatchObject({ proof: 'void', detail: expect.stringContaining('ENOTDIR') });
  });
});
