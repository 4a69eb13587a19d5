# -p records a script, reports, and exits with the script's status.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest;

my $dir = scratch();
spew("$dir/script.pl", 'sub greet { print "<@ARGV>\n" } greet(); exit(@ARGV)');
run_program([built_perl(), '-d:DProf', 'script.pl'], dir => $dir);
ok(-s "$dir/tmon.out", '-d:DProf writes a profile');

my ($out, $err, $status) = dprofpp({ dir => $dir, fresh => 1 }, '-p', 'script.pl a b');
like($out, qr/\A<a b>\nTotal Elapsed Time = .*main::greet$/ms,
    '-p splits its value at blanks, and reports in spite of the status');
is($status, 2, 'the exit status is that of the script');
($out, $err, $status) = dprofpp({ dir => $dir, fresh => 1 }, '-T', '-p', 'script.pl', '--', 'a b',
    'c  d', '-T');
like($out, qr/\A<a b c  d -T>\n/, 'arguments after -- are not split');
like($out, qr/^main::greet$/m, 'options before -- are those of dprofpp');
is($status, 3, 'the exit status is that of the script after --');
($out, $err, $status) = dprofpp({ dir => $dir, fresh => 1 }, '-Q', '-p', 'script.pl');
is_deeply([$out, $status], ["<>\n", 0], '-Q prints no report');
($out, $err, $status) = dprofpp({ dir => $dir, fresh => 1,
    env => { PERL_DPROF_OUT_FILE_NAME => 'other.out' } }, '-Q', '-p', 'script.pl');
ok(-s "$dir/other.out", 'PERL_DPROF_OUT_FILE_NAME names the file');
spew("$dir/killed.pl", 'kill 9, $$');
is((dprofpp({ dir => $dir, fresh => 1 }, '-Q', '-p', 'killed.pl'))[2], 137,
    'a script killed by signal 9 gives status 137');

subtest 'A script that perl does not start gives no report of an earlier run' => sub {
    ($out, $err, $status) = dprofpp({ dir => $dir, fresh => 1 }, '-p', 'missing.pl');
    is_deeply([$out, $status], ['', 2], 'a missing script gives status 2 and no report');
    like($err, qr/^missing\.pl left no profile$/m,
        'a message says that a missing script left no profile');
    # The module is not installed; -I alone names its folders.
    ($out, $err, $status) = dprofpp({ dir => $dir, fresh => 1, env => { PERL5LIB => '' } }, '-p',
        'script.pl x');
    like($out, qr/\A<x>\nTotal Elapsed Time/,
        'the script is recorded with the -I folders of dprofpp');
};

done_testing;
