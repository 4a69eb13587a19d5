# Programs that are hard on a sampler, and the corpus of t/scripts, sampled in many ways. Each
# prints and returns what it does without the profiler, and its profile is whole and adds up. strace
# sees no signal.
#
#   prove -b xt/samples.t                       all, some 15 minutes
#   SAMPLES='^fork' WAYS=often,slices prove -bv xt/samples.t
#
# SAMPLES is a regex of names, WAYS a list of ways; without WAYS, the corpus has two of them.
use strict;
use warnings;
use lib 't/lib';
use Config;
use File::Glob ':bsd_glob';
use Test::More;
use DProfTest;
use LineReader;

my %often = (PERL_DPROF_SAMPLE => 5000);
my %each = (PERL_DPROF_SAMPLE => 100_000, PERL_DPROF_CLOCK => 'counting:10000');
my %way = (
    each => \%each, often => \%often, 'most often' => { PERL_DPROF_SAMPLE => 100_000 },
    checkpoints => { %often, PERL_DPROF_CHECKPOINT => 1 },
    compressed => { %often, PERL_DPROF_COMPRESS => 6 },
    only => { %often, PERL_DPROF_ONLY => 'main' }, skip => { %often, PERL_DPROF_SKIP => '[a-m]' },
    callsites => { %often, PERL_DPROF_CALLSITES => 1 },
    events => { %often, PERL_DPROF_EVENTS => '?instructions+?page-faults+svs' },
    slices => { %often, PERL_DPROF_SLICE => 1 },
    'all slices' => { %each, PERL_DPROF_CLOCK => 'counting:1000000', PERL_DPROF_SLICE => 1 },
    contexts => { %often, PERL_DPROF_CONTEXTS => 16 },
    toggled => { %often, PERL_DPROF_START => 'no', PERL_DPROF_TOGGLE => 'USR2' },
);
my @ways = $ENV{WAYS} ? split /,/, $ENV{WAYS} : sort keys %way;
exists $way{$_} or die "there is no way $_: " . join(', ', sort keys %way) . "\n" for @ways;
my $wanted = qr/$ENV{SAMPLES}/ if defined $ENV{SAMPLES};

# Returns what is wrong with the profiles of a run. What a child leaves that ends by POSIX::_exit is
# cut short; the program's text shows whether it has such ones. first: the profile of the process
# that the test starts, which is whole.
sub flaws {
    my ($name, $program, $first, @files) = @_;
    my $may_be_cut = $program =~ /\b_exit\b/;
    return map {
        my $text = slurp($_);
        my @wrong = LineReader::problems(LineReader::read_text($text));
        push @wrong, 'is not whole'
            if $text !~ /\$dprof_complete=1;/ && !($may_be_cut && $_ ne $first);
        map { "$name: $_" } @wrong;
    } @files;
}

sub try_program {
    my ($name, $way, $plain, $args, %env) = @_;
    my %how = %{ $way{$way} };
    my $dir = scratch();
    $how{PERL_DPROF_SPOOL} = "$dir/spool" if $how{PERL_DPROF_SLICE};
    my $run = profiled($args, limit => 120, env => { %env, %how });
    # The C library handles signal 33 itself in a process of several threads.
    s/\bSigCgt\W\s*\d{7}\K1/0/g for $plain->{out}, $run->{out};
    my @wrong = same_as_plain($plain, $run) || ();
    my ($program) = grep { -f } @$args;
    push @wrong, flaws($name, slurp($program), $run->{profile}, grep { !/\.live\z/ }
        bsd_glob($how{PERL_DPROF_SPOOL} ? "$dir/spool/*.tree" : "$run->{profile}*"));
    return is(join("\n", @wrong), '', "$name is sampled as it should be, $way");
}

# ---- hard ones ----

my %hard = do { local $/; <DATA> =~ /^=== (.*)\n((?:(?!=== ).*\n)+)/mg };
for my $title (sort keys %hard) {
    next if $wanted && $title !~ $wanted;
    my ($name, $how) = $title =~ /\A(.*?)(?: \[(.*)\])?\z/;
    my @how = split ' ', $how // '';
    my %env = (PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0, map { /=/ ? split /=/ : () } @how);
    my @args = ((grep { !/=/ } @how), spew(scratch() . '/p.pl', $hard{$title}));
  SKIP: {
        my ($needs) = $hard{$title} =~ /^use ((?:Coro|threads)\b)/m;
        skip "$name: there is no $needs", 1 if $needs && run_perl(['-e', "require $needs"])->{raw};
        my $plain = plain(\@args, limit => 120, env => \%env);
        try_program($name, $_, $plain, \@args, %env) for @ways;
    }
}

# ---- the corpus ----

for my $file (glob root() . '/t/scripts/{calls,exits,same,modules}/*.pl') {
    my ($head) = slurp($file) =~ /\A((?:#.*\n)*)/;
    my ($name) = $file =~ m{(\w+/\w+)\.pl$};
    next if $wanted && $name !~ $wanted;
    my ($needs, $perl, $switches, $args) =
        map { $head =~ /^# $_: (.*?)\s*$/m ? $1 : '' } qw(needs perl switches args);
  SKIP: {
        skip "$name: needs $needs", 1 if $needs && plain(['-e', "require $needs"])->{raw};
        skip "$name: needs perl $perl", 1 if $perl && $] < version->parse($perl)->numify;
        my @program = (split(' ', $switches), $file, split ' ', $args);
        my %env = (PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0, EXPECT => scratch() . '/expect');
        my $plain = plain(\@program, limit => 120, env => \%env);
        # Thousands of frames at each safe point take minutes.
        try_program($name, $_, $plain, \@program, %env)
            for $ENV{WAYS} ? @ways : $name eq 'calls/deep' ? 'often' : qw(each often);
    }
}

# ---- signals ----

SKIP: {
    skip 'there is no strace', 2 if !grep { -x "$_/strace" } split /:/, $ENV{PATH};
    my $log = scratch() . '/log';
    my $program = 'my $n = 0; for (1 .. 300) { $n++ if select undef, undef, undef, 0.001 } '
        . 'my $x; $x++ for 1 .. 3e6; print $n, CORE::sleep(1), "\n"';
    my $run = run_program(['strace', '-f', '-e', 'trace=none', '-o', $log, $^X, PROFILER(), '-e',
        $program], limit => 120, env => { %often });
    like($run->{out}, qr/\A0[12]\n\z/, 'no select ends early, and neither does a sleep');
    my @signals = grep { /^\d+ +---/ } split /\n/, slurp($log);
    is_deeply(\@signals, [], 'strace sees no signal');
}

# ---- programs that wait ----

# The share of CPU time, in percent, of the nodes of this sub.
sub cpu_share_of {
    my ($sub, $text) = @_;
    my ($pkg, $name) = $sub =~ /(.*):(.*)/;
    my ($id) = $text =~ /^& (\w+) \Q$pkg\E:? \Q$name\E\b/m or return 0;
    my ($of, $all) = (0, 0);
    while ($text =~ /^= \d+ (\w+) \d+ (\d+) (\d+) /mg) {
        $all += $2 + $3;
        $of += $2 + $3 if $1 eq $id;
    }
    return 100 * $of / $all;
}

# Short work and long waits: nearly all ticks find the program waiting, and none of its time there
# is CPU time. It had five sixths of all before that was told apart.
if (!$wanted || 'short work, long waits' =~ $wanted) {
    my $path = spew(scratch() . '/waits.pl', 'sub work { my $x = 0; $x += $_ for 1 .. 60_000; $x }'
        . 'for (1 .. 400) { work(); select undef, undef, undef, 0.05 }');
    my $run = profiled([$path], limit => 120, env => { PERL_DPROF_SAMPLE => 100 });
    my $text = slurp($run->{profile});
    my ($waits, $works) = map { cpu_share_of($_, $text) } 'CORE:select', 'main:work';
    cmp_ok($waits, '<', 50, "a process that mostly waits has $waits % of the CPU time");
    cmp_ok($works, '>', 40, "a process that works has $works % of the CPU time");
}

done_testing();
__DATA__
=== evals that are freed
my $x = 0;
for my $i (1 .. 2000) {
    $x += eval "sub z { my \$y = \$_[0]; \$y + $i } z($i)";
    undef &z; eval '1 +'; eval { die [$i] };
}
print "$x\n";
=== BEGIN storms and folded constants
use warnings; my $n = 0; local $SIG{__WARN__} = sub { $n++ };
for my $i (1 .. 600) {
    eval "BEGIN { \$main::c += 2 * 3 + $i; my \$z = 1; \$z++ for 1 .. 3 }"
        . "use constant K$i => 'a' . 'b' x $i; \$main::s .= K$i . (1 + 2 * 3) . 'x' x 3";
    eval "my \@x = (1 / 0, 'abc' + 1, -'x', 'a' lt 'b' ? 3 : 4); \$main::z = 1 + 'q$i'";
}
print "$main::c $n ", length $main::s, "\n";
=== exit in BEGIN
BEGIN { my $x = 0; $x += $_ for 1 .. 50_000; print "b\n"; exit 4 } print 1;
=== die in END
sub w { my $s = 0; $s += $_ for 1 .. 30_000; $s } w();
END { w(); print "e1\n"; die "in END\n" } END { w(); $? = 3; print "e2\n" }
=== destruction [PERL_DESTRUCT_LEVEL=2]
package O; sub new { my $c = shift; bless {@_}, $c }
sub DESTROY { my $s = 0; $s += $_ for 1 .. 500; $main::n++ }
package main; our @keep = map { O->new(k => $_) } 1 .. 50; our %h = (a => O->new);
my $cycle = O->new; $cycle->{s} = $cycle; tie our $t, 'T';
sub T::TIESCALAR { bless [] } sub T::DESTROY { my $s = 0; $s += $_ for 1 .. 5000 }
END { undef $keep[$_] for 1 .. 9; print "$main::n\n" }
=== threads born and dead
use threads; use threads::shared; my $n : shared = 0;
sub work { my $s = 0; for my $i (1 .. 300) { $s += $i; eval "$i+1" if !($i % 50) } $n++; $s }
for (1 .. 15) { my @t = map { threads->create(\&work) } 1 .. 3; $_->join for @t }
threads->create(sub { work() for 1 .. 3; threads->exit })->join;
eval { die }; threads->create(sub { threads->create(\&work)->join })->join; print "done\n";
=== forks, execs, _exit
use POSIX (); $| = 1; my $t = 0;
for (1 .. 20) {
    for my $n (1 .. 4) {
        next if fork;
        my $s = 0; $s += $_ for 1 .. 2000;
        exec $^X, '-e', 'exit 5' if $n == 1;
        POSIX::_exit(3) if $n == 2;
        exit $n;
    }
    while (wait > 0) { $t += $? >> 8 }
}
sub deep {
    my ($d) = @_;
    return 0 if !$d;
    if (!fork) { exit deep($d - 1) }
    wait; return 1 + ($? >> 8);
}
print "$t ", deep(6), "\n";
=== execs itself
my $s = 0; $s += $_ for 1 .. 5000;
exec $^X, '-e', 'print "done\n"' if ($ENV{AGAIN}++ // 0) > 5;
exec $^X, $0;
=== handlers that die
my ($n, $d) = (0, 0); $SIG{USR1} = sub { $n++; die "sig\n" };
for (1 .. 400) { eval { kill USR1 => $$; my $x = 0; $x += $_ for 1 .. 50; 1 } or $d++ }
local $SIG{__DIE__} = sub { my $z = 0; $z += $_ for 1 .. 20 }; eval { die 1 } for 1 .. 500;
eval { eval { die "a\n" }; print $@; die "b\n" }; print "$n $d $@";
=== alarms
use Time::HiRes qw(setitimer ITIMER_REAL); my ($n, $d) = (0, 0);
{
    local $SIG{ALRM} = sub { $n++ }; setitimer(ITIMER_REAL, 0.001, 0.001);
    while ($n < 200) { (join ',', map { $_ * 2 } 1 .. 20) =~ /(\d+),(\d+)$/ }
    setitimer(ITIMER_REAL, 0);
}
for (1 .. 50) {
    eval {
        local $SIG{ALRM} = sub { die "late\n" }; setitimer(ITIMER_REAL, 0.001);
        while (1) { my @s = sort { $a <=> $b } 5, 4, 3 }
    };
    $d++ if $@ eq "late\n";
}
print $n >= 200 ? "$d\n" : 'few', defined $SIG{ALRM} ? 1 : 0, "\n";
=== unsafe signals [PERL_SIGNALS=unsafe]
my $n = 0; $SIG{USR1} = sub { $n++ };
for (1 .. 2000) { kill USR1 => $$; my $x = 0; $x += $_ for 1 .. 30 }
local $SIG{ALRM} = sub { $n = -1 }; alarm 1; select undef, undef, undef, 3; print "$n\n";
=== masks and changing handlers
use POSIX; my $n = 0; my $set = POSIX::SigSet->new(SIGUSR1);
sigprocmask(SIG_BLOCK, $set); $SIG{USR1} = sub { $n++ }; my $x = 0;
for (1 .. 100) { kill USR1 => $$; $x += $_ for 1 .. 100 }
print "$n "; sigprocmask(SIG_UNBLOCK, $set); $x++; print "$n ";
sigaction(SIGUSR2, POSIX::SigAction->new(sub { $n += 10 }, POSIX::SigSet->new, SA_RESTART));
for (1 .. 200) {
    $SIG{INT} = sub { $n++ }; kill INT => $$; $x += $_ for 1 .. 50; delete $SIG{INT}; local %SIG;
}
print "$n\n";
=== taint [-T]
my $s = 0; $s += $_ for 1 .. 200_000; print "$s ${^TAINT}\n";
eval { system "echo $ENV{PATH}" }; print $@ ? "insecure\n" : "?\n";
=== sort, tie, overload
package S; sub TIESCALAR { bless [] } sub FETCH { my $v = 0; $v += $_ for 1 .. 3; $v }
package H; sub TIEHASH { bless {} } sub FETCH { "$_[1]!" } sub FIRSTKEY { 'a' }
sub NEXTKEY { $_[1] lt 'e' ? chr(1 + ord $_[1]) : undef }
package V; sub new { bless { v => $_[1] } }
use overload '+' => sub { V->new($_[0]{v} + (ref $_[1] ? $_[1]{v} : $_[1])) },
    '""' => sub { "v$_[0]{v}" }, '<=>' => sub { $_[0]{v} <=> $_[1]{v} }, '@{}' => sub { [1, 2] },
    '&{}' => sub { my $s = shift; sub { $s->{v} } }, 'bool' => sub { 1 };
package main; sub by { $a->{v} <=> $b->{v} } my $sum = V->new(0);
for (1 .. 150) {
    my @v = map { V->new($_ * 7 % 31) } 1 .. 20;
    @v = sort by @v; @v = sort { $b <=> $a } @v; @v = reverse sort { by() } @v;
    $sum = $sum + $_ for @v; tie my $s, 'S'; tie my %h, 'H';
    $x .= ($s + $s) . join('', %h) . "@{$v[0]}" . $v[1]->();
}
eval { my @r = sort { die "in sort\n" if $a == 3; $a <=> $b } 1 .. 9 };
print "$sum ", length $x, " $@";
=== code in regexes
use re 'eval'; my $n = 0; sub f { my $s = 0; $s += $_ for 1 .. 5; $s }
for my $i (1 .. 300) {
    my $c = '\w'; 'abcdef' =~ /(?:$c(?{ $n++ }))+(??{ $n > 5 ? 'f' : '.' })?/;
    (my $z = 'aXbXc') =~ s/X/f($i)/ge; ('a' x 15 . 'b') =~ /^(a+)+$/;
    'zz9' =~ /(\d)/; f(); die if $1 != 9; $! = 5; $@ = 'keep'; f(); die if $! != 5 || $@ ne 'keep';
}
print "$n\n";
=== formats
my ($name, $k) = ('x', 0); sub v { my $s = 0; $s += $_ for 1 .. 20; $s }
format STDOUT =
@<<<<< @>>>>
$name, v($k)
.
for (1 .. 200) { $name = "n$_"; write }
=== source filters
BEGIN {
    package Flt; $INC{'Flt.pm'} = 1; require Filter::Util::Call;
    sub import {
        Filter::Util::Call::filter_add(sub {
            my $got = Filter::Util::Call::filter_read(); my $z = 0; $z += $_ for 1 .. 200;
            s/HELLO/print "hi\\n"/g if $got > 0; $got;
        });
    }
}
use Flt;
HELLO; sub q1 { HELLO } q1() for 1 .. 3;
=== AUTOLOAD, goto, DESTROY
our $AUTOLOAD; my ($k, $n) = (0, 0);
sub AUTOLOAD {
    my $name = $AUTOLOAD; return if $name =~ /DESTROY/; $k++; return $name if $name !~ /g(\d)/;
    no strict 'refs'; *$name = sub { my $s = 0; $s += $_ for 1 .. $_[0]; $s }; goto &$name;
}
for my $r (1 .. 300) { &{"a$r"}; &{ 'g' . $r % 10 }(2); my $o = bless []; $o->foo }
sub a1 { $n++; goto &b1 }
sub b1 { my $x = 0; $x += $_ for 1 .. 9; goto OUT if !($n % 5); @_ }
for my $i (1 .. 2000) { a1($i); OUT: }
no warnings; sub l { last } for (1 .. 500) { for (1 .. 3) { l() } }
my $i = 0; L: $i++; goto L if $i < 20_000; print "$k $n\n";
=== deep recursion
no warnings; sub r { my $n = shift; $n ? r($n - 1) + 1 : 0 } print r(3000), "\n";
my $re = qr/(\((?:[^()]|(?1))*\))/; print +('(' x 300 . ')' x 300) =~ $re ? 1 : 0, "\n";
my $f; $f = sub { my $n = shift; eval { $n ? $f->($n - 1) : die "bottom\n" }; die $@ if $@ };
eval { $f->(500) }; print $@;
=== callers and B
my @c; sub ca { my $i = 0; while (my @x = caller $i++) { push @c, "$x[3]:$x[2]" } } sub cb { ca() }
cb() for 1 .. 500; eval { cb() }; eval 'cb(); 1';
use Carp; eval { sub { Carp::confess('cc') }->() };
use B::Deparse; sub dp { my ($x, $y) = @_; if ($x) { $y++ } else { $y += $_ for 1 .. 3 } $y }
dp(1, 2) for 1 .. 2000; print scalar @c, " $@", B::Deparse->new->coderef2text(\&dp), "\n"; warn 'w';
=== all descriptors closed
use POSIX (); POSIX::close($_) for 3 .. 300; my $s = 0; $s += $_ for 1 .. 300_000;
open my $in, '<', $0; print fileno $in, " $s\n";
=== modules that are required again
unshift @INC, sub {
    my ($n) = $_[1] =~ /^M(\d+)\.pm$/ or return;
    return \"package M$n; sub import { \$main::n++ } BEGIN { \$main::b++ } sub f { $n } 1;\n";
};
for my $i (1 .. 200) {
    eval "use M$i; \$main::s += M$i\::f(); 1" or die $@; delete $INC{"M$i.pm"};
}
print "$n $b $s\n";
=== lvalues, local, state
use feature qw(state say); my $v = 0; sub lv : lvalue { my $x = 0; $x += $_ for 1 .. 5; $v }
lv() = $_ for 1 .. 2000; our ($g, @a, %h) = (1);
sub d { local $g = $g + 1; local @a = (@a, 1); local $h{x} = 1; $_[0] ? d($_[0] - 1) : $g }
d(200) for 1 .. 20; sub app(&@) { my $c = shift; map { $c->($_) } @_ } my $t = 0;
for (1 .. 200) { $t += $_ for app { state $n = 0; $n++; $_[0] * 2 } 1 .. 10 } say "$v $g $t";
=== coroutines
use Coro; my $left = 6; my @n;
sub step { my $x = 0; $x += $_ for 1 .. 200; cede; eval { die "x\n" }; $x }
async { my $k = shift; for (1 .. 40) { step(); $n[$k]++ } $left-- } $_ for 0 .. 5;
cede while $left; my $c = async { cede while 1 }; cede for 1 .. 50; $c->cancel;
my $t = 0; $t += $_->join for map { async { $_[0] * 2 } $_ } 1 .. 20; print "@n $t\n";
=== toggled
my $s = 0; sub work { my $x = 0; $x += $_ for 1 .. 3000; $x }
for my $i (1 .. 60) { kill USR2 => $$ if $ENV{PERL_DPROF_TOGGLE}; $s += work() } print "$s\n";
