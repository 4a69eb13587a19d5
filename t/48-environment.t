# PERL_DPROF_BUFFER, PERL_DPROF_TICKS, PERL_DPROF_CLOCK, bad values; exact sums; what a program can
# see of the recorder by name; the module without -d.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Path 'make_path';
use Test::More;
use DProfTest;

my $SCRIPT = spew(scratch() . '/work.pl', <<'END');
sub leaf { 1 }
sub mid { leaf() for 1 .. 10; eval { die "x\n" } if $_[0] % 7 == 0; 2 }
sub top { my $n = shift; mid($n); $n % 3 ? return leaf() : leaf() }
sub jumps { no warnings; last JUMP if $_[0] % 2; goto &leaf }
sub by { $a <=> $b }
for my $n (1 .. 100) { top($n); JUMP: { jumps($n) } my @s = sort by 3, 1, 2 }
print "done\n";
END

sub record {
    my (%env) = @_;
    my $run = profiled([$SCRIPT], env => \%env);
    is("$run->{out}$run->{err}$run->{raw}", "done\n0", join ' ', %env) or diag $run->{err};
    return profile_ok($run->{profile}, undef, events => 1);
}

my $reference;

subtest 'The size of the buffer changes no mark' => sub {
    $reference = record(counting());
    my @marks = $reference->marks(qr/./);
    for my $words (TestEnvironment::sample(3, 0, 1, 2, 7, 63, 64, 65, 1000, 100_000, 1 << 20)) {
        my $got = record(counting(), PERL_DPROF_BUFFER => $words);
        ok(join(' ', $got->marks(qr/./)) eq join(' ', @marks),
            "a buffer of $words gives the same marks, with time between the same ones");
        is($got->{sum}[2], $reference->{sum}[2], 'the size of the buffer does not change the time');
    }
};

subtest 'PERL_DPROF_BUFFER=0 writes every mark at once' => sub {
    my $run = profiled(['-e',
        'sub f { 1 } f() for 1 .. 5; open my $in, "<", "tmon.out"; my @l = grep /^[+-]/, <$in>; '
            . 'print scalar @l, "\n"'],
        env => { counting(), PERL_DPROF_BUFFER => 0 });
    is($run->{out}, "10\n", 'marks are in the file as soon as they happen');
};

subtest 'Times are exact at any number of ticks' => sub {
    # Each gap of the counting clock is one step of 1,000 ns; the reference gives a sub's exact
    # time.
    for my $hz (TestEnvironment::sample(3, 1, 3, 100, 997, 1_000, 999_983, 1_000_000, 10_000_000,
        123_456_789, 1_000_000_000)) {
        my $got = record(counting(), PERL_DPROF_TICKS => $hz);
        is($got->{header}{hz}, $hz, "the header has the $hz ticks per second");
        my $exact = $reference->{sum}[2] * 100 * $hz / 1e9;
        cmp_ok(abs($got->{sum}[2] - $exact), '<=', 1 + 1e-6 * $exact,
            "the remainders of $hz ticks per second are carried");
        my $worst = 0;
        for (keys %{ $reference->{calls} }) {
            my $off = abs($got->self_time($_) - $reference->self_time($_) * 100 * $hz / 1e9);
            my $allowed = 1 + $reference->calls($_) * ($hz < 1e6 ? 0 : 1e9 % $hz ? 1 : 0) * 2
                + ($hz < 1e6 ? 1 + $reference->calls($_) : 0);
            $worst = $off - $allowed if $off > $allowed && $off - $allowed > $worst;
        }
        is($worst, 0, "each sub at $hz ticks per second is exact within the rounding of its marks");
    }
    my $fine = record(counting(), PERL_DPROF_TICKS => 1_000_000_000);
    is($fine->{sum}[2], $reference->{sum}[2] * 100, 'at 1e9 ticks all numbers are exact');
    is($fine->self_time($_), $reference->self_time($_) * 100,
        "the time of $_ is exact at 1e9 ticks")
        for qw(main::leaf main::mid main::top main::by);
};

subtest 'The counting clock counts steps' => sub {
    my $got = record(counting(), PERL_DPROF_CLOCK => 'counting:250',
        PERL_DPROF_TICKS => 1_000_000_000);
    is($got->{sum}[2] * 4, $reference->{sum}[2] * 100, 'a smaller step gives less time');
    is($got->{header}{dprof_clock}, 'counting', 'the header names the counting clock');
    # In each sub a gap ends at every mark that did not arrive together with the one before.
    my %gaps;
    my @stack = ('(program)');
    for (@{ $reference->{events} }) {
        my ($sign, $name, $passed) = @$_;
        $gaps{ $stack[-1] }++ if $passed;
        if ($sign eq '+') { push @stack, $name }
        elsif ($sign eq '*') { $stack[-1] = $name }
        else { pop @stack }
    }
    $gaps{'(program)'}++ if $reference->{trailing};
    # The first gap begins with the recording.
    $gaps{'(program)'} += @{ $reference->{phases} } - 1;
    is_deeply($reference->{self}, { map { $_ => $gaps{$_} * 10 } keys %gaps },
        'each sub has a step of time for each gap');
    is($reference->{sum}[0], $reference->{sum}[2], 'all time is user time');
};

subtest 'The other clocks record the same calls' => sub {
    my $got = record(PERL_DPROF_CLOCK => 'monotonic');
    is($got->{header}{dprof_clock}, 'monotonic', 'the header names the monotonic clock');
    is_deeply($got->{calls}, $reference->{calls}, 'the monotonic clock gives the same calls');
    is_deeply($got->{edges}, $reference->{edges}, 'the monotonic clock gives the same edges');
    $got = record();
    like($got->{header}{dprof_clock}, qr/^(?:tsc|cntvct|monotonic)$/,
        'the header names the default clock');
    is_deeply($got->{edges}, $reference->{edges}, 'the default clock gives the same edges');
};

subtest 'Bad values stop perl before the program' => sub {
    for (['PERL_DPROF_BUFFER', 'many'], ['PERL_DPROF_BUFFER', '-1'], ['PERL_DPROF_BUFFER', '10x'],
        ['PERL_DPROF_BUFFER', '999999999999'],
        ['PERL_DPROF_BUFFER', '99999999999999999999999'], ['PERL_DPROF_BUFFER', ' '],
        ['PERL_DPROF_BUFFER', '1.5'],
        ['PERL_DPROF_TICKS', '0'], ['PERL_DPROF_TICKS', '1000000001'], ['PERL_DPROF_TICKS', '-100'],
        ['PERL_DPROF_TICKS', ' -100'], ['PERL_DPROF_TICKS', '1e6'],
        ['PERL_DPROF_CLOCK', 'sundial'], ['PERL_DPROF_CLOCK', 'countingx'],
        ['PERL_DPROF_CLOCK', 'counting:x'], ['PERL_DPROF_CLOCK', 'counting:']) {
        my ($name, $value) = @$_;
        my $run = profiled(['-e', 'print "started\n"'], env => { $name => $value });
        is($run->{out}, '', "$name=$value stops perl before the program starts");
        isnt($run->{status}, 0, "$name=$value gives a status that is not 0");
        like($run->{err}, qr/\ADProf: \Q$name=$value\E[^\n]*\n/,
            "$name=$value gives one line that names it") or next;
        ok(!-e $run->{profile}, "$name=$value leaves no file");
    }
    for (qw(PERL_DPROF_BUFFER PERL_DPROF_TICKS PERL_DPROF_CLOCK PERL_DPROF_OUT_FILE_NAME)) {
        my $run = profiled(['-e', 'print "started\n"'], env => { $_ => '' });
        is("$run->{out}$run->{err}", "started\n", "an empty $_ counts as not set");
        profile_ok($run->{profile}, undef, events => 1);
    }
};

subtest 'Without -d the module stops perl' => sub {
    for (['use Devel::DProf;', ''], ['require Devel::DProf; Devel::DProf->import;', '']) {
        my $run = run_perl(['-I' . tree(), '-e', "$_->[0] print qq(started\\n)"]);
        is($run->{status}, 2, "$_->[0] gives status 2 without -d");
        like($run->{err}, qr/^DProf: run perl with -d to use DProf\.\n/,
            "$_->[0] says without -d how to run perl");
        is($run->{out}, '', "$_->[0] stops perl without -d before the program starts");
        ok(!-e $run->{profile}, "$_->[0] leaves no file without -d");
    }
};

subtest 'A program sees only the names that the manual lists' => sub {
    my $look =
        'print join("\n", (map { "INC $_" } sort keys %INC), (map { "ENV $_" } '
            . 'grep /^PERL/, sort keys %ENV), (map { "stash $_" } '
            . 'sort grep /^[A-Z]\w*::$/, keys %main::), '
        . '(map { "devel $_" } sort keys %Devel::), (map { "db $_" } sort keys %DB::)), "\n"';
    # What XSLoader defines differs between perls.
    my %had = map { $_ => 1 } map { split /\n/, plain($_)->{out} } ['-e', $look],
        ['-MXSLoader', '-e', $look];
    my $run = profiled(['-e', $look]);
    my @more = grep { !$had{$_} } split /\n/, $run->{out};
    is_deeply([grep { !/^db |^devel / } @more], ['INC Devel/DProf.pm'],
        'only the names that the manual lists are defined') or diag join "\n", @more;
    is_deeply([grep { /^devel / } @more], ['devel DProf::'],
        'the recorder defines one name below Devel::');
    is($run->{out} =~ /PERL5DB/ ? 1 : 0, 0, 'PERL5DB is not in the environment');

    $run = profiled(['-e', 'print $ENV{PERL5DB}, "\n"'], env => { PERL5DB => 'BEGIN { 1 }' });
    is($run->{out}, "\n", "a PERL5DB of the user's is removed, too") or 1;
    $run = plain(['-e', 'print "x$^P\n"']);
    is($run->{out}, "x0\n", '$^P is 0 in the plain program');
    $run = profiled(['-e', 'print "x$^P\n"; sub f { print "$^P\n" } f()']);
    is($run->{out}, "x0\n0\n", '$^P is 0 in the profiled program');

    $run = run_program([$^X, PROFILER(), '-e', 'system $^X, "-de", "1"'],
        env => { PERLDB_OPTS => 'NonStop=1 noTTY' });
    is($run->{status}, 0, 'a child with -d gets its debugger') or diag $run->{err};
};

subtest 'Other forms of loading the module do no harm' => sub {
    my $run = run_program([$^X, '-I' . tree(), '-MDevel::DProf', '-d', '-e', 'print "x\n"'],
        env => { PERLDB_OPTS => 'NonStop=1 noTTY' });
    is($run->{signal}, 0, '-MDevel::DProf with a plain -d does no harm');
    $run = run_perl(['-I' . tree(), '-e', 'require Devel::DProf; print "loaded\n"']);
    is($run->{signal}, 0, 'require at run time without -d does no harm');
    my @double = profiled(['-e', 'use Devel::DProf; sub f { 1 } f(); print "x\n"']);
    is("$double[0]{out}$double[0]{err}", "x\n", 'use Devel::DProf under -d does no harm');
    is(profile_ok($double[0]{profile})->calls('main::f'), 1,
        'use Devel::DProf under -d:DProf records calls once');
};

# Tries the object as another perl would have built it, as no perl can load it, and with another
# perl, if there is one of this version.
subtest 'A perl that the module was not built for runs as without it' => sub {
    my $code =
        'sub f { 1 } f(); print "ran, $^P", exists $ENV{PERL5DB} ? ", debugged" : "", $@; '
            . 'eval { require Devel::DProf::Control; Devel::DProf::Control::stop() }; print $@; '
            . 'exit 3';
    my $refused = sub {
        my ($perl, $lib, $why, $name) = @_;
        my $run = run_program([$perl, '-e', $code],
            env => { PERL5LIB => $lib, PERL5OPT => '-d:DProf' });
        is($run->{out}, 'ran, 0', "$name: the program runs as without -d:DProf");
        is($run->{status}, 3, "$name: the program has its own status");
        like($run->{err}, qr/\ADProf: $why; the program is not profiled\n\z/,
            "$name: one line says that the program is not profiled");
        is_deeply([glob "$run->{dir}/tmon.out*"], [], "$name: no file is left");
        $run = run_program([$perl, "-I$lib", '-I' . root() . '/blib/lib', '-e',
            'require Devel::DProf::Core'], env => {});
        my $advice = 'install it with this perl, or run the tools with the perl that has it';
        my $said = qr/^(?:Can't\ load\ |Devel::DProf\ was\ built\ for\ another\ perl\ than
            \ \Q$perl; $advice\E\n)/x;
        like($run->{err}, $said, "$name: the tools say why");
    };
    my $object = 'auto/Devel/DProf/DProf.so';
    my $built = slurp(tree() . "/$object");
    my $version = sprintf 'perl %vd,', $^V;
    like($built, qr/\Q$version\E/, 'the object names the perl that it was built for');
    my %other = (
        'another version' => $built =~ s/\Q$version\E/'perl 4' . substr $version, 6/egr,
        'another option' => $built =~ s/\Q$version\E[^\0]*\KUSE_64_BIT/USE_63_BIT/gr,
        'more options' => $built =~ s/\Q$version\E[^\0]*\K[A-Z]\0/"\0\0"/egr,
        'an object of something else' => 'x' x 1000,
    );
    for my $name (sort keys %other) {
        isnt($other{$name}, $built, "the module's object for another perl differs: $name");
        my $lib = scratch();
        make_path("$lib/Devel/DProf", "$lib/auto/Devel/DProf");
        symlink tree() . "/Devel/$_", "$lib/Devel/$_" or die "$lib: $!"
            for 'DProf.pm', 'DProf/Control.pm';
        spew("$lib/$object", $other{$name});
        $refused->($^X, $lib, $name =~ /^an object/ ? qr/Can't load [^\n]*/
            : qr/the module was built for another perl than \Q$^X\E/, $name);
    }

    my $ours = join ' ', (Internals::V())[0, 1];
    my ($differs) = grep {
        my $v = -x && `$_ -e 'print \$^V, join " ", (Internals::V())[0, 1]' 2>/dev/null`;
        $v && $v =~ s/^\Q$^V\E//r ne $v && $v =~ / DEBUGGING / != $ours =~ / DEBUGGING /
    }
        map {
            my $dir = $_;
            map { "$dir/$_" } qw(debugperl perl)
        } grep { m{^/[\w./-]+\z} } split /:/, $ENV{PATH} // '';
  SKIP: {
        skip 'there is no perl of this version that has assertions where this one has none, or '
            . 'none where it has some', 5 if !$differs;
        $refused->($differs, tree(),
            qr/(?:the module was built for another perl than \Q$differs\E|Can't load [^\n]*)/,
            "$differs: refused with a message");
    }

    my $nowhere = scratch();
    mkdir "$nowhere/Devel" or die $!;
    symlink tree() . '/Devel/DProf.pm', "$nowhere/Devel/DProf.pm" or die $!;
    my $run = run_program([$^X, "-I$nowhere", '-d:DProf', '-e', $code], env => {});
    like($run->{out} . $run->{err}, qr/\ACan't locate loadable object for module Devel::DProf /,
        'a module without its compiled part stops perl before the program starts');
    my $core = "$nowhere/lib/Devel/DProf";
    make_path($core);
    symlink root() . '/lib/Devel/DProf/Core.pm', "$core/Core.pm" or die $!;
    $run = run_program([$^X, "-I$nowhere/lib", '-e', 'require Devel::DProf::Core'], env => {});
    like($run->{err},
        qr/\Athe compiled part of Devel::DProf is missing; perl Makefile\.PL && make /,
        'a tool without its compiled part says how to build it');
    require Devel::DProf::Core;
    for my $error ("Can't load 'a.so' for module Devel::DProf: a.so: undefined symbol: x\n at "
        . "/usr/lib/XSLoader.pm line 93.\n at lib/Core.pm line 1.\nCompilation failed in require "
        . "at -e line 1.\n",
        "object version 1 does not match\r\nbootstrap parameter 2 at x line 3.\n",
        'one') {
        unlike(Devel::DProf::Core::why_not_loaded($error), qr/[\r\n].| line \d/s,
            'the reason is one line: ' . substr $error, 0, 20);
    }
};

subtest 'An option that is written wrongly gives a line that says what to write' => sub {
    my %said = (
        'tre' => 'unknown option tre; did you mean tree?',
        'modes=tree' => 'unknown option modes=tree; did you mean mode?',
        'hlep' => 'unknown option hlep; did you mean help or heap?',
        'nothing' => 'unknown option nothing; -d:DProf=help lists the options',
        'out' => 'out needs a value: out=FILE', 'out=' => 'out needs a value: out=FILE',
        'limit' => 'limit needs a value: limit=N', 'start' => 'start needs a value: start=begin, '
        . 'start=main, start=mark or start=no', 'skip' => 'skip needs a value: skip=...',
    );
    for my $option (sort keys %said) {
        my $dir = scratch();
        my $run = run_program([$^X, '-I' . tree(), "-d:DProf=$option", '-e', 'print "ran"'],
            dir => $dir);
        is_deeply([$run->{out}, (split /^/, $run->{err})[0], glob "$dir/tmon*"],
            ['', "DProf: $said{$option}\n"], "the option $option stops perl with its line");
    }
    my $run = run_program([$^X, '-I' . tree(), '-d:DProf=skip=', '-e', 'sub f { 1 } f()'],
        dir => my $dir = scratch(), env => { PERL_DPROF_SKIP => '^main::f' });
    like(slurp("$dir/tmon.out"), qr/^& \S+ main f\b/m,
        'an empty regex overrides that of the environment');
};

done_testing;
