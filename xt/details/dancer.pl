# An application of Dancer2 on DBIx::Class, with Template Toolkit: dancer.pl DSN USER. It serves its
# own requests, and prints how often each template has run.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Dancer2;
use HTTP::Request::Common qw(GET POST);
use Plack::Test;
use Shop;

my $shop = Shop->filled(@ARGV);
my %seen;
set views => "$FindBin::Bin/templates";
set template => 'template_toolkit';
set engines => { template => { template_toolkit => { extension => 'tt' } } };
set log => 'error';
my %more = (seen => sub { $seen{ $_[0] }++; return '' });
get '/shop' => sub {
    return template 'shop.tt', { %more, artists => [$shop->resultset('Artist')->all] };
};
get '/artist/:id' => sub {
    my $artist = $shop->resultset('Artist')->find(route_parameters->get('id'));
    return template 'shop-artist.tt', { %more, artist => $artist };
};
test_psgi(to_app, sub {
    my ($ask) = @_;
    my @answers = map { $ask->(GET "http://localhost$_")->code }
        ('/shop') x 4, map { "/artist/$_" } 1 .. 6;
    die "answers: @answers\n" if grep { $_ != 200 } @answers;
});
print "template $seen{$_} $_\n" for sort keys %seen;
