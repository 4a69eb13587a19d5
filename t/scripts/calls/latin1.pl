# Names in Latin-1 and in UTF-8 that mean the same are the same in the file.
# needs: Sub::Util 1.50
# expect: main::über 3
# expect: Ünder::x 1
no strict 'refs';
*{"main::\xfcber"} = sub { 1 };
require Sub::Util;
my $latin = Sub::Util::set_subname("main::\xfcber", sub { 2 });
$latin->() for 1, 2;
my $name = "main::\xfcber";
utf8::upgrade($name);
Sub::Util::set_subname($name, sub { 3 })->();
Sub::Util::set_subname("\xdcnder::x", sub { 4 })->();
print "ok\n";
