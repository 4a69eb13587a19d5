# The files of a run's children are renamed together with its first file when the next run begins,
# and the tools say that they are there.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Fcntl ':flock';
use File::Glob qw(bsd_glob);
use Test::More;
use DProfTest;

my $FORK = 'sub f { 1 } for (1 .. 3) { my $pid = fork // die; if (!$pid) { f() for 1 .. 2; exit } '
    . 'waitpid $pid, 0 } f(); ';

sub names {
    my $dir = shift;
    opendir my $in, $dir or die "$dir: $!";
    return sort grep { !/^\./ } readdir $in;
}

# Counts the files of each kind.
sub kinds {
    my ($dir) = @_;
    my %n;
    $n{ s/\d+/N/gr }++ for names($dir);
    return join ' ', map { "$_:$n{$_}" } sort keys %n;
}

sub run_id { return (slurp(shift) =~ /\$dprof_run='([^']+)'/)[0] }

for my $env ({}, { PERL_DPROF_MODE => 'tree' }, { PERL_DPROF_COMPRESS => 6 }) {
    my $what = join ' ', %$env;
    subtest "Runs one after the other $what rename and delete files" => sub {
        my $dir = scratch();
        my %opt = (dir => $dir, env => $env);
        profiled(['-e', $FORK], %opt);
        is(kinds($dir), 'tmon.out:1 tmon.out.N:3', 'one run leaves a file for each process');
        my $first = run_id("$dir/tmon.out");
        my %bytes = map { s/^tmon\.out//r => slurp("$dir/$_") } names($dir);
        profiled(['-e', $FORK], %opt);
        is(kinds($dir), 'tmon.out:1 tmon.out.N:3 tmon.out.old:1 tmon.out.old.N:3',
            'a second run renames the files of the first');
        is_deeply({ map { s/^tmon\.out\.old//r => slurp("$dir/$_") } grep { /old/ } names($dir) },
            \%bytes, 'the renamed files have the bytes of the first run');
        is(join(' ', map { run_id("$dir/$_") } grep { /old/ } names($dir)),
            "$first $first $first $first", 'the renamed files are of the first run alone');
        for my $more (3 .. 5) {
            profiled(['-e', $FORK], %opt);
            is(kinds($dir), 'tmon.out:1 tmon.out.N:3 tmon.out.old:1 tmon.out.old.N:3',
                "$more: there are no more files than two runs leave");
        }
        my $tool = run_tool('dprofpp', ['-lO9', '--processes', 'tmon.out.old'], dir => $dir);
        like($tool->{out}, qr/ 7 +\S+ +\S+  main::f$/m,
            '--processes adds up the calls of all processes');
        like($tool->{out}, qr/^Total Elapsed Time = +\S+ Seconds \(sum of 4 files\)$/m,
            'the total is called a sum');
        is($tool->{err}, '', '--processes gives no message');
        profiled(['-e', '1'], %opt);
        profiled(['-e', '1'], %opt);
        is(kinds($dir), 'tmon.out:1 tmon.out.old:1',
            'runs without children leave no files of children');
    };
}

subtest 'Files of threads and of killed children are renamed' => sub {
    my $dir = scratch();
    profiled(['-e', $FORK . 'if (!fork) { f(); kill KILL => $$ } wait'], dir => $dir);
    is(kinds($dir), 'tmon.out:1 tmon.out.N:4 tmon.out.N.live:1',
        'a killed child leaves its .live file');
    profiled(['-e', '1'], dir => $dir);
    is(kinds($dir), 'tmon.out:1 tmon.out.old:1 tmon.out.old.N:4 tmon.out.old.N.live:1',
        'the .live file of a killed child is renamed with the others');
    profiled(['-e', '1'], dir => $dir);
    is(kinds($dir), 'tmon.out:1 tmon.out.old:1',
        'the .live file of a killed child is deleted with the others');
    my ($run) = slurp("$dir/tmon.out");
    spew("$dir/tmon.out.12.3", $run);
    profiled(['-e', '1'], dir => $dir);
    is(kinds($dir), 'tmon.out:1 tmon.out.old:1 tmon.out.old.N.N:1',
        'the file of a thread is renamed');
};

subtest 'Files that are no profiles of the run stay' => sub {
    my $dir = scratch();
    profiled(['-e', $FORK], dir => $dir);
    my $own = slurp("$dir/tmon.out");
    my $other = $own =~ s/(\$dprof_run=')/${1}0/r;
    my %foreign = ('tmon.out.1' => "mine\n", 'tmon.out.2' => $other, 'tmon.out.x' => $own,
        'tmon.out.3.txt' => $own, 'tmon.out.1.2.3' => $own,
        'xtmon.out.4' => $own, 'tmon.out5' => $own, 'tmon.out.6' => '', 'tmon.out.7' => '#fOrTyTwO',
        'elsewhere' => $own, 'tmon.out.old.8' => "mine\n", 'tmon.out.old.9' => $other,
        'tmon.out.' => $own);
    spew("$dir/$_", $foreign{$_}) for keys %foreign;
    symlink 'elsewhere', "$dir/tmon.out.10" or die "symlink: $!";
    mkdir "$dir/tmon.out.11" or die "mkdir: $!";
    spew("$dir/tmon.out.12", $own);
    open my $held, '<', "$dir/tmon.out.12" or die "tmon.out.12: $!";
    flock $held, LOCK_EX or die "flock: $!";
    system 'mkfifo', "$dir/tmon.out.13";
    for my $n (1, 2) {
        profiled(['-e', '1'], dir => $dir, limit => 20);
        is_deeply({ map { $_ => slurp("$dir/$_") } keys %foreign }, \%foreign,
            "run $n: foreign files stay");
        is(readlink("$dir/tmon.out.10"), 'elsewhere', "run $n: a link stays");
        ok(-d "$dir/tmon.out.11", "run $n: a directory stays");
        is(slurp("$dir/tmon.out.12"), $own, "run $n: a file that a process is writing stays");
        ok(-p "$dir/tmon.out.13", "run $n: a pipe stays");
    }
};

subtest "A child's file moves only to the place of a profile" => sub {
    my $child = sub {
        my ($dir) = @_;
        profiled(['-e', $FORK], dir => $dir);
        my ($name) = map { m{tmon\.out(\.\d+)\z} } bsd_glob("$dir/tmon.out.*");
        return $name;
    };
    my $dir = scratch();
    my $name = $child->($dir);
    spew("$dir/tmon.out.old$name", "my notes\n");
    my $own = slurp("$dir/tmon.out$name");
    profiled(['-e', '1'], dir => $dir);
    is(slurp("$dir/tmon.out.old$name"), "my notes\n", "a text at a child's new place stays");
    is(slurp("$dir/tmon.out$name"), $own,
        "the child's profile stays if a text is at its new place");
    $dir = scratch();
    $name = $child->($dir);
    symlink 'nowhere', "$dir/tmon.out.old$name" or die "symlink: $!";
    profiled(['-e', '1'], dir => $dir);
    is(readlink("$dir/tmon.out.old$name"), 'nowhere', "a link at a child's new place stays");
    $dir = scratch();
    $name = $child->($dir);
    spew("$dir/tmon.out.old$name", slurp("$dir/tmon.out$name") =~ s/(\$dprof_run=')/${1}0/r);
    $own = slurp("$dir/tmon.out$name");
    profiled(['-e', '1'], dir => $dir);
    is(slurp("$dir/tmon.out.old$name"), $own, 'a profile of another run is replaced');
};

subtest 'Runs of another name have files of their own' => sub {
    my $dir = scratch();
    my %env = (PERL_DPROF_OUT => 'p.out');
    profiled(['-e', $FORK], dir => $dir) for 1, 2;
    profiled(['-e', $FORK], dir => $dir, env => \%env) for 1 .. 3;
    is(kinds($dir), 'p.out:1 p.out.N:3 p.out.old:1 p.out.old.N:3 tmon.out:1 tmon.out.N:3 '
        . 'tmon.out.old:1 tmon.out.old.N:3',
            'each run renames and deletes files of its own name only');
};

subtest 'The tools say that a run has more files' => sub {
    my $dir = scratch();
    profiled(['-e', $FORK], dir => $dir) for 1, 2;
    my ($child) = grep { /^tmon\.out\.\d+\z/ } names($dir);
    my @tools = (Dprofpp => [], Dprofreport => [], Dproffold => [],
        Dprofflame => ['-o', 'x.svg'], Dprofmerge => ['-o', 'merged']);
    my $more = 'more files, of other processes and threads; --processes reads them, too';
    while (my ($tool, $args) = splice @tools, 0, 2) {
        my @args = @$args;
        my $run = run_tool($tool, [@args, 'tmon.out'], dir => $dir);
        is($run->{err}, "tmon.out: its run has 3 $more\n",
            "$tool: one line counts the other files");
        is($run->{status}, 0, "$tool: other files of the run give status 0");
        is(run_tool($tool, [@args, '--processes', 'tmon.out'], dir => $dir)->{err}, '',
            "$tool: --processes prints no line");
        is(run_tool($tool, [@args, grep { /^tmon\.out(?:\.\d+)?\z/ } names($dir)],
            dir => $dir)->{err}, '', "$tool: no line is printed if all files are named");
        is(run_tool($tool, [@args, $tool =~ /pp|merge/ ? '-F' : '-f', 'tmon.out'],
            dir => $dir)->{err}, '', "$tool: the option that silences messages silences the line");
        is(run_tool($tool, [@args, 'tmon.out', $child], dir => $dir)->{err},
            "tmon.out, ...: their runs have 2 more files, of other processes and threads; "
            . "--processes reads them, too\n", "$tool: one line is printed for two files");
        is(run_tool($tool, [@args, "$dir/tmon.out"], dir => '/')->{err},
            "$dir/tmon.out: its run has 3 more files, of other processes and threads; "
            . "--processes reads them, too\n", "$tool: the line is printed from another folder")
            if $tool eq 'dprofpp';
    }
    my $run = run_tool('dprofdiff', [], dir => $dir);
    is($run->{err} =~ s/^(?!tmon).*\n//gmr, join('', map { "$_: its run has 3 more files, of other "
        . "processes and threads; --processes reads them, too\n" } 'tmon.out.old', 'tmon.out'),
        'dprofdiff prints one line for each side');
    my $alone = profiled(['-e', '1']);
    is(run_tool('dprofpp', [], dir => $alone->{dir})->{err}, '', 'a run of one file gives no line');
    unlike(run_tool('dprofpp', [], dir => $alone->{dir})->{out}, qr/sum of/,
        'the total of a run of one file is not called a sum');
};

done_testing;
