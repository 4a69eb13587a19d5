package Bench;

# The common code of the benchmarks: the list of profilers, running a program under them in turn,
# and medians. Costs are CPU time that the program itself reads, so that other processes and the
# waiting parent do not count.

use strict;
use warnings;
use Config;
use Exporter 'import';
use File::Spec;
use File::Temp;
use FindBin;

our @EXPORT_OK =
    qw(sides run_side rounds programs median spread table note top scratch ours_version best
        took compiled gen_marks gen_tree tool kinds_of_lines shares sign_interval);

my $top = File::Spec->rel2abs("$FindBin::Bin/..");
sub top { $top }

my $scratch;
sub scratch { $scratch //= File::Temp->newdir('dprof-bench-XXXXXX', TMPDIR => 1); "$scratch" }

# ---- reading ----

# Compiles a C program of bench/, once. Returns its path.
sub compiled {
    my ($name) = @_;
    my $path = scratch() . "/$name";
    -e $path or system($ENV{CC} || 'cc', '-O2', '-o', $path, "$top/bench/$name.c") == 0
        or die "no C compiler\n";
    return $path;
}

# Writes a trace of that many marks. Different seeds give different programs.
sub gen_marks {
    my ($path, $marks, $seed) = @_;
    my $gen = compiled('gen-marks');
    system("$gen $marks " . ($seed // 1) . " > $path") == 0 or die "gen-marks failed\n";
}

# Writes a tree of that many contexts, at most 40 deep. Most of them are near the root, or, if deep
# is set, 20 deep on the average: a context calls one, or is followed by one that is no deeper.
sub gen_tree {
    my ($path, $contexts, $subs, $seed, $deep) = @_;
    srand($seed // 1);
    open my $out, '>', $path or die "$path: $!";
    print {$out} "#fOrTyTwO\n\$hz=10000000;\n",
        "\$dprof_format='tree 1'; \$dprof_complete=1;\n\nPART3\n";
    printf {$out} "& %x P%d s%d f.pl:%d\n", $_, $_ % 50, $_, $_ for 1 .. $subs;
    print {$out} "= 0 0 1 10 0 10 0 0\n";
    my $depth = 0;
    for (2 .. $contexts) {
        $depth = $deep ? after($depth) : 1 + int rand($depth < 40 ? $depth + 1 : 40);
        my $ticks = int rand 1000;
        printf {$out} "= %d %x %d %d 0 %d 10 1\n", $depth, 1 + int rand $subs, 1 + int rand 100,
            $ticks, $ticks;
    }
    close $out or die "$path: $!";
}

sub after {
    my ($depth) = @_;
    my $chance = rand;
    return $depth < 40 ? $depth + 1 : 40 if $chance < 0.5;
    my $next = $chance < 0.75 ? $depth : $depth - 1 - int rand 3;
    return $next > 0 ? $next : 1;
}

# Returns one of our tools with its arguments, as a shell command.
sub tool {
    my ($name, @args) = @_;
    return join ' ', map { quotemeta } $^X, "-I$top/blib/lib", "-I$top/blib/arch",
        "$top/bin/$name", @args;
}

# Returns the CPU seconds and the elapsed seconds of a command, the best of RUNS.
sub best {
    my ($command) = @_;
    require Time::HiRes;
    my ($cpu, $real);
    for (1 .. $ENV{RUNS} || 5) {
        my ($start, @before) = (Time::HiRes::time(), times);
        system("$command >/dev/null 2>&1");
        my ($end, @after) = (Time::HiRes::time(), times);
        my $t = $after[2] + $after[3] - $before[2] - $before[3];
        $cpu = $t if !defined $cpu || $t < $cpu;
        $real = $end - $start if !defined $real || $end - $start < $real;
    }
    return wantarray ? ($cpu, $real) : sprintf '%.3f s (CPU %.3f)', $real, $cpu;
}

# Returns the elapsed seconds, the CPU seconds and the peak memory in MB of a command, the best of
# RUNS. Returns nothing if the command fails.
sub took {
    my ($command) = @_;
    my $measure = compiled('measure');
    my @best;
    note($command);
    for (1 .. $ENV{RUNS} || 3) {
        my $told = `$measure '@{[ $command =~ s/'/'\\''/gr ]}'`;
        return if $?;
        my ($user, $system, $real, $kb) = split ' ', $told;
        @best = ($real, $user + $system, $kb / 1024) if !@best || $real < $best[0];
    }
    return @best;
}

sub note { print STDERR "# @_\n" if -t STDERR }

# Returns the folder where the user has unpacked the classic profiler, whose module has our name.
sub old_lib {
    my $lib = $ENV{DPROF_OLD_LIB} or return;
    return -e "$lib/Devel/DProf.pm" ? $lib : undef;
}

sub has_nytprof { !system("$^X -MDevel::NYTProf::Core -e1 >/dev/null 2>&1") }

# Returns the sides of Devel::StatProfiler at two rates, from the folder where the user has built
# it.
sub stat_profiler {
    my ($out) = @_;
    my $dir = $ENV{DPROF_STATPROFILER} or return;
    return map { [ "StatProfiler, $_" => [ "-I$dir/blib/lib", "-I$dir/blib/arch",
        '-MDevel::StatProfiler=-interval,' . 1_000_000 / $_ . ",-file,$out" ], {} ] } 100, 1000;
}

my @ours = ("-I$top/blib/lib", "-I$top/blib/arch");

# Returns the sides, [ name => options of perl, environment ], in the order in which they run.
sub sides {
    my @want = @_;
    my $out = scratch() . '/out';
    my @all = (
        [ plain          => [], {} ],
        [ 'DProf'        => [ @ours, '-d:DProf' ], { PERL_DPROF_OUT_FILE_NAME => $out } ],
        [ 'DProf, tree'  => [ @ours, '-d:DProf=tree' ], { PERL_DPROF_OUT_FILE_NAME => $out } ],
        [ 'DProf, lines=count' => [ @ours, '-d:DProf=tree,lines=count' ],
            { PERL_DPROF_OUT_FILE_NAME => $out } ],
        [ 'DProf, lines' => [ @ours, '-d:DProf=tree,lines' ],
            { PERL_DPROF_OUT_FILE_NAME => $out } ],
        [ 'DProf, callsites=1' => [ @ours, '-d:DProf=tree,callsites=1' ],
            { PERL_DPROF_OUT_FILE_NAME => $out } ],
        [ 'DProf, stopped' => [ @ours, '-d:DProf=sample=100,start=no' ],
            { PERL_DPROF_OUT_FILE_NAME => $out } ],
        map({ [ "DProf, sample=$_" => [ @ours, "-d:DProf=sample=$_" ],
            { PERL_DPROF_OUT_FILE_NAME => $out } ] } 1, 100, 1000),
        stat_profiler("$out.stat"),
        [ 'DProf, compress=1' => [ @ours, '-d:DProf=compress=1' ],
            { PERL_DPROF_OUT_FILE_NAME => $out } ],
        [ 'DProf, tree, compress=1' => [ @ours, '-d:DProf=tree,compress=1' ],
            { PERL_DPROF_OUT_FILE_NAME => $out } ],
        [ 'DProf, clock_gettime' => [ @ours, '-d:DProf' ],
            { PERL_DPROF_OUT_FILE_NAME => $out, PERL_DPROF_CLOCK => 'monotonic' } ],
    );
    if (has_nytprof()) {
        push @all,
            [ 'NYTProf' => ['-d:NYTProf'], { NYTPROF => "file=$out.nyt" } ],
            [ 'NYTProf, subs=0' => ['-d:NYTProf'], { NYTPROF => "subs=0:file=$out.nyt" } ],
            [ 'NYTProf, lean' => ['-d:NYTProf'],
                { NYTPROF => "stmts=0:slowops=0:calls=0:file=$out.nyt" } ],
            [ 'NYTProf, stmts=0' => ['-d:NYTProf'], { NYTPROF => "stmts=0:file=$out.nyt" } ];
    } else {
        print "Devel::NYTProf is not installed (Debian: libdevel-nytprof-perl): not compared\n";
    }
    if (my $lib = old_lib()) {
        push @all, [ 'old DProf' => [ "-I$lib", '-d:DProf' ],
            { PERL_DPROF_OUT_FILE_NAME => $out } ];
    } else {
        print "DPROF_OLD_LIB does not name the classic Devel::DProf, unpacked: not compared\n";
    }
    return @all unless @want;
    my %want = map { $_ => 1 } @want;
    return grep { $want{ $_->[0] } } @all;
}

# Runs a program. Returns the numbers that it prints on lines `=NAME NUMBER`.
sub run_side {
    my ($side, @program) = @_;
    my ($name, $options, $env) = @$side;
    local @ENV{ keys %$env } = values %$env;
    unlink $env->{PERL_DPROF_OUT_FILE_NAME} if $env->{PERL_DPROF_OUT_FILE_NAME};
    my $dir = scratch();
    open my $fh, '-|', $^X, @$options, @program or die "bench: cannot run $^X: $!\n";
    my %got;
    while (<$fh>) { $got{$1} = $2 if /^=(\S+) (\S+)$/ }
    close $fh or die "bench: @program failed under $name (status $?)\n";
    return \%got;
}

# Returns { side name => { number's name => [values, one a round] } }. Each round runs all sides in
# turn, so that a drift of the machine's speed affects all alike.
sub rounds {
    my ($n, $sides, @program) = @_;
    my %all;
    for my $round (0 .. $n) {
        for my $side (@$sides) {
            note("round $round of $n: $side->[0]");
            my $got = run_side($side, @program);
            next unless $round;     # the first round warms caches
            push @{ $all{ $side->[0] }{$_} }, $got->{$_} for keys %$got;
        }
    }
    return \%all;
}

# Returns the installed ones of some real programs, [title, command of perl], and reports the
# others.
sub programs {
    my ($pod) = grep { -e }
        map { ("$_/pod/perlfunc.pod", "$_/perlfunc.pod", "$_/pods/perlfunc.pod") }
        $Config{privlibexp}, @INC;
    my ($tidy) = grep { -x } map { ("$_/perltidy") } split /:/, $ENV{PATH};
    my ($big) = grep { -e } map { ("$_/perl5db.pl") } @INC;
    my @programs;
    push @programs, [ 'pod2text perlfunc.pod', "$FindBin::Bin/pod2text.pl", $pod ] if $pod;
    push @programs, [ 'perltidy perl5db.pl', "$FindBin::Bin/perltidy.pl", $tidy, $big ]
        if $tidy && $big;
    print "perlfunc.pod not found (Debian: perl-doc)\n" unless $pod;
    print "perltidy not found (Debian: perltidy)\n" unless $tidy;
    return @programs;
}

# ---- truth ----

# Returns the kind of each line of a program. A comment `# kind: NAME` gives the kind of the lines
# up to the next such comment.
sub kinds_of_lines {
    my ($path) = @_;
    open my $in, '<', $path or die "$path: $!\n";
    my ($kind, @kinds);
    while (<$in>) {
        $kind = length $1 ? $1 =~ tr/ /_/r : undef if /^# kind: ?(.*)/;
        $kinds[$.] = $kind;
    }
    return @kinds;
}

# Returns { kind => share of all kinds }.
sub shares {
    my ($of) = @_;
    my ($all, %share) = (0);
    $all += $_ for values %$of;
    $share{$_} = $all ? $of->{$_} / $all : 0 for keys %$of;
    return \%share;
}

sub median {
    my @v = sort { $a <=> $b } @_;
    return 0 unless @v;
    return @v % 2 ? $v[ $#v / 2 ] : ($v[ @v / 2 - 1 ] + $v[ @v / 2 ]) / 2;
}

# Returns the median, with so many digits, and its 95 % confidence interval by the sign test
# (Conover 1999, 3.2): the values at the ranks that n throws of a coin exceed in 95 of 100 cases.
sub sign_interval {
    my ($digits, @values) = @_;
    my @v = sort { $a <=> $b } @values;
    my ($n, $below, $tail, $rank) = (scalar @v, 2**-@v, 0, 0);
    while ($tail + $below <= 0.025) {
        $tail += $below;
        $rank++;
        $below *= ($n - $rank + 1) / $rank;
    }
    return (sprintf("%.${digits}f", median(@v)),
        $rank ? sprintf("(%.${digits}f-%.${digits}f)", $v[ $rank - 1 ], $v[ $n - $rank ]) : '');
}

sub spread {
    my @v = sort { $a <=> $b } @_;
    return ($v[0], $v[-1]);
}

sub table {
    my ($head, @rows) = @_;
    my @width;
    for my $row ($head, @rows) {
        for my $i (0 .. $#$row) {
            my $len = length($row->[$i] // q{});
            $width[$i] = $len if $len > ($width[$i] // -1);
        }
    }
    for my $row ($head, @rows) {
        my $line = sprintf '%-*s', $width[0], $row->[0];
        $line .= sprintf '  %*s', $width[$_], $row->[$_] // '' for 1 .. $#width;
        print "$line\n";
    }
    print "\n";
}

sub ours_version {
    my $file = scratch() . '/clock.out';
    local $ENV{PERL_DPROF_OUT_FILE_NAME} = $file;
    system($^X, @ours, '-d:DProf', '-e', '1') == 0 or die "bench: run make first\n";
    open my $fh, '<', $file or die "bench: $file: $!\n";
    local $/;
    my $text = <$fh>;
    my ($clock) = $text =~ /\$dprof_clock='(\w+)'/;
    my ($version) = $text =~ /XS_VERSION='([^']+)'/;
    return "$version, clock $clock, perl $], $Config{archname}";
}

1;
