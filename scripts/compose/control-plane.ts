/**
 * Program `control-plane.ts NAME [PORT]`: the API server stand-in of a master of docker-compose.yml. As soon as it serves it
 * leaves the marker that `kubeadm init && touch MARKER` would leave, once in the master's life.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { ApiServer } from '../lab/api-server-stand-in.ts';
import { readPem } from '../lab/cluster-pki.ts';
import { apiServerPort, clusterFolder, masterFolder } from './places.ts';

const speakerState = '/var/lib/bgp-lb';

const [name, port = String(apiServerPort)] = process.argv.slice(2);
if (name === undefined) throw new RangeError('control-plane.ts needs the name of its master');
const server = new ApiServer({
  nodeName: name,
  port: Number(port),
  ca: readPem(clusterFolder, 'ca.crt'),
  certificate: readPem(masterFolder(name), 'apiserver.crt'),
  key: readPem(masterFolder(name), 'apiserver.key'),
  storeFolder: '/tmp',
  mode: 'ready',
  shutdownDelay: 3_000,
});
await server.start();
if (existsSync(`${speakerState}/machine-id`) && !existsSync(`${speakerState}/state.json`)) {
  writeFileSync(`${speakerState}/bootstrapped`, '');
}
process.once('SIGTERM', () => {
  server.stop().then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
