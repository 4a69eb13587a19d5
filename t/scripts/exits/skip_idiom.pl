# `last SKIP` out of a sub, ten thousand times: nothing piles up.
# expect: main::skip 10000
# expect: main::skip > main::skip 0
# expect: (program) > main::skip 10000
no warnings 'exiting';
sub skip { last SKIP }
for (1 .. 10_000) {
  SKIP: { skip(); print "not here\n" }
}
print "ok\n";
