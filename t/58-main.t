# --main leaves out what ran before the main program's first statement, in every tool, for traces
# and trees alike.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;
use MadeUp;

# The start-up takes 40 ms, the main program 10: 1 in f called by main, 9 in g.
my $STEP = 'sub step { Devel::DProf::_advance($_[0] * 1_000_000, $_[0] * 1_000_000) } ';
my $CODE = $STEP . 'sub f { step(1) } sub g { step(9) } sub early { step(20); f2() } '
    . 'sub f2 { step(10); goto &last } sub last { step(10) } BEGIN { early() } f(); g(); '
    . 'require Text::Tabs; END { f() }';

# Returns calls and exclusive seconds by sub, as dprofpp has them.
sub rows {
    my ($dir, @args) = @_;
    my $run = run_tool('dprofpp', ['-O', 9999, @args], dir => $dir);
    is($run->{err}, '', "dprofpp @args prints no message");
    my ($total) = $run->{out} =~ /^ *User\+System Time = +(\S+)/m;
    my %rows;
    $rows{$3} = "$2 $1" while $run->{out} =~ /^ *\S+ +(\S+) +\S+ +(\S+) +\S+ +\S+  (main::\S+)$/mg;
    return ($total, \%rows);
}

my %dir;
for my $env ({}, { PERL_DPROF_MODE => 'tree' }, { PERL_DPROF_LIMIT => 1, PERL_DPROF_BUFFER => 1 },
    { PERL_DPROF_EVENTS => 'svs' }) {
    my $what = join(' ', %$env) || 'trace';
    subtest "--main counts the main program: $what" => sub {
        my $run = profiled(['-e', $CODE], env => { counting(), %$env });
        $dir{$what} = my $dir = $run->{dir};
        my ($whole, $all) = rows($dir);
        cmp_ok($whole, '>', 0.05, 'without --main all time counts');
        is($all->{'main::last'}, '1 0.000', 'without --main the start-up counts');
        my ($total, $rows) = rows($dir, '--main');
        cmp_ok($total, '>', 0.011, '--main counts the main program and END');
        cmp_ok($total, '<', 0.03, '--main counts no start-up');
        is_deeply([grep { $rows->{"main::$_"} } qw(early f2 last BEGIN)], [],
            '--main has no rows of what ran before');
        is_deeply([map { (split ' ', $rows->{"main::$_"})[0] } qw(f g step)], [2, 1, 3],
            '--main has the calls of the main program');
        my $tree = run_tool('dprofpp', ['-S', '--main'], dir => $dir)->{out};
        like($tree, qr/main::g x 1/, '--main -S has the main program');
        unlike($tree, qr/main::(?:early|f2)\b/, '--main -S has nothing of what ran before');
        my $phases = run_tool('dprofpp', ['--main', '--phases', '-O', 99], dir => $dir)->{out};
        like($phases, qr/\(main\)$/m, '--main --phases has a row (main)');
        unlike($phases, qr/\(BEGIN\)/, '--main --phases has no row (BEGIN)');
        my $folded = run_tool('dproffold', ['--main', '-m', 'calls'], dir => $dir);
        unlike($folded->{out}, qr/main::(?:early|f2)\b/,
            'dproffold --main has nothing of what ran before');
        like($folded->{out}, qr/^main::g;main::step 1$/m,
            'dproffold --main has the stacks of the main program');
        unlike(run_tool('dprofreport', ['--main', '-n'], dir => $dir)->{out},
            qr/main::(?:early|f2)\b/, 'dprofreport --main has nothing of what ran before');
        unlike(run_tool("dprofflame", ["--main", "-o", "-"], dir => $dir)->{out},
            qr/main::(?:early|f2)\b/, 'dprofflame --main has nothing of what ran before');
        is(run_tool('dprofmerge', ['--main', '-o', 'merged', 'tmon.out'], dir => $dir)->{err}, '',
            'dprofmerge --main gives no message');
        is_deeply((rows($dir, 'merged'))[1], $rows, 'dprofmerge --main keeps the same rows');
        my $diff = run_tool('dprofdiff', ['--main', '-m', 'calls', 'tmon.out', 'merged'],
            dir => $dir);
        unlike($diff->{out}, qr/main::(?:early|f2)\b/,
            'dprofdiff --main has nothing of what ran before');
        is(run_tool('dprofpp', ['--main', '-T'], dir => $dir)->{status}, 2, '-T refuses --main');
    };
}

subtest '--main goes with marked phases, children and old files' => sub {
    my $run = profiled(['-e', $STEP . 'sub f { step(1) } BEGIN { require Devel::DProf::Control } '
        . 'sub deep { step(1); Devel::DProf::Control::mark("mine"); step(1) } '
        . 'BEGIN { deep() } f(); Devel::DProf::Control::mark("work"); f()'], env => { counting() });
    my ($total, $rows) = rows($run->{dir}, '--main');
    is_deeply([map { (split ' ', $rows->{"main::$_"} // '-')[0] } qw(f step deep)], [2, 3, 0],
        '--main begins at a mark in BEGIN; running frames go on');
    $run = profiled(['-e', $STEP . 'sub f { step(1) } BEGIN { f() } if (!(my $pid = fork)) { f(); '
        . 'exit } wait; f()'], env => { counting() });
    ($total, $rows) = rows($run->{dir}, '--main', '--processes');
    is((split ' ', $rows->{'main::f'})[0], 2, "--main has a child's calls");
    my $old = scratch();
    spew("$old/tmon.out", profile_text(format => 'classic', version => 'DProf 20110802.00',
        header => "\$over_utime=0; \$over_stime=0; \$over_rtime=0;\n\$over_tests=10000;\n"
            . '$total_marks=2', times => [3, 0, 3], subs => ['main BEGIN'],
        lines => ['+ 1', '@ 3 0 3', '- 1']));
    is_deeply((rows($old, '--main'))[1], (rows($old))[1],
        'a file without phases is reported whole');
};

subtest '--main begins at the first mark with start=mark' => sub {
    my $code = $STEP . 'use Devel::DProf::Control; sub f { step(1) } sub g { f() } '
        . 'sub mark { Devel::DProf::Control::mark(@_) } BEGIN { f() } f(); mark(""); mark(undef); '
        . 'f(); mark("one"); g(); mark("two"); g(); '
        . 'Devel::DProf::Control::stop(); mark("three"); g()';
    for my $mode ('trace', 'tree') {
        my $run = profiled(['-e', $code], env => { counting(), PERL_DPROF_MODE => $mode,
            PERL_DPROF_START => 'mark' });
        my ($total, $rows) = rows($run->{dir});
        is_deeply([map { (split ' ', $rows->{"main::$_"})[0] } qw(f g)], [2, 2],
            "$mode: --main begins at the first mark, and a stop stays a stop");
        my $phases = run_tool('dprofpp', ['--phases', '-O', 99], dir => $run->{dir})->{out};
        is(scalar(() = $phases =~ /^.* \((?:one|two)\)$/mg), 2,
            "$mode: --main keeps the marked phases");
        my $fork = profiled(['-e', $STEP . 'use Devel::DProf::Control; sub f { step(1) } '
            . 'for (1, 2) { if (!(my $pid = fork)) { f(); Devel::DProf::Control::mark("r"); f(); '
            . 'exit } wait }'],
            env => { counting(), PERL_DPROF_MODE => $mode, PERL_DPROF_START => 'mark' });
        ($total, $rows) = rows($fork->{dir}, '--processes');
        is((split ' ', $rows->{'main::f'})[0], 2,
            "$mode: --main begins for each child at its own mark");
    }
};

done_testing;
