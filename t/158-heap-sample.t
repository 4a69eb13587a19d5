# heap=sample: blocks of memory by the context and the line that allocated them. With an interval of
# one byte every block is noted, so the numbers are exact.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;
use RunReader qw(MODES wrong_sums by_path);

use Config;

plan skip_all => 'perl has an allocator of its own'
    if $Config{usemymalloc} && $Config{usemymalloc} eq 'y';

my $has_lines = grep { $_->[0] eq 'lines' } MODES;
my %every = (PERL_DPROF_MODE => 'tree', PERL_DPROF_HEAP => 'sample',
    'PERL_DPROF_HEAP_INTERVAL' => 1, $has_lines ? (PERL_DPROF_LINES => 'time') : ());

# Runs a program plain and profiled. Returns the run.
sub sampled {
    my ($code, $what, %env) = @_;
    my $file = spew(scratch() . '/p.pl', $code);
    my $plain = plain(['-I' . root() . '/lib', $file]);
    my $run = profiled([$file], limit => 60, env => { counting(), %every, %env });
    is(same_as_plain($plain, $run), '', "the program runs as plain: $what");
    return $run;
}

# ---- programs that know what they leave ----

# By path: values that live, with those of which the memory is their own and those that they hold.
my @programs = (
    ['a cache', <<'END', { 'main::get' => 3000 }],
my %cache;
sub get { my ($k) = @_; $cache{"k$k"} = { id => $k, is => 1 }; return }
get($_) for 1 .. 750;
END
    ['cycles', <<'END', { 'main::cycle' => 4000 }],
sub cycle { my $a = {}; my $b = {}; $a->{b} = $b; $b->{a} = $a; return }
cycle() for 1 .. 1000;
END
    ['values that another sub frees', <<'END', { 'main::put;main::make' => 600 }],
my @q = (1) x 1000; @q = ();
{ my $first = bless {}, 'Obj' }     # makes the class, and may make the table of names grow
sub make { my ($n) = @_; return bless { n => $n }, 'Obj' }
sub put { push @q, make($_[0]); return }
sub drop { shift @q; return }
for my $i (0 .. 2999) { put($i); drop() if $i >= 300 }
END
    ['temporary values', <<'END', {}],
sub noise {
    my @t = map { +{ a => $_ } } 1 .. 20;
    my %h = map { $_ => [$_] } 1 .. 20;
    return @t + keys %h;
}
noise() for 1 .. 100;
END
    ['strings that grow elsewhere', <<'END', { 'main::grow' => 100 }],
my @s;
sub begin { $s[$_[0]] = "$_[0]" x 10; return }
sub grow { $s[$_[0]] .= 'x' x 5000; return }
begin($_), grow($_) for 0 .. 99;
END
    ['exceptions', <<'END', { 'main::fails' => 300 }],
our @kept;
sub fails { my $x = { a => [1] }; push @kept, [2]; die { x => $x } }
for (1 .. 100) { eval { fails() } }
$@ = '';
END
);
my %how = (
    calls => [],
    samples => [PERL_DPROF_MODE => '', PERL_DPROF_LINES => '', PERL_DPROF_SAMPLE => 1000],
    $has_lines ? ('calls and samples of lines' => [PERL_DPROF_LINES => '',
        PERL_DPROF_SAMPLE => 1000]) : (),
);
for my $case (map { my $how = $_; map { [$how, @$_] } @programs } sort keys %how) {
    my ($how, $what, $code, $want) = @$case;
    my $run = sampled("$code\n1;\n", "$what, by $how", @{ $how{$how} });
    my $got = by_path($run->{profile}, 'live-values');
    for my $path (sort keys %$want) {
        my $n = $got->{$path} // 0;
        cmp_ok($n - $want->{$path}, '>=', 0, "... $path has what it left: $n");
        cmp_ok($n - $want->{$path}, '<=', 6, '... and pads of its own at most');
    }
    my @others = grep { /main::(?!BEGIN)/ && !$want->{$_} && $got->{$_} > 50 } keys %$got;
    is("@others", '', '... and no other sub has many') or diag explain $got;
    is_deeply([wrong_sums($run->{profile})], [], '... and the lines add up to the subs')
        if $has_lines;
}

# ---- types ----

{
    my $run = sampled(<<'END', 'types', PERL_DPROF_HEAP_TYPES => 1);
use Devel::DProf::Control 'heap';
our (@kept, %h) = (1) x 1000;
sub new { my ($n) = @_; return bless { id => $n, text => 'x' x (2000 + $n) }, 'Node' }
sub keep { push @kept, new($_[0]); return }
sub change { $_->{text} = [1] for @_; return }
@kept = ();
keep($_) for 1 .. 100;
heap('before');
change(@kept[0 .. 29]);
1;
END
    my ($before, $after) = map { by_path($_, 'live-values') } "$run->{profile}-before",
        $run->{profile};
    my $of = sub { my ($got, $path) = @_; my ($name) = grep { /\Q$path\E\z/ } keys %$got;
        return $name ? $got->{$name} : 0 };
    is($of->($before, 'main::keep;main::new;value:HASH (Node)'), 200, 'objects with their numbers');
    is($of->($before, 'main::keep;main::new;value:string'), 100, '... and their strings');
    is($of->($after, 'main::keep;main::new;value:string'), 70, 'a string that was freed is gone');
    is($of->($after, 'main::change;value:ARRAY'), 60, '... and what is there is of another sub');
    is_deeply([wrong_sums($run->{profile})], [], '... and the lines add up') if $has_lines;
}

# ---- bytes ----

{
    my $run = sampled(<<'END', 'strings of known sizes');
my @kept;
sub keep { my ($n) = @_; push @kept, 'x' x $n; return }
sub drop { my ($n) = @_; my $s = 'y' x $n; undef $s; return }
keep(10_000), drop(20_000) for 1 .. 100;
1;
END
    my $live = by_path($run->{profile}, 'live-bytes');
    my $all = by_path($run->{profile}, 'allocated-bytes');
    cmp_ok(abs($live->{'main::keep'} - 1_000_000), '<', 25_000,
        "what lives: $live->{'main::keep'} bytes of 1,000,000 and the heads");
    cmp_ok($live->{'main::drop'} // 0, '<', 5000, '... and what was freed does not');
    cmp_ok($all->{'main::drop'}, '>', 2_000_000, 'what was allocated has all');
}

# ---- snapshots, children, threads, slices ----

{
    my $run = sampled(<<'END', 'snapshots');
use Devel::DProf::Control 'heap';
our (@kept, %seen);
sub keep { push @kept, [$_[0]]; return }
sub replace { $seen{ $_[0] % 3 } = [1]; return }
keep($_), replace($_) for 1 .. 100;
heap('warm');
keep($_), replace($_) for 1 .. 1000;
heap('done');
1;
END
    my ($warm, $done) = map { by_path("$run->{profile}-$_", 'live-values') } qw(warm done);
    my @of_keep = map { $_->{'main::keep'} } $warm, $done, by_path($run->{profile}, 'live-values');
    cmp_ok(abs($of_keep[1] - $of_keep[0] - 3000), '<=', 3, "what grew between two: @of_keep");
    is($of_keep[2], $of_keep[1], 'the end has what the last one has');
    cmp_ok(abs($done->{'main::replace'} - $warm->{'main::replace'}), '<=', 2,
        'what is replaced does not grow');
}

{
    my $run = sampled(<<'END', 'a fork');
our (@parent, @child);
sub before { push @parent, [1] for 1 .. 500; return }
sub after { push @child, [1] for 1 .. 300; @parent = (); return }
before();
if (!fork) { after(); exit 0 }
wait;
1;
END
    my ($child) = grep { $_ ne $run->{profile} } glob "$run->{profile}.*";
    cmp_ok(by_path($run->{profile}, 'live-values')->{'main::before'}, '>=', 1500,
        'the parent has its values');
    my $of_child = by_path($child, 'live-values');
    cmp_ok($of_child->{'main::after'}, '>=', 900, '... and the child those of its own');
    ok(!$of_child->{'main::before'}, '... and none of the parent');
}

{
    my $dir = scratch();
    my $run = sampled(<<'END', 'slices', PERL_DPROF_MODE => '', PERL_DPROF_SLICE => 1,
use Devel::DProf::Control;
our @kept;
sub keep { push @kept, [1] for 1 .. 100; return }
sub idle { Devel::DProf::_advance(2_000_000_000, 2_000_000_000) if defined &Devel::DProf::_advance;
    return }
for (1 .. 5) { keep(); idle(); idle() }
1;
END
        PERL_DPROF_SPOOL => "$dir/spool");
    my @slices = sort { -M $b <=> -M $a || $a cmp $b } glob "$dir/spool/*";
    cmp_ok(scalar @slices, '>', 2, scalar(@slices) . ' slices');
    my @live = map { by_path($_, 'live-values')->{'main::keep'} // 0 } @slices;
    is($live[-1], (sort { $b <=> $a } @live)[0], "each has what lives: @live");
    cmp_ok($live[-1], '>=', 1500, 'the last one has all');
    my $all = 0;
    $all += by_path($_, 'allocated-blocks')->{'main::keep'} // 0 for @slices;
    cmp_ok($all, '<', 700, "allocations are in one slice each: $all");
}

# ---- where the tree that is recorded changes, or there is none yet ----

# While perl makes the interpreter of a thread, its fields are not set yet.
SKIP: {
    skip 'this perl has no threads', 3 if !$Config{useithreads};
    for my $how (qw(calls samples)) {
        sampled(<<'END', "threads, by $how", @{ $how{$how} });
use threads;
our @kept;
sub work { my @list = map { { id => $_ } } 1 .. 20; return scalar @list }
for (1 .. 3) { threads->create(sub { work() + threads->create(\&work)->join })->join }
1;
END
    }
    # What one thread allocates, another one frees, after each slice of the first.
    sampled(<<'END', 'blocks of a thread that ends', PERL_DPROF_MODE => '', PERL_DPROF_SLICE => 1,
use threads;
sub make { return map { { id => $_ } } 1 .. 100 }
sub idle { Devel::DProf::_advance(2_000_000_000, 2_000_000_000) if defined &Devel::DProf::_advance;
    return }
my @all;
for (1 .. 3) { push @all, threads->create({ context => 'list' }, \&make)->join; idle(); @all = () }
1;
END
        PERL_DPROF_SPOOL => scratch() . '/spool-threads');
}

# A stretch that is held back has a tree of its own, which goes with it.
for my $how (sort keys %how) {
    my $run = sampled(<<'END', "stretches that are held back, by $how", @{ $how{$how} });
use Devel::DProf::Control;
our (@kept, @more, $last);
sub keep { push @kept, { id => $_ } for 1 .. 10; return }
sub job {
    push @more, [1], my $stretch = Devel::DProf::Control::hold($_[0]);
    my $sub = eval 'sub { push @more, [$_] for 1 .. 5 }';
    $sub->();
    Devel::DProf::Control::settle($stretch);
    return;
}
for (1 .. 20) { keep(); job($_ % 5 ? 1000 : 1e-9); @more = (); keep() }
$last = Devel::DProf::Control::hold(1000);
keep();
1;
END
    my $live = by_path($run->{profile}, 'live-values');
    # 800 hashes and numbers, and the array with references to these and to the last hashes
    cmp_ok(abs($live->{'main::keep'} - 1211), '<=', 6, "... and it has what was not held: "
            . $live->{'main::keep'});
    is_deeply([wrong_sums($run->{profile})], [], '... and the lines add up to the subs')
        if $has_lines;
}

# The census finds types while a stretch is held back.
{
    my $run = sampled(<<'END', 'types while a stretch is held back', PERL_DPROF_HEAP_TYPES => 1);
use Devel::DProf::Control;
our (@kept, $last);
sub keep { push @kept, { id => $_ } for 1 .. 100; return }
keep();
$last = Devel::DProf::Control::hold(1000);
1;
END
    my $live = by_path($run->{profile}, 'live-values');
    is($live->{'main::keep;value:HASH'}, 200, 'hashes that were made before the stretch')
        or diag explain $live;
}

# perl allocates where a pattern is matched for a new name, while other blocks wait for a place.
sampled(<<'END', 'new names with a pattern', @{ $how{samples} }, PERL_DPROF_ONLY => '[a-z]_\d+');
our @kept;
for my $n (1 .. 100) {
    eval "sub name_$n { push \@kept, [(1) x $n], map { 'a' x \$_ } 1 .. 5 } name_$n(); 1" or die $@;
}
1;
END

# Each slice is a snapshot; there are no others.
{
    my $dir = scratch() . '/spool-heap';
    sampled(<<'END', 'a snapshot with slices', PERL_DPROF_MODE => '', PERL_DPROF_SLICE => 1,
use Devel::DProf::Control 'heap';
our @kept;
sub keep { push @kept, [1] for 1 .. 100; return }
keep();
heap('one');
keep();
1;
END
        PERL_DPROF_SPOOL => $dir);
    my @slices = glob "$dir/*";
    is(scalar @slices, 1, 'the slice goes on') or diag "@slices";
    cmp_ok(by_path($slices[0], 'live-values')->{'main::keep'}, '>=', 600, '... and has all');
}

done_testing;
