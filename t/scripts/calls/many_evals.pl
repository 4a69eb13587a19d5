# Subs compiled over and over: the names stay bounded, the calls are all there.
# clocks: default
# expect: main::fresh 3000
# expect: main::__ANON__ 3000
no warnings;
for (1 .. 3000) {
    eval 'sub fresh { 1 } fresh(); my $s = sub { 2 }; $s->()';
}
print "ok\n";
