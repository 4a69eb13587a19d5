# A test suite under prove, with the recorder in PERL5OPT: fork, pipes, commands, perls that start
# perls. No call is lost, no file is written by two processes, and the suite notices nothing.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Glob ':bsd_glob';
use Test::More;
use DProfTest;
use RunReader;

TestEnvironment::skip_long();

my $prove = qx{$^X -MApp::Prove -e 'print "there"' 2>&1};
plan skip_all => 'there is no App::Prove' if $prove ne 'there';

my %tests = (
    plain => 'sub f { 1 } ok(f()) for 1 .. 5;',
    fork => 'sub f { 1 } my $p = fork; if (!$p) { f() for 1 .. 3; POSIX::_exit(0) } waitpid $p, 0; '
        . 'ok(!$?); f();',
    dies => 'sub f { 1 } sub d { f(); die "x\n" } ok(!eval { d(); 1 }); SKIP: { skips() } '
        . 'sub skips { no warnings; f(); last SKIP } ok(1);',
    pipe => 'sub f { 1 } my $p = open my $in, "-|"; if (!$p) { f() for 1 .. 4; print "x"; exit } '
        . 'is(scalar <$in>, "x"); close $in; f();',
    perl => 'sub f { 1 } is(`$^X -e "sub f { 1 } f() for 1 .. 6; print 7"`, 7); '
        . 'is(system($^X, "-e", "sub f { 1 } f(); kill TERM => \$\$"), 15); f();',
    open3 =>
        'use IPC::Open3; sub f { 1 } my $p = open3(my $i, my $o, undef, $^X, "-e", "sub f { 1 } '
            . 'f() for 1 .. 2; print 8"); is(scalar <$o>, 8); waitpid $p, 0; f();',
    subtest =>
        'sub f { 1 } subtest one => sub { plan skip_all => "why not" if f() }; '
            . 'subtest two => sub { plan tests => 1; ok(f()) };',
    done => 'sub f { 1 } f(); require POSIX; print "ok 1\n1..1\n"; STDOUT->flush; POSIX::_exit(0);',
);
my $calls = 5 + 4 + 2 + 5 + 8 + 3 + 2 + 1;

# Returns what prove prints, without times and numbers.
sub suite {
    my ($dir, $env) = @_;
    spew("$dir/$_.t", $_ eq 'done' ? $tests{$_}
        : "use Test::More; use POSIX (); $tests{$_} done_testing;\n") for keys %tests;
    my $run = run_program([$^X, '-MApp::Prove', '-e',
        'my $app = App::Prove->new; $app->process_args(@ARGV); exit($app->run ? 0 : 1)', '--', '-v',
        map { "$_.t" } sort keys %tests], dir => $dir, env => $env);
    $run->{out} =~ s/^Files=.*//m;
    without_numbers($run);
    return join "\n", @$run{qw(out err raw)};
}

my $plain = suite(scratch(), {});
like($plain, qr/^All tests successful.\n+Result: PASS\n+0\z/m,
    'the suite passes without the profiler');
for (grep { $_->[0] eq 'trace' || $_->[0] eq 'tree' && $ENV{EXTENDED_TESTING} } MODES) {
    my ($mode, $env) = @$_;
    my $dir = scratch();
    is(suite($dir, { profiler_env(), %$env, PERL_DPROF_OUT_FILE_NAME => 'prof.%p' }), $plain,
        "$mode: prove prints the same");
    my ($got, @outcomes) = calls_of(grep { !/\.live$/ } glob "$dir/prof.*");
    is($got->{'main::f'}, $calls, "$mode: all calls of all processes are recorded");
    my @cut = grep { $_->{code} == Devel::DProf::Profile::TRUNCATED } @outcomes;
    is(scalar @cut, 1, "$mode: the killed process's profile is cut short");
    is(join("\n", map { $_->{message} } grep { $_->{code}
        && $_->{code} != Devel::DProf::Profile::TRUNCATED } @outcomes), '',
        "$mode: all other profiles are whole");
}

done_testing;
