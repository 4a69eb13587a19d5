# Every call is recorded, under the right name and caller.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;

run_scripts('calls', 'both modes');
