# exit inside of a callback that XS code makes, in eval.
# status: 5
# expect: main::END > main::note 1
use List::Util 'first';
sub note { print "noted $?\n"; $? = 5 }
sub cb { exit 3 }
END { note() }
eval { first { cb() } 1 };
print "not here\n";
