package StopAtEnd;

# Makes both recordings of xt/nytprof-lines.pl alike: this one ends where Devel::NYTProf ends its
# own, after the last END block, before global destruction. PERL5DB, which perl sets for -d, is
# removed for programs that look at their environment, as Devel::DProf itself does.

use strict;
use warnings;
use Devel::DProf::Control;

delete $ENV{PERL5DB};
END { Devel::DProf::Control::stop() }

1;
