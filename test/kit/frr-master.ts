/** FRR in a speaker's place: what a master of another make, or a hostile one, would say to the router. */
import { localAsn, vipAddress } from '../../scripts/lab/addresses.ts';
import { Frr } from '../../scripts/lab/frr.ts';
import type { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';

/** The lab's default password. */
const password = 'lab-password';

/** Lines of bgpd.conf for an iBGP session with every load balancer; `family` goes into the address family. */
export function bgpConfig(lab: Lab, master: MasterHost, family: readonly string[]): string[] {
  const neighbors = lab.lbs.flatMap(({ address }) => [
    ` neighbor ${address} remote-as ${localAsn}`,
    ` neighbor ${address} password ${password}`,
    // GTSM (RFC 5082), which the router demands. FRR sends iBGP with TTL 255 anyway; this makes it check as well.
    ` neighbor ${address} ttl-security hops 1`,
    ` neighbor ${address} timers 1 3`,
    ` neighbor ${address} timers connect 1`,
  ]);
  return [
    `router bgp ${localAsn}`,
    ` bgp router-id ${master.address}`,
    // A restart keeps what the kernel forwards (RFC 4724), which the router rests on.
    ' bgp graceful-restart',
    ' bgp graceful-restart preserve-fw-state',
    ...neighbors,
    ...lab.lbs.map(({ address }) => ` neighbor ${address} advertisement-interval 0`),
    ' address-family ipv4 unicast',
    ...family.map((line) => `  ${line}`),
  ];
}

/**
 * Makes a master whose speaker does not run what an advertised one is: certificates, API server, the VIP on `lo`, and
 * an FRR that announces what `family` says.
 */
export async function startFrrMaster(lab: Lab, master: MasterHost, family: readonly string[]): Promise<Frr> {
  await master.installCertificates(lab.master(1));
  await master.startApiServer();
  await master.exec(['ip', 'address', 'add', `${vipAddress}/32`, 'dev', 'lo']);
  const frr = new Frr(master);
  await frr.start(bgpConfig(lab, master, family));
  return frr;
}
