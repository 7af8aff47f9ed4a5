import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChosenConfig, RouterConfig } from '../config/router-config.ts';
import { routerSchema } from '../config/schema.ts';
import type { Removal } from '../dataplane/data-plane-footprint.ts';
import { type AutoOptions, AutoRouter } from './auto-router.ts';
import { choicePath } from './chosen-config.ts';
import { readChoice } from './data-plane-choice.ts';

const haproxy = { kind: 'haproxy', reason: 'm1 is dropped', decidedAt: '2026-01-02T03:04:05.678Z' } as const;

/** A life of a router with one data plane. */
interface Life {
  config: RouterConfig;
  readonly reread: () => ChosenConfig;
  readonly auto: AutoOptions;
}

describe('the router that chooses its data plane', () => {
  let folder: string;
  let file: RouterConfig;
  let lives: Life[];
  /** What there was of the kernel's data plane to remove, by the configuration that it was removed by. */
  let removals: RouterConfig[];
  let remove: () => Promise<Removal>;
  let router: AutoRouter;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bgp-lb-auto-'));
    file = configWith('10.100.0.1');
    lives = [];
    removals = [];
    remove = async () => ({ removed: [], restored: [], left: [] });
    const { dataplane } = file;
    if (dataplane.kind !== 'auto') throw new Error('it is to be chosen');
    router = new AutoRouter({
      ...{ config: file, dataplane, reread: () => file },
      start: async (options) => {
        const life: Life = { ...options };
        lives.push(life);
        return {
          get config() {
            return life.config;
          },
          stop: async () => undefined,
          reload: async () => {
            const next = life.reread();
            if (next.asn !== life.config.asn) throw new Error('only a start takes another asn');
            life.config = next;
          },
          checkWell: async () => undefined,
        };
      },
      footprint: (config) => {
        removals.push(config);
        return { remove };
      },
    });
    await router.start();
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function configWith(...vips: readonly string[]): RouterConfig {
    return routerSchema.parse({
      asn: 64512,
      vips: vips.map((address) => ({ address, port: 443, machinePort: 6443 })),
      neighbors: [{ name: 'masters', role: 'master', range: '10.0.0.0/24', asn: 64512 }],
      stateDir: join(folder, 'state'),
      dataplane: { kind: 'auto', haproxy: { folder: join(folder, 'haproxy') } },
    }) as RouterConfig;
  }

  const addresses = ({ vips }: Pick<RouterConfig, 'vips'>): string[] => vips.map(({ address }) => address);

  async function choose(choice: typeof haproxy): Promise<Life> {
    lives[0]?.auto.decided(choice);
    await router.checkWell();
    const last = lives.at(-1);
    if (last === undefined) throw new Error('no router was started');
    return last;
  }

  it('goes on with HAProxy by the configuration that a reload took before', async () => {
    file = configWith('10.100.0.1', '10.100.0.2');
    await router.reload();
    const { config, auto } = await choose(haproxy);
    expect(addresses(config)).toEqual(['10.100.0.1', '10.100.0.2']);
    expect(config.dataplane).toMatchObject({ kind: 'haproxy', folder: join(folder, 'haproxy') });
    expect(auto).toMatchObject({ choice: haproxy, problems: [] });
    expect(removals.map(addresses)).toEqual([['10.100.0.1', '10.100.0.2']]);
    expect(removals[0]?.dataplane.kind).toBe('kernel');
    expect(readChoice(choicePath(file))).toEqual(haproxy);
  });

  it('goes on by the one before where a reload was refused, or the file changed and none was asked for', async () => {
    file = { ...configWith('10.100.0.1', '10.100.0.2'), asn: 64513 };
    await expect(router.reload()).rejects.toThrow('asn');
    const { config, reread } = await choose(haproxy);
    expect(addresses(config)).toEqual(['10.100.0.1']);
    // The next reload finds the file, and HAProxy.
    expect(reread()).toMatchObject({ asn: 64513, dataplane: { kind: 'haproxy' } });
  });

  it('serves by HAProxy, and says what is left, where the kernel cannot be cleared', async () => {
    remove = async () => {
      throw new Error('nft did not end in 10000 ms and was killed');
    };
    const { config, auto } = await choose(haproxy);
    expect(config.dataplane.kind).toBe('haproxy');
    expect(auto.problems).toEqual([
      "the kernel's data plane is not removed from this host: nft did not end in 10000 ms and was killed",
    ]);
    expect(readChoice(choicePath(file))).toEqual(haproxy);
  });

  it('says each setting that stays as the kernel needed it', async () => {
    remove = async () => ({ removed: [], restored: [], left: ['sysctl a = 1 (was 0): EROFS'] });
    const { auto } = await choose(haproxy);
    expect(auto.problems).toEqual(["left of the kernel's data plane: sysctl a = 1 (was 0): EROFS"]);
  });

  it('serves by HAProxy although the choice cannot be kept', async () => {
    // Where the folder of state is to be.
    writeFileSync(join(folder, 'state'), '');
    const { config, auto } = await choose(haproxy);
    expect(config.dataplane.kind).toBe('haproxy');
    expect(auto.problems).toEqual([expect.stringContaining('the choice of the data plane cannot be kept: ')]);
  });
});
