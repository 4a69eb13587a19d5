# Subs called from code blocks of regexes and substitutions.
# trace: +in_code -in_code +in_code -in_code +repl -repl +repl -repl +postponed -postponed +matcher
# trace: +in_code -in_code -matcher
# expect: main::matcher > main::in_code 1
sub in_code { $n++ }
sub repl { "<$_[0]>" }
sub postponed { qr/b/ }
'ab' =~ /a(?{ in_code() })b(?{ in_code() })/;
(my $s = 'xyx') =~ s/(x)/repl($1)/ge;
print "$s\n";
print "yes\n" if 'ab' =~ /a(??{ postponed() })/;
sub matcher { 'a' =~ /a(?{ in_code() })/ }
matcher();
print "$n\n";
