# Modules that do unusual things to perl's stacks and ops; skipped where absent.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;

run_scripts('modules');
