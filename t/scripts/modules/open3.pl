# Commands with three pipes.
# expect: main::f 2
use strict; use IPC::Open3; use IPC::Open2; sub f { 1 } f();
my $pid = open3(my $in, my $out, undef, 'cat'); print $in "through cat\n"; close $in; print <$out>;
waitpid $pid, 0; print $? >> 8, "\n";
$pid = open2(my $o, my $i, $^X, '-e', 'print scalar reverse <STDIN>; exit 3'); print $i "abc";
close $i; print <$o>, "\n"; waitpid $pid, 0; print $? >> 8, "\n"; f();
