# Many processes that write slices into one spool at its limit: it holds, and none of them notices.
use strict;
use warnings;
use lib 't/lib';
use DProfTest;
use File::Glob ':bsd_glob';
use StrictProfile;
use Test::More;

use constant { PROCESSES => 20, LIMIT => 2 << 20 };

my ($dir, $tree) = (scratch(), DProfTest::tree());
my $program = spew("$dir/p.pl", <<'END');
sub g { 1 } sub f { g() for 1 .. 10 }
f() for 1 .. 4000;
if (my $pid = fork) { waitpid $pid, 0 } else { f() for 1 .. 200 }
print STDOUT "out $ARGV[0]\n";
print STDERR "err $ARGV[0]\n";
exit $ARGV[0];
END

# Starts the program; returns what its end is to be told by.
sub started {
    my ($n) = @_;
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        open STDOUT, '>', "$dir/out.$n" or die $!;
        open STDERR, '>', "$dir/err.$n" or die $!;
        @ENV{qw(PERL_HASH_SEED PERL_DPROF_CLOCK PERL_DPROF_SLICE PERL_DPROF_SPOOL
            PERL_DPROF_SPOOL_LIMIT)} = (0, 'counting:300000', 1, "$dir/spool", LIMIT);
        exec $^X, "-I$tree", '-d:DProf', $program, $n;
        die "exec: $!";
    }
    return $pid;
}

my %pid = map { (started($_) => $_) } 1 .. PROCESSES;
my ($bad, $told) = (0, 0);
while ((my $pid = wait) > 0) {
    my $n = delete $pid{$pid} // next;
    my ($out, $err) = map { slurp("$dir/$_.$n") } qw(out err);
    my $line = qr{^DProf: \Q$dir\E/spool has reached spool-limit=\d+ bytes; the oldest }m;
    my $lines = () = $err =~ /$line/g;
    $told += $lines;
    $err =~ s/$line.*\n//g;
    $bad++ if $? >> 8 != $n || $? & 255 || $out ne "out $n\n" x 2 || $err ne "err $n\n" x 2
        || $lines > 2;
}
is($bad, 0, 'each process ends as without the profiler');
cmp_ok($told, '>', 0, '... and says once that the limit is reached');
my @files = bsd_glob("$dir/spool/*");
is_deeply([grep { !/\.tree\z/ } @files], [], 'nothing lies beside the slices');
my ($size, $flawed, %of) = (0, 0);
for my $file (@files) {
    $size += 512 * (stat $file)[12];
    my ($whose, $n) = $file =~ /([^\/]*)-(\d+)\.tree\z/;
    push @{ $of{$whose} }, $n;
    my @wrong = StrictProfile::problems($file, \my %about);
    $flawed++ if @wrong || !$about{header}{dprof_complete};
}
is($flawed, 0, 'each slice is whole');
cmp_ok($size, '<=', LIMIT, 'the limit holds');
# A process counts its slices from 1 up.
my @gaps = grep { my @n = sort { $a <=> $b } @{ $of{$_} }; $n[-1] - $n[0] != $#n } keys %of;
is_deeply(\@gaps, [], '... and of each process, the newest are there');

# What many write still takes room while they run, and is gone when they have ended; what one writes
# takes less than an eighth. Some of them fill the directory up again.
waitpid started($_), 0 for PROCESSES + 1 .. PROCESSES + 10;
$size = 0;
$size += 512 * (stat $_)[12] for bsd_glob("$dir/spool/*");
cmp_ok($size, '<=', LIMIT, 'the limit holds when one after the other writes');
cmp_ok($size, '>', LIMIT - LIMIT / 8, '... without more than it asks for');

done_testing;
