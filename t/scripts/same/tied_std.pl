# STDOUT and STDERR tied, closed, in memory; select; $|: we print nothing and upset nothing.
use strict; my @got;
{ package T; sub TIEHANDLE { bless [] } sub PRINT { shift; push @got, "@_" }
    sub WRITE { 1 } }
tie *STDERR, 'T'; warn "tied\n"; print STDERR 'x'; untie *STDERR; close STDERR;
sub f { 1 } f() for 1 .. 100; open my $mem, '>', \my $buf; select $mem; print 'in memory'; f();
select STDOUT; print "$buf @got\n"; $| = 1; print "unbuffered\n"; close STDOUT; f();
open STDOUT, '>', '/dev/null'; print 1;
