import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readdirSync } from 'node:fs';

/** Descriptors that are opened until no more are to be had. */
const ROOM = 16;

/** Runs `action` while this process can open no file (EMFILE). Synchronous: nothing else of this process runs meanwhile. */
export function withoutDescriptors<T>(action: () => T): T {
  const before = softLimit('--output=SOFT');
  const highest = Math.max(...readdirSync('/proc/self/fd').map(Number));
  const held: number[] = [];
  softLimit(`--nofile=${highest + ROOM}:`);
  try {
    hold(held);
    return action();
  } finally {
    for (const descriptor of held) closeSync(descriptor);
    softLimit(`--nofile=${before}:`);
  }
}

function softLimit(argument: string): string {
  const what = argument.startsWith('--nofile') ? [] : ['--nofile', '--noheadings', '--raw'];
  const argv = ['--pid', String(process.pid), ...what, argument];
  return execFileSync('prlimit', argv, { encoding: 'utf8' }).trim();
}

function hold(held: number[]): void {
  try {
    for (;;) held.push(openSync('/dev/null', 'r'));
  } catch (error) {
    const isOut = error instanceof Error && 'code' in error && error.code === 'EMFILE';
    if (!isOut) throw error;
  }
}
