# make demo succeeds, and shows what it says; the example's baseline is what its test writes today.
use strict;
use warnings;
use lib 't/lib';
use DProfTest qw(root run_program scratch slurp spew);
use Config;
use Test::More;

my $top = root();
my $dir = scratch();
delete @ENV{
    grep { /^(?:PERL5OPT|PERL5DB|PERL_(?:DPROF|HASH|PERTURB)|PROVE_|HARNESS_|TEST_|DPROF)/ }
    keys %ENV };
$ENV{PERL5LIB} = join $Config{path_sep}, "$top/blib/lib", "$top/blib/arch", $ENV{PERL5LIB} // ();

# Runs a perl program in a folder; returns its outputs together, and its status.
sub run {
    my ($in, @command) = @_;
    my $run = run_program(['sh', '-c', 'exec "$@" 2>&1', 'sh', $^X, @command], dir => $in,
        env => { %ENV }, limit => 600);
    return @$run{qw(out raw)};
}

subtest 'make demo shows a report' => sub {
    mkdir "$dir/screen" or die $!;
    local $ENV{TMPDIR} = "$dir/screen";
    my ($said, $status) = run($top, 'examples/demo.pl');
    is($status, 0, 'make demo exits with 0') or diag $said;
    like($said, qr/^ +%Time +Excl +Cumul .*\n(?:.*\n)*? .*ntry::parse$/m,
        'make demo prints a report');
    like($said, qr{-d:DProf yourprogram\.pl\n.*blib/script/dprofpp\n\z},
        'make demo ends with what to do next');
    cmp_ok(scalar(() = $said =~ /\n/g), '<=', 22,
        'make demo fits a screen, with a line of make and the ' . 'prompt');
    is(join("\n", grep { length > 80 } split /\n/, $said), '',
        'make demo prints no line of more than 80 characters');
    opendir my $left, "$dir/screen" or die $!;
    is(join(' ', grep { !/^\./ } readdir $left), '', 'make demo leaves no temporary file');
};

subtest 'make demo-all shows a report and a gate' => sub {
    TestEnvironment::skip_long();
    mkdir "$dir/tmp" or die $!;
    local $ENV{TMPDIR} = "$dir/tmp";
    my ($said, $status) = run($top, 'examples/demo.pl', '--all');
    is($status, 0, 'demo.pl --all exits with 0') or diag $said;
    like($said, qr/^ +%Time +Excl +Cumul .*\n(?:.*\n)*? .*LogReport::Entry::parse$/m,
        'demo.pl --all prints a report');
    my ($before, $after) = split /^    \$ patch .*\n/m,
        $said =~ s/\A.*?(?=^    \$ prove -lr t$)//msr;
    like($before, qr{^    t/perf/stock\.t \.\. ok\n.*^    Result: PASS\n}ms,
        'both tests pass before the change');
    my ($right, $costs) = split /^    \$ prove -l t\/perf\n/m, $after // '';
    like($right, qr{^    t/stock\.t \.\. ok\n.*^    Result: PASS\n}ms,
        'after the change the results are right');
    like($costs, qr/^    # Failed test 'same calls'\n/m, 'after the change the costs are wrong');
    like($costs, qr/^    # FAIL calls > 0: Inventory::Item::code: 200 -> 40200\n/m,
        'the failure names the sub with its numbers');
    like($costs, qr/^    # .* Inventory::find\n    # 0 -> 20100 +Inventory::Item::code\n/m,
        'the failure shows the branch that calls the sub');
    like($costs, qr/^    Result: FAIL\n/m, 'the test of costs fails');
    is(join("\n", grep { length > 80 } split /\n/, join '', $before, $right,
        $costs =~ s/^For a program of yours.*//msr), '',
            'demo.pl --all prints no line of more than 80 characters');
    opendir my $left, "$dir/tmp" or die $!;
    is(join(' ', grep { !/^\./ } readdir $left), '', 'demo.pl --all leaves no temporary file');
};

# The example itself is not changed, and its baseline is up to date.
my $example = "$dir/Inventory";
system('cp', '-R', 'examples/Inventory', $example) == 0
    && system('chmod', '-R', 'u+w', $example) == 0 or die 'no copy';

subtest "The example's baseline is up to date" => sub {
    my $committed = slurp("$example/t/perf/stock.tmon");
    unlike($committed, qr/^h |^\$dprof_(?:run|pid|start)/m,
        "the example's baseline has counters only");
    local $ENV{DPROF_UPDATE_BASELINES} = 1;
    my ($said, $status) = run($example, '-Ilib', 't/perf/stock.t');
    is($status, 0, 'the example writes its baseline again') or diag $said;
    # Ops and lines of subs depend on the perl, options on the recorder.
    my $calls = sub {
        join '', map { s/^(= (?:\d+ ){7}).*|:\d+$/$1 \/\/ ''/er } grep { /^[&=] / } split /^/,
            $_[0];
    };
    is($calls->(slurp("$example/t/perf/stock.tmon")), $calls->($committed),
        'the new baseline has the same subs and calls');
};

subtest 'A baseline of another perl compares calls' => sub {
    my $file = "$example/t/perf/stock.tmon";
    my $other = slurp($file) =~ s/^\$dprof_perl=.*/\$dprof_perl='5.24.0';/mr
        =~ s/^(= (?:\d+ ){7})\d+/${1}7/mgr;
    isnt($other, slurp($file), 'the file of another perl differs from the baseline');
    spew($file, $other);
    my ($said, $status) = run($example, '-Ilib', 't/perf/stock.t');
    is($status, 0, 'a baseline of another perl makes no failure') or diag $said;
    like($said, qr/^ok 3 - same calls$/m, "the calls of another perl's baseline are compared");
};

done_testing;
