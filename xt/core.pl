#!/usr/bin/perl

# Runs perl's own core tests, plain and profiled: nothing may differ.
#
#   perl xt/core.pl [--mode trace|tree|both|slices|samples] [--source DIR] [--jobs N]
#                   [--children] [--xs-apitest] [--perl PATH] [--control] [--timeout S]
#                   [--work DIR] [--options LIST] [--through 'valgrind ...'] [files...]
#
# Needs a built tree (make), and the source of this very perl: DIR, or what
# `apt-get source perl` gets. The tests run in its t/ with the installed perl
# as ./perl and a copy of the installed library as ../lib.
#
# Files are named as from the source's top: t/op/sub.t lib/less.t. Without
# any, all of t/{base,cmd,comp,op,re,uni,io,mro}, lib/*.t and dist/Carp, about 540.
#
# --mode       how to record (trace); both: each file as a trace and as a tree; slices: with a cut
#              after some hundred marks; samples: 5,000 a second
# --children   the perls that tests start are profiled too; files that start none are left out
# --xs-apitest the tests of ext/XS-APItest, which is built for it, and nothing else
# --perl another perl of this version; the module is built for it, with assertions where it has them
# --control    runs every file under -d:Null0 as well, not only those that differ
# --options    further options of the recorder, as behind -d:DProf=
# --through    a command in front of the profiled perl
#
# A file that differs runs four times plain and four times profiled. It is flaky if the plain
# runs differ among themselves, or if one of the profiled ones is as plain.
# Exit status 1 when a file differs always, crashes, or leaves an unreadable profile.

use strict;
use warnings;
use Config;
use Cwd 'abs_path';
use File::Basename qw(dirname basename);
use File::Copy qw(copy);
use File::Path 'make_path';
use File::Temp qw(tempdir);
use Getopt::Long;

my $top;
BEGIN { $top = abs_path(dirname(__FILE__) . '/..') }
use lib "$top/xt/lib";
use Judge;
use Proof qw(module_for modes recording);

my %opt = (jobs => 1, timeout => 600, perl => $^X, mode => 'trace');
GetOptions(\%opt,
    qw(mode=s source=s jobs=i children xs-apitest perl=s control timeout=i work=s options=s
        through=s list))
    or die "see the top of $0\n";
# A name is looked up here, where PATH is still the user's.
($opt{perl}) = grep { -x } map { "$_/$opt{perl}" } split /:/, $ENV{PATH} unless $opt{perl} =~ m{/};
die "xt/core.pl: there is no such perl\n" unless defined $opt{perl};
$| = 1;

my $work = $opt{work} ? do { make_path($opt{work}); abs_path($opt{work}) }
                      : tempdir('dprof-core-XXXX', TMPDIR => 1, CLEANUP => 1);
my $source = source();
my $inc = lib_tree();
my @files = @ARGV ? @ARGV : all_files();
-e "$source/$_" or die "xt/core.pl: no $_ in $source\n" for @files;
@files = grep { starts_perls("$source/$_") } @files if $opt{children};
if ($opt{list}) { print "$_\n" for @files; exit 0 }
my $judge = Judge->new(%opt{qw(jobs timeout control)}, keep => $opt{through}, work => $work,
    files => \@files,
    modes => [modes($opt{mode}, qw(slices samples))], place => \&make_tree, command => \&command);
$judge->run_all;
exit $judge->report;

# ---- sources and folders ----

sub source {
    my $dir = $opt{source};
    if (!$dir) {
        my $get = "$work/source";
        make_path($get);
        system("cd $get && apt-get -q source perl >apt.log 2>&1") == 0 or die <<"END";
xt/core.pl: `apt-get source perl` did not work (see $get/apt.log).
Add deb-src lines to apt's sources and run `apt-get update`, or unpack the source of
perl $Config{version} yourself and name its folder with --source.
END
        ($dir) = glob "$get/perl-*/";
    }
    $dir = abs_path($dir);
    die "xt/core.pl: $dir is no perl source\n" unless -e "$dir/t/test.pl" && -e "$dir/patchlevel.h";
    open my $in, '<', "$dir/patchlevel.h" or die "$dir/patchlevel.h: $!\n";
    my $text = do { local $/; <$in> };
    my $version = join '.', map { $text =~ /^#define PERL_$_\s+(\d+)/m }
        qw(REVISION VERSION SUBVERSION);
    my $have = qx("$opt{perl}" -e 'printf "%vd", \$^V');
    die "xt/core.pl: $dir is perl $version, $opt{perl} is $have\n" unless $version eq $have;
    return $dir;
}

sub lib_tree {
    my $to = module_for($opt{perl}, $work);
    copy("$top/xt/lib/Devel/Null0.pm", "$to/Devel/Null0.pm") or die "Null0.pm: $!\n";
    return $to;
}

sub all_files {
    my @dirs = ((map { "t/$_" } qw(base cmd comp op re uni io mro)), 'lib', 'dist/Carp/t');
    @dirs = 'ext/XS-APItest/t' if $opt{'xs-apitest'};
    return map { my $dir = $_; map { "$dir/" . basename($_) } sort glob "$source/$dir/*.t" } @dirs;
}

sub starts_perls {
    my ($file) = @_;
    open my $in, '<', $file or return 0;
    local $/;
    return <$in>
        =~ /fresh_perl|runperl|run_multiple_progs|\$\^X|which_perl|switches\s*=>|prog\s*=>/;
}

# Makes one tree for each job: tests write beside themselves.
sub make_tree {
    my ($job) = @_;
    my $tree = "$work/tree$job";
    if (!-e "$tree/.ready") {
        system('cp', '-a', "$source/.", $tree) == 0 or die "cp failed\n";
        system('cp', '-RLf', "$_/.", "$tree/lib") == 0 or die "cp failed\n"
            for @Config{qw(privlibexp archlibexp)};
    }
    for ("$tree/t/perl", "$tree/perl") {
        unlink $_;
        symlink abs_path($opt{perl}), $_ or die "$_: $!\n";
    }
    if ($opt{'xs-apitest'} && !-e "$tree/lib/XS/APItest.pm") {
        # It is built elsewhere, since MakeMaker would take the tree's headers, which are not this
        # perl's.
        my ($apart, $log) = ("$work/apitest$job/ext", "$work/apitest$job.log");
        make_path($apart);
        system('cp', '-a', "$source/ext/XS-APItest", $apart) == 0 or die "cp failed\n";
        copy("$Config{archlibexp}/CORE/overload.h", "$apart/../overload.h")
            or die "overload.h: $!\n";
        system("cd $apart/XS-APItest && '$opt{perl}' Makefile.PL >$log 2>&1 && make >>$log 2>&1"
             . " && cp -a blib $tree/ext/XS-APItest && cp -a blib/lib/. blib/arch/. $tree/lib") == 0
            or die "ext/XS-APItest cannot be built, see $log (keep it with --work)\n";
    }
    # Marks the tree for the next run with this --work.
    open my $out, '>', "$tree/.ready" or die "$tree/.ready: $!\n";
    return $tree;
}

# ---- one run of one file ----

# Runs a file as t/TEST does. Returns folder and arguments.
sub arguments {
    my ($tree, $file) = @_;
    open my $in, '<:raw', "$tree/$file" or die "$file: $!\n";
    my $line = <$in> // '';
    my @taint = $line =~ /#!.*\bperl.*\s-\w*([tT])/ ? "-$1" : ();
    return ("$tree/ext/XS-APItest", '-Iblib/lib', '-Iblib/arch', '-I../../t', @taint,
        $file =~ s{^ext/XS-APItest/}{}r)
        if $file =~ m{^ext/XS-APItest/};
    return ("$tree/t", '-I..', '-MTestInit=U1', @taint, "../$file") if $file =~ m{^lib/};
    return ("$tree/dist/Carp", '-I../..', '-MTestInit=U2T', @taint, $1)
        if $file =~ m{^dist/Carp/(.*)};
    my $t = $file =~ s{^t/}{}r;
    return ("$tree/t", @taint, $t) if $t =~ m{^(?:base|comp)/};
    return ("$tree/t", '-I..', '-MTestInit', @taint, $t);
}

sub command {
    my ($tree, $file, $mode, $box) = @_;
    my ($dir, @args) = arguments($tree, $file);
    my @perl = ($dir =~ m{/(?:XS-APItest|Carp)$} ? '../../t/perl' : './perl');
    unshift @perl, split ' ', $opt{through} if $opt{through} && $mode && $mode ne 'null';
    my $load = $mode eq 'null' ? '-d:Null0'
        : $mode ? '-d:DProf=' . recording($mode, $box, $opt{options}) : '';
    # Some tests print what keys() returns first.
    my %env = (PERL_CORE => 1, LC_ALL => 'C', PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0);
    $env{$_} = undef
        for qw(PERL5LIB PERLLIB PERL5DB PERL5OPT PERL_UNICODE PERL5DB_THREADED MAKEFLAGS MAKELEVEL
            HARNESS_ACTIVE);
    if ($opt{children}) { $env{PERL5OPT} = "-I$inc $load" }
    else { unshift @args, "-I$inc", $load || () }
    return { dir => $dir, env => \%env, command => [@perl, @args] };
}
