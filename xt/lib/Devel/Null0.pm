package Devel::Null0;

# The control of xt/core.pl: shows what changes with a -d: module that does nothing but switch the
# debugger's flags off again.

sub import { $^P = 0 }

1;
