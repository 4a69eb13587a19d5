# Syntax::Keyword::Try: return, next and die out of its blocks.
# needs: Syntax::Keyword::Try
# expect: main::ret 2
# expect: main::dies 3
# expect: main::after 5
# expect: main::loops 1
use strict; use Syntax::Keyword::Try; sub dies { die "x\n" } sub after { 1 }
sub ret {
    try { return $_[0] ? 'early' : dies() }
    catch ($e) { after(); return "caught $e" }
    finally { after() }
}
sub loops {
    my $n = 0;
    for my $i (1 .. 4) {
        try { next if $i == 2; dies() if $i > 2; $n++ } catch ($e) { last if $i == 4; after() }
    }
    return $n;
}
print ret(1), ret(0), loops(), "\n"; after();
