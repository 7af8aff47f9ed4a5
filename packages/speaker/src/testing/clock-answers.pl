# clock-answers.pl: prints what adjtimex(2) returns, 5 (TIME_ERROR) for a clock that nobody keeps.
# clock-answers.pl ERRNO PROGRAM...: runs a program for which that call fails, or with 0 returns 0 (TIME_OK), by a seccomp filter.
# The clock has no namespace in which it could be told so: only its monotonic ones have (time_namespaces(7)).
use strict;
use warnings;
use POSIX ();

# prctl, adjtimex, clock_adjtime.
my %calls = (x86_64 => [ 157, 159, 305 ], aarch64 => [ 167, 171, 266 ]);
my $machine = (POSIX::uname())[4];
my ($prctl, $adjtimex, $clock_adjtime) = @{ $calls{$machine} or die "clock-answers.pl: $machine is not known\n" };

my ($errno, @program) = @ARGV;
if (!defined $errno) {
    my $timex = "\0" x 256;
    print syscall($adjtimex, $timex), "\n";
    exit;
}

# struct sock_filter: code, jump if true, jump if false, k.
my @filter = (
    [ 0x20, 0, 0, 0 ],                        # the number of the system call
    [ 0x15, 2, 0, $adjtimex ],
    [ 0x15, 1, 0, $clock_adjtime ],
    [ 0x06, 0, 0, 0x7fff0000 ],               # SECCOMP_RET_ALLOW
    [ 0x06, 0, 0, 0x00050000 | $errno ],      # SECCOMP_RET_ERRNO
);
my $instructions = join '', map { pack 'S C C L', @$_ } @filter;
my $fprog = pack 'S x6 P', scalar @filter, $instructions;
# PR_SET_NO_NEW_PRIVS; PR_SET_SECCOMP with SECCOMP_MODE_FILTER.
syscall($prctl, 38, 1, 0, 0, 0) == 0 or die "PR_SET_NO_NEW_PRIVS: $!\n";
syscall($prctl, 22, 2, $fprog) == 0 or die "PR_SET_SECCOMP: $!\n";
exec @program or die "$program[0]: $!\n";
