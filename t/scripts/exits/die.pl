# die through many Perl frames, and through XS frames: seen at the catch, before what follows.
# packages: main List::Util
# trace: +a +b +c /c ~/b ~/a +after -after
# trace: +x +List::Util::first +__ANON__ +c /c ~/__ANON__ ~/List::Util::first ~/x +after -after
# trace: +keeps +c /c +after -after -keeps
# trace: +rethrows +c /c +after -after /rethrows +after -after
# trace: +strdie /strdie +after -after +obj /obj +after -after
# expect: main::c 4
use List::Util 'first';
sub after { 1 }
sub c { die "c\n" }
sub b { c() }
sub a { b() }
eval { a() };
after();
sub x { first { c() } 1 }
eval { x() };
after();
sub keeps { eval { c() }; after() }
keeps();
sub rethrows { eval { c() }; after(); die $@ }
eval { rethrows() };
after();
sub strdie { die }
eval 'strdie()';
after();
sub obj { die { code => 1 } }
eval { obj() };
after();
print ref $@, "\n";
