# The two examples of the classic manual's section BUGS: each of them broke the old recorder.
# expect: main::current_sub 2
# expect: main::foo 1
# expect: main::after 1
sub current_sub { $_[0] ? current_sub(0) : $addr }
$DB::sub = 'current_sub';
sub after { 1 }
$addr = $DB::sub + 0;
print "addr ", current_sub(1), "\n";
sub foo {
    last FOO;
}
FOO: {
    foo();
}
after();
print "still here\n";
