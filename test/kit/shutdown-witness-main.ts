/**
 * What surrounds a machine that shuts down, in one process, so that there is one order of what happened, told as lines of text: a BGP
 * neighbor at 10.9.0.1 (the load balancer of a speaker in its AS, the upstream of a router in another: `ADDRESS VIP normal`, `graceful shutdown` or
 * `withdrawn`, and `ADDRESS down: REASON`), a listener there that repeats what it is told (`ADDRESS` is then `stop`), and at
 * 10.9.0.3 a master that announces the VIP 10.100.0.1 to a router at 10.9.0.10. Argument: the folder of its certificate.
 */
import { readFileSync } from 'node:fs';
import { createServer as createHttps } from 'node:https';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  asn,
  formatPrefix,
  ipv4Unicast,
  parseIpAddress,
  parsePrefix,
  parseRouterId,
  pathAttributes,
} from '@bgp-lb/protocol';
import { BgpSpeaker } from '@bgp-lb/protocol/node';

/** GRACEFUL_SHUTDOWN (RFC 8326 section 3). */
const GRACEFUL_SHUTDOWN = 0xffff_0000;

const NEIGHBOR = '10.9.0.1';
const MASTER = '10.9.0.3';
const [folder = ''] = process.argv.slice(2);
/** Of the router and its master. */
const routed = asn(64512);
/** Of the neighbor and the speaker. */
const outside = asn(64513);

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

const neighbor = new BgpSpeaker({
  asn: outside,
  routerId: parseRouterId(NEIGHBOR),
  handlers: {
    routes: (peer, { announced, withdrawn }) => {
      for (const { prefix, attributes } of announced) {
        const isLeaving = attributes.communities?.includes(GRACEFUL_SHUTDOWN) === true;
        say(`${peer.address} ${formatPrefix(prefix)} ${isLeaving ? 'graceful shutdown' : 'normal'}`);
      }
      for (const { prefix } of withdrawn) say(`${peer.address} ${formatPrefix(prefix)} withdrawn`);
    },
    down: (peer, reason) => say(`${peer.address} down: ${reason.text}`),
  },
});
neighbor.addRange({ name: 'machine', range: '10.9.0.0/24', maxSessions: 4, remoteAsn: [routed, outside] });
await neighbor.listen({ address: NEIGHBOR });

const master = new BgpSpeaker({ asn: routed, routerId: parseRouterId(MASTER) });
const attributes = pathAttributes({
  origin: 0,
  asPath: [],
  nextHop: parseIpAddress(MASTER),
  localPref: 100,
});
master
  .addPeer({
    name: 'router',
    address: '10.9.0.10',
    remoteAsn: [routed],
    connectRetryTime: 1,
    socket: { localAddress: MASTER },
  })
  .setRoutes(ipv4Unicast, [{ prefix: parsePrefix('10.100.0.1/32'), attributes }]);

const certificate = {
  key: readFileSync(`${folder}/apiserver.key`),
  cert: readFileSync(`${folder}/apiserver.crt`),
};
createHttps(certificate, (_, response) => response.end('ok')).listen(6443, '10.100.0.1');

createServer((socket) => {
  text(socket).then(
    (line) => say(`stop ${line.trim()}`),
    (error: unknown) => say(`stop: ${String(error)}`),
  );
}).listen(9999, NEIGHBOR, () => say('ready'));
