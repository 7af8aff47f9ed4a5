/** Asks a link who has an address, every 20 ms for a while: `arp-sampler-main.ts INTERFACE ADDRESS MILLISECONDS`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { addressOwners, PacketSocket, RouteSocket } from '@bgp-lb/linux';

/** What was answered. */
export interface ArpSamples {
  readonly samples: number;
  /** Samples that more than one host has answered. */
  readonly several: number;
  /** The longest time without an answer (ms). */
  readonly longestSilence: number;
  /** Everyone who has answered. */
  readonly owners: readonly string[];
}

const EVERY = 20;

const [name = '', address = '', duration = ''] = process.argv.slice(2);
const routes = new RouteSocket();
const found = routes.links().find((one) => one.name === name);
routes.close();
if (found?.address === undefined) throw new Error(`no interface ${name}`);
const link = { index: found.index, address: found.address };
const isIpv6 = address.includes(':');

let answers: string[] = [];
const question = Uint8Array.of(
  // Ethernet, IPv4, request; no address of the sender, so that no host learns it.
  ...[0, 1, 8, 0, 6, 4, 0, 1],
  ...link.address.split(':').map((octet) => Number.parseInt(octet, 16)),
  ...[0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  ...(isIpv6 ? [] : address.split('.').map(Number)),
);
const arp = isIpv6
  ? undefined
  : new PacketSocket(
      { index: link.index, addresses: [address] },
      {
        packet: (packet) => {
          const isAnswer = packet[7] === 2 && packet.subarray(14, 18).join('.') === address;
          const owner = [...packet.subarray(8, 14)].map((octet) => octet.toString(16).padStart(2, '0'));
          if (isAnswer) answers.push(owner.join(':'));
        },
        lost: (error) => {
          throw error;
        },
      },
    );

/** Who answers within one period. @param until its end (monotonic ms) */
async function sample(until: number): Promise<readonly string[]> {
  // It opens a socket each time, which costs more with ARP than the period is long.
  if (arp === undefined) return addressOwners(link, address, EVERY);
  arp.send(question, new Uint8Array(6).fill(0xff));
  await sleep(Math.max(0, until - performance.now()));
  const all = [...new Set(answers)];
  answers = [];
  return all;
}

const all = new Set<string>();
let [samples, several, longestSilence] = [0, 0, 0];
const begun = performance.now();
let answeredAt = begun;
for (let until = begun; performance.now() - begun < Number(duration); ) {
  until = Math.max(until, performance.now() - EVERY) + EVERY;
  const owners = await sample(until);
  samples += 1;
  if (owners.length > 1) several += 1;
  if (owners.length > 0) answeredAt = performance.now();
  longestSilence = Math.max(longestSilence, performance.now() - answeredAt);
  for (const owner of owners) all.add(owner);
}
arp?.close();
process.stdout.write(JSON.stringify({ samples, several, longestSilence, owners: [...all] }));
