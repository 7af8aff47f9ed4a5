import type { IncomingMessage } from 'node:http';
import { ApiError } from './api-error.ts';

/** An answer's whole body. @param limit octets @param after `keep`: its connection may be used again @throws ApiError for a longer or broken one, or the reason of the signal */
export async function readText(
  answer: IncomingMessage,
  limit: number,
  signal: AbortSignal,
  after: 'end' | 'keep' = 'end',
): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  const giveUp = (): void => void answer.destroy();
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    signal.throwIfAborted();
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > limit) throw new ApiError('malformed', `the answer has more than ${limit} octets`);
      chunks.push(chunk);
    }
    signal.throwIfAborted();
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', giveUp);
    if (after === 'end' || !answer.complete) answer.destroy();
  }
  return Buffer.concat(chunks, length).toString('utf8');
}

/**
 * The lines of a body as they come, without their ends and without empty ones.
 * @param limit octets of one
 * @param heard called for each piece of the body
 * @throws ApiError for a longer line
 */
export async function* readLines(
  answer: IncomingMessage,
  limit: number,
  heard: () => void,
): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    heard();
    let begin = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, begin)) {
      parts.push(chunk.subarray(begin, end));
      length += end - begin;
      begin = end + 1;
      if (length > limit) throw tooLong(limit);
      const line = Buffer.concat(parts, length).toString('utf8').trim();
      [parts, length] = [[], 0];
      if (line !== '') yield line;
    }
    parts.push(chunk.subarray(begin));
    length += chunk.length - begin;
    if (length > limit) throw tooLong(limit);
  }
}

function tooLong(limit: number): ApiError {
  return new ApiError('malformed', `an event of the watch has more than ${limit} octets`);
}
