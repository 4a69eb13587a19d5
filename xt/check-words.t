#!/usr/bin/perl
# The words that src/dprof/ lists are in the manual and the help of each tool that takes them.
# The author of a new metric, column, key or format learns here which text lacks it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use Devel::DProf::Tool::Completion;
use Devel::DProf::Constants qw(first_words time_words);
use Devel::DProf::Tools;
use Test::More;

my @metrics = (time_words(), 'calls');
my @tables = qw(text csv json markdown html);
# --parent has an item of its own.
my @keys = grep { $_ ne 'parent' } first_words('key');
# By tool: the option, what its item in the manual names.
my %told = (
    dprofpp     => [[metric => time_words()]],
    dprofreport => [[metric => @metrics], [fields => first_words('field')],
        [sort => @keys], ['call-graph' => (grep { $_ ne 'none' } first_words('chain')),
        first_words('chain_value')], [format => @tables]],
    dprofdiff   => [[metric => @metrics], [compute => first_words('compute')],
        [format => first_words('format')], [sort => @keys]],
    dproffold   => [[metric => @metrics]],
    dprofexport => [[metric => @metrics]],
    dproftop    => [[metric => time_words()]],
    dprofhtml   => [[metric => @metrics]],
    dprofflame  => [[metric => @metrics], [colors => first_words('palette')],
        [order => first_words('flame_order')], [width => first_words('flame_width')]],
);

# Returns the text of an option's item: from the first of the =item lines that names it to the next
# item, and the section that it may refer to, of that manual or of dprofreport's.
sub item {
    my ($pod, $option) = @_;
    my @items = split /^(?==item )/m, $pod =~ s/^=(?:head|back).*//mgr;
    for my $i (grep { $items[$_] =~ /\A=item .*-\Q$option\E\b/ } 0 .. $#items) {
        my $last = $i;
        $last++ while $last < $#items && $items[$last] =~ /\A=item [^\n]*\s*\z/;
        my $item = join '', @items[$i .. $last];
        my ($there) = map { $pod =~ /^=head1 $_\n(.*?)(?=^=head1|\z)/ms } $item =~ m{L</([A-Z]+)>};
        ($there) = content('bin/dprofreport') =~ /^=head1 $1\n(.*?)(?=^=head1|\z)/ms
            if $item =~ m{L<dprofreport/([A-Z]+)>};
        return $item . ($there // '');
    }
    return;
}

# Returns what the manual lacks.
sub untold {
    my ($name, $pod) = @_;
    my @bad;
    for my $row (@{ $told{$name} }) {
        my ($option, @words) = @$row;
        my $item = item($pod, $option);
        push(@bad, "bin/$name: there is no item of --$option"), next if !defined $item;
        push @bad, map { "bin/$name: --$option: $_" }
            grep { $item !~ /(?<![\w-])\Q$_\E(?![\w-])/ } @words;
    }
    return join "\n", @bad;
}

# Returns the lines of a help that name an option, by one of its names, with their continuations.
sub helped {
    my ($help, $option, @rows) = @_;
    my ($row) = grep { /(?:^|\|)\Q$option\E\b/ } @rows;
    my $names = join '|', map { quotemeta }
        Devel::DProf::Tool::Completion::spelled($row // $option);
    return join '', grep { /(?<![\w-])(?:$names)(?![\w-])/ } split /^(?= {4}\S)/m, $help;
}

# Returns what the help lacks. It names the first few palettes, and not the other word for `delta'.
sub unhelped {
    my ($name, $help, @rows) = @_;
    my @bad;
    for (grep { $_->[0] ne 'colors' } @{ $told{$name} }) {
        my ($option, @words) = @$_;
        my $lines = helped($help, $option, @rows);
        push @bad, map { "--$option: $_" }
            grep { $_ ne 'delta-abs' && $lines !~ /(?<![\w-])\Q$_\E(?![\w-])/ } @words;
    }
    return join "\n", @bad;
}

# Returns default values in the help that the option's item in the manual lacks.
sub defaults_apart {
    my ($help, $pod) = @_;
    my @bad;
    while ($help =~ /^ +--?([A-Za-z][\w-]*).*\(default (\d+)\)/mg) {
        my ($option, $number) = ($1, $2);
        push @bad, "-$option: $number" if (item($pod, $option) // '') !~ /\b$number\b/;
    }
    return join "\n", @bad;
}

for my $name (sort keys %told) {
    is(untold($name, content("bin/$name")), '', "bin/$name has all words");
    my ($tool) = grep { $_->{name} eq $name } Devel::DProf::Tools::all();
    my $command = Devel::DProf::Tools::load($tool)->command;
    my $help = $command->help;
    is(unhelped($name, $help, $command->rows), '', "the help of $name has all words");
    is(defaults_apart($help, content("bin/$name")), '',
        "the help and the manual of $name have the same defaults");
}
my $pod = content('lib/Test/DProf/Profile.pm');
is(join(' ', grep { $pod !~ /^ +cpu .*\b$_\b/m } time_words()), '',
    'Test::DProf::Profile has all words of times');

# The check notices violations.
like(untold('dprofpp', content('bin/dprofpp') =~ s/\bsystem\b/sys/gr), qr/--metric: system/,
    'the check notices a word that is gone');
like(untold('dprofpp', 'nothing'), qr/no item of --metric/,
    'the check notices an item that is gone');
is(unhelped('dproffold', join(' ', '    -m ', (grep { $_ ne 'real' } @metrics), "\n    -x real\n"),
    'm|metric=s'), '--metric: real', 'the check notices a word that the help lacks');
is(defaults_apart("    -O N   rows (default 15)\n    -N N   (default 7)\n",
    "=item B<-O> N\n\n20 by default.\n\n=item B<-N>\n\n7.\n"), '-O: 15',
    'the check notices a default that differs');
done_testing;
