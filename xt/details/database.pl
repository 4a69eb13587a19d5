# DBI in all its ways: database.pl DSN USER. Prints the times of DBI's own profile, by statement.
use strict;
use warnings;
use DBI;
use DBI::Profile;

my ($dsn, $user) = @ARGV;
my $dbh = DBI->connect($dsn, $user, '', { RaiseError => 1, PrintError => 0, PrintWarn => 0 });
my ($driver) = $dsn =~ /^dbi:(\w+)/;
my $slow = $driver eq 'Pg' ? 'select count(*) from generate_series(1, ?::integer) as g'
    : 'with recursive g as (select 1 as n union all select n + 1 from g where n < ? + 0)'
    . ' select count(*) from g';
my %not = map { $_ => 1 } qw(DESTROY prepare prepare_cached finish connect connected disconnect
    bind_col bind_columns bind_param STORE FETCH begin_work commit rollback rows bind_param_array
    disconnect_all quote ping);
$dbh->do('set max_recursive_iterations = 1000000') if $driver eq 'MariaDB';
$dbh->do('drop table if exists items');
$dbh->do('create table items (id integer primary key, name varchar(50), price integer)');
my $profile = DBI::Profile->new(Path => ['!Statement', '!MethodName']);
$dbh->{Profile} = $profile;

my $insert = $dbh->prepare('insert into items (id, name, price) values (?, ?, ?)');
$dbh->begin_work;
$insert->execute($_, "name$_", $_ * 3) for 1 .. 50;
$dbh->commit;
$insert->execute_array({ ArrayTupleStatus => \my @status }, [101 .. 105], [('x') x 5], [1 .. 5]);
my @row;
@row = $dbh->selectrow_array('select name from items where id = ?', undef, $_) for 1 .. 20;
my $all;
$all = $dbh->selectall_arrayref("select * from items where price > $_ and name <> 'a$_'")
    for 1 .. 7;
my $in = $dbh->prepare('select id, name from items where id in (1, 2, 3, 4) order by id');
for (1 .. 4) { $in->execute; while (my $row = $in->fetchrow_hashref) { } }
for (1 .. 3) { $in->execute; @row = $in->fetchrow_array; $in->finish }
$all = $dbh->selectall_arrayref($in) for 1 .. 2;
$all = $dbh->selectcol_arrayref($in) for 1 .. 2;
@row = $dbh->selectrow_array($in);
@row = $dbh->selectall_array('select price from items');
my $hash = $dbh->selectall_hashref('select id, price from items', 'id');
$hash = $dbh->selectrow_hashref('select min(id) from items');
$dbh->do('update items set price = ? where id = ?', undef, 5, $_) for 6 .. 8;
my $cached = $dbh->prepare_cached('select count(*) from items where id > ?');
for (1 .. 2) { $cached->execute(0); $all = $cached->fetchall_arrayref }
$cached->execute(1);
$cached->bind_columns(\my $count);
$cached->fetch;
$cached->finish;
# These take the time that is compared.
for (1 .. 25) { ($count) = $dbh->selectrow_array($slow, undef, 60_000) }
my $again = $dbh->prepare("$slow -- again\n where 1 = 1");
for (1 .. 20) { $again->execute(50_000); ($count) = $again->fetchrow_array; $again->finish }
$dbh->begin_work;
$dbh->do('delete from items');
$dbh->rollback;

my $data = $profile->{Data};
$profile->{Data} = undef;       # else it is printed at the end
$dbh->{Profile} = 0;
for my $statement (sort keys %$data) {
    my $time = 0;
    $time += $data->{$statement}{$_}[1] for grep { !$not{$_} } keys %{ $data->{$statement} };
    printf "time %.9f %s\n", $time, $statement =~ tr/\n/ /r if $time && $statement =~ /\S/;
}
$dbh->disconnect;
