/** A router that the kernel lets change nothing any more: its service manager hears of it, and hears when it is over. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import type { Lab } from '../../scripts/lab/lab.ts';
import { addresses, startCluster, waitForAllActive } from '../kit/cluster.ts';
import { NotifySocket } from '../kit/notify-socket.ts';

const eventually = { timeout: 60_000, interval: 50 };
/** capabilities(7): CAP_NET_ADMIN. */
const netAdmin = 12;
const takeCapability = fileURLToPath(new URL('../kit/take-capability.ts', import.meta.url));
const program = fileURLToPath(new URL('../../dist/bgp-lb-router.mjs', import.meta.url));

/** Of ip(8). */
interface NexthopText {
  readonly id: number;
  readonly gateway?: string;
  readonly group?: readonly { readonly id: number }[];
}

let lab: Lab;
let manager: NotifySocket | undefined;

beforeAll(async () => {
  lab = await startCluster({ masters: 2, controlPlane: 'stand-in' });
  await lab.lb.router.stop();
  manager = await NotifySocket.open(lab.lb);
  await lab.lb.router.start(30_000, { NOTIFY_SOCKET: manager.path, WATCHDOG_USEC: '1000000' });
  await waitForAllActive(lab, 60_000);
}, 120_000);
afterAll(async () => {
  await manager?.close();
  await lab?.destroy();
});

it('is told no more that a router without its capability is well, and told why, until it has it again', async () => {
  const { lb } = lab;
  const pid = String(lb.router.process?.pid);
  const setCapability = (order: 'take' | 'give'): Promise<string> =>
    lb.exec([process.execPath, takeCapability, pid, program, String(netAdmin), order]);
  const told = (): readonly string[] => manager?.told ?? [];
  const [first, second] = addresses(lab.masters) as [string, string];
  /** Whom the kernel's groups lead to. */
  const carried = async (): Promise<string[]> => {
    const all = JSON.parse(await lb.exec(['ip', '-j', 'nexthop'])) as NexthopText[];
    const gateways = new Map(all.map(({ id, gateway }) => [id, gateway ?? '']));
    return [
      ...new Set(all.flatMap(({ group = [] }) => group.map(({ id }) => gateways.get(id) ?? ''))),
    ].sort();
  };
  await expect.poll(told, eventually).toContain('WATCHDOG=1');

  await setCapability('take');
  const trouble = /^STATUS=the kernel is not as wanted: delete next hop 0: EPERM:.* without CAP_NET_ADMIN; /;
  await expect.poll(() => told().some((line) => trouble.test(line)), eventually).toBe(true);
  // Many times as long as between two words to the watchdog: a member goes, and the kernel does not let it go.
  await lab.master(2).setApiServer('closed');
  await lb.router.waitFor('the second is out', ({ vips }) =>
    vips.some(({ members }) => members.some(({ nextHop, state }) => nextHop === second && state === 'out')),
  );
  const problems = async (): Promise<string> =>
    JSON.stringify(((await lb.router.request('GET', '/api/v1/fib')) as { problems: unknown }).problems);
  await expect.poll(problems, eventually).toContain('EPERM');
  expect(await carried()).toEqual([first, second]);
  const since = told().findIndex((line) => trouble.test(line));
  expect(told().slice(since)).not.toContain('WATCHDOG=1');
  expect(lb.router.process?.tail(1000)).toContain('is not well, and the watchdog is not told otherwise');

  const before = told().length;
  await setCapability('give');
  await expect.poll(() => told().slice(before), eventually).toContain('WATCHDOG=1');
  await expect.poll(() => told().at(-1), eventually).toBe('WATCHDOG=1');
  await expect
    .poll(() => told().slice(before), eventually)
    .toContain(`STATUS=${vipAddress} forwarded to 1 of 2 members`);
  await expect.poll(carried, eventually).toEqual([first]);
  expect(await problems()).toBe('[]');
  expect(lb.router.isRunning).toBe(true);
});
