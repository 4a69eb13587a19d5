# Type::Tiny: inlined checks, coercions, exceptions out of generated code.
# needs: Types::Standard
# expect: main::f 3
use strict; use Types::Standard qw(Int ArrayRef Str); use Type::Params 'compile'; sub f { 1 }
my $even = Int->where(sub {
    main::f();
    $_ % 2 == 0;
}); print $even->check(4) ? "even\n" : '', $even->check(5) ? '' : "odd\n";
my $check = compile(ArrayRef[Int], Str); my ($l, $s) = $check->([1, 2], 'x'); print "@$l $s\n";
eval { $check->('no', 1); 1 } or print "refused\n"; f();
