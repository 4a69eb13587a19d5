# Places of calls: all ways of recording that have them agree with each other and with caller.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Glob ':bsd_glob';
use Test::More;
use DProfTest;

# In the programs below, AT stands for an expression that prints a place.
# Prints what caller says of the running sub; HERE prints the place that the sub's first argument
# names, because for some calls caller names another statement than the one that they stand in.
my $CALLER = join ', ', '(caller 0)[3]', '(caller 0)[1]', '(caller 0)[2]';
my %macros = (
    AT => "syswrite(STDOUT, join(chr(32), $CALLER) . chr(10))",
    HERE => "syswrite(STDOUT, join(chr(32), (caller 0)[3, 1], \$_[0]) . chr(10))",
);

# Modes, each with its options. With samples, what is compared is which places there are: by the
# counting clock each statement is a sample, so no call of a sub that has a statement is missed.
my @modes = (
    { name => 'callsites', options => 'tree,callsites=1' },
    { name => 'a trace that becomes a tree', options => 'trace,callsites=1,limit=1,buffer=16' },
    { name => 'slices', options => 'tree,callsites=1,slice=1,spool=spool' },
    { name => 'lines by samples', options => 'tree,callsites=1,sample=1000', lines => 1 },
    { name => 'samples', options => 'sample=1000', samples => 1 },
    { name => 'lines=count', options => 'tree,lines=count', lines => 1 },
    { name => 'lines', options => 'tree,lines', lines => 1, times => 1 },
    { name => 'slices with lines', options => 'tree,lines,slice=1,spool=spool', lines => 1,
        times => 1 },
);

# What a program needs, which of its modes are left out and why:
#     files     others beside main.pl, by name
#     needs     a module
#     not       { times, samples or the name of a mode => reason }
my @programs;
sub program {
    my ($name, $text, %more) = @_;
    push @programs, { name => $name, text => $text, files => {}, not => {}, %more };
    return;
}

sub without_escapes { return $_[0] =~ s/%([0-9A-F]{2})/chr hex $1/ger }

# Returns { "SUB FILE LINE" => calls } of all contexts in these files.
sub recorded {
    my (@files) = @_;
    my %calls;
    for my $file (@files) {
        my ($tree, %name) = slurp($file) =~ /^PART3\n(.*)/ms or next;
        for (split /\n/, $tree) {
            if (/^& (\w+) (\S+) (\S+)/) {
                my ($id, $name) = ($1, "$2\::$3");
                $name{$id} = without_escapes(/ autoload=(\S+)/ ? $1 : $name);
            } elsif (/^= [1-9]\d* (\w+) (\d+)/) {
                my ($name, $n) = ($name{$1}, $2);
                my $place = /.* at=(\S+):(\d+)/ ? without_escapes($1) . " $2" : 'nowhere';
                $calls{"$name $place"} += $n;
            }
        }
    }
    return \%calls;
}

sub text_of {
    my ($calls, $keep) = @_;
    return join "\n", map { "$_: $calls->{$_}" } sort grep { $keep->($_) } keys %$calls;
}

sub run {
    my ($program, $options) = @_;
    my $dir = scratch();
    my %file = ('main.pl' => $program->{text}, %{ $program->{files} });
    spew("$dir/$_", $file{$_} =~ s/\b(AT|HERE)\b/$macros{$1}/gr) for keys %file;
    spew("$dir/Warm.pm", 'sub warm { 1 } warm() for 1 .. 40; 1');    # the trace becomes a tree
    my $run = run_program([$^X, (PROFILER())[0], "-d:DProf=$options", '-I.', '-MWarm', 'main.pl'],
        dir => $dir, env => { PERL_DPROF_CLOCK => 'counting:50000000', PERL_HASH_SEED => 0 });
    my %said;
    $said{$_}++ for split /\n/, $run->{out};
    my $files = [ grep { -f } bsd_glob("$dir/tmon.out*"), bsd_glob("$dir/spool/*") ];
    return ($run, \%said, recorded(@$files));
}

# Compares what one mode has recorded with what the program has said, and with what the first mode
# has recorded of all other subs that the program calls, XS subs among them.
sub check {
    my ($program, $mode, $first) = @_;
    my $what = "$program->{name}: $mode->{name}";
    my ($why) = grep { defined } map { $program->{not}{$_} }
        $mode->{name}, grep { $mode->{$_} } qw(times samples);
    $why //= no_lines() if $mode->{lines};
    SKIP: {
        skip "$what: $why", 1 if $why;
        my ($run, $said, $got) = run($program, $mode->{options});
        my %subs = map { (split)[0] => 1 } keys %$said;
        delete @$got{grep { !$got->{$_} && / nowhere$/ } keys %$got};
        if ($mode->{samples}) {
            $_ = 1 for values %$said, values %$got;
        }
        # Each `use` is a BEGIN, too, which says nothing, as what -M and -d run.
        my $is_one = sub {
            my ($key) = @_;
            return $key =~ /::BEGIN | main\.pl 0$/ ? $said->{$key} : $subs{ (split ' ', $key)[0] };
        };
        my $is_other = sub {
            return !$is_one->($_[0])
                && $_[0] =~ /^(?!Devel::DProf::)\S+ (?:main\.pl|(?:one|two)\.pm) [1-9]/;
        };
        my ($have, $want) = (text_of($got, $is_one), text_of($said, sub { 1 }));
        my $others = text_of($got, $is_other);
        $$first //= $others;
        ($have, $want) = ("$have\n$others", "$want\n$$first") if !$mode->{samples};
        is(($run->{raw} ? "status $run->{raw}, $run->{err}\n" : '') . $have, $want,
            "the calls come from the right places: $what");
    }
    return;
}

program('plain calls' => <<'P');
sub f { AT; g(1); g(2);
    g(3) }
sub g { AT; 1 }
f();
&f;
my $f = \&f;
$f->();
for (1 .. 3) { f() }
f(
    g(
        1),
    2);
P

my %do_block = (not => { times => 'a do that is one statement is a part of the one around it' });
program('a block that is one statement' => <<'P');
sub f { HERE; 1 }
for my $n (1 .. 3) {
    if ($n == 1) {
        f(__LINE__);
    } elsif ($n == 2) {
        f(__LINE__) + 1;
    } else {
        f(__LINE__) + f(__LINE__);
    }
    unless ($n == 1) {
        f(__LINE__) + 2;
    }
}
for (1 .. 2) {
    f(__LINE__);
}
my $i = 0;
while ($i < 2) {
    $i += f(__LINE__);
}
my $x = 1;
$x and
    f(__LINE__ - 1);
P

my %several = (not => { samples => 'several calls return to one op' });
program('blocks in blocks' => <<'P', %several);
sub f { HERE; 1 }
for my $n (1 .. 3) {
    if ($n == 1) {
        if (@ARGV == 0) {
            f(__LINE__);
        }
    } elsif (f(__LINE__) && f(
        __LINE__ - 1) == 2) {
        f(__LINE__);
    } elsif (
        f(__LINE__ - 1)) {
        f(__LINE__);
    }
}
P

program('a do and a map that are one statement' => <<'P', %do_block);
sub f { HERE; 1 }
my $x = do {
    f(__LINE__);
};
my @x = sort { $a <=> $b } map { $_ + 1 } map {
    f(__LINE__) + 1
} 1 .. 2;
P

program('the condition of a loop' => <<'P');
sub f { HERE; $_[1] }
my $i = 0;
while (f(__LINE__, $i < 2)) {
    $i++;
    f(__LINE__);
}
until (f(__LINE__, $i > 3) || f(__LINE__)) {
    f(__LINE__);
    $i++;
}
while ($i < 6) {
    my $n = $i;
    $i++;
    while (f(__LINE__, $n > 0)) {
        f(__LINE__);
        if ($n-- == 2) {
            f(__LINE__);
            next;
        }
        $n -= 2;
    }
}
for (my $n = f(__LINE__, 0); f(__LINE__, $n < 2); $n++) {
    f(__LINE__);
    f(__LINE__);
}
sub again { HERE; my $n = 3;
    while (f(__LINE__, $n--)) {
        f(__LINE__);
        1;
    }
    1 }
again(__LINE__);
P

program('methods' => <<'P');
package P; sub new { AT; bless {} } sub m { AT; 1 }
package Q; our @ISA = 'P'; sub m { AT; my $o = shift; $o->
    SUPER::m() }
package main;
my $o = Q->new;
$o->m;
my $m = 'm';
$o->$m;
Q->can('m')->($o);
P

program('blocks of List::Util' => <<'P');
use List::Util qw(first any all sum reduce max);
sub g { AT; 1 }
sub h { AT; $_[0] }
my $x = first {
    AT;
    g($_);
    $_ > 3
} 1 .. 4;
my $y = any {
    AT;
    if ($_) {
        h($_);
    }
    g() && $_ == 3
} 1 .. 4;
my $z = reduce {
    AT;
    g();
    my $s = first {
        AT;
        g();
        h($_) == 2
    } 1 .. 3;
    $a + $b
} 1 .. 4;
sub list {
    return all {
        AT;
        h(1)
    } @_;
}
list(1 .. 3);
P

my %behind = (not => { times => 'the last statement of a block goes on' });
program('calls behind a block' => <<'P', %behind);
sub f { AT; 1 }
my @x = reverse sort { $a <=> $b } f(), f(map {
    f();
    f();
} 1 .. 2);
my $x = do {
    my $y = 1;
    f();
} + f();
P

program('a sub as a callback of List::Util' => <<'P');
use List::Util qw(first reduce);
sub is { AT; h($_);
    $_ > 2 }
sub h { AT; 1 }
sub plus { AT;
    h(1);
    $a + $b }
my $x = &first(\&is, 1 .. 3);
$x = &reduce(
    \&plus, 1 .. 4);
if ($x) {
    $x = &first(\&is, 1 .. 3);
}
P

program('pairs of List::Util' => <<'P', needs => [ 'List::Util', 1.29 ]);
use List::Util qw(pairmap uniq);
sub g { AT; 1 }
my @x = pairmap {
    AT;
    g();
    $a
} 1 .. 6;
@x = List::Util::pairgrep {
    AT;
    g();
    $a
} 1 .. 6;
P

program('comparators' => <<'P');
sub by { AT; h();
    $a <=> $b }
sub h { AT; 1 }
my @x = sort by 3, 2;
my $by = sub {
    AT;
    h();
    $a <=> $b
};
@x = sort $by
    3, 2;
@x = sort {
    h();
    $a <=> $b
} 3, 2;
if (@x) {
    @x = sort by 3, 2, 1;
}
sub proto ($$) { AT; $_[0] <=> $_[1] }
@x = reverse sort proto 3, 2;
P

program('overloading' => <<'P');
package P;
use overload '+' => sub { AT; f(); 1 }, '""' => \&text, '&{}' => sub { AT; sub { AT; 1 } },
    '<=>' => sub { AT; 0 }, bool => sub { AT; 1 };
sub text { AT; 'x' }
sub f { AT; 1 }
package main;
my $o = bless [], 'P';
my $x = $o + 1;
$x = "$o";
$o->();
if ($o) {
    $x = $o + 2;
}
my @x = sort { $a <=> $b } $o, $o;
P

program('ties' => <<'P');
package P;
sub TIESCALAR { AT; bless [] } sub FETCH { AT; f(); 1 } sub STORE { AT; 1 }
sub f { AT; 1 }
package main;
tie my $t, 'P';
my $x = $t;
$t = 2;
if ($x) {
    $t = 3;
}
foreach my $y ($t) {
    $x = $y;
}
P

program('DESTROY' => <<'P');
package P; sub new { AT; bless [] } sub DESTROY { AT; f() } sub f { AT; 1 }
package main;
{
    my $x = P->new;
    1;
}
sub s1 { AT; my $x = P->new;
    my $y = 1;
    $y }
s1();
P->new;
my $u = P->new;
undef $u;
if (1 + @ARGV) {
    undef $u;
    my $v = P->new;
    undef $v;
}
my $o = P->new;
$o = P->new;
undef $o;
P

program('DESTROY while die unwinds' => <<'P');
package P; sub new { AT; bless [] } sub DESTROY { AT; f() } sub f { AT; 1 }
package main;
sub a1 { AT; my $x = P->new;
    a2();
    1 }
sub a2 { AT; my $x = P->new;
    a3();
    1 }
sub a3 { AT; my $x = P->new;
    die "x\n";
    1 }
eval {
    a1();
};
eval { my $x = P->new; die P->new };
$@ = '';
for my $n (1, 2) {
    a4($n) for 1;
}
sub a4 { AT; my $x = P->new;
    a5(@_);
    1 }
sub a5 { AT; my $x = P->new;
    no warnings;
    next;
}
P

my %late = (not => { samples => 'no sample is taken in global destruction' });
program('DESTROY in global destruction' => <<'P', %late);
package P; sub new { AT; bless [] } sub DESTROY { AT; f(); f() } sub f { AT; 1 }
package main;
our $x = P->new;
our $y = [ P->new ];
END { my $z = 1; }
my $w = P->new;
1;
P

program('exit in a sub, with objects' => <<'P', %late);
package P; sub new { AT; bless [] } sub DESTROY { AT; f() } sub f { AT; 1 }
package main;
our $x = P->new;
sub a1 { AT; my $x = P->new;
    a2();
    1 }
sub a2 { AT; my $x = P->new;
    exit 0;
}
END { AT; P::f();
    P::f() }
a1();
P

program('BEGIN and its like' => <<'P');
sub g { AT; 1 }
BEGIN { AT; g() }
UNITCHECK { AT; g() }
CHECK { AT; g() }
INIT { AT; g() }
END { AT; g() }
BEGIN {
    AT;
    g();
    g();
}
END {
    AT;
    g();
}
g();
P

program('a file that is required' => <<'P', files => { 'one.pm' => <<'one', 'two.pm' => <<'two' });
sub f { AT; 1 }
f();
require one;
one::g();
do './two.pm';
two::g();
P
package one;
sub g { AT; 1 }
BEGIN {
    AT;
    g();
}
g();
main::f();
END { AT; g() }
sub h {
    AT;
    g();
}
h();
1;
one
package two;
BEGIN { AT; }
sub g { AT; one::g() }
g();
1;
two

program('use' => <<'P', files => { 'one.pm' => <<'one', 'two.pm' => <<'two' });
use two;

use one qw(a);
one->import;
no
    one;
P
package one;
use strict;
use two;
sub import { AT; g() }
sub unimport { AT; g() }
sub g { AT; 1 }
BEGIN { AT; g() }
g();
1;
one
package two;
sub import { AT; g();
}
sub g { AT; 1 }
BEGIN {
    AT;
    g();
}
g();
1;
two

program('string evals' => <<'P');
sub f { AT; 1 }
eval 'f();
f(); sub g { AT; f() } g();';
eval "f();\n" x 2;
eval 'BEGIN { AT; f() }
BEGIN { AT; f() } 1';
eval 'die'; f();
eval {
    f();
};
eval "#line 7 foo\nf();\ng();";
# line 100 "bar baz"
f();
P

program('AUTOLOAD, goto' => <<'P');
our $AUTOLOAD;
sub AUTOLOAD { AT; f();
    return 1 if $AUTOLOAD =~ /DESTROY/;
    1 }
sub f { AT; 1 }
sub g {
    AT;
    my $x = 1;
    goto &f;
}
sub h {
    AT;
    goto &g;
}
use Scalar::Util 'blessed';
sub to_xs {
    AT;
    goto &blessed;
}
nothing();
main->none;
g();
h();
to_xs(1);
if (@ARGV == 0) {
    h();
    to_xs(1);
}
my @x = map { h() } 1 .. 2;
use List::Util 'first';
my $y = first {
    AT;
    h();
    $_ == 2;
} 1 .. 3;
P

my %handler = (not => { samples => 'by the counting clock, none is taken in a handler' });
program('signals' => <<'P', %handler);
sub f { AT; 1 }
$SIG{USR1} = sub { AT;
    f(); };
$SIG{USR2} = \&f;
kill USR1 => $$;
kill USR2 => $$;
if (1 + @ARGV) {
    kill USR1 => $$;
}
1;
P

program('__WARN__ and __DIE__' => <<'P');
sub f { AT; 1 }
$SIG{__WARN__} = sub { AT;
    f(); };
$SIG{__DIE__} = sub { AT;
    f(); };
warn 'x';
my $u;
{ use warnings;
    my $x = "a$u";
}
eval {
    die 'x';
};
sub d { AT; die 'y' }
eval { d() };
eval 'x x x';
if (1 + @ARGV) {
    warn 'x';
}
P

program('code in regexes' => <<'P');
sub f { AT; 1 }
'ab' =~ /a(?{ f() })b/;
'ab' =~ /a(?{
    f();
    f();
})b/;
(my $x = 'aa') =~ s/a/f()/ge;
$x =~ s{1}{
    f();
}e;
P

my %object = (not => { times => 'the statement that matches runs' });
program('code in a regex object' => <<'P', %object);
sub f { AT; 1 }
my $re = qr/a(??{ f(); 'b' })/;
'ab' =~ $re;
my $other = qr/a(?{ f() })/;
'ab' =~ $other;
P

program('formats' => <<'P');
sub f { AT; 1 }
format STDERR =
@<<<
f()
.
{
    open my $null, '>', '/dev/null';
    open STDERR, '>&', $null;
    write STDERR;
}
P

program('lvalues, closures, recursion, local' => <<'P');
my $v;
sub l : lvalue { AT; $v }
l() = 3;
my @c = map { my $n = $_; sub { AT; $n } } 1 .. 2;
$_->() for @c;
sub r { AT; my $n = shift;
    r($n - 1) if $n;
    if ($n) {
        r(0) + 1;
    }
    $n }
r(3);
sub s1 { AT;
    return
        l();
}
my ($p, $q) = (s1(),
    l());
P

program('wantarray, sort in a callback, callbacks in callbacks' => <<'P');
use List::Util qw(first any);
sub by { AT; any {
        AT;
        $_ == 1;
    } 1 .. 2;
    $a <=> $b }
my $x = first {
    AT;
    my @y = sort by 2, 1;
    any {
        AT;
        my @z = sort by 3, 4;
        1 == 0
    } 1 .. 2;
    $_ == 2
} 1 .. 2;
P

program('a callback dies' => <<'P');
use List::Util qw(first);
sub f { AT; 1 }
for (1 .. 2) {
    eval {
        first {
            AT;
            f();
            die if $_ == 2;
            0
        } 1 .. 3;
    };
    f();
}
my $x = first {
    AT;
    return 1 if f();
    0;
} 1 .. 2;
P

my %early = (not => { 'a trace that becomes a tree' => 'it begins with another trace' });
program('threads' => <<'P', needs => ['threads'], %early);
use threads;
sub f { AT; 1 }
sub t { AT; f();
    f() }
threads->create(\&t)->join;
threads->create('t')->join;
threads->create(sub { AT;
    t(); })->join;
sub in { AT;
    threads->create(\&t)->join;
    f();
}
in();
P

program('fork' => <<'P', %early);
sub f { AT; 1 }
f();
if (!fork) {
    f();
    f() + 1;
    exit;
}
wait;
f();
P

for my $program (@programs) {
    my $first;
    SKIP: {
        skip "$program->{name}: @{ $program->{needs} } is missing", scalar @modes
            if $program->{needs} && !DProfTest::module_there(@{ $program->{needs} });
        check($program, $_, \$first) for @modes;
    }
}
done_testing;
