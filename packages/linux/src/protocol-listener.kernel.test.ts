import { describe, expect, it } from 'vitest';
import { addVeth, useNamespace } from './testing/use-namespace.ts';

describe('a listener for one IP protocol on a link', () => {
  const test = useNamespace('listener', (namespace) => {
    addVeth(namespace, '10.0.0.1/24', 'fd00::1/64');
    namespace.ip('neigh', 'add', '10.0.0.2', 'lladdr', '02:00:00:00:00:02', 'dev', 'v0');
  });

  it('hears packets of that protocol, whoever they are for, and no others; and that the link went down', async () => {
    const seen = await test.inside.run(async ({ linux, linkIndex, until }) => {
      // Imports are no part of a function that travels.
      const { execFileSync } = process.getBuiltinModule('node:child_process');
      const heard: number[][] = [];
      let lost = '';
      const make = (version: 4 | 6, protocol: number) =>
        new linux.ProtocolListener(
          { index: linkIndex('v1'), version, protocol, group: version === 4 ? '224.0.0.18' : 'ff02::12' },
          {
            packet: (packet) => heard.push([version, protocol, packet[version === 4 ? 9 : 6] ?? 0]),
            lost: (error) => {
              lost = error.message;
            },
          },
        );
      // UDP to a host that does not exist, out of the one end and into the other.
      const listeners = [make(4, 17), make(4, 112)];
      const { createSocket } = process.getBuiltinModule('node:dgram');
      const socket = createSocket('udp4');
      socket.send('x', 9, '10.0.0.2');
      socket.send('x', 9, '10.0.0.2');
      await until(() => heard.length >= 2, 3000);
      socket.close();
      const packets = [...heard];
      listeners[1]?.close();
      execFileSync('ip', ['link', 'set', 'v1', 'down']);
      await until(() => lost !== '', 3000);
      for (const one of listeners) one.close();
      return { packets, lost };
    });
    expect(seen.packets).toEqual([
      [4, 17, 17],
      [4, 17, 17],
    ]);
    expect(seen.lost).not.toBe('');
  });
});
