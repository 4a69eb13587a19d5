# Under -T.
# switches: -T
# expect: main::f 2
use strict;
sub f {
    my $x = shift;
    eval { my $y = "$x" . substr($ENV{PATH}, 0, 0); open my $o, '>', $y or 1; 1 }
        ? 'ran' : $@ =~ /Insecure/ ? 'insecure' : $@;
}
print ${^TAINT}, ' ', f('name'), "\n"; print f('x'), "\n";
print join(',', sort grep /^PERL5(?:LIB|OPT|DB)/, keys %ENV), "\n";
