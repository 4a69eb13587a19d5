# Processes are killed at any moment, and read while they run: every call that had begun is there.
use strict;
use warnings;
use File::Glob ':bsd_glob';
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch profiled spew PROFILER);
use Devel::DProf::Profile;

# Returns the calls by name, and the outcome.
sub read_calls {
    my ($file) = @_;
    my $profile = Devel::DProf::Profile->new;
    $profile->add($file);
    return ({ map { ($_->[0] => $_->[1]) } $profile->rows({ rows => 1000 }) },
        $profile->outcome(0));
}

# The script prints how far it has come, and is killed or kills itself.
my $script = spew(scratch() . '/p.pl', <<'END');
use strict; use warnings;
sub inner { 1 } sub middle {
    inner() for 1 .. 3;
    no_args();
} sub no_args { my $f = sub { 2 }; $f->() }
sub outer { middle() }
sub stop { kill 9, $$ }
sub with_deep { my $n = shift; $n ? with_deep($n - 1) : stop() }
my $n = shift; outer() for 1 .. $n; with_deep(5);
END
my %mode = (tree => { PERL_DPROF_MODE => 'tree' }, trace => {},
    both => { PERL_DPROF_LIMIT => 60_000 });
for my $mode (sort keys %mode) {
    for my $n (0, 1, 3000, TestEnvironment::rounds(7_001, 20_001)) {
        my $run = profiled([$script, $n], env => $mode{$mode});
        is($run->{signal}, 9, "$mode, $n: the program is killed") or diag $run->{err};
        my ($calls, $o) = read_calls($run->{profile});
        my %got = map { ($_ => $calls->{"main::$_"} // 0) }
            qw(inner middle no_args __ANON__ outer stop with_deep);
        is_deeply(\%got, { inner => 3 * $n, middle => $n, no_args => $n, __ANON__ => $n,
            outer => $n, stop => 1, with_deep => 6 },
            "$mode, $n: every call is there");
        is($o->{code}, Devel::DProf::Profile::TRUNCATED, "$mode, $n: the profile is cut short");
    }
}

# A process killed after a failed exec has all its calls, too.
for my $mode (sort keys %mode) {
    my $run = profiled(['-e',
        'no warnings; sub f { 1 } sub g { f() } f() for 1 .. 3000; '
            . 'exec "/no/such/program" for 1, 2; g() for 1 .. 3000; eval "sub h$_ { f() } '
            . 'h$_()" for 1 .. 900; kill 9, $$'],
        env => $mode{$mode});
    my ($calls) = read_calls($run->{profile});
    is("$run->{signal} $calls->{'main::f'} $calls->{'main::g'} $calls->{'main::h900'}",
        '9 6900 3000 1', "$mode: a process killed after a failed exec has all its calls");
    my $files = () = glob "$run->{dir}/*";
    $run = profiled(['-e', 'no warnings; sub f { 1 } f(); exec "/no/such/program"; f()'],
        env => $mode{$mode});
    is("$files " . join(' ', map { m{([^/]+)$} } glob "$run->{dir}/*"), '2 tmon.out',
        "$mode: ... and leaves no other file");
}

# The program is killed from outside wherever it is, and read all the while before that.
my $endless = spew(scratch() . '/q.pl',
    'sub f { g($_[0]) for 1 .. 2 } sub g { eval "sub h$_[0] { 1 } h$_[0]()" if $_[0] % 50 == 0; '
        . '1 } f($_) for 1 .. 1e9;');
# It is saved all the while, too, and compressed.
$mode{"$_, saved"} = { %{ $mode{$_} }, PERL_DPROF_SIGNAL => 'USR1',
    PERL_DPROF_COMPRESS => $_ eq 'trace' ? 1 : 0 } for keys %mode;
$mode{'tree, saved and packed'} = { %{ $mode{'tree, saved'} }, PERL_DPROF_COMPRESS => 6 };
for my $mode (sort keys %mode) {
    my (@codes, $reads, %last, $shrunk);
    my $dir = scratch();
    for my $round (1 .. TestEnvironment::rounds(2, 4)) {
        unlink glob "$dir/tmon.out*";
        my $pid = fork // die "fork: $!";
        if (!$pid) {
            chdir $dir or die;
            %ENV = (%ENV, %{ $mode{$mode} }, PERL_DPROF_BUFFER => 200);
            exec $^X, PROFILER(), $endless;
            die;
        }
        select undef, undef, undef, 0.02 until -s "$dir/tmon.out" || !kill 0, $pid;
        %last = ();
        for (1 .. TestEnvironment::rounds(6, 12)) {
            kill USR1 => $pid if $mode{$mode}{PERL_DPROF_SIGNAL};
            my ($calls, $o) = read_calls("$dir/tmon.out");
            push @codes, "$o->{code} $o->{message}"
                if $o->{code} != Devel::DProf::Profile::TRUNCATED;
            $shrunk ||= "g: $last{g} -> $calls->{'main::g'}"
                if ($last{g} // 0) > ($calls->{'main::g'} // 0);
            $last{g} = $calls->{'main::g'} // 0;
            $reads++;
        }
        kill 9, $pid;
        waitpid $pid, 0;
        my ($calls, $o) = read_calls("$dir/tmon.out");
        push @codes, "$o->{code} $o->{message}" if $o->{code} != Devel::DProf::Profile::TRUNCATED;
        my ($f, $g) = map { $calls->{"main::$_"} // 0 } qw(f g);
        push @codes, "f $f, g $g" if $g > 2 * $f || $g < 2 * $f - 2;
    }
    is_deeply(\@codes, [],
        "$mode: $reads readings while it ran, and one after its end, are in order");
    is($shrunk, undef, "$mode: no call disappears");
}

# What stands in place of FILE.live may be no regular file, or have no end; it is not read.
{
    my $run = profiled(['-e', 'sub f { 1 } f() for 1 .. 3']);
    my $live = "$run->{profile}.live";
    for my $what (['a pipe', sub { system 'mkfifo', $live }],
        ['a device', sub { symlink '/dev/zero', $live }],
        ['100 GB of nothing', sub { truncate spew($live, ''), 100 << 30 or unlink $live }]) {
        my ($name, $make) = @$what;
        unlink $live;
        $make->();
        local $SIG{ALRM} = sub { die "$name: read without end\n" };
        alarm 30;
        my ($calls, $o) = eval { read_calls($run->{profile}) };
        alarm 0;
        is(($calls->{'main::f'} // "no call, $@") . " $o->{code}", '3 0',
            "$name as FILE.live is not read");
    }
    unlink $live;
}

done_testing;
