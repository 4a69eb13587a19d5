# die, and return, out of code blocks of regexes.
# trace: +matcher +boom /boom ~/matcher +after -after +subst +boom /boom +after -after -subst
sub after { 1 }
sub boom { die "boom\n" }
sub matcher { 'ab' =~ /a(?{ boom() })b/ }
eval { matcher() }; print $@;
after();
sub subst { my $s = 'x'; eval { $s =~ s/x/boom()/e }; after() }
subst();
