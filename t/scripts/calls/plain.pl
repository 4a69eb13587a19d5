# Perl subs, methods, class methods, calls by reference and by name.
# trace: +f +g -g -f +f +g -g -f +m -m +m -m +f +g -g -f +f +g -g -f +rec +rec +rec -rec -rec -rec
# trace: +empty -empty
# expect: main::f 4
# expect: main::f > main::g 4
# expect: (program) > main::f 4
# expect: main::rec 3
# expect: main::rec > main::rec 2
sub f { my $x = g(1); return $x }
sub g { $_[0] + 1 }
sub m { my $self = shift; return "$self->{x}" }
sub rec { $_[0] > 1 ? rec($_[0] - 1) : 1 }
sub empty { }
f();
f(2);
my $o = bless { x => 3 };
$o->m;
my $name = 'm';
$o->$name;
my $ref = \&f;
$ref->();
no strict 'refs';
&{'f'}();
rec(3);
empty();
print "done\n";
