# -p: records a script, reports, and has the script's exit status.
use strict;
use warnings;
use Test::More;
use Cwd 'getcwd';
use lib 't/lib';
use DprofppTest;

my $dir = tempdir();
my $root = getcwd();
spew('script.pl', 'sub greet { print "<@ARGV>\n" } greet(); exit(@ARGV)');
system 'sh', '-c', 'cd "$1" && shift && "$@" >/dev/null 2>&1', 'sh', $dir, $^X, "-I$root/blib/lib", "-I$root/blib/arch", '-d:DProf', 'script.pl';
ok(-s "$dir/tmon.out", 'the recorder writes a profile');

my ($out, $err, $status) = dprofpp({ cwd => $dir }, '-p', 'script.pl a b');
like($out, qr/\A<a b>\nTotal Elapsed Time = .*main::greet$/ms, 'split at blanks; reported in spite of its status');
is($status, 2, 'the exit status is the script\'s');
($out, $err, $status) = dprofpp({ cwd => $dir }, '-T', '-p', 'script.pl', '--', 'a b', 'c  d', '-T');
like($out, qr/\A<a b c  d -T>\n/, 'behind -- nothing is split');
like($out, qr/^main::greet$/m, 'and options before it are ours');
is($status, 3, 'status');
($out, $err, $status) = dprofpp({ cwd => $dir }, '-Q', '-p', 'script.pl');
is_deeply([$out, $status], ["<>\n", 0], '-Q: no report');
($out, $err, $status) = dprofpp({ cwd => $dir, env => { PERL_DPROF_OUT_FILE_NAME => 'other.out' } }, '-Q', '-p', 'script.pl');
ok(-s "$dir/other.out", 'the recorder\'s own variable names the file');
spew('killed.pl', 'kill 9, $$');
is((dprofpp({ cwd => $dir }, '-Q', '-p', 'killed.pl'))[2], 137, 'a signal');

# No report of something else: perl fails before there is a recorder.
($out, $err, $status) = dprofpp({ cwd => $dir }, '-p', 'missing.pl');
is_deeply([$out, $status], ['', 2], 'a script that is not there: no report of an earlier run');
like($err, qr/^missing\.pl left no profile$/m, 'and a line that says so');
# Uninstalled, named by -I alone.
($out, $err, $status) = dprofpp({ cwd => $dir, env => { PERL5LIB => '' } }, '-p', 'script.pl x');
like($out, qr/\A<x>\nTotal Elapsed Time/, 'recorded with the folders of this perl');

done_testing;
