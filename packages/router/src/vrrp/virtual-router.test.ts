import type { InterfaceAddress, Link } from '@bgp-lb/linux';
import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.ts';
import type { TrackedValues } from './keepalived-files.ts';
import { keepalivedPaths } from './keepalived-paths.ts';
import type { NotifyFifoHandlers } from './notify-fifo.ts';
import { vrrpConfig, vrrpSettings } from './testing/vrrp-config.ts';
import { VirtualRouter } from './virtual-router.ts';

const { vrid, peerBeacons } = vrrpSettings();

/** An advertisement over IPv4, from an address that ends with this number. */
function advertisement(host: number, of: number, priority = 240): Uint8Array {
  const header = [0x45, 0, 0, 28, 0, 0, 0, 0, 255, 112, 0, 0, 10, 0, 0, host, 10, 0, 0, 2];
  return Uint8Array.from([...header, 0x31, of, priority, 0, 0, 20, 0, 0]);
}

describe('the virtual router', () => {
  let clock: ManualClock;
  let router: VirtualRouter;
  let config: string | undefined;
  let tracked: TrackedValues | undefined;
  let fifo: NotifyFifoHandlers;
  let isLive: boolean;
  let pid: number | undefined;
  let runsOther: boolean;
  let addresses: InterfaceAddress[];
  let hear: (packet: Uint8Array) => void;
  let dataPlaneFault: string | undefined;
  let missing: number;
  let isUp: boolean;
  let hasCarrier: boolean;
  /** The IP versions that are listened to, one for each listener that is open. */
  let listening: (4 | 6)[];
  let isDiskFull: boolean;
  let vrrp = vrrpConfig();
  let log: string[];

  const link = (index: number, name: string): Link => ({
    ...{ index, name, flags: 0, isUp, hasCarrier, isLoopback: name === 'lo' },
    ...{ operState: 'up', mtu: 1500 },
  });
  const address = (index: number, text: string, prefixLength: number): InterfaceAddress => ({
    ...{ index, address: text, prefixLength, scope: 'global', flags: 0 },
    ...{ validLifetime: undefined, preferredLifetime: undefined },
  });

  function make(kind: 'haproxy' | 'kernel' = 'haproxy'): void {
    router = new VirtualRouter({
      config: () => ({ vrrp, vips: ['10.0.0.100'] }),
      kind,
      host: {
        clock,
        files: {
          get config() {
            return config;
          },
          write: (text) => {
            config = text;
            return Promise.resolve();
          },
          isReloadDue: false,
          setReloaded: () => undefined,
          removeConfig: () => {
            config = undefined;
          },
          track: (values) => {
            if (isDiskFull) throw new Error('ENOSPC: no space left on device');
            tracked = values;
          },
          touch: () => undefined,
        },
        paths: keepalivedPaths(vrrp),
        user: 'root',
        links: () => [link(1, 'lo'), link(2, 'eth0')],
        addresses: () => addresses,
        deleteAddress: (key) => {
          addresses = addresses.filter((one) => one.address !== key.address);
        },
        listen: ({ version }, handlers) => {
          hear = handlers.packet;
          listening.push(version);
          return {
            close: () => {
              listening.splice(listening.indexOf(version), 1);
            },
          };
        },
        fifo: (handlers) => {
          fifo = handlers;
          return {
            start: () => undefined,
            close: () => undefined,
            get isLive() {
              return isLive;
            },
          };
        },
        pid: () => pid,
        reload: () => log.push('reload'),
        runsKeepalived: () => pid !== undefined || runsOther,
      },
      dataPlaneFault: () => dataPlaneFault,
      missingMembers: () => missing,
      contested: () => log.push('contested'),
      changed: ({ from, to, why }) => log.push(`${from} -> ${to}: ${why}`),
      problem: (problem) => log.push(`problem: ${problem}`),
      repaired: (what) => log.push(...what),
    });
    router.start();
  }

  beforeEach(() => {
    clock = new ManualClock();
    [config, tracked, pid, dataPlaneFault] = [undefined, undefined, undefined, undefined];
    [isLive, runsOther, missing, log] = [false, false, 0, []];
    [isUp, hasCarrier, listening, isDiskFull] = [true, true, [], false];
    vrrp = vrrpConfig();
    addresses = [address(1, '127.0.0.1', 8), address(2, '10.0.0.2', 24)];
  });

  /** keepalived runs, and has this state. */
  function running(state: string): void {
    pid = 4711;
    isLive = true;
    fifo.line(`INSTANCE "bgp-lb" ${state} 240`);
  }

  it('lets keepalived start when it has heard no other with its VRID for three seconds', () => {
    make();
    clock.advance(2900);
    expect(config).toBeUndefined();
    clock.advance(200);
    expect(config).toContain(`virtual_router_id ${vrid}`);
  });

  it.each([
    ['down', false, false],
    ['without a carrier', true, false],
  ])('counts them only from when the link, which was %s, could be heard', (_what, up, carrier) => {
    [isUp, hasCarrier] = [up, carrier];
    make();
    clock.advance(10_000);
    expect(config).toBeUndefined();
    expect(router.status().problem).toBe('keepalived is not started: nothing can be heard on eth0 yet');
    [isUp, hasCarrier] = [true, true];
    clock.advance(2_900);
    expect(config).toBeUndefined();
    expect(router.status().problem).toBe('');
    clock.advance(300);
    expect(config).toContain(`virtual_router_id ${vrid}`);
  });

  it('listens to the IP version of the peers, another one after a reload included', () => {
    addresses = [...addresses, address(2, 'fd00::2', 64)];
    make();
    expect(listening).toEqual([4]);
    vrrp = vrrpConfig({ peers: ['fd00::3'] });
    clock.advance(100);
    expect(listening).toEqual([6]);
  });

  it('goes on when what keepalived tracks cannot be written, and says so', async () => {
    make();
    clock.advance(4000);
    await new Promise(setImmediate);
    addresses = [...addresses, address(2, '10.0.0.100', 32)];
    isDiskFull = true;
    vrrp = vrrpConfig({ priority: 100 });
    clock.advance(100);
    expect(addresses.map((one) => one.address)).not.toContain('10.0.0.100');
    expect(config).toContain('priority 100');
    expect(router.status().problem).toBe(
      'keepalived is not told of this host: ENOSPC: no space left on device',
    );
  });

  it('does not wait where keepalived runs already', () => {
    pid = 4711;
    make();
    expect(config).toContain(`virtual_router_id ${vrid}`);
  });

  it('refuses the start beside a foreign one, which it names, until that falls silent', () => {
    make();
    config = 'of the last boot';
    for (let n = 0; n < 20; n++) {
      hear(advertisement(99, vrid, 100));
      clock.advance(1000);
    }
    expect(config).toBeUndefined();
    expect(log).toEqual([
      `problem: keepalived is not started: 10.0.0.99 uses VRID ${vrid} already (VRRPv3, priority 100), and is not in vrrp.peers: choose another vrrp.vrid, or stop it there`,
    ]);
    expect(router.status().others).toMatchObject([{ source: '10.0.0.99', vrid }]);
    clock.advance(10_000);
    expect(config).toContain(`virtual_router_id ${vrid}`);
    expect(log.at(-1)).toBe('problem: undefined');
  });

  it('names a foreign one that comes later, and goes on', () => {
    make();
    clock.advance(4000);
    running('MASTER');
    hear(advertisement(99, vrid));
    clock.advance(200);
    expect(config).toBeDefined();
    expect(router.status().problem).toContain('10.0.0.99 uses VRID');
  });

  it('gives the VIPs up when it is broken and a peer is fit, and serves again only after a second', () => {
    make();
    running('MASTER');
    dataPlaneFault = 'HAProxy is gone';
    hear(advertisement(3, peerBeacons.get('10.0.0.3') ?? 0));
    clock.advance(100);
    expect(tracked).toMatchObject({ gaveUp: true, unfit: true });
    fifo.line('INSTANCE "bgp-lb" FAULT 240');
    expect(log.at(-1)).toBe('master -> fault: HAProxy is gone');
    hear(advertisement(3, vrid));
    dataPlaneFault = undefined;
    clock.advance(500);
    expect(tracked).toMatchObject({ gaveUp: true, unfit: true });
    clock.advance(700);
    expect(tracked).toMatchObject({ gaveUp: false, unfit: false });
  });

  it('keeps the VIPs when it is broken and no peer is fit, and takes them when their owner dies', () => {
    make();
    running('MASTER');
    dataPlaneFault = 'HAProxy is gone';
    clock.advance(1000);
    expect(tracked).toMatchObject({ gaveUp: false, unfit: true });
    fifo.line('INSTANCE "bgp-lb" BACKUP 240');
    hear(advertisement(3, vrid));
    clock.advance(100);
    expect(tracked).toMatchObject({ gaveUp: true });
    clock.advance(1000);
    expect(tracked).toMatchObject({ gaveUp: false, unfit: true });
  });

  it('has clients told again when another took itself for the owner too, once a second at most', () => {
    make();
    const contest = (): void => fifo.line('INSTANCE "bgp-lb" MASTER_RX_LOWER_PRI 240');
    const told = (): number => log.filter((line) => line === 'contested').length;
    // The first says that it is the owner at all.
    contest();
    expect([router.isOwner, told()]).toEqual([true, 0]);
    contest();
    contest();
    expect(told()).toBe(1);
    clock.advance(1_000);
    contest();
    expect(told()).toBe(2);
  });

  it('leaves when it is drained', () => {
    make();
    running('MASTER');
    router.setDrained(true);
    hear(advertisement(3, peerBeacons.get('10.0.0.3') ?? 0));
    clock.advance(100);
    expect(tracked).toMatchObject({ gaveUp: true, unfit: true });
    expect(router.status().unfit).toBe('it is drained');
  });

  it('lowers its priority by members that are missing for a while, and by no more than ten', () => {
    make();
    missing = 2;
    clock.advance(2900);
    expect(tracked?.offset).toBe(0);
    clock.advance(500);
    expect(tracked?.offset).toBe(-2);
    missing = 60;
    clock.advance(4000);
    expect(tracked?.offset).toBe(-10);
  });

  it.each([
    ['haproxy', 2, '10.0.0.100'],
    ['kernel', 1, '169.254.77.100'],
  ] as const)('takes off what a keepalived that was killed has left, with %s', (kind, index, left) => {
    make(kind);
    clock.advance(4000);
    running('MASTER');
    addresses = [...addresses, address(index, left, 32)];
    clock.advance(1000);
    expect(addresses.map((one) => one.address)).toContain(left);
    isLive = false;
    clock.advance(200);
    // It may be another's as long as one runs.
    expect(addresses.map((one) => one.address)).toContain(left);
    pid = undefined;
    fifo.ended();
    clock.advance(100);
    expect(addresses.map((one) => one.address)).toEqual(['127.0.0.1', '10.0.0.2']);
    expect(log.slice(-2)).toEqual([
      'master -> stop: keepalived does not run',
      `delete ${left}, which a keepalived that ended has left`,
    ]);
  });

  it('leaves an address alone while another keepalived runs, and one that no keepalived puts there', () => {
    addresses = [...addresses, address(2, '10.0.0.100', 24)];
    make();
    clock.advance(1000);
    addresses = [...addresses, address(1, '10.0.0.100', 32)];
    runsOther = true;
    addresses = [...addresses, address(2, '10.0.0.100', 32)];
    clock.advance(1000);
    expect(addresses).toHaveLength(5);
  });

  it.each([
    [[], 'backup'],
    [[address(2, '10.0.0.100', 32)], 'master'],
  ] as const)('finds the state of a keepalived that says nothing by its addresses', (more, state) => {
    addresses = [...addresses, ...more];
    [pid, isLive] = [4711, true];
    make();
    // Told while no router read, and no state.
    fifo.line('INSTANCE "bgp-lb-fit" MASTER 240');
    fifo.quiet();
    expect(router.status()).toMatchObject({ state, owner: state === 'master' ? '10.0.0.2' : null });
  });

  it('takes the state that was told for what is, whatever addresses there are', () => {
    addresses = [...addresses, address(2, '10.0.0.100', 32)];
    [pid, isLive] = [4711, true];
    make();
    fifo.line('INSTANCE "bgp-lb" FAULT 240');
    fifo.quiet();
    expect(router.status()).toMatchObject({ state: 'fault' });
  });

  it('has keepalived take another configuration once, and not before the last one has settled', async () => {
    make();
    clock.advance(4000);
    running('BACKUP');
    await Promise.resolve();
    clock.advance(200);
    const before = log.filter((line) => line === 'reload').length;
    for (const priority of [100, 101, 102]) {
      vrrp = vrrpConfig({ priority });
      clock.advance(300);
      await Promise.resolve();
      await Promise.resolve();
      clock.advance(100);
    }
    clock.advance(6000);
    expect(config).toContain('priority 102');
    const reloads = log.filter((line) => line === 'reload').length - before;
    expect(reloads).toBeGreaterThan(0);
    expect(reloads).toBeLessThan(3);
  });

  it('says why it cannot begin', () => {
    addresses = [address(2, '192.0.2.1', 24)];
    make();
    clock.advance(4000);
    expect(config).toBeUndefined();
    expect(router.status().problem).toContain('VRRP needs one link');
  });
});
