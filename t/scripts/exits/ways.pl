# return, falling off the end, return from nested blocks, from eval, in list and void context.
# trace: +falls -falls +ret -ret +nested -nested +from_eval +g -g -from_eval +list -list +loop +g -g
# trace: -loop +empty_ret -empty_ret
sub g { 1 }
sub falls { my $x = 1; $x }
sub ret { return 2; 3 }
sub nested { for my $i (1 .. 3) { { if ($i == 2) { while (1) { return $i } } } } }
sub from_eval { my $x = eval { return 5 }; g(); $x }
sub list { return wantarray ? (1, 2) : 3 }
sub loop { foreach (1) { g() } }
sub empty_ret { return }
print falls(), ret(), nested(), from_eval(), list(), "\n";
loop();
empty_ret();
