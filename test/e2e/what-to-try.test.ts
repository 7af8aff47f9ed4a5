import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPageRelay } from '../../scripts/demo/start-page-relay.ts';
import { commandsToTry } from '../../scripts/demo/what-to-try.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import { tryCommand } from '../../scripts/lab/run-command.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { startCluster, waitForAllActive } from '../kit/cluster.ts';

describe.each(['kernel', 'haproxy'] as const)(
  'a lab that the demo keeps, with %s as data plane',
  (dataPlane) => {
    const id = `tried${dataPlane.slice(0, 3)}`;
    let lab: Lab | undefined;
    let commands: readonly string[] = [];
    beforeAll(async () => {
      lab = await startCluster({ id, masters: 2, controlPlane: 'stand-in', dataPlane });
      await waitForAllActive(lab);
      commands = commandsToTry(lab);
      await lab.keep();
    });
    afterAll(async () => {
      await lab?.destroy();
      await Lab.remove(id);
    });

    it('answers every command that is printed', async () => {
      expect(commands.length).toBeGreaterThan(5);
      for (const command of commands) {
        const { code, stdout, stderr } = await tryCommand(['sh', '-c', command]);
        expect({ command, code, stderr: stderr.includes('unknown') }).toEqual({
          command,
          code: 0,
          stderr: false,
        });
        // All but the last one, which changes something, have something to show.
        if (command !== commands.at(-1)) expect(`${stdout}${stderr}`, command).toMatch(/\S/);
      }
    });
  },
);

describe('the page of a lab that the demo keeps', () => {
  it('shows its page on the loopback of the machine for as long as it is there, to be read alone', async () => {
    const own = await startCluster({ id: 'shown', masters: 1, controlPlane: 'stand-in' });
    let address: string;
    try {
      address = await startPageRelay(own.lb.router.socketPath);
      const page = await fetch(address);
      expect(await page.text()).toContain('<title>bgp-lb</title>');
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect((await fetch(`${address}api/v1/drain`, { method: 'POST', body: '{}' })).status).toBe(405);
    } finally {
      await own.destroy();
    }
    await waitUntil(
      () =>
        fetch(address).then(
          () => false,
          () => true,
        ),
      { what: 'the relay has ended', timeoutMs: 10_000 },
    );
  });
});
