# last, next, redo and LABEL out of subs, through frames.
# trace: +lasts /lasts +after -after +nexts /nexts +nexts /nexts +after -after
# trace: +outer +inner /inner ~/outer +after -after +redoes /redoes +after -after
# trace: +block +inner2 /inner2 +after -after -block +labeled +nested /nested ~/labeled +after
# trace: -after
no warnings 'exiting';
sub after { 1 }
sub lasts { last }
for (1 .. 3) { lasts() }
after();
sub nexts { next }
for (1 .. 2) { nexts() }
after();
sub inner { last OUT }
sub outer { inner() }
OUT: for (1 .. 3) { for (1 .. 3) { outer() } }
after();
my $n;
sub redoes { redo if !$n++ }
for (1) { redoes() if !$n; after() }
sub inner2 { last }
sub block { { inner2() } after() }
block();
sub nested { next LAB }
sub labeled { for (1) { nested() } }
LAB: for (1) { labeled() }
after();
print "ok\n";
