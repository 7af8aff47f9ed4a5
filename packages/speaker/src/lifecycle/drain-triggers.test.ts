import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DrainWish } from '../annotation/drain-wish.ts';
import { DrainOrderFile } from './drain-order.ts';
import { DrainTriggers } from './drain-triggers.ts';

let folder: string;
let warnings: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bgp-lb-drain-'));
  warnings = [];
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function orders(bootId = 'boot-1'): DrainOrderFile {
  return new DrainOrderFile(folder, (message) => warnings.push(message), bootId);
}

const order = { force: false, untilReboot: false };

describe('an order to drain', () => {
  it('holds until it is taken back, over restarts and boots', () => {
    orders().give({ ...order, timeout: 5_000 }, new Date(0));
    const later = orders('boot-2');
    expect(later.order).toEqual({
      version: 1,
      since: '1970-01-01T00:00:00.000Z',
      force: false,
      timeout: 5_000,
    });
    expect(later.takeBack()).toBe(true);
    expect(later.takeBack()).toBe(false);
    expect(orders().order).toBeUndefined();
  });

  it('ends with the boot when it is for a shutdown', () => {
    orders('boot-1').give({ ...order, untilReboot: true }, new Date(0));
    expect(orders('boot-1').order).toBeDefined();
    expect(orders('boot-2').order).toBeUndefined();
  });

  it('keeps its beginning when it is given again', () => {
    const file = orders();
    file.give(order, new Date(0));
    file.give({ ...order, force: true }, new Date(1_000));
    expect(file.order).toMatchObject({ since: '1970-01-01T00:00:00.000Z', force: true });
  });

  it('that cannot be understood is not followed, and said', () => {
    for (const text of ['', 'not JSON', '{"version":2}']) {
      writeFileSync(join(folder, 'drain.json'), text);
      expect(orders().order).toBeUndefined();
    }
    expect(warnings).toHaveLength(3);
    expect(warnings[0]).toContain('drain.json is not an order to drain');
  });

  it('that cannot be read is none, and is told: a speaker that does not start serves nobody', () => {
    mkdirSync(join(folder, 'drain.json'));
    expect(orders().order).toBeUndefined();
    expect(warnings).toEqual([expect.stringMatching(/drain\.json cannot be read.*it is a folder/)]);
  });

  it('is readable by its owner alone', () => {
    orders().give(order, new Date(0));
    expect(statSync(join(folder, 'drain.json')).mode & 0o777).toBe(0o600);
  });
});

describe('what asks for a drain', () => {
  it('is all of it, and the one that forces counts, with the time of the command', () => {
    const file = orders();
    const triggers = new DrainTriggers(join(folder, 'drain'), file);
    expect(triggers.current()).toBeUndefined();
    file.give({ ...order, timeout: 5_000 }, new Date(0));
    expect(triggers.current()).toEqual({ by: 'command', isForced: false, timeout: 5_000 });
    writeFileSync(join(folder, 'drain'), '');
    expect(triggers.all().map(({ by }) => by)).toEqual(['drain file', 'command']);
    expect(triggers.current()).toEqual({ by: 'drain file', isForced: true, timeout: 5_000 });
    triggers.stop();
    expect(triggers.current()).toEqual({ by: 'stop', isForced: true, timeout: 5_000 });
    expect(triggers.isHurried).toBe(false);
    triggers.hurry();
    expect(triggers.isHurried).toBe(true);
  });

  it('is the annotation of the Node as well, forced when it says so', () => {
    const annotation: { wish: DrainWish } = { wish: 'none' };
    const triggers = new DrainTriggers(join(folder, 'drain'), orders(), annotation);
    expect(triggers.current()).toBeUndefined();
    annotation.wish = 'drain';
    expect(triggers.current()).toEqual({ by: 'annotation', isForced: false });
    annotation.wish = 'force';
    expect(triggers.current()).toEqual({ by: 'annotation', isForced: true });
  });
});
