import { copyFileSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { vipOf } from '../../scripts/lab/addresses.ts';
import type { Host } from '../../scripts/lab/host.ts';
import type { HostProcess } from '../../scripts/lab/host-process.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import type { LbHost } from '../../scripts/lab/lb-host.ts';
import type { JsonObject } from '../../scripts/lab/object-store.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import type { ArpSamples } from './arp-sampler-main.ts';

const families = ['ipv4', 'ipv6'] as const;
const subnets = { ipv4: ['10.100.0.', 24], ipv6: ['fd62:6770:6c62:64::', 64] } as const;
const sampler = fileURLToPath(new URL('./arp-sampler-main.ts', import.meta.url));

/** What of `vrrp` in the router's status the tests look at. */
interface VrrpStatus {
  readonly state: string;
  readonly owner: string | null;
  readonly why: string;
  readonly unfit: string | null;
  readonly problem: string;
  readonly peers: readonly { readonly isFit: boolean }[];
}

/** When a load balancer got what the owner has, or lost it. */
interface AddressEvent {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly lb: LbHost;
  readonly isThere: boolean;
}

/** Two load balancers, masters from a list, and a client, all on one link, with a VIP of each family. */
export class KeepalivedPair {
  readonly lab: Lab;
  readonly #kind: 'haproxy' | 'kernel';
  readonly #watches = new Map<LbHost, HostProcess>();

  private constructor(lab: Lab, kind: 'haproxy' | 'kernel') {
    this.lab = lab;
    this.#kind = kind;
  }

  /** The first load balancer has the higher priority. No router runs yet. @param router keys of router.yaml */
  static async create(kind: 'haproxy' | 'kernel', router: JsonObject = {}): Promise<KeepalivedPair> {
    const lab = await Lab.create({
      ...{
        families,
        vrrp: true,
        dataPlane: kind,
        loadBalancers: 2,
        masters: 2,
        vipPort: kind === 'kernel' ? 6443 : 443,
      },
      ...{ controlPlane: 'stand-in', router: { pool: { initialHold: '500ms' }, ...router } },
    });
    const pair = new KeepalivedPair(lab, kind);
    try {
      await pair.#prepare();
      return pair;
    } catch (error) {
      await lab.destroy();
      throw error;
    }
  }

  get first(): LbHost {
    return this.lab.lb;
  }

  get second(): LbHost {
    const second = this.lab.lbs[1];
    if (second === undefined) throw new RangeError('a lab with one load balancer');
    return second;
  }

  /** Writes router.yaml of a load balancer. @param vrrp put over its keys of that name */
  configure(lb: LbHost, vrrp: JsonObject = {}): void {
    const vips = families.map((family) => ({
      ...{ address: vipOf(family), port: this.#port, machinePort: 6443 },
      members: {
        bgp: false,
        static: this.lab.masters.map((master) => ({ address: master.addressOf(0, family) })),
      },
    }));
    const priority = lb === this.first ? 250 : 240;
    const own = { priority, advertInterval: '200ms', missedAdverts: 2, preemptDelay: '1s', ...vrrp };
    lb.writeConfig({ vips, neighbors: [], vrrp: own });
  }

  async vrrp(lb: LbHost): Promise<VrrpStatus> {
    const { vrrp } = (await lb.router.request('GET', '/api/v1/status')) as { vrrp: VrrpStatus };
    return vrrp;
  }

  /** The load balancers that have what the owner has: the VIPs, or with the kernel its token. */
  async owners(): Promise<LbHost[]> {
    const has = await Promise.all(
      this.lab.lbs.map(async (lb) => (await lb.exec(['ip', '-brief', 'address'])).includes(this.#owned)),
    );
    return this.lab.lbs.filter((_lb, index) => has[index]);
  }

  /** Waits until this one is the owner, alone, and each router knows it; and says of each other that it could be. */
  async ownedBy(lb: LbHost, timeoutMs = 20_000): Promise<void> {
    let last: unknown;
    await waitUntil(
      async () => {
        const states = await Promise.all(this.lab.lbs.map((one) => this.vrrp(one).catch(() => undefined)));
        last = states;
        const expected = this.lab.lbs.map((one) => (one === lb ? 'master' : 'backup'));
        const owners = await this.owners();
        return (
          owners.length === 1 &&
          owners[0] === lb &&
          states.every(
            (one, index) => one?.state === expected[index] && one?.peers.every(({ isFit }) => isFit),
          )
        );
      },
      {
        what: `${lb.name} has the VIPs`,
        timeoutMs,
        detail: () =>
          `${JSON.stringify(last)}\n${this.lab.lbs.map((one) => one.keepalived.tail(8)).join('\n')}`,
      },
    );
  }

  /** What has happened on the load balancers since they were switched on, as their kernels told it. */
  addressEvents(since: number): AddressEvent[] {
    return [...this.#watches]
      .flatMap(([lb, { logFile }]) => {
        let at = 0;
        return readFileSync(logFile, 'utf8')
          .split('\n')
          .flatMap((line): AddressEvent[] => {
            const [, time] = /^\[([^\]]+)\]/.exec(line) ?? [];
            if (time !== undefined) at = Date.parse(`${time.slice(0, 23)}Z`);
            if (!line.includes(` ${this.#owned}`)) return [];
            return [{ at, lb, isThere: !line.includes('Deleted') }];
          });
      })
      .filter(({ at }) => at >= since)
      .sort((a, b) => a.at - b.at);
  }

  /** When a load balancer got the VIPs after that moment. */
  gotAt(lb: LbHost, since: number): Promise<number> {
    return waitUntil(() => this.addressEvents(since).find((one) => one.lb === lb && one.isThere)?.at, {
      what: `${lb.name} gets the VIPs`,
      everyMs: 5,
      detail: () => lb.keepalived.tail(),
    });
  }

  /** The load balancers hear no VRRP of each other, until they do again by `join`. */
  async part(): Promise<void> {
    const chain = (hook: string): string =>
      `chain ${hook} {\n type filter hook ${hook} priority 0\n meta l4proto 112 drop\n}`;
    const input = `table inet cut {\n${chain('input')}\n${chain('output')}\n}\n`;
    await this.second.exec(['nft', '-f', '-'], { input });
  }

  /** Both ways at one moment. */
  async join(): Promise<void> {
    await this.second.exec(['nft', 'delete', 'table', 'inet', 'cut']);
  }

  /** Asks the link who has a VIP, again and again, as a client would. */
  async sample(vip: string, durationMs: number): Promise<ArpSamples> {
    const text = await this.lab.client.exec([process.execPath, sampler, 'eth1', vip, String(durationMs)], {
      timeoutMs: durationMs + 20_000,
    });
    return JSON.parse(text) as ArpSamples;
  }

  /** The link-layer address of a host on the link. */
  async linkAddress(host: Host): Promise<string> {
    const [link] = await host.ipJson<{ address: string }[]>('link', 'show', 'dev', 'eth0');
    return link?.address ?? '';
  }

  /** The link-layer address that the client has for an IP address. */
  async knownToClient(address: string): Promise<string> {
    const [entry] = await this.lab.client.ipJson<{ lladdr?: string }[]>(
      'neigh',
      'show',
      address,
      'dev',
      'eth1',
    );
    return entry?.lladdr ?? '';
  }

  async destroy(): Promise<void> {
    await this.lab.destroy();
  }

  /** Nothing maps ports on masters that have no speaker. */
  get #port(): number {
    return this.#kind === 'kernel' ? 6443 : 443;
  }

  get #owned(): string {
    // VRID 1: the last octet of the VIP.
    return this.#kind === 'kernel' ? '169.254.77.1/32' : `${vipOf('ipv4')}/32`;
  }

  async #prepare(): Promise<void> {
    const { lab } = this;
    const { client, masters } = lab;
    const cable = { port: 'client-onlink', bridge: 'masters', device: 'eth1', hostNumber: 2 } as const;
    await lab.switch.plug([{ ...cable, namespace: client.namespace }]);
    await client.exec(['ip', 'link', 'set', 'eth1', 'up']);
    await this.#address(client, 'eth1', 200);
    await Promise.all(
      [...lab.lbs, ...masters].map((host, index) => this.#address(host, 'eth0', 201 + index)),
    );
    for (const [index, master] of masters.entries()) {
      await master.installCertificates(index === 0 ? undefined : masters[0]);
      if (this.#kind === 'kernel') await this.#bindVips(master);
      await master.startApiServer();
    }
    for (const lb of lab.lbs) {
      copyFileSync(lab.master(1).caFile, lb.caFile);
      this.configure(lb);
      this.#watches.set(lb, lb.spawn('addresses', ['env', 'TZ=UTC', 'ip', '-ts', 'monitor', 'address']));
    }
  }

  /** As an operator would: the VIPs on `lo`, and no answer for them. */
  async #bindVips(master: Host): Promise<void> {
    await master.writeSysctls({ 'net.ipv4.conf.all.arp_ignore': '1', 'net.ipv4.conf.all.arp_announce': '2' });
    for (const family of families) {
      const length = family === 'ipv4' ? 32 : 128;
      await master.exec(['ip', 'address', 'add', `${vipOf(family)}/${length}`, 'dev', 'lo', 'nodad']);
    }
  }

  async #address(host: Host, device: string, number: number): Promise<void> {
    for (const family of families) {
      const [start, length] = subnets[family];
      await host.exec(['ip', 'address', 'add', `${start}${number}/${length}`, 'dev', device, 'nodad']);
    }
  }
}
