import { dirname } from 'node:path';
import { localAsn, vipAddress } from '../../scripts/lab/addresses.ts';
import type { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import type { JsonObject } from '../../scripts/lab/object-store.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { startMaster } from './cluster.ts';
import { createHaproxyLab, type StatServer, servers } from './haproxy-lab.ts';
import { overlayAddress, WireguardOverlay } from './wireguard-overlay.ts';

/** A lab whose load balancer and masters reach each other by WireGuard; clients come by the uplink. */
interface OverlayLab {
  readonly lab: Lab;
  readonly overlay: WireguardOverlay;
}

/** Machines with an overlay that is not up yet, and no daemon running. The caller destroys the lab. */
export async function createOverlayLab(): Promise<OverlayLab> {
  const lab = await createHaproxyLab({ bfd: null });
  try {
    return { lab, overlay: await WireguardOverlay.create([lab.lb, ...lab.masters]) };
  } catch (error) {
    await lab.destroy();
    throw error;
  }
}

/** The masters' overlay addresses. */
export function overlayMembers(masters: readonly MasterHost[]): string[] {
  return masters.map(overlayAddress);
}

/** A master whose speaker peers with the load balancer by the overlay. BFD has the default timing. */
export async function startOverlayMaster(lab: Lab, master: MasterHost): Promise<void> {
  await startMaster(lab, master, overlaySpeaker(lab, master));
}

/** Keys of speaker.yaml for that. */
export function overlaySpeaker(lab: Lab, master: MasterHost): JsonObject {
  return {
    apiServer: { address: overlayAddress(master) },
    routers: [
      { address: overlayAddress(lab.lb), asn: localAsn, holdTime: '9s', passwordFile: passwordOf(master) },
    ],
  };
}

/** Keys of router.yaml for members of the overlay by BGP, with this data plane. */
export function overlayRouter(lab: Lab, kind: 'kernel' | 'haproxy' | 'auto'): JsonObject {
  const { config, socket, master: masterSocket } = lab.lb.haproxy;
  const haproxy = { folder: dirname(config), socket, masterSocket };
  const none = { folder: undefined, socket: undefined, masterSocket: undefined };
  return {
    listen: { addresses: [overlayAddress(lab.lb)] },
    vips: [{ address: vipAddress, port: 443, machinePort: 6443 }],
    neighbors: [
      {
        name: 'masters',
        role: 'master',
        range: '100.64.0.0/24',
        asn: localAsn,
        holdTime: '9s',
        passwordFile: passwordOf(lab.lb),
      },
    ],
    dataplane: {
      kind,
      ...none,
      ...(kind === 'haproxy' && haproxy),
      ...(kind === 'auto' && { haproxy }),
    },
  };
}

/** Waits until HAProxy gives new connections to exactly these masters, by their overlay addresses. */
export async function overlayServed(lab: Lab, masters: readonly MasterHost[]): Promise<void> {
  const wanted = overlayMembers(masters).sort().join();
  let last: readonly StatServer[] | undefined;
  await waitUntil(
    async () => {
      last = await servers(lab).catch(() => undefined);
      const serving = last?.filter(({ status }) => /^(UP|no check)/.test(status)).map(({ name }) => name);
      return serving?.sort().join() === wanted;
    },
    {
      what: `HAProxy serves ${wanted || 'nobody'}`,
      timeoutMs: 30_000,
      detail: () => `${JSON.stringify(last)}\n${lab.lb.router.process?.tail() ?? ''}`,
    },
  );
}

function passwordOf(host: { path(relative: string): string }): string {
  return host.path('etc/bgp-password');
}
