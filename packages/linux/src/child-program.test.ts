import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type ChildProgram, startProgram } from './child-program.ts';

const environment = { PATH: '/nowhere:/usr/bin:/bin', WORD: 'two words', UNSET: undefined };

function shell(script: string): Promise<ChildProgram> {
  return startProgram('sh', ['-c', script], environment, undefined);
}

async function textOf(stream: ChildProgram['output']): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Runs it to its end. */
async function run(script: string) {
  const child = await shell(script);
  const [output, errors, end] = await Promise.all([textOf(child.output), textOf(child.errors), child.ended]);
  return { output, errors, end };
}

/** Process ids of the children of this process, also of those that have ended and were not waited for. */
function children(): string[] {
  return readdirSync('/proc/self/task').flatMap((task) =>
    readFileSync(`/proc/self/task/${task}/children`, 'utf8')
      .split(' ')
      .filter((pid) => pid !== ''),
  );
}

describe('a program that is started', () => {
  it('has arguments, environment, input and both outputs of its own, and says how it ended', async () => {
    const script = 'cat; echo "$WORD"; env | grep -c UNSET; echo wrong >&2; exit 3';
    expect(await run(script)).toEqual({
      output: 'two words\n0\n',
      errors: 'wrong\n',
      end: { code: 3, signal: undefined },
    });
  });

  it('blocks where it writes more than is read, and has no other descriptor of this process', async () => {
    const { output } = await run('head -c 1000000 /dev/zero | tr "\\0" x; ls -l /proc/self/fd');
    expect(output.slice(0, 1_000_000)).toBe('x'.repeat(1_000_000));
    expect(output.slice(1_000_000).match(/ [0-9]+ -> socket/g)).toEqual([' 1 -> socket', ' 2 -> socket']);
  });

  it('ends by signals as others do, although Node ignores some', async () => {
    const ignored = /^SigIgn:\s*(\w+)$/m.exec((await run('cat /proc/self/status')).output)?.[1];
    // 32 and above are the C library's own.
    expect(BigInt(`0x${ignored}`) & 0x7fff_ffffn).toBe(0n);
    expect((await run('kill -TERM $$')).end).toEqual({ code: undefined, signal: 15 });
  });

  it('can be killed, and leaves no process behind', async () => {
    const before = children();
    const child = await shell('exec sleep 60');
    child.kill();
    expect(await child.ended).toEqual({ code: undefined, signal: 9 });
    // Its number may be another's by now.
    child.kill();
    expect(children().filter((pid) => !before.includes(pid))).toEqual([]);
  });

  it('may be one of many at a time, whatever is collected meanwhile', async () => {
    const texts = Array.from({ length: 20 }, (_, n) => `${n}`.repeat(100));
    const runs = texts.map((text) => run(`sleep 0.0${text.length % 7}; echo ${text}`));
    for (let n = 0; n < 50; n++) {
      const garbage = Array.from({ length: 1000 }, () => new Uint8Array(200).fill(n));
      expect(garbage).toHaveLength(1000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await Promise.all(runs)).map(({ output }) => output)).toEqual(texts.map((text) => `${text}\n`));
  });

  it('has no copy made of this process, which would have every page fault once more that is written then', async () => {
    const page = 4096;
    const pages = 16_384;
    const memory = Buffer.alloc(pages * page, 1);
    const touch = (value: number): number => {
      const before = process.resourceUsage().minorPageFault;
      for (let n = 0; n < pages; n++) memory[n * page] = value;
      return process.resourceUsage().minorPageFault - before;
    };
    touch(2);
    expect((await run('exit 0')).end.code).toBe(0);
    // A fork makes it one for each page, where the kernel has no huge ones for us.
    expect(touch(3)).toBeLessThan(pages / 2);
  });

  it('is said to be absent, or no program, and costs no descriptor then', async () => {
    const descriptors = (): number => readdirSync('/proc/self/fd').length;
    const before = descriptors();
    await expect(startProgram('no-such', [], environment, undefined)).rejects.toMatchObject({
      code: 'ENOENT',
    });
    await expect(startProgram('/etc', [], environment, undefined)).rejects.toMatchObject({
      code: 'EACCES',
      syscall: 'posix_spawn',
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(descriptors()).toBeLessThanOrEqual(before);
  });
});
