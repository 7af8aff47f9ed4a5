/**
 * A router for tests: takes one speaker in AS 64512 by BGP and tells what it hears, as lines of JSON `{routes}` (after each
 * change, one text per path), `{established}`, `{down}` (kind and text), `{endOfRib}` and `{bfd}` (state and reason). Arguments: own
 * address, AS, password, and the interval of BFD x 3 in ms, 0 for none. Input, one JSON text per line: `"bfd-admin-down"`, or
 * `"bfd-start"` with an interval of 50 ms, or `"counters"`, answered by `{messages}` of the speaker, or
 * `"another-master"`: the VIP has a path by another master as well.
 */
import { createInterface } from 'node:readline';

import { linuxSockets } from '@bgp-lb/linux';
import {
  asn,
  formatIpAddress,
  formatPrefix,
  ipv4Unicast,
  parseIpAddress,
  parsePrefix,
  parseRouterId,
  pathAttributes,
} from '@bgp-lb/protocol';
import { BfdThread, BgpSpeaker, type Peer } from '@bgp-lb/protocol/node';

const [address = '', as = '64512', password = '', interval = '0'] = process.argv.slice(2);

function say(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function pathText({ paths }: Pick<Peer, 'paths'>): string[] {
  return [...paths()].map(({ prefix, attributes }) => {
    const { nextHop, localPref, communities = [], largeCommunities = [] } = attributes;
    const large = largeCommunities.map(
      (one) => `${one.globalAdministrator}:${one.localData1}:${one.localData2}`,
    );
    const lead = `${formatPrefix(prefix)} via ${nextHop === undefined ? 'nobody' : formatIpAddress(nextHop)}`;
    return `${lead} pref ${localPref} [${communities.join(' ')}] {${large.filter((one) => /:[23]:/.test(one)).join(' ')}}`;
  });
}

const speaker = new BgpSpeaker({
  asn: asn(Number(as)),
  routerId: parseRouterId(address),
  sockets: linuxSockets,
  handlers: {
    established: (peer, { remoteOpen }) => {
      // A route that the speaker must not take.
      const attributes = pathAttributes({
        origin: 0,
        asPath: [],
        nextHop: parseIpAddress(address),
        localPref: 100,
      });
      peer.setRoutes(ipv4Unicast, [{ prefix: parsePrefix('0.0.0.0/0'), attributes }]);
      say({ established: peer.address, offered: remoteOpen.capabilities.map(({ name }) => name) });
    },
    down: (_, { kind, text }) => say({ down: kind, text }),
    routes: (peer) => say({ routes: pathText({ paths: () => peer.paths() }) }),
    endOfRib: (_, family) => say({ endOfRib: family.name }),
  },
});

function announceAnother(): void {
  const nextHop = parseIpAddress(address.replace(/\.\d+$/, '.9'));
  const attributes = pathAttributes({ origin: 0, asPath: [], nextHop, localPref: 100 });
  for (const peer of speaker.peers()) {
    peer.setRoutes(ipv4Unicast, [{ prefix: parsePrefix('10.100.0.1/32'), attributes }]);
  }
}

speaker.addRange({
  name: 'masters',
  range: `${address}/24`.replace(/\.\d+\/24$/, '.0/24'),
  maxSessions: 4,
  remoteAsn: [asn(64512)],
  holdTime: 9,
  gracefulRestart: { restartTime: 15, families: [ipv4Unicast] },
  retainPaths: 'always',
  staleTime: 60,
  socket: { ttlSecurityHops: 1, ...(password === '' ? {} : { password }) },
});
await speaker.listen({ address });
say({ listening: true });

const master = address.replace(/\.\d+$/, '.2');
const bfd = new BfdThread({
  entry: new URL('../../../../dist/bgp-lb-speaker-bfd.mjs', import.meta.url),
  handlers: {
    changed: ({ to, reason }) => say({ bfd: to, reason }),
    refused: (_, message) => say({ refused: message }),
    failed: (error) => say({ failed: error.message }),
  },
});

function startBfd(milliseconds: number): void {
  const timing = { transmitInterval: milliseconds, receiveInterval: milliseconds, detectMultiplier: 3 };
  bfd.add({ id: 'master', remoteAddress: master, ...timing });
}

if (interval !== '0') startBfd(Number(interval));
createInterface({ input: process.stdin }).on('line', (line) => {
  const message: string = JSON.parse(line);
  if (message === 'bfd-start') startBfd(50);
  else if (message === 'counters') say({ messages: speaker.peer(master)?.status().messages ?? null });
  else if (message === 'another-master') announceAnother();
  else bfd.setAdminDown('master', true);
});
