# compress=N writes the same text in less space; whatever happens to the process, what was written
# can be read.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;
use Devel::DProf::Profile;
use IO::Uncompress::Gunzip qw(gunzip $GunzipError);

my %tree = (PERL_DPROF_MODE => 'tree');
my %packed = (PERL_DPROF_COMPRESS => 6);

sub unpacked {
    my ($file) = @_;
    my $bytes = slurp($file) // return 'no file';
    my $text;
    gunzip(\$bytes => \$text, MultiStream => 1, Transparent => 0)
        or return "not gzip: $GunzipError";
    return $text;
}

# Checks that a trace is whole, and compressed.
sub packed_ok {
    my ($file, $what, %opt) = @_;
    return profile_ok(spew(scratch() . '/text', unpacked($file)), $what, %opt);
}

# Removes what differs from run to run, and between compressed and plain.
sub same_text {
    my ($text) = @_;
    s/\$dprof_(?:run|start|options)='?[^;]*;//g,
        s/\$dprof_(?:p?pid|own_cpu|own_real|before_cpu|start)=[^;]*;//g, s/ +$//mg for $text;
    return $text;
}

sub read_calls {
    my ($file) = @_;
    my $profile = Devel::DProf::Profile->new;
    $profile->add($file);
    return ({ map { ($_->[0] => $_->[1]) } $profile->rows({ rows => 1000 }) },
        $profile->outcome(0));
}

my $WORK = 'sub f { 1 } sub g { f() for 1 .. 3 } sub D::DESTROY { g() } for (1 .. 3_000) { g(); '
    . 'my $o = bless [], "D" if $_ % 100 == 0 } ';

subtest 'A compressed profile has the same text' => sub {
    for my $mode ({}, \%tree, { PERL_DPROF_BUFFER => 0, LESS => 1 }) {
        my $code = $mode->{LESS} ? $WORK =~ s/3_000/200/r : $WORK;
        my $what = join ',', sort keys %$mode;
        my $plain = profiled(['-e', $code], env => { counting(), %$mode });
        my %size;
        for my $level (1, 9) {
            my $run = profiled(['-e', $code],
                env => { counting(), %$mode, PERL_DPROF_COMPRESS => $level });
            same_as_plain($plain, $run, "$what $level: the program runs as plain");
            my $text = unpacked($run->{profile});
            ok(same_text($text) eq same_text(slurp($plain->{profile})),
                "$what $level: the uncompressed text is the same") or diag substr $text, 0, 3000;
            $size{$level} = -s $run->{profile};
            my ($calls, $o) = read_calls($run->{profile});
            is("$o->{code} $calls->{'main::f'}", "0 " . ($mode->{LESS} ? 606 : 9_090),
                "$what $level: the tools read the compressed file");
        }
        cmp_ok($size{1}, '<', 0.1 * -s $plain->{profile},
            "$what: the compressed file has at most a tenth of the size") if !%$mode;
        # Each line is a member of its own here, so that the level changes nothing.
        cmp_ok($size{9}, '<=', $size{1},
            "$what: level 9 is no larger than level 1") if !$mode->{LESS};
    }
};

subtest 'Compressed profiles of processes have all calls' => sub {
    for my $mode ({}, \%tree) {
        my $what = %$mode ? 'tree' : 'trace';
        my $run = profiled(['-e',
            'sub f { 1 } f() for 1 .. 20_000; my $p = fork; f() for 1 .. 30_000; '
                . 'if ($p) { waitpid $p, 0; print $p } else { exec "true" }'],
            env => { counting(), %packed, %$mode });
        my ($mine) = read_calls($run->{profile});
        my ($childs, $o) = read_calls("$run->{profile}.$run->{out}");
        is("$mine->{'main::f'} $childs->{'main::f'} $o->{code}", '50000 30000 0',
            "$what: all calls are there after fork and exec");
        packed_ok($run->{profile}) if !%$mode;
        $run = profiled(['-e', 'no warnings; sub f { 1 } sub deep { f() for 1 .. 9999; '
            . 'exec "/no/such/thing" for 1 .. 3; f() } deep(); f(); print "went on"'],
            env => { counting(), %packed, %$mode });
        my ($calls, $out) = read_calls($run->{profile});
        is("$run->{out} $calls->{'main::f'} $out->{code}", 'went on 10001 0',
            "$what: all calls are there after execs that fail");
        packed_ok($run->{profile}) if !%$mode;
    }
    my $run = profiled(['-e', 'sub f { 1 } f() for 1 .. 20_000; kill 9, $$'],
        env => { counting(), %packed, PERL_DPROF_BUFFER => 1000 });
    unlink "$run->{profile}.live";
    my ($calls, $o) = read_calls($run->{profile});
    is($o->{code}, Devel::DProf::Profile::TRUNCATED,
        'a killed process whose .live file is lost is cut short');
    cmp_ok($calls->{'main::f'}, '>=', 19_000,
        'all buffers that were written before the kill are in the file');
    packed_ok($run->{profile}, 'as whole members', cut => 1);
    my $whole = slurp($run->{profile});
    my $bad = 0;
    for my $cut (map { int(length($whole) * $_ / 23) } 1 .. 22) {
        my ($some, $out) = read_calls(spew("$run->{dir}/cut", substr $whole, 0, $cut));
        $bad++ if $out->{code} != Devel::DProf::Profile::TRUNCATED
            || ($some->{'main::f'} // 0) > $calls->{'main::f'};
    }
    is($bad, 0, 'a file cut off anywhere is read up to there');
};

subtest 'The limit counts compressed bytes' => sub {
    my $run = profiled(['-e', $WORK],
        env => { counting(), %packed, PERL_DPROF_LIMIT => '4K', PERL_DPROF_BUFFER => 1000 });
    my ($calls, $o) = read_calls($run->{profile});
    is("$o->{code} $calls->{'main::f'} $o->{tree}", '0 9090 1',
        'a compressed trace goes on as a tree');
    my ($trace) = unpacked($run->{profile}) =~ /^(.*?)^PART3$/ms;
    cmp_ok(length $trace, '>', 40_000, 'the compressed text is longer than the limit');
    cmp_ok(-s $run->{profile}, '<', 8000, 'the compressed file is within the limit');
};

subtest 'A compressed profile is a file like any other' => sub {
    my $dir = scratch();
    profiled(['-e', 'sub first { 1 } first()'], dir => $dir, env => { counting(%packed) });
    my $run = profiled(['-e', 'sub second { 1 } second()'], dir => $dir,
        env => { counting(%packed) });
    is($run->{err}, '', 'a compressed old profile gives no message');
    is(packed_ok("$dir/tmon.out")->calls('main::second'), 1, 'the new profile takes the name');
    is(packed_ok("$dir/tmon.out.old")->calls('main::first'), 1,
        'the old compressed profile is kept');
    profiled(['-e', 'sub third { 1 } third()'], dir => $dir);
    is(profile_ok("$dir/tmon.out")->calls('main::third'), 1,
        'an uncompressed profile takes the name');
    my $foreign = pack('H*', '1f8b0800000000000003') . "\1\4\0\xfb\xffmineabcdefgh";
    spew("$dir/tmon.out", $foreign);
    $run = profiled(['-e', 'print "started"'], dir => $dir, env => { counting(%packed) });
    is($run->{out}, '', 'a compressed file that is no profile ends perl before the program starts');
    is(slurp("$dir/tmon.out"), $foreign, 'a compressed file that is no profile is left alone');

    $run = profiled(['-e', "\$0 = 'x'; $WORK"],
        env => { counting(), %packed, PERL_HASH_SEED => 'y' x 30_000 });
    packed_ok($run->{profile}, 'a header that is long');
    for my $n (TestEnvironment::sample(3, map { 2200 + 8 * $_ } 0 .. 5)) {
        $run = profiled(['-e', 'sub f { 1 } f()'],
            env => { counting(), %packed, PERL_PERTURB_KEYS => 'z' x $n });
        packed_ok($run->{profile}, "a header around the end of a page, $n");
    }
    $run = run_program(['sh', '-c', 'mkfifo p; cat p >got & "$@"; wait', 'sh', $^X, PROFILER(),
        '-e', $WORK], env => { counting(), %packed, PERL_DPROF_OUT_FILE_NAME => 'p' });
    is(packed_ok("$run->{dir}/got", 'a pipe', cut => 1)->calls('main::f'), 9_090,
        'a pipe takes all calls');
    $run = profiled(['-e', $WORK . 'print "alive"'],
        env => { counting(), %packed, PERL_DPROF_OUT_FILE_NAME => '/dev/full' });
    is("$run->{out}$run->{status}", 'alive0',
        'the program runs on if its compressed profile is /dev/full');
    like($run->{err}, qr{^DProf: .*/dev/full: No space left on device.*\n\z},
        'one line says that /dev/full has no space');
    $run = run_program(['sh', '-c', 'ulimit -f 20; exec "$@"', 'sh', $^X, PROFILER(), '-e',
        '$SIG{XFSZ} = sub { print "signal\n" }; ' . $WORK x TestEnvironment::rounds(12, 30)
        . 'print "alive"'], env => { counting(%packed) });
    is("$run->{out}$run->{status}", 'alive0', 'the program runs on below a limit of sizes');
    like($run->{err}, qr/^DProf: .*tmon\.out: File too large[^\n]*\n\z/,
        'one line says that the compressed file is too large');
    cmp_ok(packed_ok("$run->{dir}/tmon.out", 'what was written is readable',
        cut => 1)->calls('main::f'), '>', 5000,
            'the compressed file has the calls up to the limit');
    like(run_tool('dprofreport', ['-q'], dir => $run->{dir})->{err},
        qr/^tmon\.out: profile cut short: the recorder could not write the rest: File too large\b/,
            'the tools say why the recorder could not write the rest of a compressed file');
  SKIP: {
        $dir = scratch();
        my $mount = $> == 0 ? run_program(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', $dir])
            : undef;
        skip 'cannot mount a small file system', 4 if !$mount || $mount->{raw};
        $run = profiled(['-e', 'srand 1; sub f { 1 } sub g { f() if rand() < .5 } '
            . 'sub h { g() if rand() < .5 } for (1 .. 60_000) { h(); g() } print "alive"'],
            dir => $dir, env => { counting(%packed) });
        is("$run->{out}$run->{status}", 'alive0', 'the program runs on if the disk is full');
        like($run->{err}, qr{^DProf: .*tmon\.out: No space left on device[^\n]*\n\z},
            'one line says that the disk is full');
        packed_ok("$dir/tmon.out", 'what was written is readable', cut => 1);
        cmp_ok(-s "$dir/tmon.out", '>', 48_000, 'the compressed file fills the disk');
        run_program(['umount', $dir], dir => '/');
    }
};

done_testing;
