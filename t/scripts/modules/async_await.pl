# Future::AsyncAwait: suspended and resumed subs. A resumed one counts as one more call.
# needs: Future::AsyncAwait
# expect: main::helper 4
# expect: main::after 2
use strict; use Future; use Future::AsyncAwait;
sub helper { 1 } sub after { 1 }
my $f1 = Future->new; async sub waits { helper(); my $x = await $f1; helper(); return "got $x" }
my $r = waits(); print $r->is_ready ? 'ready' : 'pending', "\n"; after(); $f1->done(5);
print $r->get, "\n"; after();
my $f2 = Future->new; async sub fails {
    helper();
    await $f2;
    helper();
}
my $g = fails(); $f2->fail("failed\n"); print $g->failure;
async sub immediate {
    helper();
    7;
}
print immediate()->get, "\n"; my @f = map { Future->new } 1 .. 3; async sub loop {
    my $s = 0;
    for my $f (@f) { $s += await $f } $s;
}
my $l = loop(); $_->done(2) for @f; print $l->get, "\n";
