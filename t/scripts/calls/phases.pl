# BEGIN, UNITCHECK, CHECK, INIT, END, import and unimport.
# expect: Imp::import 2
# expect: Imp::unimport 1
# expect: main::BEGIN > Imp::import 1
# expect: (program) > Imp::import 1
# expect: main::UNITCHECK 2
# expect: main::CHECK 1
# expect: main::INIT 1
# expect: main::END 2
# expect: main::END > main::last_one 1
# expect: main::UNITCHECK > main::note 2
# expect: main::BEGIN > main::note 1
my @log;
sub note { push @log, shift }
BEGIN {
    package Imp;
    $INC{'Imp.pm'} = 1;
    sub import { main::note('import') if defined &main::note; shift }
    sub unimport { shift }
}
use Imp 'x';
no Imp;
BEGIN { note('begin') }
UNITCHECK { note('unitcheck') }
CHECK { note('check') }
INIT { note('init') }
END { last_one(); print "@log\n" }
END { note('end') }
sub last_one { note('last') }
Imp->import;
eval 'UNITCHECK { note("unitcheck2") } 1' or die;
