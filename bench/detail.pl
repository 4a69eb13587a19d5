#!/usr/bin/perl
# What a span of detail=sql costs a statement, on top of the calls of DBI that are recorded anyway.
# The driver is DBI's NullP, which does nothing. Runs with and without detail= alternate; the median
# of the differences of pairs is printed, in ns a statement.
#
#   perl Makefile.PL && make
#   perl bench/detail.pl [PAIRS]
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t/lib";
use DProfTest;

if (!eval { require DBI }) {
    print "DBI is not installed: the cost of statements is not measured\n";
    exit 0;
}

use constant STATEMENTS => 200_000;
my $pairs = shift // 9;
my $program = spew(scratch() . '/statements.pl', <<'END' =~ s/NUMBER/STATEMENTS/er);
use DBI; use Time::HiRes 'time';
my ($sql, $n) = (q{SELECT a.id, a.name, b.price FROM items a JOIN prices b ON b.item = a.id }
    . q{WHERE a.id IN (1, 2, 3) AND b.price > 100 AND a.name <> 'x' ORDER BY a.name}, NUMBER);
my $dbh = DBI->connect('dbi:NullP:', '', '', { RaiseError => 1 });
my $statement = $dbh->prepare($sql);
my $began = (times)[0];
$statement->execute for 1 .. $n;
printf "%.1f\n", ((times)[0] - $began) / $n * 1e9;
END

sub ns { my (@options) = @_; return profiled([$program], env => { @options })->{out} }

for my $mode (qw(trace tree)) {
    my (@plain, @extra);
    for (1 .. $pairs) {
        my @mode = (PERL_DPROF_MODE => $mode, PERL_DPROF_LIMIT => 0);
        push @plain, ns(@mode);
        push @extra, ns(@mode, PERL_DPROF_DETAIL => 'sql') - $plain[-1];
    }
    my ($plain, $extra) = map { (sort { $a <=> $b } @$_)[@$_ / 2] } \@plain, \@extra;
    printf "%-6s a call of execute takes %5.0f ns; its span adds %4.0f ns\n", $mode, $plain, $extra;
}
