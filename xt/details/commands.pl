# Calls commands, in many ways: commands.pl FOLDER. The commands in the folder log themselves.
use strict;
use warnings;
use IPC::Open2;
use IPC::Open3;
use IPC::Run 'run';

my ($folder) = @ARGV;
$ENV{PATH} = "$folder:$ENV{PATH}";
system 'one', 'argument' for 1 .. 3;
system 'one argument; true';
system "A=b env C=d $folder/two x > /dev/null";
system { "$folder/two" } 'another name', 'x';
my $out = `three $_` for 1 .. 4;
$out = readpipe('three');
open my $pipe, '-|', 'one', 'x' or die;
$out = <$pipe>;
close $pipe;
open $pipe, 'two x |' or die;
$out = <$pipe>;
close $pipe;
open $pipe, '| three' or die;
close $pipe;
waitpid open3(my $in, my $answer, undef, 'four', 'x'), 0;
waitpid open2($answer, $in, 'four x'), 0;
run ['four', $_] for 1 .. 2;
if (my $pid = fork // die) { waitpid $pid, 0 } else { exec 'five', 'x' }
