import { describe, expect, it } from 'vitest';
import type { VipCheckResult } from '../health/vip-check.ts';
import { Lifecycle, type SharedInput } from './lifecycle.ts';
import { drainPace } from './lifecycle-input.ts';

const vip = { address: '10.0.0.100', port: 6443, machinePort: 6443 };
const other = { address: '10.0.0.101', port: 6443, machinePort: 6443 };

const healthy: SharedInput = {
  role: 'join',
  bootstrap: 'proven',
  bootstrapDetail: 'proven',
  readiness: 'ready',
  readinessDetail: 'ready',
  isPortClosed: false,
  drain: undefined,
  isHurried: false,
};

/** A lifecycle whose kernel and whose checks are answered by hand; everything it does goes into `log`, in order. */
class Stage {
  readonly log: string[] = [];
  /** Outcomes of checks that were not those before. */
  readonly findings: string[] = [];
  readonly lifecycle: Lifecycle;
  now = 0;
  answer: VipCheckResult = { check: 'passed', detail: 'answers' };
  kernelRefuses = false;
  clients: number | undefined = 0;
  holdRefuses = false;
  /** Lets the routers move on. */
  moveOn: () => void = () => undefined;
  #last = '';

  constructor(
    options: { readonly adopted?: readonly string[]; readonly vips?: readonly (typeof vip)[] } = {},
  ) {
    this.lifecycle = new Lifecycle({
      vips: options.vips ?? [vip],
      vipBind: true,
      times: { drainTimeout: 10_000, ...drainPace },
      clock: { now: () => this.now, after: () => () => undefined },
      adopted: new Set(options.adopted),
      bind: async (addresses) => {
        this.log.push(`bind ${[...addresses].join(' ') || 'none'}`);
        if (this.kernelRefuses) throw new Error('refused');
      },
      advertise: (wanted, isSettled) => {
        const text = [...wanted].map(([address, how]) => `${address} ${how}`).join(', ');
        if (isSettled && text !== this.#last) this.log.push(`advertise ${text}`);
        if (isSettled) this.#last = text;
      },
      check: async ({ address }) => {
        this.log.push(`check ${address}`);
        return this.answer;
      },
      hold: async (holds) => {
        this.log.push(`hold ${[...holds.values()].join(' ')}`);
        if (this.holdRefuses) throw new Error('refused');
      },
      movedOn: () => {
        this.log.push('wait for the routers');
        return new Promise((resolve) => {
          this.moveOn = resolve;
        });
      },
      clients: () => this.clients,
      others: () => {
        this.othersCounted += 1;
        return this.others;
      },
      hasAdvertised: () => false,
      transition: () => undefined,
      checked: (_, { check }) => this.findings.push(check),
    });
  }

  /** How many other masters there are, and how often that was asked. */
  others = 1;
  othersCounted = 0;

  /** One update and everything that follows from it. */
  async update(changes: Partial<SharedInput> = {}): Promise<void> {
    this.lifecycle.update({ ...healthy, ...changes });
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** In service, and nothing of it in the log. */
  static async inService(): Promise<Stage> {
    const stage = new Stage();
    await stage.update();
    stage.took();
    return stage;
  }

  /** The routers move on, and everything that follows from it. */
  async routersMoveOn(): Promise<void> {
    this.moveOn();
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** What was done since the last call. */
  took(): readonly string[] {
    return this.log.splice(0);
  }
}

describe('the order of things', () => {
  it('binds, checks on this host, then advertises', async () => {
    const stage = new Stage();
    await stage.update();
    expect(stage.took()).toEqual([
      'advertise 10.0.0.100 none',
      // What a predecessor may have left.
      'hold none',
      'bind 10.0.0.100',
      'check 10.0.0.100',
      'advertise 10.0.0.100 normal',
    ]);
  });

  it('withdraws, then unbinds', async () => {
    const stage = new Stage();
    await stage.update();
    stage.took();
    await stage.update({ readiness: 'hard' });
    expect(stage.took()).toEqual(['advertise 10.0.0.100 none', 'bind none']);
  });

  it('checks anew after each binding', async () => {
    const stage = new Stage();
    await stage.update();
    await stage.update({ readiness: 'hard' });
    stage.took();
    await stage.update();
    expect(stage.took()).toContain('check 10.0.0.100');
  });

  it('decides for each VIP by its own check', async () => {
    const stage = new Stage({ vips: [vip, other] });
    await stage.update();
    expect(stage.lifecycle.views().map(({ state }) => state)).toEqual(['advertised', 'advertised']);
  });
});

describe('a drain', () => {
  const drain = { by: 'drain file', isForced: true } as const;
  const announced = 'advertise 10.0.0.100 draining';
  const gone = 'advertise 10.0.0.100 none';

  it('asks for the other masters while it goes on, and in no other state', async () => {
    const stage = await Stage.inService();
    await stage.update({ readiness: 'soft' });
    expect(stage.othersCounted).toBe(0);
    stage.others = 0;
    await stage.update({ drain: { by: 'command', isForced: false } });
    expect(stage.othersCounted).toBeGreaterThan(0);
    expect(stage.lifecycle.views()[0]?.reason).toContain('no other master is known');
  });

  it('announces, holds new connections off, withdraws, waits for the routers, unbinds', async () => {
    const stage = await Stage.inService();
    await stage.update({ drain });
    expect(stage.took()).toEqual([announced, 'hold newcomers', gone, 'wait for the routers']);
    await stage.routersMoveOn();
    expect(stage.took()).toEqual(['hold none', 'bind none']);
  });

  it('keeps refusals back while clients are connected, and returns when it is taken back', async () => {
    const stage = await Stage.inService();
    stage.clients = 1;
    await stage.update({ drain });
    expect(stage.took()).toEqual([announced, 'hold refusals']);
    await stage.update();
    expect(stage.took()).toEqual(['advertise 10.0.0.100 normal', 'hold none']);
  });

  it('asks the routers anew after it was taken back in its last moment', async () => {
    const stage = await Stage.inService();
    await stage.update({ drain });
    const first = stage.moveOn;
    await stage.update();
    stage.took();
    stage.now = 100;
    await stage.update({ drain });
    expect(stage.took()).toEqual([announced, 'hold newcomers', gone, 'wait for the routers']);
    first();
    await stage.update({ drain });
    expect(stage.took()).toEqual([]);
    await stage.routersMoveOn();
    expect(stage.took()).toEqual(['hold none', 'bind none']);
  });

  it('does not wait for routers or a kernel that do not answer', async () => {
    const stage = await Stage.inService();
    stage.holdRefuses = true;
    await stage.update({ drain });
    expect(stage.took()).toEqual([announced, 'hold newcomers']);
    stage.now = 250;
    await stage.update({ drain });
    expect(stage.took()).toEqual([gone, 'wait for the routers']);
    stage.now = 1_250;
    await stage.update({ drain });
    expect(stage.took()).toEqual(['hold none', 'bind none']);
  });
});

describe('trouble', () => {
  it('does not advertise what the kernel did not take, and tries again', async () => {
    const stage = new Stage();
    stage.kernelRefuses = true;
    await stage.update();
    expect(stage.took()).toEqual(['advertise 10.0.0.100 none', 'hold none', 'bind 10.0.0.100']);
    stage.kernelRefuses = false;
    stage.now = 500;
    await stage.update();
    expect(stage.took()).toEqual([]);
    stage.now = 1_000;
    await stage.update();
    expect(stage.took()).toEqual(['bind 10.0.0.100', 'check 10.0.0.100', 'advertise 10.0.0.100 normal']);
  });

  it('repeats a failed check until the VIP answers', async () => {
    const stage = new Stage();
    stage.answer = { check: 'failed', detail: 'does not answer' };
    await stage.update();
    stage.took();
    await stage.update();
    expect(stage.took()).toEqual([]);
    stage.now = 200;
    stage.answer = { check: 'passed', detail: 'answers' };
    await stage.update();
    expect(stage.took()).toEqual(['check 10.0.0.100', 'advertise 10.0.0.100 normal']);
  });

  it('says why it does not advertise', async () => {
    const stage = new Stage();
    stage.answer = { check: 'wrong-certificate', detail: 'lacks the name' };
    await stage.update();
    expect(stage.lifecycle.views()[0]).toMatchObject({ state: 'local-only', reason: 'lacks the name' });
  });
});

describe('a VIP that a predecessor left', () => {
  it('stays bound, and its announcement is left alone until the first decision', async () => {
    const stage = new Stage({ adopted: [vip.address] });
    stage.answer = { check: 'failed', detail: 'does not answer yet' };
    await stage.update({ readiness: 'unknown' });
    expect(stage.took()).toEqual(['hold none', 'bind 10.0.0.100', 'check 10.0.0.100']);
    stage.answer = { check: 'passed', detail: 'answers' };
    stage.now = 200;
    await stage.update();
    expect(stage.took()).toEqual(['check 10.0.0.100', 'advertise 10.0.0.100 normal']);
  });

  it('is withdrawn when there is no decision in time', async () => {
    const stage = new Stage({ adopted: [vip.address] });
    stage.answer = { check: 'failed', detail: 'does not answer' };
    await stage.update({ readiness: 'unknown' });
    stage.took();
    stage.lifecycle.settle();
    expect(stage.took()).toContain('advertise 10.0.0.100 none');
  });

  it('is withdrawn and unbound when the API server does not answer', async () => {
    const stage = new Stage({ adopted: [vip.address] });
    await stage.update({ readiness: 'hard' });
    expect(stage.took()).toEqual(['advertise 10.0.0.100 none', 'hold none', 'bind none']);
  });
});

describe('after close', () => {
  it('nothing is decided any more', async () => {
    const stage = new Stage();
    await stage.update();
    stage.took();
    stage.lifecycle.close();
    await stage.update({ readiness: 'hard' });
    expect(stage.took()).toEqual([]);
  });
});

describe('a VIP that is advertised', () => {
  it('is looked at again every minute, and a certificate that lacks the name by then is told and changes nothing', async () => {
    const stage = new Stage();
    for (let round = 0; round < 3; round += 1) await stage.update();
    stage.took();
    stage.now = 59_000;
    await stage.update();
    expect(stage.took()).toEqual([]);
    stage.answer = { check: 'wrong-certificate', detail: 'lacks the name' };
    stage.now = 61_000;
    for (let round = 0; round < 3; round += 1) await stage.update();
    expect(stage.took()).toEqual(['check 10.0.0.100']);
    expect(stage.findings).toEqual(['passed', 'wrong-certificate']);
    expect(stage.lifecycle.views()).toMatchObject([
      { state: 'advertised', check: 'wrong-certificate', checkDetail: 'lacks the name' },
    ]);
  });
});
