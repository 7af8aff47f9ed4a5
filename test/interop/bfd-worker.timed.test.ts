import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { BfdSessionOptions } from '@bgp-lb/protocol/node';
import { build } from 'esbuild';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { NamespaceProcess } from '../kit/namespace-process.ts';
import { cable, NetworkNamespace } from '../kit/network-namespace.ts';
import type { BfdEnd } from './bfd-end.ts';

const root = resolve(import.meta.dirname, '../..');

const fast = { transmitInterval: 50, receiveInterval: 50, detectMultiplier: 3 } as const;
/** The sessions of one end: `4` and `6`. */
const towards = (host: 1 | 2): readonly BfdSessionOptions[] => [
  { id: '4', remoteAddress: `10.9.0.${host}`, ...fast },
  { id: '6', remoteAddress: `fd00:9::${host}`, ...fast },
];
const ids = ['4', '6'];

describe('two of our BFD workers, bundled into one file each, at 50 ms x 3', () => {
  const namespaces: NetworkNamespace[] = [];
  let folder = '';
  let bundle: URL;
  let left: NamespaceProcess<BfdEnd>;
  let right: NamespaceProcess<BfdEnd>;

  beforeAll(async () => {
    // Inside the project, where the bundle finds what stays outside of it.
    mkdirSync(join(root, 'dist'), { recursive: true });
    folder = mkdtempSync(join(root, 'dist', 'bfd-'));
    const outfile = join(folder, 'bfd-end.mjs');
    await build({
      entryPoints: [join(import.meta.dirname, 'bfd-end.ts')],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      external: ['koffi'],
      logLevel: 'error',
    });
    bundle = pathToFileURL(outfile);
    const one = NetworkNamespace.create('bfd-left');
    namespaces.push(one);
    const other = NetworkNamespace.create('bfd-right');
    namespaces.push(other);
    cable(
      { namespace: one, device: 'v0', addresses: ['10.9.0.1/24', 'fd00:9::1/64'] },
      { namespace: other, device: 'v0', addresses: ['10.9.0.2/24', 'fd00:9::2/64'] },
    );
    left = await one.start<BfdEnd>(bundle);
    await left.run(({ add }, sessions) => add(sessions), towards(2));
  });

  beforeEach(async () => {
    right = (await namespaces[1]?.start<BfdEnd>(bundle)) ?? right;
    await right.run(({ add }, sessions) => add(sessions), towards(1));
    await Promise.all([allIn(left, 'Up'), allIn(right, 'Up')]);
  });

  afterAll(async () => {
    await Promise.all(namespaces.map((namespace) => namespace.remove()));
    rmSync(folder, { recursive: true, force: true });
  });

  const allIn = (end: NamespaceProcess<BfdEnd>, state: 'Up' | 'Down') =>
    end.run(({ allIn: wait }, wanted) => wait(wanted.ids, wanted.state), { ids, state });
  const failuresOf = (end: NamespaceProcess<BfdEnd>) => end.run(({ failures }) => failures());

  it('hold while the main thread is busy', async () => {
    const before = (await failuresOf(left)).length;
    for (let round = 0; round < 3; round += 1) await left.run(({ block }) => block(500));
    const { sessions } = await left.run(({ status }) => status());
    expect(sessions.map(({ state, detectionTime }) => [state, detectionTime])).toEqual([
      ['Up', 150],
      ['Up', 150],
    ]);
    expect(await failuresOf(left)).toHaveLength(before);
    expect(await failuresOf(right)).toEqual([]);
    await right.run(({ bfd }) => bfd().stop());
    await allIn(left, 'Down');
    expect(await failuresOf(left)).toHaveLength(before);
    await right.stop();
  });

  it('tell of a killed process in the Detection Time', async () => {
    process.kill(right.pid, 'SIGKILL');
    for (const change of await allIn(left, 'Down')) {
      expect(change).toMatchObject({ reason: 'detection-expired', isFailure: true, detectionTime: 150 });
      const silence = change.at - (change.lastReceivedAt ?? 0);
      expect(silence).toBeGreaterThanOrEqual(150);
      expect(silence - change.timerDelay).toBeLessThan(170);
    }
  });

  it('do not take their own stall for the death of the peer', async () => {
    process.kill(right.pid, 'SIGSTOP');
    await allIn(left, 'Down');
    await sleep(300);
    process.kill(right.pid, 'SIGCONT');
    await right.run(({ failuresOf: wait }, count) => wait(count), ids.length);
    await allIn(right, 'Up');
    const changes = await failuresOf(right);
    // What waited in the socket says it: the peer was there, and took us for dead.
    expect(changes.map(({ id, reason, remoteDiagnostic }) => ({ id, reason, remoteDiagnostic }))).toEqual(
      expect.arrayContaining(ids.map((id) => ({ id, reason: 'peer-down', remoteDiagnostic: 1 }))),
    );
    expect(changes).toHaveLength(2);
    await right.stop();
  });
});
