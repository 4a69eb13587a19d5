# A file that dies while it is required, in subs of its own.
# expect: main::after 2
# trace: +loader +Bad::boom /Bad::boom +after -after -loader +through +Bad::boom /Bad::boom
# trace: ~/through +after -after
# packages: main Bad
sub after { 1 }
open my $out, '>', 'Bad.pm' or die;
print $out "package Bad; sub boom { die qq(boom\\n) } boom(); 1;\n";
close $out;
sub loader { eval { require './Bad.pm' }; after() }
loader();
delete $INC{'./Bad.pm'};
sub through { no warnings; require './Bad.pm' }
eval { through() };
after();
print $@ =~ /^boom/ ? "boom\n" : $@;
