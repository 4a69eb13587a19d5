# A report by Template Toolkit: report.pl FOLDER. Prints how often each template has run.
use strict;
use warnings;
use FindBin;
use Template;

my %seen;
my $template = Template->new(INCLUDE_PATH => "$FindBin::Bin/templates");
my @artists = map { +{ name => "artist $_", discs => [map { +{ title => "disc $_" } } 1 .. 3] } }
    1 .. 8;
for (1 .. 5) {
    $template->process('shop.tt', { seen => sub { $seen{ $_[0] }++; return '' },
        artists => \@artists }, \my $out) or die $template->error;
}
print "template $seen{$_} $_\n" for sort keys %seen;
