import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createLogger } from './logger.ts';

function capture(): { lines: Record<string, unknown>[]; write(line: string): void } {
  const lines: Record<string, unknown>[] = [];
  return { lines, write: (line) => lines.push(JSON.parse(line)) };
}

describe('createLogger', () => {
  it('writes JSON lines with words for levels and ISO time', () => {
    const destination = capture();
    createLogger('info', { name: 'router', destination }).info({ peer: '10.0.0.11' }, 'established');
    const [line] = destination.lines;
    expect(line).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      name: 'router',
      peer: '10.0.0.11',
      msg: 'established',
    });
  });

  it('leaves out what is below its level, which can be changed', () => {
    const destination = capture();
    const logger = createLogger('warn', { destination });
    logger.info('unheard');
    logger.level = 'debug';
    logger.debug('heard');
    expect(destination.lines.map((line) => line['msg'])).toEqual(['heard']);
  });

  it('keeps text of the network on its line', () => {
    const destination = capture();
    createLogger('info', { destination }).info({ text: 'a\n{"level":"fatal"}' }, 'b\nc');
    expect(destination.lines).toHaveLength(1);
  });

  it('shows errors with their stack', () => {
    const destination = capture();
    createLogger('info', { destination }).error({ err: new Error('x') }, 'failed');
    expect(destination.lines[0]).toMatchObject({
      err: { type: 'Error', message: 'x', stack: expect.any(String) },
    });
  });
});

describe('standard output that cannot be written', () => {
  it('costs log lines, not the process', async () => {
    const module = new URL('./logger.ts', import.meta.url).href;
    const code = `
      import { createLogger } from ${JSON.stringify(module)};
      const logger = createLogger('info');
      for (let n = 0; n < 3; n++) {
        logger.info('x');
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      setTimeout(() => process.exit(7), 500);
      logger.flush(() => process.exit(7));`;
    const full = openSync('/dev/full', 'w');
    try {
      const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
        stdio: ['ignore', full, 'pipe'],
      });
      let errors = '';
      child.stderr?.on('data', (text) => {
        errors += String(text);
      });
      const status = await new Promise((resolve) => child.once('close', resolve));
      expect({ status, errors }).toEqual({ status: 7, errors: '' });
    } finally {
      closeSync(full);
    }
  });
});
