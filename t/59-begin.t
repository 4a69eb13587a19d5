# The profile's file is made with the main program, or when what ran before it is worth one.
# Programs that only compile or print, and the tools themselves, leave the last profile where it is.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Glob ':bsd_glob';
use Test::More;
use DProfTest;

my $root = root();
my @modes = (['trace', {}], ['trace, each mark at once', { PERL_DPROF_BUFFER => 0 }],
    ['tree', { PERL_DPROF_MODE => 'tree' }]);

sub files { my $dir = shift; return join ' ', sort map { s{.*/}{}r } glob "$dir/tmon*" }

# Makes a directory with a profile in it; returns it and the bytes of the profile.
sub with_profile {
    my $run = profiled(['-e', 'sub f { 1 } f() for 1 .. 7']);
    return ($run->{dir}, slurp($run->{profile}));
}

# Checks that the directory is as it was.
sub untouched {
    my ($dir, $bytes, $what) = @_;
    is(files($dir), 'tmon.out', "$what: no other file is left");
    is(slurp("$dir/tmon.out"), $bytes, "$what: the last profile is unchanged");
    return;
}

for (grep { $ENV{EXTENDED_TESTING} || !$_->[1]{PERL_DPROF_BUFFER} } @modes) {
    my ($mode, $env) = @$_;
    subtest "$mode: a program that does not start leaves nothing" => sub {
        plan skip_all => 'both ways with EXTENDED_TESTING=1'
            if $mode ne 'trace' && !$ENV{EXTENDED_TESTING};
        my ($dir, $bytes) = with_profile();
        my $used = 'use strict; use File::Spec; sub f { 1 } BEGIN { f() for 1 .. 100 } ';
        my %runs = (
            '-c'                => [['-c', '-e', $used], 0, "-e syntax OK\n"],
            '-V:'               => [['-V:version'], 0, ''],
            '-V'                => [['-V'], 0, ''],
            '-v'                => [['-v'], 0, ''],
            'a syntax error'    => [['-e', $used . '1 +) ;'], 255],
            'a strict error'    => [['-e', $used . '$x = 1;'], 255],
            'die in BEGIN'      => [['-e', $used . 'BEGIN { $! = 0; $? = 0; die "no\n" }'], 255],
            'no such module'    => [['-e', $used . 'use No::Such::Module;'], 2],
            'with an END block' => [['-e', 'END { print "end" } ' . $used . '1 +) ;'], 255],
        );
        for my $what (sort keys %runs) {
            my ($args, $status, $err) = @{ $runs{$what} };
            my $run = profiled($args, dir => $dir, env => $env);
            # Perl before 5.28 ends with the errno of the last search for a module.
            $status = plain($args, dir => $dir)->{status} if $status == 255;
            is($run->{status}, $status, "$what: the exit status is that of plain perl");
            is($run->{err}, $err, "$what: the message is that of plain perl") if defined $err;
            untouched($dir, $bytes, $what);
        }
        my $script = spew("$dir/c.pl", "#!/usr/bin/perl -c\n$used");
        is(profiled([$script], dir => $dir, env => $env)->{err}, "$script syntax OK\n",
            '-c in the first line is obeyed');
        untouched($dir, $bytes, '-c in the first line');
    };

    subtest "$mode: a program that starts leaves a profile" => sub {
        plan skip_all => 'both ways with EXTENDED_TESTING=1'
            if $mode ne 'tree' && !$ENV{EXTENDED_TESTING};
        my %code = (
            'exit in BEGIN'     => ['BEGIN { f(); exit 4 }', 1],
            'exit 0 in BEGIN'   => ['BEGIN { f(); exit }', 1],
            '_exit in BEGIN'    => ['BEGIN { require POSIX; f(); POSIX::_exit(3) }', 1],
            'exec in BEGIN'     => ['BEGIN { f(); exec "true" }', 1],
            'die in INIT'       => ['INIT { f(); die "no" }', 1],
            'die in main'       => ['BEGIN { f() } f(); die "no"', 2],
            'recorded in BEGIN' => ['BEGIN { f() for 1 .. 50 } INIT { f() } f()', 52],
            'a failed exec'     => ['BEGIN { no warnings; f(); exec "/no/such/program" } f()', 2],
            'chdir and $0'      => ['BEGIN { mkdir "d"; chdir "d"; $0 = "other"; f() }', 1],
        );
        for my $what (sort keys %code) {
            my ($code, $calls) = @{ $code{$what} };
            my ($dir) = with_profile();
            my $run = profiled(['-e', "sub f { 1 } $code"], dir => $dir, env => $env);
            is(files($dir), 'tmon.out tmon.out.old', "$what: the last profile is renamed");
            my $got = read_profile("$dir/tmon.out");
            is($got->{header}{dprof_script}, '-e', "$what: the header has the script's first name");
            my $tree = $mode eq 'tree' ? edges_of_tree("$dir/tmon.out") : undef;
            my $n = 0;
            if ($tree) { $n += $tree->{$_} for grep { / > main::f$/ } keys %$tree }
            else { $n = $got->calls('main::f') }
            is($n, $calls, "$what: all calls are recorded");
        }
        my $dir = (with_profile())[0];
        profiled(['-e', 'sub f { 1 } BEGIN { $pid = fork // die; if (!$pid) { f(); exit } '
            . 'waitpid $pid, 0 } f() +) ;'], dir => $dir, env => $env);
        like(files($dir), qr/^tmon\.out tmon\.out\.\d+$/,
            'a child forked in BEGIN has a file, and a program that cannot be compiled has none');
    };
}

subtest 'Much work in BEGIN makes a file' => sub {
    my $see = 'opendir my $d, "."; print join " ", sort grep { /^tmon/ } readdir $d;';
    my $code = "sub f { 1 } BEGIN { f() for 1 .. %d; Devel::DProf::_advance(%d, %d); "
        . "f() for 1 .. 10; $see } 1 +) ;";
    for my $mode ('trace', 'tree') {
        my %env = (counting(), PERL_DPROF_MODE => $mode);
        my $tell = sub { profiled(['-e', sprintf $code, @_], env => \%env) };
        is($tell->(10, 0, 0)->{out}, '', "$mode: little work in BEGIN makes no file");
        my $run = $tell->(10, 2_000_000_000, 2_000_000_000);
        is($run->{out}, 'tmon.out tmon.out.live',
            "$mode: a second of work in BEGIN makes the file");
        is(files($run->{dir}), 'tmon.out', "$mode: the file stays after an error in compiling");
        next if $mode eq 'tree';
        is($tell->(9000, 0, 0)->{out}, 'tmon.out tmon.out.live',
            "$mode: a full buffer makes the file");
        %env = (%env, PERL_DPROF_BUFFER => 100_000);
        is($tell->(9000, 0, 0)->{out}, '', "$mode: a buffer that is not full makes no file");
    }
    for my $mode ('trace', 'tree') {
        my $killed = profiled(['-e', 'sub f { 1 } BEGIN { f() } f(); kill KILL => $$'],
            env => { PERL_DPROF_MODE => $mode });
        is(files($killed->{dir}), 'tmon.out tmon.out.live',
            "$mode: a program killed in main has its file");
        my $tool = run_tool('dprofpp', ['-lO99', $killed->{profile}]);
        like($tool->{out}, qr/ 2 +\S+ +\S+  main::f$/m, "$mode: the calls in BEGIN are recorded");
        my $saved = profiled(['-e', "sub f { 1 } BEGIN { f(); require Devel::DProf::Control; "
            . "Devel::DProf::Control::save(); $see }"], env => { PERL_DPROF_MODE => $mode });
        like($saved->{out}, qr/^tmon.out tmon.out.live$/, "$mode: a save makes the file");
    }
};

subtest 'A profile that cannot be written gives a message' => sub {
    my $dir = scratch();
    spew("$dir/tmon.out", "mine\n");
    my $run = profiled(['-e', 'BEGIN { print "began" }'], dir => $dir);
    is($run->{out}, '', 'a foreign file ends perl before the program starts');
    like($run->{err}, qr/^DProf: \S+ exists and is no profile/,
        'the message names the foreign file');
    is(slurp("$dir/tmon.out"), "mine\n", 'the foreign file stays');
    $run = profiled(['-e', 'print "ran"'], env => { PERL_DPROF_OUT => '/no/such/directory/out' });
    is("$run->{out} $run->{err}", "ran DProf: cannot write /no/such/directory/out: No such file or "
        . "directory; the program is not profiled\n",
            'the program runs without the directory, and one line says why');
    $run = profiled(['-e', 'BEGIN { open my $o, ">", "tmon.out"; print $o "mine\n" } print "ran"']);
    is($run->{out}, 'ran', 'the program runs on if a foreign file comes later');
    like($run->{err}, qr/^DProf: \S+ exists and is no profile.*; the program is not profiled\n\z/,
        'one line says that the later file is no profile');
    is(slurp($run->{profile}), "mine\n", 'the later foreign file stays');
};

subtest 'our own tools' => sub {
    for my $env ({}, $ENV{EXTENDED_TESTING}
        ? ({ PERL_DPROF_MODE => 'tree' }, { PERL_DPROF_BUFFER => 0 }) : ()) {
        my ($dir, $bytes) = with_profile();
        my %args = (dprof => [[], ['pp']], dprofattach => [['-h']], dprofdump => [['-h']],
            dprofpp => [[], ['-h'], ['-V'], ['--bad']],
            dprofreport => [[]], dprofdiff => [['tmon.out', 'tmon.out']], dproffold => [[]],
            dprofflame => [[]], dprofhtml => [['-o', 'page.html']],
            dprofexport => [['-o', 'x.pb.gz']],
            dprofmerge => [['-o', 'merged', 'tmon.out']], dproflist => [[]],
            dprofrun => [['-h']], dprofstore => [['init', '--to', 'dir:store']], dproftop => [['-n',
                1]]);
        my @tools = map { s{.*/}{}r } glob "$root/bin/*";
        is_deeply([sort keys %args], [sort @tools], 'the test runs all tools');
        for my $tool (@tools) {
            for my $args (@{ $args{$tool} }) {
                my $run = run_tool($tool, $args, fresh => 1, dir => $dir,
                    env => { profiler_env(), %$env });
                untouched($dir, $bytes, "$tool @$args");
                is($run->{err} =~ s/^(?:Unknown option|Try ).*\n//gmr, '',
                    "$tool @$args: no other message");
            }
        }
        my $run = run_tool('dprofpp', [], fresh => 1, dir => $dir, env => { profiler_env() });
        like($run->{out}, qr/ 7 +\S+ +\S+  main::f$/m, "dprofpp shows the user's profile");
    }
};

done_testing;
