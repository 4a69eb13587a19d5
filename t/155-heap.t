# heap=exact: values that live, by the context and the line that made them; and no_growth_ok.
use strict;
use warnings;
use Config;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;
use FuzzProgram;
use RunReader qw(MODES wrong_sums by_path);

my $has_lines = grep { $_->[0] eq 'lines' } MODES;

# Runs a program plain and with heap=exact. Returns the run.
sub followed {
    my ($code, $what, %env) = @_;
    my $file = spew(scratch() . '/p.pl', $code);
    my $plain = plain(['-I' . root() . '/lib', $file], env => \%env);
    my $run = profiled([$file], limit => 60, env => { counting(), PERL_DPROF_MODE => 'tree',
        PERL_DPROF_HEAP => 'exact', $has_lines ? (PERL_DPROF_LINES => 'time') : (), %env });
    is(same_as_plain($plain, $run), '', "the program runs as plain: $what");
    return $run;
}

# ---- programs that know what they leave ----

my @programs = (
    ['a cache', <<'END', { 'main::get' => 3000 }],
my %cache;
sub get { my ($k) = @_; $cache{$k} = { id => $k }; return $cache{$k} }
for my $i (1 .. 1000) { get("k$i") }
END
    ['cycles', <<'END', { 'main::cycle' => 4000 }],
sub cycle { my $a = {}; my $b = {}; $a->{b} = $b; $b->{a} = $a; return }
cycle() for 1 .. 1000;
END
    ['values that another sub frees', <<'END',
my @q; { my $first = bless {}, 'Obj' }     # makes the class
sub make { my ($n) = @_; return bless { n => $n }, 'Obj' }
sub put { push @q, make($_[0]); return }
sub drop { shift @q; return }
for my $i (0 .. 2999) { put($i); drop() if $i >= 300 }
END
        { 'main::put' => 300, 'main::put;main::make' => 600 }],
    ['heads that are used again', <<'END', { 'main::first' => 0, 'main::second' => 3000 }],
our %h;
sub first { $h{ $_[0] } = [1]; return }
sub second { delete $h{ $_[0] - 1000 }; $h{ $_[0] } = [1]; return }
first($_) for 0 .. 999; second($_) for 1000 .. 2999;
END
    ['temporary values', <<'END', {}],
sub noise {
    my @t = map { +{ a => $_ } } 1 .. 20;
    my %h = map { $_ => [$_] } 1 .. 20;
    return @t + keys %h;
}
noise() for 1 .. 100;
END
    ['weak references', <<'END', { 'main::strong' => 300 }],
use Scalar::Util 'weaken';
our (@kept, @weak);
sub strong { push @kept, [1]; return }
sub weak { my $x = [1]; push @weak, $x; weaken($weak[-1]); pop @weak; return }
strong(), weak() for 1 .. 100;
END
    ['exceptions and local', <<'END', { 'main::fails' => 200 }],
our ($global, @kept);
sub fails {
    local $global = [1, 2];
    my $x = { a => [1] };
    push @kept, \'constant';
    die { x => $x };
}
for (1 .. 200) { eval { fails() } }
$@ = '';
END
    ['a DESTROY that keeps its object', <<'END', { 'main::make' => 20 }],
our @kept;
package Kept { sub DESTROY { push @main::kept, $_[0] } }
sub make { my $x = bless [], 'Kept'; return }
make() for 1 .. 20;
END
);
for (@programs) {
    my ($what, $code, $want) = @$_;
    my $run = followed("$code\n1;\n", $what);     # temporary values end with their statement
    my $got = by_path($run->{profile}, 'live-values');
    my %is = map { $_ => $got->{$_} // 0 } keys %$want;
    is_deeply(\%is, $want, '... and each sub has what it left') || diag explain $got;
    my @others = grep { /main::(?!BEGIN)/ && !$want->{$_} } keys %$got;
    is_deeply([grep { $what ne 'a DESTROY that keeps its object' } @others], [],
        '... and no other sub has any') || diag explain $got;
    is_deeply([wrong_sums($run->{profile})], [], '... and the lines add up to the subs')
        if $has_lines;
}

# ---- types ----

{
    my $run = followed(<<'END', 'types', PERL_DPROF_HEAP_TYPES => 1);
our @kept;
{ my $first = bless {}, 'Node' }     # makes the class
sub new { my ($n) = @_; return bless { id => $n }, 'Node' }
sub keep { push @kept, new($_[0]), [\1], qr/x/; return }
keep($_) for 1 .. 100;
@kept[0, 3] = ();
1;
END
    my $got = by_path($run->{profile}, 'live-values');
    my %want = (
        'main::keep;main::new;value:HASH (Node)' => 98, 'main::keep;main::new;value:number' => 98,
        'main::keep;value:ARRAY' => 100, 'main::keep;value:REGEXP (Regexp)' => 100,
        'main::keep;value:reference' => 398, 'main::keep;value:undef' => 2,
    );
    is_deeply({ map { $_ => $got->{$_} } keys %want }, \%want, 'each type has its values')
        or diag explain $got;
    is_deeply([wrong_sums($run->{profile})], [], '... and the lines add up') if $has_lines;
}

# ---- snapshots ----

{
    my $run = followed(<<'END', 'snapshots');
use Devel::DProf::Control 'heap';
our (@kept, %seen);
sub keep { push @kept, [$_[0]]; return }
sub replace { $seen{ $_[0] % 3 } = [1]; return }
for (1 .. 10) { keep($_); replace($_) }
heap('warm'); heap('a/b');
for (1 .. 1000) { keep($_); replace($_) }
heap('done');
print "done\n";
END
    my ($warm, $done) = map { by_path("$run->{profile}-$_", 'live-values') }
        qw(warm done);
    is_deeply([map { $_->{'main::keep'} } $warm, $done, by_path($run->{profile}, 'live-values')],
        [30, 3030, 3030], 'each snapshot has what lives at its time');
    is_deeply([map { $_->{'main::replace'} } $warm, $done], [9, 9],
        '... and no value that is gone');
    ok(-e "$run->{profile}-a_b", 'the name of a snapshot is no path');
    my $diff = run_tool('dprofdiff', ['-m', 'live-values', map { "$run->{profile}-$_" }
        qw(warm done)]);
    like($diff->{out}, qr/^main::keep +30 +3,030 /m, 'dprofdiff compares two of them');
    unlike($diff->{out}, qr/^main::replace/m, '... and shows what has grown alone');
    is(run_tool('dprofreport', ['-q', "$run->{profile}-warm"])->{err}, '', 'they are whole files');
}

{
    my $run = followed(<<'END', 'a signal', PERL_DPROF_SIGNAL => 'USR1');
our @kept;
sub keep { push @kept, [$_[0]]; return }
keep($_) for 1 .. 100;
my $is_profiled = defined &Devel::DProf::_charged;
kill USR1 => $$ if $is_profiled;
keep($_) for 1 .. 5;
system 'cp', 'tmon.out', 'saved.out' if $is_profiled;
keep($_) for 1 .. 5;
END
    my $saved = by_path("$run->{dir}/saved.out", 'live-values')->{'main::keep'};
    ok($saved >= 300 && $saved <= 315, 'a signal saves what lives') || diag $saved;
}

# ---- random programs, processes ----

for my $seed (1 .. 4) {
    followed(FuzzProgram::program($seed, 3, 1), "a random one of seed $seed");
}
{
    my $run = followed(<<'END', 'a fork');
our @kept;
sub keep { push @kept, [1]; return }
keep() for 1 .. 100;
my $pid = fork // die;
keep() for 1 .. 10;
if (!$pid) { keep() for 1 .. 7; exit 0 }
waitpid $pid, 0; print "status $?\n";
END
    is(by_path($run->{profile}, 'live-values')->{'main::keep'}, 330,
        'the parent has its own values');
    my ($child) = glob "$run->{dir}/tmon.out.*";
    is(by_path($child, 'live-values')->{'main::keep'}, 51,
        '... and the child those that it made');
    $run = followed(<<'END', 'children that make values at once');
my @kept;
if (!fork) { my @x = map { [$_] } 1 .. 5; push @kept, { a => $_ } for 1 .. 3; exit 0 }
wait;
my $pid = open(my $in, '-|') // die;
if (!$pid) { my %h = map { $_ => 1 } 1 .. 9; our @z = (1, [2], {}); print 'x'; exit }
my @lines = <$in>; close $in;
print "done\n";
END
    is_deeply([map { wrong_sums($_) } $run->{profile}, glob "$run->{dir}/tmon.out.*"], [],
        '... and the lines of all files add up to the subs') if $has_lines;
}
# A thread has what it made itself, also if threads.pm was loaded when the program ran already.
SKIP: {
    skip 'this perl has no threads', 1 if !$Config{useithreads};
    for my $load ('use threads;', 'require threads;') {
        my $run = followed(<<"END", "a thread after $load");
$load
our \@kept; { my \$first = bless [], 'Kept' }     # makes the class
sub keep { push \@kept, bless [1], 'Kept'; return }
keep() for 1 .. 100;
threads->create(sub { keep() for 1 .. 7; return })->join;
print "done\\n";
END
        my ($file) = glob "$run->{dir}/tmon.out.*";
        my $got = by_path($file, 'live-values');
        my ($keep) = grep { /\bmain::keep\z/ } keys %$got;
        ok($got->{ $keep // '' } >= 21 && $got->{ $keep // '' } <= 23, '... has its own values')
            || diag explain $got;
        is(by_path($run->{profile}, 'live-values')->{'main::keep'}, 300,
            '... and the others have theirs');
    }
}
{
    my $file = spew(scratch() . '/p.pl', '1;');
    my $run = profiled([$file], env => { PERL_DPROF_HEAP => 'exact', PERL_DPROF_MODE => 'trace' });
    like($run->{err}, qr/^DProf: heap=exact needs a tree: -d:DProf=tree,heap=exact$/m,
        'a trace has no values');
}

# ---- no_growth_ok ----

my $test = spew(scratch() . '/grow.t', <<'END');
use strict; use warnings;
use Test::More; use Test::DProf;
package Node { sub new { my ($class, %has) = @_; return bless {%has}, $class } }
our (@kept, %seen, $last, %objects);
sub temporaries { my @t = map { Node->new(id => $_) } 1 .. 200; return scalar @t }
sub leak { my ($x, $y) = map { Node->new(n => $_) } 1, 2; $x->{peer} = $y; $y->{peer} = $x; return }
sub request { temporaries(); leak() }
sub steady {
    push @kept, [1, 2, 3] if @kept < 2;
    $last = { time => $_[0] };
    %seen = (a => [1]);
    my @sorted = sort { $a <=> $b } 3, 1, 2;
    (my $s = 'x' x 100) =~ s/x/y/g;
    eval { die { code => 7 } };
    my $closure = sub { $s };
    return eval 'sub { 1 }';
}
no_growth_ok { steady() } times => 200, name => 'steady';
no_growth_ok { request() } name => 'leaks';
no_growth_ok { push @kept, [1] } name => 'keeps';
no_growth_ok { push @kept, [1] } allow => '300 values', name => 'allowed';
no_growth_ok { push @kept, 'x' x 1000 } times => 10, allow => '20000 bytes', name => 'bytes';
no_growth_ok { die "oops\n" } name => 'dies';
no_growth_ok { $objects{x} //= Node->new } warmup => 0, times => 5, name => 'once';
our ($log, @slots) = ('');
my %made;
no_growth_ok { $log .= 'x' x 1000; return } allow => '2000 bytes', name => 'a string grows';
no_growth_ok { $#slots += 100; return } allow => '2000 bytes', name => 'an array grows';
no_growth_ok { $made{x} .= 'x' x 1000; return } allow => '2000 bytes', name => 'new values grow';
no_growth_ok { steady() } allow => '0 bytes', name => 'nothing grows';
is(eval { no_growth_ok { 1 } alow => '1 value'; 1 } // $@,
    'no_growth_ok: unknown option alow; the options are allow, name, times, warmup at'
    . " $0 line 31.\n", 'a misspelt option');
done_testing;
END
my $run = DProfTest::run_program([DProfTest::built_perl(), $test]);
is($run->{out} =~ s/^#.*\n//gmr, <<'END', 'no_growth_ok passes and fails where it should');
ok 1 - steady
not ok 2 - leaks
not ok 3 - keeps
ok 4 - allowed
ok 5 - bytes
not ok 6 - dies
not ok 7 - once
not ok 8 - a string grows
not ok 9 - an array grows
not ok 10 - new values grow
ok 11 - nothing grows
ok 12 - a misspelt option
1..12
END
like($run->{err}, qr/^\Q$_\E$/m, "... and says: $_") for split /\n/, <<'END';
# 100 calls left 600 values behind (43,200 bytes):
#   400 values, 4 each call, made in Node::new, line 3: objects of Node
#     called by main::leak < main::request < the block
#     held by nothing but a cycle: HASH (Node) -> HASH (Node) -> the first
#   200 values, 2 each call, made in main::leak, line 6
#     called by main::request < the block
#   300 values, 3 each call, made in the block, line 20
#     held by @main::kept -> ARRAY
# the block died: oops
END

# ---- who holds what is left ----

$test = spew(scratch() . '/hold.t', <<'END');
use strict; use warnings; no warnings 'once';
use Test::More; use Test::DProf; use Scalar::Util 'weaken';
package Node { sub new { my ($class, %has) = @_; return bless {%has}, $class } }
package Tied { sub TIESCALAR { bless [] } sub FETCH { 1 } sub STORE { } sub TIEHASH { bless {} } }
our (@kept, $deep, %alias, $last); my %mine;
{ my @state; sub stateful { push @state, Node->new } }
sub itself { my $s = {}; $s->{cb} = sub { $s }; return }
sub callback { my $o = Node->new; push @{ $Some::Register::of{a} }, sub { $o }; return }
sub weak { my $s = Node->new; $s->{me} = $s; weaken($s->{me}); push @kept, $s; return }
# Values of all types live, some of them in no variable that can be named.
my @odd = (qr/x(?<n>y)/, \*STDOUT, \substr('abc', 1), v1.2, \my @x, sub () { 7 }, *STDIN{IO},
    \undef);
tie my $tied, 'Tied'; tie my %tied, 'Tied'; push @odd, \$tied, \%tied; *alias = {};
format STDOUT =
@<<
$last
.
no_growth_ok { $mine{ keys %mine } = Node->new } name => 'lexical';
no_growth_ok { stateful() } name => 'closed over';
no_growth_ok { push @{ $deep->{a}[0]{list} }, Node->new } name => 'deep';
no_growth_ok { itself() } name => 'itself';
no_growth_ok { callback() } name => 'callback';
no_growth_ok { weak() } name => 'weak';
sub { local $last = [1]; no_growth_ok { push @$last, [1] } name => 'local'; }->();
done_testing;
END
my $held = DProfTest::run_program([DProfTest::built_perl(), $test]);
is($held->{status}, 7, 'all values of a program are walked') || diag $held->{err};
my %by;
/^# Failed test '(.*)'/ ? ($by{name} = $1) : /^#     held by (.*)/ && push @{ $by{ $by{name} } }, $1
    for split /\n/, $held->{err};
for (

    ['lexical', 'my %mine of the main program -> HASH (Node)'],
    ['closed over', 'my @state of &main::stateful -> HASH (Node)'],
    ['deep', '$main::deep -> HASH -> ARRAY -> HASH -> ARRAY -> HASH (Node)'],
    ['itself', 'nothing but a cycle: CODE -> HASH -> the first'],
    ['weak', '@main::kept -> HASH (Node)'], ['local', '$main::last -> ARRAY -> ARRAY'],
    ['callback', '%Some::Register::of -> ARRAY -> CODE -> HASH (Node)']) {
    my ($name, $chain) = @$_;
    my $turned = $chain =~ s/CODE -> HASH -> the/HASH -> CODE -> the/r;  # a cycle begins anywhere
    ok(scalar grep({ $_ eq $chain || $_ eq $turned } @{ $by{$name} }),
        "... and the chain is right: $name") || diag explain $by{$name};
}

# The last line of a report names the options that record lines, too: with all that was recorded.
subtest 'the options that a report names record the same, and lines' => sub {
    my $file = spew(scratch() . '/again.pl',
        'my @k; sub a { push @k, [1] } a() for 1 .. 9;' . "\n");
    my @with = ({}, { HEAP => 'exact' }, { HEAP => 'sample' }, { EVENTS => 'svs' },
        { HEAP => 'sample', HEAP_INTERVAL => 1000, EVENTS => 'svs+bytes' },
        { BUILTINS => 'slow', CALLSITES => 1, DETAIL => 'sql+regex' }, { DETAIL => 'all' });
    my $parts = sub {
        my ($text) = @_;
        return ((map { $text =~ /\$dprof_$_='(.*?)';/ ? $1 : '' } qw(counters detail)),
            $text =~ /\$dprof_options='(.*?)';/ ? $1 =~ s/,lines=\w+//r : '');
    };
    for my $with (@with) {
        my $name = join ' ', map { "$_=$with->{$_}" } sort keys %$with;
        my $first = profiled([$file], env => { PERL_DPROF_MODE => 'tree',
            map { ("PERL_DPROF_$_" => $with->{$_}) } keys %$with });
        my ($options) = run_tool('dprofreport', [$first->{profile}])->{out}
            =~ /-d:DProf=(\S+) rec/;
        like($options // '', qr/,lines\z/, "$name: lines") or next;
        my $again = profiled([$file], env => { map { my ($key, $value) = /\A(.*?)(?:=(.*))?\z/;
            $key eq 'tree' ? (PERL_DPROF_MODE => 'tree')
            : ('PERL_DPROF_' . uc($key =~ tr/-/_/r) => $value // 'time') } split /,/, $options });
        is_deeply([$parts->(slurp($again->{profile}))], [$parts->(slurp($first->{profile}))],
            "$name: $options record all that was recorded");
    }
};

done_testing();
