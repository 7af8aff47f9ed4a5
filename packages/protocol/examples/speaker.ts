/** A BGP speaker: announces one route to the neighbor at argv[2], and prints what the neighbor announces. */
import * as bgp from '@bgp-lb/protocol';
import { BgpSpeaker } from '@bgp-lb/protocol/node';

const [address = '192.0.2.1', port = '179', localAddress = '192.0.2.2'] = process.argv.slice(2);
const speaker = new BgpSpeaker({
  asn: bgp.asn(65001),
  routerId: bgp.parseRouterId(localAddress),
  handlers: {
    established: (peer) => console.log(`${peer.name} is up`),
    down: (peer, reason) => console.log(`${peer.name} is down: ${reason.text}`),
    routes: (_peer, { announced }) => console.log(announced.map(({ prefix }) => bgp.formatPrefix(prefix))),
  },
});
const peer = speaker.addPeer({
  name: 'router',
  address,
  port: Number(port),
  remoteAsn: 'external',
  socket: { localAddress },
});
const attributes = bgp.pathAttributes({
  origin: bgp.Origin.Igp,
  asPath: [{ type: bgp.SegmentType.AsSequence, asns: [speaker.asn] }],
  nextHop: bgp.parseIpAddress('192.0.2.2'),
});
peer.setRoutes(bgp.ipv4Unicast, [{ prefix: bgp.parsePrefix('203.0.113.0/24'), attributes }]);
process.once('SIGTERM', () => void speaker.close({ text: 'example ends' }));
