import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommandLine } from '@bgp-lb/daemon';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DataPlaneStatus, Difference } from '../dataplane/data-plane.ts';
import type { OnLinkStatus } from '../on-link/on-link-responder.ts';
import { fibCommand } from './fib-command.ts';
import { fibReport } from './fib-report.ts';

const vip = '10.100.0.1/32';
const member = {
  nextHop: '10.0.0.11',
  weight: 256,
  interfaceName: 'eth0',
  share: 0.75,
  packets: undefined,
  problem: '',
};
const status: DataPlaneStatus = {
  kind: 'kernel',
  title: 'the kernel',
  destination: 'vip',
  problems: [],
  warnings: [],
  vips: [
    {
      vip,
      forwarding: true,
      members: [
        { ...member, buckets: 3072 },
        { ...member, nextHop: '10.0.0.12', buckets: 1024, share: 0.25 },
      ],
      detail: {},
    },
  ],
};
const answering: OnLinkStatus = {
  address: '10.100.0.1',
  interface: 'eth0',
  phase: 'standby',
  isOwnerPeer: true,
  owner: '02:00:00:00:00:01',
  problem: '',
};

describe('fib --diff', () => {
  let folder: string;
  let server: Server;
  let differences: readonly Difference[];
  let onLink: OnLinkStatus[];
  let vips: DataPlaneStatus['vips'];

  beforeEach(async () => {
    differences = [];
    onLink = [answering];
    vips = status.vips;
    folder = mkdtempSync(join(tmpdir(), 'fib-command-'));
    const parts = [
      { title: 'HAProxy', differences: async () => differences, status: () => ({ ...status, vips }) },
      { status: () => onLink },
    ] as const;
    server = createServer((request, response) => {
      const found = request.url === '/api/v1/fib/differences';
      void fibReport(...parts).then((report) =>
        response
          .writeHead(found ? 200 : 404, { 'content-type': 'application/json' })
          .end(JSON.stringify(report)),
      );
    });
    await new Promise<void>((resolve) => server.listen(join(folder, 'router.sock'), resolve));
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true });
  });

  async function run(...argv: string[]): Promise<{ code: number; out: string }> {
    let out = '';
    const write = (text: string): unknown => (out += text);
    const code = await runCommandLine({
      name: 'bgp-lb-router',
      version: '0',
      commands: [fibCommand],
      configFile: '',
      socket: join(folder, 'router.sock'),
      argv: ['fib', '--diff', ...argv],
      env: {},
      stdout: { write },
      stderr: { write },
    });
    return { code, out };
  }

  it('says so and ends with 0 when there are none, and shows how far buckets are from the weights', async () => {
    const { code, out } = await run();
    expect(code).toBe(0);
    expect(out).toContain('no differences');
    expect(out).toMatch(/10\.0\.0\.11 +3072 +2048/);
  });

  it('says nothing of buckets where connections are spread in another way', async () => {
    vips = status.vips.map((one) => ({
      ...one,
      members: one.members.map((share) => ({ ...share, buckets: undefined })),
    }));
    expect((await run()).out).not.toMatch(/BUCKETS|10\.0\.0\.11/);
  });

  it('ends with 1 when there are some, each on a line with its VIP', async () => {
    differences = [
      { vip, object: 'route', difference: 'table 254 metric 84: missing; wanted group 84000004' },
      { vip: null, object: 'rule', difference: 'IPv4 priority 84 fwmark 1 lookup 1: missing' },
    ];
    onLink = [{ ...answering, phase: 'absent', owner: null, problem: 'eth0 is down' }];
    const { code, out } = await run();
    expect(code).toBe(1);
    expect(out).toMatch(/10\.100\.0\.1\/32 +route +table 254 metric 84: missing; wanted group 84000004/);
    expect(out).toMatch(/all +rule +IPv4 priority 84/);
    expect(out).toMatch(/10\.100\.0\.1\/32 +on link +not answered for on eth0: eth0 is down/);
    const json = JSON.parse((await run('-o', 'json')).out);
    expect(json.differences.map(({ object }: Difference) => object)).toEqual(['route', 'rule', 'on link']);
  });
});
