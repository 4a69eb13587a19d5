# Samples: with the counting clock every one is known; and whatever the program does, it notices
# nothing of the thread that ticks.
use strict;
use warnings;
use Config;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Glob ':bsd_glob';
use Test::More;
use DProfTest;
use FuzzProgram;
use RunReader;

my %seed = (PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0);

# A sample at every safe point: statements, branches, turns of loops, steps of a regex.
my %each = (%seed, PERL_DPROF_SAMPLE => 100_000, PERL_DPROF_CLOCK => 'counting:10000');

# By the clock, in a thread.
my %often = (%seed, PERL_DPROF_SAMPLE => 5000);

my $has_lines = grep { $_->[0] eq 'lines' } MODES;

sub clock_of { my ($how) = @_; return 'clock ' . ($how->{PERL_DPROF_CLOCK} // 'real') }

sub sampled {
    my ($program, $env, %opt) = @_;
    my @args = ref $program ? @$program : ('-e', $program);
    return profiled(\@args, limit => 60, %opt, env => { %$env, %{ $opt{env} || {} } });
}

# The values of a counter by sub, as dproffold has them for each stack.
sub folded {
    my (@args) = @_;
    my $run = run_tool('dproffold', ['-m', 'samples', @args]);
    return { map { /\A(.*) (\d+)\z/ ? ($1 => $2) : () } split /\n/, $run->{out} };
}

# ---- which samples ----

my $counted = spew(scratch() . '/p.pl', <<'END');
sub a { my $x = 0; for my $i (1 .. 100) {
    $x += $i;
    $x ^= 1;
} b($x) for 1 .. 3; $x }
sub b { my $y = shift; my $n = 0;
    while ($n < 50) { $n++; $y += $n }
    return $y }
for (1 .. 20) { a() }
END
{
    my $run = sampled([$counted],
        { %seed, PERL_DPROF_SAMPLE => 10_000, PERL_DPROF_CLOCK => 'counting:5000' });
    is($run->{err} . $run->{raw}, '0', 'a sampled program runs without a message');
    my $got = folded($run->{profile});
    my $again = folded(sampled([$counted],
        { %seed, PERL_DPROF_SAMPLE => 10_000, PERL_DPROF_CLOCK => 'counting:5000' })->{profile});
    is_deeply($again, $got, 'the counting clock takes the same samples each time');
    cmp_ok($got->{'main::a;main::b'}, '>', 300, 'most samples are where most statements run');
    cmp_ok($got->{'main::a;main::b'}, '<', 3 * $got->{'main::a'},
        'the samples are in proportion to the statements');
    is_deeply([wrong_sums($run->{profile})], [], 'the samples of lines add up to those of subs');
    my $text = slurp($run->{profile});
    like($text, qr/\$dprof_unit='s';$/m, 'the file has a unit and no calls');
    is(run_tool('dproffold', ['-m', 'returned', $run->{profile}])->{out}, '',
        'a sample counts no return');
    my @calls = map { (split)[3] } grep { /^= \d+ \w+ [1-9]/ } split /\n/, $text;
    is(scalar @calls, 2, 'only phases have calls');
    my $table = run_tool('dprofpp', [$run->{profile}])->{out};
    like($table, qr/ - +- +- +main::b$/m, 'dprofpp shows no calls');
    unlike(run_tool('dprofreport', ['--annotate', 'main::a', $run->{profile}])->{out},
        qr/\b0 calls/, '--annotate shows no calls')
        if $has_lines;
}

# ---- what runs ----

{
    my $run = sampled(<<'END', \%each);
use List::Util 'sum';
sub f { my @x = sort { $a <=> $b } 3, 2, 1; my $s = sum(@x); $s }
sub outer { my $n = f(); return $n } outer() for 1 .. 3; eval 'outer()';
END
    my $got = folded($run->{profile});
    is(scalar(grep { /\Amain::outer;main::f\b/ } keys %$got) > 0, 1, 'the stacks have callers');
}
{
    my $run = sampled(<<'END', { %each, PERL_DPROF_SKIP => 'skipped' });
sub skipped { my $x = $_[0]; $x + 1 } sub f { skipped($_) for 1 .. 9; 1 } f()
END
    my $got = folded($run->{profile});
    is_deeply([grep { /skipped/ } keys %$got], [], 'a sub that skip= names is in no stack');
    cmp_ok($got->{'main::f'}, '>', 15, 'the samples of a skipped sub belong to its caller');
}
{
    # Most of a stack is taken from the sample before. Other code may stand at its addresses by
    # then: closures that are freed, or have names, what AUTOLOAD stands for, what is compiled anew.
    my $path = spew(scratch() . '/p.pl', <<'END');
use Sub::Util 'set_subname'; sub odd { my $s = 0; $s += $_ for 1 .. 5; $s }
sub even { my $s = 0; $s += $_ for 1 .. 5; $s }
sub AUTOLOAD { odd() } for my $i (1 .. 60) { my $f = $i % 2 ? sub { odd($i) }
    : sub { even($i) }; $f->() }
for my $i (1 .. 20) { main->$_ for 'one', 'two' }
for my $i (1 .. 20) { set_subname("main::given" . $i % 4, sub { odd($i) })->() }
for my $i (1 .. 20) { eval "sub named$i { even() } named$i()"; delete $main::{"named$i"} }
END
    my $got = folded(sampled([$path], \%each)->{profile});
    my %below;
    for my $stack (keys %$got) {
        my ($caller, $sub) = $stack =~ /\Amain::(\w+).*?;main::(odd|even)\z/ or next;
        $caller .= $1 if $stack =~ /p\.pl:(\d+)/;
        $below{$sub}{$caller} += $got->{$stack};
    }
    my ($n) = sort { $a <=> $b } map { values %$_ } values %below;
    is_deeply(\%below, { odd => { __ANON__3 => 30 * $n, one => 20 * $n, two => 20 * $n,
            map { ("given$_" => 5 * $n) } 0 .. 3 },
        even => { __ANON__4 => 30 * $n, map { ("named$_" => $n) } 1 .. 20 } },
        'code at the addresses of freed code is another sub') or diag explain \%below;
}
# The lines that a sub of main has been called from.
sub called_from {
    my ($run, $name) = @_;
    my $text = slurp($run->{profile});
    my ($id) = $text =~ /^& (\w+) main \Q$name\E /m or return 'never';
    return join ' ', sort { $a <=> $b } $text =~ /^= \w+ $id .* at=\S+:(\d+)(?: when=\S+)?$/mg;
}
{
    my $run = sampled(<<'END', \%each);
sub make { my $n = shift; return sub { my $s = 0; $s += $_ for 1 .. $n; $s } }
*foo = make(5); *bar = make(5);
sub t {
    my @x = ($_[0] ? do {
        foo()
      } : do {
        bar()
      }, 1);
}
t($_ % 2) for 1 .. 20;
END
    is(called_from($run, '__ANON__'), '5 7',
        'calls of the same code that return to one op have lines of their own');
    $run = sampled(<<'END', \%each);
BEGIN { $SIG{__WARN__} = sub { my $s = 0; $s++; $s++; $s++; $s }; }
use warnings; my $x;
my $x;
my $x;
my $x;
END
    is(called_from($run, '__ANON__'), '3 4 5',
        'calls from the compiler have the lines of their statements');
    $run = sampled(<<'END', \%each);
use Sub::Util 'set_subname'; use Hash::Util 'lock_keys';
my $f = set_subname('Foo::given', \&{ sub { my $n = shift; sub { my $s = $n; $s++; $s } }->(1) });
sub Foo::x { 1 } lock_keys(%Foo::); $f->() for 1 .. 3; print "ok\n";
END
    is($run->{out} . $run->{err} . $run->{raw}, "ok\n0",
        'a package that takes no new names does not stop sampling');
}
{
    my $deep = 'no warnings; sub r { my $n = shift; return $n ? r($n - 1) : 0 } r(6000)';
    my $run = sampled($deep,
        { %seed, PERL_DPROF_SAMPLE => 100, PERL_DPROF_CLOCK => 'counting:100000' });
    is($run->{err} . $run->{raw}, '0', 'a stack of 6,000 subs is sampled');
}
{
    # A deep stack is looked at once for each sample, and never moved, or this would take minutes.
    my $run = sampled(<<'END', \%each);
no warnings; sub leaf { my $x = 0; $x += $_ for 1 .. 800; $x }
use Devel::DProf::Control 'start'; sub begin { start(); leaf() }
sub r { my $n = shift; return $n ? r($n - 1) : begin() } sub top { r(60_000) }
Devel::DProf::Control::stop(); top();
END
    is($run->{err} . $run->{raw}, '0', 'a stack of 60,000 subs is sampled hundreds of times');
    my $got = folded($run->{profile});
    my ($stack) = grep { /main::leaf\z/ } keys %$got;
    like($stack, qr/\Amain::top;main::r;.*;main::leaf\z/,
        'a stack of 60,000 subs has its outermost and innermost sub');
    cmp_ok($got->{ $stack // '' }, '>', 700, 'all samples have the whole stack of 60,000 subs');
}

SKIP: {
    skip 'this perl has no lines', 2 if !$has_lines;
    my $file = spew(scratch() . '/p.pl', <<'END');
my ($x, $y, $z) = (1, 1, 1); sub f { my $n = shift; $x && $y && $z }
for (1 .. 50) {
    if ($_) {
        $x && $y && $z;
    } else {
        1;
    }
    if ($x) {
        f(1);
    }
}
END
    my $run = sampled([$file], \%each);
    my %of = slurp($run->{profile}) =~ /^#l (\d+) 0 0 \d+ \d+ \d+ (\d+)/mg;
    is_deeply([@of{4, 9}], [100, undef], 'a statement that is alone in its block is found');
    my ($sub) = slurp($run->{profile}) =~ /^& (\w+) main f /m;
    like(slurp($run->{profile}), qr/^= 2 $sub 0 .* at=\Q$file\E:9(?: when=\S+)?$/m,
        'a statement that is alone in its block is the place of its call');
}

{
    # The class of a method is that of the variable it is called on.
    my $run = sampled(<<'END', \%often);
use Digest::MD5; my $s = 'x' x 30_000; my $d = Digest::MD5->new; our $g = $d;
my $has = { d => $d }; @My::ISA = 'Digest::MD5';
sub by_lexical { $d->add($s) for 1 .. 4000 } sub by_global { $g->add($s) for 1 .. 4000 }
sub by_element { $has->{d}->add($s) for 1 .. 4000 } sub by_class { My->new for 1 .. 200_000 }
sub perls { my $o = bless [], 'P'; $o->m for 1 .. 20_000 } sub P::m { 1 }
by_lexical(); by_global(); by_element(); by_class(); perls();
END
    my $got = folded($run->{profile});
    cmp_ok($got->{"main::by_$_->[0];Digest::MD5::$_->[1]"} // 0, '>', 2,
        "the stack has the name of an XS method called by $_->[0]")
        for ['lexical', 'add'], ['global', 'add'], ['element', 'add'], ['class', 'new'];
    is_deeply([grep { /\Amain::perls;(?!P::m\z)/ } keys %$got], [],
        'no other name stands for an XS method');
}
{
    # A tick may come when perl has entered the pad of a sub, but not yet a statement of it. Some
    # runs have dozens of such ticks, and others have none.
    my %got;
    for (1 .. 8) {
        my $run = sampled(<<'END', \%often);
sub e {} sub one { my $x = shift } sub k { for (1 .. 100) { e(); one(1); e(); one(2) } }
for (1 .. 3000) { k() }
END
        %got = (%got, %{ folded($run->{profile}) });
    }
    ok($got{'main::k'}, 'a sub that calls short ones has samples');
    is_deeply([grep { /\bmain::(\w+)(?:;main::\w+)*;main::\1\b/ } keys %got], [],
        'a sub that calls short ones is not called by itself');
}
{
    # What is compiled belongs to who loads it, and not to BEGIN blocks that come after it.
    my $dir = scratch();
    spew("$dir/Big.pm", 'package Big; sub later {} ' . join('', map {
        "sub f$_ { " . '$x++; ' x 300 . '} BEGIN { later() } ' } 1 .. 400) . '1');
    my $run = sampled(['-e', "use lib '$dir'; use Big; "
        . "eval 'sub {' . '\$x++;' x 300 . '}' for 1 .. 100"], \%often);
    my $got = folded($run->{profile});
    cmp_ok($got->{"main::BEGIN\@1;(compile) $dir/Big.pm"} // 0, '>', 3,
        'the time of loading a file belongs to its compilation')
        or diag explain $got;
    is_deeply([grep { /Big::BEGIN.*compile/ } keys %$got], [],
        'the compiled file is in no stack of its own BEGIN');
    cmp_ok($got->{'(compile) (eval)'} // 0, '>', 2,
        'the time of a string eval belongs to its compilation');
}
SKIP: {
    skip 'this perl has no lines', 1 if !$has_lines;
    my $file = spew(scratch() . '/p.pl', <<'END');
my $o = bless []; sub w { my $x = $_[0] } sub v { my $x = $_[0] } sub m { my $x = $_[0] }
for my $n (1 .. 10) {
    my @all = (do {
        w(1);
    }, map {
        w(2) } 1);
    if ($n % 2) {
        w(3);
    } elsif ($n % 4) {
        $o->m;
    } else {
        v(4);
    }
    if ($n % 2) {
        w(5)
    } else {
        w(6)
    }
}
END
    my $text = slurp(sampled([$file], \%each)->{profile});
    my %name = $text =~ /^& (\w+) main (\w) /mg;
    my %at;
    $at{"$name{$1} $2"}++ while $text =~ /^= 2 (\w+) 0 .* at=\Q$file\E:([1-9]\d*)(?: when=\S+)?$/mg;
    is_deeply([sort keys %at], ['m 10', 'v 12', 'w 15', 'w 17', 'w 4', 'w 6',
        'w 8'],
        'calls that return to one place differ by what they call');
}

# The last op of a sub takes all of its time, so that each tick comes there: the sub's end is where
# the sample is taken, be it by leaving, as an lvalue or by return.
{
    my $program = <<'END';
my $text = 'a' x 2_000_000; my $x;
sub leaves { $text =~ tr/a// }
sub gives :lvalue { $x = $text =~ tr/a// }
sub returns { return $text =~ tr/a// if @_; 0 }
sub all { for (1 .. 60) { leaves(); gives(); returns(1) } }
END
    my @ways = (['alone', 'all()']);
    push @ways, ['beside a thread', 'use threads; my $t = threads->create(\&all); all(); $t->join']
        if $Config{useithreads};
    for my $way (@ways) {
        my $run = sampled("$program $way->[1]", \%often);
        my (%of, @bad);
        for my $what ('samples', 'returned') {
            my $fold = run_tool('dproffold', ['-m', $what, bsd_glob("$run->{profile}*")]);
            push @bad, $fold->{err} if $fold->{raw};
            $of{$what} = 0;
            $of{$what} += $1 while $fold->{out} =~ / (\d+)$/mg;
        }
        is("@bad", '',
            "long ops at the ends of subs, $way->[0]: the profile is read without a problem");
        cmp_ok($of{samples}, '>', 20,
            "long ops at the ends of subs, $way->[0]: the profile has samples");
        cmp_ok($of{returned}, '<', $of{samples} / 3,
            "long ops at the ends of subs, $way->[0]: most samples precede the return");
    }
}

# ---- the program notices nothing ----

for my $seed (1 .. TestEnvironment::rounds(2, 12)) {
    my $file = spew(scratch() . '/p.pl', FuzzProgram::program($seed, 3, 1));
    my $plain = plain([$file], limit => 30, env => \%seed);
  SKIP: {
        skip "program $seed does not run: $plain->{err}", 4 if $plain->{raw};
        for my $how (\%each, \%often) {
            my $run = sampled([$file], $how);
            is("$run->{raw}\n$run->{err}", "$plain->{raw}\n$plain->{err}",
                "random program $seed ends as without samples, " . clock_of($how));
            is_deeply([wrong_sums($run->{profile})], [],
                "random program $seed has lines that add up");
        }
    }
}
my %program = (
    'string evals, dies, ties, signals' => <<'END',
my $n = 0; $SIG{USR1} = sub { $n++ }; my $x = 0;
sub f { my $k = shift; $x += eval "sub g$k { \$_[0] + $k } g$k(1)"; eval { die { k => $k } }; $x }
sub T::FETCH { my $v = 0; $v += $_ for 1 .. 9; $v } tie my $t, 'T'; sub T::TIESCALAR { bless [] }
for (1 .. 300) {
    f($_); kill USR1 => $$ if $_ % 10 == 0; my $c = $t; local $_ = "ab$_" x 9; s/b(\d)/$1/g
}
print "$x $n ", join(',', sort grep { defined $SIG{$_} } keys %SIG), "\n";
END
    'BEGIN blocks and constants' => <<'END',
for my $i (1 .. 300) {
    eval "BEGIN { \$main::c += 2 * 3 + $i } use constant K$i => 'a' . 'b' . $i; \$main::s .= K$i";
}
print "$c ", length $s, "\n";
END
    'sleeps and pipes' => <<'END',
use Time::HiRes 'sleep'; my $bad = 0;
for (1 .. 50) { my $n = select undef, undef, undef, 0.001; $bad++ if $n != 0 }
pipe my $r, my $w; if (!fork) { select undef, undef, undef, 0.05; syswrite $w, 'x'; exit 0 }
my $n = sysread $r, my $b, 1; my $slept = CORE::sleep(1) >= 1;   # 2, if it was late
wait; print "$bad $n $slept $?\n";
END
    'forks and execs' => <<'END',
$| = 1; sub work { my $s = 0; $s += $_ for 1 .. 20_000; $s }
for my $i (1 .. 6) {
    if (!fork) { work(); exec $^X, '-e', 'exit 3' if $i == 2; exit $i }
    wait; print $? >> 8;
}
print `echo hi`; system 'true';
my $kid = open my $in, '-|'; if (!$kid) { work(); print "k\n"; exit }
print <$in>; work(); print "\n"; exit 7;
END
    'handlers that die' => <<'END',
my ($n, $d) = (0, 0); $SIG{USR1} = sub { $n++; die "sig\n" };
for (1 .. 99) { eval { kill USR1 => $$; my $x = 0; $x += $_ for 1 .. 50; 1 } or $d++ }
local $SIG{__DIE__} = sub { my $z = 0; $z += $_ for 1 .. 20 }; eval { die 1 } for 1 .. 99;
END { my $s = 0; $s += $_ for 1 .. 999; print "$n $d\n"; die "in END\n" }
END
    'code in regexes, sort, overloading, formats' => <<'END',
package V; sub new { bless { v => $_[1] } } use overload '<=>' => sub { $_[0]{v} <=> $_[1]{v} },
    '+' => sub { V->new($_[0]{v} + $_[1]{v}) }, '""' => sub { "v$_[0]{v}" };
package main; sub by { $a->{v} <=> $b->{v} } my $sum = V->new(0); use re 'eval'; my $n = 0;
sub f { my $s = 0; $s += $_ for 1 .. 5; $s }
format STDOUT =
@<<<<< @>>>>
$n, f()
.
for my $i (1 .. 40) {
    my @v = map { V->new($_ * 7 % 31) } 1 .. 9; $sum = $sum + $_ for sort by @v;
    @v = reverse sort { by() } sort { $b <=> $a } @v; my $c = '\w'; write if $i < 9;
    'abcd' =~ /(?:$c(?{ $n++ }))+(??{ $n > 5 ? 'd' : '.' })?/; (my $z = 'aXb') =~ s/X/f()/ge;
    'z9' =~ /(\d)/; $! = 5; f(); die if $1 != 9 || $! != 5;
}
eval { my @r = sort { die "in sort\n" if $a == 3; $a <=> $b } 1 .. 9 }; print "$sum $n $@";
END
    'an exit in BEGIN' => <<'END',
BEGIN { my $x = 0; $x += $_ for 1 .. 5000; print "b\n"; exit 4 } print 1;
END
    'the end' => <<'END',
package O { sub new { bless [] } sub DESTROY { my $x = 0; $x += $_ for 1 .. 99; print 'd' } }
our $o = O->new; my %h = map { $_ => O->new } 1 .. 3;
END { my $y = 0; $y += $_ for 1 .. 999; print $y }
END
);
for my $name (sort keys %program) {
    my $plain = plain(['-e', $program{$name}], limit => 60, env => \%seed);
    for my $how (\%each, \%often) {
        my $run = sampled($program{$name}, $how);
        is("$run->{raw} $run->{out}$run->{err}", "$plain->{raw} $plain->{out}$plain->{err}",
            "$name runs as plain, " . clock_of($how));
        my @cut = grep { slurp($_) !~ /\$dprof_complete=1;/ } bsd_glob("$run->{profile}*");
        is_deeply(\@cut, [], "each profile of $name is whole");
    }
}
{
    # The thread goes to sleep after some ticks without an answer, which come in that moment, too.
    my $sleeps = TestEnvironment::rounds(600, 10_000);
    my $run = sampled(<<"END", \%often);
use Time::HiRes 'time';
sub rests { select undef, undef, undef, 0.0006 + rand 0.0004 for 1 .. $sleeps }
sub works { my \$end = time + 0.6; my \$x = 0; while (time < \$end) { \$x++ } }
rests(); works();
END
    cmp_ok(folded($run->{profile})->{'main::works'} // 0, '>', 2,
        'a process that wakes is sampled again');
}
SKIP: {
    skip 'this perl has no threads', 5 if !$Config{useithreads};
    for my $how (\%each, \%often) {
        my $run = sampled(<<'END', $how);
use threads; sub w { my $s = 0; $s += $_ for 1 .. 10_000; $s }
my @t = map { threads->create(\&w) } 1 .. 3; print $_->join, "\n" for @t; w();
END
        is("$run->{out}$run->{err}$run->{raw}", "50005000\n" x 3 . '0',
            'a program with threads runs while it is sampled');
        my @files = bsd_glob("$run->{profile}*");
        is(scalar @files, 4, 'each thread has a file');
        next if $how == \%often;    # by then it may not have ticked
        my @without = grep { (folded($_)->{'main::w'} // 0) < 10_000 } grep { /\d\z/ } @files;
        is_deeply(\@without, [], "each thread's file has its samples");
    }
}
SKIP: {
    skip 'there is no Coro', 2 if run_perl(['-e', 'require Coro'])->{raw};
    my $program = <<'END';
my $left = 5; my @n; sub step { my $x = 0; $x += $_ for 1 .. 30; cede; $x }
async { my $k = shift; for (1 .. 20) { step(); $n[$k]++ } $left-- } $_ for 0 .. 4;
cede while $left; print "@n\n";
END
    my $run = sampled(['-MCoro', '-e', $program], \%each);
    is("$run->{raw} $run->{out}", "0 20 20 20 20 20\n",
        'a program with coroutines runs while it is sampled');
    my $got = folded($run->{profile});
    my ($stack) = grep { /;main::__ANON__[^;]*;main::step\z/ } keys %$got;
    cmp_ok($got->{ $stack // '' } // 0, '>', 2000, 'the stacks of coroutines are sampled');
}

# ---- beside a tree of calls ----

SKIP: {
    skip 'this perl has no lines', 10 if !$has_lines;
    my $file = spew(scratch() . '/p.pl', <<'END');
sub f { my $n = shift;
    my $x = 0;
    for (1 .. $n) { $x += 1; $x += 2; $x += 3 }
    $x }
sub g { f(200); if ($_[0]) {
        f(20);
    } 1 }
g($_ % 2) for 1 .. 20;
fork or exit 0; wait;
END
    my %lines = (%seed, PERL_DPROF_MODE => 'tree', PERL_DPROF_CLOCK => 'counting:5000');
    my $tree = profiled([$file], env => \%lines);
    my $run = sampled([$file], { %lines, PERL_DPROF_SAMPLE => 10_000 });
    is($run->{err} . $run->{raw}, '0', 'a program runs under a tree with samples of lines');
    my $calls = sub { run_tool('dproffold', ['-m', 'calls', $_[0]{profile}])->{out} };
    is($calls->($run), $calls->($tree), 'a tree with samples of lines has all calls');
    is_deeply([wrong_sums($run->{profile})], [],
        'a tree with samples of lines has lines that add up');
    my $text = slurp($run->{profile});
    like($text, qr/^\$dprof_line_hz=10000;$/m,
        'a tree with samples of lines names the rate of the samples');
    my %real;
    $real{$1} += $2 while $text =~ /^#l (\d+) \S+ 0 \d+ \d+ (\d+)/mg;
    my ($most) = sort { $real{$b} <=> $real{$a} } keys %real;
    is($most, 3, 'most samples of lines are where most statements run');
    like(run_tool('dprofreport', ['--annotate', $file, $run->{profile}])->{out},
        qr/\d+\.\d+%.*for \(1 \.\. \$n\)/, '--annotate shows the samples of lines');
    for my $how ({ %lines, PERL_DPROF_SAMPLE => 10_000, PERL_DPROF_START => 'no' },
        { %lines, PERL_DPROF_SAMPLE => 10_000, PERL_DPROF_EVENTS => 'svs' },
        { %seed, PERL_DPROF_MODE => 'tree', PERL_DPROF_SAMPLE => 5000 }) {
        my $other = sampled(['-e', 'use Devel::DProf::Control qw(start stop); sub f { my @x = '
            . '(1) x 9; push @x, $_ for 1 .. 500; @x } f(); start(); f(); stop(); f(); start(); '
            . 'f() for 1 .. 9; sub e { eval { f(); die } } e(); END { f() }'], $how);
        is_deeply([$other->{err}, wrong_sums($other->{profile})], [''],
            'other programs have lines that add up');
    }
    my $child = sampled(['-e', 'sub f { my @x = (1) x 9; push @x, $_ for 1 .. 99; @x } '
        . 'f() for 1, 2; if (!fork) { f(); exit } wait; f()'],
        { %lines, PERL_DPROF_SAMPLE => 500, PERL_DPROF_EVENTS => 'svs' });
    is_deeply([$child->{err}, wrong_sums($child->{profile})], [''],
        'a child has lines that add up to its own');
}

# ---- the rest of the recorder ----

{
    my $dir = scratch();
    my $run = sampled([$counted],
        { %each, PERL_DPROF_SLICE => 1, PERL_DPROF_SPOOL => "$dir/spool" });
    my @slices = bsd_glob("$dir/spool/*.tree");
    my $whole = sampled([$counted], \%each);
    is_deeply(folded(@slices), folded($whole->{profile}), 'slices have the samples of the whole');
}
{
    my $run = sampled(<<'END', \%each);
sub f { my $x = 0; $x += $_ for 1 .. 99; $x } f() for 1 .. 20; kill 9, $$
END
    cmp_ok(folded($run->{profile})->{'main::f'}, '>', 1000, 'a killed program leaves its samples');
}
{
    my $run = sampled(<<'END', \%each);
use Devel::DProf::Control; sub f { my $x = 0; $x += $_ for 1 .. 99; $x } sub g { f() }
f(); Devel::DProf::Control::stop(); g() for 1 .. 9; Devel::DProf::Control::start(); f();
END
    my $got = folded($run->{profile});
    is_deeply([grep { /main::g/ } keys %$got], [], 'nothing is sampled while recording is stopped');
    cmp_ok($got->{'main::f'}, '>', 150, 'samples are taken before and after recording was stopped');
}

for my $how (\%each, \%often) {
    my $program = <<'END';
sub on { my $x = 0; $x += $_ for 1 .. 99; $x } sub off { my $x = 0; $x += $_ for 1 .. 99; $x }
for my $n (1 .. 40) { kill USR2 => $$ if $ENV{PERL_DPROF_TOGGLE}; $n % 2 ? on() : off() }
END
    my $run = sampled($program, { %$how, PERL_DPROF_START => 'no', PERL_DPROF_TOGGLE => 'USR2' });
    my $got = folded($run->{profile});
    is("$run->{raw}$run->{err} " . ($got->{'main::off'} // 0), '0 0',
        'a signal switches samples on and off, ' . clock_of($how));
    cmp_ok($got->{'main::on'}, '>', 1000,
        'samples are taken while a signal has switched them on') if $how == \%each;
}

# ---- mistakes ----

for (['tree,lines,sample=10', qr/lines looks at each statement, and sample= samples them/],
    ['sample=10,builtins=slow', qr/names builtins anyway/],
    ['sample=10,events=ops', qr/cannot count ops/],
    ['sample=x', qr/sample=x is not a whole number from 0 to 100000/]) {
    my ($options, $message) = @$_;
    my $run = run_perl(["-d:DProf=$options", '-e', 1], env => { PERL5LIB => tree() });
    like($run->{err}, $message, "the option $options is refused with a message");
}
SKIP: {
    skip 'this perl has lines, so samples may be beside a tree', 2 if $has_lines;
    my $run = run_perl(['-d:DProf=sample=10,tree', '-e', 'print "ran"'],
        env => { PERL5LIB => tree() });
    is($run->{out}, '',
        'samples beside a tree stop perl before the program if lines cannot be recorded');
    like($run->{err}, qr/^DProf: sample= beside a tree needs lines: lines needs a perl of 5\.32 or/,
        'a message says that samples beside a tree need lines');
}

done_testing();
