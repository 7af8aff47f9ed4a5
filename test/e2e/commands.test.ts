import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import type { Daemon } from '../../scripts/lab/daemon.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import type { CommandResult } from '../../scripts/lab/run-command.ts';
import { addresses, startMaster } from '../kit/cluster.ts';
import { type EventView, lastEvent } from '../kit/router-view.ts';

type DaemonName = 'router' | 'speaker';

const program = fileURLToPath(new URL('../../dist/bgp-lb-router.mjs', import.meta.url));

describe('the commands', () => {
  let lab: Lab;
  beforeAll(async () => {
    // The third master has a configuration, and no speaker that runs.
    lab = await Lab.create({ masters: 3, controlPlane: 'stand-in' });
    await lab.lb.router.start();
    await startMaster(lab, lab.master(1));
    await startMaster(lab, lab.master(2));
    lab.master(3).writeSpeakerConfig('join');
    await lab.lb.waitForPool(addresses([lab.master(1), lab.master(2)]));
  });
  afterAll(async () => {
    await lab.destroy();
  });

  const daemon = (name: DaemonName): Daemon<unknown> =>
    name === 'router' ? lab.lb.router : lab.master(1).speaker;

  describe.each(['router', 'speaker'] as const)('check-config of the %s', (name) => {
    /** Runs it on a changed copy of the configuration that the daemon runs with, and puts that back. */
    async function check(change: (text: string) => string): Promise<CommandResult> {
      const { configFile } = daemon(name);
      const good = readFileSync(configFile, 'utf8');
      try {
        writeFileSync(configFile, change(good));
        return await daemon(name).command(['check-config']);
      } finally {
        writeFileSync(configFile, good);
      }
    }

    /** `file:line:column` of a text's first place in the configuration. */
    function place(text: string): string {
      const { configFile } = daemon(name);
      const lines = (readFileSync(configFile, 'utf8').split(text)[0] ?? '').split('\n');
      return `${configFile}:${lines.length}:${(lines.at(-1) ?? '').length + 1}`;
    }

    const port = '"address": "10.100.0.1",\n      "port": 6443';
    const badPort = (text: string): string => text.replace(port, port.replace('6443', '70000'));

    it('is satisfied with the configuration that the daemon runs with', async () => {
      const { code, stdout, stderr } = await daemon(name).command(['check-config']);
      expect({ code, stdout, stderr }).toEqual({
        code: 0,
        stdout: `${daemon(name).configFile} is good\n`,
        stderr: '',
      });
    });

    it('names file, line and column, the value and what is allowed', async () => {
      const { code, stdout, stderr } = await check(badPort);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      // The place of 6443 in the good file is that of 70000 in the bad one.
      expect(stderr).toContain(`${place('6443')}: vips.0.port: `);
      expect(stderr).toMatch(/70000.*65535/);
    });

    it('refuses a key that does not exist and suggests the one that was meant', async () => {
      const { code, stderr } = await check((text) => text.replace('"holdTime"', '"holdTme"'));
      expect(code).toBe(2);
      expect(stderr).toContain(`${place('"holdTime"')}: `);
      expect(stderr).toMatch(/holdTme: is not a known key \(holdTime\?\); allowed: .*asn/);
    });

    it('tells all faults, not only the first', async () => {
      const { code, stderr } = await check((text) =>
        badPort(text).replace('"holdTime": "3s"', '"holdTime": "1s"'),
      );
      expect(code).toBe(2);
      expect(stderr).toContain('vips.0.port');
      expect(stderr).toContain('holdTime');
    });

    it('says where YAML ends to be YAML', async () => {
      const { code, stderr } = await check((text) => text.replace('"asn": ', '"asn": ['));
      expect(code).toBe(2);
      expect(stderr.slice(daemon(name).configFile.length)).toMatch(/^:\d+:\d+: /);
    });

    it('keeps the daemon from starting, for the same reason in the same words', async () => {
      const { configFile } = daemon(name);
      const good = readFileSync(configFile, 'utf8');
      writeFileSync(configFile, badPort(good));
      const { code, stderr } = await daemon(name)
        .command(['run'])
        .finally(() => writeFileSync(configFile, good));
      expect(code).toBe(2);
      expect(stderr).toContain(`${place('6443')}: vips.0.port: `);
    });
  });

  describe.each<[DaemonName, string, string[]]>([
    ['router', 'status', [vipAddress, 'active', '2 of 2 members healthy']],
    ['router', 'neighbors', ['10.0.0.11', 'Established']],
    ['router', 'neighbors 10.0.0.11', ['10.0.0.11', 'Established', '64512', 'Hold', 'Keepalive']],
    ['router', 'routes', [`${vipAddress}/32`, '10.0.0.11', '10.0.0.12']],
    ['router', 'fib', [`${vipAddress}/32`, '10.0.0.11', 'eth0']],
    ['router', 'fib --diff', [`${vipAddress}/32`, '10.0.0.11']],
    ['router', 'explain', [`${vipAddress}/32`, 'member 10.0.0.12', 'gate kernel']],
    ['router', 'events', ['member-transition', 'neighbor-transition']],
    ['speaker', 'status', [`${vipAddress}/32`, 'advertised', 'Established', 'bootstrap']],
  ])('the %s command %s', (name, command, words) => {
    it.each(['table', 'json', 'yaml'])('shows what there is as %s', async (format) => {
      const { code, stdout, stderr } = await daemon(name).query([...command.split(' '), '-o', format]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      for (const word of words) expect(stdout).toContain(word);
      // A table is for people, the others are for programs: neither is the other.
      if (format === 'json') expect(JSON.parse(stdout)).toBeTypeOf('object');
      else expect(() => JSON.parse(stdout)).toThrow(SyntaxError);
      if (format === 'yaml') expect(stdout).toMatch(/^(- )?[a-zA-Z]+:/);
    });
  });

  describe('doctor of the router', () => {
    interface Finding {
      readonly check: string;
      readonly level: string;
      readonly place: string;
      readonly value: string;
      readonly fix: string;
    }
    /** Its exit code, and what is bad: everything else is good. */
    async function examine(...options: string[]): Promise<{ code: number | null; bad: Finding[] }> {
      const { code, stdout, stderr } = await lab.lb.router.command(['doctor', '-o', 'json', ...options]);
      if (stdout === '') throw new Error(stderr);
      const findings: Finding[] = JSON.parse(stdout);
      // Whether the machine's clock is kept by NTP is not the lab's business.
      return { code, bad: findings.filter(({ level, check }) => level !== 'good' && check !== 'time') };
    }

    it('finds nothing where all is well', async () => {
      expect((await examine()).bad).toMatchObject([{ check: 'health check', level: 'warning' }]);
      copyFileSync(`${lab.master(1).pkiFolder}/ca.crt`, lab.lb.caFile);
      // The router looks at the file again with the next probes.
      await expect.poll(async () => (await examine()).bad, { timeout: 30_000 }).toEqual([]);
      expect(await examine()).toEqual({ code: 0, bad: [] });
    });

    it('names the master that answers ARP for the VIP, and a chain that may drop packets of clients', async () => {
      const stranger = lab.master(3);
      await stranger.exec(['ip', 'address', 'add', `${vipAddress}/32`, 'dev', 'lo']);
      const table =
        'table inet f { chain c { type filter hook forward priority 10; policy drop; ip saddr 10.0.0.0/8 accept; }; }';
      await lab.lb.exec(['nft', '-f', '-'], { input: table });
      // So that the load balancer knows whose link-layer address it is.
      const connect = `require('node:net').connect(1, '${stranger.address}').on('error', () => {})`;
      await lab.lb.exec([process.execPath, '-e', connect]);
      const { code, bad } = await examine();
      expect(code).toBe(1);
      expect(bad).toMatchObject([
        {
          check: 'vip owner',
          level: 'fault',
          place: 'eth0',
          value: expect.stringContaining(`(${stranger.address})`),
          fix: expect.stringContaining('arp_ignore=1'),
        },
        { check: 'firewall', level: 'warning', place: 'inet f c' },
      ]);
      await stranger.exec(['ip', 'address', 'del', `${vipAddress}/32`, 'dev', 'lo']);
      await lab.lb.exec(['nft', 'delete', 'table', 'inet', 'f']);
    });

    it('writes a bundle that has everything but secrets, once', async () => {
      const file = `${lab.lb.router.configFile}.bundle`;
      await examine('--bundle', file);
      const text = readFileSync(file, 'utf8');
      expect(Object.keys(JSON.parse(text)).sort()).toEqual(
        ['config', 'findings', 'host', 'kernel', 'nftChains', 'router', 'writtenAt'].sort(),
      );
      expect(text).toContain('passwordFile');
      expect(text).not.toContain('lab-password');
      expect((await lab.lb.router.command(['doctor', '--bundle', file])).stderr).toContain('EEXIST');
    });
  });

  it('explain of a VIP that does not exist names those that do', async () => {
    const { code, stderr } = await lab.lb.router.query(['explain', '10.9.9.9']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/no VIP 10\.9\.9\.9; there are: 10\.100\.0\.1\/32/);
  });

  it('neighbors names those that there are when asked for another', async () => {
    const { code, stdout, stderr } = await lab.lb.router.query(['neighbors', 'nobody']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/no neighbor nobody.*10\.0\.0\.11/);
  });

  it.each(['router', 'speaker'] as const)(
    'of the %s that do not exist end with status 2 and a suggestion',
    async (name) => {
      const { code, stdout, stderr } = await daemon(name).query(['statsu']);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain('did you mean status?');
    },
  );

  it('say with status 1, in one sentence, that the daemon does not run', async () => {
    const { code, stdout, stderr } = await lab.master(3).speaker.query(['status']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(lab.master(3).speaker.socketPath);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).toMatch(/not run/);
  });

  it('reset ends one session with a word for its operator and opens it again, which events --follow tells', async () => {
    const { router } = lab.lb;
    const [first = '', second = ''] = addresses(lab.masters);
    const argv = [process.execPath, program, 'events', '--follow'];
    const before = await lastEvent(lab);
    const follow = lab.lb.spawn('follow', [...argv, '-o', 'json', '--socket', router.socketPath]);
    const told = (): EventView[] => {
      const lines = readFileSync(follow.logFile, 'utf8').split('\n').slice(0, -1);
      return lines.map((line): EventView => JSON.parse(line)).filter(({ sequence }) => sequence > before);
    };
    const { code, stdout, stderr } = await router.query(['reset', second, '--text', 'cable swap']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`${second}: session ended (was Established)`);
    for (const state of ['Idle', 'Established']) {
      const isTold = (): boolean => told().some(({ peer, to }) => peer === second && to === state);
      await expect.poll(isTold, { timeout: 20_000 }).toBe(true);
    }
    follow.signal('SIGTERM');
    await follow.exited;
    // The other session does not notice.
    expect(told().filter(({ peer }) => peer === first)).toEqual([]);
    const { stdout: status } = await lab.master(2).speaker.query(['status', '-o', 'json']);
    expect(status).toContain('Administrative Reset');
    expect(status).toContain('cable swap');
    await lab.lb.waitForPool([first, second]);
  });

  it('reset of a neighbor that does not exist names those that do', async () => {
    const { code, stdout, stderr } = await lab.lb.router.query(['reset', 'nobody']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/no neighbor nobody.*10\.0\.0\.11/);
  });
});
