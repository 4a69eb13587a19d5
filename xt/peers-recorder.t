# Compares with the classic Devel::DProf and dprofpp. The old tool reads the new files and sees the
# same calls and the same tree; the old recorder's files are read, and say the same where it is
# right.
#
# DPROF_OLD_LIB: the directory with the old Devel/DProf.pm (its auto/ beside it);
# DPROF_OLD_BIN: the old dprofpp.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t/lib";
use Test::More;
use DProfTest;

my ($lib, $bin) = @ENV{qw(DPROF_OLD_LIB DPROF_OLD_BIN)};
plan skip_all => 'set DPROF_OLD_LIB and DPROF_OLD_BIN to the classic module and tool'
    unless $lib && $bin && -e "$lib/Devel/DProf.pm" && -e $bin;

# Returns the old dprofpp's output for a profile.
sub old_tool {
    my ($profile, @options) = @_;
    my $run = run_program([$^X, "-I$lib", $bin, @options, $profile]);
    is($run->{status}, 0, "old dprofpp @options succeeds") or diag $run->{err};
    return $run;
}

# Returns one line a call, as -T prints it, from the plain reader's events.
sub tree_of {
    my $got = shift;
    my @lines;
    my $depth = 0;
    for (@{ $got->{events} }) {
        my ($sign, $name) = @$_;
        if ($sign eq '+') { push @lines, ('   ' x $depth++) . $name }
        elsif ($sign eq '*') { push @lines, ('   ' x ($depth - 1)) . $name }
        else { $depth-- }
    }
    return join '', map { "$_\n" } @lines;
}

# Returns calls by name from a table of the old tool: its columns are cut and names wrapped, so that
# only small numbers are read.
sub counts_of {
    my $text = shift;
    my %calls;
    for (split /\n/, $text) {
        my @f = split ' ';
        next unless @f >= 7 && $f[3] =~ /^\d+$/;
        $calls{ $f[6] } += $f[3];
    }
    return \%calls;
}

my %programs = (
    'calls and returns' =>
    'sub leaf { 1 } sub mid { leaf() for 1 .. 3 } sub top { mid(); mid(); leaf() } top(); leaf(); '
        . 'top()',
    recursion =>
        'sub r { my $n = shift; r($n - 1) if $n; 1 } r(5); sub even { $_[0] ? odd($_[0] - 1) : 1 } '
            . 'sub odd { $_[0] ? even($_[0] - 1) : 0 } even(6)',
    exceptions =>
        'sub d { die "x\n" } sub c { d() } sub keeps { eval { c() }; after() } sub after { 1 } '
            . 'eval { c() }; after(); keeps()',
    loops =>
        'no warnings; sub l { last } sub n { next } sub deep { l() } for (1, 2) { l() } '
            . 'for (1, 2) { n() } for (1) { deep() } l2(); sub l2 { 1 }',
    objects =>
        'sub D::DESTROY { f() } sub D::new { bless [], shift } sub f { 1 } '
            . 'sub scope { my $o = D->new; $o->m; 1 } sub D::m { f() } bless [], "D"; '
            . 'main::scope()',
    xs => 'use List::Util qw(first sum); sub f { $_ == 2 } first { f() } 1 .. 3; sum(1 .. 3); '
        . 'sub g { Internals::SvREFCNT($x) } g()',
    phases => 'sub f { 1 } BEGIN { f() } INIT { f() } END { f() } f()',
    goto => 'sub t { 1 } sub g { goto &t } sub chain { goto &g } g(); chain(); sub w { g(); t() } '
        . 'w()',
    strings => 'eval "sub ev { 1 } ev()"; ev(); my $s = sub { ev() }; $s->(); $s->()',
);

for my $name (sort keys %programs) {
    subtest "the old dprofpp reads our profile of $name" => sub {
        my $run = profiled(['-e', $programs{$name}]);
        is("$run->{err}$run->{raw}", '0', "$name runs under our recorder");
        my $got = profile_ok($run->{profile}, undef, events => 1);
        my $tree = old_tool($run->{profile}, '-T', '-F');
        is($tree->{out}, tree_of($got), "$name: the old -T prints the tree of the profile");
        is($tree->{err}, '', "$name: the old -T -F prints no message");
        my $plain_tree = old_tool($run->{profile}, '-T');
        is($plain_tree->{out}, $tree->{out}, "$name: the old -T prints the same tree without -F");
        my $table = old_tool($run->{profile}, '-r', '-O', 1000);
        my %wrapped = %{ counts_of($table->{out}) };
        my %ours = %{ $got->{calls} };
        delete @ours{ grep { length > 34 } keys %ours };
        delete @wrapped{ grep { !exists $ours{$_} } keys %wrapped };
        is_deeply(\%wrapped, \%ours, "$name: the old table has the calls of the profile");
        # A run of less than 100 us has a time such as 9.4e-05.
        unlike($table->{out}, qr/(?<!e)-\d/, "$name: the old table has no negative time");
    };
}

subtest 'The old dprofpp reads a large profile' => sub {
    my $run = profiled(['-MJSON::PP', '-e',
        'my $d = { map { $_ => [1 .. 5] } 1 .. 30 }; decode_json(encode_json($d))'],
        env => { PERL_HASH_SEED => 0 });
    my $got = profile_ok($run->{profile}, undef, events => 1);
    my $tree = old_tool($run->{profile}, '-T');
    ok($tree->{out} eq tree_of($got), 'the old -T prints the tree of a large profile');
    my $folded = old_tool($run->{profile}, '-t');
    is(scalar(grep { /JSON::PP::encode\b/ } split /\n/, $folded->{out}), 1,
        'the old -t folds the calls of a large profile');
    like(old_tool($run->{profile}, '-S')->{out}, qr/^\s*JSON::PP::decode x 1\s/m,
        'the old -S counts the calls of a large profile');
};

subtest 'The old dprofpp reads odd names' => sub {
    my $run = profiled(['-e',
        'require Sub::Util; Sub::Util::set_subname($_, sub { 1 })->() for "A::with blank", '
            . '"B::new\nline", "C::per%cent", "D::\x{263a}", "E::- 1\n+ 2"; sub f { 1 } f()']);
    my $got = profile_ok($run->{profile}, undef, events => 1);
    my $tree = old_tool($run->{profile}, '-T');
    is($tree->{err}, '', 'the old -T prints no message about odd names');
    like($tree->{out}, qr/^main::f$/m, 'the old -T prints a plain name unchanged');
    is(scalar(() = $tree->{out} =~ /^\s*[A-E]::/mg), 5,
        'the old -T prints each odd name on one line');
};

subtest 'The old dprofpp reads a profile cut short' => sub {
    my $run = profiled(['-e', 'sub f { g() } sub g { 1 } f() for 1 .. 60_000; kill KILL => $$']);
    my $tree = old_tool($run->{profile}, '-F', '-r');
    like($tree->{out}, qr/main::f$/m, 'the old -T -F prints a profile cut short');
};

# Programs that break the classic recorder are not among these.
my %safe = map { $_ => $programs{$_} } 'calls and returns', 'recursion', 'exceptions',
    'strings', 'goto';
# It does not see the blocks of List::Util.
$safe{xs} = 'use List::Util "sum"; sum(1 .. 3); sub g { Internals::SvREFCNT($x) } g()';

for my $name (sort keys %safe) {
    subtest "both recorders agree about $name" => sub {
        my $dir = scratch();
        my $old = run_program([$^X, "-I$lib", '-d:DProf', '-e', $safe{$name}], dir => $dir);
        is($old->{raw}, 0, "$name runs under the classic recorder") or diag $old->{err};
        my $run = profiled(['-e', $safe{$name}]);
        my $got = profile_ok($run->{profile}, undef, events => 1);
        my $then = read_profile("$dir/tmon.out", classic => 1);
        # Its CPU time comes in steps of 10 ms, however much has passed.
        is(join("\n", grep { !/^more CPU than time/ } $then->problems), '',
            "the naive reader reads the classic recorder's file");
        my ($calls, $edges) = map {
            my $p = $_;
            [map {
                my $h = $p->{$_};
                +{ map { $_ => $h->{$_} }
                    grep { !/BEGIN|import|bootstrap|XSLoader|strict|Exporter|warnings|List::Util|
                        Internals/x } keys %$h }
            } qw(calls edges)]
        } $got, $then;
        is_deeply($calls, $edges, 'both recorders have the same calls and edges');
    };
}

# The new dprofpp reads both kinds.
SKIP: {
    my $ours = root() . '/bin/dprofpp';
    skip 'no dprofpp yet', 1 unless -e $ours && -e root() . '/blib/lib/Devel/DProf/Profile.pm';
    subtest 'Our dprofpp prints what the old one prints' => sub {
        for my $name (sort keys %programs) {
            my $run = profiled(['-e', $programs{$name}]);
            for my $option ('-T', '-t') {
                my $new = run_program([$^X, '-I' . root() . '/blib/lib', '-I' . root()
                    . '/blib/arch', $ours, '--no-separate-anon', $option, $run->{profile}]);
                is($new->{out}, old_tool($run->{profile}, $option)->{out},
                    "$name: dprofpp $option prints what the old one prints")
                    or diag $new->{err};
            }
        }
    };
}

done_testing;
