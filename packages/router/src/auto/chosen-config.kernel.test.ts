import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RouterConfig } from '../config/router-config.ts';
import { routerSchema } from '../config/schema.ts';
import { DataPlaneProcess } from '../dataplane/kernel/testing/data-plane-process.ts';
import { LbNamespaces } from '../dataplane/kernel/testing/lb-namespaces.ts';

const script = `
  const { chosenConfig } = await import(process.argv[1]);
  console.log(chosenConfig(JSON.parse(process.argv[2])).dataplane.kind);
`;

describe('the data plane of a host that has a configuration of HAProxy', () => {
  let folder: string;
  let lab: LbNamespaces;
  let plane: DataPlaneProcess | undefined;
  let config: RouterConfig;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bgp-lb-chosen-'));
    config = routerSchema.parse({
      asn: 64512,
      vips: [{ address: '10.100.0.1', port: 6443, machinePort: 6443 }],
      neighbors: [{ name: 'masters', role: 'master', range: '10.0.0.0/16', asn: 64512 }],
      stateDir: join(folder, 'state'),
      dataplane: { kind: 'auto', haproxy: { folder: join(folder, 'haproxy') } },
    }) as RouterConfig;
    mkdirSync(join(folder, 'haproxy'));
    writeFileSync(join(folder, 'haproxy/haproxy.cfg'), '');
    lab = new LbNamespaces(['m1']);
    lab.ip('link', 'set', 'lo', 'up');
    plane = await DataPlaneProcess.in(lab.lb);
  });
  afterAll(async () => {
    await plane?.kill();
    lab?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  function kind(): string {
    const module = new URL('./chosen-config.ts', import.meta.url).href;
    const argv = ['--input-type=module', '-e', script, module, JSON.stringify(config)];
    return lab.exec(process.execPath, ...argv).trim();
  }

  it('is HAProxy, unless the kernel forwards to members now', async () => {
    expect(kind()).toBe('haproxy');
    await plane?.start();
    // The floor alone leads to no member.
    expect(lab.ip('route')).toContain('unreachable 10.100.0.1');
    expect(kind()).toBe('haproxy');
    const nextHop = lab.members[0]?.address ?? '';
    await plane?.setProbed([nextHop]);
    await plane?.setNextHops([{ nextHop, weight: 256 }]);
    await plane?.kill();
    expect(kind()).toBe('kernel');
    // HAProxy's own route comes before the kernel's.
    lab.ip('route', 'add', 'local', '10.100.0.1/32', 'dev', 'lo', 'table', 'local', 'proto', '84');
    expect(kind()).toBe('haproxy');
  });
});
