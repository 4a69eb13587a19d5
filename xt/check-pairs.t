# Each two values of the recorder's options meet in one recording, and every tool reads what was
# recorded, without a word.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t/lib";
use Test::More;
use DProfTest;
use OptionPairs;

# These messages are no fault: a run has more files; a file has no calls; who asks for the order of
# calls gets none from a tree.
my $may_say = qr/^[^\n]*(?:its\ run\ has\ \d+\ more\ files?|nothing\ is\ left:
    |there\ is\ nothing\ to\ draw|the\ profile\ is\ empty|\d+\ calls?\ had\ not\ ended
    |has\ no\ order\ of\ calls)[^\n]*\n/mx;

# Samples hook no call, so a child that ends by POSIX::_exit leaves a file without an end, in which
# nothing vouches for the source.
my $no_end = qr/^[^\n]*(?:cut\ short:|the\ page\ lacks\ the\ source)[^\n]*\n/mx;

sub wrong_in_tools {
    my ($file, $is_sampled) = @_;
    my $to = scratch() . '/to';
    my @wrong;
    for my $call (['dprofpp', '-O', 5], ['dprofpp', '-T'], ['dprofreport'],
        ['dproffold'], ['dprofflame', '-o', "$to.svg"],
        ['dprofhtml', '-o', "$to.html"], ['dprofmerge', '-o', "$to.merged"],
        (map { ['dprofexport', '--format', $_, '-o', "$to.$_"] }
            qw(pprof speedscope callgrind firefox)), ['dprofdiff', $file]) {
        my ($tool, @args) = @$call;
        my $run = in_process($tool, @args, $file);
        my $said = ($run->{err} =~ s/$may_say//g);
        $run->{err} =~ s/$no_end//g if $is_sampled;
        push @wrong, "$tool @args: status $run->{status}: $run->{err}"
            if $run->{err} || $run->{status} > ($said ? 1 : 0);
    }
    return @wrong;
}

for my $row (option_rows()) {
    my ($plain, $run) = record_row($row);
    my @wrong = grep { length } same_as_plain($plain, $run), wrong_in_files($run);
    for my $file (@{ $run->{files} }) {
        my $name = $file =~ s{\A\Q$run->{dir}\E/}{}r;
        push @wrong, map { "$name: $_" } wrong_in_tools($file, $row->{sample} && !$row->{mode});
    }
    is(join("\n", @wrong), '', 'the recording is right: ' . row_name($row));
}
done_testing;
