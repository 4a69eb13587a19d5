# Variables that could give us away.
print "$^P $^W $0\n";
print "$_=$ENV{$_}\n" for grep /^PERL5/, sort keys %ENV;
print "args @ARGV\n";
print $! + 0, ' ', $@ eq '' ? 'empty' : $@, ' ', $? + 0, ' ', $^S, "\n";
print defined &DB::DB ? 1 : 0, defined &DB::sub ? 1 : 0, "\n";
print defined ${^WARNING_BITS} ? unpack 'H*', ${^WARNING_BITS} : 'undef', "\n";
BEGIN {
    print $^H, ' ', join(',', %^H), ' ',
        defined ${^WARNING_BITS} ? unpack 'H*', ${^WARNING_BITS} : 'undef', "\n";
}
use warnings; use strict;
BEGIN { print $^H, ' ', unpack('H*', ${^WARNING_BITS}), "\n" }
print join(',', grep { !/^(?:strict|XSLoader|Devel\/DProf|warnings)\.pm$/ } sort keys %INC), "\n";
open my $fh, '<', $0 or die; print fileno($fh), "\n";
print join(',', map { defined $SIG{$_} ? "$_=$SIG{$_}" : () } sort keys %SIG), "\n";
print ${^TAINT}, ' ', ${^UNICODE}, ' ', ${^UTF8LOCALE} // '', ' ', $^T > 0,
    " $;$,\n" =~ s/\x1c/FS/r;
print "$/|$\\|$|\n" =~ s/\n//r;
print __FILE__ eq $0 ? 1 : 0, __LINE__, "\n";
print defined(prototype 'CORE::lc'), exists $main::{'DB::'} ? 'DB' : '', "\n";
my $s = umask; print "$s\n";
