# switches: -n
# The program's own loop switches; ARGV processing, eof, $.; BEGIN and END around it.
# args: /etc/hostname
BEGIN { print "begin @ARGV\n" } sub f { "<$_[0]>" } chomp;
print length f($_) ? "line $.\n" : '', eof() ? "eof\n" : ''; END { print "end $.\n" }
