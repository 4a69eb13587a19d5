# What dprofpp says of unusual files: those of very many calls, or of a run loop other than perl's.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;

sub tool { my ($name, @args) = @_; return run_tool($name, \@args) }

for my $mode (qw(trace tree)) {
    my $run = profiled(['-e',
        'sub f { 1 } sub g { f() for 1 .. 3 } g(); my @x = sort { f(); $a <=> $b } 2, 1; '
            . 'eval { die }'],
        env => { counting(PERL_DPROF_MODE => $mode) });
    my $whole = slurp($run->{profile});
    unlike($whole, qr/runops/, "$mode: a profile does not mention perl's own run loop");
    is(tool('dprofpp', $run->{profile})->{err}, '',
        "$mode: dprofpp does not mention perl's own run loop");
    (my $taken = $whole) =~ s/\$dprof_complete=1;/\$dprof_runops_taken=1; $&/;
    my $file = spew("$run->{dir}/taken.out", $taken);
    my $told = tool('dprofpp', $file);
    like($told->{err}, qr/\A[^\n]*taken\.out: another module took over perl's run loop[^\n]*\n\z/,
        "$mode: one line names another run loop");
    is("$told->{status} $told->{out}", join(' ', 0, tool('dprofpp', $run->{profile})->{out}),
        "$mode: the report stays the same");
    is(tool('dprofpp', '-F', $file)->{err}, '', "$mode: -F silences the line");
    is(tool('dprofmerge', '-o', "$run->{dir}/merged.out", $file, $run->{profile})->{err}, '',
        "$mode: the profile merges with another without a message");
    like(tool('dprofpp', "$run->{dir}/merged.out")->{err}, qr/run loop/,
        "$mode: the merged profile mentions the other run loop");
}

my $run = profiled(['-e', 'sub f { 1 } sub g { f() } g()'],
    env => { counting(PERL_DPROF_MODE => 'tree') });
for my $n (999_999, 1_000_000, 1_234_567, 12_345_678_901) {
    my $text = slurp($run->{profile}) =~ s/^(= [23] \w+ )1 /$1$n /mgr;
    my $report = tool('dprofpp', spew("$run->{dir}/many.out", $text))->{out};
    is_deeply([map { (split)[3] } grep { /main::/ } split /\n/, $report], [$n, $n],
        "$n calls of each sub are all reported");
}

SKIP: {
    my $there = run_perl(['-MDevel::Cover=-silent,1', '-e', '']);
    skip 'no Devel::Cover', 6 if $there->{raw};
    for my $own (0, 1) {
        my @program = ("-MDevel::Cover=-silent,1,-replace_ops," . (1 - $own), '-e',
            'sub f { 1 } sub by { $a <=> $b } f(); my @x = sort by 2, 1; f()');
        my $plain = plain(\@program);
        my $run = profiled(\@program, env => { counting(PERL_DPROF_MODE => 'tree') });
        same_as_plain($plain, $run,
            $own ? 'a program under Devel::Cover with its own run loop runs as plain'
                : 'a program under Devel::Cover runs as plain');
        my $told = tool('dprofpp', '-O', 100_000, $run->{profile});
        is(scalar($told->{err} =~ /another module took over/), $own ? 1 : '',
            'the line is there if, and only if, Devel::Cover has its own run loop');
        like($told->{out}, qr/^ +\S+ +\S+ +\S+ +2 .* main::f$/m,
            'calls are recorded under Devel::Cover');
    }
}

done_testing;
