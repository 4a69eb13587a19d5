#!/usr/bin/perl
# Lists that C or Perl has and a manual repeats: the recorder's options, the names in a profile's
# header, the formats of the tools, the sort keys and columns of dprofreport.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use lib "$FindBin::Bin/../t/lib";
use Author;
use Devel::DProf::Tools;
use Devel::DProf::View;
use DProfTest qw(in_process);
use Test::More;

# What a list has that a text lacks, and the other way round.
sub differ {
    my ($list, $text) = @_;
    my %list = map { $_ => 1 } @$list;
    my %text = map { $_ => 1 } @$text;
    return join "\n", (map { "not in the manual: $_" } grep { !$text{$_} } sort keys %list),
        map { "in the manual only: $_" } grep { !$list{$_} } sort keys %text;
}

# The recorder's options, as it lists them itself.
sub options_of_help { return $_[0] =~ /^ {2}(\w+)=/mg }
sub options_of_manual {
    my ($pod) = @_;
    my ($options) = $pod =~ /^=head1 OPTIONS\n(.*?)^=head1 /ms;
    my %seen;
    return grep { !$seen{$_}++ } map { /\b(\w+)=/g } ($options // '') =~ /^=item (\w+=.*)/mg;
}
my $help = qx{$^X -Iblib/lib -Iblib/arch -d:DProf=help -e 1 2>&1};
my @options = options_of_help($help);
cmp_ok(scalar(@options), '>', 10, 'the recorder lists its options');
is(differ(\@options, [options_of_manual(content('lib/Devel/DProf.pm'))]), '',
    'lib/Devel/DProf.pm: the options of the recorder');

# The names in headers, as they stand in strings of C.
sub names_of_c {
    my ($text) = @_;
    my $name = qr/(?:dprof|over|rrun)_[a-z_]+|total_marks/;
    return map { /(?:^|\$)($name)(?![\w*%])/g } $text =~ /"((?:[^"\\\n]|\\.)*)"/g;
}
my @sources = grep { m{^(?:src/(?:format|record|profile)|xs)/\w+\.[ch]$} } tracked();
my %names = map { $_ => 1 } map { names_of_c(content($_)) } @sources;
my $format = content('lib/Devel/DProf/Format.pod');
cmp_ok(scalar(keys %names), '>', 20, 'the sources have names of headers');
is(join(' ', grep { $format !~ /\b$_\b/ } sort keys %names), '',
    'lib/Devel/DProf/Format.pod: the names in headers');

# The formats of each tool: its help, its manual, and what it says when it is given another one.
sub formats_of { return map { split /\|/ } $_[0] =~ /--format(?:>|) ([a-z|-]*\|[a-z|-]+)/g }
my %known = map { $_ => 1 } keys %Devel::DProf::View::FORMAT;
my %offered;
for my $tool (Devel::DProf::Tools::all()) {
    my @help = formats_of(Devel::DProf::Tools::load($tool)->can('command')->()->help);
    my @manual = formats_of(join "\n", content("bin/$tool->{name}") =~ /^=item (.*)/mg);
    is(differ(\@help, \@manual), '', "bin/$tool->{name}: formats");
    $offered{$_} = 1 for @help;
}
is(join(' ', grep { !$offered{$_} } sort keys %known), '', 'each format is offered by a tool');

# The columns and sort keys of dprofreport, of which it knows by itself.
my $report = content('bin/dprofreport');
my ($fields) = in_process('dprofreport', '-F', 'no_such')->{err} =~ /the fields are (.*)/;
my ($columns) = $report =~ /^=item B<-F>[^\n]*\n\n(.*?)\n\n/ms;
is(join(' ', grep { $columns !~ /C<\Q$_\E>/ } grep { !/ / } split /, /, $fields // 'none'), '',
    'bin/dprofreport: columns');
my ($keys) = $report =~ /^=item B<-s>[^\n]*\n(.*?)^=item /ms;
is(join(' ', grep { $keys !~ /\b\Q$_\E\b/ } @Devel::DProf::View::KEYS), '',
    'bin/dprofreport: sort keys');

is(differ(['a', 'b'], ['b', 'c']), "not in the manual: a\nin the manual only: c",
    'notices: one too few, one too many');
is(join(' ', options_of_help("x\n\n  mode=a|b    text\n  out=...  text\n")), 'mode out',
    'reads the recorder');
is(join(' ', options_of_manual("=head1 OPTIONS\n\n=item mode=a, mode=b\n\n=item out=F\n\n"
    . "=head1 X\n")), 'mode out', 'reads its manual');
is(join(' ', names_of_c('f("$dprof_a=%d; $over_b=1;", "dprof_c", dprof_d, "x_dprof_e");')),
    'dprof_a over_b dprof_c', 'reads C');
is(join(' ', formats_of("B<--format> a|b\n--format c|d-e  x")), 'a b c d-e', 'reads formats');
done_testing;
