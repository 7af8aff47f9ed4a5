import { describe, expect, it } from 'vitest';
import { NetlinkError, NetlinkFormatError } from './netlink-error.ts';
import { untilAnswered } from './until-answered.ts';

const unanswered = new NetlinkError('dump links', 110, 'no answer', false);

/** Fails with each of the errors in turn, then answers. */
function failing(...errors: readonly Error[]): () => string {
  const left = [...errors];
  return () => {
    const error = left.shift();
    if (error !== undefined) throw error;
    return 'answer';
  };
}

describe('what a process asks of the kernel as it starts', () => {
  it('is asked again as long as there is no answer', async () => {
    const ask = failing(unanswered, new NetlinkFormatError('a torn message'), unanswered);
    expect(await untilAnswered(ask)).toBe('answer');
    const asynchronous = failing(unanswered);
    expect(await untilAnswered(async () => asynchronous())).toBe('answer');
  });

  it('is not asked again after a refusal', async () => {
    const ask = failing(new NetlinkError('set link', 1));
    await expect(untilAnswered(ask)).rejects.toThrow('EPERM');
    expect(ask()).toBe('answer');
  });

  it('is given up in the end', async () => {
    await expect(untilAnswered(failing(unanswered, unanswered), 2)).rejects.toThrow('no answer');
  });
});
