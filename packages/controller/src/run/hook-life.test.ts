import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HOOK } from '../core/deletion-hook.ts';
import { ControllerLab, PATHS } from '../testing/controller-lab.ts';
import { SteppedClock } from '../testing/stepped-clock.ts';

let lab: ControllerLab;

beforeEach(async () => {
  lab = new ControllerLab();
  await lab.start();
});

afterEach(async () => {
  await lab.close();
});

const drain = { delay: '0s', timeout: '60s', hook: true };
const hasHook = (machine: string): boolean => lab.annotations(machine)[HOOK] !== undefined;

/** Lets so many seconds pass for the leader, which needs its lease all the time. */
async function pass(clock: SteppedClock, seconds: number): Promise<void> {
  const renewals = (): number => lab.api.written.filter(({ path }) => path.startsWith(PATHS.lease)).length;
  for (let passed = 0; passed < seconds; passed += 2) {
    const before = renewals();
    clock.pass(2_000);
    await lab.until(() => renewals() > before);
  }
}

describe('the deletion of a Machine', () => {
  it('is not held for one that is selected beyond what a pool takes', async () => {
    for (let number = 1; number <= 66; number += 1) lab.machine(number);
    lab.loadBalancer('prod', { drain });
    lab.controller();
    await lab.until(() => lab.status().members?.length === 64);
    const members = lab.status().members?.map(({ name }) => name) ?? [];
    await lab.until(() => members.every((name) => hasHook(name)));
    expect(['m8', 'm9'].map((name) => [members.includes(name), hasHook(name)])).toEqual([
      [false, false],
      [false, false],
    ]);
  });

  it('is held for its timeout and a minute at most where no status says how its drain is', async () => {
    const clock = new SteppedClock();
    lab.machine(1);
    lab.patch(PATHS.machines, 'm1', { metadata: { annotations: { [HOOK]: '' } } });
    lab.loadBalancer('prod', { drain });
    // It takes no write of its status.
    lab.forbidStatus();
    lab.controller({ clock, wallClock: () => clock.wall() });
    await lab.until(() => lab.failures.some((one) => one.startsWith('MachineLoadBalancer')));
    lab.api.write('DELETE', `${PATHS.machines}/m1`);
    await lab.until(() => lab.pool()[0]?.draining === true);
    await pass(clock, 110);
    expect(hasHook('m1')).toBe(true);
    await pass(clock, 20);
    await lab.until(() => !hasHook('m1'));
    expect(lab.failures.some((one) => one.includes('its deletion goes on'))).toBe(true);
  });
});
