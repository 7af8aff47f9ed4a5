import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerLab } from '../testing/controller-lab.ts';
import { NOON, object } from '../testing/objects.ts';
import { SteppedClock } from '../testing/stepped-clock.ts';
import { InstanceSilence } from './instance-silence.ts';

const beat = (heartbeat: string): ReturnType<typeof object> =>
  object('LoadBalancerInstance', 'lb-1', { status: { heartbeat } });

describe('the silence of an LB host', () => {
  let clock: SteppedClock;
  let turned: string[];
  let silence: InstanceSilence;

  beforeEach(() => {
    [clock, turned] = [new SteppedClock(), []];
    silence = new InstanceSilence({ clock, wallClock: () => NOON, turned: (key) => turned.push(key) });
    silence.note('fleet/lb-1', beat('2026-06-01T12:00:00Z'));
  });

  afterEach(() => silence.close());

  it('is told once when it is too long, and once when it ends', () => {
    clock.pass(39_000);
    silence.note('fleet/lb-1', beat('2026-06-01T12:00:39Z'));
    clock.pass(39_000);
    expect(turned).toEqual([]);
    clock.pass(1_001);
    expect(turned).toEqual(['fleet/lb-1']);
    clock.pass(100_000);
    silence.note('fleet/lb-1', beat('2026-06-01T12:03:00Z'));
    silence.note('fleet/lb-1', beat('2026-06-01T12:03:10Z'));
    expect(turned).toEqual(['fleet/lb-1', 'fleet/lb-1']);
    expect(silence.seen('fleet/lb-1', beat('')).silentMs).toBeLessThan(10_000);
  });

  it('counts from the time in a heartbeat that is seen first', () => {
    silence.forget('fleet/lb-1');
    silence.note('fleet/lb-1', beat('2026-06-01T11:59:30Z'));
    clock.pass(10_001);
    expect(turned).toEqual(['fleet/lb-1']);
  });

  it('is told no more of one that is gone', () => {
    silence.forget('fleet/lb-1');
    clock.pass(100_000);
    expect(turned).toEqual([]);
  });
});

describe('a controller', () => {
  let lab: ControllerLab;

  beforeEach(async () => {
    lab = new ControllerLab();
    await lab.start();
  });

  afterEach(async () => {
    await lab.close();
  });

  it('is as before when its only LB host was silent for long and says the same again', async () => {
    const clock = new SteppedClock();
    for (const number of [1, 2]) lab.machine(number);
    lab.loadBalancer();
    lab.controller({ clock, wallClock: () => clock.wall() });
    await lab.until(() => lab.members() === 'm1,m2');
    lab.host('lb-1');
    await lab.until(() => lab.status().status === '2 of 2 members healthy');
    await lab.pass(clock, 100);
    await lab.until(() => lab.status().ready === false);
    expect(lab.condition('Ready')?.reason).toBe('NoInstance');
    lab.host('lb-1');
    await lab.until(() => lab.status().ready === true);
    expect(lab.status().status).toBe('2 of 2 members healthy');
    expect(lab.condition('ProviderReady')?.reason).toBe('Serving');
    expect(lab.lost).toEqual([]);
  });

  it('looks at everything again each 10 minutes, although nothing is heard', async () => {
    const clock = new SteppedClock();
    lab.machine(1);
    lab.loadBalancer();
    lab.loadBalancer('users', { vip: '10.0.0.101' });
    lab.controller({ clock, wallClock: () => clock.wall() });
    await lab.until(() => lab.members() === 'm1' && lab.members('users') === 'm1');
    await lab.pass(clock, 590);
    const before = lab.reconciled.length;
    await lab.pass(clock, 72);
    await lab.until(() => lab.reconciled.length >= before + 2);
    expect(lab.reconciled.slice(before).toSorted()).toEqual(['fleet/prod', 'fleet/users']);
  });
});
