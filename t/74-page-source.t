# The source view of a page, against a plain reading. The data that dprofflame and dprofhtml put
# there are read back and compared with a plain reading of the profile, and with what dprofreport
# prints for the same lines.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch spew slurp in_process profiled run_tool);
use JSON::PP ();
use LineReader;
use NaiveStacks;
use SourceProgram;

my $dir = scratch();
my %env = SourceProgram::HOW;
my ($file, $profile) = SourceProgram::recorded($dir, <<'END');
eval "leaf(7)";

=pod

A manual, </script><script>alert(1)</script> &amp; so on.

=cut
END
my $source = slurp($file);
my $naive = LineReader::read_file($profile);
sub plain { my ($of) = @_; return { map { s/%20/ /gr => $of->{$_} } keys %$of } }

sub page {
    my ($tool, @args) = @_;
    my $made = in_process($tool, '-o', "$dir/x.html", @args);
    is("$made->{status} $made->{err}", '0 ', "$tool @args gives no message");
    return slurp("$dir/x.html");
}

sub rows {
    my (@args) = @_;
    my $report = in_process('dprofreport', '--format', 'json', '-s', 'srcline', '-n',
        '--show-total-period', @args);
    return { map { $_->{srcline} => $_ } @{ JSON::PP->new->utf8->decode($report->{out})->{rows} } };
}

my $html = page('dprofflame', '-m', 'real', $profile);
my $got = NaiveStacks::lines_of_page($html);
my ($side) = @{ $got->{sides} };
my @metrics = map { $_->{key} } @{ $got->{page}{json}{metrics} };
my %index = map { $metrics[$_] => $_ } 0 .. $#metrics;

subtest 'A page has the costs of lines' => sub {
    is($side->{detail}, 2, 'statements have times');
    my %lines = %{ $side->{lines} };
    my %wanted_count = %{ plain($naive->{count}) };
    is_deeply({ map { $_ => $lines{$_}{count} } keys %wanted_count }, \%wanted_count,
        'each line has its count');
    my @kinds = ([user => 0], [system => 1], [real => 2]);
    for (grep { exists $index{ $_->[0] } } @kinds) {
        my ($word, $column) = @$_;
        my %wanted = %{ plain($naive->{times}) };
        is_deeply({ map { $_ => $lines{$_}{self}[ $index{$word} ] } keys %wanted },
            { map { $_ => $wanted{$_}[$column] } keys %wanted },
            "each line has its own $word ticks");
    }
    my ($all, $total) = (0, 0);
    $all += $_->{self}[ $index{real} ] for values %lines;
    $total += $_->{self}[ $index{real} ] for @{ $got->{page}{frames} };
    is($all, $total, 'lines add up to the sum of the frames');
    my $real = $index{real};
    is_deeply([grep { $_->{incl}[$real] < $_->{self}[$real] } values %lines], [],
        "inclusive time is never below the line's own");
};

subtest 'A page has the numbers of dprofreport' => sub {
    my $rows = rows('-m', 'real', $profile);
    my $hz = $got->{page}{json}{metrics}[ $index{real} ]{hz};
    my $ticks = sub { sprintf '%.0f', $hz * $_[0] };
    my %page = map { exists $rows->{$_} ? ($_ => $side->{lines}{$_}) : () }
        keys %{ $side->{lines} };
    cmp_ok(scalar(keys %page), '>=', 10, 'page and report have lines in common');
    is_deeply({ map { $_ => "$page{$_}{self}[ $index{real} ]" } keys %page },
        { map { $_ => $ticks->($rows->{$_}{self}) } keys %page },
            'each line has the own time of dprofreport');
    is_deeply({ map { $_ => "$page{$_}{incl}[ $index{real} ]" } keys %page },
        { map { $_ => $ticks->($rows->{$_}{children}) } keys %page },
            'each line has the inclusive time of dprofreport')
        or diag explain [values %$rows];
};

subtest 'A page has the calls of lines' => sub {
    is($side->{lines}{"$file:13"}{calls}{'main::leaf'}[0], 3, 'calls from a loop are counted');
    is($side->{lines}{"$file:9"}{calls}{'main::deep'}[0], 4, 'calls of a recursion are counted');
    is($side->{lines}{"$file:15"}{calls}{'main::deep'}[0], 1,
        'the call into a recursion is counted');
    my $real = 1 + $index{real};
    is($side->{lines}{"$file:15"}{calls}{'main::deep'}[$real]
        + $side->{lines}{"$file:15"}{self}[ $index{real} ],
        $side->{lines}{"$file:15"}{incl}[ $index{real} ],
        'the time of a call is that of the line without its own');
    my %called;
    for my $line (values %{ $side->{lines} }) {
        $called{$_} += $line->{calls}{$_}[0] for keys %{ $line->{calls} };
    }
    is($called{'main::leaf'}, 8, 'all calls of a sub are counted, with one from an eval');
};

subtest 'A page has the sources' => sub {
    is_deeply($got->{sources}{$file}, [['same', $source]], 'an unchanged source is in the page');
    my ($eval) = grep { /^\(eval/ } keys %{ $got->{sources} };
    is($got->{sources}{$eval}[0][0], 'generated', 'the source of an eval is marked as generated');
    is(() = $html =~ /<script/g, 3 + (() = $html =~ /id="dprof-source-/g),
        'a source with </script> adds no element to the page');
    my $none = NaiveStacks::lines_of_page(page('dprofflame', '--no-source', $profile));
    is_deeply($none->{sources}, {}, '--no-source leaves out the sources');
    is_deeply($none->{sides}[0]{lines}, page_lines($profile),
        '--no-source keeps the lines');
    spew("$dir/x/$file", $source) if mkdir_for("$dir/x/$file");
    spew($file, "# one line more\n$source");
    my $state = sub {
        my (@args) = @_;
        return NaiveStacks::lines_of_page(page('dprofflame', @args))->{sources}{$file}[0];
    };
    is_deeply($state->($profile), ['changed', undef], 'a changed source is left out');
    is_deeply($state->('--symfs', "$dir/x", $profile), ['same', $source],
        '--symfs finds the source below another folder');
    unlink $file;
    is_deeply($state->($profile), ['gone', undef], 'a missing source is marked as gone');
    spew($file, $source);
};

subtest 'Odd sources are shown as UTF-8' => sub {
    for (["caf\xe9\n", "caf\xc3\xa9\n", 'Latin-1'], ["caf\xc3\xa9\n", "caf\xc3\xa9\n", 'UTF-8'],
        ["a\r\nb\r\n", "a\r\nb\r\n", 'CRLF'], ["\0\e[31m\x{e2}\x80\xae\n", "\0\e[31m\xe2\x80\xae\n",
            'control characters'], ['x' x 100_000, 'x' x 100_000, 'a long line']) {
        my ($tail, $shown, $what) = @$_;
        my $odd = spew("$dir/odd.pl", "sub f { 1 }\nf();\n__END__\n$tail");
        my $other = profiled([$odd], env => { %env, PERL_DPROF_LINES => 'count' })->{profile};
        my $page = NaiveStacks::lines_of_page(page('dprofhtml', $other));
        is($page->{sources}{$odd}[0][1], "sub f { 1 }\nf();\n__END__\n$shown",
            "the page has a source with $what");
        is($page->{sides}[0]{detail}, 1, 'a page of lines=count has counts alone');
    }
};

subtest 'A profile without lines has its source in the page' => sub {
    my $plain = profiled([$file], env => \%env)->{profile};
    my $page = NaiveStacks::lines_of_page(page('dprofhtml', $plain));
    is_deeply([$page->{sides}[0]{detail}, $page->{sides}[0]{lines}], [0, {}],
        'a profile without lines has no lines in the page');
    is($page->{sources}{$file}[0][1], $source,
        'a profile without lines has the source in the page');
    my $sited = profiled([$file], env => { %env, PERL_DPROF_CALLSITES => 1 })->{profile};
    $page = NaiveStacks::lines_of_page(page('dprofhtml', $sited));
    is($page->{sides}[0]{lines}{"$file:13"}{calls}{'main::leaf'}[0], 3,
        'callsites=1 gives the calls of lines');
    is_deeply([grep { $_->{count} } values %{ $page->{sides}[0]{lines} }], [],
        'callsites=1 gives no counts of lines');
    my $folded = spew("$dir/f.folded", "a;b 5\nc 3\n");
    ok(!defined NaiveStacks::lines_of_page(page('dprofhtml', $folded)),
        'folded stacks have no sources');
};

subtest 'Lines have counters' => sub {
    my $counted = profiled([$file],
        env => { %env, PERL_DPROF_LINES => 'time', PERL_DPROF_OPS => 1 })->{profile};
    my $page = NaiveStacks::lines_of_page(page('dprofflame', $counted));
    my ($ops) = grep { $page->{page}{json}{metrics}[$_]{key} eq 'ops' }
        0 .. $#{ $page->{page}{json}{metrics} };
    my $rows = rows('-m', 'ops', $counted);
    my %lines = %{ $page->{sides}[0]{lines} };
    is_deeply({ map { $_ => $lines{$_}{self}[$ops] } grep { $rows->{$_} } keys %lines },
        { map { $_ => $rows->{$_}{self} } grep { $rows->{$_} } keys %lines },
        'the ops of lines are those of dprofreport');
    cmp_ok($lines{"$file:15"}{calls}{'main::deep'}[ 1 + $ops ], '>',
        $lines{"$file:13"}{calls}{'main::leaf'}[ 1 + $ops ], 'calls have ops');
};

subtest 'Lines of several files and of two sides are in a page' => sub {
    my $twice = NaiveStacks::lines_of_page(page('dprofflame', '-m', 'real', $profile, $profile));
    is_deeply({ map { $_ => $twice->{sides}[0]{lines}{$_}{count} } keys %{ $side->{lines} } },
        { map { $_ => 2 * $side->{lines}{$_}{count} } keys %{ $side->{lines} } },
        'counts of two files are added up');
    is_deeply({ map { $_ => $twice->{sides}[0]{lines}{$_}{self} } keys %{ $side->{lines} } },
        { map { my $l = $_; $l => [map { 2 * $_ } @{ $side->{lines}{$l}{self} }] }
            keys %{ $side->{lines} } }, 'times of two files are added up');
    my $two = NaiveStacks::lines_of_page(
        page('dprofflame', '-m', 'real', '--diff', $profile, $profile));
    is_deeply($two->{sides}[0], $two->{sides}[1], 'both sides of a difference have lines');
    is_deeply($two->{sides}[0]{lines}{"$file:13"}{self}[0],
        $side->{lines}{"$file:13"}{self}[ $index{real} ],
            'both sides of a difference have the costs of the profile');
    is(scalar @{ $two->{sources}{$file} }, 2, 'both sides of a difference have their sources');
};

subtest 'dprofhtml writes a page that opens with the source' => sub {
    my $made = run_tool('dprofhtml', [$profile], dir => $dir);
    is("$made->{status} $made->{out}$made->{err}", "0 wrote dprof.html; open it in a browser\n",
        'dprofhtml writes dprof.html');
    my $page = slurp("$dir/dprof.html");
    is(NaiveStacks::page_of($page)->{json}{options}{start}, 'source',
        'the page of dprofhtml opens with the source');
    is(NaiveStacks::page_of($html)->{json}{options}{start}, 'graph',
        'the page of dprofflame opens with the graph');
    is(in_process('dprofhtml', '--diff', '-o', "$dir/y.html", "$dir/none.out", $profile)->{status},
        1, '--diff without the other profile gives status 1');
    is(in_process('dprofhtml', '--colors', 'hot')->{status}, 2,
        'dprofhtml refuses options of pictures');
};

sub page_lines {
    my ($of) = @_;
    return NaiveStacks::lines_of_page(page('dprofflame', $of))->{sides}[0]{lines};
}

sub mkdir_for {
    my ($path) = @_;
    require File::Path;
    return File::Path::mkpath($path =~ s{/[^/]*\z}{}r);
}

done_testing;
