import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { acquireInstanceLock } from './instance-lock.ts';

const MODULE = new URL('./instance-lock.ts', import.meta.url).href;

let folder: ReturnType<typeof temporaryFolder>;
const children: ChildProcess[] = [];
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  folder.remove();
});

/** Another process that tries to take the lock; its first line of output says how that went. */
async function contender(path: string): Promise<{ child: ChildProcess; outcome: string }> {
  const code = `
    import { acquireInstanceLock } from ${JSON.stringify(MODULE)};
    acquireInstanceLock(${JSON.stringify(path)}).then(() => console.log('held'), (error) => console.log(error.message));
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const outcome = await new Promise<string>((resolve) =>
    child.stdout?.once('data', (text) => resolve(String(text).trim())),
  );
  return { child, outcome };
}

async function killed(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

describe('the instance lock', () => {
  it('refuses a second instance and names the process of the first', async () => {
    const path = join(folder.path, 'router.lock');
    const first = await contender(path);
    expect(first.outcome).toBe('held');
    await expect(acquireInstanceLock(path)).rejects.toMatchObject({
      name: 'InstanceLockError',
      pid: first.child.pid,
      message: `another instance is running (process ${first.child.pid}): it holds ${path}`,
    });
    expect((await contender(path)).outcome).toContain(`process ${first.child.pid}`);
  });

  it('ends with its process, however that ends', async () => {
    const path = join(folder.path, 'router.lock');
    const first = await contender(path);
    await killed(first.child);
    expect(existsSync(path)).toBe(true);
    const lock = await acquireInstanceLock(path);
    lock.release();
  });

  it('can be given up and taken again', async () => {
    const path = join(folder.path, 'router.lock');
    const lock = await acquireInstanceLock(path);
    lock.release();
    lock.release();
    const again = await acquireInstanceLock(path);
    again.release();
  });

  it('of a dead process goes to one of several that start at once', async () => {
    const path = join(folder.path, 'router.lock');
    await killed((await contender(path)).child);
    const contenders = await Promise.all(Array.from({ length: 4 }, () => contender(path)));
    expect(contenders.filter((one) => one.outcome === 'held')).toHaveLength(1);
  });

  it('holds against a process that is stopped', async () => {
    const path = join(folder.path, 'router.lock');
    const first = await contender(path);
    first.child.kill('SIGSTOP');
    await expect(acquireInstanceLock(path)).rejects.toThrow(/it does not say its process id/);
    first.child.kill('SIGCONT');
  });

  it('leaves nothing else in its folder', async () => {
    const path = join(folder.path, 'router.lock');
    const lock = await acquireInstanceLock(path);
    expect(readdirSync(folder.path)).toEqual(['router.lock']);
    await expect(acquireInstanceLock(path)).rejects.toThrow();
    expect(readdirSync(folder.path)).toEqual(['router.lock']);
    lock.release();
    expect(readdirSync(folder.path)).toEqual([]);
  });
});
