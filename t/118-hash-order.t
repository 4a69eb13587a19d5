# A fixed PERL_HASH_SEED gives the program its plain order of keys in each mode; the profiler is
# hidden then, and what asks for it finds it all the same.

use strict;
use warnings;
use Config;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;

my @MODES = ('', 'tree', 'sample=1000', 'tree,only=f|g,callsites=1');
SKIP: {
    my @with_lines = ('tree,lines', 'tree,sample=1000');
    skip "modes @with_lines: " . no_lines(), 1 if defined no_lines();
    push @MODES, @with_lines;
}
# Each block that perl allocates is looked at where it was allocated, also within an XS method.
push @MODES, 'sample=1000,heap=sample,heap-interval=1';
my $BLIB = root() . '/blib';
our @OURS = map { "-I$_" } tree(), "$BLIB/lib", "$BLIB/arch";
# A thread is not among the programs: perl begins it with all packages, in the order of memory.
# Older perls mix addresses of memory and keys into the order.
my $plain_order = $] >= 5.036 && $Config{ivsize} == 8;

my %program = (
    letters => 'my %h; $h{$_} = 1 for "a" .. "z"; print keys %h, "\n"',
    growing => 'my %h; for (1 .. 300) { $h{"k$_"} = $_; print join ",", keys %h if $_ % 50 == 0 }',
    environment => 'print join ",", keys %ENV',
    symbols => 'our ($aa, %bb, @cc); sub dd { 1 } { package EE::FF; sub gg { 1 } } '
        . 'my %h; $h{$_} = 1 for sort keys %main::; print join ",", keys %h',
    modules => 'use strict; use warnings; use Carp; use constant { A => 1, B => 2 }; my %h = '
        . 'map { $_ => 1 } 1 .. 40; print join ",", keys %h, %INC, sort keys %DynaLoader::',
    xs => 'use List::Util "sum"; use XSLoader; my %h = map { $_ => 1 } 1 .. 40; '
        . 'print join ",", keys %h, sum(1, 2)',
    classes => '{ package P; sub new { bless {}, shift } sub m { keys %{ $_[0] } } } '
        . '{ package Q; our @ISA = "P" } my $q = Q->new; $q->{$_} = 1 for 1 .. 30; '
        . 'print join ",", $q->m; my $re = qr/a|bc|d/; my %h = map { $_ => 1 } 1 .. 9; print %h',
    methods => 'sub P::m { [@_] } for (1 .. 9) { version->new("1.$_"); P->m } '
        . '@R::ISA = "S"; sub S::n { [@_] } R->n; my %h = map { $_ => 1 } 1 .. 40; print %h',
    evals => 'my %h; eval "\$h{x$_} = $_; sub s$_ { $_ } 1" or die for 1 .. 30; print keys %h',
    names => 'print join ",", sort(keys %main::), sort(keys %DB::), %INC',
    child => 'my %h = map { $_ => 1 } 1 .. 20; if (fork) { wait } else { $h{c} = 1; $h{d} = 2; '
        . 'print keys %h }',
);
my %script = map { $_ => spew(scratch() . "/$_.pl", $program{$_}) } keys %program;

sub run {
    my ($mode, $script, %env) = @_;
    my @load = defined $mode ? '-d:DProf' . ($mode && "=$mode") : ();
    # The order of the environment matters, too: that of all runs is the same.
    delete local @ENV{grep { !/^(?:PATH|LC_ALL|LD_LIBRARY_PATH)$/ } keys %ENV};
    my @set = map { "$_=$env{$_}" } sort keys %env;
    return run_program(['env', @set, $^X, @OURS, @load, $script]);
}

# The number of variables decides how %ENV is made.
my @seeds = (42, TestEnvironment::sample(3, '1', '0x77', 'abcdef0123456789', 'ff', '5', '123456'));
for my $name (sort keys %script) {
    for my $n (0 .. $#seeds) {
        my %env = (PERL_HASH_SEED => $seeds[$n], map { ("EXTRA_$_" => $_) } 1 .. 5 * $n);
        my $want = $plain_order ? run(undef, $script{$name}, %env) : run('', $script{$name}, %env);
        is("$want->{raw}$want->{err}", 0, "$name runs with seed $seeds[$n]");
        my @differ = grep { run($_, $script{$name}, %env)->{out} ne $want->{out} } @MODES;
        is("@differ", '',
            "$name has the order of keys of the " . ($plain_order ? 'plain run' : 'first mode'));
    }
}

# Finds a number for a file's name, so that its key in the symbol table shares a bucket with another
# key: then perl takes one more step when the second of the two is added.
sub number_beside {
    my ($key, $before, $after, $seed) = @_;
    my $search = 'my ($key, $before, $after) = @ARGV; my $bucket = hash_value($key) % 256; my $n = '
        . '0; 1 while hash_value("_<$before" . ++$n . $after) % 256 != $bucket; print $n';
    return run_program(['env', "PERL_HASH_SEED=$seed", $^X, '-MHash::Util=hash_value', '-e',
        $search, $key, $before, $after])->{out};
}

subtest 'The paths of the module and of the program change nothing' => sub {
    my %env = (PERL_HASH_SEED => 42);
    for my $key ('BEGIN', "\022E_COMPILE_RECURSION_LIMIT") {
        my $dir = scratch();
        my $file = "$dir/" . number_beside($key, "$dir/", '.pl', 42) . '.pl';
        my $tree = "$dir/" . number_beside($key, "$dir/", '/Devel/DProf.pm', 42);
        symlink tree(), $tree or die "$tree: $!\n";
        spew($file, $program{letters});
        for my $with ([tree(), $file], [$tree, $script{letters}]) {
            local @OURS = map { "-I$_" } $with->[0], "$BLIB/lib", "$BLIB/arch";
            my $want = run($plain_order ? undef : '', $with->[1], %env);
            is(length $want->{out}, 27, "the program runs: $with->[1], -I$with->[0]")
                or diag $want->{err};
            is(run($_, $with->[1], %env)->{out}, $want->{out},
                "the order of keys stays the same in mode '$_'") for @MODES;
        }
    }
};

subtest 'PERL_PERTURB_KEYS keeps its effect' => sub {
    plan(skip_all => 'this perl cannot have the plain order') if !$plain_order;
    for my $how (0, 2, 'DETERMINISTIC', 'NO') {
        my %env = (PERL_HASH_SEED => 7, PERL_PERTURB_KEYS => $how);
        my $want = run(undef, $script{letters}, %env);
        is(run($_, $script{letters}, %env)->{out}, $want->{out},
            "the order of keys is plain: PERL_PERTURB_KEYS=$how, mode '$_'") for @MODES;
    }
};

subtest 'A program finds the functions of the profiler' => sub {
    for my $mode (@MODES) {
        for my $seed (0, 42) {
            my $script = spew(scratch() . '/control.pl', <<'END');
use Devel::DProf::Control qw(stop start recording);
sub seen { 1 }
seen();
stop();
seen();
start();
seen();
print recording() ? 'records' : 'does not record';
END
            my $run = run($mode, $script, PERL_HASH_SEED => $seed);
            is("$run->{raw}$run->{err}$run->{out}", '0records',
                "the program controls the profiler in mode '$mode' with seed $seed");
            next if $mode =~ /sample|only/;
            my ($text) = dprofpp('-O', 1000, "$run->{dir}/tmon.out");
            is(join(' ', $text =~ /^.*main::seen$/mg) =~ s/^\s*(?:\S+\s+){3}|\s.*//gr, 2,
                'the profile has two of three calls')
                or diag join "\n", grep /seen/, split /\n/, $text;
        }
    }
};

subtest 'The module can be loaded again' => sub {
    my $run = run('', spew(scratch() . '/again.pl',
        'require Devel::DProf; Devel::DProf->import; sub f { 1 } f(); print "done"'),
        PERL_HASH_SEED => 42);
    is("$run->{raw}$run->{err}$run->{out}", '0done',
        'the program runs on after the module was loaded again');
    like(slurp("$run->{dir}/tmon.out"), qr/^& \w+ main f\b/m,
        'the profile has calls after the module was loaded again');
};

subtest 'Samples in threads keep the order of keys' => sub {
    plan(skip_all => 'this perl has no threads') if !$Config{useithreads};
    for my $seed (0, 42) {
        my $run = run('sample=1000', spew(scratch() . '/busy.pl',
            'use threads; sub busy { my $n = 0; $n += $_ for 1 .. 3_000_000; $n } '
                . 'threads->create(\&busy)->join; print "done"'), PERL_HASH_SEED => $seed);
        is("$run->{raw}$run->{err}$run->{out}", '0done',
            "a program with threads runs with seed $seed");
        my @files = glob "$run->{dir}/tmon.out.*";
        is(scalar @files, 1, 'the thread has a file');
        like(slurp($files[0]) // '', qr/^& \w+ main busy\b/m, "the thread's file has its samples");
    }
};

done_testing;
