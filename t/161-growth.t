# dprofreport --growth: what has grown between snapshots of memory, by place, and who holds it.
use strict;
use warnings;
use Config;
use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP ();
use Test::More;
use DProfTest;

my $has_lines = !defined no_lines();
my $program = spew(scratch() . '/shop.pl', <<'END');
sub heap { Devel::DProf::Control::heap($_[0]) if defined &Devel::DProf::Control::heap }
package Node;
sub new { my ($class, $id) = @_; return bless { id => $id }, $class }
package main;
our (@kept, %cache);
sub keep { push @kept, Node->new($_[0]); return }
sub cycle { my $one = {}; my $two = [$one]; $one->{two} = $two; return }
sub look { my $key = $_[0] % 10; return $cache{$key} //= [1 .. 5] }
sub late { our %late; $late{ $_[0] } = [$_[0]]; return }
sub request { my ($n) = @_; my @t = map { [$_] } 1 .. 5; keep($n); cycle(); look($n); return @t }
my $n = 0;
request($n++) for 1 .. 50;
heap('first');
request($n++) for 1 .. 100;
heap('second');
late($_) for 1 .. 20;
heap('third');
print "$n requests\n";
END
# Runs the program with options, and returns the run.
sub recorded {
    my ($what, %env) = @_;
    my $plain = plain([$program]);
    my $run = profiled(['-MDevel::DProf::Control', $program], limit => 60,
        env => { counting(), PERL_DPROF_MODE => 'tree', %env });
    is(same_as_plain($plain, $run), '', "the program runs as plain: $what");
    return $run;
}

# Returns the rows of the table for snapshots, by the name of the sub.
sub rows_of {
    my ($run, @names) = @_;
    my $tool = run_tool('dprofreport', ['--growth', '--format', 'json',
        map { "$run->{profile}-$_" } @names]);
    is($tool->{err}, '', 'no message: ' . join ' ', @names);
    return { map { $_->{sub} => $_ } @{ JSON::PP::decode_json($tool->{out})->{places} } };
}

my %exact = (PERL_DPROF_HEAP => 'exact', PERL_DPROF_HEAP_HOLDERS => 5);
my $run = recorded('heap=exact', %exact, $has_lines ? (PERL_DPROF_LINES => 'time') : ());
my $rows = rows_of($run, qw(first second third));
my @program = grep { !$rows->{$_}{values} } keys %$rows;
is_deeply([sort grep { $rows->{$_}{values} } keys %$rows],
    [qw(Node::new main::cycle main::keep main::late)],
    'what grows is there, and nothing else: no cache, and nothing temporary');
is_deeply(\@program, ['(program)'], '... and the arrays of the program have more bytes');
is_deeply([map { $rows->{$_}{values} } qw(Node::new main::cycle main::keep main::late)],
    [200, 400, 100, 60], '... with the values that are new');
is_deeply([map { @{ $rows->{$_} }{qw(first_seen last_grew)} } qw(Node::new main::late)],
    [qw(first second third third)], '... when they were first seen, and grew last');
is($rows->{'Node::new'}{held_by}, '@main::kept -> HASH (Node)', 'a variable holds them');
is($rows->{'main::late'}{held_by}, '%main::late -> ARRAY', '... or another');
like($rows->{'main::cycle'}{held_by},
    qr/\Anothing but a cycle: (?:HASH -> ARRAY|ARRAY -> HASH) -> the first\z/,
    '... or nothing but a cycle');
is_deeply([map { $rows->{$_}{line} } qw(Node::new main::late)],
    $has_lines ? [3, 9] : [undef, undef], 'lines are there if they are recorded');
is_deeply(rows_of($run, qw(third first second)), $rows, 'the order of the files does not matter');
is_deeply([grep { $_ ne '(program)' } keys %{ rows_of($run, qw(second third)) }], ['main::late'],
    'two snapshots show what grew between them');

{
    my $tool = run_tool('dprofreport', ['--growth', "$run->{profile}-third"]);
    is($tool->{err}, '', 'other snapshots of the process are no files of other processes');
    like($tool->{out}, qr/\ALive memory: .*third\n[\d.]+ kB in [\d,]+ values live, from /,
        'a single one has grown from nothing');
    $tool = run_tool('dprofreport', ['--growth', map { "$run->{profile}-$_" } qw(first third)]);
    like($tool->{out}, qr/^Live\ memory:\ first\ to\ third\n
        Live\ memory\ went\ from\ .*;\ 5\ places\ have\ grown,\ by\ [\d.]+\ kB\.\n\n
        \ +Bytes\ +Values\ +First\ seen\ +Last\ grew\ +Place\n/x, 'the answer comes first');
    like($tool->{out}, qr/^ *\+[\d.]+ kB +\+400 +first +third +main::cycle/m,
        '... then the places');
    for (['-S', 'main::cycle'], ['--only', 'cycle'], ['--skip', '^(?!main::cycle)']) {
        my $some = run_tool('dprofreport', ['--growth', @$_, '--format', 'csv', '-q',
            map { "$run->{profile}-$_" } qw(first third)]);
        is(join(' ', $some->{out} =~ /,((?:main|Node)::\w+|\(program\)),/g), 'main::cycle',
            "filters choose places: @$_") or diag $some->{out}, $some->{err};
    }
    like(run_tool('dprofreport', ['--growth', '-S', 'nosuch', "$run->{profile}-third"])->{err},
        qr/^-S: no sub matches in /, '... and a filter that matches nothing says so');
    is(run_tool('dprofreport', ['--growth', "$run->{profile}-third", '-m', 'calls'])->{err},
        "--growth has its own columns; leave out -m\n"
        . "Try 'dprofreport -h' for help.\n", 'options of the table of subs are refused');
}

# ---- holders in merged files, and in files of other kinds ----

{
    require Devel::DProf::Profile;
    my $merged = scratch() . '/merged.out';
    run_tool('dprofmerge', ['-o', $merged, "$run->{profile}-third"]);
    my @lines = map {
        my $profile = Devel::DProf::Profile->new;
        $profile->add($_);
        [sort map { join '|', @$_ } $profile->holders];
    } "$run->{profile}-third", $merged;
    is(scalar @{ $lines[0] }, 4, 'each place that has made what lives has a line');
    is_deeply($lines[1], $lines[0], 'a merged file keeps who holds what');
}
{
    my $typed = recorded('heap-types', %exact, PERL_DPROF_HEAP_TYPES => 1);
    my $by_sub = rows_of($typed, qw(first second third));
    is_deeply([map { $by_sub->{$_}{values} } qw(Node::new main::cycle)], [200, 400],
        'values that stand in frames by type belong to the sub');
    is($by_sub->{'Node::new'}{types}, 'HASH (Node), number', '... which shows the types');
}
SKIP: {
    skip 'perl has an allocator of its own', 5 if ($Config{usemymalloc} // '') eq 'y';
    my $sampled = recorded('heap=sample', PERL_DPROF_HEAP => 'sample',
        PERL_DPROF_HEAP_INTERVAL => 1, PERL_DPROF_HEAP_HOLDERS => 8);
    my $by_sub = rows_of($sampled, qw(first second third));
    is($by_sub->{'Node::new'}{held_by}, '@main::kept -> HASH (Node)',
        'sampled blocks have holders');
    like($by_sub->{'main::cycle'}{held_by}, qr/\Anothing but a cycle/, '... or a cycle');
    ok(!$by_sub->{'main::look'}, '... and a cache that is full has not grown');
}

{
    # Each context of deep() keeps less than once() does, and all of them together more. What goes
    # in one context and comes in another is no growth.
    my $recursive = spew(scratch() . '/deep.pl', <<'END');
sub heap { Devel::DProf::Control::heap($_[0]) if defined &Devel::DProf::Control::heap }
our (@deep, @once, @moved);
sub deep { my ($n) = @_; push @deep, [$n]; deep($n - 1) if $n; return }
sub once { push @once, [1 .. 3]; return }
sub moved { push @moved, [1 .. 50]; return }
sub mover { moved() }
moved();
heap('first');
deep(20);
once();
@moved = ();
mover();
heap('second');
END
    my %mode = (lines => 'PERL_DPROF_LINES', 'no lines' => undef);
    for my $what (grep { $has_lines || !defined $mode{$_} } sort keys %mode) {
        my $got = profiled(['-MDevel::DProf::Control', $recursive], env => { counting(), %exact,
            PERL_DPROF_HEAP_HOLDERS => 2, PERL_DPROF_MODE => 'tree',
            defined $mode{$what} ? ($mode{$what} => 'time') : () });
        is_deeply([slurp("$got->{profile}-second") =~ /^#h \S+ (\S+) /mg],
            [qw(main::deep main::once)], "contexts of a sub and a line grow together: $what");
    }
}
{
    # Each reading of this clock takes a second, and the walk has one in all.
    my $late = recorded('no time for a walk', %exact, PERL_DPROF_CLOCK => 'counting:1000000000');
    my $by_sub = rows_of($late, qw(first second third));
    like($by_sub->{'main::cycle'}{held_by}, qr/\Aunknown: /, 'a walk that takes too long ends');
    is($by_sub->{'main::cycle'}{values}, 400, '... and all numbers are there');
}

# ---- what is not counted ----

SKIP: {
    my @modules = grep { DProfTest::module_there($_) } qw(DBD::Pg Net::SSLeay);
    skip 'needs a module with a C library: DBD::Pg or Net::SSLeay', 2 if !@modules;
    my $loads = profiled(["-M$modules[0]", '-e', 1], env => { PERL_DPROF_MODE => 'tree',
        PERL_DPROF_HEAP => 'exact' });
    my $library = $modules[0] eq 'DBD::Pg' ? qr/libpq\.so/ : qr/libssl\.so/;
    like({ Devel::DProf::Input::header_of($loads->{profile}) }->{dprof_outside}, $library,
        'the file names the libraries whose memory is not counted');
    like(run_tool('dprofreport', ['--growth', $loads->{profile}])->{out},
        qr/^Not counted: what C libraries allocate by themselves: \S+\.so/m,
        '... and so does the table');
}

# ---- wrong turns ----

{
    my $other = profiled(['-e', 'sub f {} f()'], env => { PERL_DPROF_MODE => 'tree' });
    my $tool = run_tool('dprofreport', ['--growth', $other->{profile}]);
    is_deeply([$tool->{status}, $tool->{err} =~ /: (it does not say .*)\n/],
        [1, 'it does not say what lives in memory; perl -d:DProf=tree,lines,heap=exact or '
            . 'heap=sample records that'], 'a profile without memory says how to record it');
}

done_testing();
