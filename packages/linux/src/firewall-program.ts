/** Programs of netfilter, whose output is what they know. */
import type { Readable } from 'node:stream';
import { startProgram } from './child-program.ts';
import { NftablesError } from './nftables-error.ts';

const outputLimit = 16 * 1024 * 1024;
const errorTextLimit = 4096;

/**
 * Runs nft(8) or iptables(8), in the words of no language.
 * @param stdin a descriptor; undefined: /dev/null
 * @param limit milliseconds after which it is killed
 * @returns what it printed
 * @throws NftablesError
 */
export async function runFirewallProgram(
  program: string,
  argv: readonly string[],
  stdin: number | undefined,
  limit: number,
): Promise<string> {
  const path = `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`;
  // The texts of errors are compared: they are not to be translated.
  const environment = { ...process.env, PATH: path, LC_ALL: 'C' };
  const child = await startProgram(program, argv, environment, stdin).catch((cause: unknown) => {
    throw startFailure(program, cause);
  });
  let failure: NftablesError | undefined;
  const fail = (error: NftablesError): void => {
    failure ??= error;
    child.kill();
  };
  const timer = setTimeout(() => {
    fail(new NftablesError('timeout', `${program} did not end in ${limit} ms and was killed`));
  }, limit);
  const output = collect(child.output, outputLimit, () => {
    fail(new NftablesError('unreadable', `${program} printed more than ${outputLimit} octets`));
  });
  // What passes the limit is left out: the first lines say what was wrong.
  const errors = collect(child.errors, errorTextLimit, () => {});
  try {
    const [{ code, signal }, text, problem] = await Promise.all([child.ended, output, errors]);
    if (failure !== undefined) throw failure;
    if (code !== 0) {
      const how = code === undefined ? `signal ${signal}` : String(code);
      throw new NftablesError('refused', problem.trim() || `${program} ended with ${how}`);
    }
    return text;
  } finally {
    clearTimeout(timer);
  }
}

function startFailure(program: string, cause: unknown): NftablesError {
  const text = cause instanceof Error ? cause.message : String(cause);
  return cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
    ? new NftablesError(
        'missing',
        `${program} is not installed: on Debian, apt-get install ${packageOf(program)}`,
        {
          cause,
        },
      )
    : new NftablesError('failed', `${program} could not be started: ${text}`, { cause });
}

/** Keeps the first octets of a stream until its end, and reads the rest so that the writer does not wait. */
async function collect(stream: Readable, limit: number, onPassed: () => void): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  stream.on('data', (chunk: Buffer) => {
    const room = limit - length;
    length += chunk.length;
    if (room > 0) chunks.push(chunk.subarray(0, room));
    if (length > limit) onPassed();
  });
  // A program that is killed may leave a connection reset: what came before is all there is.
  stream.on('error', () => {});
  await new Promise<void>((resolve) => stream.once('close', resolve));
  return Buffer.concat(chunks).toString('utf8');
}

function packageOf(program: string): string {
  return program.includes('tables-') ? 'iptables' : 'nftables';
}
