import {
  age,
  bfdTiming,
  ControlClientError,
  chainsThatDrop,
  checkClock,
  checkDuplicates,
  checkLiveness,
  checkOwners,
  checkScheduling,
  controlRequest,
  type Finding,
  fault,
  HttpsProbe,
  lastErrorOf,
  parseCertificates,
  readSecret,
  warning,
} from '@bgp-lb/daemon';
import {
  addressOwners,
  arpLinks,
  detectionOf,
  isClockSynchronized,
  type Link,
  Nftables,
  NftablesError,
  RouteSocket,
} from '@bgp-lb/linux';
import type { SpeakerConfig } from '../config/speaker-config.ts';
import { hostFacts, linkTowards, sourceTowards } from '../host-facts.ts';
import { readTextFile } from '../read-text-file.ts';
import type { SpeakerStatus } from '../status.ts';
import { unreadTable } from '../way-back/check-way-back.ts';
import { checkApiServer, checkCa, checkShutdownDelay } from './check-api-server.ts';
import { checkDrainUnit, showDrainUnit } from './check-drain-unit.ts';
import { checkAddresses, checkArp, checkFirewall, checkNoBinding } from './check-host.ts';
import { connectRouter, judgeRouter } from './check-router.ts';
import { checkSpeaker } from './check-speaker.ts';
import { examineWayBack } from './examine-way-back.ts';

/** Milliseconds that an owner of the VIP has to answer. */
const ANSWER_TIME = 600;
/** More than the speaker gives a probe: whether it is slow is a question for `explain`. Milliseconds. */
const PROBE_TIME = 5_000;

const API_SERVER_MANIFEST = '/etc/kubernetes/manifests/kube-apiserver.yaml';

/** Looks at everything that the speaker depends on. @throws NetlinkError, SysctlError where the kernel cannot be asked at all */
export async function examine(config: SpeakerConfig): Promise<readonly Finding[]> {
  const routes = new RouteSocket();
  try {
    const status = await runningSpeaker(config);
    return [
      ...(await checkSpeaker(config, status)),
      ...checkKernel(config, routes),
      ...(await firewall(config)),
      ...(await examineWayBack(config, routes, status)),
      checkClock(isClockSynchronized(), new Date()),
      ...checkDrainUnit(config, await showDrainUnit()),
      ...(await apiServer(config, routes)),
      checkShutdownDelay(API_SERVER_MANIFEST, manifestText(), config.drain.timeout),
      ...(await routersOf(config, routes, status)),
      ...bfdThread(config, status),
    ];
  } finally {
    routes.close();
  }
}

function checkKernel(config: SpeakerConfig, routes: RouteSocket): readonly Finding[] {
  const { vips, vipBind, routers } = config;
  const links = routes.links();
  const addresses = routes.addresses();
  const speaking = arpLinks(links, addresses).filter(({ isUp }) => isUp);
  return [
    ...(vipBind ? checkAddresses(vips, links, addresses) : checkNoBinding(vips, links, addresses, routers)),
    ...checkDuplicates(detectionOf(addresses, linksInUse(config, routes, links))),
    ...checkOwners({
      addresses: vips.map(({ address }) => address),
      links: speaking,
      ask: (link, address) => addressOwners(link, address, ANSWER_TIME),
      // With `dataplane.proxyInterfaces` a load balancer answers for a VIP of a subnet.
      isExpected: (owner) =>
        routes
          .neighbors()
          .some(
            ({ linkLayerAddress, address }) =>
              linkLayerAddress === owner && config.routers.some((router) => router.address === address),
          ),
      fix: 'if that is not your load balancer, find the host and take the address off it: kube-vip, keepalived, or a master without arp_ignore=1',
    }),
    ...(vipBind ? checkArp(speaking, (index) => routes.linkIpv4Conf(index)) : []),
  ];
}

/** The links that sessions leave by, and the loopback, which has the VIPs. */
function linksInUse(
  { routers }: SpeakerConfig,
  routes: RouteSocket,
  links: readonly Link[],
): readonly Link[] {
  const indices = routers.map(({ address }) => linkTowards(routes, address));
  return links.filter(({ index, isLoopback }) => isLoopback || indices.includes(index));
}

async function firewall({ vips, routers, vipBind }: SpeakerConfig): Promise<readonly Finding[]> {
  const ports = new Set(vips.map(({ machinePort }) => machinePort));
  const needed = [
    ...[...ports].map((port) => `TCP ${port} from ${vipBind ? 'clients' : 'the load balancers'}`),
    `established TCP from ${routers.map(({ address, port }) => `${address} port ${port}`).join(', ')}`,
    ...(routers.some(({ bfd }) => bfd !== false) ? ['UDP 3784 and 4784 from the routers'] : []),
  ];
  try {
    const { chains, rules, unread } = await new Nftables().tablesWith(
      ({ type, hook }) => type === 'filter' && hook === 'input',
    );
    return [...checkFirewall(chainsThatDrop(chains, 'input', rules), needed), ...unread.map(unreadTable)];
  } catch (error) {
    if (!(error instanceof NftablesError)) throw error;
    return [fault('firewall', 'nft', error.message, 'the speaker cannot work without nft')];
  }
}

async function apiServer(config: SpeakerConfig, routes: RouteSocket): Promise<readonly Finding[]> {
  const { caFile, serverName, path } = config.apiServer;
  const ca = readable(caFile);
  const findings = checkCa(caFile, ca, new Date());
  let nodeAddress: string;
  try {
    ({ nodeAddress } = await hostFacts(config, routes, 1));
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return [
      ...findings,
      fault('node address', 'apiServer.address', text, 'set apiServer.address, or a route'),
    ];
  }
  const port = config.vips[0]?.machinePort ?? 6443;
  const probe = new HttpsProbe({
    ...{ address: nodeAddress, port, serverName, path, timeoutMs: PROBE_TIME, keepAlive: false },
    // With one that is none every answer would be of another CA; that it is none has been said.
    ...(ca instanceof Error || !isPem(ca) ? {} : { ca: () => ca }),
  });
  return [...findings, ...checkApiServer(`${nodeAddress} port ${port}`, await probe.probe(), config)];
}

async function routersOf(
  config: SpeakerConfig,
  routes: RouteSocket,
  status: SpeakerStatus | undefined,
): Promise<readonly Finding[]> {
  return Promise.all(
    config.routers.map(async (router): Promise<Finding> => {
      const session = status?.routers.find(({ address }) => address === router.address);
      const check = `router ${router.address}`;
      if (session?.session === 'Established') {
        const { bfd, bfdSession, holdTime, sinceMs } = session;
        return checkLiveness({
          check,
          place: router.address,
          value: 'BGP session Established',
          ...{ bfd, authentication: bfdSession?.authentication, holdTime, sinceMs },
        });
      }
      const source = sourceTowards(routes, router.address);
      const way = source === undefined ? '' : ` from ${source}`;
      const password = router.passwordFile === undefined ? undefined : readSecret(router.passwordFile);
      const finding = judgeRouter(router, await connectRouter(router, password, source), way);
      if (finding.level !== 'good' || session === undefined) return finding;
      const last = lastErrorOf(session);
      if (last === undefined) return finding;
      return warning(
        check,
        finding.place,
        `TCP is connected, but BGP is ${session.session}: ${last.text} (${age(last.agoMs)} ago)`,
        'see what the router says of this neighbor: bgp-lb-router neighbors',
      );
    }),
  );
}

/** The thread of a speaker that runs: who waits for it are the routers. */
function bfdThread({ routers }: SpeakerConfig, status: SpeakerStatus | undefined): readonly Finding[] {
  if (status === undefined || status.bfd === null) return [];
  const times = routers.flatMap(({ address, bfd }) => {
    if (bfd === false) return [];
    const { transmitInterval, detectMultiplier } = bfdTiming(bfd, address);
    return [transmitInterval * detectMultiplier];
  });
  return [
    checkScheduling({
      scheduling: status.bfd.scheduling,
      detectionTime: Math.min(...times),
      grant: "add SYS_NICE to capabilities.add of the pod's manifest",
    }),
  ];
}

/** The status of a speaker that runs here; undefined when none does. */
async function runningSpeaker({ api }: SpeakerConfig): Promise<SpeakerStatus | undefined> {
  try {
    // The daemon is of the same release as this command.
    return (await controlRequest(api.socket, 'GET', '/api/v1/status')) as SpeakerStatus;
  } catch (error) {
    if (error instanceof ControlClientError) return undefined;
    throw error;
  }
}

function isPem(text: string): boolean {
  try {
    return parseCertificates(text).length > 0;
  } catch {
    return false;
  }
}

function manifestText(): string | undefined {
  const text = readable(API_SERVER_MANIFEST);
  return text instanceof Error ? undefined : text;
}

function readable(path: string): string | Error {
  try {
    return readTextFile(path);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
