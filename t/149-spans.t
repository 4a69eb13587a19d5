# Spans: frames that are no subs. What the tools say of profiles that were made by hand, whose
# numbers are known.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;
use MadeProfile;
use StrictProfile;

my $OPEN = 'SELECT * FROM orders WHERE open = ?; -- now';
my $dir = scratch();

# Runs a tool, as DProfTest::run_tool does.
sub tool { my ($name, @args) = @_; return run_tool($name, \@args) }

# Writes a trace. Times are in ms.
my $trace = MadeProfile->trace("$dir/trace.out", sub {
    my $to = shift;
    $to->sub('main::run', 'run.pl:3');
    $to->xs('DBI::st::execute');
    $to->span(sql => $OPEN);
    $to->span(sql => 'BEGIN');
    $to->span(regex => '^END', 'run.pl:7');
    $to->call('main::run', 1, sub {
        $to->call('DBI::st::execute', 1, sub { $to->call("sql:$OPEN", 10, sub { }) });
        $to->call('DBI::st::execute', 1, sub { $to->call('sql:BEGIN', 5, sub { }) });
        $to->call('regex:^END', 2, sub { });
    });
});

# ---- the file ----
{
    my $tree = "$dir/tree.out";
    my $merge = tool('dprofmerge', '-o', $tree, $trace);
    is($merge->{raw}, 0, 'a trace with spans becomes a tree') or diag $merge->{err};
    my @names = slurp($tree) =~ /^(& .* kind=span)$/mg;
    is_deeply([map { s/^& \w+ //r } @names], [
        'regex ^END run.pl:7 kind=span',
        'sql BEGIN - kind=span',
        'sql SELECT%20*%20FROM%20orders%20WHERE%20open%20=%20?;%20--%20now - kind=span',
    ], 'kinds, texts and places are written as they were read');
    my $again = "$dir/again.out";
    tool('dprofmerge', '-o', $again, $tree);
    is(slurp($again), slurp($tree), 'a tree that is written again is the same');
    my @lines = grep { /:/ } split /\n/, tool('dproffold', $tree)->{out};
    is_deeply([sort @lines], [
        'main::run 1000',
        'main::run;DBI::st::execute 2000',
        'main::run;DBI::st::execute;sql:BEGIN 5000',
        'main::run;DBI::st::execute;sql:SELECT * FROM orders WHERE open = ?%3B -- now 10000',
        'main::run;regex:^END 2000',
    ], 'names are KIND:TEXT, and a text has no semicolon of its own') or diag explain \@lines;
}

# ---- rows ----
{
    my $with = sub {
        my ($name, $rows, %header) = @_;
        return MadeProfile->trace("$dir/$name", sub {
            my $to = shift;
            $to->span(sql => 'SELECT 1');
            $to->span(sql => 'DELETE FROM t');
            $to->call('sql:SELECT 1', 1);
            $to->call('sql:DELETE FROM t', 1);
            $to->rows('sql:SELECT 1', $rows);
            $to->rows('sql:DELETE FROM t', 0) if !$rows;
        }, %header);
    };
    my @files = ($with->('a.out', 0, dprof_spans_other => 3, dprof_spans_cut => 2),
        $with->('b.out', 41), $with->('c.out', 7, dprof_spans_other => 4, hz => 20_000_000));
    tool('dprofmerge', '-o', "$dir/rows.out", @files);
    is(join("\n", slurp("$dir/rows.out") =~ /^#s (.*)$/mg), "1 rows=0\n2 rows=48",
        'rows of files are added up, and 0 is a known number');
    is_deeply([StrictProfile::problems("$dir/rows.out")], [], 'the file has no other line');
    like(slurp("$dir/rows.out"), qr/^\$dprof_spans_cut=2;\n\$dprof_spans_other=7;$/m,
        'texts that were cut, and calls of other texts, are counts: they do not scale with ticks');
    my $more = spew("$dir/d.out", slurp($files[1]) =~ s/^(#s .*)$/$1 later=3\n#s 1 rows=2/mr);
    tool('dprofmerge', '-o', "$dir/more.out", $more);
    like(slurp("$dir/more.out"), qr/^#s 2 rows=43$/m, 'unknown keys are skipped, and lines added');
    for my $bad ('#s 1 rows=x', '#s 77 rows=1', '#s rows=1') {
        my $file = spew("$dir/bad.out", slurp($files[1]) =~ s/^#s .*$/$bad/mr);
        my $run = tool('dprofmerge', '-o', "$dir/good.out", $file);
        like($run->{err}, qr{^Bad profile: \Q$bad\E .*left out}, "'$bad' is left out, and named");
    }
}

# ---- names ----
{
    my $out = tool('dproffold', '--separate', $trace)->{out};
    unlike($out, qr/sql:BEGIN@|END\[/, 'no text is taken for a BEGIN or END block');
    my $folded = spew("$dir/names.folded", <<'END');
main::a;sql:SELECT 1 1
main::a;http::Request::new 2
main::a;sql:SELECT a::b 4
main::a;http:: 8
main::a;file: 16
END
    tool('dprofmerge', '--unit', 's', '-o', "$dir/names.out", $folded);
    is_deeply([sort map { s/^& \w+ //r } slurp("$dir/names.out") =~ /^(& .*)$/mg], [
        '% file: -', 'http % -', 'http::Request new -', 'main a -',
        'sql SELECT%201 - kind=span', 'sql SELECT%20a::b - kind=span',
    ], 'folded stacks: a known kind, one colon, and a text');
    my $svg = tool('dprofflame', '-o', '-', '--format', 'svg', $trace)->{out};
    like($svg, qr/>span</, 'the legend of a flame graph has spans');
}

done_testing;
