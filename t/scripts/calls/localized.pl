# Subs whose globs are localized, aliased and cleared around calls; local on code elements.
# expect: main::f 4
# expect: main::__ANON__ 2
# expect: main::g 1
no warnings;
sub f { 'f' } sub g { local *g; 'g' }
print f(); { local *f = sub { 'temp' }; print f() } print f(), g(), "\n";
my %h = (x => \&f); { local $h{x} = sub { 'elem' }; print $h{x}->() } print $h{x}->(), "\n";
{ local *main::f; print defined &f ? 1 : 0 } print f(), "\n";
