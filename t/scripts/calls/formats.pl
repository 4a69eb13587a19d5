# Subs called from formats, write called in a sub.
# expect: main::field 2
# expect: main::writer > main::field 2
sub field { "f$n" . ++$n }
format STDOUT =
@<<< @>>>
field(), field()
.
sub writer { write }
writer();
print "after\n";
