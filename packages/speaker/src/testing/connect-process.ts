/**
 * TCP clients for tests. Input, a line of JSON each: a list of `[address, port]`, connected to at once and answered by
 * `{answers}`, one first line or error code each; or `{"repeat": list}`, one after the other until `"enough"`, and answered by
 * `{counts}`: how often each answer was given.
 */
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

type Target = readonly [host: string, port: number];

/** Milliseconds after which a connection has no answer. */
const PATIENCE = 2_000;

function say(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function answer([host, port]: Target): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    socket.setTimeout(PATIENCE, () => socket.destroy(Object.assign(new Error(), { code: 'no answer' })));
    socket.once('data', (line) => {
      resolve(String(line).trim());
      socket.destroy();
    });
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

let isRepeating = false;

async function repeat(targets: readonly Target[]): Promise<void> {
  const counts: Record<string, number> = {};
  isRepeating = true;
  while (isRepeating) {
    for (const target of targets) {
      const given = await answer(target);
      counts[given] = (counts[given] ?? 0) + 1;
    }
  }
  say({ counts });
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const message: readonly Target[] | { readonly repeat: readonly Target[] } | 'enough' = JSON.parse(line);
  if (message === 'enough') isRepeating = false;
  else if ('repeat' in message) void repeat(message.repeat);
  else void Promise.all(message.map(answer)).then((answers) => say({ answers }));
});
