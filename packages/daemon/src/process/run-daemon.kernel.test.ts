import { type ChildProcess, spawn } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';

const MODULE = new URL('../index.ts', import.meta.url).href;

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

interface Line {
  readonly msg: string;
  readonly level: string;
}

/** A daemon in a process of its own, from the object that its `start` resolves to. */
class TestDaemon {
  readonly child: ChildProcess;
  readonly exit: Promise<number | null>;
  errors = '';
  readonly #lines: Line[] = [];
  #rest = '';
  #wake: () => void = () => undefined;

  constructor(running: string, options = '') {
    const code = `
      import { ConfigError, createLogger, runDaemon } from ${JSON.stringify(MODULE)};
      const logger = createLogger('info');
      const never = new Promise(() => undefined);
      setInterval(() => undefined, 1000);
      await runDaemon({ name: 'test', logger, start: async () => (${running}), ${options} });`;
    this.child = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(this.child);
    this.exit = new Promise((resolve) => this.child.once('close', (status) => resolve(status)));
    this.child.stderr?.on('data', (text) => {
      this.errors += String(text);
    });
    this.child.stdout?.on('data', (text) => {
      const parts = (this.#rest + String(text)).split('\n');
      this.#rest = parts.pop() ?? '';
      for (const part of parts) this.#lines.push(JSON.parse(part));
      this.#wake();
    });
  }

  get messages(): string[] {
    return this.#lines.map((line) => line.msg);
  }

  /** Waits until a message was logged so many times. */
  async said(message: string, times = 1): Promise<void> {
    while (this.messages.filter((one) => one === message).length < times) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
}

describe('a daemon', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'stops in order on %s, with its last words written',
    async (signal) => {
      const daemon = new TestDaemon('{ stop: async (signal) => logger.info("stop by " + signal) }');
      await daemon.said('test started');
      daemon.signal(signal);
      expect(await daemon.exit).toBe(0);
      expect(daemon.messages).toEqual([
        'test started',
        'test is stopping',
        `stop by ${signal}`,
        'test stopped',
      ]);
    },
  );

  it('ends at once on the second signal', async () => {
    const daemon = new TestDaemon('{ stop: () => never }');
    await daemon.said('test started');
    daemon.signal('SIGTERM');
    await daemon.said('test is stopping');
    daemon.signal('SIGINT');
    expect(await daemon.exit).toBe(130);
  });

  it('hurries on the second signal when it can, and ends at once on the third', async () => {
    const daemon = new TestDaemon('{ stop: () => never, hurry: () => logger.info("hurries") }');
    await daemon.said('test started');
    daemon.signal('SIGTERM');
    await daemon.said('test is stopping');
    daemon.signal('SIGTERM');
    await daemon.said('hurries');
    daemon.signal('SIGTERM');
    expect(await daemon.exit).toBe(143);
  });

  it('that does not stop in time is ended', async () => {
    const daemon = new TestDaemon('{ stop: () => never }', 'stopTimeoutMs: 100');
    await daemon.said('test started');
    daemon.signal('SIGTERM');
    expect(await daemon.exit).toBe(1);
    expect(daemon.messages.at(-1)).toBe('test did not stop within 100 ms; ending it');
  });

  it('that fails to stop exits 1 and says why', async () => {
    const daemon = new TestDaemon('{ stop: () => Promise.reject(new Error("x")) }');
    await daemon.said('test started');
    daemon.signal('SIGTERM');
    expect(await daemon.exit).toBe(1);
    expect(daemon.messages.at(-1)).toBe('test failed to stop in order');
  });

  it('stops after a signal that came while it started', async () => {
    const daemon = new TestDaemon(
      '(logger.info("starting"), await new Promise((resolve) => setTimeout(resolve, 300)), { stop: async () => undefined })',
    );
    await daemon.said('starting');
    daemon.signal('SIGTERM');
    expect(await daemon.exit).toBe(0);
    expect(daemon.messages).toEqual(['starting', 'test is stopping', 'test started', 'test stopped']);
  });

  it('reloads on SIGHUP, and goes on when that fails', async () => {
    const daemon = new TestDaemon(
      '{ n: 0, stop: async () => undefined, async reload() { if (this.n++ > 0) throw new Error("bad file"); } }',
    );
    await daemon.said('test started');
    daemon.signal('SIGHUP');
    await daemon.said('test reloaded');
    daemon.signal('SIGHUP');
    await daemon.said('test did not reload: the old configuration stays');
    daemon.signal('SIGTERM');
    expect(await daemon.exit).toBe(0);
  });

  it('tells who started it of its start, a reload, its life and its end, by the lines of sd_notify(3)', async () => {
    const daemon = new TestDaemon(
      '{ stop: async () => undefined, reload: async () => undefined }',
      'notify: (state) => logger.info(state.replace(/[0-9]{3,}/, "N")), watchdogTime: 20',
    );
    await daemon.said('WATCHDOG=1', 2);
    daemon.signal('SIGHUP');
    await daemon.said('READY=1', 2);
    daemon.signal('SIGTERM');
    expect(await daemon.exit).toBe(0);
    const told = daemon.messages.filter((message) => /^[A-Z]+=/.test(message) && message !== 'WATCHDOG=1');
    expect(told).toEqual(['READY=1', 'RELOADING=1\nMONOTONIC_USEC=N', 'READY=1', 'STOPPING=1']);
  });

  it('tells the watchdog only while it is well, and says once why not', async () => {
    const daemon = new TestDaemon(
      `{ n: 0, stop: async () => undefined, async checkWell() {
        this.n += 1;
        logger.info("check " + this.n);
        if (this.n === 2 || this.n === 3) throw new Error("no kernel");
        if (this.n === 5) await never;
      } }`,
      'notify: (state) => logger.info(state), watchdogTime: 20',
    );
    const unsure =
      'test is not well, and the watchdog is not told otherwise: no answer yet to whether it is well';
    await daemon.said(unsure);
    daemon.signal('SIGTERM');
    expect(await daemon.exit).toBe(0);
    expect(daemon.messages.filter((message) => !/^test (started|is stopping|stopped)/.test(message))).toEqual(
      [
        'READY=1',
        'check 1',
        'WATCHDOG=1',
        'check 2',
        'test is not well, and the watchdog is not told otherwise: no kernel',
        'check 3',
        'check 4',
        'WATCHDOG=1',
        'check 5',
        unsure,
        'STOPPING=1',
      ],
    );
  });

  it('makes one reload of the signals that come during one', async () => {
    const daemon = new TestDaemon(
      '{ stop: async () => undefined, async reload() { logger.info("reading"); await new Promise((resolve) => setTimeout(resolve, 300)); } }',
    );
    await daemon.said('test started');
    daemon.signal('SIGHUP');
    await daemon.said('reading');
    for (let index = 0; index < 3; index++) daemon.signal('SIGHUP');
    await daemon.said('test reloaded', 2);
    expect(daemon.messages.filter((message) => message === 'reading')).toHaveLength(2);
  });

  it('reloads once for signals that come all at once, and lets go of its thread before the next reload', async () => {
    const daemon = new TestDaemon(
      `{ end: -Infinity, stop: async () => undefined, async reload() {
        logger.info(performance.now() - this.end > 500 ? "reading" : "again without a pause");
        const until = performance.now() + 300;
        while (performance.now() < until);
        this.end = performance.now();
      } }`,
    );
    await daemon.said('test started');
    daemon.signal('SIGHUP');
    await daemon.said('reading');
    // While the thread is held up: each of them waits in the pipe of the event loop.
    for (let index = 0; index < 20; index++) {
      daemon.signal('SIGHUP');
      await new Promise((resolve) => setImmediate(resolve));
    }
    await daemon.said('reading', 2);
    daemon.signal('SIGTERM');
    expect(await daemon.exit).toBe(0);
    expect(daemon.messages).not.toContain('again without a pause');
  });

  it.each([
    ['an exception', 'setImmediate(() => { throw new Error("bug"); })', 'test: uncaught exception'],
    ['a rejection', 'setImmediate(() => Promise.reject(new Error("bug")))', 'test: unhandled rejection'],
  ])(
    'with %s that nobody caught ends with 1 and its last words written, so that it is started anew',
    async (_, bug, message) => {
      const daemon = new TestDaemon(`(${bug}, { stop: async () => undefined })`);
      expect(await daemon.exit).toBe(1);
      expect(daemon.messages).toEqual([
        'test started',
        `${message}; the process ends so that its supervisor restarts it`,
      ]);
    },
  );

  it('that does not start exits 1, or 2 for its configuration', async () => {
    const failed = new TestDaemon('await Promise.reject(new Error("port 179 is taken"))');
    expect(await failed.exit).toBe(1);
    expect(failed.messages).toEqual(['test did not start: port 179 is taken']);
    const misconfigured = new TestDaemon(
      'await Promise.reject(new ConfigError([{ origin: { kind: "flag", name: "asn" }, path: "asn", message: "is bad" }]))',
    );
    expect(await misconfigured.exit).toBe(2);
    expect(misconfigured.errors).toBe('--asn: asn: is bad\n');
    expect(failed.errors).toBe('');
  });
});
