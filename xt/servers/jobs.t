# The cookbook's recipes for workers: Minion's, which fork for each job, and cron's.
use strict;
use warnings;
use lib 't/lib', 'xt/lib';
use POSIX ();
use Test::More;
use DProfTest;
use PhaseReader;
use Servers;

subtest 'Minion' => sub {
    for my $module (qw(Minion Minion::Backend::SQLite)) {
        plan skip_all => "there is no $module" if !PhaseReader::has($module);
    }
    my $dir = scratch();
    spew("$dir/jobs.pl", cookbook('# jobs.pl'));
    my %env = (PERL5LIB => join(':', tree(), root() . '/blib/lib'), MOJO_LOG_LEVEL => 'fatal');
    for my $n (10, 20, 3000, 30, 4000) {
        my $run = run_program([$^X, 'jobs.pl', 'minion', 'job', '-e', 'report', '-a', "[$n]"],
            dir => $dir, env => \%env);
        is($run->{raw}, 0, "a job of $n") or diag $run->{err};
    }
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        chdir $dir or POSIX::_exit(126);
        open STDOUT, '>', "$dir/said" or POSIX::_exit(126);
        open STDERR, '>&', \*STDOUT or POSIX::_exit(126);
        %ENV = (%ENV, %env, PERL5OPT => '-d:DProf=tree,out=worker.out');
        exec $^X, 'jobs.pl', 'minion', 'worker', '-j', 2 or POSIX::_exit(127);
    }
    until_is('the jobs are done', sub {
        my $run = run_program([$^X, 'jobs.pl', 'minion', 'job', '-s'], dir => $dir, env => \%env);
        return $run->{out} =~ /finished_jobs: 5\b/;
    });
    kill INT => $pid;
    waitpid $pid, 0;
    is($?, 0, 'the worker ends') or diag slurp("$dir/said");
    my @files = files_of("$dir/worker.");
    is(scalar @files, 6, 'each job has a file, and the worker');
    my $calls = PhaseReader::calls(\@files, qr/^main::row\z/);
    is_deeply($calls, { 'job report main::row' => 7000 }, 'of slow jobs alone')
        or diag explain $calls;
    my $table = run_tool('dprofreport', ['--processes', '-n', '-s', 'phase,sub', 'worker.out'],
        dir => $dir);
    like($table->{out}, qr{ 7000  job report +main::row$}m, 'dprofreport --processes')
        or diag $table->{err};
};

# cron gives to sh what stands behind the times, up to a % that has no backslash before it.
subtest 'cron' => sub {
    my $dir = scratch();
    spew("$dir/nightly.pl", cookbook('# nightly.pl'));
    my ($line) = cookbook('0 4 * * * ') =~ /^(?:\S+ ){5}(.*)/;
    my ($command) = split /(?<!\\)%/, $line;
    my $run = run_program(['/bin/sh', '-c', $command =~ s/\\%/%/gr], dir => $dir,
        env => { PERL5LIB => tree() });
    is("$run->{out}$run->{err}$run->{raw}", '0', 'the line of the crontab runs');
    my $today = POSIX::strftime('%Y-%m-', localtime);
    my ($file) = glob "$dir/nightly.$today*.out";
    ok(defined $file, '... and leaves a file with its date') or return;
    is_deeply(PhaseReader::calls($file, qr/^main::/), { 'main main::row' => 5000,
        'main main::clean' => 1 }, '... which has the calls');
};

done_testing();
