# The tests that want a terminal, where none can be made, as in a chroot without devpts: each must
# pass, and skip what it cannot try by that reason. /dev/pts and /dev/ptmx are hidden in a namespace
# of mounts, which needs root.
#
#   prove -bv xt/no-terminal.t
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use DProfTest;

my @tests = grep { slurp($_) =~ /^use DProfTest/m && slurp($_) =~ /\bno_terminal\b/ } glob 't/*.t';
cmp_ok(scalar(@tests), '>=', 5, 'five tests or more make a terminal');
my %asks = map { $_ => 1 } @tests;
is(join(' ', grep { !$asks{$_} && slurp($_) =~ /-qec/ } glob 't/*.t'), '',
    'no other test makes a terminal');

my $hide = 'mount --make-rprivate / && mount -t tmpfs none /dev/pts && '
    . 'mount --bind /dev/null /dev/ptmx && exec "$@"';
my @unshare = ('unshare', '-m', 'sh', '-c', $hide, 'sh');
my $probe = run_program([@unshare, 'echo', 'here']);
SKIP: {
    skip "no namespace of mounts can be made: $probe->{err}", 2 * @tests if $probe->{raw};
    for my $test (@tests) {
        my $run = run_program([@unshare, 'prove', '-bv', $test], dir => root(), limit => 600);
        is($run->{status}, 0, "$test passes") or diag "$run->{out}$run->{err}";
        like($run->{out}, qr/# skip no pseudo-terminal can be opened here: script: /i,
            "$test says what it skips");
    }
}

done_testing;
