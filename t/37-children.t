# Children of all kinds, in each way of recording: who has a file, whose calls are in it, and that
# the program does not notice. t/47-processes.t reads traces mark by mark; here the sums count.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Glob ':bsd_glob';
use Test::More;
use DProfTest;
use RunReader;

# NAME, number of files that are left, CODE, calls over all of them.
my @programs = (
    ['one after the other', 21,
        'sub f { 1 } for my $n (1 .. 20) { my $p = fork; if (!$p) { f() for 1 .. $n; '
            . '$n % 2 ? exit 3 : POSIX::_exit(3) } waitpid $p, 0; print $? >> 8 }',
        { f => 210 }],
    ['descriptors', 13,
        'sub f { 1 } sub open_now { my @all = glob "/proc/self/fd/*"; return scalar @all } '
            . 'my @open; for my $n (1 .. 12) { my $p = fork; f(); if (!$p) { f(); '
            . 'exit open_now() } waitpid $p, 0; $open[$n] = join " ", $? >> 8, open_now() } '
        . 'print $open[2] eq $open[12] ? "as many\n" : "@open\n"', { f => 36 }],
    ['all at once', 26,
        'sub f { 1 } sub g { f() } my @p; for my $n (1 .. 25) { my $p = fork; '
            . 'if (!$p) { g() for 1 .. $n; exit 0 } push @p, $p } waitpid $_, 0 for @p; g()',
        { f => 326, g => 326 }],
    ['from deep below', 4,
        'sub f { 1 } sub deep { my $n = shift; return deep($n - 1) if $n; my $p = fork; f(); '
            . 'waitpid $p, 0 if $p; $p = fork; f(); waitpid $p, 0 if $p; f() } deep(5000); f()',
        { f => 14, deep => 5001 }],
    ['that record nothing', 1,
        'sub f { 1 } f(); system "true"; print `echo x`; open my $in, "-|", "echo", "y"; '
            . 'print <$in>; close $in; my $p = fork; if (!$p) { exec "true" } waitpid $p, 0; '
        . '$p = open my $kid, "|-"; if (!$p) { exec "cat" } close $kid; f()', { f => 2 }],
    ['open -| and |-', 3,
        'sub f { 1 } sub kid { f() for 1 .. 4; print "from kid\n"; exit } $| = 1; '
            . 'open(my $in, "-|") || kid(); print <$in>; close $in; '
        . 'if (!open my $out, "|-") { f(); print <STDIN>; exit } else { print $out "to kid\n"; '
        . 'f(); close $out } f()', { f => 7, kid => 1 }],
    ['a daemon without descriptors', 3,
        'sub f { 1 } f(); pipe my $r, my $w; my $p = fork; if (!$p) { POSIX::setsid(); '
            . 'my $q = fork; POSIX::_exit(0) if $q; chdir "/"; '
        . 'my $n = POSIX::dup(fileno $w); $_ == $n or POSIX::close($_) for 0 .. 1023; '
        . 'f() for 1 .. 3; exit } close $w; waitpid $p, 0; <$r>; f()',
        { f => 5, '_exit' => 1 }],
    ['in BEGIN', 2, 'sub f { 1 } BEGIN { my $p = fork; f(); if ($p) { waitpid $p, 0 } } f()',
        { f => 4 }],
    ['in END', 2, 'sub f { 1 } END { my $p = fork; f(); if ($p) { waitpid $p, 0 } f() } f()',
        { f => 5 }],
    ['in DESTROY', 2,
        'sub f { 1 } sub D::DESTROY { my $p = fork; f(); if ($p) { waitpid $p, 0 } '
            . 'else { POSIX::_exit(2) } print $? >> 8 } { my $o = bless [], "D"; f() } f()',
            { f => 4, DESTROY => 1 }],
    ['in DESTROY at the end', 2,
        'sub f { 1 } sub D::DESTROY { my $p = fork; f(); waitpid $p, 0 if $p } '
            . 'our $o = bless [], "D"; f()', { f => 3, DESTROY => 1 }],
    ['in a signal handler', 2,
        'sub f { 1 } $SIG{USR1} = sub { my $p = fork; f(); if ($p) { waitpid $p, 0 } '
            . 'else { exit 1 } }; kill USR1 => $$; print $? >> 8; f()', { f => 3 }],
    ['in a comparator', 4,
        'sub f { 1 } sub by { if ($$ == $main) { my $p = fork; f(); exit 0 if !$p; waitpid $p, 0 } '
            . '$a <=> $b } $main = $$; my @x = sort by 3, 1, 2; print "@x\n"', { f => 6, by => 3 }],
    ['in a callback', 3,
        'use List::Util "first"; sub f { 1 } sub cb { my $p = fork; f(); exit 0 if !$p; '
            . 'waitpid $p, 0; 0 } first { cb() } 1, 2; f()', { f => 5, cb => 2 }],
    ['in a string eval and a require', 3,
        'sub f { 1 } eval q(my $p = fork; f(); exit 0 if !$p; waitpid $p, 0); '
            . 'open my $o, ">", "forks.pl"; '
        . 'print $o q(my $p = fork; f(); exit 0 if !$p; waitpid $p, 0; 1); close $o; '
        . 'require "./forks.pl"; f()', { f => 5 }],
    ['in a regex', 2,
        'sub f { 1 } "a" =~ /a(?{ my $p = fork; f(); exit 0 if !$p; waitpid $p, 0 })/; f()',
        { f => 3 }],
    ['in an overloaded operator', 2,
        'package O { use overload "+" => sub { my $p = fork; main::f(); exit 0 if !$p; '
            . 'waitpid $p, 0; 7 } } sub f { 1 } print bless([], "O") + 1; f()', { f => 3 }],
    ['a child that dies out of all frames', 2,
        'sub f { 1 } sub deep { $_[0] ? deep($_[0] - 1) : do { my $p = fork; f(); '
            . 'die "out\n" if !$p; waitpid $p, 0; print $? >> 8 } } eval { deep(50); 1 } '
            . 'or do { f(); exit 4 }', { f => 3, deep => 51 }],
    ['a child that exits without a call', 2,
        'sub f { my $p = fork; exit 7 if !$p; waitpid $p, 0; print $? >> 8 } f()', { f => 1 }],
    ['a child that goes on as the program', 2,
        'sub f { 1 } sub server { while (1) { f(); my $p = fork; return 1 if !$p; waitpid $p, 0; '
            . 'return 0 } } my $kid = server(); f(); print $kid', { f => 3, server => 1 }],
    ['a child killed while its parent goes on', 2,
        'sub f { 1 } pipe my $r, my $w; my $p = fork; if (!$p) { f() for 1 .. 300; '
            . 'syswrite $w, "x"; sleep 9 } sysread $r, my $x, 1; kill KILL => $p; waitpid $p, 0; '
            . 'print $?; f()', { f => 301 }],
    ['an exec that fails', 2,
        'no warnings; sub f { 1 } f(); my $p = fork; if (!$p) { exec "/no/such"; f(); '
            . 'exec "/no/such"; f(); exit 1 } exec "/no/such"; waitpid $p, 0; f()', { f => 4 }],
    ['a child of POSIX::fork', 2, 'sub f { 1 } my $p = POSIX::fork(); f(); waitpid $p, 0 if $p',
        { f => 2 }],
    ['many generations', 11,
        'sub f { 1 } for (1 .. 10) { my $p = fork; f(); if ($p) { waitpid $p, 0; last } }',
        { f => 20 }],
    ['names that only children know', 3,
        'sub f { 1 } for my $n (1, 2) { my $p = fork; if (!$p) { eval "sub only$n { f() } '
            . 'only$n() for 1 .. 3"; exit } waitpid $p, 0 } f()',
            { f => 7, only1 => 3, only2 => 3 }],
    ['local $_ and select', 2,
        'sub f { 1 } my $p = fork; if ($p) { waitpid $p, 0 } '
            . 'for (1 .. 3) { select((select(STDERR), $| = 1)[0]); f() } print "x"', { f => 6 }],
);

my @only = @ARGV;
my $n = 0;
for (@only ? @programs : TestEnvironment::sample(2, @programs)) {
    my ($what, $files, $code, $want) = @$_;
    next if @only && !grep { $what =~ /$_/ } @only;
    my $file = spew(scratch() . '/p.pl', "use POSIX (); $code");
    my ($plain) = without_numbers(plain([$file]));
    for (some_modes($n++, MODES)) {
        my ($mode, $env) = @$_;
        my $run = profiled([$file], env => $env);
        my @got = run_files($run);
        my ($calls, @outcomes) = calls_of_run($run->{profile});
        my @wrong = grep { length } same_as_plain($plain, (without_numbers($run))[0]);
        push @wrong, wrong_sums($run->{profile});
        push @wrong, 'files: ' . join ' ', @got if @got != $files + grep { /live$/ } @got;
        for my $name (sort keys %$want) {
            my ($have) = map { $calls->{$_} } grep { /::\Q$name\E\z/ } keys %$calls;
            $have //= 0;
            push @wrong, "$name: $have calls, not $want->{$name}" if $have != $want->{$name};
        }
        push @wrong, map { "outcome $_->{code}: $_->{message}" }
            grep { $_->{code} && $what !~ /killed/ } @outcomes;
        is(join("\n", @wrong), '', "$what, $mode: files, calls and output are as they must be");
    }
}

# With fork=no only the parent is recorded; nothing of its file or its memory goes to a child.
for (MODES) {
    my ($mode, $env) = @$_;
    my $run = profiled(['-e',
        'use POSIX (); $| = 1; sub f { 1 } f() for 1 .. 500; for (1 .. 3) { my $p = fork; '
            . 'if (!$p) { f() for 1 .. 500; $_ == 1 ? exit : $_ == 2 ? POSIX::_exit(0) : exec '
            . '"true" } '
        . 'waitpid $p, 0; f(); print -e "tmon.out.live" ? "there\n" : "gone\n" } f(); '
        . 'kill KILL => $$'], env => { %$env, PERL_DPROF_FORK => 'no' });
    my ($calls) = calls_of_run($run->{profile});
    is(join(' ', $run->{out} =~ s/\n/ /gr, $calls->{'main::f'}, run_files($run)),
        'there there there  504 tmon.out tmon.out.live',
        "fork=no, $mode: only the parent is recorded");
}

# All files of a run are found, whatever its first one is called, and none twice.
for my $out ('prof.%p', '%p-%n.prof', 'sub/tmon.out', '') {
    my $dir = scratch();
    mkdir "$dir/sub";
    my $code =
        'sub f { 1 } for my $n (1 .. 11) { my $p = fork; if (!$p) { f() for 1 .. $n; exit } '
            . 'waitpid $p, 0 } f();';
    # The other run still owns the name.
    my $profiler = join ', ', map { "'$_'" } PROFILER();
    $code = "if (!\@ARGV) { system \$^X, $profiler, '-e', \$ENV{CODE}, 1; f(); exit } $code"
        if !$out;
    my $run = profiled(['-e', $code], dir => $dir,
        env => { counting(PERL_DPROF_OUT_FILE_NAME => $out || undef, CODE => $code) });
    my @files = grep { !/\.(?:old|live)\z/ && -f } map { glob "$dir/$_" }
        qw(*.prof prof.* sub/* tmon.out*);
    is(scalar @files, $out ? 12 : 13, "out=$out: each process has a file");
    for my $file (@files) {
        my ($calls, @outcomes) = calls_of_run($file);
        my $want = !$out && $file =~ /out\z/ ? '1 1' : '67 12';
        is(($calls->{'main::f'} // 0) . ' ' . @outcomes, $want,
            "$file: all files of its run are found") or last;
    }
    my $merged = run_tool('dprofpp', ['--processes', @files]);
    like($merged->{out}, qr/ @{[$out ? 67 : 68]} +\S+ +\S+ +main::f$/m, 'no file is counted twice');
}

done_testing;
