import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@bgp-lb/protocol/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NotifyFifo } from './notify-fifo.ts';

describe('the notify FIFO', () => {
  let folder: string;
  let path: string;
  let log: string[];
  let fifo: NotifyFifo;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'bgp-lb-fifo-'));
    path = join(folder, 'notify.fifo');
    log = [];
    fifo = new NotifyFifo(path, systemClock, {
      line: (line) => log.push(line),
      quiet: () => log.push('quiet'),
      ended: () => log.push('ended'),
    });
  });
  afterEach(() => {
    fifo.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** As keepalived opens it: for reading too, so that it needs no reader. */
  function writer(): number {
    execFileSync('mkfifo', ['-m', '600', path]);
    return openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  }
  const says = (...expected: string[]): Promise<void> =>
    expect.poll(() => log, { timeout: 5000, interval: 10 }).toEqual(expected);

  it('gives what was written before it was opened, whole lines only, and the end of its writer', async () => {
    const fd = writer();
    writeSync(fd, 'first\nsec');
    fifo.start();
    await says('first', 'quiet');
    writeSync(fd, 'ond\n');
    await says('first', 'quiet', 'second');
    expect(fifo.isLive).toBe(true);
    closeSync(fd);
    await says('first', 'quiet', 'second', 'ended');
    expect(fifo.isLive).toBe(false);
  });

  it('says that a writer has nothing to say, and hears it later', async () => {
    const fd = writer();
    fifo.start();
    await says('quiet');
    writeSync(fd, 'later\n');
    await says('quiet', 'later');
    closeSync(fd);
  });

  it('gives nothing of a FIFO that was full, whose newest lines found no room', async () => {
    const fd = writer();
    const line = 'INSTANCE "bgp-lb" MASTER_RX_LOWER_PRI 240\n';
    const fill = (): void => {
      for (;;) writeSync(fd, line);
    };
    expect(fill).toThrow('EAGAIN');
    fifo.start();
    await says('quiet');
    writeSync(fd, 'later\n');
    await says('quiet', 'later');
    closeSync(fd);
  });

  it('waits for one that is made later, and for the next when that is made again', async () => {
    fifo.start();
    const first = writer();
    writeSync(first, 'first\n');
    await says('first', 'quiet');
    closeSync(first);
    await says('first', 'quiet', 'ended');
    rmSync(path);
    const second = writer();
    writeSync(second, 'second\n');
    await says('first', 'quiet', 'ended', 'second', 'quiet');
    closeSync(second);
  });

  it('takes an end that is over at once for none', async () => {
    const fd = writer();
    writeSync(fd, 'first\n');
    fifo.start();
    await says('first', 'quiet');
    closeSync(fd);
    const again = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    writeSync(again, 'second\n');
    await says('first', 'quiet', 'second');
    closeSync(again);
  });
});
