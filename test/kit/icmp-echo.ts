/** ICMP echo from a host of the lab. Node has no ICMP; perl is part of every Debian, ping(8) is not. */
import type { Host } from '../../scripts/lab/host.ts';

/** What came back for a number of echo requests. */
export interface EchoOutcome {
  readonly replies: number;
  /** ICMP "destination unreachable". */
  readonly unreachable: number;
}

const program = `
use strict; use warnings; use Socket;
my ($target, $count) = @ARGV;
my ($replies, $unreachable) = (0, 0);
socket(my $socket, PF_INET, SOCK_RAW, 1) or die $!;
for my $sequence (1 .. $count) {
  my $sum = 0;
  $sum += $_ for unpack('n*', pack('C2 n3', 8, 0, 0, $$ & 0xffff, $sequence));
  $sum = ($sum >> 16) + ($sum & 0xffff);
  my $packet = pack('C2 n3', 8, 0, ~$sum & 0xffff, $$ & 0xffff, $sequence);
  send($socket, $packet, 0, pack_sockaddr_in(0, inet_aton($target)));
  my $wanted = '';
  vec($wanted, fileno($socket), 1) = 1;
  while (select(my $ready = $wanted, undef, undef, 0.5)) {
    recv($socket, my $answer, 1500, 0);
    my ($type, $id, $seen) = unpack('x20 C x3 n2', $answer);
    if ($type == 3) { $unreachable++; last; }
    if ($type == 0 && $id == ($$ & 0xffff) && $seen == $sequence) { $replies++; last; }
  }
}
print qq({"replies":$replies,"unreachable":$unreachable});`;

/** Sends echo requests one after the other, waiting for each at most half a second. */
export async function echo(host: Host, target: string, count: number): Promise<EchoOutcome> {
  return JSON.parse(await host.exec(['perl', '-e', program, target, String(count)])) as EchoOutcome;
}
