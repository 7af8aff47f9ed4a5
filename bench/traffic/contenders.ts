/** Who carries clients to masters, on a load balancer that is switched on. */
import { copyFileSync, existsSync, writeFileSync } from 'node:fs';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import { tryCommand } from '../../scripts/lab/run-command.ts';
import { installedOf } from '../bgp/daemon.ts';
import { type BenchLab, vipPort } from '../lb/bench-lab.ts';
import { OurRouter } from '../lb/daemons/our-router.ts';

/** In the order of the table. `direct`: clients connect to the masters themselves, with no load balancer between. */
const contenderNames = [
  'direct',
  'bgp-lb, kernel',
  'FRR',
  'BIRD',
  'bgp-lb, HAProxy',
  'HAProxy by hand',
] as const;

export type ContenderName = (typeof contenderNames)[number];

/** One of them. */
export interface Contender {
  readonly name: ContenderName;
  /** Where clients connect to. */
  readonly hosts: readonly string[];
  /** Whether masters tell it of themselves by BGP, and BFD watches them. */
  readonly hasSessions: boolean;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Milliseconds between BFD packets, of which three may be lost, where there are sessions: the default of our daemons. */
export const bfdInterval = 300;

/** Those whose programs are on this machine. */
export function installedContenders(): ContenderName[] {
  const bgp = installedOf(['FRR', 'BIRD']);
  const hasHaproxy = existsSync('/usr/sbin/haproxy');
  return contenderNames.filter((name) => {
    if (name === 'FRR' || name === 'BIRD') return bgp.includes(name);
    return hasHaproxy || !name.includes('HAProxy');
  });
}

export function contender(bench: BenchLab, name: ContenderName): Contender {
  const { lb } = bench.lab;
  const detection = { bfdInterval };
  const vip = { name, hosts: [vipAddress], hasSessions: true };
  const healthCheck = { interval: '1s', timeout: '1s' };
  switch (name) {
    case 'direct': {
      const hosts = bench.masters.map(({ host }) => host.address);
      const nothing = async (): Promise<void> => undefined;
      return { name, hosts, hasSessions: false, start: nothing, stop: nothing };
    }
    case 'HAProxy by hand':
      return { ...vip, hasSessions: false, ...byHand(bench) };
    case 'bgp-lb, kernel':
    case 'bgp-lb, HAProxy': {
      const isHaproxy = name === 'bgp-lb, HAProxy';
      const dataplane = isHaproxy ? { dataplane: lb.haproxyDataplane } : {};
      const router = new OurRouter(lb, { healthCheck, ...dataplane }, detection);
      return {
        ...vip,
        async start() {
          copyFileSync(`${bench.lab.master(1).pkiFolder}/ca.crt`, lb.caFile);
          if (isHaproxy) lb.startHaproxy();
          await router.start();
        },
        stop: () => router.stop(),
      };
    }
    default: {
      const balancer = bench.balancer(name, {}, detection);
      return {
        ...vip,
        async start() {
          await balancer.start();
        },
        stop: () => balancer.stop(),
      };
    }
  }
}

/** The file of kubeadm's guide for high availability with the values of the lab, and the VIP on the host. */
function byHand(bench: BenchLab): Pick<Contender, 'start' | 'stop'> {
  const { lb } = bench.lab;
  const file = lb.path('haproxy-by-hand.cfg');
  return {
    async start() {
      const servers = bench.masters.map(
        ({ host }) => `    server ${host.name} ${host.address}:${vipPort} check verify none`,
      );
      writeFileSync(file, `${guideFile(servers).join('\n')}\n`);
      await lb.exec(['ip', 'address', 'add', `${vipAddress}/32`, 'dev', 'lo']);
      lb.spawn('haproxy-by-hand', ['haproxy', '-db', '-f', file]);
    },
    // It ends with its host, which is switched off after each measurement.
    stop: async () => undefined,
  };
}

function guideFile(servers: readonly string[]): string[] {
  return [
    'global',
    '    log stdout format raw local0',
    '    daemon',
    'defaults',
    '    mode http',
    '    log global',
    '    option httplog',
    '    option dontlognull',
    '    option http-server-close',
    '    option forwardfor except 127.0.0.0/8',
    '    option redispatch',
    '    retries 1',
    '    timeout http-request 10s',
    '    timeout queue 20s',
    '    timeout connect 5s',
    '    timeout client 35s',
    '    timeout server 35s',
    '    timeout http-keep-alive 10s',
    '    timeout check 10s',
    'frontend apiserver',
    `    bind *:${vipPort}`,
    '    mode tcp',
    '    option tcplog',
    '    default_backend apiserverbackend',
    'backend apiserverbackend',
    '    option httpchk',
    '    http-check connect ssl',
    '    http-check send meth GET uri /healthz',
    '    http-check expect status 200',
    '    mode tcp',
    '    balance roundrobin',
    ...servers,
  ];
}

/** The version of HAProxy; null where it is not installed. */
export async function haproxyVersion(): Promise<string | null> {
  const { code, stdout } = await tryCommand(['haproxy', '-v']);
  return code === 0 ? (/version (\S+)/.exec(stdout)?.[1] ?? 'unknown') : null;
}
