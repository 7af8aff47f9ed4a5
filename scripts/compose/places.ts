/** Where the containers of docker-compose.yml have what they share, and what its addresses are. */

/** The CA with its key, and a folder for each master: seen by the control plane only. */
export const clusterFolder = '/cluster';
/** What every BGP speaker has: the CA's certificate and the password. */
export const sharedFolder = '/shared';
/** Whom the control plane runs as: `nobody` in Debian. */
export const controlPlaneUser = 65534;

export const vipAddress = '10.77.100.1';
/** Not that of the VIP: speakers map the one to the other. A master without a speaker is told the VIP's. */
export const apiServerPort = 6444;

/** The certificates of a master. */
export function masterFolder(name: string): string {
  return `${clusterFolder}/${name}`;
}
