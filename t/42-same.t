# The program does not notice that it is profiled.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;

run_scripts('same');
