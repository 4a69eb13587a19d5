#!/usr/bin/perl
# What manuals and READMEs tell people to type exists: tools, their options, the recorder's options
# and variables, functions. Options in a tool's manual belong to that tool.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use Devel::DProf::Tool::Completion;
use Test::More;

my %options;
for (Devel::DProf::Tool::Completion::rows()) {
    my ($tool, @options) = @$_;
    $options{$tool} = { map { $_ => 1 } @options };
}
my ($recorder) = content('lib/Devel/DProf.pm') =~ /^=head1 OPTIONS\n(.*?)^=head1 /ms;
my %recorder = map { $_ => 1 } map { /(\w+)=/g } $recorder =~ /^=item (.*)/mg;
my %function = map { $_ => 1 } content('lib/Devel/DProf/Control.pm') =~ /^=item (\w+)/mg;

# Returns what is typed: indented lines, with their continuations, and what is in C<...> or `...`.
sub typed {
    my ($text) = @_;
    my @lines = map { s/\\\n\s*//gr } $text =~ /^ {4,}(\S.*(?:\\\n.*)*)/mg;
    my @codes = map { s/\n/ /gr } grep { defined } $text =~ /C<< (.+?) >>|C<([^<>]+)>|`([^`]+)`/gs;
    return @lines, @codes;
}

# Returns an option in the form in which a tool lists it; a bundle is its first letter.
sub listed { return $_[0] =~ /^(--[\w-]+|-\w)/ ? $1 : () }

# Returns options that are not a tool's in a command, which ends where another one or the shell
# begins.
sub wrong_options {
    my ($tool, $rest) = @_;
    my ($words) = $rest =~ s/'[^']*'|"[^"]*"/QUOTED/gr =~ /^([^|>;&()]*)/;
    my @bad;
    for my $word (split ' ', $words) {
        last if $word eq '--' || $word =~ /^dprof/;
        push @bad, grep { !$options{$tool}{$_} } listed($word);
    }
    return map { "$tool: no option $_" } @bad;
}

# Returns what is wrong with a text: commands, options and variables of the recorder, functions.
sub complaints {
    my ($text) = @_;
    my @bad;
    for my $line (typed($text)) {
        my ($given) = $line =~ /-d:DProf=(\S+)/;
        push @bad, map { "no option of the recorder: $_" } grep { !$recorder{$_} }
            ($given // '') =~ /(?:^|,)(\w+)=/g;
        push @bad, map { "no option of the recorder: PERL_DPROF_$_" }
            grep { !$recorder{ lc $_ } && $_ ne 'OUT_FILE_NAME' } $line
            =~ /\bPERL_DPROF_([A-Z]\w*)/g;
        push @bad, map { "no function: $_" } grep { !$function{$_} } $line
            =~ /Devel::DProf::Control::(\w+)/g;
        while ($line =~ m{(?<![\w\$/:.<%-])dprof(?: (?=[a-z]))?([a-z]*)(?![\w.=/:]|-[a-z])(.*)}g) {
            my ($tool, $rest) = ("dprof$1", $2);
            pos($line) = $-[2];
            next if $tool =~ /^dprof(?:help|completion)\z/;
            push @bad, $options{$tool} ? wrong_options($tool, $rest) : "no tool: $tool";
        }
    }
    return @bad;
}

# Returns options in the text of a tool's manual that are neither its own, nor those of a tool that
# the paragraph names, or of the program that the tool imitates.
sub foreign_options {
    my ($tool, $pod) = @_;
    my @bad;
    for my $paragraph (grep { !/^\s/ && !/perf|flamegraph\.pl/ } split /\n{2,}/, $pod) {
        my %known = map { %{ $options{$_} || {} } } $tool, $paragraph =~ /\b(dprof[a-z]+)\b/g;
        push @bad, map { "$tool: no option $_" } grep { !$known{$_} }
            map { listed($_) } $paragraph =~ /[BC]<(--?[A-Za-z][\w-]*)/g;
    }
    return @bad;
}

my @pages = grep { m{^(?:bin/\w+|lib/.*\.pod|README(?:\.md)?|HACKING)\z}
    || m{^lib/.*\.pm\z} && content($_) =~ /^=head1/m } tracked();
my $page = content('lib/Devel/DProf/FromNYTProf.pod');
cmp_ok(scalar(grep { /dprof[a-z]/ } typed($page)), '>=', 10, 'pages name commands');
cmp_ok(scalar(grep { /-d:DProf=/ } typed($page)), '>=', 8, 'pages name options of the recorder');
for my $file (@pages) {
    my $text = content($file);
    # In a module, code surrounds the manual.
    $text = join '', $text =~ /^(=head1.*?)(?:^=cut|\z)/msg if $file =~ /\.pm\z/;
    my ($tool) = $file =~ m{^bin/(\w+)};
    my @bad = (complaints($text), $tool ? foreign_options($tool, $text) : ());
    is(join("\n", @bad), '', "$file names existing commands and options");
}

my $bad = join '', map { sprintf "    %-42s%s\n", 'there', $_ } '-d:DProf=out=x,nothing=1',
    'Devel::DProf::Control::begin()', 'dprofall', 'dprofpp --nothing -l', 'PERL_DPROF_X=1 perl x',
    "dprofpp a | dproffold --callers 'x --y' b | dprofpp -lq";
is(join("\n", complaints($bad . "C<dproffold -y>, `dprof flame -Y` and C<dprof help fold>\n")),
    "no option of the recorder: nothing\nno function: begin\nno tool: dprofall\n"
    . "dprofpp: no option --nothing\nno option of the recorder: PERL_DPROF_X\n"
    . "dproffold: no option --callers\ndproffold: no option -y\ndprofflame: no option -Y",
    'the check notices commands and options that do not exist');
is(join("\n", foreign_options('dproffold',
        "B<--callers>.\n\nB<--callers> of L<dprofreport>, C<-m>.")),
    'dproffold: no option --callers', 'the check notices an option of another tool');
done_testing;
