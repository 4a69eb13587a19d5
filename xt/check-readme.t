#!/usr/bin/perl
# README and README.md open with two commands, each a line of its own that can be pasted into a
# shell. .ci/run, xt/bare.sh and xt/matrix take them from README, as the first two lines that are
# indented by four blanks.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use Test::More;

my $COMMANDS = 'sh tools/setup.sh && perl Makefile.PL && make && make ';

# What is wrong with the commands of a text.
sub complaints {
    my ($text) = @_;
    my @commands = ($text =~ /^ {4}(\S.*)$/mg)[0, 1];
    my @bad;
    push @bad, 'the first is not the one that shows a report: '
        . ($commands[0] // 'none')
        if ($commands[0] // '') ne $COMMANDS . 'demo';
    push @bad, 'the second is not that of the tests: '
        . ($commands[1] // 'none')
        if ($commands[1] // '') ne $COMMANDS . 'test';
    push @bad, 'they are not on the first page'
        if !@bad && (() = substr($text, 0, index $text, $commands[1]) =~ /\n/g) >= 20;
    return join "\n", @bad;
}

my %text = map { $_ => content($_) } qw(README README.md);
is(complaints($text{$_}), '', "$_ has its two commands") for sort keys %text;

# Forges run both.
my $workflow = content('.github/workflows/test.yml');
is(join(' ', grep { $workflow !~ /^ +run: \Q$COMMANDS$_\E$/m } qw(demo test)), '',
    '.github/workflows/test.yml runs the two commands');

# Where people begin, they find the same first commands.
my %first = map {
    my ($perl, $next) = content($_) =~ /^ {4}(perl -d:DProf\S* \S+).*\n(?: {4}(\w+)$)?/m;
    ($_ => join '; ', grep { defined } $perl, $next) } qw(README.md lib/Devel/DProf.pm
    bin/dprofreport bin/dprofpp);
is_deeply(\%first, { (map { $_ => 'perl -d:DProf program.pl; dprofreport' } keys %first),
    'bin/dprofpp' => 'perl -d:DProf program.pl; dprofpp' }, 'the first commands are the same')
    or diag explain \%first;
is((content('lib/Devel/DProf/FromNYTProf.pod') =~ /(perl -d:DProf\S* \S+)$/m)[0],
    'perl -d:DProf program.pl', '... also in the table for users of NYTProf');
for my $name (qw(Mojolicious::Plugin::DProf Plack::Middleware::DProf Test::DProf
    Devel::DProf::Control examples/Inventory heap)) {
    like($text{'README.md'}, qr/`\Q$name\E`|perldoc \Q$name\E`/, "README.md names $name");
}
like($text{'README.md'}, qr/`dprof report`/, 'README.md says what dprof does');

# README is for terminals and CPAN, README.md for browsers: with pictures that exist.
unlike($text{README}, qr/^#|\*\*|`|!\[|\]\(/m, 'README is plain text');
is(join(' ', grep { length > 90 } split /\n/, $text{README}), '', 'README fits a terminal');
like($text{README}, qr/README\.md/, 'README refers to README.md');
my @pictures = $text{'README.md'} =~ /!\[[^\]]*\]\(([^)]+)\)/g;
cmp_ok(scalar(@pictures), '>', 0, 'README.md has pictures');
my %shipped = map { $_ => 1 } shipped();
is(join(' ', grep { !$shipped{$_} } @pictures), '', 'the pictures exist, and are distributed');
cmp_ok(index($text{'README.md'}, $pictures[0] // ''), '<',
    index($text{'README.md'}, '    sh tools'), 'the first picture stands before the commands');

like(complaints("    one\n"), qr/report: one\n.*tests: none/,
    'the check notices wrong and missing commands');
like(complaints("\n" x 20 . "    ${COMMANDS}demo\n    ${COMMANDS}test\n"), qr/first page/,
    'the check notices commands too far below');

# Files that the texts refer to exist.
for my $file ('README', 'README.md', 'HACKING', 'CONTRIBUTING.md') {
    my %named = map { $_ => 1 } content($file)
        =~ m{(?<![\w/.-])((?:\.ci|bench|bin|examples|fuzz|lib|src|t|tools|xs|xt)/[\w./-]*\w)
            (?![\w*-])}gx;
    # These are patterns, and files of the reader's own.
    delete @named{qw(t/NN-topic.t t/perf t/perf/run.tmon t/data/log.txt)};
    is(join(' ', grep { !-e && !/\bNAME\b|_NAME\b/ } sort keys %named), '',
        "$file names existing files only");
}
done_testing;
