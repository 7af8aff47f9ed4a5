/** The router's page in a real browser on a load balancer. SCREENSHOTS=docs/images writes the picture of the README. */
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Lab } from '../../scripts/lab/lab.ts';
import { startBrowser } from '../kit/browser.ts';
import { heal, startCluster } from '../kit/cluster.ts';

const address = 'http://127.0.0.1:9474/';
const folder = process.env['SCREENSHOTS'];

describe('the page of the router', () => {
  let lab: Lab;
  let browser: Browser;
  let page: Page;
  /** What the browser complained of, and what it asked for elsewhere. */
  let complaints: string[];

  beforeAll(async () => {
    lab = await startCluster({ masters: 3, upstream: 'frr' });
    browser = await startBrowser(lab.lb);
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await lab?.destroy();
  });

  beforeEach(async () => {
    await heal(lab);
    complaints = [];
    page = await browser.newPage({ viewport: { width: 1200, height: 1000 } });
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith(address) && !request.url().startsWith('data:'))
        complaints.push(request.url());
    });
    await page.goto(address);
    await page.getByText('3 of 3 members healthy').first().waitFor();
  });
  afterEach(async () => {
    await page.close();
  });

  const row = (name: string) =>
    page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) });

  it('shows each member, the upstream and the data plane, and loads nothing from elsewhere', async () => {
    for (const { address: member } of lab.masters) {
      await row(member).first().getByText('active').waitFor();
      await row(member).first().getByText('Established').waitFor();
    }
    await page.getByText('What there is is what is wanted.').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await expect.poll(() => page.locator('.plot canvas').count()).toBe(2);
    const upstream = page
      .getByRole('row')
      .filter({ hasText: /^upstream/ })
      .first();
    expect(await upstream.textContent()).toContain('10.100.0.1/32');
    expect(complaints).toEqual([]);
  });

  it('shows a master that dies leave within a second, and why', async () => {
    const [master] = lab.masters;
    if (folder !== undefined) {
      await lab.client.startLoop({ every: 5 });
      // For the picture: so much of the plot has traffic.
      await page.waitForTimeout(40_000);
    }
    const left = page.getByText('2 of 3 members healthy').first().waitFor({ timeout: 5_000 });
    await master?.disconnect();
    const cut = performance.now();
    await left;
    const seenAfter = performance.now() - cut;
    await page
      .locator('.reasons li')
      .filter({ hasText: master?.address ?? '' })
      .getByText('BFD down')
      .waitFor();
    process.stdout.write(
      `a master's death is on the page after ${seenAfter.toFixed(0)} ms (BFD 3 x 300 ms)\n`,
    );
    if (folder !== undefined) {
      await page.waitForTimeout(8_000);
      const clip = { x: 0, y: 0, width: 1200, height: 660 };
      await page.screenshot({ path: `${folder}/dashboard.png`, clip });
      await lab.client.stopLoop();
    }
    await master?.reconnect();
    await page.getByText('3 of 3 members healthy').first().waitFor();
  });

  it.each(['light', 'dark'] as const)(
    'has nothing that axe-core finds in %s colours, nor on a narrow screen',
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      for (const width of [1200, 360]) {
        await page.setViewportSize({ width, height: 800 });
        await page.evaluate(axe.source);
        const found = await page.evaluate(async () => {
          const { violations } = await (
            globalThis as unknown as {
              axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
            }
          ).axe.run();
          return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
        });
        expect(found).toEqual([]);
        const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
        expect(isWide).toBe(false);
      }
    },
  );

  it('reaches each table by the keyboard', async () => {
    const regions = await page.locator('.scroll').count();
    const reached = new Set<string>();
    for (let press = 0; press < regions + 2; press++) {
      await page.keyboard.press('Tab');
      reached.add((await page.evaluate("document.activeElement.getAttribute('aria-label')")) ?? '');
    }
    expect([...reached].filter((name) => name !== '')).toHaveLength(regions);
  });

  it('stays calm while the router restarts: it says that what is shown is old, and is live again by itself', async () => {
    await lab.lb.router.stop();
    await page.getByText('The daemon does not answer.').waitFor();
    await page.getByText('3 of 3 members healthy').first().waitFor();
    lab.lb.router.spawn();
    await page.getByText('Live', { exact: true }).waitFor({ timeout: 20_000 });
    await page.getByText('3 of 3 members healthy').first().waitFor({ timeout: 20_000 });
  });
});
