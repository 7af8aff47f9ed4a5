import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { NetworkNamespace } from './network-namespace.ts';

it('takes with it what runs there, also what the namespace did not start', async () => {
  const namespace = NetworkNamespace.create('ends');
  const daemon = spawn('ip', ['netns', 'exec', namespace.name, 'sh', '-c', 'echo up; exec sleep 600']);
  try {
    const exit = once(daemon, 'exit');
    await once(daemon.stdout, 'data');
    await namespace.remove();
    expect(await exit).toEqual([null, 'SIGKILL']);
  } finally {
    daemon.kill('SIGKILL');
    await namespace.remove();
  }
});
