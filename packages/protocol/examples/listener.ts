/** A BGP listener: takes sessions of any other AS from the prefix at argv[2], and prints what comes and goes. */
import * as bgp from '@bgp-lb/protocol';
import { BgpSpeaker } from '@bgp-lb/protocol/node';

const [range = '192.0.2.0/24', address = '0.0.0.0', port = '179'] = process.argv.slice(2);
const speaker = new BgpSpeaker({
  asn: bgp.asn(65010),
  routerId: bgp.parseRouterId('192.0.2.10'),
  handlers: {
    down: (peer, reason) => console.log(`${peer.name} is down: ${reason.text}`),
    routes: (peer, { announced, withdrawn }) => {
      for (const { prefix } of announced) console.log(`${peer.name} announces ${bgp.formatPrefix(prefix)}`);
      for (const { prefix } of withdrawn) console.log(`${peer.name} withdraws ${bgp.formatPrefix(prefix)}`);
    },
  },
});
speaker.addRange({ name: 'all', range, remoteAsn: 'external', maxSessions: 100, maxPaths: 1_000_000 });
await speaker.listen({ address, port: Number(port) });
console.log(`listening on port ${speaker.listeners[0]?.port}`);
process.once('SIGTERM', () => void speaker.close({ text: 'example ends' }));
