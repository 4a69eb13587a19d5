# DBIx::Class: dbic.pl DSN USER.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Shop;

my $shop = Shop->filled(@ARGV);
for my $round (1 .. 3) {
    for my $artist ($shop->resultset('Artist')->search({ id => { '>' => $round } })) {
        my @titles = map { $_->title } $artist->discs;
    }
    my @joined = $shop->resultset('Disc')->search({ 'artist.name' => { -like => 'a%' } },
        { prefetch => 'artist' });
    my $count = $shop->resultset('Disc')->search({ artist => [1, 2, 3] })->count;
    my $disc = $shop->resultset('Disc')->find($round);
    $disc->update({ title => "new $round" });
    my $title = $disc->artist->name;
    eval { $shop->txn_do(sub { $disc->delete; die "no\n" }) };
    my $cursor = $shop->resultset('Disc')->search({}, { order_by => 'id' });
    while (my $next = $cursor->next) { last if $next->id > 4 }
}
$shop->storage->disconnect;
