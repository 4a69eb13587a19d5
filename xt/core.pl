#!/usr/bin/perl

# Perl's own core tests, plain and profiled: nothing may differ.
#
#   perl xt/core.pl [--mode trace|tree|both] [--source DIR] [--jobs N] [--children]
#                   [--xs-apitest] [--perl PATH] [--control] [--timeout S]
#                   [--work DIR] [--options LIST] [--through 'valgrind ...'] [files...]
#
# Needs a built tree (make), and the source of this very perl: DIR, or what
# `apt-get source perl` gets. The tests run in its t/ with the installed perl
# as ./perl and a copy of the installed library as ../lib.
#
# Files are named as from the source's top: t/op/sub.t lib/less.t. Without
# any, all of t/{base,cmd,comp,op,re,uni,io,mro} and lib/*.t, about 520.
#
# --mode       how to record (trace); both: each file in either mode
# --children   the perls that tests start are profiled too; files that start none are left out
# --xs-apitest the tests of ext/XS-APItest, which is built for it, and nothing else
# --perl       another perl of this version; the module is built for it, with assertions where it has them
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
use Cwd qw(abs_path getcwd);
use File::Basename qw(dirname basename);
use File::Copy qw(copy);
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use Getopt::Long;
use POSIX ();
use Time::HiRes qw(time);

my $top;
BEGIN { $top = abs_path(dirname(__FILE__) . '/..') }
use lib "$top/xt/lib";
use Proof qw(module_for flaws modes);

my %opt = (jobs => 1, timeout => 600, perl => $^X, mode => 'trace');
GetOptions(\%opt, qw(mode=s source=s jobs=i children xs-apitest perl=s control timeout=i work=s options=s through=s list))
    or die "see the top of $0\n";
my @modes = modes($opt{mode});
# A name is looked up here, where PATH is still the user's.
($opt{perl}) = grep { -x } map { "$_/$opt{perl}" } split /:/, $ENV{PATH} unless $opt{perl} =~ m{/};
die "xt/core.pl: there is no such perl\n" unless defined $opt{perl};
my @columns = qw(file mode verdict why s plain_s control differs profiles cut unreadable tests);
$| = 1;

my $work = $opt{work} ? do { make_path($opt{work}); abs_path($opt{work}) }
                      : tempdir('dprof-core-XXXX', TMPDIR => 1, CLEANUP => 1);
my $main_pid = $$;
my $source = source();
my $inc = lib_tree();
my @files = @ARGV ? @ARGV : all_files();
-e "$source/$_" or die "xt/core.pl: no $_ in $source\n" for @files;
@files = grep { starts_perls("$source/$_") } @files if $opt{children};
if ($opt{list}) { print "$_\n" for @files; exit 0 }
my $began = time;
my @results = run_all();
exit report();

# ---- what there is ----

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
    my $version = join '.', map { $text =~ /^#define PERL_$_\s+(\d+)/m } qw(REVISION VERSION SUBVERSION);
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
    my @dirs = ((map { "t/$_" } qw(base cmd comp op re uni io mro)), 'lib');
    @dirs = 'ext/XS-APItest/t' if $opt{'xs-apitest'};
    return map { my $dir = $_; map { "$dir/" . basename($_) } sort glob "$source/$dir/*.t" } @dirs;
}

sub starts_perls {
    my ($file) = @_;
    open my $in, '<', $file or return 0;
    local $/;
    return <$in> =~ /fresh_perl|runperl|run_multiple_progs|\$\^X|which_perl|switches\s*=>|prog\s*=>/;
}

# One tree for each job: tests write beside themselves.
sub make_tree {
    my ($job) = @_;
    my $tree = "$work/tree$job";
    if (!-e "$tree/.ready") {
        system('cp', '-a', "$source/.", $tree) == 0 or die "cp failed\n";
        system('cp', '-RLf', "$_/.", "$tree/lib") == 0 or die "cp failed\n" for @Config{qw(privlibexp archlibexp)};
    }
    for ("$tree/t/perl", "$tree/perl") {
        unlink $_;
        symlink abs_path($opt{perl}), $_ or die "$_: $!\n";
    }
    if ($opt{'xs-apitest'} && !-e "$tree/lib/XS/APItest.pm") {
        # Elsewhere, or MakeMaker takes the tree's headers, which are not this perl's.
        my ($apart, $log) = ("$work/apitest$job/ext", "$work/apitest$job.log");
        make_path($apart);
        system('cp', '-a', "$source/ext/XS-APItest", $apart) == 0 or die "cp failed\n";
        copy("$Config{archlibexp}/CORE/overload.h", "$apart/../overload.h") or die "overload.h: $!\n";
        system("cd $apart/XS-APItest && '$opt{perl}' Makefile.PL >$log 2>&1 && make >>$log 2>&1"
             . " && cp -a blib $tree/ext/XS-APItest && cp -a blib/lib/. blib/arch/. $tree/lib") == 0
            or die "ext/XS-APItest cannot be built, see $log (keep it with --work)\n";
    }
    open my $out, '>', "$tree/.ready" or die "$tree/.ready: $!\n";     # for the next run with this --work
    return $tree;
}

# ---- one run of one file ----

# As t/TEST does it. Returns folder and arguments.
sub command {
    my ($tree, $file) = @_;
    open my $in, '<:raw', "$tree/$file" or die "$file: $!\n";
    my $line = <$in> // '';
    my @taint = $line =~ /#!.*\bperl.*\s-\w*([tT])/ ? "-$1" : ();
    return ("$tree/ext/XS-APItest", '-Iblib/lib', '-Iblib/arch', '-I../../t', @taint, $file =~ s{^ext/XS-APItest/}{}r)
        if $file =~ m{^ext/XS-APItest/};
    return ("$tree/t", '-I..', '-MTestInit=U1', @taint, "../$file") if $file =~ m{^lib/};
    my $t = $file =~ s{^t/}{}r;
    return ("$tree/t", @taint, $t) if $t =~ m{^(?:base|comp)/};
    return ("$tree/t", '-I..', '-MTestInit', @taint, $t);
}

# mode: '' for a plain run, trace, tree, or null for -d:Null0.
sub run_one {
    my ($tree, $file, $mode, $keep) = @_;
    my ($dir, @args) = command($tree, $file);
    my $box = "$tree.box";
    remove_tree($box);
    make_path($box);
    my @perl = ($dir =~ /XS-APItest$/ ? '../../t/perl' : './perl');
    unshift @perl, split ' ', $opt{through} if $opt{through} && $mode && $mode ne 'null';
    # A name for each process: perls that a test starts write beside each other.
    my $options = join ',', "mode=$mode", "out=$box/tmon.%p", $opt{options} // ();
    my $load = $mode eq 'null' ? '-d:Null0' : $mode ? "-d:DProf=$options" : '';
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        setpgrp;
        delete @ENV{qw(PERL5LIB PERLLIB PERL5DB PERL5OPT PERL_UNICODE PERL5DB_THREADED MAKEFLAGS MAKELEVEL HARNESS_ACTIVE)};
        $ENV{PERL_CORE} = 1;
        $ENV{LC_ALL} = 'C';
        @ENV{qw(PERL_HASH_SEED PERL_PERTURB_KEYS)} = (0, 0);    # some print what keys() gives first
        $ENV{PERL5OPT} = "-I$inc $load" if $opt{children};
        chdir $dir or POSIX::_exit(126);
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', "$box/out";
        open STDERR, '>', "$box/err";
        unshift @args, "-I$inc", $load ? $load : () unless $opt{children};
        { no warnings; exec @perl, @args }
        POSIX::_exit(127);
    }
    my $late;
    local $SIG{ALRM} = sub { $late = 1; kill KILL => -$pid };
    alarm $opt{timeout};
    1 until waitpid($pid, 0) == $pid;
    my $status = $?;
    alarm 0;
    kill KILL => -$pid;         # what the test left behind
    my %run = (status => $status, late => $late, dir => $dir);
    for my $what (qw(out err)) {
        open my $in, '<:raw', "$box/$what" or next;
        local $/;
        $run{$what} = <$in>;
        copy("$box/$what", "$keep.$what") if $keep;
    }
    return \%run if !$mode || $mode eq 'null';
    # Under -T the name that we give is still taken: it is on the command line.
    for my $profile (grep { !/\.live\z/ } glob "$box/tmon.*") {
        $run{profiles}++;
        my @wrong = flaws($profile, \my %about);
        $run{cut}++ if $about{cut};
        push @{ $run{unreadable} }, map { basename($profile) . ": $_" } @wrong;
        copy($profile, "$keep.profile") if @wrong && $keep && -s $profile < 50e6;
    }
    return \%run;
}

# What a harness would judge by, at three degrees of looking away.
sub tap {
    my ($text, $level) = @_;
    my @lines = grep { /^\s*(?:not )?ok\b|^\s*1\.\.\d|^Bail out/ } split /\n/, $text // '';
    if ($level == 1) { s/(?:\\x\{?|0x)[0-9a-f]+|\d+/N/gi for @lines }
    if ($level == 2) { s/^(\s*(?:not )?ok\b(?: \d+)?).*/$1/ for @lines }
    return join "\n", @lines;
}

sub same { my ($x, $y, $level) = @_; return $x->{status} == $y->{status} && tap($x->{out}, $level) eq tap($y->{out}, $level) }

sub verdict_of {
    my ($plain, $run, $level) = @_;
    return $run->{late} ? 'timeout'
         : $run->{status} & 127 && !($plain->{status} & 127) ? 'crashed'
         : same($plain, $run, $level) ? 'same' : 'different';
}

# One result for each mode.
sub judge {
    my ($tree, $file) = @_;
    my $keep = "$work/kept/" . $file =~ s{/}{-}gr;
    my $t0 = time;
    my @plain = run_one($tree, $file, '', "$keep.plain");
    my %all = (file => $file, plain_s => time - $t0);
    return map { { %all, mode => $_, verdict => 'not judged', why => 'the plain run takes too long' } } @modes if $plain[0]{late};
    $all{tests} = () = ($plain[0]{out} // '') =~ /^\s*(?:not )?ok\b/mg;
    my @results;
    for my $mode (@modes) {
        my %r = (%all, mode => $mode);
        $t0 = time;
        my @run = run_one($tree, $file, $mode, "$keep.$mode");
        $r{s} = time - $t0;
        my $level = 0;
        my $verdict = verdict_of($plain[0], $run[0], 0);
        if ($verdict ne 'same') {
            push @plain, run_one($tree, $file, '', "$keep.again") while @plain < 4;
            $level++ while $level < 2 && grep { !same($plain[0], $_, $level) } @plain;
            $verdict = verdict_of($plain[0], $run[0], $level);
            if (grep { !same($plain[0], $_, $level) } @plain) {
                ($verdict, $r{why}) = ('flaky', 'plain runs differ');
            } elsif ($verdict ne 'same') {
                push @run, run_one($tree, $file, $mode, "$keep.$mode") while @run < 4;
                my $as_plain = grep { same($plain[0], $_, $level) } @run;
                my ($crash) = grep { verdict_of($plain[0], $_, $level) eq 'crashed' } @run;
                ($verdict, $r{why}) = ('flaky', "$as_plain of 4 as plain") if $as_plain && !$crash;
            }
        }
        if (($plain[0]{out} // '') =~ /\A(?:#.*\n)*1\.\.0\b/ && $verdict eq 'same') {
            ($verdict, $r{why}) = ('not judged', 'skips itself');
        }
        $r{verdict} = $verdict;
        $r{differs} = first_difference($plain[0], $run[0], $level) if $verdict !~ /^(?:same|not judged)$/;
        $r{control} = verdict_of($plain[0], run_one($tree, $file, 'null', "$keep.null0"), $level)
            if $opt{control} || $verdict !~ /^(?:same|not judged)$/;
        $r{unreadable} = [map { @{ $_->{unreadable} || [] } } @run];
        $r{$_} = $run[0]{$_} // 0 for qw(profiles cut);
        unlink glob "$keep.$mode.*" if $verdict eq 'same' && !@{ $r{unreadable} } && !$opt{through};
        push @results, \%r;
    }
    unlink glob "$keep.*" unless $opt{through} || grep { $_->{verdict} ne 'same' || @{ $_->{unreadable} } } @results;
    return @results;
}

sub first_difference {
    my ($plain, $run, $level) = @_;
    my @p = split /\n/, tap($plain->{out}, $level);
    my @r = split /\n/, tap($run->{out}, $level);
    my $text = $plain->{status} == $run->{status} ? '' : "status $plain->{status} and $run->{status}; ";
    for my $i (0 .. ($#p > $#r ? $#p : $#r)) {
        my ($p, $r) = map { $_ // '(nothing)' } $p[$i], $r[$i];
        return $text . sprintf "'%.100s' and '%.100s'", $p, $r if $p ne $r;
    }
    return $text;
}

# ---- all of them ----

sub run_all {
    make_path("$work/kept");
    my (@results, %pipe);
    pipe my $todo_r, my $todo_w or die;
    # A job takes one number, five bytes, at a time: reads of a pipe so short are whole.
    for my $job (1 .. $opt{jobs}) {
        pipe my $r, my $w or die;
        my $pid = fork // die "fork: $!\n";
        if (!$pid) {
            close $todo_w;
            select $w;
            $| = 1;
            my $tree = make_tree($job);
            while (sysread $todo_r, my $n, 5) {
                for my $res (judge($tree, $files[$n])) {
                    print $w join("\t", map { my $v = ref $res->{$_} ? join('; ', @{ $res->{$_} }) : $res->{$_} // ''; $v =~ tr/\t\n/  /; $v } @columns), "\n";
                }
            }
            POSIX::_exit(0);
        }
        $pipe{ fileno $r } = $r;
        close $w;
    }
    close $todo_r;
    my $feeder = fork // die;
    if (!$feeder) {
        syswrite $todo_w, sprintf '%-5d', $_ for 0 .. $#files;
        POSIX::_exit(0);
    }
    close $todo_w;
    my %buffer;
    while (%pipe) {
        my $bits = '';
        vec($bits, $_, 1) = 1 for keys %pipe;
        next if select($bits, undef, undef, undef) <= 0;
        for my $fd (grep { vec $bits, $_, 1 } keys %pipe) {
            if (!sysread $pipe{$fd}, $buffer{$fd}, 65536, length($buffer{$fd} // '')) {
                delete $pipe{$fd};
                next;
            }
            while ($buffer{$fd} =~ s/^(.*)\n//) {
                my %r;
                @r{@columns} = split /\t/, $1, -1;
                push @results, \%r;
                printf "%4d/%d %-36s %-5s %-10s %6d %6.1fs %6.1fs%s%s%s%s%s\n", scalar @results, @files * @modes, @r{qw(file mode verdict)}, $r{tests} || 0, $r{plain_s} || 0, $r{s} || 0,
                    $r{why} ? "  ($r{why})" : '', $r{differs} ? "  $r{differs}" : '',
                    $r{control} ? "  Null0: $r{control}" : '', $r{unreadable} ? "  UNREADABLE $r{unreadable}" : '',
                    $r{profiles} ne '' && !$r{profiles} ? '  NO PROFILE' : '';
            }
        }
    }
    1 while wait != -1;
    return @results;
}

sub report {
    print "\n", '-' x 60, "\n";
    my $bad = 0;
    for my $mode (@modes) {
        my @of = grep { $_->{mode} eq $mode } @results;
        my @judged = grep { $_->{verdict} ne 'not judged' } @of;
        my @rows = (['files', scalar @of], ['judged', scalar @judged]);
        my $sum = sub { my ($what) = @_; my $n = 0; $n += $_->{$what} || 0 for @judged; return $n };
        my $missing = grep { $_->{profiles} eq '0' } @judged;
        push @rows, ['test lines compared', $sum->('tests')];
        for my $verdict (qw(same different crashed timeout flaky)) {
            push @rows, [$verdict, scalar grep { $_->{verdict} eq $verdict } @judged];
            $bad += $rows[-1][1] if $verdict !~ /^(?:same|flaky)$/;
        }
        my $unreadable = grep { $_->{unreadable} } @of;
        my $lost = @files - @of;
        push @rows, ['profiles read', $sum->('profiles')], ['of them cut short', $sum->('cut')],
            ['files with unreadable', $unreadable], ['files without a profile', $missing], ($lost ? ['lost', $lost] : ());
        $bad += $unreadable + $lost;
        printf "%-6s %-24s %8d\n", $mode, @$_ for @rows;
    }
    printf "%-31s %8.0f s\n", 'took', time - $began;
    my @odd = grep { $_->{verdict} !~ /^(?:same|not judged)$/ } @results;
    for my $kind (['Not as plain, though as plain under -d:Null0', sub { $_->{verdict} ne 'flaky' && $_->{control} ne $_->{verdict} }],
                  ['Not as plain, nor under -d:Null0', sub { $_->{verdict} ne 'flaky' && $_->{control} eq $_->{verdict} }],
                  ['Flaky', sub { $_->{verdict} eq 'flaky' }]) {
        my ($title, $is) = @$kind;
        my @of = grep { $is->() } @odd or next;
        print "\n$title:\n", map { "    $_->{file} ($_->{mode}): $_->{verdict}" . ($_->{why} ? ", $_->{why}" : '') . ": $_->{differs}\n" } @of;
    }
    my @unreadable = grep { $_->{unreadable} } @results;
    print "\nUnreadable:\n", map { "    $_->{file} ($_->{mode}): $_->{unreadable}\n" } @unreadable if @unreadable;
    return $bad ? 1 : 0;
}
