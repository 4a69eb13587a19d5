package StopAtEnd;

# Makes what xt/nytprof-lines.pl records alike. The recording ends where Devel::NYTProf ends its
# own: behind the last END block, before global destruction. PERL5DB, which perl sets for -d, is
# taken away from a program that looks at its environment: Devel::DProf does that itself.

use strict;
use warnings;
use Devel::DProf::Control;

delete $ENV{PERL5DB};
END { Devel::DProf::Control::stop() }

1;
