#!/usr/bin/perl

# Random programs under the profiler: its counts must be those that the program
# kept itself, and the sub being charged the one that caller() names.
#
#   perl xt/fuzz.pl [--seed N] [--programs M] [--rounds R] [--perl PATH]
#                   [--through 'valgrind ...'] [--sensitivity] [--keep DIR]
#
# Needs a built tree (make). Each program also runs plain, and must print the
# same. --sensitivity: builds the recorder again and again with one hook taken out
# each time, and shows that the programs notice. See t/lib/FuzzProgram.pm.

use strict;
use warnings;
use Config;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Getopt::Long;

my $top;
BEGIN { $top = abs_path(dirname(__FILE__) . '/..') }
use lib "$top/t/lib";
use FuzzProgram;
use StrictProfile;

my %opt = (seed => 1, programs => 100, rounds => 20, perl => $^X, timeout => 60);
GetOptions(\%opt, qw(seed=i programs=i rounds=i perl=s through=s sensitivity keep=s timeout=i)) or die "see the top of $0\n";
$| = 1;

my $work = tempdir('dprof-fuzz-XXXX', TMPDIR => 1, CLEANUP => 1);
exit($opt{sensitivity} ? sensitivity() : main($top));

sub slurp { my ($path) = @_; open my $in, '<:raw', $path or return ''; local $/; return scalar <$in> }

# Runs all seeds with the tree built in $tree. Returns the number of bad programs.
sub fuzz {
    my ($tree, $quiet, $enough) = @_;
    my %n = map { $_ => 0 } qw(programs skipped checks calls bad);
    for my $seed ($opt{seed} .. $opt{seed} + $opt{programs} - 1) {
        my $program = "$work/p$seed.pl";
        open my $out, '>', $program or die "$program: $!\n";
        print $out FuzzProgram::program($seed, $opt{rounds});
        close $out;
        my $plain = run("$opt{perl} $program");
        if ($plain->{status} || $plain->{out} !~ /^checks /m) {
            # perl's own bugs: panic: restartop, crashes after odd exits
            print "seed $seed: perl itself does not get through: ", $plain->{err} =~ /^(.*)/m, "\n" unless $quiet;
            $n{skipped}++;
            next;
        }
        my $profile = "$work/tmon.out";
        unlink glob "$profile*";
        local $ENV{PERL_DPROF_OUT_FILE_NAME} = $profile;
        local $ENV{PERL_DPROF_CLOCK} = 'counting';     # time passes between any two things
        my $run = run(join ' ', $opt{through} // (), $opt{perl}, map({ "-I$_" } "$tree/blib/lib", "$tree/blib/arch"), '-d:DProf', $program);
        my @wrong;
        my %about = (until => 'main::printing', unwinding => $FuzzProgram::UNWINDING);
        push @wrong, "status $run->{status}: " . substr $run->{err}, -300 if $run->{status};
        push @wrong, map { "profile: $_" } StrictProfile::problems($profile, \%about);
        push @wrong, FuzzProgram::compare($run->{out}, \%about) unless @wrong;
        push @wrong, 'plain and profiled print different things' if said($plain) ne said($run);
        $n{programs}++;
        $n{checks} += $1 if $run->{out} =~ /^checks (\d+)/m;
        $n{calls} += $_ for values %{ $about{calls} || {} };
        if (@wrong) {
            $n{bad}++;
            print map { "seed $seed: $_\n" } @wrong unless $quiet;
            if ($opt{keep}) { make_path($opt{keep}); copy($program, "$opt{keep}/p$seed.pl"); copy($profile, "$opt{keep}/p$seed.out") }
        }
        unlink $program;
        last if $enough && $n{bad} >= $enough;
    }
    return \%n;
}

sub said { my ($run) = @_; return $run->{out} =~ s/^wrong: .*\n//gmr =~ s/^checks \d+\K.*//mr }

sub run {
    my ($command) = @_;
    my $status = system "ulimit -v 4000000; timeout $opt{timeout} $command >$work/out 2>$work/err";
    return { status => $status, out => slurp("$work/out"), err => slurp("$work/err") };
}

sub main {
    my ($tree) = @_;
    my $n = fuzz($tree);
    printf "%d programs, %d checks of the charged sub, %d calls recorded: %d programs wrong, %d did not run\n",
        @$n{qw(programs checks calls bad skipped)};
    return $n->{bad} || !$n->{programs} ? 1 : 0;
}

# What to take out of xs/dpx_hook.c, one at a time.
sub sensitivity {
    my @out = (
        (map { ["op $_", qr/^\s*hook_op\(OP_$_,.*\n/m, ''] } qw(LEAVESUB LEAVESUBLV RETURN GOTO NEXT LAST)),
        ['run loop', qr/^\s*PL_runops = is_counter \?.*\n/m, ''],
        ['eval guard', qr/^\s*guard_eval\(aTHX\);\n/m, ";\n"],
        ['comparators', qr/CV \*cv = multicall_sub\(aTHX\);/, 'CV *cv = NULL;'],
        ['goto to XS', qr/if \(ours && CvISXSUB\(target\)\)/, 'if (0)'],
        ['the check at entry', qr/^\s*check_top\(aTHX_ ctx, si, ix, now\);\n/m, ''],
    );
    my $tree = "$work/tree";
    system('cp', '-a', $top, $tree) == 0 or die "cp failed\n";
    my $source = slurp("$top/xs/dpx_hook.c");
    my $blind = 0;
    for (@out) {
        my ($what, $find, $put) = @$_;
        (my $text = $source) =~ s/$find/$put/ or do { print "$what: not found in xs/dpx_hook.c\n"; $blind++; next };
        open my $out, '>', "$tree/xs/dpx_hook.c" or die $!;
        print $out $text;
        close $out;
        if (system "cd $tree && make >make.log 2>&1") { print "$what: does not build\n"; $blind++; next }
        my $n = fuzz($tree, 1, 1);
        printf "without %-20s %s\n", $what, $n->{bad} ? "noticed by program $n->{programs}" : "NOT NOTICED by $n->{programs} programs";
        $blind++ unless $n->{bad};
    }
    return $blind ? 1 : 0;
}
