/**
 * Program `make-cluster.ts NAME=ADDRESS...`: what an administrator has before the machines of docker-compose.yml boot.
 *
 * The cluster's CA, a serving certificate for each master, and the BGP password. In /state/NAME, where there is such a
 * folder, the state of that master's speaker begins. What is there already stays.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { serviceAddress } from '../lab/addresses.ts';
import { createAuthority, issueServingCertificate } from '../lab/cluster-pki.ts';
import { clusterFolder, controlPlaneUser, masterFolder, sharedFolder, vipAddress } from './places.ts';

async function issueCertificate(name: string, address: string): Promise<void> {
  const folder = masterFolder(name);
  if (existsSync(`${folder}/apiserver.crt`)) return;
  mkdirSync(folder, { recursive: true });
  const names = { nodeName: name, nodeAddress: address, serviceAddress, endpointAddress: vipAddress };
  await issueServingCertificate(folder, names, clusterFolder);
  chownSync(`${folder}/apiserver.key`, controlPlaneUser, controlPlaneUser);
}

function beginState(folder: string): void {
  if (!existsSync(folder)) return; // a master with another daemon than the speaker
  // The control plane leaves its marker here, and has no privilege.
  chmodSync(folder, 0o1777);
  const machineId = `${folder}/machine-id`;
  if (!existsSync(machineId)) writeFileSync(machineId, `${randomBytes(16).toString('hex')}\n`);
}

await createAuthority(clusterFolder);
if (!existsSync(`${sharedFolder}/ca.crt`)) copyFileSync(`${clusterFolder}/ca.crt`, `${sharedFolder}/ca.crt`);
const passwordFile = `${sharedFolder}/bgp-password`;
if (!existsSync(passwordFile)) {
  writeFileSync(passwordFile, `${randomBytes(20).toString('hex')}\n`, { mode: 0o600 });
}
for (const master of process.argv.slice(2)) {
  const [name, address] = master.split('=');
  if (name === undefined || address === undefined) throw new RangeError(`not NAME=ADDRESS: ${master}`);
  await issueCertificate(name, address);
  beginState(`/state/${name}`);
}
