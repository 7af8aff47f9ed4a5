import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field, type LineProcess } from './testing/network-namespace.ts';
import { ROUTER, SECOND_ROUTER, SpeakerLab, VIP } from './testing/speaker-lab.ts';

const TIMEOUT = 60_000;

let lab: SpeakerLab;
let speaker: LineProcess;

function entry(address: string): string {
  return `{ address: ${address}, asn: 64512 }`;
}

beforeAll(async () => {
  lab = new SpeakerLab();
  lab.configure({ routeToVip: 'true', routers: `[${entry(ROUTER)}, ${entry(SECOND_ROUTER)}]` });
  lab.master.ip('route', 'add', '10.100.0.7/32', 'via', ROUTER, 'proto', '84', 'metric', '8400');
  speaker = await lab.startSpeaker();
}, TIMEOUT);

afterAll(() => lab.remove(), TIMEOUT);

/** The routes to an address that are not local, `GATEWAY proto PROTOCOL metric METRIC` each. */
function routesTo(address: string): readonly string[] {
  const routes = JSON.parse(lab.master.ip('-json', '-details', '-N', 'route', 'show', address)) as {
    gateway: string;
    protocol: string;
    metric?: number;
  }[];
  return routes.map(({ gateway, protocol, metric = 0 }) => `${gateway} proto ${protocol} metric ${metric}`);
}

const first = `${ROUTER} proto 84 metric 8400`;
const second = `${SECOND_ROUTER} proto 84 metric 8401`;

/** The next repair that is told of. */
function repair(): Promise<string> {
  return speaker.next((line) => {
    const text = String(field('msg')(line));
    return text.startsWith('kernel repaired: ') ? text.slice('kernel repaired: '.length) : undefined;
  });
}

describe('the routes to a VIP', { timeout: TIMEOUT }, () => {
  it('are put there by the running speaker, one by each router, and leftovers of ours are removed', async () => {
    await expect.poll(() => routesTo(VIP), { timeout: TIMEOUT }).toEqual([first, second]);
    expect(routesTo('10.100.0.7')).toEqual([]);
    expect((await lab.status()).kernel.routesMissing).toEqual([]);
  });

  it('come back when somebody deletes or replaces one, by the kernel’s own event', async () => {
    const since = performance.now();
    lab.master.ip('route', 'delete', VIP, 'metric', '8400');
    expect(await repair()).toBe(`${VIP}/32 goes by ${ROUTER}`);
    lab.master.ip('route', 'replace', VIP, 'via', '10.9.0.3', 'metric', '8401', 'proto', 'static');
    expect(await repair()).toBe(`${VIP}/32 goes by ${SECOND_ROUTER}`);
    lab.master.ip('route', 'replace', VIP, 'via', ROUTER, 'metric', '8401', 'proto', '84');
    expect(await repair()).toBe(`${VIP}/32 goes by ${SECOND_ROUTER}`);
    expect(routesTo(VIP)).toEqual([first, second]);
    // The timer alone, every 10 s, would have taken 20 s at least for three.
    expect(performance.now() - since).toBeLessThan(20_000);
  });

  it('come back with their link', async () => {
    lab.master.ip('link', 'set', 'e0', 'down');
    await lab.until(({ kernel }) => kernel.routesMissing?.length === 2);
    expect((await lab.status()).kernel.routesMissing?.[0]).toContain(`no route to ${VIP} by ${ROUTER}`);
    expect(routesTo(VIP)).toEqual([]);
    lab.master.ip('link', 'set', 'e0', 'up');
    await expect.poll(() => routesTo(VIP), { timeout: TIMEOUT }).toEqual([first, second]);
    await lab.until(({ kernel }) => kernel.routesMissing?.length === 0);
  });

  it('of others stay', async () => {
    lab.master.ip('route', 'add', VIP, 'via', ROUTER, 'metric', '50', 'proto', 'static');
    lab.master.ip('route', 'add', VIP, 'via', ROUTER, 'metric', '9000', 'proto', '84');
    lab.master.ip('route', 'delete', VIP, 'metric', '8401');
    await expect
      .poll(() => routesTo(VIP), { timeout: TIMEOUT })
      .toEqual([`${ROUTER} proto 4 metric 50`, first, second, `${ROUTER} proto 84 metric 9000`]);
  });

  it('follow the routers of a reload', async () => {
    lab.configure({ routeToVip: 'true', routers: `[${entry(SECOND_ROUTER)}]` });
    await lab.reload();
    await expect
      .poll(() => routesTo(VIP).filter((route) => /metric 84/.test(route)), { timeout: TIMEOUT })
      .toEqual([`${SECOND_ROUTER} proto 84 metric 8400`]);
  });
});

describe('a VIP that somebody else has put on a link', { timeout: TIMEOUT }, () => {
  it('is told once, shown while it lasts, and left alone', async () => {
    lab.master.ip('address', 'add', `${VIP}/32`, 'dev', 'e0');
    const { vips } = await lab.until(({ vips: [vip] }) => vip?.elsewhere.length === 1);
    expect(vips[0]?.elsewhere).toEqual(['e0']);
    expect(await lab.metrics()).toContain(`bgp_lb_speaker_vip_elsewhere{vip="${VIP}/32"} 1`);
    expect(lab.ask('explain')).toContain(`${VIP}/32 on e0`);
    expect(lab.ask('status')).toContain(`${VIP}/32 is on e0: another program put it there`);
    // Something else changes: another pass, and not another word.
    lab.master.ip('route', 'delete', VIP, 'metric', '8400');
    await repair();
    expect(lab.master.ip('-o', 'address', 'show', 'dev', 'e0')).toContain(`${VIP}/32`);
    lab.master.ip('address', 'delete', `${VIP}/32`, 'dev', 'e0');
    await lab.until(({ vips: [vip] }) => vip?.elsewhere.length === 0);
    expect(await lab.metrics()).toContain(`bgp_lb_speaker_vip_elsewhere{vip="${VIP}/32"} 0`);
    expect(await lab.events('vips-elsewhere')).toMatchObject([
      { found: [{ vip: VIP, link: 'e0' }] },
      { found: [] },
    ]);
  });
});
