# Every exit is recorded, at the moment it happens.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;

run_scripts('exits', 'both modes');
