#!/usr/bin/perl
# The table of the tools (Devel::DProf::Tools) agrees with the files, the help and the variables of
# the tools; common tasks are done in one module of lib/.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use Devel::DProf::Tool::Completion;
use Devel::DProf::Tool::Options;
use Devel::DProf::Tools;
use File::Spec;
use Test::More;

# Returns what a list lacks, and what it has in excess.
sub differ {
    my ($wanted, $have) = @_;
    my %wanted = map { $_ => 1 } @$wanted;
    my %have = map { $_ => 1 } @$have;
    return join "\n", (map { "missing: $_" } grep { !$have{$_} } @$wanted),
        map { "unknown: $_" } grep { !$wanted{$_} } @$have;
}

my $null = File::Spec->devnull;
my @tools = Devel::DProf::Tools::all();
my @names = map { $_->{name} } @tools;
my @env = map { $_->{env} } @tools;
my @files = tracked();

is(differ([ 'dprof', @names ], [map { m{^bin/(\w+)\z} } @files]), '',
    'bin/ has a command for each tool');
is(differ([ 'Devel::DProf::Tool::Dprof', map { $_->{module} } @tools ],
    [map { m{^lib/(Devel/DProf/Tool/Dprof\w*)\.pm\z} ? $1 =~ s{/}{::}gr : () } @files]), '',
    'lib/ has a module for each tool');
for my $tool (@tools) {
    my $module = Devel::DProf::Tools::load($tool);
    ok($module->can($_), "$module has $_") for qw(main command);
    my $command = content("bin/$tool->{name}");
    is(differ([ $tool->{env} ], [$command =~ /\b(DPROF[A-Z]+_OPTS)\b/]), '',
        "bin/$tool->{name} names its variable");
    my $exit = "exit Devel::DProf::Tool::status('$tool->{name}', \\&${module}::main, \@ARGV);";
    ok(index($command, "\n$exit\n") > 0,
        "bin/$tool->{name} runs its module");
}

# The help of a tool and its options come from one text: the lines of options must name the options
# of their rows, and no others.
sub disagreements {
    my ($command) = @_;
    my (@bad, %known);
    my %unshown = map { $_ => 1 } $command->unshown;
    my $help = join '', $command->help =~ /^( {4,}\S.*\n)/mg;
    my %shown = map { $_ => 1 } $help =~ /(?<![\w%-])(--?[A-Za-z][\w-]*)/g;
    for my $row ($command->rows) {
        my @names = Devel::DProf::Tool::Completion::spelled($row);
        @known{@names} = (1) x @names;
        my $is_shown = grep { $shown{$_} } @names;
        push @bad, "not in the help: $row" if !$is_shown && !$unshown{$row};
        push @bad, "in the help all the same: $row" if $is_shown && $unshown{$row};
    }
    push @bad, map { "in the help only: $_" } grep { !$known{$_} } sort keys %shown;
    return join "\n", @bad;
}
for my $tool (@tools) {
    is(disagreements(Devel::DProf::Tools::load($tool)->can('command')->()), '',
        "$tool->{name} -h has the options of the tool");
}

# Compares programs.
{
    my $settings = content('t/lib/TestEnvironment.pm');
    like($settings, qr/\|DPROF\[A-Z\]\+_OPTS\|/,
        't/lib/TestEnvironment.pm removes the variables of tools');
    is(join(' ', grep { !/\ADPROF[A-Z]+_OPTS\z/ } @env), '',
        'all variables of tools have such a name');
}
SKIP: {
    skip 'perl Makefile.PL first', 1 if !-e 'Makefile';
    my ($exe) = content('Makefile') =~ /^EXE_FILES = (.*)$/m;
    is(differ([map { "bin/$_" } 'dprof', @names], [split ' ', $exe // '']), '',
        'Makefile.PL installs the commands');
}

# A plain run of a tool loads what it needs.
my @seldom = qw(Getopt/Long.pm Pod/Usage.pm Text/ParseWords.pm POSIX.pm Encode.pm JSON/PP.pm
    Devel/DProf/Compare/Diff.pm Devel/DProf/Live/Watch.pm Devel/DProf/OptionValues.pm
    Devel/DProf/Outcome.pm Devel/DProf/Store/History.pm Devel/DProf/Store/Sides.pm
    Devel/DProf/Tool/Help.pm Devel/DProf/Tool/Record.pm Devel/DProf/View/Layout.pm
    Devel/DProf/View/Lines.pm Devel/DProf/Write.pm);
SKIP: {
    skip 'perl Makefile.PL && make first', 4 if !-e 'blib/script/dprofpp';
    my $code = q{END { print STDERR map { "$_\n" } keys %INC } do shift};
    for my $name (qw(dprofpp dprofreport dproffold dprofflame)) {
        my @loaded = qx{$^X -Mblib -e '$code' ./blib/script/$name t/data/classic.out 2>&1 >$null};
        my %loaded = map { $_ => 1 } map { /^(\S+)\n/ } @loaded;
        is(join(' ', grep { $loaded{$_} } 'Devel/DProf/Input.pm', @seldom), 'Devel/DProf/Input.pm',
            "$name loads nothing that a plain run does not need");
    }
}

# Tasks that a single module of lib/ does for all others.
my %road = (
    'paths become profiles' => [ qr/Devel::DProf::Profile->new/, 'Devel/DProf/Input.pm' ],
    'words become metrics' => [ qr/(?<![a-z_])words_of\('metric'\)|s\/:\[\^:\]\*/,
        'Devel/DProf/Metric.pm' ],
    'files are read for sides' => [ qr/Profile::add_all\b/, 'Devel/DProf/Sides.pm' ],
    'outcomes become messages' => [ qr/Profile::TRUNCATED/, 'Devel/DProf/Outcome.pm' ],
    'options are parsed' => [ qr/getoptions/i, 'Devel/DProf/Tool/Options.pm' ],
    'outcomes are worded' => [ qr/\$(?:o|outcome)->\{message\}/, 'Devel/DProf/Outcome.pm' ],
    # A view that a caller reads returns rows.
    'output is decoded' => [ qr/->decode\b/ ],
    'output goes to a string' => [ qr/open \*?STDOUT, '>', \\\$/, 'Test/DProf/Profile.pm' ],
    'formats of stacks are named' => [ qr/(?:eq|ne|=>) '(?:svg|folded)'/ ],
    'sources are found' => [ qr/->line_(?:text|source)\b/, 'Devel/DProf/View/Source.pm' ],
    'files are renamed' => [ qr/\brename[ (]+\$/, 'Devel/DProf/Write.pm', 'Test/DProf.pm' ],
);
my %code = map { m{^lib/(.*\.pm)\z} ? ($1 => strip_pod(content($_))) : () } @files;
for my $what (sort keys %road) {
    my ($pattern, @wanted) = @{ $road{$what} };
    is(differ(\@wanted, [grep { $code{$_} =~ $pattern } sort keys %code]), '',
        "only the right files have $what");
}

is(differ(['a', 'b'], ['b', 'c']), "missing: a\nunknown: c",
    'the check notices a name too few and one too many');
my $sample = Devel::DProf::Tool::Options->new(name => 'x', text => <<'END');
= a|all  n|none!
    -a      all
    --no-such
== b|both  c|call
    -c, -h, -V, -H
END
is(disagreements($sample), "not in the help: n|none!\nin the help all the same: c|call\n"
    . 'in the help only: --no-such', 'the check notices help and options that differ');
my $ranges = Devel::DProf::Tool::Options->new(name => "x", text => <<"END");
= O|rows=i(positive)
== p=f(probability)
END
is(join(' ', $ranges->rows, $ranges->unshown), 'O|rows=i p=f V|version h|help H|manual p=f',
    'the options are parsed without their ranges');
is_deeply([map { $ranges->out_of_range($_) } {}, { O => 1, p => 0.5 }, { O => 0 }, { p => 1 }],
    [undef, undef, '-O 0: must be a positive number', '-p 1: must be between 0 and 1'],
        'the ranges of options are checked');
is(differ(['a', 'b'], ['b', 'a', 'a']), '', 'the check accepts equal lists');
done_testing;
