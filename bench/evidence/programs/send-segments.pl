# Sends TCP segments without payload to one address, each from another port, one after the other:
# send-segments.pl SOURCE DESTINATION PORT syn|ack COUNT. Prints how many nanoseconds of the processor it took, forwarding in it: veth pairs pass packets on at once.
use strict; use warnings; use Socket; use Time::HiRes qw(clock_gettime CLOCK_PROCESS_CPUTIME_ID);
my ($tcp, $raw) = (6, 255);
my ($source, $destination, $port, $kind, $count) = @ARGV;
socket(my $socket, AF_INET, SOCK_RAW, $raw) or die "socket: $!";
setsockopt($socket, SOL_SOCKET, SO_SNDBUF, 1 << 22) or die "SO_SNDBUF: $!";
my $flags = $kind eq 'syn' ? 0x02 : 0x10;
my $ip = pack('CCnnnCCn', 0x45, 0, 40, 0, 0, 64, $tcp, 0) . inet_aton($source) . inet_aton($destination);
my $rest = pack('NNCCnnn', 1, $kind eq 'syn' ? 0 : 1, 0x50, $flags, 0xffff, 0, 0);
my $to = sockaddr_in(0, inet_aton($destination));
my @segments = map { $ip . pack('nn', 1024 + $_, $port) . $rest } 0 .. 59_999;
my $begin = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
for my $n (0 .. $count - 1) {
  defined(send($socket, $segments[$n % 60_000], 0, $to)) or die "send: $!";
}
printf "%d", (clock_gettime(CLOCK_PROCESS_CPUTIME_ID) - $begin) * 1e9;
