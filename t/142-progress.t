# Long work shows how far it is: bytes, share, rate and time left, in the same words everywhere, on
# a terminal and from the second second on. The clock is the test's own.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest qw(scratch spew run_program built_perl on_terminal no_terminal);
use Devel::DProf::Tool;

for ([['f', 0, 10_000_000, 2], 'f: 0 %, 0.0 MB of 10 MB, 0.0 MB/s'],
    [['f', 2_500_000, 10_000_000, 2], 'f: 25 %, 2.5 MB of 10 MB, 1.2 MB/s, 6 s left'],
    [['f', 10_000_000, 10_000_000, 4], 'f: 100 %, 10 MB of 10 MB, 2.5 MB/s, 0 s left'],
    [['f', 30_000_000, 0, 3], 'f: 30 MB, 10 MB/s'],
    [['f', 1_000_000_000, 61_000_000_000, 10],
        'f: 1 %, 1.0 GB of 61.0 GB, 100 MB/s, 10 min left']) {
    my ($args, $want) = @$_;
    is(Devel::DProf::Tool::how_far(@$args), $want, "text of @$args[1 .. 3]");
}

# A program whose clock goes on by a second between calls.
my $PROGRAM = <<'END';
my $now = 1_000_000;
BEGIN { *CORE::GLOBAL::time = sub () { return $now } }
use Devel::DProf::Core;
use Devel::DProf::Tool;
my $progress = Devel::DProf::Tool::progress("x\e.out");
print defined $progress ? "shown\n" : "not shown\n";
for ([1.0, 1], [1.5, 1], [2.0, 0], [2.1, 1], [3.0, 0]) {
    my ($mb, $seconds) = @$_;
    $progress->($mb * 1e6, 4e6) if $progress;
    $now += $seconds;
}
Devel::DProf::Tool::complain('a message');
END

my $dir = scratch();
my @command = (built_perl(), spew("$dir/p.pl", $PROGRAM));
my $log = run_program(\@command, dir => $dir);
is("$log->{out}$log->{err}", "not shown\na message\n", 'a log has no progress');
SKIP: {
    my $wrong = no_terminal();
    skip $wrong, 1 if defined $wrong;
    my $got = on_terminal(join(' ', map { "'$_'" } @command), dir => $dir);
    is($got->{out} =~ s/\r\n/\n/gr, "shown\n"
        . "\r\e[Kx\\x1b.out: 50 %, 2.0 MB of 4.0 MB, 1.0 MB/s, 2 s left"
        . "\r\e[Kx\\x1b.out: 75 %, 3.0 MB of 4.0 MB, 1.0 MB/s, 1 s left"
        . "\r\e[Ka message\n", 'a terminal shows a line that is rewritten, and then the message');
}

done_testing;
