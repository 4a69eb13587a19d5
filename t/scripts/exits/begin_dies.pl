# die in BEGIN, in import, in a syntax error's company.
# expect: main::boom 2
# expect: main::after 3
# expect: Imp::import 1
sub after { 1 }
sub boom { die "boom\n" }
eval 'BEGIN { boom() } 1'; print $@;
after();
{ package Imp; $INC{'Imp.pm'} = 1; sub import { main::boom() } }
eval 'use Imp; 1'; print $@;
after();
eval 'sub broken { 1 + } 1'; print $@ ? "syntax\n" : '';
after();
