/**
 * The BGP messages between a load balancer and one master or upstream router, as they are on the wire, with the kernel's own times: a packet socket on
 * the load balancer. Node has none; perl is part of every Debian. What was sent before it was started is not needed, since a
 * message begins where the one before it ends.
 */
import { createInterface } from 'node:readline';
import { asn, type CodecContext, decodeMessage, Framer, ipv4Unicast, openContext } from '@bgp-lb/protocol';
import { localAsn, upstreamAsn } from '../../scripts/lab/addresses.ts';
import type { Host } from '../../scripts/lab/host.ts';
import type { HostProcess } from '../../scripts/lab/host-process.ts';
import { messageText } from './message-text.ts';

/** A message on the wire. */
export interface CapturedMessage {
  /** Milliseconds since the epoch, when the packet with its end passed the load balancer's kernel. */
  readonly at: number;
  /** `router` is ours, on the load balancer; `master` is the other side, also where that is an upstream. */
  readonly from: 'master' | 'router';
  /** As `messageText` has it; the text of RFC 9003 stands behind a Cease. */
  readonly text: string;
}

const program = `
use strict; use warnings; use Socket;
$| = 1;
my $peer = inet_aton($ARGV[0]);
# AF_PACKET, SOCK_DGRAM, ETH_P_ALL: what is sent is seen as well.
socket(my $socket, 17, 2, unpack('S', pack('n', 3))) or die $!;
my $time = "\\0" x 16;
ioctl($socket, 0x8906, $time); # SIOCGSTAMP: from now on packets have times
print "ready\\n";
while (defined(my $sender = recv($socket, my $packet, 65535, 0))) {
  # sll_protocol: IPv4
  next unless unpack('x2 n', $sender) == 0x0800 && length $packet >= 40;
  my ($size, $protocol, $source, $target) = unpack('x2 n x5 C x2 a4 a4', $packet);
  next unless $protocol == 6 && ($source eq $peer || $target eq $peer);
  my $ip = (ord($packet) & 15) * 4;
  my ($from, $to, $sequence) = unpack("x$ip n n N", $packet);
  next unless $from == 179 || $to == 179;
  my $tcp = (ord(substr($packet, $ip + 12, 1)) >> 4) * 4;
  my $octets = substr($packet, $ip + $tcp, $size - $ip - $tcp);
  next if $octets eq '';
  ioctl($socket, 0x8906, $time) or die $!; # when the kernel had it
  my ($seconds, $microseconds) = unpack('q q', $time);
  printf "%s %d.%06d %u %s\\n", $source eq $peer ? 'master' : 'router', $seconds, $microseconds, $sequence, unpack('H*', $octets);
}`;

/** What our two daemons agree on, as far as their messages differ by it: only the router sends path identifiers. */
const context: CodecContext = {
  ...openContext(asn(localAsn)),
  asn4: true,
  isInternal: true,
  peerAsn: asn(localAsn),
};
const contexts: Readonly<
  Record<'internal' | 'external', Readonly<Record<CapturedMessage['from'], CodecContext>>>
> = {
  internal: { master: context, router: { ...context, addPathReceive: [ipv4Unicast] } },
  /** With FRR as an upstream of another AS, which takes path identifiers and sends none. */
  external: {
    master: { ...context, isInternal: false, peerAsn: asn(upstreamAsn) },
    router: { ...context, isInternal: false, addPathReceive: [ipv4Unicast] },
  },
};

/** One direction of the TCP connection. */
class Stream {
  readonly #framer = new Framer(65_535);
  readonly #context: CodecContext;
  #next: number | undefined;

  constructor(context: CodecContext) {
    this.#context = context;
  }

  /** The messages that end in this segment; one that was sent again adds nothing. */
  take(sequence: number, octets: Uint8Array): string[] {
    if (this.#next !== undefined && sequence !== this.#next) return [];
    this.#next = (sequence + octets.length) >>> 0;
    this.#framer.push(octets);
    const texts: string[] = [];
    for (let frame = this.#framer.next(); frame !== undefined; frame = this.#framer.next()) {
      const message = decodeMessage(frame, this.#context);
      const said =
        message.type === 'NOTIFICATION' ? ` ${new TextDecoder().decode(message.data.subarray(1))}` : '';
      texts.push(`${messageText(message)}${said}`);
    }
    return texts;
  }
}

/** A running capture. */
export class BgpCapture {
  readonly messages: CapturedMessage[] = [];
  readonly #process: HostProcess;
  readonly #streams: Readonly<Record<CapturedMessage['from'], Stream>>;

  private constructor(process: HostProcess, session: keyof typeof contexts) {
    this.#process = process;
    const { master, router } = contexts[session];
    this.#streams = { master: new Stream(master), router: new Stream(router) };
  }

  /** Captures from now on what `lb` and the neighbor of this address say to each other, until `stop`. */
  static async start(
    lb: Host,
    address: string,
    session: keyof typeof contexts = 'internal',
  ): Promise<BgpCapture> {
    const process = lb.spawn('bgp-capture', ['perl', '-e', program, address], { hasPipes: true });
    const capture = new BgpCapture(process, session);
    await new Promise<void>((resolve, reject) => {
      createInterface({ input: process.pipes.output }).on('line', (line) => {
        if (line === 'ready') resolve();
        else capture.#take(line);
      });
      void process.exited.then(() => reject(new Error(`the capture ended: ${process.tail()}`)));
    });
    return capture;
  }

  async stop(): Promise<void> {
    await this.#process.kill();
  }

  #take(line: string): void {
    const [from, time, sequence, hex] = line.split(' ');
    if (from !== 'master' && from !== 'router') throw new Error(`the capture says ${line}`);
    const texts = this.#streams[from].take(Number(sequence), Buffer.from(hex ?? '', 'hex'));
    for (const text of texts) this.messages.push({ at: Number(time) * 1_000, from, text });
  }
}
