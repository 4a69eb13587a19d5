# Code found through magic: tied code references, overloaded objects, globs, elements.
# expect: main::target 7
# expect: Code::FETCH 1
# expect: main::deref 2
package Code;
sub TIESCALAR { bless [] }
sub FETCH { \&main::target }
package Callable;
use overload '&{}' => \&main::deref, fallback => 1;
package main;
sub target { $n++ }
sub deref { \&target }
tie my $t, 'Code';
&$t();
my $o = bless [], 'Callable';
$o->();
&$o;
my %h = (x => \&target);
$h{x}->();
&{ *target }();
&{ *target{CODE} }();
local *alias = \&target;
alias();
print "$n\n";
