/** BGP daemons of other makes as neighbors, each with one session over IPv4 that it opens and one over IPv6 that we open. */
import { Bird } from '../../scripts/lab/bird.ts';
import { exabgpDaemon, exabgpView } from '../../scripts/lab/exabgp.ts';
import { Frr } from '../../scripts/lab/frr.ts';
import { gobgp, gobgpArguments, gobgpView } from '../../scripts/lab/gobgp.ts';
import type { Host } from '../../scripts/lab/host.ts';
import { bgpctl, openbgpdDaemon, openbgpdView } from '../../scripts/lab/openbgpd.ts';
import type { PrivateView } from '../../scripts/lab/private-view.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';

/** What a daemon is configured with. */
export interface DaemonPlan {
  readonly asn: number;
  readonly remoteAsn: number;
  readonly local: { readonly ipv4: string; readonly ipv6: string };
  readonly remote: { readonly ipv4: string; readonly ipv6: string };
  /** What it announces. */
  readonly prefixes: { readonly ipv4: string; readonly ipv6: string };
  /** TCP-MD5 password of the session over IPv4. */
  readonly password: string;
}

/** One daemon. */
export interface PeerDaemon {
  start(plan: DaemonPlan): Promise<void>;
  /** Whether it has a route to this prefix by us; undefined where it cannot say. */
  has(prefix: string): Promise<boolean | undefined>;
}

/** FRR. */
export class FrrPeer implements PeerDaemon {
  readonly #frr: Frr;

  constructor(host: Host) {
    this.#frr = new Frr(host);
  }

  start({ asn, remoteAsn, local, remote, prefixes, password }: DaemonPlan): Promise<void> {
    const common = (address: string): string[] => [
      ` neighbor ${address} remote-as ${remoteAsn}`,
      ` neighbor ${address} timers 3 9`,
      ` neighbor ${address} timers connect 1`,
      ` neighbor ${address} ttl-security hops 1`,
    ];
    return this.#frr.start([
      `router bgp ${asn}`,
      ` bgp router-id ${local.ipv4}`,
      ' no bgp ebgp-requires-policy',
      ' no bgp network import-check',
      ' no bgp default ipv4-unicast',
      ...common(remote.ipv4),
      ` neighbor ${remote.ipv4} password ${password}`,
      ...common(remote.ipv6),
      ` neighbor ${remote.ipv6} passive`,
      ...(['ipv4', 'ipv6'] as const).flatMap((version) => [
        ` address-family ${version} unicast`,
        `  neighbor ${remote[version]} activate`,
        `  network ${prefixes[version]}`,
        ' exit-address-family',
      ]),
    ]);
  }

  async has(prefix: string): Promise<boolean> {
    const version = prefix.includes(':') ? 'ipv6' : 'ipv4';
    const { paths = [] } = await this.#frr.show<{ paths?: unknown[] }>(
      `show bgp ${version} unicast ${prefix} json`,
    );
    return paths.length > 0;
  }
}

/** BIRD 2. */
export class BirdPeer implements PeerDaemon {
  readonly #bird: Bird;

  constructor(host: Host) {
    this.#bird = new Bird(host);
  }

  start({ asn, remoteAsn, local, remote, prefixes, password }: DaemonPlan): Promise<void> {
    const session = (version: 'ipv4' | 'ipv6', more: string): string =>
      `protocol bgp lb_${version} { local ${local[version]} as ${asn}; neighbor ${remote[version]} as ${remoteAsn};
  direct; ttl security on; hold time 9; connect delay time 1; connect retry time 1; error wait time 1, 1; ${more}
  ${version} { import all; export where source = RTS_STATIC; next hop self; }; }`;
    return this.#bird.start([
      'protocol direct { ipv4; ipv6; interface "eth*"; }',
      `protocol static { ipv4; route ${prefixes.ipv4} blackhole; }`,
      `protocol static { ipv6; route ${prefixes.ipv6} blackhole; }`,
      session('ipv4', `password "${password}";`),
      session('ipv6', 'passive on;'),
    ]);
  }

  async has(prefix: string): Promise<boolean> {
    return (await this.#bird.birdc('show', 'route', prefix)).includes('[lb_');
  }
}

/** GoBGP. A process that dies of what it is sent shows as a session that ends. */
export class GobgpPeer implements PeerDaemon {
  readonly #host: Host;
  #view: PrivateView | undefined;

  constructor(host: Host) {
    this.#host = host;
  }

  async start({ asn, remoteAsn, local, remote, prefixes, password }: DaemonPlan): Promise<void> {
    const neighbor = (version: 'ipv4' | 'ipv6', more: string): string => `
[[neighbors]]
  [neighbors.config]
    neighbor-address = "${remote[version]}"
    peer-as = ${remoteAsn}
    ${version === 'ipv4' ? `auth-password = "${password}"` : ''}
  [neighbors.timers.config]
    connect-retry = 1
    hold-time = 9
    keepalive-interval = 3
  [neighbors.transport.config]
    local-address = "${local[version]}"
    ${more}
  [neighbors.ttl-security.config]
    enabled = true
    ttl-min = 255
  [[neighbors.afi-safis]]
    [neighbors.afi-safis.config]
      afi-safi-name = "${version}-unicast"`;
    const view = gobgpView(
      this.#host.path('gobgp'),
      `[global.config]\n  as = ${asn}\n  router-id = "${local.ipv4}"\n${neighbor('ipv4', '')}${neighbor('ipv6', 'passive-mode = true')}\n`,
    );
    this.#view = view;
    const daemon = this.#host.spawn('gobgpd', view.inside(gobgpArguments()));
    await daemon.ready(async () => (await this.#gobgp('global').catch(() => '')).includes('AS:'));
    for (const version of ['ipv4', 'ipv6'] as const) {
      await this.#gobgp('global', 'rib', 'add', '-a', version, prefixes[version]);
    }
  }

  async has(prefix: string): Promise<boolean> {
    const text = await this.#gobgp('global', 'rib', '-a', prefix.includes(':') ? 'ipv6' : 'ipv4');
    return text.includes(prefix);
  }

  #gobgp(...command: string[]): Promise<string> {
    return this.#host.exec(gobgp(started(this.#view), ...command));
  }
}

/** OpenBGPD. */
export class OpenbgpdPeer implements PeerDaemon {
  readonly #host: Host;
  #view: PrivateView | undefined;

  constructor(host: Host) {
    this.#host = host;
  }

  async start({ asn, remoteAsn, local, remote, prefixes, password }: DaemonPlan): Promise<void> {
    this.#view = openbgpdView(
      this.#host.path('openbgpd'),
      `AS ${asn}
router-id ${local.ipv4}
fib-update no
listen on ${local.ipv4}
listen on ${local.ipv6}
network ${prefixes.ipv4}
network ${prefixes.ipv6}
neighbor ${remote.ipv4} {
  remote-as ${remoteAsn}
  local-address ${local.ipv4}
  holdtime 9
  ttl-security yes
  tcp md5sig password ${password}
  announce IPv4 unicast
}
neighbor ${remote.ipv6} {
  remote-as ${remoteAsn}
  local-address ${local.ipv6}
  passive
  holdtime 9
  ttl-security yes
  announce IPv4 none
  announce IPv6 unicast
}
allow from any
allow to any
`,
    );
    const daemon = this.#host.spawn('bgpd', openbgpdDaemon(this.#view));
    await daemon.ready(async () => (await this.#bgpctl('show').catch(() => '')).includes('Neighbor'));
  }

  async has(prefix: string): Promise<boolean> {
    return (await this.#bgpctl('show', 'rib', prefix)).includes(prefix);
  }

  #bgpctl(...command: string[]): Promise<string> {
    return this.#host.exec(bgpctl(started(this.#view), ...command));
  }
}

/** ExaBGP, which announces and keeps no table: what it has heard it cannot say. */
export class ExabgpPeer implements PeerDaemon {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  async start({ asn, remoteAsn, local, remote, prefixes, password }: DaemonPlan): Promise<void> {
    const neighbor = (version: 'ipv4' | 'ipv6', more: string): string =>
      `neighbor ${remote[version]} { router-id ${local.ipv4}; local-address ${local[version]}; local-as ${asn}; peer-as ${remoteAsn};
  hold-time 9; outgoing-ttl 255; incoming-ttl 255; ${more} family { ${version} unicast; }
  static { route ${prefixes[version]} next-hop self; } }\n`;
    const config = neighbor('ipv4', `md5-password "${password}";`) + neighbor('ipv6', 'passive;');
    const view = exabgpView(this.#host.path('exabgp'), config);
    const daemon = this.#host.spawn('exabgp', exabgpDaemon(view, local.ipv6));
    await waitUntil(
      () => daemon.isRunning && daemon.tail().includes('loaded new configuration successfully'),
      {
        what: 'ExaBGP with its configuration',
        timeoutMs: 20_000,
        detail: () => daemon.tail(),
      },
    );
  }

  async has(): Promise<undefined> {
    return undefined;
  }
}

function started(view: PrivateView | undefined): PrivateView {
  if (view === undefined) throw new Error('the daemon was not started');
  return view;
}
