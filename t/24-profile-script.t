# -p: records a script, reports, and has the script's exit status.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest;

my $dir = scratch();
spew("$dir/script.pl", 'sub greet { print "<@ARGV>\n" } greet(); exit(@ARGV)');
run_program([built_perl(), '-d:DProf', 'script.pl'], dir => $dir);
ok(-s "$dir/tmon.out", 'the recorder writes a profile');

my ($out, $err, $status) = dprofpp({ dir => $dir, fresh => 1 }, '-p', 'script.pl a b');
like($out, qr/\A<a b>\nTotal Elapsed Time = .*main::greet$/ms,
    'split at blanks; reported in spite of its status');
is($status, 2, 'the exit status is the script\'s');
($out, $err, $status) = dprofpp({ dir => $dir, fresh => 1 }, '-T', '-p', 'script.pl', '--', 'a b',
    'c  d', '-T');
like($out, qr/\A<a b c  d -T>\n/, 'behind -- nothing is split');
like($out, qr/^main::greet$/m, 'and options before it are ours');
is($status, 3, 'status');
($out, $err, $status) = dprofpp({ dir => $dir, fresh => 1 }, '-Q', '-p', 'script.pl');
is_deeply([$out, $status], ["<>\n", 0], '-Q: no report');
($out, $err, $status) = dprofpp({ dir => $dir, fresh => 1,
    env => { PERL_DPROF_OUT_FILE_NAME => 'other.out' } }, '-Q', '-p', 'script.pl');
ok(-s "$dir/other.out", 'the recorder\'s own variable names the file');
spew("$dir/killed.pl", 'kill 9, $$');
is((dprofpp({ dir => $dir, fresh => 1 }, '-Q', '-p', 'killed.pl'))[2], 137, 'a signal');

subtest 'No report of something else: perl fails before there is a recorder' => sub {
    ($out, $err, $status) = dprofpp({ dir => $dir, fresh => 1 }, '-p', 'missing.pl');
    is_deeply([$out, $status], ['', 2], 'a script that is not there: no report of an earlier run');
    like($err, qr/^missing\.pl left no profile$/m, 'and a line that says so');
    # Uninstalled, named by -I alone.
    ($out, $err, $status) = dprofpp({ dir => $dir, fresh => 1, env => { PERL5LIB => '' } }, '-p',
        'script.pl x');
    like($out, qr/\A<x>\nTotal Elapsed Time/, 'recorded with the folders of this perl');
};

done_testing;
