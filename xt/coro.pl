#!/usr/bin/perl

# Runs random programs of coroutines under the profiler. Its counts, by caller too, must be those
# that the program kept itself, and the sub being charged the one that caller() names.
#
#   perl xt/coro.pl [--seed N] [--programs M] [--rounds R] [--mode trace|tree|both] [--mixed]
#                   [--options LIST] [--perl PATH] [--through 'valgrind ...'] [--sensitivity]
#                   [--keep DIR]
#
# Needs a built tree (make) and Coro. Each program also runs plain, and must print the same. A tree
# must have the same calls, caller by caller, as the trace. --mixed: each program runs with other
# options, too, chosen by its seed. --options: further ones of the tree, as behind -d:DProf=, say
# lines. --perl: the module is built for it, with assertions where it has them.
# --sensitivity: builds the recorder again and again with one thing taken out each
# time, and shows that the programs notice. See t/lib/CoroProgram.pm.

use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Getopt::Long;

my $top;
BEGIN { $top = abs_path(dirname(__FILE__) . '/..') }
use lib "$top/xt/lib", "$top/t/lib";
use CoroProgram;
use Proof qw(module_for flaws modes);

my %opt = (seed => 1, programs => 100, rounds => 5, perl => $^X, timeout => 60, mode => 'both');
GetOptions(\%opt,
    qw(seed=i programs=i rounds=i mode=s mixed options=s perl=s through=s sensitivity keep=s
        timeout=i))
        or die "see the top of $0\n";
($opt{perl}) = grep { -x } map { "$_/$opt{perl}" } split /:/, $ENV{PATH} unless $opt{perl} =~ m{/};
die "xt/coro.pl: there is no such perl\n" unless defined $opt{perl};
die "xt/coro.pl: this perl has no Coro\n" if system $opt{perl}, '-e', 'exit !eval { require Coro }';
my %mode = map { $_ => 1 } modes($opt{mode});
$| = 1;

# --mixed chooses from these.
my %mix = (
    trace => [split ' ',
        'buffer=0 buffer=1 buffer=61 limit=20K limit=1K,buffer=16 ticks=1000000000 limit=0 '
            . 'limit=3K,buffer=8,contexts=16 skip=^Coro:: builtins=slow'],
    tree  => [split ' ',
        'callsites=1 ops=0 contexts=16 contexts=200 ticks=1000000000 callsites=1,contexts=50 '
            . 'skip=^Coro:: builtins=slow lines lines=count lines,contexts=16 '
            . 'lines,skip=^Coro::'],
);

my $work = tempdir('dprof-coro-XXXX', TMPDIR => 1, CLEANUP => 1);
exit($opt{sensitivity} ? sensitivity() : main(module_for($opt{perl}, $work)));

sub slurp {
    my ($path) = @_;
    open my $in, '<:raw', $path or return '';
    local $/;
    return scalar <$in>;
}

sub run {
    my ($command) = @_;
    my $status = system "ulimit -v 4000000; timeout $opt{timeout} $command >$work/out 2>$work/err";
    return { status => $status, out => slurp("$work/out"), err => slurp("$work/err") };
}

# Does one profiled run. Returns it, and what is wrong with its profile.
sub profiled {
    my ($inc, $program, $options, $about) = @_;
    my $profile = "$work/tmon.out";
    unlink glob "$profile*";
    local $ENV{PERL_DPROF_OUT_FILE_NAME} = $profile;
    local $ENV{PERL_DPROF_CLOCK} = 'counting';
    my $run = run(join ' ', $opt{through} // (), $opt{perl}, map({ "-I$_" } @$inc),
        "-d:DProf='$options'", $program);
    my @wrong;
    push @wrong, "status $run->{status}: " . substr $run->{err}, -300 if $run->{status};
    push @wrong, map { "profile: $_" } flaws($profile, $about);
    push @wrong, 'profile: not complete' unless @wrong || $about->{header}{dprof_complete};
    return ($run, @wrong);
}

# Whether another way of recording saw the same as the reference. Folded contexts, and those without
# some subs, have other callers.
sub as_reference {
    my ($have, $want, $options) = @_;
    for ($have, $want) {
        my %flat;
        for my $edge (keys %$_) {
            my $name = $options =~ /contexts|skip|builtins/ ? $edge =~ s/.* > //r : $edge;
            $flat{$name} += $_->{$edge}
                unless $options =~ /skip/ && $name =~ /^Coro::/ || $name =~ m{^CORE:|> CORE:};
        }
        $_ = \%flat;
    }
    return map { "$_: " . ($have->{$_} // 0) . ' calls, ' . ($want->{$_} // 0) . ' in the trace' }
        grep { ($have->{$_} // 0) != ($want->{$_} // 0) } sort keys %{ { %$have, %$want } };
}

sub said {
    my ($run) = @_;
    return $run->{out} =~ s/^wrong: .*\n//gmr =~ s/^checks \d+\K.*//mr . "\n" . $run->{err}
}

# Runs all seeds with the module in @$inc. Returns the number of bad programs.
sub fuzz {
    my ($inc, $quiet, $enough) = @_;
    my %n = map { $_ => 0 } qw(programs runs skipped checks calls bad);
    local @ENV{qw(PERL_HASH_SEED PERL_PERTURB_KEYS)} = (0, 0);
    for my $seed ($opt{seed} .. $opt{seed} + $opt{programs} - 1) {
        my $program = "$work/p$seed.pl";
        open my $out, '>', $program or die "$program: $!\n";
        print $out CoroProgram::program($seed, $opt{rounds});
        close $out;
        my $plain = run(join ' ', $opt{perl}, map({ "-I$_" } @$inc), $program);
        if ($plain->{status} || !CoroProgram::ran($plain)) {
            print "seed $seed: Coro itself does not get through: ", $plain->{err} =~ /^(.*)/m, "\n"
                unless $quiet;
            $n{skipped}++;
            next;
        }
        my %about = (until => 'main::printing', unwinding => $CoroProgram::UNWINDING, edges => {});
        my ($run, @wrong) = profiled($inc, $program, 'mode=trace', \%about);
        push @wrong, CoroProgram::compare($run->{out}, \%about) unless @wrong;
        push @wrong, 'plain and profiled print different things' if said($plain) ne said($run);
        my @others = $mode{tree} ? join ',', 'mode=tree', $opt{options} // () : ();
        push @others, map { "mode=$_,$mix{$_}[$seed % @{ $mix{$_} }]" } $opt{mixed}
            ? sort keys %mode : ();
        for my $options (@wrong ? () : @others) {
            my %has = (edges => {});
            my ($again, @bad) = profiled($inc, $program, $options, \%has);
            push @bad, $again->{out} =~ /^wrong: (.*)/mg unless $options =~ /builtins/;
            push @bad, 'plain and profiled print different things' if said($plain) ne said($again);
            push @bad, as_reference($has{edges}, $about{edges}, $options) unless @bad;
            push @wrong, map { "$options: $_" } @bad > 5 ? @bad[0 .. 4] : @bad;
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

sub main {
    my ($inc) = @_;
    make_path("$inc/Devel/DProf");
    copy("$top/lib/Devel/DProf/Control.pm", "$inc/Devel/DProf/Control.pm")
        or die "Control.pm: $!\n";
    my $n = fuzz([$inc]);
    printf "%d programs, %d profiled runs, %d checks of the charged sub, %d calls recorded: %d "
        . "programs wrong, %d did not run\n",
        @$n{qw(programs runs checks calls bad skipped)};
    return $n->{bad} || !$n->{programs} ? 1 : 0;
}

# Lists files of xs/ and the code that is taken out of them, one at a time.
sub sensitivity {
    my @out = (
        ['the wrapper of pp_slf', 'hook/dpx_slf.c', qr/^\s*op->op_ppaddr = dpx_slf_hook;\n/m, "\n"],
        ['what is done after it', 'hook/dpx_slf.c', qr/(OP \*next = orig_slf\(aTHX\);\n)/,
            "OP *next = orig_slf(aTHX);\n    return next;\n"],
        ['the switch', 'record/dpx_coro.c',
            qr/^\s*dpx_coro_switch\(aTHX_ ctx, PL_mainstack, now\);\n/m,
            "\n    ctx->mainstack = PL_mainstack;\n"],
        ['the run loop put back', 'record/dpx_coro.c',
            qr/if \(PL_runops == dpx_run.loop_before.*/, 'if (0)'],
        ['the op put back', 'hook/dpx_hook.c',
            qr/if \(DP_UNLIKELY\(op->op_ppaddr == dpx_slf_hook\)\)/, 'if (0)'],
        ['the height of the C stack', 'hook/dpx_slf.c', qr/PL_op->op_ppaddr = dpx_slf_hook;/,
            '(void)0;'],
        ['the end of visits', 'hook/dpx_slf.c',
            qr/if \(type == PERLSI_DESTROY \|\| type == PERLSI_MAGIC\)/, 'if (type < -1000)'],
    );
    my $tree = "$work/tree";
    system('cp', '-a', $top, $tree) == 0 or die "cp failed\n";
    my $blind = 0;
    for (@out) {
        my ($what, $file, $find, $put) = @$_;
        (my $text = slurp("$top/xs/$file")) =~ s/$find/$put/ or do {
            print "$what: not found in xs/$file\n";
            $blind++;
            next;
        };
        open my $out, '>', "$tree/xs/$file" or die $!;
        print $out $text;
        close $out;
        my $failed = system "cd $tree && make >make.log 2>&1";
        copy("$top/xs/$file", "$tree/xs/$file") or die $!;     # for the next one
        if ($failed) { print "$what: does not build\n"; $blind++; next }
        my $n = fuzz([map { "$tree/blib/$_" } qw(lib arch)], 1, 1);
        printf "without %-24s %s\n", $what, $n->{bad} ? "noticed by program $n->{programs}"
            : "NOT NOTICED by $n->{programs} programs";
        $blind++ unless $n->{bad};
    }
    return $blind ? 1 : 0;
}
