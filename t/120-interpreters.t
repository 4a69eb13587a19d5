# Several interpreters in one process, as mod_perl, PL/Perl, uWSGI and others have them. Each that
# asks for a recorder has a file of its own, the others do not notice, whatever order they begin
# and end in. t/lib/host.c is the program that embeds them.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Config;
use Test::More;
use DProfTest;
use RunReader;

plan skip_all => 'a perl without MULTIPLICITY has one interpreter' if !$Config{usemultiplicity};

my $host = build_host();
plan skip_all => "no program that embeds this perl can be built: $host->{why}" if $host->{why};

# Returns the path of the program, or why it cannot be built.
sub build_host {
    my $program = scratch() . '/host';
    my $flags = `$^X -MExtUtils::Embed -e 'ccopts; ldopts' 2>&1`;
    return { why => 'ExtUtils::Embed is missing' } if $?;
    $flags =~ s/\s+/ /g;
    my $said = `$Config{cc} -o $program $FindBin::Bin/lib/host.c $flags 2>&1`;
    return { path => $program } if $? == 0;
    die "DPROF_EMBED is set, but: $said" if $ENV{DPROF_EMBED};
    return { why => (split /\n/, $said)[-1] // 'the compiler failed' };
}

# Runs the commands, words of each in a list, with -d:DProf as it stands there or without it.
sub run_host {
    my ($commands, $profiled, %opt) = @_;
    my $input = join '', map { join("\t", @$_) . "\n" } @$commands;
    $input =~ s/-(?:d:DProf|MDevel::DProf)[^\t\n\"]*/-w/g if !$profiled;
    my $dir = scratch();
    spew("$dir/commands", $input);
    return run_program([$host->{path}], dir => $dir, stdin => "$dir/commands", limit => 60,
        env => { PERL5LIB => $opt{lib} // tree(), counting(), %{ $opt{env} // {} } });
}

# Runs the commands plain and profiled, and compares what the program does, how many calls are
# recorded of each sub, and the number of files.
sub host_ok {
    my ($name, $commands, $files, $calls, %opt) = @_;
    my ($plain, $run) = map { run_host($commands, $_, %opt) } 0, 1;
    my @problems = map { "$_: $run->{$_} for $plain->{$_}" }
        grep { $run->{$_} ne $plain->{$_} } qw(out err status signal);
    my @left = grep { !/\.live\z/ } run_files($run);
    push @problems, @left . " files for $files: @left" if @left != $files;
    my ($got, @outcomes) = @left ? calls_of_run("$run->{dir}/$left[0]") : ({});
    push @problems, "--processes reads @{[scalar @outcomes]} of them" if @outcomes != $files;
    push @problems, map { "$_: " . ($got->{"main::$_"} // 'no') . " calls for $calls->{$_}" }
        grep { ($got->{"main::$_"} // 0) != $calls->{$_} } sort keys %$calls;
    push @problems, wrong_sums("$run->{dir}/$left[0]") if @left;
    is(join("\n", @problems), '', "the files of all interpreters are right: $name");
    return $run;
}

# An interpreter of this number, which counts its calls itself and prints them at its end.
sub make {
    my ($n, $switch, $more) = @_;
    return [make => $n, $switch, "\$| = 1; our \$n = 0; sub f$n { \$n++; 1 } "
        . "END { print \"$n: \$n\\n\" } " . ($more // '')];
}

for (MODES) {
    my ($mode, $env) = @$_;
    my %env = (env => $env);
    host_ok("two alive at once, $mode", [make(0, '-d:DProf'), make(1, '-d:DProf'),
        [run => 0, 'f0() for 1 .. 3'], [run => 1, 'f1() for 1 .. 2'], [run => 0, 'f0()']],
        2, { f0 => 4, f1 => 2 }, %env);
    host_ok("one after the other, $mode", [map { (make($_, '-d:DProf', "f$_()"),
        [run => $_, "f$_() for 1 .. $_"], [end => $_]) } 0 .. 3],
        4, { f0 => 1, f1 => 2, f2 => 3, f3 => 4 }, %env);
    host_ok("one inside a callback of the other, $mode", [make(0, '-d:DProf',
        'sub in { host::make(1, "-d:DProf", q(sub f1 { 1 } f1(); sub deep { '
            . 'host::run(0, "f0(); die q(no)") for 1 .. 2; f1() } deep())); '
            . 'f0(); host::end(1) } in()'
    ), [run => 0, 'f0()']], 2, { f0 => 4, f1 => 2, in => 1, deep => 1 }, %env);
    host_ok("one asks, one does not, $mode", [make(0, '-d:DProf'), make(1, '-w'),
        [run => 1, 'f1(); host::run(0, "f0(); host::run(1, q(f1()))")'], [end => 0],
        [run => 1, 'f1() for 1 .. 3'], make(2, '-w'), [run => 2, 'f2(); f2()']],
        1, { f0 => 1, f1 => 0, f2 => 0 }, %env);
    host_ok("die, last, sort, eval, exit in one, $mode", [make(0, '-d:DProf'), make(1, '-d:DProf'),
        [run => 0, 'sub d { host::run(1, q(sub e { eval { die 1 }; f1(); die 2 } e())); die 3 } '
            . 'eval { d() }; my @s = sort { f0(); $a <=> $b } 2, 1; '
            . 'for (1) { sub l { no warnings; last } l() } f0(); exit 3'],
        [run => 1, 'the process has ended by then']],
        2, { f0 => 2, f1 => 1, d => 1, e => 1, l => 1 }, %env);
    host_ok("a fork with two alive, $mode", [make(0, '-d:DProf'), make(1, '-d:DProf'),
        [run => 0, 'f0(); our $p = fork; host::run(1, "f1()"); f0(); wait if $p'],
        [run => 1, 'f1()'], [run => 0, 'f0()']], 4, { f0 => 5, f1 => 4 }, %env);
    host_ok("a process that leaves without ending them, $mode",
        [make(0, '-d:DProf'), make(1, '-d:DProf'), [run => 1, 'f1()'], [run => 0, 'f0()'],
        [free => 0], [free => 1]], 2, { f0 => 1, f1 => 1 }, %env);
    host_ok("_exit in one, $mode", [make(0, '-d:DProf'), make(1, '-d:DProf', 'use POSIX ();'),
        [run => 0, 'f0()'], [run => 1, 'f1(); POSIX::_exit(5)']], 2, { f0 => 1, f1 => 1 }, %env);
    host_ok("exec in one, $mode", [make(0, '-d:DProf'), make(1, '-d:DProf'),
        [run => 0, 'f0()'], [run => 1, 'f1(); no warnings; exec "./no such program"; f1()'],
        [run => 0, 'f0()'], [run => 1, 'exec "echo", "replaced"']], 2, { f0 => 2, f1 => 2 }, %env);
}

SKIP: {
    skip 'this perl has no threads', 1 if !$Config{useithreads};
    host_ok('threads of both', [make(0, '-d:DProf', 'use threads;'), make(1, '-d:DProf'),
        [run => 0, 'threads->create(sub { f0() for 1 .. 3; $n })->join; f0()'],
        [run => 1, 'require threads; threads->create(sub { f1() for 1 .. 2; 0 })->join; f1()']],
        4, { f0 => 4, f1 => 3 });
}

# The next run moves all files of the run before aside.
my $again = host_ok('a run', [make(0, '-d:DProf'), make(1, '-d:DProf'), [run => 1, 'f1()']], 2, {});
run_program([$^X, PROFILER(), '-e', '1'], dir => $again->{dir}, env => { counting() });
like(join(' ', run_files($again)), qr/\Atmon\.out tmon\.out\.old tmon\.out\.old\.\d+\.i1\z/,
    'the next run moves the files of all interpreters aside');

# The options are the process's; a file may be the interpreter's own.
my $run = run_host([make(0, '-d:DProf=tree'), make(1, '-d:DProf=tree,out=own.out'),
    [run => 1, 'f1(); our $p = fork; f1(); wait if $p'], [run => 0, 'f0()']], 1);
my ($calls) = calls_of_run("$run->{dir}/own.out");
is_deeply([scalar(map { glob "$run->{dir}/$_" } 'own.out*', 'tmon.out*'),
    $calls->{'main::f0'}, $calls->{'main::f1'}],
    [4, undef, 3], 'out= of the second interpreter is its own');
is($run->{err}, '', 'out= of the second interpreter gives no message');
$run = run_host([make(0, '-d:DProf=tree,out=a.out'), make(1, '-d:DProf=callsites=1,out=b.out')], 1);
is($run->{err}, "DProf: the first interpreter of this process has the options 'tree'; those of "
    . "another one, 'callsites=1', are ignored\n", 'other options are ignored with a message');
$run = run_host([make(0, '-d:DProf'), make(1, '-d:DProf=tree,nonsense')], 1);
like($run->{err}, qr/DProf: .*nonsense/, 'a mistake in the options of the second is reported');

# Names of their own that interpreters have had before, one after the other.
$run = run_host([make(0, '-d:DProf=tree'), map { (make(1, '-d:DProf=tree,out=own.out', 'f1()'),
    [end => 1]) } 1 .. 3], 1);
($calls) = calls_of(my @own = grep { !/\.old\z/ } glob "$run->{dir}/own.out*");
is(@own . " $calls->{'main::f1'}", '3 3', 'no interpreter takes the name of another one');

# The host's thread ends the process while another thread runs an interpreter that it has made.
for my $switch ('-d:DProf=tree', '-d:DProf', '-d:DProf=sample=1000') {
    my @bad = grep { $_->{raw} || $_->{err} ne '' } map { run_host([make(0, $switch),
        make(1, $switch), [away => 1, 'f1() while 1'], [work => 20 + $_], [run => 0, 'f0()'],
        [free => 0], [free => 1]], 1) } 1 .. 3;
    is(scalar @bad, 0, "the file of an interpreter in another thread is whole at the end, $switch")
        or diag explain $bad[0];
}

# Another program cuts the mapped file of an interpreter, which the thread touches from outside.
my $cut = 'truncate $_, 0 for glob("*.i1.live"); f0(); ';
for my $options ('tree', 'tree,lines', 'trace') {
    next if $options =~ /lines/ && !grep { $_->[0] eq 'lines' } MODES;
    for my $then ('exec "echo", "replaced"', 'my $p = fork; exit 0 if !$p; wait; print "here\n"',
        'use POSIX (); POSIX::_exit(0)') {
        my @commands = ([make => 0, "-d:DProf=$options", 'sub f0 { 1 } f0()'],
            [make => 1, "-d:DProf=$options", 'sub f1 { 1 } f1()'], [run => 1, 'f1() for 1 .. 10'],
            [run => 0, "$cut$then"]);
        my ($plain, $cut_off) = map { run_host(\@commands, $_) } 0, 1;
        is("$cut_off->{out} $cut_off->{raw}", "$plain->{out} $plain->{raw}",
            "the program goes on after the file of another interpreter was cut, $options, $then")
            or diag $cut_off->{err};
    }
}

# Counters of an interpreter are its own, also where another one, or none, is the thread's.
host_ok('counters, at the end of the process', [make(0, '-d:DProf=tree,events=svs'),
    make(1, '-d:DProf=tree,events=svs'), [run => 1, 'f1()'], [free => 0], [free => 1]],
    2, { f1 => 1 });

# The first interpreter may not record, and the second has no debugger's prompt, either.
for my $first (['-c', '-d:DProf=tree'], ['-d:DProf=tree,out=/nonexistent/x'], ['-d:DProf=none']) {
    my $second = run_host([[make => 0, @$first, 'print 1'],
        [make => 1, '-d:DProf=tree', 'sub f1 { 1 } f1(); print "two\n"']], 1);
    unlike("$second->{out}$second->{err}", qr/perl5db|DB<1>/, "no debugger starts after @$first");
    like($second->{out}, qr/^two$/m, "the second interpreter runs after @$first");
}

# With samples the second has no debugger's prompt, either, and one may begin to sample by itself.
my @lib = (lib => join ':', map { root() . "/blib/$_" } qw(lib arch));
for my $switch ('-d:DProf=sample=1000', '-MDevel::DProf::Sample') {
    host_ok("samples, $switch", [make(0, $switch), make(1, $switch),
        [run => 0, 'f0() for 1 .. 5000'],
        [run => 1, 'f1() for 1 .. 3000; host::run(0, "f0() for 1 .. 3")'], [end => 0],
        make(2, $switch), [run => 2, 'f2()']], 3, {}, @lib);
}
host_ok('samples that the second interpreter begins', [make(0, '-w'),
    make(1, '-MDevel::DProf::Sample'), [run => 0, 'f0() for 1 .. 5000'],
    [run => 1, 'f1() for 1 .. 3000']], 1, {}, @lib);

# What the program around perl computes is no time of perl's compiler.
for my $more ('', 'exit 3') {
    $run = run_host([make(0, '-d:DProf=sample=1000', $more), [work => 150], [run => 0, 'f0()'],
        [work => 150], [run => 0, 'f0()']], 1, env => { PERL_DPROF_CLOCK => undef });
    my ($profile) = Devel::DProf::Profile->new;
    $profile->add("$run->{dir}/tmon.out");
    my ($all, $compile) = (0, 0);
    for my $row ($profile->rows({ rows => 1000, program => 1 })) {
        $all += $row->[2];
        $compile += $row->[2] if $row->[0] =~ /^\(compile\)/;
    }
    cmp_ok($compile, '<', $all / 2, "work outside of perl is not compile time, $more");
}

# Random interpreters: up to eight, which begin, run, call each other and end in any order.
sub random_commands {
    my ($random) = @_;
    my (@commands, %alive, %busy, %calls, %profiled, $made);
    my $code;
    $code = sub {
        my ($n, $depth) = @_;
        local $busy{$n} = 1;
        my @does;
        for (1 .. 1 + int $random->(3)) {
            my $what = $random->(4);
            my @others = grep { !$busy{$_} } sort keys %alive;
            if ($what < 1 && @others && $depth < 3) {
                my $other = $others[$random->(scalar @others)];
                push @does, "host::run($other, q(" . $code->($other, $depth + 1) . '))';
            } elsif ($what < 2) {
                $calls{"f$n"} += 2;
                push @does, "eval { f$n(); f$n(); die 1 }";
            } elsif ($what < 3) {
                $calls{"f$n"} += 3;
                push @does, "f$n() for 1 .. 3";
            } else {
                $calls{"f$n"}++;
                push @does, "f$n()";
            }
        }
        return join '; ', @does;
    };
    for my $step (1 .. 25) {
        my @alive = sort keys %alive;
        my $what = $random->(10);
        if (!@alive || ($what < 3 && ($made // 0) < 8)) {
            my $n = $made++ // 0;
            $made //= 1;
            $profiled{$n} = $n == 0 || $random->(3) < 2;
            $alive{$n} = 1;
            push @commands, make($n, $profiled{$n} ? '-d:DProf' : '-w');
        } elsif ($what < 4 && @alive > 1) {
            my $n = $alive[$random->(scalar @alive)];
            delete $alive{$n};
            push @commands, [end => $n];
        } else {
            my $n = $alive[$random->(scalar @alive)];
            push @commands, [run => $n, $code->($n, 0)];
        }
    }
    delete @calls{map { "f$_" } grep { !$profiled{$_} } keys %profiled};
    return (\@commands, scalar(grep { $_ } values %profiled), \%calls);
}

my $seed = $ENV{DPROF_SEED} // 1;
for my $number (1 .. ($ENV{EXTENDED_TESTING} ? 60 : 8)) {
    my $state = $seed * 1000 + $number;
    my $random = sub {
        $state = ($state * 1103515245 + 12345) % 2**31;
        return ($state >> 8) % $_[0];
    };
    my ($mode, $env) = @{ (some_modes($number, MODES))[0] };
    host_ok("random interpreters, seed $seed, number $number, $mode",
        random_commands($random), env => $env);
}

done_testing;
