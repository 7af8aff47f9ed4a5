/** The daemons that take in a table: how each is configured as a passive EBGP peer that sends nothing, and how many prefixes it has. */
import type { NetworkNamespace } from '../../test/kit/network-namespace.ts';
import { type OtherName, type RunningDaemon, startDaemon } from '../bgp/daemon.ts';

/** Both ends of the session. */
export interface SessionPlan {
  readonly local: string;
  readonly localAsn: number;
  readonly remote: string;
  readonly remoteAsn: number;
  /** In seconds. */
  readonly holdTime: number;
}

/** A daemon that counts. */
export interface CountingDaemon extends RunningDaemon {
  /** Prefixes that have passed best path selection. */
  count(): Promise<number>;
}

interface Make {
  config(plan: SessionPlan): string;
  /** Asks for the number of prefixes. */
  readonly question: readonly string[];
  read(answer: string): number;
}

const makes: Readonly<Record<OtherName, Make>> = {
  FRR: {
    config: ({ local, localAsn, remote, remoteAsn, holdTime }) => `hostname bench
router bgp ${localAsn}
 bgp router-id ${local}
 no bgp ebgp-requires-policy
 no bgp default ipv4-unicast
 neighbor ${remote} remote-as ${remoteAsn}
 neighbor ${remote} passive
 neighbor ${remote} timers ${holdTime / 3} ${holdTime}
 address-family ipv4 unicast
  neighbor ${remote} activate
  neighbor ${remote} route-map nothing out
 exit-address-family
route-map nothing deny 10
`,
    question: ['show bgp ipv4 unicast summary json'],
    read: (answer) => {
      const parsed: {
        ribCount?: number;
        tableVersion?: number;
        peers?: Record<string, { pfxRcd?: number }>;
        ipv4Unicast?: object;
      } = JSON.parse(answer);
      const { ribCount = 0, tableVersion = 0, peers = {} } = { ...parsed, ...parsed.ipv4Unicast };
      const received = Object.values(peers).map(({ pfxRcd = 0 }) => pfxRcd);
      return Math.min(ribCount, tableVersion, ...received);
    },
  },
  BIRD: {
    config: ({
      local,
      localAsn,
      remote,
      remoteAsn,
      holdTime,
    }) => `log stderr { warning, error, fatal, auth, bug };
router id ${local};
protocol device {}
protocol direct { ipv4; interface "v0"; }
protocol bgp feeder {
  local ${local} as ${localAsn};
  neighbor ${remote} as ${remoteAsn};
  passive on;
  hold time ${holdTime};
  keepalive time ${holdTime / 3};
  ipv4 { import all; export none; };
}
`,
    question: ['show route count'],
    // One of them is the link's own network.
    read: (answer) => Number(/for (\d+) networks/.exec(answer)?.[1] ?? 0) - 1,
  },
  GoBGP: {
    config: ({ local, localAsn, remote, remoteAsn, holdTime }) => `[global.config]
as = ${localAsn}
router-id = "${local}"
[global.apply-policy.config]
default-export-policy = "reject-route"
[[neighbors]]
[neighbors.config]
neighbor-address = "${remote}"
peer-as = ${remoteAsn}
[neighbors.timers.config]
hold-time = ${holdTime}
keepalive-interval = ${holdTime / 3}
[neighbors.transport.config]
passive-mode = true
[[neighbors.afi-safis]]
[neighbors.afi-safis.config]
afi-safi-name = "ipv4-unicast"
`,
    question: ['global', 'rib', 'summary'],
    read: (answer) => Number(/Destination: (\d+)/.exec(answer)?.[1] ?? 0),
  },
  OpenBGPD: {
    config: ({ local, localAsn, remote, remoteAsn, holdTime }) => `AS ${localAsn}
router-id ${local}
listen on ${local}
fib-update no
nexthop qualify via default
neighbor ${remote} {
  remote-as ${remoteAsn}
  passive
  holdtime ${holdTime}
  announce IPv4 unicast
}
allow from any
deny to any
`,
    question: ['show', 'rib', 'mem'],
    read: (answer) => Number(/(\d+) IPv4 unicast network entries/.exec(answer)?.[1] ?? 0),
  },
};

/** Starts a daemon in a namespace; it listens a moment later. */
export async function startCountingDaemon(
  name: OtherName,
  namespace: NetworkNamespace,
  plan: SessionPlan,
): Promise<CountingDaemon> {
  const { config, question, read } = makes[name];
  const daemon = await startDaemon(name, namespace, config(plan));
  return {
    get pids() {
      return daemon.pids;
    },
    async count() {
      const answer = await daemon.ask(...question);
      return answer === undefined ? 0 : read(answer);
    },
    stop: () => daemon.stop(),
  };
}
