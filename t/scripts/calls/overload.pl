# Overloaded operators, conversions and &{}.
# trace: +plus -plus +str +inner -inner -str +__ANON__ +less -less -__ANON__ +code -code +called
# trace: -called +bool -bool
# expect: main::str > main::inner 1
use overload '+' => \&plus, '""' => 'str', '<=>' => sub { less(@_) }, '&{}' => \&code,
    'bool' => \&bool;
sub plus { 5 }
sub inner { 'str' }
sub str { inner() }
sub less { -1 }
sub code { \&called }
sub called { "called @_" }
sub bool { 1 }
my $o = bless [];
my @got = ($o + 1, "$o", $o < 3, &$o(4));
push @got, 'true' if $o;
print "@got\n";
