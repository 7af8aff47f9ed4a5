import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Lab } from './lab.ts';
import { listLabs, readRecord } from './lab-record.ts';
import { processesIn } from './namespace-processes.ts';
import { namespaceExists } from './network-namespace.ts';
import { isProcessAlive } from './process-identity.ts';
import { runCommand } from './run-command.ts';
import { waitUntil } from './wait-until.ts';

const labModule = new URL('./lab.ts', import.meta.url).href;

/** What the machine itself has: links, addresses, routes, rules. */
async function ownNetwork(): Promise<string[]> {
  const show = ['link', 'address', 'route', 'rule'];
  const texts = await Promise.all(show.map((what) => runCommand(['ip', '-json', what, 'show'])));
  // Lifetimes of addresses count down by themselves.
  return texts.map((text) => text.replace(/"(valid|preferred)_life_time":\d+/g, ''));
}

describe('a lab', () => {
  const owners: ChildProcess[] = [];
  const ids: string[] = [];

  afterEach(async () => {
    for (const owner of owners.splice(0)) owner.kill('SIGKILL');
    for (const id of ids.splice(0)) await Lab.remove(id);
  });

  function uniqueId(prefix: string): string {
    const id = `${prefix}${process.pid}`.slice(0, 8);
    ids.push(id);
    return id;
  }

  /** A process that makes a lab with something running in it, and then does nothing. */
  async function startOwner(id: string, more = ''): Promise<ChildProcess> {
    const program = `
      import { Lab } from '${labModule}';
      const lab = await Lab.create({ id: '${id}', masters: 1 });
      lab.master(1).spawn('sleep', ['sleep', '1000']);
      ${more}
      console.log('up');
      setInterval(() => {}, 1000);`;
    const owner = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    owners.push(owner);
    await new Promise<void>((resolve, reject) => {
      owner.stdout.once('data', () => resolve());
      owner.once('exit', () => reject(new Error('the owner ended before its lab was up')));
    });
    return owner;
  }

  function namespacesOf(id: string): string[] {
    return ['switch', 'upstream', 'client', 'lb1', 'm1'].map((host) => `bgplb-${id}-${host}`);
  }

  async function waitUntilGone(id: string, folder: string): Promise<void> {
    await waitUntil(
      () => !namespacesOf(id).some(namespaceExists) && !existsSync(folder) && readRecord(id) === undefined,
      { what: `lab ${id} removed` },
    );
  }

  it('connects its hosts, changes nothing of the machine, and leaves nothing', async () => {
    const before = await ownNetwork();
    const lab = await Lab.create({ id: uniqueId('a'), masters: 2, loadBalancers: 2 });
    const { folder } = lab;
    const namespaces = lab.hosts.map((host) => host.namespace);
    try {
      lab.master(1).spawn('sleep', ['sleep', '1000']);
      expect(await ownNetwork()).toEqual(before);
      // A route exists, and the other side answers ARP: that makes a neighbor entry with a MAC address.
      for (const [from, to] of [
        [lab.client, '10.0.2.1'],
        [lab.master(2), '10.0.0.10'],
        [lab.lb, '10.0.1.1'],
      ] as const) {
        const probe = `require('net').connect(9, '${to}').on('error', (e) => console.log(e.code))`;
        expect(await from.exec([process.execPath, '-e', probe])).toBe('ECONNREFUSED\n');
      }
    } finally {
      await lab.destroy();
    }
    expect(processesIn(namespaces)).toEqual([]);
    expect(namespaces.filter(namespaceExists)).toEqual([]);
    expect(existsSync(folder)).toBe(false);
    expect(await ownNetwork()).toEqual(before);
  });

  it('is refused while one of the same id runs, which stays as it is', async () => {
    const id = uniqueId('b');
    const lab = await Lab.create({ id, masters: 1 });
    try {
      await expect(Lab.create({ id, masters: 1 })).rejects.toThrow('exist');
      expect(lab.hosts.every((host) => host.isOn)).toBe(true);
    } finally {
      await lab.destroy();
    }
  });

  it('does not touch a namespace that has one of its names but is not its own', async () => {
    const id = uniqueId('c');
    const foreign = `bgplb-${id}-m1`;
    await runCommand(['ip', 'netns', 'add', foreign]);
    try {
      await expect(Lab.create({ id, masters: 1 })).rejects.toThrow(foreign);
      expect(namespaceExists(foreign)).toBe(true);
    } finally {
      await runCommand(['ip', 'netns', 'delete', foreign]);
    }
  });

  it('leaves nothing when it cannot be made', async () => {
    const id = uniqueId('i');
    const before = await ownNetwork();
    vi.stubEnv('PATH', '/nowhere');
    const attempt = Lab.create({ id, masters: 2 });
    await expect(attempt).rejects.toThrow(/ip .*ENOENT/);
    vi.unstubAllEnvs();
    expect(namespacesOf(id).filter(namespaceExists)).toEqual([]);
    expect(readRecord(id)).toBeUndefined();
    expect(await ownNetwork()).toEqual(before);
  });

  it('is removed by its guardian when its owner is killed', async () => {
    const id = uniqueId('d');
    const owner = await startOwner(id);
    const folder = readRecord(id)?.folder ?? '';
    expect(existsSync(folder)).toBe(true);
    owner.kill('SIGKILL');
    await waitUntilGone(id, folder);
  });

  it('is removed by the next lab when owner and guardian are killed', async () => {
    const id = uniqueId('e');
    const owner = await startOwner(id);
    const record = readRecord(id);
    const guardian = record?.guardian;
    if (record === undefined || guardian === undefined) throw new Error('no guardian on record');
    process.kill(guardian.pid, 'SIGKILL');
    await waitUntil(() => !isProcessAlive(guardian), { what: 'death of the guardian' });
    owner.kill('SIGKILL');
    await waitUntil(() => !isProcessAlive(record.owner), { what: 'death of the owner' });
    expect(namespacesOf(id).every(namespaceExists)).toBe(true);

    const next = await Lab.create({ id: uniqueId('f'), masters: 1 });
    try {
      expect(namespacesOf(id).filter(namespaceExists)).toEqual([]);
      expect(existsSync(record.folder)).toBe(false);
    } finally {
      await next.destroy();
    }
  });

  it('outlives its owner when it is kept, until it is removed by name', async () => {
    const id = uniqueId('g');
    const owner = await startOwner(id, 'await lab.keep();');
    owner.kill('SIGKILL');
    await new Promise((resolve) => owner.once('exit', resolve));
    const other = await Lab.create({ id: uniqueId('h'), masters: 1 });
    await other.destroy();
    expect(namespacesOf(id).every(namespaceExists)).toBe(true);
    expect(processesIn([`bgplb-${id}-m1`])).toHaveLength(1);
    await Lab.remove(id);
    expect(namespacesOf(id).filter(namespaceExists)).toEqual([]);
    expect(listLabs().some((lab) => lab.id === id)).toBe(false);
  });
});
