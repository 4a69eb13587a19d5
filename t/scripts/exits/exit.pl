# exit deep inside: frames end, END runs outside of them.
# status: 7
# trace: +a +b /b ~/a +last -last
# expect: main::END 1
# expect: (program) > main::END 1
# expect: main::END > main::last 1
sub b { exit 7 }
sub a { b() }
sub last { print "end\n" }
END { &last }
a();
