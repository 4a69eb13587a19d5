# One object for each idea: words become metrics in one way in all tools, sides are read
# without a change of what names them, and tables have all formats.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch spew in_process);
use JSON::PP ();
use MadeUp;
use Devel::DProf::Metric;
use Devel::DProf::Profile;
use Devel::DProf::Sides;
use Devel::DProf::Constants qw(DP_TEXT DP_CSV DP_JSON DP_MARKDOWN DP_HTML);
use Devel::DProf::Table;
use Test::DProf::Profile;

my $dir = scratch();
my $n = 0;

# Makes a profile of a sub that has 1, 2, 3 ... of the counters in the header.
sub file {
    my ($counters, %how) = @_;
    my $k = 0;
    my @counters = split ' ', $counters;
    my ($none, $values) = (join(' ', (0) x @counters), join ' ', map { ++$k } @counters);
    return spew("$dir/" . ++$n, profile_text(format => 'tree', counters => $counters,
        times => [5, 1, 9], complete => 1, subs => ['main f x.pm:1'],
        lines => ["= 0 0 0 0 0 0 0 0 $none", "= 1 1 2 5 1 9 4 5 $values"], %how));
}

sub profile {
    my $profile = Devel::DProf::Profile->new;
    is($profile->add($_[0]), 0, 'the profile can be read') or diag $profile->outcome(0)->{message};
    return $profile;
}

# What a metric is, as text.
sub told {
    my ($metric) = @_;
    return 'none' if !$metric;
    my @is = grep { my $is = "is_$_"; $metric->$is } qw(time calls counter exact);
    return join '|', $metric->name, $metric->label, $metric->unit, @is;
}

my $all = file('ops:ops cycles:u:cycles cpu/event=1/u:events kmem:kfree:events Memory:bytes');
my %means = (
    cpu => 'cpu|user+system time|s|time', 'user+system' => 'user+system|user+system time|s|time',
    real => 'real|real time|s|time', calls => 'calls|calls|calls|calls|exact',
    ops => 'ops|ops|ops|counter|exact', cycles => 'cycles:u|cycles:u|cycles|counter',
    'cycles:u' => 'cycles:u|cycles:u|cycles|counter', 'cycles:k' => 'none', 'cycles:' => 'none',
    'cpu/event=1/' => 'cpu/event=1/u|cpu/event=1/u|events|counter',
    'cpu/event=1/u' => 'cpu/event=1/u|cpu/event=1/u|events|counter', 'cpu/event=1/k' => 'none',
    'kmem:kfree' => 'kmem:kfree|kmem:kfree|events|counter', kmem => 'none', kfree => 'none',
    'Memory_(bytes)' => 'Memory|Memory in bytes|bytes|counter', 'Memory_(ns)' => 'none',
    Memory => 'Memory|Memory in bytes|bytes|counter', counter => 'none', '' => 'none',
);

subtest 'A word names a metric of a profile' => sub {
    my $profile = profile($all);
    is(told($profile->metric($_)), $means{$_},
        "metric() knows what the word `$_' means") for sort keys %means;
    is_deeply([map { $profile->metric($_)->total($profile) } 'Memory_(bytes)', 'calls', 'user'],
        [5, 2, 5], 'total() returns the sum of each metric');
    is(told(Devel::DProf::Metric->known('real')), $means{real},
        'known() knows a time without a profile');
    is(told(Devel::DProf::Metric->known('ops')), 'none', 'known() does not know a counter');
    is_deeply([Devel::DProf::Metric::words('cpu/event=0x3c,umask=1/u,ops,kmem:kfree')],
        ['cpu/event=0x3c,umask=1/u', 'ops', 'kmem:kfree'],
            "words() splits a list but not an event's own commas");
};

subtest 'An event is found without its modifier u' => sub {
    for my $of (['cycles', ':'], ['cpu/event=1/', '']) {
        my ($event, $before) = @$of;
        my ($u, $x) = map { profile(file("$event$before$_:events")) } 'u', 'x';
        is(told($u->metric($event)), "${event}${before}u|${event}${before}u|events|counter",
            "the word $event means the event of user mode");
        is(told($x->metric($event)), 'none',
            "the word $event does not mean an event with the modifier x");
        my $two = profile(file("$event${before}u:events $event${before}k:events"));
        is(told($two->metric($event)), 'none', "the word $event means nothing if two events fit");
    }
};

subtest 'A metric has a number in each profile' => sub {
    my @profiles = map { profile(file($_)) } 'ops:ops a:x', 'a:x', 'b:x';
    my $metric = Devel::DProf::Metric->of('a', @profiles);
    is_deeply([$metric->counters], [1, 0, undef],
        'counters() returns undef for a profile that lacks the metric');
    is(told(Devel::DProf::Metric->of('c', @profiles)), 'none',
        'of() returns no metric if every profile lacks it');
};

subtest 'The unit of folded stacks is a metric' => sub {
    my $folded = Devel::DProf::Profile->new;
    $folded->declare_unit('samples');
    $folded->add(spew("$dir/folded", "main;f 3\n"));
    is(told($folded->metric('samples')), 'cpu|samples|samples|time',
        'the declared unit names the values of folded stacks');
    is(told($folded->metric('cpu')), 'cpu|samples|samples|time',
        'cpu names the values of folded stacks');
};

# Each tool with its way to ask for a metric.
my @TOOLS = (['dprofreport', '-m'], ['dprofpp', '--metric'], ['dproffold', '-m'],
    ['dprofflame', '-o', "$dir/x.svg", '-m'], ['dprofhtml', '-o', "$dir/x.html", '-m'],
    ['dprofexport', '--format', 'pprof', '-o', "$dir/x.pb.gz", '-m'],
    ['dproftop', '-b', '-n', 1, '-m']);

subtest 'Every tool accepts the same words' => sub {
    for my $word (sort grep { length && $_ ne 'calls' } keys %means) {
        my $want = $means{$word} eq 'none' ? 'refused' : 'taken';
        for my $call (@TOOLS) {
            my ($tool, @args) = @$call;
            my $run = in_process($tool, @args, $word, $all);
            is($run->{status} ? 'refused' : 'taken', $want,
                "$tool agrees with metric() on `$word'") or diag $run->{err};
        }
        my $run = in_process('dprofdiff', '-m', $word, $all, $all);
        is($run->{status} ? 'refused' : 'taken', $want,
            "dprofdiff agrees with metric() on `$word'") or diag $run->{err};
        my $test = Test::DProf::Profile->new(read => sub { profile($all) });
        my $cost = eval { $test->cost('main::f', $word) };
        is(defined $cost ? 'taken' : 'refused', $want,
            "Test::DProf agrees with metric() on `$word'") or diag $@;
    }
};

# ---- sides ----

subtest 'Sides do not change their names' => sub {
    my $slice = sub { my ($pid, $number) = @_;
        file('ops:ops', header => "\$dprof_run='r'; \$dprof_pid=$pid; \$dprof_tid=0;\n"
            . "\$dprof_slice=$number; \$dprof_start=$number.5;") };
    my @paths = map { $slice->(@$_) } [7, 1], [8, 1], [7, 2];
    my @named = map { { name => $_, runs => [[@paths]], more => 1 } } qw(a b);
    my $before = JSON::PP->new->canonical->encode(\@named);
    my $sides = Devel::DProf::Sides->new(apart => 1);
    ok($sides->read(sub { 'fine' }, @named), 'read() reads the sides');
    is(JSON::PP->new->canonical->encode(\@named), $before,
        'read() does not change the names of its caller');
    my ($side, $other) = $sides->sides;
    is_deeply([@$side{qw(name more cut)}, $side->{runs}],
        ['a', 1, 0, [[@paths[0, 2, 1]]]], 'slices of a process are one run');
    is_deeply([map { $_->files } @{ $side->{profiles}[0] }], [2, 1],
        'slices of a process are read into one profile');
    ok($sides->only_of('pid', { 8 => 1 }), 'only_of() finds one process');
    is_deeply([map { scalar Devel::DProf::Sides::parts($_) } $sides->sides], [1, 1],
        'only_of() returns sides with that process alone');
    is(scalar Devel::DProf::Sides::parts($side), 2,
        'only_of() leaves the sides that were read as they were');
};

subtest 'Files that are no profile are left out' => sub {
    my @paths = (file('ops:ops'), spew("$dir/none", "\0"), file('ops:ops'));
    for my $apart (0, 1) {
        my $sides = Devel::DProf::Sides->new(apart => $apart);
        $sides->read(sub { $_[0]{code} ? 'none' : 'fine' }, { name => '', runs => [[@paths]] });
        is(scalar Devel::DProf::Sides::parts(($sides->sides)[0]), $apart ? 2 : 1,
            $apart ? 'a file that is no profile is left out if files are kept apart'
                : 'a file that is no profile adds nothing to a sum');
    }
};

# ---- tables ----

my $TABLE = Devel::DProf::Table->new(['Sub', 'sub', 1], ['Calls', 'calls'], ['p', 'p']);
$TABLE->fact('Metric', 'metric', "a\nb");
$TABLE->json(list => ['x', 1]);
$TABLE->row('=f|<b>', [1200, '1,200'], [undef, 'exact']);
$TABLE->row("\x{263a}", [undef, '-'], ['1.2e-05', '<0.0001']);
$TABLE->row(undef, undef, [0, '0']);

sub printed {
    my ($table, $format, %how) = @_;
    open my $out, '>', \my $text or die "memory: $!";
    is($table->print($out, format => $format, %how), 0, 'print writes the table');
    close $out;
    return $text;
}

subtest 'A table is printed in all formats' => sub {
    is(printed($TABLE, DP_TEXT), "# Metric: a\\x0ab\n#\n" .
        <<"END", 'the text has facts, a head and rows');
Sub     Calls        p
......  .....  .......
=f|<b>  1,200    exact
\xe2\x98\xba           -  <0.0001
                     0
END
    is(printed($TABLE, DP_TEXT, quiet => 1) =~ tr/\n//, 3, 'quiet text has rows alone');
    is(printed($TABLE, DP_CSV), "sub,calls,p\n'=f|<b>,1200,\n\xe2\x98\xba,,1.2e-05\n,,0\n",
        'CSV has raw numbers and names');
    my $json = JSON::PP->new->utf8->decode(printed($TABLE, DP_JSON));
    is_deeply([@$json{qw(metric list)}], ["a\nb", ['x', 1]], 'JSON has facts');
    is_deeply($json->{rows}, [{ sub => '=f|<b>', calls => 1200, p => undef },
        { sub => "\x{263a}", calls => undef, p => 1.2e-05 },
        { sub => undef, calls => undef, p => 0 }], 'JSON has rows');
    like(printed($TABLE, DP_MARKDOWN), qr/^\| `=f\\\|<b>` \| 1,200 \| exact \|$/m,
        'Markdown escapes a name');
    like(printed($TABLE, DP_HTML), qr/=f\|&lt;b&gt;.*1,200.*exact.*&lt;0\.0001/s,
        'HTML escapes a name');
};

subtest 'A table without rows is printed' => sub {
    my $table = Devel::DProf::Table->new(['Sub', 'sub', 1]);
    $table->fact('Metric', 'metric', 'cpu');
    is(printed($table, DP_TEXT), "# Metric: cpu\n#\n", 'text without rows has facts alone');
    is(printed($table, DP_CSV), "sub\n", 'CSV without rows has the heading');
};

done_testing;
