#!/usr/bin/perl
# Lists that C or Perl has and a manual repeats. They are the options of the recorder, with their
# values, and of prove's plugin, the variables of the environment, the names in a profile's header,
# the formats of the tools, the sort keys and columns of dprofreport.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use lib "$FindBin::Bin/../t/lib";
use Author;
use Devel::DProf::Compare::Suite;
use Devel::DProf::Tools;
use Devel::DProf::View;
use DProfTest qw(in_process);
use Test::More;

# Returns what a list has that a text lacks, and vice versa.
sub differ {
    my ($list, $text) = @_;
    my %list = map { $_ => 1 } @$list;
    my %text = map { $_ => 1 } @$text;
    return join "\n", (map { "not in the manual: $_" } grep { !$text{$_} } sort keys %list),
        map { "in the manual only: $_" } grep { !$list{$_} } sort keys %text;
}

# The recorder's options, as it lists them itself.
sub options_of_help { return $_[0] =~ /^ {2}([\w-]+)=/mg }
sub options_of_manual {
    my ($pod) = @_;
    my ($options) = $pod =~ /^=head1 OPTIONS\n(.*?)^=head1 /ms;
    my %seen;
    return grep { !$seen{$_}++ }
        map { /\b(\w[\w-]*)=/g } ($options // '') =~ /^=item ([\w-]+=.*)/mg;
}
my $help = qx{$^X -Iblib/lib -Iblib/arch -d:DProf=help -e 1 2>&1};
my @options = options_of_help($help);
cmp_ok(scalar(@options), '>', 10, 'the recorder lists its options');
is(differ(\@options, [options_of_manual(content('lib/Devel/DProf.pm'))]), '',
    'lib/Devel/DProf.pm has the options of the recorder');

# Compares the values that an option of the recorder takes, and its default. The manual has each
# word but that of the default, and names a default that is neither 0 nor 1.
my %SPELLED = (262144 => '256K', 1_000_000 => 'a million', 1 << 30 => '1 GiB');
sub values_apart {
    my ($help, $pod) = @_;
    my ($options) = $pod =~ /^=head1 OPTIONS\n(.*?)^=head1 /ms;
    my @bad;
    while ($help =~ /^ {2}([\w-]+)=(\S+) .*\[(\w+)\]$/mg) {
        my ($name, $values, $default) = ($1, $2, $3);
        my ($item) = $options =~ /^(=item [^\n]*\b$name=.*?)(?=^=item \w|\z)/ms or next;
        my %told = map { $_ => 1 } $item =~ /\A=item ([^\n]*)/ && $1 =~ /\b$name=([\w.]+)/g;
        if ($values eq 'N') {
            my $number = $SPELLED{$default} // $default;
            push @bad, "$name: $number by default" if $default > 1 && $item !~ /\b$number\b/;
        } else {
            my %word = map { $_ => 1 } split /\|/, $values;
            push @bad, map { "$name=$_ is not in the manual" }
                grep { !$told{$_} && $_ ne $default } sort keys %word;
            push @bad, map { "$name=$_ is in the manual only" } grep { !$word{$_} } sort keys %told;
        }
    }
    return join "\n", @bad;
}
is(values_apart($help, content('lib/Devel/DProf.pm')), '',
    'lib/Devel/DProf.pm has their values and defaults');

# The options of prove's plugin, as it lists them itself.
eval { Devel::DProf::Compare::Suite->options('no_such') };
my ($plugin_options) = $@ =~ /the options are (.*)/;
my ($plugin_manual) = content('lib/App/Prove/Plugin/DProf.pm')
    =~ /^=head1 OPTIONS\n(.*?)^=head1 /ms;
is(differ([split /, /, $plugin_options // ''], [$plugin_manual =~ /^=item (\w+)/mg]), '',
    'lib/App/Prove/Plugin/DProf.pm has its options');

# Compares variables of the environment. What others define they explain.
my %others = map { $_ => 1 } qw(HARNESS_OPTIONS HARNESS_PERL LESS TERM);
my %inside = map { $_ => 1 } qw(TEST_DPROF_PINNED);
sub variables_read {
    my ($text) = @_;
    return $text =~ /\$ENV\{(\w+)\}/g, $text =~ /\bgetenv\("(\w+)"\)/g,
        map { split ' ' } $text =~ /\@ENV\{qw\(([^)]*)\)/g;
}
sub variables_told {
    my ($pod) = @_;
    return map { /\b((?:PERL|DPROF|PROVE|PERF|NO)[A-Z]*_[A-Z_]*[A-Z]|[A-Z]*PAGER|COLUMNS)\b/g }
        $pod =~ /^=head1 ENVIRONMENT\n(.*?)^=(?:head1|cut)/msg;
}
{
    my @code = grep { m{^(?:lib/.*\.pm|bin/\w+|(?:xs|src)/.*\.c)\z} } tracked();
    my %read = map { $_ => 1 }
        map { variables_read(m{\.c\z} ? content($_) : strip_pod(content($_))) } @code;
    my %tool = map { $_->{name} => content("bin/$_->{name}") } Devel::DProf::Tools::all();
    my $manuals = join '', map { content($_) } grep { m{^(?:bin/\w+|lib/.*)\z} } tracked();
    my $pod = join '', $manuals =~ /^=head1.*?(?:^=cut|\z)/msg;
    is(join(' ', grep { !$others{$_} && !$inside{$_} && $pod !~ /\b$_\b/ } sort keys %read), '',
        'each variable that is read is in a manual');
    my %known = (%read, map { $_ => 1 } map { $_->{env} } Devel::DProf::Tools::all());
    $known{"PERL_DPROF_\U$_"} = 1 for @options;
    $known{"PROVE_DPROF_\U$_"} = 1 for split /, /, $plugin_options;
    is(join(' ', grep { !$known{$_} } variables_told($pod)), '',
        'each variable of a manual is read');
    # A tool that has a pager, or colours, says what chooses them.
    for my $tool (Devel::DProf::Tools::all()) {
        my @rows = Devel::DProf::Tools::load($tool)->can('command')->()->rows;
        my @wanted = ((map { qw(DPROF_PAGER PAGER) } grep { /^pager!/ } @rows),
            map { 'NO_COLOR' } grep { /^color=/ } @rows);
        is(join(' ', grep { $tool{ $tool->{name} } !~ /\b$_\b/ } @wanted), '',
            "bin/$tool->{name} has the variables that it reads") if @wanted;
    }
}

# Returns the names in headers, from strings of C.
sub names_of_c {
    my ($text) = @_;
    my $name = qr/(?:dprof|over|rrun)_[a-z_]+|total_marks/;
    return map { /(?:^|\$)($name)(?![\w*%])/g } $text =~ /"((?:[^"\\\n]|\\.)*)"/g;
}
my @sources = grep { m{^(?:src/(?:base|format|import|record|profile)|xs/\w+)/\w+\.[ch]$} }
    tracked();
my %names = map { $_ => 1 } map { names_of_c(content($_)) } @sources;
my $format = content('lib/Devel/DProf/Format.pod');
cmp_ok(scalar(keys %names), '>', 20, 'the sources have names of headers');
is(join(' ', grep { $format !~ /\b$_\b/ } sort keys %names), '',
    'Format.pod has the names of all headers');

my @lines = map { /^#define DP_FMT_\w+ +"(#\w) "/mg } map { content($_) } @sources;
cmp_ok(scalar(@lines), '>', 1, 'the format has lines of its own');
is(join(' ', grep { $format !~ /^=item C<\Q$_\E /m } @lines), '',
    'Format.pod has all lines of the format');

# Compares the formats of each tool: its help, its manual, and its message about an unknown one.
sub formats_of { return map { split /\|/ } $_[0] =~ /--format(?:>|) ([a-z|-]*\|[a-z|-]+)/g }
my %known = Devel::DProf::Constants::words_of('format');
my %offered;
for my $tool (Devel::DProf::Tools::all()) {
    my @help = formats_of(Devel::DProf::Tools::load($tool)->can('command')->()->help);
    my @manual = formats_of(join "\n", content("bin/$tool->{name}") =~ /^=item (.*)/mg);
    is(differ(\@help, \@manual), '', "bin/$tool->{name} has the formats of its help");
    $offered{$_} = 1 for @help;
}
is(join(' ', grep { !$offered{$_} } sort keys %known), '', 'a tool offers each format');

# Compares the columns and sort keys of dprofreport with its manual.
my $report = content('bin/dprofreport');
my %field = Devel::DProf::Constants::all_words_of('field');
my ($columns) = $report =~ /^=item B<-F>[^\n]*\n\n(.*?)\n\n/ms;
is(join(' ', grep { $columns !~ /C<\Q$_\E>/ } sort keys %field), '',
    'bin/dprofreport has all columns');
my ($keys) = $report =~ /^=item B<-s>[^\n]*\n(.*?)^=item /ms;
is(join(' ', grep { $keys !~ /\b\Q$_\E\b/ } @Devel::DProf::View::KEYS), '',
    'bin/dprofreport has all sort keys');

is(differ(['a', 'b'], ['b', 'c']), "not in the manual: a\nin the manual only: c",
    'the check notices an item too few and one too many');
is(join(' ', options_of_help("x\n\n  mode=a|b    text\n  out=...  text\n")), 'mode out',
    "the check reads the recorder's help");
is(join(' ', options_of_manual("=head1 OPTIONS\n\n=item mode=a, mode=b\n\n=item out=F\n\n"
    . "=head1 X\n")), 'mode out', "the check reads the recorder's manual");
is(values_apart("  mode=a|b|c  x [a]\n  n=N   x [64]\n  to=...  x\n", "=head1 OPTIONS\n\n"
    . "=item mode=a, mode=b, mode=d\n\n=item n=N\n\n32 by default.\n\n=head1 X\n"),
    "mode=c is not in the manual\nmode=d is in the manual only\nn: 64 by default",
    'the check notices values and defaults that differ');
is(join(' ', variables_read('$ENV{A_B} @ENV{qw(C D)} getenv("E") %ENV $ENV{$x}')), 'A_B E C D',
    'the check reads the names of variables');
is(join(' ', variables_told("=head1 ENVIRONMENT\n\nDPROFX_OPTS, PAGER: PERL_DPROF_...\n\n=cut\n")),
    'DPROFX_OPTS PAGER', 'the check reads the variables of manuals');
is(join(' ', names_of_c('f("$dprof_a=%d; $over_b=1;", "dprof_c", dprof_d, "x_dprof_e");')),
    'dprof_a over_b dprof_c', 'the check reads names in C');
is(join(' ', formats_of("B<--format> a|b\n--format c|d-e  x")), 'a b c d-e',
    'the check reads formats');
done_testing;
