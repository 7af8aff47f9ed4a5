import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { LogStream } from './log-stream.ts';

let folder: ReturnType<typeof temporaryFolder>;
const descriptors: number[] = [];
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => {
  for (const descriptor of descriptors.splice(0)) closeSync(descriptor);
  folder.remove();
});

function opened(path: string, flags: number | string): number {
  const descriptor = openSync(path, flags);
  descriptors.push(descriptor);
  return descriptor;
}

function flushed(stream: LogStream): Promise<void> {
  return new Promise((resolve) => stream.flush(resolve));
}

/** A pipe which nothing reads until the test does, neither end blocking. */
function pipe(): { reader: number; writer: number } {
  const path = join(folder.path, 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = opened(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { reader, writer: opened(path, constants.O_WRONLY | constants.O_NONBLOCK) };
}

describe('LogStream', () => {
  it('writes lines whole and in order, also the large ones', async () => {
    const path = join(folder.path, 'log');
    const stream = new LogStream(opened(path, 'a'));
    const lines = Array.from({ length: 50 }, (_, n) => `${n} ${'x'.repeat(n * 200)}\n`);
    for (const line of lines) stream.write(line);
    await flushed(stream);
    expect(readFileSync(path, 'utf8')).toBe(lines.join(''));
  });

  it('drops lines while nobody reads, without waiting, and says how many afterwards', async () => {
    const { reader, writer } = pipe();
    const stream = new LogStream(writer);
    for (let n = 0; n < 3000; n++) stream.write(`${'x'.repeat(999)}\n`);
    const chunk = Buffer.alloc(65_536);
    let text = '';
    const isFlushed = flushed(stream).then(() => true);
    while (
      (await Promise.race([isFlushed, new Promise((resolve) => setTimeout(resolve, 5, false))])) !== true
    ) {
      try {
        text += chunk.toString('utf8', 0, readSync(reader, chunk));
      } catch (error) {
        expect(error).toMatchObject({ code: 'EAGAIN' });
      }
    }
    const lost = Number(/"dropped":(\d+)/.exec(text)?.[1]);
    expect(lost).toBeGreaterThan(1500);
    expect(lost).toBeLessThan(3000);
  });

  it('goes on after a full disk', async () => {
    const stream = new LogStream(opened('/dev/full', 'w'));
    stream.write('lost\n');
    await flushed(stream);
    stream.write('lost too\n');
    await flushed(stream);
    stream.writeRest();
  });

  it('flushes at once when nothing waits', async () => {
    await flushed(new LogStream(opened('/dev/null', 'w')));
  });
});
