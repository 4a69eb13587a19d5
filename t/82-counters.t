# Counters in all tools: recordings and made-up files agree with a naive model; names with colons;
# counters that were multiplexed.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch slurp spew in_process profiled);
use MadeUp;
use NaiveProfile;
use Devel::DProf::Constants qw(time_words);
use JSON::PP ();

my $dir = scratch();
my $n = 0;
sub file { my ($text) = @_; return spew($dir . '/' . ++$n . '.out', $text) }
sub naive { my ($file) = @_; return NaiveProfile->new(slurp($file)) }

# Returns what a tool prints; checks that it succeeds without a message.
sub printed {
    my ($tool, @args) = @_;
    my $run = in_process($tool, @args);
    is("$run->{status} $run->{err}", '0 ',
        "$tool @args[0 .. $#args - 1] succeeds without a message") or return '';
    return $run->{out};
}

sub json { return eval { JSON::PP->new->utf8->decode(printed(@_)) } // { rows => [] } }

# Returns the counts of a model by sub: [self, inclusive], and the total.
sub by_sub {
    my ($model, $counter) = @_;
    my (%by, $total);
    for my $path (keys %{ $model->{counts} }) {
        my $count = $model->{counts}{$path}{$counter} // 0;
        my @frames = ('(program)', split /;/, $path);
        my %seen;
        $by{ $frames[-1] }[0] += $count;
        $by{$_}[1] += $count for grep { !$seen{$_}++ } @frames;
        $total += $count;
    }
    return ($total, { map { $_ => [map { $_ // 0 } @{ $by{$_} }[0, 1]] } keys %by });
}

# Returns the values other than 0 by path.
sub values_of {
    my ($model, $counter) = @_;
    return { map {
        my $v = $model->{counts}{$_}{$counter};
        $v ? ($_ => $v) : ()
    } keys %{ $model->{counts} } };
}

sub some { my ($by) = @_; return { map { $by->{$_}[1] ? ($_ => $by->{$_}) : () } keys %$by } }

# ---- a file's counter in every view, against the model ----

sub views {
    my ($file, $counter) = @_;
    my $model = naive($file);
    my ($total, $by) = by_sub($model, $counter);
    my $report = json('dprofreport', '--format', 'json', '--show-total-period', '-m',
        $counter, $file);
    is($report->{total}, $total, "dprofreport has the total of $counter");
    is_deeply(some({ map { $_->{symbol} => [@$_{qw(self children)}] } @{ $report->{rows} } }),
        some($by), "dprofreport has the $counter of each sub");
    my $sum = 0;
    $sum += $_->{self} for @{ $report->{rows} };
    is($sum, $total, "the self values of $counter add up to the total");
    my %folded = map { /(.*) (\d+)\z/ ? ($1 eq '(program)' ? '' : $1, $2) : ($_ => 'bad') }
        split /\n/, printed('dproffold', '-m', $counter, $file);
    is_deeply(\%folded, values_of($model, $counter), "dproffold has the $counter of each stack");
    my %table = map {
        my @f = split;
        ($f[-1] => [@f[1, 2]])
    } split /\n/, printed('dprofpp', '--metric', $counter, qw(-q --program -O 1000), $file);
    is_deeply(some(\%table), some($by), "dprofpp has the $counter of each sub");
    my $head = (split /\n/, printed('dprofpp', '--metric', $counter, $file))[1] // '';
    like($head, qr/^ *\Q$counter\E(?: in \S+)? = +$total\z/,
        "dprofpp has the total of $counter in its head");
    my ($root) = printed('dprofpp', '--metric', $counter, '-S', '--program',
        $file) =~ /\A\(program\) x \d+  \t(\d+)/;
    is($root, $total, "dprofpp -S has the total of $counter");
    my $diff = json('dprofdiff', '--format', 'json', '-v', '-m', $counter, $file, $file);
    is_deeply([grep { $_->{change} || $_->{delta} } @{ $diff->{rows} }], [],
        "dprofdiff finds no difference of $counter from itself");
    is_deeply(some({ map { $_->{symbol} => [$_->{baseline}, $by->{ $_->{symbol} }[1]] }
        grep { $by->{ $_->{symbol} }[0] } @{ $diff->{rows} } }),
        { map { $by->{$_}[0] ? ($_ => $by->{$_}) : () } keys %$by },
            "dprofdiff has the $counter of each sub");
    my $picture = printed('dprofflame', '-m', $counter, $file) =~ s/(?<=\d),(?=\d)//gr;
    like($picture, qr/<title>\(program\) \($total [^ ]+ 100\.00%/,
        "dprofflame has the total of $counter") if $total;
    return;
}

# ---- recordings ----

my $program = spew("$dir/p.pl", <<'END');
sub grow { my @a = map { "x$_" x 50 } 1 .. $_[0]; return scalar @a }
sub keep { push @main::kept, ('y' x 100_000) x $_[0] }
sub leaf { my $n = 0; $n += $_ for 1 .. $_[0]; $n }
sub mid { leaf(20); grow(10) }
grow(100) for 1 .. 5; keep(20); mid() for 1 .. 20; leaf(500);
END

sub recorded {
    my ($mode) = @_;
    my $run = profiled([$program], env => {
        PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0, PERL_DPROF_MODE => $mode,
        PERL_DPROF_CLOCK => 'counting', PERL_DPROF_EVENTS => 'ops+svs+?bytes+?page-faults',
    });
    is("$run->{status} $run->{err}", '0 ', "a $mode is recorded");
    return $run->{profile};
}

my %recorded = map { $_ => recorded($_) } qw(trace tree);
for my $mode (sort keys %recorded) {
    my ($counters) = slurp($recorded{$mode}) =~ /^.*\$dprof_counters='([^']*)'/m;
    views($recorded{$mode}, $_) for map { s/:[^:]*\z//r } split ' ', $counters;
}
my %model = map { $_ => naive($recorded{$_}) } keys %recorded;
for my $counter (qw(ops svs svs-freed)) {
    is_deeply(values_of($model{trace}, $counter), values_of($model{tree}, $counter),
        "$counter of each path are the same in a trace and in a tree");
}
cmp_ok(values_of($model{tree}, 'svs')->{'main::keep'}, '>=', 20, 'svs count where they were made');

my $merged = "$dir/merged.out";
printed('dprofmerge', '-o', $merged, @recorded{qw(trace tree)});
my $both = naive($merged);
for my $counter (qw(ops svs)) {
    my $once = values_of($model{tree}, $counter);
    is_deeply(values_of($both, $counter), { map { $_ => 2 * $once->{$_} } keys %$once },
        "dprofmerge adds up $counter");
}
views($merged, 'svs');

sub made_up {
    my ($counters, $shares, $more, @lines) = @_;
    @lines = ('@ 10 0 10 5 6 7', '+ 1', '@ 20 0 20 50 60 70', '+ 2', '@ 30 0 30 500 600 700', '- 2',
        '@ 40 0 40 1 2 3', '- 1') if !@lines;
    my $header = '$total_marks=4;' . $more . (length $shares ? " \$dprof_shares='$shares';" : '');
    return file(profile_text(hz => 10_000_000, version => 'DProf 20261120.00',
        times => [100, 0, 100],
        counters => $counters, complete => 1, header => $header,
        subs => ['main a -', 'main b -'], lines => \@lines));
}

my ($colons, $plain, $run);
subtest 'Names of events may have colons' => sub {
    $colons = made_up('cycles:u:cycles task-clock:ns ops:ops', '', '');
    views($colons, $_) for 'cycles:u', 'task-clock', 'ops';
    like(printed('dprofreport', '--format=perf', '-m', 'cycles', $colons),
        qr/^# Metric: cycles:u$/m,
        'a counter is found by its name without modifiers');
    like(printed('dprofreport', '--format=perf', '-m', 'task-clock', $colons),
        qr/^# Metric: task-clock in ns$/m,
        'the unit of a counter is printed');
    like(printed('dproffold', '-m', 'cycles', $colons), qr/^main::a;main::b 500$/m,
        'dproffold finds cycles without modifiers');
    like(printed('dprofdiff', '--format=perf', '-m', 'cycles', $colons, $colons),
        qr/^# Metric: cycles:u, self$/m,
        'dprofdiff finds cycles without modifiers');
    like(printed('dprofpp', '--metric', 'cycles', $colons), qr/^ +cycles:u = +556$/m,
        'dprofpp finds cycles without modifiers');
    like(printed('dprofflame', '-m', 'cycles', $colons), qr/<title>main::b \(500 cycles/,
        'dprofflame finds cycles without modifiers');
    my $two = made_up('cycles:u:cycles cycles:k:cycles cpu/event=1/u:events', '', '');
    $run = in_process('dprofreport', '-m', 'cycles', $two);
    is("$run->{status} $run->{out}", '1 ', 'a name that fits two counters is an error');
    like($run->{err}, qr/cycles:u, cycles:k, cpu/,
        'the message names the counters that a word fits');
    like(printed('dprofreport', '--format=perf', '-m', 'cpu/event=1/', $two),
        qr/^# Metric: cpu\/event=1\/u$/m,
        'a name may have its modifiers after a slash');
    like(printed('dprofdiff', '--format=perf', '-m', $_, $two, $two), qr/^# Metric: \Q$_\E, self$/m,
        "-m $_ takes a metric, not a file") for 'cycles:k', 'cpu/event=1/u';
    $plain = made_up('cycles:cycles task-clock:ns ops:ops', '', '');
    $run = in_process('dprofdiff', '--format=perf', '-m', 'cycles', $plain, $colons);
    my $has = join ', ', time_words(), 'calls';
    is("$run->{status} $run->{err}",
        "1 cycles: not all sides have it\n$plain has $has, cycles, task-clock, ops; "
            . "$colons has $has, cycles:u, task-clock, ops\n",
        'cycles and cycles:u are not compared');
    $run = in_process('dprofreport', '-m', 'cycles', $plain, $colons);
    is("$run->{status} $run->{out}", '1 ', 'a counter that one file lacks gives status 1');
    like($run->{err}, qr/the profile has $has, task-clock, ops$/m,
        'the message does not offer the counter that one file lacks');
};

subtest 'Gates test counters' => sub {
    my $more = made_up('cycles:u:cycles task-clock:ns ops:ops', '', '', '@ 10 0 10 5 6 7', '+ 1',
        '@ 20 0 20 50 60 70', '+ 2', '@ 30 0 30 600 5000600 700', '- 2', '@ 40 0 40 1 2 3', '- 1');
    for (['cycles > 5%' => 3, qr/^FAIL  cycles > 5%: main::b: 500 -> 600/m],
        ['cycles > 5% & 200' => 0, qr/^/],
        ['task-clock > 2ms' => 3, qr/^FAIL  task-clock > 2ms: main::b/m],
        ['task-clock > 6ms' => 0, qr/^/], ['ops > 0' => 0, qr/^/]) {
        my ($rule, $status, $like) = @$_;
        my $run = in_process('dprofdiff', '--format=perf', '-f', '--fail-if', $rule, $colons,
            $more);
        is($run->{status}, $status, "--fail-if '$rule' gives status $status");
        like($run->{out}, $like, "--fail-if '$rule' gives its result");
    }
    $run = in_process('dprofdiff', '--format=perf', '--fail-if', 'cycles > 2ms', $colons, $more);
    is($run->{status}, 2, 'a limit of cycles in ms is an error');

    like(in_process('dprofdiff', '--format=perf', '-f', '--fail-if', 'cycles > 5%, ops > 5%',
        $colons, $more)->{err},
        qr/; with one run a side, cycles:u may differ by chance$/m,
        'counters of the kernel with one run a side give a warning');
    like(printed('dprofdiff', '--format=perf', '-m', 'svs', @recorded{qw(tree tree)}),
        qr/^# Exact: it repeats from run to run/m, 'svs are exact, like ops');
    my $codes = made_up('cpu/event=1,umask=2/u:events ops:ops', '', '');
    is(in_process('dprofdiff', '--format=perf', '-f', '--fail-if',
        '/b$/ cpu/event=1,umask=2/u > 0, ops > 0', $codes,
        $codes)->{status}, 0, 'a rule may name an event with slashes');
    like(printed('dprofflame', '-m', 'cpu/event=1,umask=2/u,ops', $codes),
        qr/<title>main::b \(500 [^ ]* 89\.93%, 600 ops/,
        '-m takes two metrics, one of them with a comma');
    like(printed('dprofflame', '-m', 'cpu/event=1,umask=2/', $codes), qr/<title>main::b \(500 cpu/,
        '-m takes one metric with a comma');
    is(in_process('dprofflame', '-m', 'ops,,ops', $codes)->{status}, 2,
        'an empty metric between commas gives status 2');
};

subtest 'Counters that did not count all of the time give a message' => sub {
    my @shared = map { made_up('cycles:cycles task-clock:ns ops:ops', "$_ 100.0 100.0", '') } 66.4,
        50;
    my $said = "$shared[0]: cycles was counted 66.4 % of the time; its numbers are estimates\n";
    for (['dprofreport', '-m', '-f'], ['dproffold', '-m', '-f'], ['dprofflame', '-m', '-f'],
        ['dprofpp', '--metric', '-F']) {
        my ($tool, $option, $quiet) = @$_;
        is(in_process($tool, $option, 'cycles', $shared[0])->{err}, $said,
            "$tool says that a counter was multiplexed");
        is(in_process($tool, $option, 'ops', $shared[0])->{err}, '',
            "$tool says nothing about a counter that was not multiplexed");
        is(in_process($tool, $quiet, $option, 'cycles', $shared[0])->{err}, '',
            "$tool $quiet says nothing about a multiplexed counter");
    }
    is(in_process('dprofreport', '-m', 'cycles', @shared)->{err},
        $said . $said =~ s/\Q$shared[0]\E/$shared[1]/r =~ s/66\.4/50.0/r,
        'a message names each file with a multiplexed counter');
    my $side = join ',', @shared;
    is(in_process('dprofdiff', '--format=perf', '-m', 'cycles', $plain,
        $side)->{err} =~ s/^.*not the same.*\n//rm,
        "$side: cycles was counted 50.0 % of the time; its numbers are estimates\n",
        'dprofdiff names a multiplexed counter once a side');
    is(in_process('dprofreport', '-m', 'cycles',
        made_up('cycles:cycles ops:ops', '99.96 100.0', ''))->{err}, '',
        'a share of 99.96 % counts as all');
    printed('dprofmerge', '-o', $merged, @shared, $plain);
    like(slurp($merged), qr/^\$dprof_shares='100\.0 50\.0 100\.0';$/m,
        'dprofmerge keeps the smallest share');
    is(naive($merged)->{counts}{'main::a;main::b'}{cycles}, 1500,
        'dprofmerge adds up multiplexed values');

    my $lost = made_up('cycles:cycles task-clock:ns ops:ops', '', ' $dprof_events_lost=1;');
    is(in_process('dprofreport', '-m', 'cycles', $lost)->{err},
        "$lost: cycles was not counted to the end: the program closed its counter\n",
        'a message says that counting ended early');
    is(in_process('dprofreport', '-m', 'ops', $lost)->{err}, '',
        'a counter that counted to the end gives no message');
    printed('dprofmerge', '-o', $merged, $lost, $plain);
    like(slurp($merged), qr/^\$dprof_events_lost=1;$/m,
        'dprofmerge keeps the fact that counting ended early');
};

# ---- noise, and where data lies ----

{
    my $refused = profiled(['-e', 'print "ran\n"'], env => { PERL_DPROF_EVENTS => 'noise' });
    like($refused->{err}, qr/noise': it needs a tree of calls that counts ops \(mode=tree\)/,
        'a trace cannot count noise');
    my $run = profiled(['-e', 'sub f { 1 } f() for 1 .. 3; print "ran\n"'], env => {
        PERL_DPROF_MODE => 'tree', PERL_DPROF_EVENTS => 'noise+svs', PERL_DPROF_LAYOUT => 12345,
    });
    is("$run->{out}$run->{err}$run->{status}", "ran\n0", 'a tree counts noise');
    like(slurp($run->{profile}), qr/dprof_counters='ops:ops noise:ns svs:SVs svs-freed:SVs';/,
        'a tree counts noise beside other counters');
    like(slurp($run->{profile}), qr/\blayout=12345\b/, 'the header has the layout of data');
}

# ---- options of dprofpp ----

is(printed('dprofpp', '-m', 'cycles', $colons), printed('dprofpp', '--metric', 'cycles', $colons),
    '-m means --metric');
like(printed('dprofpp', '--metric', 'real', $colons), qr/^ +Real Time =/m,
    'dprofpp --metric real prints real time');
is(in_process('dprofpp', '--metric', 'ops', '-T', $colons)->{status}, 2,
    'dprofpp --metric ops -T is a usage error');
is(in_process('dprofpp', '--metric', 'nothing', $colons)->{status}, 1,
    'a metric that the profile lacks gives status 1');
done_testing;
