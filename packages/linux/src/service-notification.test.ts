import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { serviceNotifier, watchdogTime } from './service-notification.ts';
import { Domain, messageDoNotWait, SocketType } from './socket-constants.ts';
import { bind, close, receive, socket } from './syscalls.ts';

/** `struct sockaddr_un` of a path, or of an abstract name behind a zero octet. */
function address(path: string): Uint8Array {
  const name = Buffer.from(path.startsWith('@') ? `\0${path.slice(1)}` : `${path}\0`);
  return Uint8Array.of(Domain.Unix, 0, ...name);
}

describe('the notification of a service manager', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bgp-lb-notify-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['a path', join(folder, 'notify')],
    ['an abstract name', `@bgp-lb-test-${randomUUID()}`],
  ])('reaches %s', (_what, path) => {
    const fd = socket(Domain.Unix, SocketType.Datagram | SocketType.CloseOnExec, 0);
    try {
      bind(fd, address(path));
      serviceNotifier({ NOTIFY_SOCKET: path })?.('READY=1\nSTATUS=well');
      const buffer = new Uint8Array(100);
      const length = receive(fd, buffer, messageDoNotWait);
      expect(Buffer.from(buffer.subarray(0, length)).toString()).toBe('READY=1\nSTATUS=well');
    } finally {
      close(fd);
    }
  });

  it('is nobody’s where no manager has started the process', () => {
    expect(serviceNotifier({})).toBeUndefined();
    expect(serviceNotifier({ NOTIFY_SOCKET: '' })).toBeUndefined();
  });

  it('tells of a manager that is gone, and of an address that cannot be, and goes on', () => {
    const errors: string[] = [];
    const failed = (error: Error): void => void errors.push(error.message);
    serviceNotifier({ NOTIFY_SOCKET: '/nonexistent/notify' }, failed)?.('READY=1');
    expect(errors).toEqual([expect.stringContaining('ENOENT')]);
    for (const path of ['relative', `/${'x'.repeat(108)}`, '@']) {
      expect(serviceNotifier({ NOTIFY_SOCKET: path }, failed)).toBeUndefined();
    }
    expect(errors).toHaveLength(4);
  });

  it.each([
    [{}, undefined],
    [{ WATCHDOG_USEC: '30000000' }, 30_000],
    [{ WATCHDOG_USEC: '30000000', WATCHDOG_PID: '7' }, 30_000],
    [{ WATCHDOG_USEC: '30000000', WATCHDOG_PID: '8' }, undefined],
    [{ WATCHDOG_USEC: 'soon' }, undefined],
  ])('has a watchdog by %j: %s', (environment, time) => {
    expect(watchdogTime(environment, 7)).toBe(time);
  });
});
