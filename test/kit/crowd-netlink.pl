# Makes the queues of NETLINK_ROUTE sockets of a running process as small as can be, so that a flood that it has no time to read
# fills them: crowd-netlink.pl PID requests|notifications. Prints how many there are.
#
# By pidfd_getfd(2) the sockets are ours too, and so are their options. A socket with a multicast group is one for
# notifications; one without becomes a member of the groups of neighbors and IPv4 routes, so that those come into its queue.
use strict; use warnings; use Socket;
my ($pid, $which) = @ARGV;
my ($pidfd_open, $pidfd_getfd) = (434, 438);
my ($so_protocol, $so_domain, $af_netlink, $sol_netlink) = (38, 39, 16, 270);
my ($add_membership, $list_memberships) = (1, 9);
my ($neighbors, $routes) = (3, 7);
my $process = syscall($pidfd_open, $pid + 0, 0);
die "pidfd_open: $!" if $process < 0;
my $count = 0;
for my $link (glob "/proc/$pid/fd/*") {
  next unless (readlink($link) // '') =~ /^socket:/;
  my ($number) = $link =~ /(\d+)$/;
  my $fd = syscall($pidfd_getfd, $process, $number + 0, 0);
  next if $fd < 0;
  open(my $socket, '+<&=', $fd) or die "fdopen: $!";
  my $option = sub { unpack('l', getsockopt($socket, SOL_SOCKET, $_[0]) // pack('l', -1)) };
  next unless $option->($so_domain) == $af_netlink && $option->($so_protocol) == 0;
  my $groups = getsockopt($socket, $sol_netlink, $list_memberships) // die "memberships: $!";
  my $hears = $groups =~ /[^\0]/ ? 'notifications' : 'requests';
  next unless $hears eq $which;
  # The kernel makes of it the least that it allows.
  setsockopt($socket, SOL_SOCKET, SO_RCVBUF, pack('l', 1)) or die "SO_RCVBUF: $!";
  if ($hears eq 'requests') {
    setsockopt($socket, $sol_netlink, $add_membership, pack('l', $_)) or die "membership: $!" for $neighbors, $routes;
  }
  $count++;
}
print $count;
