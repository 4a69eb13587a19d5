#!/usr/bin/perl
# The page for users of Devel::NYTProf: what it tells them to type exists.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use Devel::DProf::Completion;
use Test::More;

my %options;
for (Devel::DProf::Completion::rows()) {
    my ($tool, @options) = @$_;
    $options{$tool} = { map { $_ => 1 } @options };
}
my ($recorder) = content('lib/Devel/DProf.pm') =~ /^=head1 OPTIONS\n(.*?)^=head1 /ms;
my %recorder = map { $_ => 1 } map { /(\w+)=/g } $recorder =~ /^=item (.*)/mg;
my %function = map { $_ => 1 } content('lib/Devel/DProf/Control.pm') =~ /^=item (\w+)/mg;

# What stands in the right column of the tables, and in C<...>.
sub typed {
    my ($pod) = @_;
    return ((map { /^ {46}(\S.*)/ || /^ {4}\S.* {2,}(\S.*)/ ? $1 : () } split /\n/, $pod),
        $pod =~ /C<([^>]+)>/g);
}

sub complaints {
    my ($pod) = @_;
    my @bad;
    for my $line (typed($pod)) {
        my ($given) = $line =~ /-d:DProf=(\S+)/;
        push @bad, map { "no option of the recorder: $_" } grep { !$recorder{$_} }
            ($given // '') =~ /(\w+)=/g;
        push @bad, map { "no function: $_" } grep { !$function{$_} } $line
            =~ /Devel::DProf::Control::(\w+)/g;
        my ($tool, $rest) = $line =~ /^(dprof\w*)(.*)/ or next;
        push @bad, "no tool: $tool" if !$options{$tool};
        push @bad, map { "$tool: no option $_" } grep { !$options{$tool}{$_} } $rest
            =~ /(?<!\S)(--?[a-z][\w-]*)/gi;
    }
    return @bad;
}

my $page = content('lib/Devel/DProf/FromNYTProf.pod');
cmp_ok(scalar(grep { /^dprof/ } typed($page)), '>=', 10, 'it names commands');
cmp_ok(scalar(grep { /-d:DProf=/ } typed($page)), '>=', 8, 'and options of the recorder');
is(join("\n", complaints($page)), '', 'all of them exist');

my $bad = join '', map { sprintf "    %-42s%s\n", 'there', $_ } '-d:DProf=nothing=1',
    'Devel::DProf::Control::begin()', 'dprofall', 'dprofpp --nothing -l';
is(join("\n", complaints($bad . "C<dproffold -y>\n")),
    "no option of the recorder: nothing\nno function: begin\nno tool: dprofall\n"
    . "dprofpp: no option --nothing\ndproffold: no option -y", 'notices: what there is not');
done_testing;
