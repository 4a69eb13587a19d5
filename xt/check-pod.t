#!/usr/bin/perl
# The manuals: POD without errors and warnings, a name and a licence where one is due, and for each
# tool the same options in its manual and in its table.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use Devel::DProf::Completion;
use Pod::Checker ();
use Test::More;

sub pod_errors {
    my ($text) = @_;
    # -warnings => 1: what breaks a page, not matters of taste.
    my $checker = Pod::Checker->new(-warnings => 1, -quiet => 1);
    open(my $in, '<', \$text) or die $!;
    open(my $out, '>', \my $messages) or die $!;
    $checker->parse_from_file($in, $out);
    return '' if $checker->num_errors == 0 && $checker->num_warnings == 0;
    return $messages || $checker->num_errors . ' errors or no POD at all';
}

my @manuals = grep { m{^(?:lib/.*\.pod|bin/[^/]+)$} || $_ eq 'lib/Devel/DProf.pm' } tracked();
my @modules = grep { m{^lib/.*\.pm$} && content($_) =~ /^=head1/m } tracked();
my %seen;
for my $file (grep { !$seen{$_}++ } @manuals, @modules) {
    my $text = content($file);
    is(pod_errors($text), '', "$file: POD");
    like($text, qr/^=head1 NAME\n\n\S+ - \S/m, "$file: says what it is");
}
ok(scalar(@manuals) >= 2, 'there are manuals');

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

my %table = map { ($_->[0] => [ @$_[1 .. $#$_] ]) } Devel::DProf::Completion::rows();
my @tools = map { m{^bin/(\w+)$} ? $1 : () } tracked();
is("@{[ sort keys %table ]}", "@tools", 'each tool has its manual and its options');
for my $tool (@tools) {
    my @explained = options_of_pod(content("bin/$tool"));
    is(join("\n", disagreements($table{$tool} || [], \@explained)), '', "bin/$tool: options");
}

isnt(pod_errors("=head1 X\n\n=over\n\n=item x\n\n"), '', 'notices: a list without end');
isnt(pod_errors("=head1 X\n\nB<x\n\n=cut\n"), '', 'notices: a code without end');
isnt(pod_errors("no pod\n"), '', 'notices: no POD');
is(pod_errors("=head1 X\n\nText.\n\n=cut\n"), '', 'and nothing else');
my @rows = map { Devel::DProf::Completion::spelled($_) } 'E|exclusive', 'O|rows=i', 'N|negatable!';
my @explained = options_of_pod("=item B<-E>, B<--exclusive>, B<-N>, B<--negatable>\n\n"
    . "=item B<-X>\n\n");
is(join("\n", disagreements(\@rows, \@explained)), join("\n", 'not in the manual: -O',
    'not in the manual: --rows', 'not in the manual: --no-negatable', 'in the manual only: -X'),
    'notices: options apart');
done_testing;
