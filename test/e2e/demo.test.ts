import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { DemoFigures } from '../../scripts/demo/figures.ts';
import { tryCommand } from '../../scripts/lab/run-command.ts';

const demo = fileURLToPath(new URL('../../scripts/demo.ts', import.meta.url));

it('is the same story with HAProxy, which nothing that befalls the daemons breaks', async () => {
  const argv = [process.execPath, demo, '--data-plane', 'haproxy', '--json'];
  const { code, stdout, stderr } = await tryCommand(argv, { timeoutMs: 150_000 });
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  const figures = JSON.parse(stdout) as DemoFigures;
  expect(figures).toMatchObject({
    ok: true,
    silentDeath: { brokenAtSurvivors: 0 },
    sigterm: { brokenAtSurvivors: 0 },
    return: { connections: 300, broken: 0 },
    speakerRestart: { broken: 0 },
    routerRestart: { requestsLost: 0 },
  });
  for (const master of ['m1', 'm2', 'm3'])
    expect(stderr).toMatch(new RegExp(`connected: .*[0-9]+ at ${master}`));
  expect(stderr).toContain('HAProxy went on serving');
}, 180_000);

it('refuses another data plane', async () => {
  const { code, stderr } = await tryCommand([process.execPath, demo, '--data-plane', 'ipvs']);
  expect({ code, stderr }).toEqual({ code: 2, stderr: '--data-plane ipvs: allowed are kernel, haproxy\n' });
});
