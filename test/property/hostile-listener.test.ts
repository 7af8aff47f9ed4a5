/** What ended others, from peers that we connect to, as the speaker and the router towards an upstream do. */
import type { Socket } from 'node:net';
import { asn, parseRouterId } from '@bgp-lb/protocol';
import { BgpSpeaker } from '@bgp-lb/protocol/node';
import { ManualClock, MemoryNetwork } from '@bgp-lb/protocol/testing';
import { expect, it } from 'vitest';
import { fatalVectors, playOn, readingStates, remoteAsn } from '../kit/hostile-peer.ts';

const localAsn = asn(64512);
const attempts = fatalVectors()
  .flatMap(({ name, hex, answers }) =>
    readingStates.map((state) => ({ title: `${name} in ${state}`, hex, state, expected: answers[state] })),
  )
  .map((one, n) => ({ ...one, from: `10.8.${n >> 8}.${n & 255}` }));

it('is answered on connections of ours as on theirs, in every state, and a session beside them notices nothing', async () => {
  const clock = new ManualClock();
  const network = new MemoryNetwork();
  const [address, neighbor] = ['10.0.0.1', '10.0.0.2'];
  const speaker = new BgpSpeaker({
    asn: localAsn,
    routerId: parseRouterId(address),
    sockets: network.host(address),
    clock,
  });
  const other = new BgpSpeaker({
    asn: localAsn,
    routerId: parseRouterId(neighbor),
    sockets: network.host(neighbor),
    clock,
  });
  other.addPeer({ name: 'speaker', address, remoteAsn: [localAsn], passive: true });
  await other.listen({ address: neighbor });
  const sound = speaker.addPeer({ name: 'sound', address: neighbor, remoteAsn: [localAsn] });
  await clock.advance(10);
  expect(sound.state).toBe('Established');

  let left = attempts.length;
  const play = ({ title, ...attempt }: (typeof attempts)[number]): Promise<string> =>
    new Promise((resolve, reject) => {
      let isFirst = true;
      const accept = (socket: Socket): void => {
        if (!isFirst) {
          socket.destroy(); // it has come again
          return;
        }
        isFirst = false;
        playOn(socket, attempt)
          .then((answer) => resolve(`${title}: ${answer}`), reject)
          .finally(() => {
            left -= 1;
          });
      };
      const endpoint = { address: attempt.from, port: 179, backlog: 1 };
      network.host(attempt.from).listen(endpoint, accept).catch(reject);
    });
  const played = attempts.map(play);
  for (const { from: peer } of attempts) {
    speaker.addPeer({ name: peer, address: peer, remoteAsn: [remoteAsn] });
  }
  // Far less than the hold time of any: all are ended by what they sent.
  for (let turn = 0; turn < 100 && left > 0; turn += 1) await clock.advance(10);
  expect(left).toBe(0);
  expect(await Promise.all(played)).toEqual(attempts.map(({ title, expected }) => `${title}: ${expected}`));
  expect(sound.state).toBe('Established');
  expect(sound.status()).toMatchObject({ establishedCount: 1 });
  await Promise.all([speaker.close(), other.close()]);
});
