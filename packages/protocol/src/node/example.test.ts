import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { asn, ipv4Unicast, parseRouterId } from '../index.ts';
import { prefixesOf, routes } from './kit/routes.ts';
import { signal } from './kit/signal.ts';
import type { DownReason } from './peer-event.ts';
import { BgpSpeaker } from './speaker.ts';

const example = fileURLToPath(new URL('../../examples/speaker.ts', import.meta.url));
let child: ChildProcess | undefined;
let router: BgpSpeaker | undefined;

afterEach(async () => {
  child?.kill('SIGKILL');
  await router?.close();
});

it('the example speaks BGP', async () => {
  const port = 41_000 + (process.pid % 10_000);
  const received = signal<readonly string[]>();
  const down = signal<DownReason>();
  router = new BgpSpeaker({
    asn: asn(65002),
    routerId: parseRouterId('127.0.0.4'),
    handlers: {
      routes: (_peer, { announced }) => {
        if (announced.length > 0) received.hear(prefixesOf(announced));
      },
      down: (_peer, reason) => down.hear(reason),
    },
  });
  await router.listen({ address: '127.0.0.4', port });
  const peer = router.addPeer({
    name: 'example',
    address: '127.0.0.5',
    remoteAsn: [asn(65001)],
    passive: true,
  });
  // Without its own AS in the path: the example would take that for a loop.
  peer.setRoutes(
    ipv4Unicast,
    routes('10.9.0.0/24').map(({ prefix, attributes }) => ({
      prefix,
      attributes: { ...attributes, asPath: [{ type: 2, asns: [asn(65002)] }] },
    })),
  );
  child = spawn(process.execPath, [example, '127.0.0.4', String(port), '127.0.0.5'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const printed = signal<void>();
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    if (output.includes('10.9.0.0/24')) printed.hear();
  });
  expect(await received.heard).toEqual(['203.0.113.0/24']);
  await printed.heard;
  expect(output).toContain('router is up');
  child.kill('SIGTERM');
  await once(child, 'exit');
  expect((await down.heard).text).toContain('example ends');
});
