# Each two values of the recorder's options meet in one recording of a program that forks, makes
# threads, starts, stops, marks and holds. Its output is as plain, no sum of its files is below
# zero, and the files hold together. xt/check-pairs.t reads them with every tool.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;
use OptionPairs;

my $help = run_program([built_perl(), '-d:DProf=help', '-e', 1])->{out};
is(join(' ', sort(option_names())), join(' ', sort $help =~ /^ {2}([\w-]+)=/mg),
    'each option of the recorder is in the table');
my @rows = option_rows();
cmp_ok(scalar(@rows), '<', 60, scalar(@rows) . ' recordings have all pairs of options');
SKIP: { skip 'lines=, source= and sample= in a tree: ' . no_lines(), 1 if defined no_lines() }
for my $row (TestEnvironment::sample(5, @rows)) {
    my ($plain, $run) = record_row($row);
    my @wrong = grep { length } same_as_plain($plain, $run), wrong_in_files($run);
    push @wrong, 'there is no file' if !@{ $run->{files} };
    is(join("\n", @wrong), '', 'the recording is right: ' . row_name($row));
}

# What a sum below zero was once written as. Every tool leaves the line out, and says so.
subtest 'A line that cannot be read is left out' => sub {
    my $dir = scratch();
    profiled(['-e', 'sub f { my $s = 0; $s++ for 1 .. 9; $s } sub g { f() } f(), g() for 1 .. 9'],
        dir => $dir, env => { counting(PERL_DPROF_MODE => 'tree') });
    my $text = slurp("$dir/tmon.out");
    my ($context) = $text =~ /^(= 2 .*)\n/m;
    my $bad = $context =~ s/ (\d+)$/ 18446744073709451586/r;
    my $without = spew("$dir/without", $text =~ s/^\Q$context\E\n//mr);
    my $damaged = spew("$dir/damaged", $text =~ s/^\Q$context\E$/$bad/mr);
    for my $call (['dprofpp'], ['dprofreport'], ['dproffold'], ['dprofflame'],
        ['dprofhtml', '-o', '-'], ['dprofmerge', '-o', '-'],
        ['dprofexport', '--format', 'kcachegrind']) {
        my ($tool, @args) = @$call;
        my ($want, $have) = map { in_process($tool, @args, $_) } $without, $damaged;
        # A page has its data packed, the names of files among them.
        s/\b(?:without|damaged)\b/FILE/g, s/<html.*//s for $want->{out}, $have->{out};
        is("$have->{status}\n$have->{out}", "$want->{status}\n$want->{out}",
            "$tool reads the rest of a file with a bad line");
        like($have->{err}, qr/^\QBad profile: $bad\E \(\S*damaged, line \d+, byte \d+\); it is /m,
            "$tool names the bad line");
    }
    my $diff = in_process('dprofdiff', '--fail-if', 'self > 500%', $without, $damaged);
    is($diff->{status}, 1, 'a gate does not pass on a file with a bad line')
        or diag $diff->{err};
};
done_testing;
