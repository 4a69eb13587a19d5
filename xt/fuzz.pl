#!/usr/bin/perl

# Runs random programs under the profiler. Its counts must be those that the program kept itself,
# and the sub being charged the one that caller() names.
#
#   perl xt/fuzz.pl [--seed N] [--programs M] [--rounds R] [--mode trace|tree|both|slices|samples]
#                   [--mixed] [--options LIST] [--perl PATH] [--through 'valgrind ...']
#                   [--sensitivity] [--keep DIR]
#
# Needs a built tree (make). Each program also runs plain, and must print the
# same. A tree, or the slices of one, must have the same calls, caller by caller, as the trace; a
# slice has a hundred marks or so. Samples (5,000 a second) have no calls: there the program must go
# as before, and the lines have what the contexts have. --mixed: each program
# runs with other options, too, chosen by its seed. --options: further ones of the tree, as behind
# -d:DProf=, say lines. --perl: the module is built for it, with
# assertions where it has them. --sensitivity: builds the recorder again and again with one hook
# taken out each time, and shows that the programs notice. See t/lib/FuzzProgram.pm.

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
use lib "$top/xt/lib", "$top/t/lib";
use FuzzProgram;
use Proof qw(module_for flaws modes recording profiles_in);
use LineReader;
use Devel::DProf::Input;

my %opt = (seed => 1, programs => 100, rounds => 20, perl => $^X, timeout => 60, mode => 'trace');
GetOptions(\%opt,
    qw(seed=i programs=i rounds=i mode=s mixed options=s perl=s through=s sensitivity keep=s
        timeout=i))
        or die "see the top of $0\n";
($opt{perl}) = grep { -x } map { "$_/$opt{perl}" } split /:/, $ENV{PATH} unless $opt{perl} =~ m{/};
die "xt/fuzz.pl: there is no such perl\n" unless defined $opt{perl};
my %mode = map { $_ => 1 } modes($opt{mode}, qw(slices samples));
$| = 1;

my $asserts = qx('$opt{perl}' -e 'print grep { / DEBUGGING / } Internals::V()') ? 1 : 0;

# --mixed chooses from these. No regex has commas: perl splits there.
my @any = ('builtins=slow', 'skip=^main::f[0-9]$', 'only=^main::f|^F::',
    'skip=DESTROY|^List,builtins=slow', 'compress=1', 'compress=9');
my %mix = (
    trace => [@any, split ' ',
        'buffer=0 buffer=1 buffer=61 limit=20K limit=1K,buffer=16 ticks=1000000000 ticks=1 limit=0 '
            . 'limit=3K,buffer=8,contexts=16'
        . ' fork=no limit=20K,compress=3 builtins=slow,buffer=5,limit=5K'],
    tree  => [@any, split ' ',
        'callsites=1 ops=0 contexts=16 contexts=200 ticks=1000000000 ticks=1 '
            . 'callsites=1,contexts=50 fork=no builtins=slow,callsites=1 lines lines=count '
            . 'lines,contexts=16 lines,builtins=slow,callsites=1 lines,skip=^main::f[0-9]$'],
);

my $work = tempdir('dprof-fuzz-XXXX', TMPDIR => 1, CLEANUP => 1);
exit($opt{sensitivity} ? sensitivity() : main(module_for($opt{perl}, $work)));

sub slurp {
    my ($path) = @_;
    open my $in, '<:raw', $path or return '';
    local $/;
    return scalar <$in>;
}

# Does one profiled run. Returns it, and what is wrong with its profile.
sub profiled {
    my ($inc, $program, $options, $about) = @_;
    my $profile = "$work/tmon.out";
    my $sliced = $options =~ /\bspool=/;
    unlink glob "$profile* $work/tmon.spool/*";
    local $ENV{PERL_DPROF_OUT_FILE_NAME} = $profile;
    delete $ENV{PERL_DPROF_OUT_FILE_NAME} if $sliced;
    my $sampled = $options =~ /\bsample=/;
    local $ENV{PERL_DPROF_CLOCK} = 'counting';     # time passes between any two things
    delete $ENV{PERL_DPROF_CLOCK} if $sampled;
    my $run = run(join ' ', $opt{through} // (), $opt{perl}, map({ "-I$_" } @$inc),
        "'-d:DProf=$options'", $program);
    my @wrong;
    push @wrong, "status $run->{status}: " . substr $run->{err}, -300 if $run->{status};
    push @wrong, merged($profile) if $sliced;
    push @wrong, map { "profile: $_" } flaws($profile, $about);
    push @wrong, 'profile: not complete'
        unless @wrong || ($about->{header} || {})->{dprof_complete};
    push @wrong, LineReader::problems(LineReader::read_file($profile)) if $sampled;
    return ($run, @wrong);
}

# Makes one profile of slices. Returns what is wrong with them.
sub merged {
    my ($profile) = @_;
    my @slices = profiles_in($work);
    for my $slice (@slices) {
        my @wrong = flaws($slice, \my %about);
        push @wrong, 'not complete' unless $about{header}{dprof_complete};
        return map { "$slice: $_" } @wrong if @wrong;
    }
    my ($sum) = Devel::DProf::Input->new(detail => 1, phases => 1)->sum({}, sub { 1 }, @slices);
    return $sum->save($profile, $Devel::DProf::Profile::VERSION) // ();
}

# Whether another way of recording saw the same as the reference. Folded contexts have other
# callers, and so has what is called from something that is left out, or from a builtin.
sub as_reference {
    my ($have, $want, $options) = @_;
    my ($skip) = $options =~ /\bskip=([^,]*)/;
    my ($only) = $options =~ /\bonly=([^,]*)/;
    my $flat = $skip || $only || $options =~ /contexts|builtins/;
    for ($have, $want) {
        my %flat;
        for my $edge ($flat ? keys %$_ : ()) {
            my $name = $edge =~ s/.* > //r;
            next if $name =~ /^CORE::/ && $options =~ /builtins/ || $skip && $name =~ /$skip/
                || $only && $name !~ /$only/;
            $flat{$name} += $_->{$edge};
        }
        $_ = \%flat if $flat;
    }
    my @wrong = grep { ($have->{$_} // 0) != ($want->{$_} // 0) } sort keys %{ { %$have, %$want } };
    return map { "$_: " . ($have->{$_} // 0) . ' calls, ' . ($want->{$_} // 0) . ' in the trace' }
        @wrong > 5 ? @wrong[0 .. 4] : @wrong;
}

# Runs all seeds with the module in @$inc. Returns the number of bad programs.
sub fuzz {
    my ($inc, $quiet, $enough) = @_;
    my %n = map { $_ => 0 } qw(programs runs skipped checks calls bad);
    local @ENV{qw(PERL_HASH_SEED PERL_PERTURB_KEYS)} = (0, 0);
    for my $seed ($opt{seed} .. $opt{seed} + $opt{programs} - 1) {
        my $program = "$work/p$seed.pl";
        open my $out, '>', $program or die "$program: $!\n";
        print $out FuzzProgram::program($seed, $opt{rounds}, $asserts);
        close $out;
        my $plain = run("$opt{perl} $program");
        if ($plain->{status} || $plain->{out} !~ /^checks /m) {
            # These are perl's own bugs: panic: restartop, crashes after odd exits.
            print "seed $seed: perl itself does not get through: ", $plain->{err} =~ /^(.*)/m, "\n"
                unless $quiet;
            $n{skipped}++;
            next;
        }
        my %about = (until => 'main::printing', unwinding => $FuzzProgram::UNWINDING, edges => {});
        my ($run, @wrong) = profiled($inc, $program, 'mode=trace', \%about);
        push @wrong, FuzzProgram::compare($run->{out}, \%about) unless @wrong;
        push @wrong, 'plain and profiled print different things' if said($plain) ne said($run);
        my @others = $mode{tree} ? join ',', 'mode=tree', $opt{options} // () : ();
        push @others, recording('slices', $work, $opt{options}) if $mode{slices};
        push @others, join ',', 'sample=5000', $opt{options} // () if $mode{samples};
        push @others, map { "mode=$_,$mix{$_}[$seed % @{ $mix{$_} }]" } $opt{mixed}
            ? grep { $mix{$_} } sort keys %mode : ();
        for my $options (@wrong ? () : @others) {
            my %has = (edges => {});
            my ($again, @bad) = profiled($inc, $program, $options, \%has);
            # These options charge another sub than the one that runs, or none.
            push @bad, $again->{out} =~ /^wrong: (.*)/mg
                unless $options =~ /skip|only|builtins|sample/;
            push @bad, 'plain and profiled print different things' if said($plain) ne said($again);
            push @bad, as_reference($has{edges}, $about{edges}, $options)
                unless @bad || $options =~ /sample/;
            push @wrong, map { "$options: $_" } @bad;
            $n{runs}++;
            last if @wrong;
        }
        $n{programs}++;
        $n{runs}++;
        $n{checks} += $1 if $run->{out} =~ /^checks (\d+)/m;
        $n{calls} += $_ for values %{ $about{calls} || {} };
        if (@wrong) {
            $n{bad}++;
            print map { "seed $seed: $_\n" } @wrong unless $quiet;
            if ($opt{keep}) {
                make_path($opt{keep});
                copy($program, "$opt{keep}/p$seed.pl");
                copy("$work/tmon.out", "$opt{keep}/p$seed.out");
            }
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
    my ($inc) = @_;
    my $n = fuzz([$inc]);
    printf "%d programs, %d profiled runs, %d checks of the charged sub, %d calls recorded: %d "
        . "programs wrong, %d did not run\n",
        @$n{qw(programs runs checks calls bad skipped)};
    return $n->{bad} || !$n->{programs} ? 1 : 0;
}

# Lists what to take out of xs/hook/dpx_hook.c, one at a time.
sub sensitivity {
    my @out = (
        (map { ["op $_", qr/^\s*hook_op\(OP_$_,.*\n/m, ''] }
            qw(LEAVESUB LEAVESUBLV RETURN GOTO NEXT LAST)),
        ['run loop', qr{^    PL_runops = dpx_run\.loop = .*;\n}m, ''],
        ['eval guard', qr/^\s*SAVEDESTRUCTOR_X\(eval_popped, NULL\);\n/m, ";\n"],
        ['comparators', qr/CV \*cv = multicall_sub\(aTHX\);/, 'CV *cv = NULL;'],
        ['goto to XS', qr/if \(CvISXSUB\(target\) && /, 'if (0 && '],
        ['the check at entry', qr/^\s*dpx_frame_check_top\(aTHX_ ctx, si, ix, now\);\n/m, ''],
    );
    my $tree = "$work/tree";
    system('cp', '-a', $top, $tree) == 0 or die "cp failed\n";
    my $source = slurp("$top/xs/hook/dpx_hook.c");
    my $blind = 0;
    for (@out) {
        my ($what, $find, $put) = @$_;
        (my $text = $source) =~ s/$find/$put/ or do {
            print "$what: not found in xs/hook/dpx_hook.c\n";
            $blind++;
            next;
        };
        open my $out, '>', "$tree/xs/hook/dpx_hook.c" or die $!;
        print $out $text;
        close $out;
        if (system "cd $tree && make >make.log 2>&1") {
            print "$what: does not build\n";
            $blind++;
            next;
        }
        my $n = fuzz([map { "$tree/blib/$_" } qw(lib arch)], 1, 1);
        printf "without %-20s %s\n", $what, $n->{bad} ? "noticed by program $n->{programs}"
            : "NOT NOTICED by $n->{programs} programs";
        $blind++ unless $n->{bad};
    }
    return $blind ? 1 : 0;
}
