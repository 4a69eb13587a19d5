package FakeDBD;

# Drivers of DBI that have the names of real ones and no database: each statement gives three rows
# of one column, and one with the word "fails" dies.

use strict;
use warnings;

my $code = do { local $/; <DATA> };
close DATA;

# use FakeDBD qw(Pg SQLite ...);
sub import {
    my (undef, @names) = @_;
    for my $name (@names) {
        my $driver = $code =~ s/NAME/$name/gr;
        ## no critic (ProhibitStringyEval): the packages have the driver's name
        eval "$driver; 1" or die $@;
        $INC{"DBD/$name.pm"} = __FILE__;
    }
}

1;

__DATA__
package DBD::NAME;
our $drh;
sub driver { return $drh //= DBI::_new_drh('DBD::NAME::dr', { Name => 'NAME', Version => 1 }) }
sub CLONE { undef $drh }

package DBD::NAME::dr;
our $imp_data_size = 0;
sub connect {
    my ($drh, $dsn) = @_;
    my ($outer, $dbh) = DBI::_new_dbh($drh, { Name => $dsn });
    return $outer;
}

package DBD::NAME::db;
our $imp_data_size = 0;
sub prepare {
    my ($dbh, $statement) = @_;
    my ($outer, $sth) = DBI::_new_sth($dbh, { Statement => $statement });
    $sth->STORE(NUM_OF_PARAMS => $statement =~ tr/?//);
    return $outer;
}
sub commit { return 1 }
sub rollback { return 1 }
sub disconnect { return 1 }
sub FETCH { my ($dbh, $key) = @_; return $key eq 'AutoCommit' ? 1 : $dbh->SUPER::FETCH($key) }
sub STORE {
    my ($dbh, $key, $value) = @_;
    return $key eq 'AutoCommit' ? 1 : $dbh->SUPER::STORE($key, $value);
}

package DBD::NAME::st;
our $imp_data_size = 0;
sub bind_param { return 1 }
sub execute {
    my ($sth) = @_;
    return $sth->set_err(1, 'it fails') if "$sth->{Statement}" =~ /fails/;
    $sth->STORE(NUM_OF_FIELDS => 1) if !$sth->FETCH('NUM_OF_FIELDS');
    $sth->STORE(Active => 1);
    $sth->{fake_left} = 3;
    return 3;
}
sub fetchrow_arrayref {
    my ($sth) = @_;
    return $sth->_set_fbav([7]) if $sth->{fake_left}-- > 0;
    $sth->STORE(Active => 0);
    return undef;
}
*fetch = \&fetchrow_arrayref;
sub rows { return 3 }
sub FETCH {
    my ($sth, $key) = @_;
    return $key eq join('', qw(N AME)) ? ['a'] : $sth->SUPER::FETCH($key);
}
