# Lines of source in several profiles: which are the same, after random edits that are known. The
# test also tries rules about lines; dprofdiff --annotate; failures that name lines; baselines with
# lines.
#
# DPROF_SEED and DPROF_ROUNDS: of the random programs.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use TestEnvironment;
use Test::More;
use DProfTest;
use LineEdits;
use JSON::PP ();
use Devel::DProf::Profile;

my $seed = $ENV{DPROF_SEED} // 1;
my $rounds = $ENV{DPROF_ROUNDS} // TestEnvironment::rounds(60, 600);
my $dir = scratch();
mkdir "$dir/$_" or die "$dir/$_: $!" for qw(old new);

sub diffs { return in_process('dprofdiff', '--time-floor', 0, @_) }

sub json_of {
    my ($run) = @_;
    return eval { JSON::PP->new->utf8->decode($run->{out}) }
        // { bad => "$run->{status} $run->{err}$@", rows => [] };
}

# Gives costs to most lines; an empty profile would not be one.
sub costs {
    my ($program) = @_;
    my ($first, @others) = map { @{ $_->[1] } } @$program;
    return { map { $_ => [1 + int rand 20, 1 + int rand 100, 1 + int rand 1000] }
        $first, grep { rand() < 0.8 } @others };
}

# Makes two versions of a program, with the files of their sources, and profiles of them.
sub versions {
    my (%how) = @_;
    my $old = program($how{subs} // 1 + int rand 4, 8);
    my $new = edited($old, %how);
    my %side;
    for (['old', $old, '    '], ['new', $new, "\t"]) {
        my ($name, $program, $indent) = @$_;
        my ($text, $at) = text_of($program, $indent);
        my $file = spew("$dir/$name/p.pl", $text);
        my $cost = costs($program);
        $side{$name} = { program => $program, text => $text, at => $at, cost => $cost,
            file => $file,
            profile => spew("$dir/$name.out",
                profile_of($program, $file, $text, $at, $cost, %how)) };
    }
    return \%side;
}

# ---- texts ----

subtest 'The lines of two texts pair up' => sub {
    srand $seed;
    my @wrong;
    for my $round (1 .. $rounds) {
        my $words = 2 + int rand 20;
        my @old = map { int rand $words } 1 .. rand 40;
        my @new = @old;
        my @was = (0 .. $#old);
        for (1 .. rand 8) {
            my $at = int rand(@new + 1);
            if (rand() < 0.5) {
                splice @new, $at, 0, "new $_";
                splice @was, $at, 0, undef;
            } elsif ($at < @new) {
                splice @new, $at, 1;
                splice @was, $at, 1;
            }
        }
        my $to = Devel::DProf::Profile::align_texts(join('', map { "$_\n" } @old),
            join('', map { "\t$_ \r\n" } @new));
        my $last = 0;
        my $bad = @$to != @new;
        for my $j (0 .. $#new) {
            my $i = $to->[$j] or next;
            $bad = 1 if $i <= $last || $old[ $i - 1 ] ne $new[$j];
            $last = $i;
        }
        # A line that is unlike all others has a known place.
        my (%times, %kept);
        $times{$_}++ for @old;
        $kept{$_}++ for @new;
        for my $j (grep { defined $was[$_] && $times{ $new[$_] } == 1 } 0 .. $#new) {
            $bad = 1 if $to->[$j] != $was[$j] + 1;
        }
        push @wrong, "round $round: @old / @new: @$to" if $bad;
    }
    is(join("\n", @wrong), '', 'lines pair with equal ones, in order; unique lines pair exactly');
    my @many = map { "line $_" } 1 .. 20_000;
    my $round = Devel::DProf::Profile::align_texts(map { join "\n", @$_ } [@many], [reverse @many]);
    is(scalar(grep { $_ } @$round), 1, 'of a reversed text one line is the same');
    is_deeply(Devel::DProf::Profile::align_texts('', "a\n\n"), [0, 0],
        'an empty text pairs no line');
    is_deeply(Devel::DProf::Profile::align_texts("a\nb", "a\nb\n"), [1, 2],
        'a missing newline at the end does not matter');
    my ($all, $twice) = map { my $n = $_; join '', map { ($_ % $n) . "\n" } 1 .. 30_000 } 3, 2;
    my $to = Devel::DProf::Profile::align_texts($all, $twice);
    cmp_ok(scalar(grep { $_ } @$to), '>', 10_000,
        'texts of few words with too many edits still pair lines');
};

# ---- a comparison ----

# Returns what a table by line must have, by identity.
sub expected {
    my ($side, $metric) = @_;
    my ($old, $new) = @$side{qw(old new)};
    my %k = (calls => 0, real => 1, ops => 2);
    my $value = sub {
        my ($cost) = @_;
        return $metric eq 'real' ? $cost->[1] / 1000 : $cost->[ $k{$metric} ];
    };
    my %expected;
    for my $id (keys %{ { %{ $old->{at} }, %{ $new->{at} } } }) {
        my ($before, $after) = map { $_->{cost}{$id} } $old, $new;
        next if !$before && !$after;
        $expected{$id} = join ' ', map({ $_ ? $value->($_) : '-' } $before, $after),
            $before && $after ? "both $new->{at}{$id} was $old->{at}{$id}"
            : $after ? "new $new->{at}{$id}" : 'gone';
    }
    return [sort values %expected];
}

sub got {
    my ($json) = @_;
    return [$json->{bad}] if $json->{bad};
    return [sort map {
        my ($number) = $_->{srcline} =~ /:(\d+)/ ? $1 : $_->{srcline};
        my ($was) = ($_->{moved_from} // '') =~ /:(\d+)\z/ ? $1 : $number;
        join ' ', map({ defined ? 0 + $_ : '-' } @$_{qw(baseline value)}),
            $_->{status} eq 'both' ? "both $number was $was"
            : $_->{status} eq 'new' ? "new $number" : 'gone';
    } @{ $json->{rows} }];
}

subtest 'Random edits pair each line with its former self' => sub {
    srand $seed;
    my ($wrong, @first, %fates) = (0);
    for my $round (1 .. $rounds) {
        my $side = versions(move => $round % 2);
        for my $metric (qw(calls real ops)) {
            my $json = json_of(diffs('-s', 'srcline', '-m', $metric, '--format', 'json', '-v',
                map { $_->{profile} } @$side{qw(old new)}));
            my ($got, $expected) = (got($json), expected($side, $metric));
            next if join("\n", @$got) eq join "\n", @$expected;
            $wrong++;
            @first = ($round, $metric, $got, $expected) if !@first;
        }
        my $json = json_of(diffs('-s', 'srcline', '-m', 'calls', '--format', 'json',
            map { $_->{profile} } @$side{qw(old new)}));
        for my $row (@{ $json->{rows} }) {
            my ($number) = $row->{srcline} =~ /:(\d+)/;
            my $of = $row->{status} eq 'gone' && $row->{source} eq 'deleted' ? 'old' : 'new';
            my ($id) = grep { $side->{$of}{at}{$_} == $number } keys %{ $side->{$of}{at} };
            my $other = defined $id && $side->{ $of eq 'old' ? 'new' : 'old' }{at}{$id};
            my $fate = $row->{source} =~ /^(?:inserted|deleted)\z/ ? 'one' : 'two';
            $fates{$fate}{ $other ? 'two' : 'one' }++;
        }
    }
    is($wrong, 0, 'each line pairs with its former self')
        or do { is_deeply(@first[2, 3], "round $first[0], $first[1]"); diag "DPROF_SEED=$seed" };
    is($fates{two}{one}, undef, 'lines of one side alone are inserted or deleted');
    cmp_ok($fates{one}{two} // 0, '<', ($fates{one}{one} // 0) / 5,
        'lines of both sides move or ran on one side');
};

subtest 'Many lines pair up' => sub {
    srand $seed;
    my $side = versions(move => 1, subs => 400);
    my $json = json_of(diffs('-s', 'srcline', '-m', 'ops', '--format', 'json', '-v',
        map { $_->{profile} } @$side{qw(old new)}));
    my ($got, $expected) = (got($json), expected($side, 'ops'));
    cmp_ok(scalar @$expected, '>', 1000, 'a large file has many lines');
    is(join("\n", @$got), join("\n", @$expected),
        'each line of a large file pairs with its former self');
};

subtest 'Lines without their source pair up' => sub {
    srand $seed;
    my ($wrong, $pairs, $right) = (0, 0, 0);
    for my $round (1 .. $rounds) {
        my $old = program(3, 8);
        my ($text, $at) = text_of($old, '  ');
        my $cost = costs($old);
        my %same = (cost => $cost, at => $at);
        my @out = map {
            spew("$dir/$_.out", profile_of($old, "/$_/lib/Gone.pm", $text, $at, $cost))
        } qw(old new);
        my $json = json_of(diffs('-s', 'srcline', '-m', 'ops', '--format', 'json', @out));
        my @changed = grep { $_->{verdict} ne 'equal' || $_->{status} ne 'both' }
            @{ $json->{rows} };
        $wrong += $json->{unchanged} != keys %$cost || @changed || $json->{guessed};
        # The texts are other ones: distances and counts tell which lines are the same.
        my $new = edited($old);
        my ($other, $now) = text_of($new, '  ');
        my %run = map { $_ => $cost->{$_} // [3, 3, 3] } keys %$now;
        spew($out[1], profile_of($new, '/new/lib/Gone.pm', $other, $now, \%run));
        my $rows = json_of(
            diffs('-s', 'srcline', '-m', 'ops', '--format', 'json', '-v', @out))->{rows};
        my %was = map { $now->{$_} => $at->{$_} } grep { $at->{$_} && $cost->{$_} } keys %$now;
        for my $row (grep { $_->{status} eq 'both' } @$rows) {
            my ($number) = $row->{srcline} =~ /:(\d+)/;
            my ($before) = ($row->{moved_from} || $row->{srcline}) =~ /:(\d+)/;
            $pairs++;
            $right += ($was{$number} // 0) == $before;
        }
    }
    is($wrong, 0, 'lines of a source with equal size and digest pair by number');
    cmp_ok($right, '>', 0.8 * $pairs, "without the source $right of $pairs pairs are right");
};

subtest 'Lines of three sides, of renamed subs and of scripts pair up' => sub {
    srand $seed;
    my $first = program(2, 6);
    my @versions = ($first, edited($first), edited($first));
    my (@out, @at);
    for my $k (0 .. 2) {
        mkdir "$dir/v$k";
        my ($text, $at) = text_of($versions[$k], ' ' x $k);
        my $file = spew("$dir/v$k/script" . ($k == 2 ? '2' : '') . '.pl', $text);
        my %cost = map { $_ => [1, 1, $_] } keys %$at;
        push @out, spew("$dir/v$k.out", profile_of($versions[$k], $file, $text, $at, \%cost));
        push @at, $at;
    }
    my $rows = json_of(diffs('-s', 'srcline', '-m', 'ops', '--format', 'json', '-v', @out))->{rows};
    my @expected = sort map { my $id = $_; join ' ', map { $_->{$id} ? $id : '-' } @at }
        keys %{ { map { %$_ } @at[0, 1] } }, grep { !$at[0]{$_} && !$at[1]{$_} } keys %{ $at[2] };
    is_deeply([sort map { join ' ', map { $_ || '-' } @$_{qw(baseline value_1 value_2)} } @$rows],
        \@expected, 'each line has the values of all sides, whatever the name of the script');
};

# ---- rules ----

subtest 'Rules about lines fail a gate' => sub {
    srand $seed;
    my $wrong = 0;
    for my $round (1 .. $rounds) {
        my $side = versions();
        my ($old, $new) = @$side{qw(old new)};
        my $json = json_of(diffs('--fail-if',
            'line /p\.pl$/ ops > 5% & 10, line /:1\d*$/ calls > 0', '--format', 'json',
            $old->{profile}, $new->{profile}));
        my @expected;
        for my $id (keys %{ $new->{at} }) {
            my ($before, $after) = map { $_->{cost}{$id} || [0, 0, 0] } $old, $new;
            my $grown = $after->[2] - $before->[2];
            push @expected, "p.pl:$new->{at}{$id} $before->[2] $after->[2]"
                if $grown > 0.05 * $before->[2] && $grown > 10;
            push @expected, "p.pl:$new->{at}{$id} $before->[0] $after->[0]"
                if $new->{at}{$id} =~ /^1/ && $after->[0] > $before->[0];
        }
        my @got = map { "$_->{name} $_->{baseline} $_->{value}" } @{ $json->{findings} };
        $wrong++, diag "round $round: @{[sort @got]} / @{[sort @expected]}"
            if join(',', sort @got) ne join ',', sort @expected;
    }
    is($wrong, 0, 'the findings are those of a naive model');
    my $side = versions();
    my @out = map { $_->{profile} } @$side{qw(old new)};
    my $nowhere = diffs('--fail-if', 'line /nowhere/ calls > 0', @out);
    is($nowhere->{status}, 1, 'a rule that matches no line gives status 1');
    like($nowhere->{err}, qr/no line matches/, 'a rule that matches no line gives a message');
    my $by_line = diffs('-s', 'srcline', '-m', 'ops', '--fail-if', 'line ops > 0', @out);
    like($by_line->{out}, qr/^ .* line ops > 0 +p\.pl:\d/m, 'a table by line marks the findings');
    like(diffs('--fail-if', 'line new', '--format', 'github', @out)->{out},
        qr/^::error file=p\.pl,line=\d+,title=line new::p\.pl:\d+ in main::f\d: is new$/m,
        'GitHub annotations name the line');
    like(diffs('--fail-if', 'line ops >', @out)->{err}, qr/a limit .* is expected at `'/,
        'a rule without a limit is an error');
};

subtest 'A side that lacks lines or values gives a message' => sub {
    srand $seed;
    my $side = versions();
    my ($old, $new) = @$side{qw(old new)};
    my $plain = spew("$dir/plain.out", slurp($old->{profile}) =~ s/^#[fl] .*\n//mgr
        =~ s/^\$dprof_lines.*\n//mr);
    my $counts = spew("$dir/counts.out",
        profile_of(@$old{qw(program file text at cost)}, counts => 1));
    is(diffs('-s', 'srcline', $plain, $new->{profile})->{err},
        "srcline: $plain has no lines; record it with lines=time\n",
        'lines on one side alone are an error');
    is(diffs('-s', 'srcline', '-f', $plain, $new->{profile})->{status}, 0,
        '-f compares places of subs');
    is(diffs('-s', 'srcline', '-m', 'ops', $counts, $new->{profile})->{err},
        "srcline: the lines of $counts have calls only, and no ops; record it with lines=time\n",
        'a metric that counts lack is an error');
    like(diffs('-s', 'srcline', $counts, $new->{profile})->{out}, qr/^# Metric: calls/m,
        'without -m lines with counts are compared by counts');
    is(diffs('--fail-if', 'line self > 1%', $counts, $new->{profile})->{err},
        "line self > 1%: the lines of $counts have calls only, and no self; record it with"
        . " lines=time\n", 'a rule that needs times is an error if the lines have counts');
    is(diffs('--annotate', 'f1', $plain, $new->{profile})->{err},
        "--annotate: $plain has no lines; record it with lines=time\n",
        '--annotate is an error if a side has no lines');
};

subtest 'Several runs a side are tested by line' => sub {
    srand $seed;
    my $program = program(1, 4);
    my ($text, $at) = text_of($program, '');
    my ($slow, @others) = @{ $program->[0][1] };
    my $file = spew("$dir/old/p.pl", $text);
    my %out;
    for my $run (1 .. 10) {
        for my $name (qw(old new)) {
            my %cost = map { $_ => [1, 1000 + int rand 20, 10] } @others;
            $cost{$slow} = [1, ($name eq 'old' ? 1000 : 1300) + int rand 20, 10];
            push @{ $out{$name} }, spew("$dir/$name.$run.out",
                profile_of($program, $file, $text, $at, \%cost));
        }
    }
    my $json = json_of(diffs('-s', 'srcline', '-m', 'real', '--as-measured', '--format', 'json',
        map { "$dir/$_.*.out" } qw(old new)));
    is(join(' ', map { $_->{srcline} } grep { $_->{verdict} eq 'significant' } @{ $json->{rows} }),
        "$file:$at->{$slow}", 'the line that became slower is significant, and no other');
};

# ---- the source ----

sub example {
    my ($name, $text, %cost) = @_;
    my $file = spew("$dir/$name/My.pm", $text);
    my %at = map { $_ => $_ } keys %cost;
    return spew("$dir/$name.out",
        profile_of([['parse', [sort { $a <=> $b } keys %cost]]], $file, $text, \%at, \%cost));
}

subtest 'dprofdiff --annotate prints lines of both sides' => sub {
    my @out = (
        example('old', <<'OLD', 3 => [10, 20, 100], 4 => [10, 5, 30], 5 => [10, 1, 2000]),
package My;
sub parse {
    my ($text) = @_;
    my @words = split / /, $text;
    return @words;
}
1;
OLD
        example('new', <<'NEW', 4 => [10, 20, 100], 6 => [40, 1500, 400], 8 => [10, 1, 2000]),
package My;
# words
sub parse {
    my ($text) = @_;
    my @words;
    push @words, $_ for
        split / /, $text;
    return @words;
}
1;
NEW
    );
    my $run = diffs('--annotate', 'parse', '-m', 'real', @out);
    is($run->{out} =~ s/\Q$dir\E/DIR/gr, <<'TEXT', '--annotate prints a sub') or diag $run->{err};
# Baseline: DIR/old.out
# New: DIR/new.out
# Metric: real time, self, in seconds
# main::parse
# --- DIR/old/My.pm:2-6
# +++ DIR/new/My.pm:3-9
  Baseline        New     Count     Count  Line  Line
                                              2     3  sub parse {
  20.00 ms   20.00 ms        10        10     3     4      my ($text) = @_;
  5.000 ms                   10               4       -    my @words = split / /, $text;
                                                    5 +    my @words;
              1.500 s                  40           6 +    push @words, $_ for
                                                    7 +        split / /, $text;
  1.000 ms   1.000 ms        10        10     5     8      return @words;
                                              6     9  }
TEXT
    $run = diffs('--annotate', 'My.pm', '-m', 'ops', '--color', 'always', @out);
    is($run->{out} =~ s/\Q$dir\E/DIR/gr =~ s/\e\[(\d*)m/<$1>/gr,
        <<'TEXT', '--annotate prints a file in colour');
# Baseline: DIR/old.out
# New: DIR/new.out
# Metric: ops, self
# --- DIR/old/My.pm
# +++ DIR/new/My.pm
  Baseline        New     Count     Count  Line  Line
@@ -1 +1 @@
                                              1     1  package My;
                                                    2 +# words
                                              2     3  sub parse {
       100        100        10        10     3     4      my ($text) = @_;
<32>        30                   10               4       -    my @words = split / /, $text;<>
                                                    5 +    my @words;
<31>                  400                  40           6 +    push @words, $_ for<>
                                                    7 +        split / /, $text;
     2,000      2,000        10        10     5     8      return @words;
                                              6     9  }
                                              7    10  1;
TEXT
    mkdir "$dir/elsewhere";
    rename "$dir/old/My.pm", "$dir/elsewhere/My.pm" or die $!;
    like(diffs('--annotate', 'parse', @out)->{out},
        qr/^# \S+old\.out: the source is missing .*\n# Lines are paired by .*, which may be/m,
        'a message says that a source is missing');
    like(diffs('--annotate', 'parse', '--symfs', "$dir/elsewhere", @out)->{out},
        qr/^ .* -    my \@words = split/m, '--symfs finds the missing source');
    spew("$dir/new/My.pm", slurp("$dir/new/My.pm") . "# more\n");
    unlike(diffs('--annotate', 'parse', @out)->{out}, qr/my \(\$text\)/,
        'a changed source is not printed');
    is(diffs('--annotate', 'nothing', @out)->{err},
        "--annotate: the profiles have no lines of a sub or file nothing; "
            . "dprofreport lists the subs\n", '--annotate of an unknown name is an error');
    is(diffs('--annotate', 'pasre', @out)->{err}, "--annotate: the profiles have no lines of a sub "
        . "or file pasre; did you mean main::parse?\n", '... which says what the name may mean');
    is(diffs('--annotate', 'parse', '--format', 'tap', @out)->{status}, 2,
        '--annotate prints tables only');
    is(diffs('--annotate', 'parse', @out, $out[0])->{status}, 2, '--annotate takes two sides');
    is(diffs('--annotate', 'parse', '--fail-if', 'calls > 0', @out)->{status}, 0,
        '--annotate with a gate that passes gives status 0');
    is(diffs('--annotate', 'parse', '--fail-if', 'line calls > 0', @out)->{status},
        3, '--annotate with a gate that fails gives status 3');
};

# ---- tests and baselines ----

# Makes a project with a script and a test of it; returns what the test prints.
sub project_says {
    my ($env, @command) = @_;
    my $run = run_program([@command], dir => "$dir/project", limit => 60,
        env => { PERL5LIB => join(':', map { root() . "/blib/$_" } qw(lib arch)),
            HARNESS_OPTIONS => undef, %$env });
    return $run;
}

my $can = !profiled(['-e', '0'], env => { PERL_DPROF_MODE => 'tree', PERL_DPROF_LINES => 'count' })
    ->{raw};

subtest 'A failure of Test::DProf names the line' => sub {
    plan skip_all => 'there are no lines in this perl' if !$can;
    mkdir "$dir/project";
    mkdir "$dir/project/lib";
    my $module = "package My;\nsub parse {\n    my (\$text) = \@_;\n    my \@words;\n"
        . "    for my \$word (split / /, \$text) {\n        push \@words, lc \$word;\n    }\n"
        . "    return \@words;\n}\n1;\n";
    spew("$dir/project/lib/My.pm", $module);
    spew("$dir/project/run.pl", "use My;\nMy::parse('A b C') for 1 .. 10;\n");
    spew("$dir/project/a.t", <<'END');
use Test::DProf;
use Test::More;
my $p = profile_script_ok { lines => $ENV{WITH}, perl => ['-Ilib'] }, 'run.pl';
no_regression_ok $p, baseline => "$ENV{WITH}.tmon", counters_only => 1,
    fail_if => 'ops > 2%, line /My/ calls > 0';
done_testing;
END
    for my $with (qw(count time)) {
        my %env = (WITH => $with, DPROF_ARTIFACTS => "$dir/project");
        my $t = sub { my ($update) = @_;
            return project_says({ %env, DPROF_UPDATE_BASELINES => $update }, $^X, 'a.t') };
        spew("$dir/project/lib/My.pm", $module);
        is($t->(1)->{status}, 0, "a baseline with lines=$with is written");
        my $first = slurp("$dir/project/$with.tmon");
        $t->(1);
        is(slurp("$dir/project/$with.tmon"), $first,
            "a baseline with lines=$with is the same bytes again")
            if $with eq 'count';
        like($first, qr/^#l 6 \d 30\b/m, "a baseline with lines=$with has the lines");
        is($t->(0)->{status}, 0, 'an unchanged program passes');
        spew("$dir/project/lib/My.pm", $module =~ s/(push \@words), lc \$word;/my \$x = lc \$word;
        $1, \$x;
        \$x++ for 1 .. 4;/r);
        my $failed = $t->(0);
        isnt($failed->{status}, 0, 'a change that costs more fails');
        my $grown = $with eq 'count' ? qr/\d: 0 -> 30 calls/ : qr/8: 0 -> \d+ ops/;
        like($failed->{err},
            qr{^# FAIL ops > 2%: My::parse: \d+ -> \d+\n#   lib/My\.pm:$grown \(new\)\n}m,
            'the failure names the line below its sub');
        like($failed->{err},
            qr{^# FAIL line /My/ calls > 0: lib/My\.pm:\d in My::parse: 0 -> 30$}m,
            'the failure of a rule about lines names the line');
    }
    spew("$dir/project/a.t", slurp("$dir/project/a.t") =~ s/lines => \$ENV\{WITH\}, //r);
    spew("$dir/project/lib/My.pm", $module);
    project_says({ WITH => 'none', DPROF_UPDATE_BASELINES => 1 }, $^X, 'a.t');
    spew("$dir/project/lib/My.pm", $module =~ s/lc \$word/lc uc \$word/r);
    my $failed = project_says({ WITH => 'none', DPROF_ARTIFACTS => "$dir/project" }, $^X, 'a.t');
    like($failed->{err}, qr/^# FAIL ops > 2%: My::parse: \d+ -> \d+\n# (?!  )/m,
        'the failure against a baseline without lines names no line');
    like($failed->{err}, qr/rule line \S+ calls > 0 was not checked: not both\s.*sides have lines/s,
        'a message says that the rule about lines was not checked');
};

subtest 'prove -PDProf names the line of a finding' => sub {
    plan skip_all => 'there are no lines in this perl' if !$can;
    my $module = slurp("$dir/project/lib/My.pm") =~ s/lc uc/lc/r;
    spew("$dir/project/lib/My.pm", $module);
    spew("$dir/project/b.t", "print \"1..1\\n\"; require './lib/My.pm';\n"
        . "My::parse('A b C') for 1 .. 9;\nprint \"ok 1\\n\";\n");
    my @prove = ($^X, '-MApp::Prove', '-e', 'my $app = App::Prove->new; $app->process_args(@ARGV);'
        . ' exit($app->run ? 0 : 1)', '--', '--norc', '-PDProf=baseline=base,counters_only,'
        . 'lines=count,fail_if=ops > 2%, line /My/ calls > 0', 'b.t');
    my $said = project_says({}, @prove);
    is($said->{status}, 0, 'a first run records a baseline') or diag "$said->{out}$said->{err}";
    my $first = slurp("$dir/project/base/b.t.tmon");
    project_says({ DPROF_UPDATE_BASELINES => 1 }, @prove);
    is(slurp("$dir/project/base/b.t.tmon"), $first, 'recording it again gives the same file');
    like($first, qr/^#f lib\/My\.pm .*\n(?:#l .*\n)*#l 6 \w+ 27$/m, 'the baseline has lines');
    spew("$dir/project/lib/My.pm",
        $module =~ s/(push \@words, lc \$word;)/$1\n        \$text .= '' for 1 .. 3;/r);
    my $failed = project_says({}, @prove);
    like($failed->{out}, qr{^DProf: b\.t: My::parse: ops > 2%: \d+ -> [\d,]+; most of it at }m,
        'a change gives a finding') or diag "$failed->{out}$failed->{err}";
    like($failed->{out}, qr{ at lib/My\.pm:7: 0 -> 27 calls \(new\)$}m,
        'the finding names the line');
    like($failed->{out},
        qr{^DProf: b\.t: lib/My\.pm:7 in My::parse: line /My/ calls > 0: 0 -> 27$}m,
        'a rule about lines gives a finding');
    spew("$dir/project/c.t", "print \"1..1\\n\";\nprint \"ok 1\\n\";\n");
    push @prove, 'c.t';
    project_says({ DPROF_UPDATE_BASELINES => 1 }, @prove);
    unlike(project_says({}, @prove)->{out}, qr/no line matches/,
        'no message names a rule that one of two tests matches');
    like(project_says({}, map { s{/My/}{/Yours/}r } @prove)->{out},
        qr{^DProf: fail_if line /Yours/ calls > 0: no line matches \(b\.t, and 1 more\)$}m,
        'a message names a rule that no test matches');
};

done_testing;
