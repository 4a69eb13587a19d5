package OptionPairs;

# Options of the recorder in pairs: each two values of two options meet in one recording of a
# program that does all that changes what is recorded. Shared by t/107-option-pairs.t, which records
# some of them, and xt/check-pairs.t, which records all and reads them with every tool.

use strict;
use warnings;
use Config;
use Exporter 'import';
use DProfTest;
use RunReader;
use StrictProfile;

our @EXPORT = qw(option_rows option_names row_name row_env record_row wrong_in_files);

my $HAS_LINES = !defined no_lines();

# The values of each option. undef is the default.
my @OPTIONS = (
    [mode => undef, 'tree'], [lines => undef, $HAS_LINES ? qw(time count) : ()],
    [start => undef, 'main', 'mark', 'no'], [sample => undef, 5000], [slice => undef, 1],
    [spool => undef, 'spool'], ['spool-limit' => undef, '40K'], [fork => undef, 'no'],
    [threads => undef, 'no'], [ops => undef, 0], [callsites => undef, 1], [source => undef, 1],
    [events => undef, 'ops+?svs+?bytes', '?page-faults', '?task-clock+?context-switches'],
    [only => undef, '^main::(?!skipped)'], [skip => undef, 'g$'], [builtins => undef, 'slow'],
    [heap => undef, 'exact', 'sample'], ['heap-interval' => undef, '1K'],
    ['heap-types' => undef, 1], ['heap-holders' => undef, 3],
    [detail => undef, 'all', 'sql'], ['span-texts' => undef, 2], ['span-length' => undef, 16],
    [compress => undef, 1, 9], [checkpoint => undef, 1], [limit => undef, 3000],
    [contexts => undef, 16], [buffer => undef, 0, 50], [ticks => undef, 1000, 1_000_000_000],
    [signal => undef, 'USR1'], [toggle => undef, 'USR2'], [layout => undef, 3],
    [clock => 'counting', 'counting:50000', undef], [out => undef, 'prof.%p.%t'],
);

# Returns the names of the options that are paired.
sub option_names { return map { $_->[0] } @OPTIONS }

# Returns whether the recorder takes a row that has these values: name => value.
sub fits {
    my ($row) = @_;
    my ($sample, $out) = @$row{qw(sample out)};
    my $tree = $row->{mode} || $row->{slice} || $row->{spool};
    # These are values that a row may still get, so a missing one is no fault.
    my $is = sub { my ($name, $set) = @_;
        return exists $row->{$name} && !defined $row->{$name} == !$set };
    return 0 if $row->{lines} && $sample;
    # Beside a tree, samples are of lines; and source= is the text of lines.
    return 0 if !$HAS_LINES && ($row->{source} || $sample && $row->{mode});
    return 0 if $row->{lines} && $is->('mode', 0) && $is->('slice', 0) && $is->('spool', 0);
    return 0 if $row->{source} && $is->('lines', 0) && $is->('sample', 0);
    return 0 if ($row->{'heap-types'} || $row->{'heap-holders'}) && $is->('heap', 0);
    return 0 if ($row->{heap} // '') eq 'exact'
        && ($sample || $row->{slice} || $row->{spool} || $is->('mode', 0));
    return 0 if ($row->{heap} // '') eq 'sample'
        && !grep { !$is->($_, 0) } qw(mode slice spool sample);
    return 0 if $out && ($row->{slice} || $row->{spool});
    return 0 if $sample && !$row->{mode} && exists $row->{mode}
        && ($row->{builtins} || ($row->{events} // '') =~ /^ops/);
    return 1;
}

# Returns rows, each a value for each option, so that each two values that fit are in one of them.
# This is greedy: a row takes the value that covers the most of the pairs that are left.
sub option_rows {
    my (%left, @rows);
    for my $a (0 .. $#OPTIONS) {
        for my $b ($a + 1 .. $#OPTIONS) {
            for my $v (1 .. $#{ $OPTIONS[$a] }) {
                for my $w (1 .. $#{ $OPTIONS[$b] }) {
                    my %two = ($OPTIONS[$a][0] => $OPTIONS[$a][$v],
                        $OPTIONS[$b][0] => $OPTIONS[$b][$w]);
                    $left{"$a.$v $b.$w"} = 1 if fits(\%two);
                }
            }
        }
    }
    while (my ($first) = sort keys %left) {
        my %at = map { split /\./ } split ' ', $first;
        my %row = map { $OPTIONS[$_][0] => $OPTIONS[$_][ $at{$_} ] } keys %at;
        for my $n (grep { !exists $at{$_} } 0 .. $#OPTIONS) {
            my ($best, $most) = (undef, -1);
            for my $v (1 .. $#{ $OPTIONS[$n] }) {
                next if !fits({ %row, $OPTIONS[$n][0] => $OPTIONS[$n][$v] });
                my $new = grep {
                    $left{ $_ < $n ? "$_.$at{$_} $n.$v" : "$n.$v $_.$at{$_}" }
                } keys %at;
                ($best, $most) = ($v, $new) if $new > $most;
            }
            last if !defined $best;
            $at{$n} = $best;
            $row{ $OPTIONS[$n][0] } = $OPTIONS[$n][$best];
        }
        my @in = sort { $a <=> $b } keys %at;
        for my $i (0 .. $#in) {
            delete $left{"$in[$i].$at{$in[$i]} $_.$at{$_}"} for @in[$i + 1 .. $#in];
        }
        push @rows, \%row if @in == @OPTIONS;   # else, no value of an option fits these two
    }
    return @rows;
}

# Returns a row as text, for the name of a test.
sub row_name {
    my ($row) = @_;
    return join(' ', map { "$_=$row->{$_}" } grep { defined $row->{$_} } option_names())
        || 'no options';
}

# Returns the environment variables of a row, as pairs.
sub row_env {
    my ($row) = @_;
    return map { ('PERL_DPROF_' . uc($_ =~ tr/-/_/r) => $row->{$_}) } sort keys %$row;
}

# The program ends with what it has computed. A child and a thread do the same as the program: they
# begin while recording is stopped or not, and start, stop, mark or hold first.
my $THREADS = $Config{useithreads} ? <<'END' : '';
for my $first (sort keys %first) {
    push @said, threads->create(sub { $first{$first}->(); all(3); "thread $sum" })->join;
}
END
our $PROGRAM = ($Config{useithreads} ? "use threads;\n" : '') . <<'END' . $THREADS . <<'END';
use strict; use warnings; no warnings qw(recursion redefine); use POSIX ();
use Devel::DProf::Control qw(start stop mark save hold held settle);
my ($sum, @said) = (0); $| = 1;
sub f { my $s = 0; $s += $_ for 1 .. $_[0]; $sum += $s; return $s }
sub g { return f($_[0]) + h($_[0]) } sub h { return $_[0] } sub skipped { return g(2) }
sub deep { my ($n) = @_; return $n ? deep($n - 1) : f(3) }
sub dies { f(2); die "out\n" } sub goes { goto &f }
sub statements { my $n = 0; $n++; $n += 2; $n *= 3; if ($n) { $n-- }
    for my $i (1 .. 20) { $n += $i } $n = "$n"; $n .= 'x'; return length $n }
sub DESTROY { f(1); return }
sub all {
    my ($n) = @_;
    for (1 .. $n) {
        f(10); g(3); skipped(); statements(); deep(5); goes(2); eval { dies() }; statements();
        my @s = sort { h($a) <=> h($b) } 3, 1, 2;
        eval 'no warnings; sub of_eval { f(1) } of_eval()';
        { my $o = bless [] } $sum += sprintf '%d', $s[0];
    }
    mark('next'); g(2); my $held = hold(1e-9); g(2); mark('held'); statements();
    my $fast = hold(1e6); f(3); held($held); f(2); held($fast); f(1); settle($fast); settle($held);
    stop(); statements(); g(4); mark('while stopped'); start(); statements(); g(4); save(); g(1);
    { no warnings; exec '/nowhere/at/all' } statements();
    kill USR1 => $$ if $ENV{DPROF_PAIR_USR1}; f(2);
    for (1, 2) { kill USR2 => $$ if $ENV{DPROF_PAIR_USR2}; f(2) }
    mark('main'); return;
}
my %first = (a_statement => sub { statements() }, b_start => sub { start() },
    c_stop => sub { stop(); statements(); start() }, d_mark => sub { statements(); mark('first') },
    e_hold => sub { my $held = hold(1e-9); f(3); settle($held) }, f_save => sub { save() });
# What a child does first is not within a sub.
sub child_of {
    my ($stopped, $first) = @_;
    stop() if $stopped; my $held = hold(1e-9); my $n = 0; my $pid = fork // die;
    if (!$pid) {
        $n++; $n += 2; $n *= 3; for my $i (1 .. 50) { $n += $i; $n -= 1; $n++ }
        if ($first eq 'start') { start() } elsif ($first eq 'stop') { stop() }
        elsif ($first eq 'mark') { mark('child') } elsif ($first eq 'hold') { settle(hold(1e-9)) }
        elsif ($first eq 'save') { save() } elsif ($first eq 'turn') { held(0) }
        elsif ($first eq 'settle') { settle($held) } elsif ($first eq 'call') { f(1) }
        elsif ($first eq '_exit') { POSIX::_exit(4) }
        $n++; start(); $n *= 2; all(2);
        exec $^X, '-e', 'exit 3' if $first eq 'exec';
        my $own = $first eq 'call' ? fork // die : undef;
        if (defined $own) { if (!$own) { all(1); exit 0 } waitpid $own, 0 }
        exit 2;
    }
    waitpid $pid, 0; push @said, "$first $?"; settle($held); start();
    return;
}
f(100); all(2);
for my $first (qw(statement start stop mark hold save turn settle call exec _exit)) {
    child_of($_, $first) for 0, 1;
}
END
print "$sum @said\n";
END
$PROGRAM .= "exit 5;\n";

# Records the program, and returns the runs plain and recorded.
my $plain;
# Runs the program with the options of a row. Returns what run_program returns, with the profiles in
# `files'.
sub record_row {
    my ($row) = @_;
    my $file = spew(scratch() . '/p.pl', $PROGRAM);
    $plain //= plain([$file], env => { PERL5LIB => tree() });
    my %signals = ($row->{signal} ? (DPROF_PAIR_USR1 => 1) : (),
        $row->{toggle} ? (DPROF_PAIR_USR2 => 1) : ());
    my $run = profiled([$file], env => { row_env($row), %signals });
    $run->{files} = [grep { !/\.live\z/ } map { glob "$run->{dir}/$_" }
        qw(tmon.out* prof.* spool/* tmon.spool/*)];
    # Each process says this once, if it still has a trace when it holds: children, too.
    $run->{err} =~ s/^DProf: a trace cannot drop what was fast[^\n]*\n//mg;
    $run->{err} =~ s/^DProf: \S+ has reached spool-limit=[^\n]*\n//mg;
    return ($plain, $run);
}

# Returns what is wrong in the files of a run, read in plain Perl. A number below zero is a huge one
# in them.
sub wrong_in_files {
    my ($run) = @_;
    my @wrong;
    # All of them are unpacked first, because sums look at all files of a run.
    for my $file (grep { slurp($_) =~ /\A\x1f\x8b/ } @{ $run->{files} }) {
        require IO::Uncompress::Gunzip;
        IO::Uncompress::Gunzip::gunzip($file, \my $text, MultiStream => 1);
        spew($file, $text);
    }
    for my $file (@{ $run->{files} }) {
        my $text = slurp($file);
        my $name = $file =~ s{\A\Q$run->{dir}\E/}{}r;
        # A slice in which nothing was recorded has no statements.
        push @wrong, map { "$name: $_" }
            grep { !/^statements come to , contexts to 0(?: 0)*\z/ } StrictProfile::problems($file),
            $text =~ /^(.*(?<!\S)\d{18,}.*)$/m ? "a huge number: $1" : (), wrong_sums($file);
    }
    return @wrong;
}

1;
