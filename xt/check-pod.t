#!/usr/bin/perl
# The manuals are POD without errors and warnings, with a name and a licence where needed. Their
# paragraphs are short. Each tool has the same options in its manual and in its table, each module's
# manual lists its functions.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use B ();
use Devel::DProf::Tool::Completion;
use Pod::Checker ();
use Test::More;

sub pod_errors {
    my ($text) = @_;
    # -warnings => 1 reports what breaks a page, not matters of taste.
    my $checker = Pod::Checker->new(-warnings => 1, -quiet => 1);
    open(my $in, '<', \$text) or die $!;
    open(my $out, '>', \my $messages) or die $!;
    $checker->parse_from_file($in, $out);
    return '' if $checker->num_errors == 0 && $checker->num_warnings == 0;
    return $messages || $checker->num_errors . ' errors or no POD at all';
}

# Returns the paragraphs of text that nobody reads: they have more lines than this.
my $LINES = 6;
sub long_paragraphs {
    my ($text) = @_;
    my ($is_pod, @long);
    for my $paragraph (split /\n{2,}/, $text) {
        $is_pod = 1 if $paragraph =~ /^=[a-z]/;
        my $lines = () = $paragraph =~ /^./mg;
        push @long, $paragraph =~ /^(.*)/ if $is_pod && $paragraph !~ /^[ \t=]/ && $lines > $LINES;
        $is_pod = 0 if $paragraph =~ /^=cut/;
    }
    return join "\n", @long;
}

my @manuals = grep { m{^(?:lib/.*\.pod|bin/[^/]+)$} || $_ eq 'lib/Devel/DProf.pm' } tracked();
my @modules = grep { m{^lib/.*\.pm$} && content($_) =~ /^=head1/m } tracked();
my %seen;
for my $file (grep { !$seen{$_}++ } @manuals, @modules) {
    my $text = content($file);
    is(pod_errors($text), '', "$file has correct POD");
    like($text, qr/^=head1 NAME\n\n\S+ - \S/m, "$file says what it is");
    is(long_paragraphs($text), '', "$file: no paragraph has more than $LINES lines");
}
ok(scalar(@manuals) >= 2, 'the distribution has manuals');

# An option counts as explained when it stands in an =item.
sub options_of_pod {
    my ($pod) = @_;
    return map { /(?<![\w-])(--?[A-Za-z][\w-]*)/g } $pod =~ /^=item\s+(.*?)(?=\n\n|\z)/msg;
}

sub disagreements {
    my ($table, $pod) = @_;
    my %table = map { $_ => 1 } @$table;
    # the opposite of an option may be explained beside it
    my %pod = map { $_ => 1 } grep { !/^--no-(.+)/ || $table{$_} || !$table{"--$1"} } @$pod;
    return (map({ "not in the manual: $_" } grep { !$pod{$_} } @$table),
        map({ "in the manual only: $_" } grep { !$table{$_} } sort keys %pod));
}

my %table = map { ($_->[0] => [ @$_[1 .. $#$_] ]) } Devel::DProf::Tool::Completion::rows();
my @tools = map { m{^bin/(\w+)$} ? $1 : () } tracked();
is("@{[ sort keys %table ]}", "@tools", 'each tool has its manual and its options');
for my $tool (@tools) {
    my @explained = options_of_pod(content("bin/$tool"));
    is(join("\n", disagreements($table{$tool} || [], \@explained)), '',
        "bin/$tool explains its options");
}

# Returns how many examples stand at the head of a tool's manual, before any other heading of its
# DESCRIPTION: commands, each with its output or its picture.
sub examples_of_pod {
    my ($pod) = @_;
    my ($head) = $pod =~ /^=head1 DESCRIPTION\n(.*?)^=head/ms or return 0;
    my $n = 0;
    my $has_command = 0;
    for my $paragraph (split /\n{2,}/, $head) {
        $has_command ||= $paragraph =~ /^ {4,}\$ /m;
        next if !$has_command || $paragraph !~ /^(?! {4,}\$ )(?: {4,}\S|=for html)/m;
        $n++;
        $has_command = 0;
    }
    return $n;
}

my $EXAMPLES = 3;
is(examples_of_pod("=head1 DESCRIPTION\n\nText.\n\n    \$ a\n    1\n\n    \$ b\n\n=for html <p>\n\n"
    . "    2\n\n    \$ c\n\n=head2 Next\n\n    \$ d\n    4\n"), 2,
    'an example is a command with its output or its picture, above the first heading');
cmp_ok(examples_of_pod(content("bin/$_")), '>=', $EXAMPLES, "bin/$_ begins with examples")
    for @tools;

# Returns the functions and methods that a module's manual lists: the names at the head of items,
# several with commas between. Deeper items explain one of them.
sub functions_of_pod {
    my ($pod) = @_;
    my ($depth, $is_here, @names) = (0, 0);
    for my $line (grep { /^=/ } split /\n/, $pod) {
        $is_here = $line =~ /^=head1 (?:FUNCTIONS|METHODS|VALUES)\z/ if $line =~ /^=head1/;
        $depth += $line =~ /^=over/ ? 1 : $line =~ /^=back/ ? -1 : 0;
        next if !$is_here || $line !~ /^=(?:item|head2) (.*)/ || $depth > 1;
        push @names, $1 =~ s/ \[.*//r =~ /(?:^|, )(?:\w+::)*([a-z]\w*)(?![\w ]*=>)(?=[ ,]|\z)/g;
    }
    return @names;
}

# Returns listed functions that do not exist, and functions that are exported, or wanted as the
# whole of a module, but not listed.
sub functions_apart {
    my ($is_there, $wanted, @listed) = @_;
    my %listed = map { $_ => 1 } @listed;
    return join "\n", (map { "in the manual only: $_" } grep { !$is_there->($_) } @listed),
        map { "not in the manual: $_" } grep { !$listed{$_} } @$wanted;
}

# Returns the subs that were written in a module, or in C for it.
sub own_subs {
    my ($module) = @_;
    no strict 'refs';
    return grep { /^[a-z]/ && defined &{"${module}::$_"}
        && B::svref_2object(\&{"${module}::$_"})->GV->STASH->NAME eq $module }
        sort keys %{"${module}::"};
}

for my $file (@modules) {
    my $module = $file =~ s{^lib/|\.pm\z}{}gr =~ s{/}{::}gr;
    my @listed = functions_of_pod(content($file));
    next if !@listed;
    require $file =~ s{^lib/}{}r;
    no strict 'refs';
    my @wanted = $module eq 'Devel::DProf::Profile' ? own_subs($module)
        : (@{"${module}::EXPORT"}, @{"${module}::EXPORT_OK"});
    is(functions_apart(sub { $module->can($_[0]) }, \@wanted, @listed), '',
        "$file explains its functions");
}

isnt(pod_errors("=head1 X\n\n=over\n\n=item x\n\n"), '', 'the check notices a list without end');
isnt(pod_errors("=head1 X\n\nB<x\n\n=cut\n"), '', 'the check notices a code without end');
isnt(pod_errors("no pod\n"), '', 'the check notices missing POD');
is(pod_errors("=head1 X\n\nText.\n\n=cut\n"), '', 'the check accepts good POD');
is(long_paragraphs("=head1 X\n\n" . "Six\n" x 6 . "\n=cut\n\n" . "code\n" x 7), '',
    'the check accepts six lines, and code');
is(long_paragraphs("=head1 X\n\n" . "Seven\n" x 7 . "\n" . "    verbatim\n" x 7), 'Seven',
    'the check notices a paragraph of seven lines');
my @rows = map { Devel::DProf::Tool::Completion::spelled($_) }
    'E|exclusive', 'O|rows=i', 'N|negatable!';
my @explained = options_of_pod("=item B<-E>, B<--exclusive>, B<-N>, B<--negatable>\n\n"
    . "=item B<-X>\n\n");
is(join("\n", disagreements(\@rows, \@explained)), join("\n", 'not in the manual: -O',
    'not in the manual: --rows', 'not in the manual: --no-negatable', 'in the manual only: -X'),
    'the check notices options that differ');
@explained = functions_of_pod("=head1 METHODS\n\n=head2 a X [, y]\n\n=over\n\n"
    . "=item X::c HOW, d\n\n"
    . "=over\n\n=item e\n\n=back\n\n=back\n\n=head1 OTHER\n\n=head2 f\n");
is("@explained", 'a c d', 'the check reads the functions of a module');
is(functions_apart(sub { $_[0] ne 'a' }, ['d', 'e'], @explained),
    "in the manual only: a\nnot in the manual: e", 'the check notices functions that differ');
done_testing;
