# A die that nobody catches: message and status are perl's own.
# status: 255
# trace: +a +b /b ~/a +in_end -in_end
sub b { $! = 0; $? = 0; die "at the top\n" }
sub a { b() }
sub in_end { print "end\n" }
END { in_end() }
a();
