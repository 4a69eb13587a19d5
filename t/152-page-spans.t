# Spans in pages and pictures: what dprofflame writes for them, of profiles that were made by hand,
# whose numbers are known. xt/browser/spans.js tests what the page shows of it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest qw(scratch slurp in_process);
use MadeProfile;
use NaiveStacks;

my $CAST = 'SELECT a::int FROM b';
my $dir = scratch();

# Draws profiles. Returns the file's text.
sub drawn {
    my ($format, @args) = @_;
    my $made = in_process('dprofflame', '-f', '-m', 'real', '-o', "$dir/out.$format", @args);
    is("$made->{status} $made->{err}", '0 ', "$format of @args gives no message");
    return slurp("$dir/out.$format");
}

# Returns the facts of a page: what they say about spans, with names in place of their numbers.
sub spans_of {
    my $json = NaiveStacks::page_of(drawn('html', @_))->{json};
    my ($spans, @names) = ($json->{spans} // return, @{ $json->{names} });
    my $by_name = sub { my %of = %{ $spans->{ $_[0] } }; return { map { $names[$_] => $of{$_} }
        keys %of } };
    my @library = split //, $spans->{library};
    is(scalar @library, scalar @names, 'each name is of a library or not');
    return { rows => $by_name->('rows'), longest => $by_name->('longest'),
        begun => $spans->{begun}, (map { $spans->{$_} ? ($_ => $spans->{$_}) : () }
            qw(sides statements)),
        library => join(' ', sort map { $names[$_] } grep { $library[$_] } 0 .. $#names) };
}

# A server's process: two requests, the first of which executes one statement twice.
sub process {
    my ($name, $longest, %header) = @_;
    return MadeProfile->trace("$dir/$name", sub {
        my $to = shift;
        $to->sub('Shop::list', 'Shop.pm:3');
        $to->sub('DBIx::Class::all', 'DBIx/Class.pm:9');
        $to->sub('DBIxy::all', 'DBIxy.pm:9');
        $to->sub('File::Spec::path', '/usr/share/perl/5.36.0/File/Spec.pm:7');
        $to->xs('DBI::st::execute');
        $to->span(sql => $CAST);
        $to->span(sql => 'BEGIN');
        $to->phase('main');
        $to->call('DBIxy::all', 1, sub { $to->call('File::Spec::path', 1) });
        my $execute = sub {
            my ($span, $ms) = @_;
            $to->call('DBIx::Class::all', 1, sub {
                $to->call('DBI::st::execute', 1, sub { $to->call("sql:$span", $ms) });
            });
        };
        $to->phase('GET /list');
        $to->call('Shop::list', 1, sub { $execute->($CAST, $_) for 5, $longest });
        $to->phase('GET /item');
        $to->call('Shop::list', 1, sub { $execute->(BEGIN => 2) });
        $to->phase('GET /list');
        $to->call('Shop::list', 1, sub { $execute->($CAST, 1) });
        $to->rows("sql:$CAST", 0);
        $to->requests('GET /item', 40, 7, 10);
    }, %header);
}

subtest 'A page has rows, longest calls, libraries, and how often phases began' => sub {
    my $one = process('one.out', 8);
    my $phases = { '(GET /list)' => 2, '(GET /item)' => 7 };
    my $got = spans_of($one);
    is_deeply($got, {
        rows => { "sql:$CAST" => 0 },
        longest => { "sql:$CAST" => 0.008, 'sql:BEGIN' => 0.002 },
        begun => [$phases],
        library => "DBI::st::execute DBIx::Class::all File::Spec::path sql:BEGIN sql:$CAST",
        statements => [{ '(GET /list)' => [3, 3], '(GET /item)' => [1, 1] }],
    }, 'a trace, whose graph has no phases') or diag explain $got;
    delete $got->{statements};
    my $tree = "$dir/tree.out";
    in_process('dprofmerge', '-o', $tree, $one);
    my $of_tree = spans_of($tree);
    is_deeply($of_tree, $got, 'a tree') or diag explain $of_tree;
    my $both = spans_of($one, process('two.out', 9, dprof_pid => 12));
    is_deeply([$both->{begun}, $both->{longest}{"sql:$CAST"}, $both->{rows}],
        [[$phases, $phases], 0.009, { "sql:$CAST" => 0 }], 'two processes') or diag explain $both;
    my $two = spans_of('--diff', $one, "$tree,$dir/two.out");
    is_deeply([@$two{qw(begun sides rows longest)}],
        [[$phases, $phases, $phases], [0, 1, 1], {}, {}],
        'two sides: how often the phases of each of them began') or diag explain $two;
    is($two->{library}, $got->{library}, '... and libraries');
};

subtest 'A profile without spans has nothing of them' => sub {
    my $plain = MadeProfile->trace("$dir/plain.out", sub {
        my $to = shift;
        $to->sub('main::run', 'run.pl:3');
        $to->call('main::run', 5);
    });
    is(spans_of($plain), undef, 'page');
    unlike(drawn('svg', $plain), qr/<pattern|class="f span|url\(#span/, 'picture');
};

subtest 'A picture draws a grid on spans, and cuts their kind first' => sub {
    my $file = MadeProfile->trace("$dir/wide.out", sub {
        my $to = shift;
        $to->sub('main::run', 'run.pl:3');
        $to->span(sql => $CAST);
        $to->span(http => 'GET h.example/*');
        $to->span(command => 'date');
        $to->call('main::run', 600, sub {
            $to->call("sql:$CAST", 100);
            $to->call('http:GET h.example/*', 300);
            $to->call('command:date', 1);
        });
    });
    my $svg = drawn('svg', $file);
    my %fill = $svg =~ m{<g class="f(?: span)?"[^>]*><title>([^ ]*) .*?<rect [^>]*fill="(.*?)"}g;
    my %pattern = map { /id="(span\d+)".*?fill="(rgb.*?)"/ } $svg =~ m{(<pattern .*?</pattern>)}g;
    is(scalar keys %pattern, 3, 'each kind has a pattern of its own colour');
    my %colours = reverse %pattern;
    is(scalar keys %colours, 3, '... and the colours differ');
    like($svg, qr{<path d="M-1 9L9 -1M-1 -1L9 9" stroke=}, '... with strokes both ways');
    for my $name ('sql:SELECT', 'http:GET') {
        my ($id, $colour) = $fill{$name} =~ /^url\(#(span\d+)\) (rgb\(.*\))\z/;
        is($colour, $pattern{ $id // '' }, "$name has a pattern on its colour");
    }
    like($fill{'main::run'}, qr/^rgb\(/, 'a sub has none');
    my ($legend) = $svg =~ m{(<g id="legend">.*?</g>)};
    is(() = $legend =~ /fill="url\(#span\d\)/g, 1, 'the legend shows it');
    my %label = $svg =~ m{<g class="f span"[^>]*><title>(\w+):.*?<text [^>]*>(.*?)</text>}g;
    is_deeply(\%label, { sql => 'SELECT a::int..', http => 'http:GET h.example/*' },
        'a narrow span is cut behind its kind, wherever its text has colons');
    like($fill{'command:date'}, qr/^rgb\(/, 'a box that is too narrow for an edge has no pattern');
    my $other = drawn('svg', '--colors', 'hot', $file);
    unlike($other, qr/<pattern|url\(#span/, 'other palettes do not show kinds');
};

done_testing;
