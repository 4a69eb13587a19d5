package Shop;

# A schema of DBIx::Class, of artists and their records.

use strict;
use warnings;

package Shop::Artist {
    use base 'DBIx::Class::Core';
    __PACKAGE__->table('artist');
    __PACKAGE__->add_columns(id => { data_type => 'integer' },
        name => { data_type => 'varchar', size => 40 });
    __PACKAGE__->set_primary_key('id');
    __PACKAGE__->has_many(discs => 'Shop::Disc', 'artist');
}

package Shop::Disc {
    use base 'DBIx::Class::Core';
    __PACKAGE__->table('disc');
    __PACKAGE__->add_columns(id => { data_type => 'integer' },
        artist => { data_type => 'integer' }, title => { data_type => 'varchar', size => 40 });
    __PACKAGE__->set_primary_key('id');
    __PACKAGE__->belongs_to(artist => 'Shop::Artist');
}

use base 'DBIx::Class::Schema';
__PACKAGE__->register_class($_ => "Shop::$_") for qw(Artist Disc);

# Connects, and fills the tables.
sub filled {
    my ($class, $dsn, $user) = @_;
    my $shop = $class->connect($dsn, $user, '', { RaiseError => 1, PrintWarn => 0 });
    $shop->storage->dbh_do(sub {
        my (undef, $dbh) = @_;
        $dbh->do("drop table if exists $_") for qw(disc artist);
        $dbh->do('create table artist (id integer primary key, name varchar(40))');
        $dbh->do('create table disc (id integer primary key, artist integer, title varchar(40))');
    });
    $shop->resultset('Artist')->create({ id => $_, name => "artist $_" }) for 1 .. 6;
    $shop->resultset('Disc')->populate([map { +{ id => $_, artist => 1 + $_ % 6,
        title => "disc $_" } } 1 .. 18]);
    return $shop;
}

1;
