# Statements again: the rest of a statement after each kind of interruption, the sums of random
# programs, and all subs of real modules as B shows them.
#
# DPROF_SEED and DPROF_PROGRAMS: of the random programs, where to begin, and how many.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;
use FuzzProgram;
use LineReader;
use RunReader;

plan skip_all => 'this perl has no lines' if !grep { $_->[0] eq 'lines' } MODES;

my %tree = (PERL_DPROF_MODE => 'tree');
my %timed = (%tree, PERL_DPROF_LINES => 'time');
my %repeats = (PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0);

# Nothing in it is on the line of a statement under test.
my $HEAD = <<'E';
use List::Util 'first'; no warnings; our ($x, @x, $n) = (0); our $m = bless []; my $s = "xx";
sub f { return 1 } sub g { goto &f } sub h { return f() + f() } sub by { return $a <=> $b }
sub d { die "x\n" } sub lv :lvalue { $n } sub AUTOLOAD { return 1 } sub DESTROY { f() }
sub T::FETCH { return 2 } tie my $t, 'T'; sub T::TIESCALAR { return bless [], 'T' }
my $o = bless [], 'O';
package O { use overload '+' => sub { return 3 }, '""' => sub { return 'o' }; } package main;
unshift @INC, sub { my $text = 'main::f(); ' . ($_[1] =~ /bad/ ? 'die' : 1);
    open my $in, '<', \$text; return $in };
E

# The intervals of time that a statement has: each event ends one, and all are equally long. One
# lasts from its beginning to the first call, one from each return to the next call, one to the next
# statement. XS subs have the statement's time between calls, too.
my @cases = (
    ['no call', '$x = 1;', 1],
    ['a call', '$x = f();', 2],
    ['calls in the arguments of a call', '$x = f(f(), f());', 4],
    ['calls side by side', '$x = f() + f() + f();', 4],
    ['a call that calls', '$x = h() + f();', 3],
    ['goto', '$x = g() + f();', 3],
    ['a string eval', '$x = eval("f(); 1") + f();', 3],
    ['require', "\$x = (require 'made_up.pm')\n + f();", 4],
    ['do FILE', "\$x = (do 'made_up.pm')\n + f();", 4],
    ['a comparator', '@x = sort by 2, 1;', 2],
    ['comparisons that call', '@x = sort { f() } 2, 1;', 2],
    ['map', '@x = map { f() } 1, 2;', 3],
    ['tie', '$x = $t + $t;', 3],
    ['overload', '$x = "$o" . ($o + 1);', 3],
    ['DESTROY', '$x = (undef $m, f())[1];', 3],
    ['s///e', '$s =~ s/x/f()/ge;', 3],
    ['while, postfix', '$x++ while f() && $x < 2;', 4],
    ['for, postfix', 'f() for 1 .. 2;', 3],
    ['an lvalue', 'lv() = f();', 3],
    ['AUTOLOAD', '$x = nothing() + f();', 3],
    ['and, or', 'f() and f() or f();', 3],
    ['?:', '$x = f() ? f() : 0;', 3],
    ['a call that dies', 'eval { d() };', 3, 2],
    ['a string eval that dies', '$x = eval("d(); 1") || f();', 3],
    ['a file that dies', '$x = (do "bad.pm") || f();', 4],
    ['eval', "\$x = eval {\n f();\n 1 } + f();", 3],
    ['eval that dies', "\$x = eval {\n d();\n 1 } || f();", 3],
);
# Known to be charged elsewhere: perl does not tell that a block has ended, so the rest of the
# statement is charged to the statement that began last.
my @known = (
    ['do', "\$x = do {\n f();\n 1 } + f();", 3],
);

sub stretches {
    my ($code) = @_;
    my $file = spew(scratch() . '/p.pl', "$HEAD#line 100 \"here\"\n$code\n#line 200\nprint 1;\n");
    my $plain = plain([$file]);
    my $run = profiled([$file], env => { counting(%timed) });
    my $got = LineReader::read_file($run->{profile});
    my ($time) = map { $_->[2] / 10 } grep { defined } $got->{times}{'here:100'};
    return ($time, $got->{count}{'here:100'}, same_as_plain($plain, $run) || (),
        LineReader::problems($got));
}

subtest 'A statement that is interrupted keeps its time' => sub {
    for (@cases) {
        my ($what, $code, $want, $count) = @$_;
        my ($time, $n, @wrong) = stretches($code);
        is(join("\n", "$n times, $time stretches", @wrong),
            ($count // 1) . " times, $want stretches",
                "$what: the statement has its stretches of time");
    }
    for (@known) {
        my ($what, $code, $want) = @$_;
        my ($time, $n, @wrong) = stretches($code);
        is(join("\n", @wrong), '', "$what: the sums of lines are equal");
        local $TODO = 'nobody tells of the end of a block';
        is($time, $want, "$what: the statement has its time");
    }
};

subtest 'Random programs that call in every way keep their sums' => sub {
    my $first = $ENV{DPROF_SEED} // 301;
    my $last = $first + ($ENV{DPROF_PROGRAMS} // TestEnvironment::rounds(3, 30)) - 1;
    my $asserts = scalar grep { / DEBUGGING / } Internals::V();
    my @ways = ([], [PERL_DPROF_SKIP => '^main::f[0-9]$'], [PERL_DPROF_CONTEXTS => 50],
        [PERL_DPROF_ONLY => '^main::f|^F::'], [PERL_DPROF_BUILTINS => 'slow'],
        [PERL_DPROF_EVENTS => 'ops+svs']);
    for my $seed ($first .. $last) {
        my $file = spew(scratch() . "/fuzz$seed.pl",
            FuzzProgram::program($seed, 3, $asserts));
        my $plain = plain([$file], limit => 30, env => \%repeats);
      SKIP: {
            skip "program $seed does not run", 1 if $plain->{raw} || $plain->{out} !~ /^checks /m;
            my $run = profiled([$file],
                env => { counting(%timed), %repeats, @{ $ways[$seed % @ways] } });
            # t/49-random.t checks which sub is charged.
            s/^(?:wrong: .*|checks .*)\n//gm for $plain->{out}, $run->{out};
            is(join("\n", same_as_plain($plain, $run) || (),
                LineReader::problems(LineReader::read_file($run->{profile}))), '',
                "the sums of program $seed are equal: @{ $ways[$seed % @ways] }");
        }
    }
};

# Prints all subs of the named modules, and of all modules that these load.
my $SHOW = <<'E';
use B; use B::Deparse; use B::Concise;
my @modules = @ARGV;
eval "require $_; 1" or die $@ for @modules;
my $deparse = B::Deparse->new;
my ($text, %seen) = '';
B::Concise::walk_output(\$text);
sub show {
    my ($name, $code) = @_;
    my $cv = B::svref_2object($code);
    return if $seen{$$cv}++ || $cv->XSUB || !${ $cv->START };
    print "$name ", eval { $deparse->coderef2text($code) } // "cannot be deparsed: $@", "\n";
    B::Concise::reset_sequence();
    eval { B::Concise::compile($_, $code)->(); 1 } or print "no ops: $@" for '-basic', '-exec';
    # These are addresses, and numbers that depend on what has been compiled before.
    $text =~ s/\b0x[0-9a-f]+//g;
    $text =~ s/((?:next|db)state\(\S+) \d+/$1/g;
    print $text;
    $text = '';
}
my @files = sort grep { !m{^(?:B|Devel)/|^B\.pm|^DB|^XSLoader|^strict|^warnings} } keys %INC;
for my $file (@files) {
    my $package = $file =~ s{/}{::}gr =~ s/\.pm\z//r;
    for my $name (sort keys %{"$package\::"}) {
        my $code = *{"$package\::$name"}{CODE} or next;
        show("$package\::$name", $code);
    }
}
print scalar(keys %seen), " subs\n";
E

subtest 'All subs of real modules look to B as without the profiler' => sub {
    my $file = spew(scratch() . '/show.pl', $SHOW);
    my @modules = 'Text::Wrap';
    push @modules, qw(Getopt::Long File::Temp) if $ENV{EXTENDED_TESTING};
    @modules = grep { !plain(['-e', "require $_"])->{raw} } @modules;
    my $plain = plain([$file, @modules], limit => 600, env => \%repeats);
    my ($subs) = $plain->{out} =~ /^(\d+) subs\n\z/m;
    cmp_ok($subs // 0, '>', 10, "B shows @{[ $subs // 0 ]} subs") or diag $plain->{err};
    for my $lines ('time', 'count') {
        my $run = profiled([$file, @modules], limit => 600,
            env => { %tree, %repeats, PERL_DPROF_LINES => $lines });
        same_as_plain($plain, $run, "the program that shows subs runs as plain with lines=$lines");
    }
};

done_testing;
