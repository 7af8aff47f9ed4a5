import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AddressFamily, vipOf } from '../../scripts/lab/addresses.ts';
import type { Lab } from '../../scripts/lab/lab.ts';
import { startListedMasters } from './listed-masters.ts';
import { NamespaceProcess } from './namespace-process.ts';

const families = ['ipv4', 'ipv6'] as const;
const eventually = { timeout: 40_000, interval: 100 };
/** Seconds: the shortest that the router asks again after. */
const TTL = 5;

/** Members from a list, without any speaker or neighbor: addresses, and names that change. */
export function staticMembers(dataPlane: 'kernel' | 'haproxy'): void {
  describe(`members from a list, without a speaker, by ${dataPlane}`, { timeout: 120_000 }, () => {
    let lab: Lab;
    let dns: NamespaceProcess<typeof import('./dns-server.ts')>;
    /** What ip-netns(8) puts over /etc for what is run in the namespace. */
    let etc: string;

    beforeAll(async () => {
      lab = await startListedMasters({ families, masters: 3, dataPlane });
      etc = `/etc/netns/${lab.lb.namespace}`;
      mkdirSync(etc, { recursive: true });
      writeFileSync(`${etc}/resolv.conf`, 'nameserver 127.0.0.1\noptions timeout:1 attempts:1\n');
      writeFileSync(`${etc}/nsswitch.conf`, 'hosts: files dns\n');
      const [m3, m3v6] = families.map((family) => lab.master(3).addressOf(0, family));
      writeFileSync(`${etc}/hosts`, `127.0.0.1 localhost\n${m3} m3\n${m3v6} m3\n`);
      dns = await NamespaceProcess.start(
        ['ip', 'netns', 'exec', lab.lb.namespace],
        new URL('./dns-server.ts', import.meta.url),
      );
      await dns.run((server) => server.listen());
      await name(2);
      lab.lb.writeConfig({
        neighbors: [],
        vips: families.map((family) => ({
          address: vipOf(family),
          members: {
            static: [
              { name: 'm1', address: lab.master(1).addressOf(0, family), zone: 'a' },
              { name: 'm2', address: 'm2.lab.test' },
              { address: 'm3' },
            ],
          },
        })),
      });
      await lab.lb.router.start();
    }, 120_000);

    afterAll(async () => {
      await dns?.stop();
      await lab?.destroy();
      if (etc !== undefined) rmSync(etc, { recursive: true, force: true });
    });

    /** m2.lab.test stands for this master. */
    async function name(number: number): Promise<void> {
      const addresses = families.map((family) => lab.master(number).addressOf(0, family));
      await dns.run((server, [list, ttl]) => server.set({ 'm2.lab.test': list }, ttl), [addresses, TTL] as [
        string[],
        number,
      ]);
    }

    async function pool(...numbers: readonly number[]): Promise<void> {
      for (const family of families) {
        const addresses = numbers.map((number) => lab.master(number).addressOf(0, family));
        await lab.lb.waitForPool(addresses, 40_000, family);
      }
    }

    /** Clients get to these masters, and to no others. HAProxy's own check of one that is new takes a moment. */
    async function serves(family: AddressFamily, ...numbers: readonly number[]): Promise<void> {
      const servers = async (): Promise<(string | undefined)[]> => {
        const seen = new Set<string | undefined>();
        for (let n = 0; n < 12; n += 1) {
          seen.add((await lab.client.request({ host: vipOf(family), timeout: 5_000 })).master);
        }
        return [...seen].sort();
      };
      await expect.poll(servers, eventually).toEqual(numbers.map((number) => `m${number}`));
    }

    it.each(families)(
      'serves clients of %s, and says that nothing but health vouches for them',
      async (family) => {
        await pool(1, 2, 3);
        await serves(family, 1, 2, 3);
        const { stdout } = await lab.lb.router.query(['status']);
        expect(stdout).toMatch(/static +m2.lab.test +1/);
        expect(stdout).toContain('no session: judged by health alone');
        const { stdout: why } = await lab.lb.router.query(['explain', vipOf(family)]);
        expect(why).toMatch(/sources of m1 .*static: listed/);
      },
    );

    it('takes out one whose API server has gone, and takes it back', async () => {
      await lab.master(1).stopApiServer();
      await pool(2, 3);
      for (const family of families) await serves(family, 2, 3);
      await lab.master(1).startApiServer();
      await pool(1, 2, 3);
    });

    it('follows a name to another address when its TTL is over, in both families', async () => {
      await name(1);
      await pool(1, 3);
      for (const family of families) await serves(family, 1, 3);
      await name(2);
      await pool(1, 2, 3);
      for (const family of families) await serves(family, 1, 2, 3);
      const { stdout } = await lab.lb.router.query(['events']);
      expect(stdout).toContain('member-source');
    });

    it('keeps all of them while DNS does not answer, over a start of the router too', async () => {
      await dns.run((server) => server.close());
      const problems = async (): Promise<string[]> => {
        const { memberSources } = (await lab.lb.router.status()) as unknown as {
          memberSources: { name: string; problem: string }[];
        };
        return memberSources.filter(({ problem }) => problem !== '').map((one) => one.name);
      };
      await expect.poll(problems, eventually).toEqual(['m2.lab.test', 'm2.lab.test']);
      await lab.lb.router.stop();
      await lab.lb.router.start();
      await expect.poll(problems, eventually).toEqual(['m2.lab.test', 'm2.lab.test']);
      await pool(1, 2, 3);
      await dns.run((server) => server.listen());
      await expect.poll(problems, eventually).toEqual([]);
    });

    it('takes another list by a reload, and leaves the names of the other VIP alone', async () => {
      const [one, two] = families;
      lab.lb.writeConfig({
        neighbors: [],
        vips: [
          {
            address: vipOf(one),
            members: { static: [{ name: 'm3', address: lab.master(3).addressOf(0, one) }] },
          },
          { address: vipOf(two), members: { static: [{ name: 'm2', address: 'm2.lab.test' }] } },
        ],
      });
      const { stdout, code } = await lab.lb.router.query(['reload']);
      expect([code, stdout]).toEqual([0, expect.stringContaining('members')]);
      await lab.lb.waitForPool([lab.master(3).addressOf(0, one)], 20_000, one);
      await lab.lb.waitForPool([lab.master(2).addressOf(0, two)], 20_000, two);
      await serves(one, 3);
      await serves(two, 2);
    });
  });
}
