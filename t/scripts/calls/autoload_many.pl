# 2,000 names of one AUTOLOAD: 1,000 are kept apart, the rest is plain AUTOLOAD.
# expect: main::AUTOLOAD 1000
# expect: main::name0 2
# expect: main::name999 2
# expect: main::name1000 0
our $AUTOLOAD;
sub AUTOLOAD { $n++ }
no strict 'refs';
&{"name$_"}() for 0 .. 1999;
&{"name$_"}() for 0 .. 999;
print "$n\n";
