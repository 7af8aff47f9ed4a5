import { afterEach, beforeEach, expect, it } from 'vitest';
import { ControllerLab, PATHS } from '../testing/controller-lab.ts';
import { SteppedClock } from '../testing/stepped-clock.ts';
import { RETRY_PERIOD } from './lease-record.ts';

let lab: ControllerLab;

beforeEach(async () => {
  lab = new ControllerLab();
  await lab.start();
});

afterEach(async () => {
  await lab.close();
});

it('a leader renews although writes take every connection and one renewal gets no answer', async () => {
  const clock = new SteppedClock();
  const asked = (path: string): number => lab.api.asked.filter((one) => one.path.startsWith(path)).length;
  const renewals = (): number => lab.api.written.filter(({ path }) => path.startsWith(PATHS.lease)).length;
  lab.machine(1);
  lab.loadBalancer();
  const leader = lab.controller({ clock, wallClock: () => clock.wall() });
  await lab.until(() => leader.isLeader && lab.members() === 'm1');
  await lab.until(() => lab.events().length > 0 && clock.waits(RETRY_PERIOD));
  lab.api.setMode('hang');
  const [writes, leases] = [lab.writes(), asked(PATHS.lease)];
  for (let number = 0; number < 10; number += 1)
    lab.loadBalancer(`p${number}`, { vip: `10.0.1.${number + 1}` });
  await lab.until(() => lab.writes() >= writes + 8);
  clock.pass(RETRY_PERIOD);
  await lab.until(() => asked(PATHS.lease) > leases);
  lab.api.setMode('good');
  const before = renewals();
  clock.pass(5_000);
  await lab.until(() => renewals() > before);
  expect([leader.isLeader, lab.lost]).toEqual([true, []]);
  expect(lab.failures.join()).toContain('no answer in time');
  // Ends the writes that hang.
  clock.pass(10_000);
});
