#!/usr/bin/perl

# Runs other people's distributions' own tests, each test file plain and profiled, with the perls
# that it starts. Both must give the same TAP and status, and profiles without a flaw.
#
#   perl xt/distros.t [--mode trace|tree|both|slices|samples] [--jobs N] [--timeout S] [--work DIR]
#                     [--options LIST] [--control] [source packages...]
#
# Needs a built tree (make). The sources come from `apt-get source`; what they need,
# `apt-get build-dep` installs. Distributions with C are built. With --work all of that is kept.
# Without names: those below. Without --mode: both. Exit status 1 if anything differs, crashes or
# cannot be read, and prove can run it.

use strict;
use warnings;
use Config;
use Cwd 'abs_path';
use File::Basename 'dirname';
use File::Copy 'copy';
use File::Find 'find';
use File::Path qw(make_path remove_tree);
use File::Temp 'tempdir';
use Getopt::Long;

my $top;
BEGIN { $top = abs_path(dirname(__FILE__) . '/..') }
use lib "$top/xt/lib";
use Judge;
use Proof qw(module_for modes recording);

my %opt = (mode => 'both', jobs => 1, timeout => 600);
GetOptions(\%opt, qw(mode=s jobs=i timeout=i work=s options=s control))
    or die "see the top of $0\n";
$| = 1;
my @packages = @ARGV ? @ARGV : map { "lib$_-perl" }
    qw(try-tiny moo moose type-tiny object-pad syntax-keyword-try coro ev ppi template mojolicious
        dbi graph-easy);
my $work = $opt{work} ? do { make_path($opt{work}); abs_path($opt{work}) }
                      : tempdir('dprof-distros-XXXX', TMPDIR => 1, CLEANUP => 1);
my $inc = module_for($^X, $work);
copy("$top/xt/lib/Devel/Null0.pm", "$inc/Devel/Null0.pm") or die "Null0.pm: $!\n";
my (%dir, @files);
for my $package (@packages) {
    my $dir = $dir{$package} = source($package);
    my @tests;
    find({ no_chdir => 1, wanted => sub { push @tests, $_ if /\.t$/ && -f } }, "$dir/t");
    push @files, map { s{^\Q$dir\E}{$package}r } sort @tests;
    printf "# %-28s %4d test files, %s\n", $package, scalar @tests,
        -d "$dir/blib" ? 'built' : 'no C';
}
my $judge = Judge->new(%opt{qw(jobs timeout control)}, work => $work, files => \@files,
    modes => [modes($opt{mode}, qw(slices samples))],
    spans => scalar(($opt{options} // '') =~ /detail/),
    place => sub { "$work/job$_[0]" }, command => \&command);
$judge->run_all;
my $status = $judge->report;
print $status ? 'not ok' : 'ok', " 1 - all as plain\n1..1\n";
exit $status;

# Returns the unpacked source of a package, built if it has C.
sub source {
    my ($package) = @_;
    my $base = "$work/src/$package";
    my @there = glob "$base/*/t";
    if (!@there) {
        make_path($base);
        my $log = "$base/apt.log";
        # The newest version may have gone from the mirror; the list names others.
        my @versions = map { /^Version: (\S+)/ ? "$package=$1" : () }
            qx(apt-cache showsrc $package 2>/dev/null);
        for my $wish ($package, reverse @versions) {
            last if system("cd $base && apt-get -q source $wish >>$log 2>&1") == 0;
        }
    }
    my ($dir) = grep { -d "$_/t" } glob "$base/*/"
        or die "no source of $package: apt-get source needs deb-src lines (see $base/apt.log)\n";
    $dir =~ s{/\z}{};
    my $has_c;
    find({ no_chdir => 1, wanted => sub { $has_c ||= /\.xs\z/ } }, $dir);
    if ($has_c && !-e "$dir/.built") {
        my $make = -e "$dir/Build.PL" ? "$^X Build.PL && ./Build" : "$^X Makefile.PL && make";
        system("cd $dir && PERL_MM_USE_DEFAULT=1 sh -c '$make' >$base/build.log 2>&1 </dev/null")
            == 0
            or die "$package cannot be built, see $base/build.log (apt-get build-dep $package?)\n";
        open my $out, '>', "$dir/.built" or die "$dir/.built: $!\n";
    }
    return $dir;
}

sub command {
    my ($place, $file, $mode, $box) = @_;
    my ($package, $name) = split m{/}, $file, 2;
    # Some tests leave files for others, or meet the other job's: each run has a folder of its own.
    my $dir = "$place/$package";
    remove_tree($dir);
    make_path($place);
    system('cp', '-a', $dir{$package}, $dir) == 0 or die "cp failed\n";
    open my $in, '<', "$dir/$name" or die "$file: $!\n";
    my $taint = (<$in> // '') =~ /#!.*perl.*\s-(\w*[tT]\w*)/ ? "-$1" : undef;
    my $load = $mode eq 'null' ? '-d:Null0'
        : $mode ? '-d:DProf=' . recording($mode, $box, $opt{options}) : undef;
    my @inc = map { "-I$_" } (-d "$dir/blib" ? ('blib/lib', 'blib/arch') : 'lib'), 't/lib', '.';
    my %env = (PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0, LC_ALL => 'C', PERL5LIB => $inc,
        PERL5OPT => $load);
    $env{$_} = undef for qw(PERL5DB PERL_UNICODE HARNESS_ACTIVE MAKEFLAGS MAKELEVEL);
    # A tainted perl ignores PERL5OPT and PERL5LIB.
    unshift @inc, $taint, "-I$inc", $load // () if $taint;
    return { dir => $dir, env => \%env, command => [$^X, @inc, $name] };
}
