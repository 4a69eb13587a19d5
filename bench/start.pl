#!/usr/bin/perl
# Measures the cost of a start: instructions of the whole process, by valgrind, the same number each
# time for the same build. First comes a program under the profiler: the module is in one folder, as
# when it is installed, the hash seed is pinned, and the counting clock replaces the counter. Then
# come the tools, on a small profile. Folders of other builds are compared with this one:
#     perl bench/start.pl OTHER/blib
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Bench qw(table scratch);
use File::Path 'make_path';

unless (grep { -x "$_/valgrind" } split /:/, $ENV{PATH}) {
    print "valgrind is not installed: instructions are not counted\n";
    exit 0;
}
my $blib = Bench::top() . '/blib';
my $dir = scratch();
my %from = ('Devel/DProf.pm' => 'lib', 'auto/Devel/DProf/DProf.so' => 'arch');
make_path("$dir/lib/Devel", "$dir/lib/auto/Devel/DProf");
-e "$blib/$from{$_}/$_" && symlink "$blib/$from{$_}/$_", "$dir/lib/$_"
    or die "bench: $blib/$from{$_}/$_ is not there. Run make first.\n" for keys %from;

# make's targets for tests set PERL_DL_NONLAZY, which makes perl resolve all symbols of each object.
delete @ENV{ grep { /^PERL_DPROF_|^PERL5OPT$|^PERL5DB$|^PERL_DL_NONLAZY$/ } keys %ENV };
@ENV{qw(PERL_HASH_SEED PERL_PERTURB_KEYS)} = (0, 0);
@ENV{qw(PERL_DPROF_CLOCK PERL_DPROF_OUT)} = ('counting:15', "$dir/out");

sub instructions {
    my @args = @_;
    open my $in, '-|', 'sh', '-c', 'exec "$@" 2>&1', 'sh', 'valgrind', '--tool=callgrind',
        "--callgrind-out-file=$dir/callgrind", $^X, @args or die "bench: sh: $!\n";
    my $text = join '', <$in>;
    return $text =~ /Collected : (\d+)/ ? $1 : die "bench: valgrind: $text\n";
}

my @rows;
for my $args (['-e1'], ['-MTest::More', '-e1'], ['-MPOSIX', '-MGetopt::Long', '-e1']) {
    my $plain = instructions(@$args);
    my %with = map { $_ => instructions("-I$dir/lib", "-d:DProf=mode=$_", @$args) } qw(trace tree);
    push @rows, [ "perl @$args", sprintf('%.2f M', $plain / 1e6),
        map {
            sprintf('%.2f M', ($with{$_} - $plain) / 1e6),
            sprintf('%.1f %%', 100 * ($with{$_} / $plain - 1))
        } qw(trace tree) ];
}
print "instructions of a start\n";
table([ '', 'plain', 'added by a trace', '', 'by a tree', '' ], @rows);

# Each tool runs without options, when it must not pay for code that only options need, and with
# one.
my $profile = Bench::top() . '/t/data/classic.out';
my @blibs = ($blib, @ARGV);
@rows = ();
for my $name (qw(dprofpp dprofreport dproffold dprofflame)) {
    for my $args ([], ['--processes']) {
        push @rows, [ "$name @$args", map {
            sprintf '%.1f M',
                instructions("-I$_/lib", "-I$_/arch", "$_/script/$name", @$args, $profile) / 1e6
        } @blibs ];
    }
}
print "\ninstructions of a tool\n";
table([ '', @blibs > 1 ? ('this one', @ARGV) : '' ], @rows);
