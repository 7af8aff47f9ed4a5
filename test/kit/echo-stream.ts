/**
 * A stream of ICMP echo requests to the VIP, some 1000 a second, each counted by whether it was answered: what a data plane loses
 * while something is done to its daemon. Echo passes the load balancer as TCP does, and the kernel of a master answers it, so
 * that nothing but the way is measured. The requests come from many addresses of the client: the multipath hash of ICMP is made of
 * addresses alone, and with one of them a single member would be tried. Node has no ICMP; perl is part of every Debian.
 */
import { createInterface } from 'node:readline';
import type { Host } from '../../scripts/lab/host.ts';
import type { HostProcess } from '../../scripts/lab/host-process.ts';

/** What became of the requests so far, those of the last moments not counted. */
export interface EchoCount {
  readonly sent: number;
  /** Not answered within `patience`. */
  readonly lost: number;
  /** Answered by ICMP "destination unreachable"; these are lost too. */
  readonly unreachable: number;
}

/** Milliseconds: longer than a busy machine keeps a packet in a queue. */
const patience = 10_000;

const program = `
use strict; use warnings; use Socket; use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);
$| = 1;
my ($target, $patience, @sources) = @ARGV;
my (@sockets, %by_socket);
for my $source (@sources) {
  socket(my $socket, PF_INET, SOCK_RAW, 1) or die $!;
  bind($socket, pack_sockaddr_in(0, inet_aton($source))) or die "$source: $!";
  setsockopt($socket, SOL_SOCKET, 33, pack('i', 4 << 20)) or die $!; # SO_RCVBUFFORCE
  setsockopt($socket, SOL_SOCKET, 1 + 31, pack('i', 4 << 20)) or die $!; # SO_SNDBUFFORCE
  push @sockets, $socket;
}
my $to = pack_sockaddr_in(0, inet_aton($target));
my ($sent, $answered, $unreachable, $isStopping) = (0, 0, 0, 0);
my $missing = '';   # one bit for each request that waits for its answer
my $id = $$ & 0xffff;
my $next = clock_gettime(CLOCK_MONOTONIC);
my ($idle, $deadline) = ('', undef);
vec($idle, fileno($_), 1) = 1 for @sockets, \\*STDIN;

sub request {
  my $packet = pack('C2 n3 N', 8, 0, 0, $id, $sent & 0xffff, $sent);
  my $sum = 0;
  $sum += $_ for unpack('n*', $packet);
  $sum = ($sum >> 16) + ($sum & 0xffff);
  $sum = ($sum >> 16) + ($sum & 0xffff);
  substr($packet, 2, 2) = pack('n', ~$sum & 0xffff);
  defined(send($sockets[$sent % @sockets], $packet, 0, $to)) or die "send: $!";
  vec($missing, $sent, 1) = 1;
  $sent++;
}

sub take {
  my ($packet) = @_;
  my $ip = (ord($packet) & 15) * 4;
  my ($type, $of, $number) = unpack("x$ip C x3 n x2 N", $packet);
  if ($type == 0 && $of == $id && vec($missing, $number, 1)) {
    vec($missing, $number, 1) = 0;
    $answered++;
  } elsif ($type == 3) {
    $unreachable++;
  }
}

while (!defined $deadline || ($answered < $sent && clock_gettime(CLOCK_MONOTONIC) < $deadline)) {
  my $wait = defined $deadline ? 0.1 : $next - clock_gettime(CLOCK_MONOTONIC);
  if (select(my $ready = $idle, undef, undef, $wait < 0 ? 0 : $wait)) {
    for my $socket (@sockets) {
      next unless vec($ready, fileno($socket), 1);
      while (defined recv($socket, my $packet, 1500, 0x40)) { take($packet); } # MSG_DONTWAIT
    }
    if (vec($ready, fileno(STDIN), 1)) {
      if (!sysread(STDIN, my $line, 100)) { last unless defined $deadline; }
      elsif ($line =~ /stop/) {
        $deadline = clock_gettime(CLOCK_MONOTONIC) + $patience;
        vec($idle, fileno(STDIN), 1) = 0;
      } else { print qq({"sent":$sent}\\n); }
    }
  }
  next if defined $deadline;
  my $now = clock_gettime(CLOCK_MONOTONIC);
  # Late by more than this, it does not catch up: a burst would overflow queues that have nothing to do with routing.
  $next = $now - 0.02 if $next < $now - 0.02;
  for (; $next <= $now; $next += 0.001) { request(); }
}
print sprintf(qq({"sent":%d,"lost":%d,"unreachable":%d}\\n), $sent, $sent - $answered, $unreachable);`;

/** A running stream. */
export class EchoStream {
  readonly #process: HostProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(process: HostProcess) {
    this.#process = process;
    this.#lines = createInterface({ input: process.pipes.output })[Symbol.asyncIterator]();
  }

  /** Sends from now on until `stop`, from these addresses of the host. */
  static async start(host: Host, target: string, sources: readonly string[]): Promise<EchoStream> {
    const argv = ['perl', '-e', program, target, String(patience / 1000), ...sources];
    const stream = new EchoStream(host.spawn('echo-stream', argv, { hasPipes: true }));
    await stream.sent();
    return stream;
  }

  /** How many requests were sent by now. */
  async sent(): Promise<number> {
    return (await this.#ask('sent')).sent;
  }

  /** Sends no more, waits for the answers that are under way, and ends. */
  stop(): Promise<EchoCount> {
    return this.#ask('stop');
  }

  /** Ends it whatever it does. */
  async kill(): Promise<void> {
    await this.#process.kill();
  }

  async #ask(what: string): Promise<EchoCount> {
    this.#process.pipes.input.write(`${what}\n`);
    const { done, value } = await this.#lines.next();
    if (done === true) throw new Error(`the echo stream has ended: ${this.#process.tail()}`);
    return JSON.parse(value) as EchoCount;
  }
}

/** Gives a host of the lab so many more addresses of a subnet, beginning with `first`, and returns them. */
export async function addSources(
  host: Host,
  prefix: string,
  first: number,
  count: number,
): Promise<string[]> {
  const addresses = Array.from({ length: count }, (_, index) => `${prefix}.${first + index}`);
  await host.exec(['ip', '-batch', '-'], {
    input: addresses.map((address) => `address add ${address}/24 dev eth0\n`).join(''),
  });
  return addresses;
}
