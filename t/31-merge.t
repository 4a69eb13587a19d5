# dprofmerge: any order and any grouping give the same; bad files; the command line; --processes.
use strict;
use warnings;
use File::Glob ':bsd_glob';
use POSIX ();
use Test::More;
use lib 't/lib';
use DProfTest;
use MadeUp;
use NaiveProfile;
use Devel::DProf::Profile;

my $dir = scratch();
my $state = 1;
sub rnd { $state = ($state * 1103515245 + 12345) % 2**31; ($state >> 8) % $_[0] }

# Runs dprofmerge in the folder and returns (stdout, stderr, status).
sub dprofmerge {
    my $run = run_tool('dprofmerge', [@_], dir => $dir);
    return (@$run{qw(out err status)});
}

sub detailed {
    my $profile = Devel::DProf::Profile->new;
    $profile->detail;
    $profile->add($_) for @_;
    return $profile;
}

my $count = 0;

sub written {
    my ($profile) = @_;
    my $file = "$dir/w" . $count++;
    open my $out, '>', $file or die;
    $profile->write_tree($out, 'x') and die;
    close $out;
    return $file;
}

sub merged {
    my $all = Devel::DProf::Profile->new;
    $all->detail;
    for my $file (@_) {
        my $message = $all->merge(detailed($file));
        die $message if defined $message;
    }
    return written($all);
}

# Makes traces and trees of one program's subs, some of them nameless, with ticks of several
# lengths.
sub random_file {
    my ($k) = @_;
    my $hz = (100, 150, 1000, 10_000_000)[rnd(4)];
    my $tree = rnd(2);
    my $header = sprintf "\$dprof_run='r%d'; \$dprof_perl='5.36.0'; \$dprof_pid=%d; "
        . '$dprof_own_cpu=%d;', rnd(2), rnd(3), rnd(99);
    my $counters = rnd(5) ? (rnd(4) ? 'ops:ops' : 'b ops:ops a') : undef;
    my $times = rnd(4) ? [0, 0, rnd(99)] : undef;
    my @counters = split ' ', $counters // '';
    my %line = map { ($_ => rnd(3) ? "P n$_ x.pm:$_" . (rnd(2) ? '' : ' in=P::x')
        . (rnd(4) ? '' : ' seq=' . rnd(99))
        : rnd(2) ? 'P __ANON__ x.pm:7' . (rnd(2) ? '' : ' in=P::y') : 'P __ANON__ -') }
        1 .. 1 + rnd(9);
    my @ids = sort { rnd(3) - 1 || $a <=> $b } keys %line;
    my $text = profile_text(format => $tree ? 'tree' : 'trace', hz => $hz, header => $header,
        counters => $counters, times => $times)
        . join '', map { sprintf "& %x %s\n", $_, $line{$_} } @ids;
    if (!$tree) {
        my @stack;
        for (1 .. rnd(60)) {
            $text .= sprintf "@ %d 0 %d\n", rnd(20), rnd(40) if rnd(3);
            if (@stack && rnd(2)) { $text .= sprintf "%s %x\n", rnd(4) ? '-' : '/', pop @stack }
            else { push @stack, $ids[rnd(@ids)]; $text .= sprintf "+ %x\n", $stack[-1] }
        }
        return spew("$dir/file$k", $text);
    }
    my $depth = 0;
    for my $n (0 .. rnd(60)) {
        my $id = $n ? $ids[rnd(@ids)] : 0;
        my $longest = rnd(3) ? rnd(500) : 0;
        $text .= sprintf "= %d %x %d %d %d %d %d %d%s%s\n", $depth, $id, rnd(50), rnd(5000),
            rnd(9), rnd(7000),
            $longest, $longest ? rnd($longest) : 0, join('', map { ' ' . rnd(1000) } @counters),
            $id && !rnd(4) ? ' at=f:' . rnd(3) : '';
        $depth = 1 + rnd($depth + 1);
    }
    return spew("$dir/file$k", $text . join '',
        map { rnd(2) ? sprintf "h %x %d:%d\n", $_, rnd(20), rnd(100) : () } @ids);
}

for my $seed (1 .. ($ENV{DPROF_RUNS} || TestEnvironment::rounds(3, 30))) {
    $state = $seed * 104_729 + 7;
    my @files = map { random_file($_) } 1 .. 2 + rnd(4);
    my $one = slurp(merged(@files));
    my @shuffled = sort { rnd(3) - 1 || $a cmp $b } @files;
    my $good = is(slurp(merged(reverse @files)), $one,
        "seed $seed: the reverse order merges to the same bytes");
    $good &&= is(slurp(merged(@shuffled)), $one,
        "seed $seed: a random order merges to the same bytes");
    my @groups = @shuffled;
    while (@groups > 1) {
        my ($x, $y) = splice @groups, rnd(@groups - 1), 2;
        push @groups, merged($x, $y);
    }
    $good &&= is(slurp($groups[0]), $one, "seed $seed: merging two by two gives the same bytes");
    # The merged sums are those of the parts.
    my %hz = map { ($_ => detailed($_)->hz) } @files;
    my $all = detailed(merged(@files));
    my %want;
    for my $file (@files) {
        for my $row (detailed($file)->rows({ time => 3, program => 1 })) {
            $want{ $row->[0] }[$_] += $row->[$_ + 1] * ($_ ? $all->hz / $hz{$file} : 1) for 0, 1;
        }
    }
    $good &&= is_deeply({ map { ($_->[0] => [@$_[1, 2]]) }
        $all->rows({ time => 3, program => 1 }) }, \%want,
            "seed $seed: the merged profile has the sums of the files");
    next if $good;
    diag("seed $seed");
    last;
}

my ($err, $status, $text, @all);
subtest 'dprofmerge merges files in any order' => sub {
    @all = map { data("$_.out") } qw(ours classic);
    ($text, $err, $status) = dprofmerge(@all);
    is_deeply([$err, $status], ['', 0], 'two files are merged');
    is((dprofmerge(reverse @all))[0], $text, 'the order of files does not matter');
    is_deeply([dprofmerge('-o', 'out', @all)], ['', '', 0], '-o prints nothing');
    is(slurp("$dir/out"), $text, '-o writes the same bytes to a file');
    is_deeply([dprofmerge('-o', 'out', 'out')], ['', '', 0], 'a file is merged onto itself');
    is(slurp("$dir/out"), $text, 'a file that is merged onto itself does not change');
    is_deeply([dprofmerge('-zo', 'out.gz', @all)], ['', '', 0], '-z writes a file');
    is(unpack('H4', slurp("$dir/out.gz")), '1f8b', 'the file of -z is gzip');
    is((dprofmerge('out.gz'))[0], $text, 'dprofmerge reads the file of -z');
    is((dprofpp("$dir/out"))[0], (dprofpp("$dir/out.gz"))[0], 'dprofpp reads the file of -z');
    ok(!grep({ /new/ } glob "$dir/out*"), 'no temporary file is left');
    my $golden = root() . '/t/golden/dprofmerge.ours+classic';
    spew($golden, $text) if $ENV{DPROF_GOLDEN};
    is($text, -e $golden ? slurp($golden) : '', 'the result is the golden file');

    spew("$dir/bad.out", slurp($all[0]) =~ s/^- /x /mr);
    my @bad = dprofmerge($all[0], 'bad.out', 'nothing', $all[1]);
    is_deeply([@bad[0, 2]], [$text, 1], 'bad files are left out of the result, with status 1');
    like($bad[1],
        qr/\ABad\ profile:\ x\ .*\(bad\.out,\ line\ \d+,\ byte\ \d+\)\nbad\.out\ is\ left\ out\n
        Unable\ to\ open\ nothing:\ .*\nnothing\ is\ left\ out\n\z/x, 'bad files are named');
    is_deeply([dprofmerge('-o', 'none', 'nothing')]->[2], 1, 'a missing file alone gives status 1');
    ok(!-e "$dir/none", 'a missing file alone leaves no result');
    spew("$dir/open.out", profile_text(format => 'classic', lines => ['& 2 m a', '+ 2']));
    is((dprofmerge('open.out'))[2], 1, 'missing exits give status 1');
    is_deeply([(dprofmerge('-F', 'open.out'))[1, 2]], ['', 0], '-F accepts missing exits');
    spew("$dir/cut.out", slurp($all[0]) =~ s/^\$rrun.*\n//mr);
    @bad = dprofmerge('cut.out');
    like("$bad[2] $bad[1]",
        -d "/proc/$$/fd"
            ? qr/\A0 cut\.out: profile cut short: the program was killed, or crashed\n\z/
            : qr/\A0 cut\.out: profile cut short: the recording did not come to its end .*\n\z/,
        'a profile that was cut short gives a message');
    my $fifo = "$dir/fifo";
    POSIX::mkfifo($fifo, 0600) or die "$fifo: $!";
    my $cut = slurp("$dir/cut.out");
    my $writer = fork // die "fork: $!";
    if (!$writer) {
        open my $out, '>', $fifo or POSIX::_exit(1);
        print $out $cut;
        close $out;
        POSIX::_exit(0);
    }
    like((dprofmerge('fifo'))[1],
        qr/\Afifo: profile cut short: the recording did not come to its end .*\n\z/,
        'a pipe with a profile that was cut short is read once');
    waitpid $writer, 0;
    like($bad[0], qr/^\$dprof_cut=1;$/m, 'the merged profile counts the file that was cut short');
    spew("$dir/ops.out", profile_text(format => 'tree', counters => 'ops:ops',
        lines => ['= 0 0 1 0 0 0 0 0 5']));
    like((dprofmerge('ops.out', 'ops.out'))[0],
        qr/^\$dprof_counters='ops:ops';.*^= 0 0 2 0 0 0 0 0 10$/ms, 'counters are added up');
    is_deeply([(dprofmerge('ops.out', @all))[1, 2]], ["The files do not have the same counters; "
        . "those that one of the files lacks are left out.\n", 0],
            'counters that one file lacks are left out with a message');
    is((dprofmerge())[2], 2, 'no file is a usage error');
    is((dprofmerge('--nonsense'))[2], 2, 'an unknown option is a usage error');
    like((dprofmerge('-h'))[0], qr/\Adprofmerge \[options\]/, '-h prints the usage');
    is((dprofmerge('-o', 'no/such/folder', @all))[2], 1,
        'a result that cannot be written gives status 1');
};

subtest '--processes finds the files of a run' => sub {
    my $n = 0;
    for my $end ('', qw(.17 .17.1 .9 .old .x er)) {
        my $name = "tmon.out$end";
        my $pid = $n++;
        spew("$dir/$name",
            slurp($all[0]) =~ s/^PART2$/\$dprof_run='one';\n\$dprof_pid=$pid;\nPART2/mr);
    }
    spew("$dir/tmon.out.5", slurp($all[0]) =~ s/^PART2$/\$dprof_run='other';\nPART2/mr);
    spew("$dir/tmon.out.6", 'no profile');
    is_deeply([map { s{.*/}{}r } Devel::DProf::Input::processes("$dir/tmon.out")],
        [qw(tmon.out tmon.out.9 tmon.out.17 tmon.out.17.1)],
        'processes() finds the files of one run');
    like((dprofmerge('--processes'))[0], qr/^\$dprof_merged=4;$/m,
        '--processes merges all files of a run');
    is_deeply([Devel::DProf::Input::processes($all[1])], [$all[1]],
        'processes() of a file without a run is that file');
    is_deeply([Devel::DProf::Input::processes("$dir/nothing")], ["$dir/nothing"],
        'processes() of a missing file is its name');
    my ($calls) = map { (split ' ', (grep { /main::run$/ } split /\n/, $_)[0])[3] }
        (dprofpp('-q', '--processes', "$dir/tmon.out"))[0];
    is($calls, 4 * (map { (split ' ', (grep { /main::run$/ } split /\n/, $_)[0])[3] }
        (dprofpp('-q', "$dir/tmon.out"))[0])[0], 'dprofpp --processes adds up the files of a run');
};

# A pipe beside them is no file of a run: nobody may ever write to it.
require POSIX;
if (POSIX::mkfifo("$dir/tmon.out.123", 0600)) {
    alarm 60;
    my ($pipe) = grep { /\.123\z/ } Devel::DProf::Input::processes("$dir/tmon.out");
    is($pipe, undef, 'a pipe beside a profile is not read');
    my @own = Devel::DProf::Input::processes("$dir/tmon.out.123");
    is_deeply(\@own, ["$dir/tmon.out.123"], 'a pipe beside a profile is no file of its run');
    is((dprofmerge('--processes'))[2], 0, 'dprofmerge --processes does not wait for a pipe');
    require Devel::DProf::Compare::Suite;
    POSIX::mkfifo("$dir/1.out", 0600);
    my @pipes = grep { /\b1\.out\z/ } Devel::DProf::Compare::Suite::profiles_in("$dir");
    is_deeply(\@pipes, [], 'a pipe is no profile of a suite');
    alarm 0;
    unlink map { "$dir/$_" } qw(tmon.out.123 1.out);
}

subtest 'The .live files that tmon.out* finds are read with their profiles' => sub {
    my @given = qw(tmon.out tmon.out.old);
    my $merged = (dprofmerge('-F', @given))[0];
    for my $suffix (qw(live new)) {
        spew("$dir/$_.$suffix", '') for @given;
        my ($out, $err, $status) = dprofmerge('-F', map { ($_, "$_.$suffix") } @given);
        is("$status$err", '0', "FILE.$suffix beside FILE is not merged on its own");
        is($out, $merged, "FILE.$suffix beside FILE does not change the result");
    }
    my ($out, $err, $status) = dprofmerge('-F', 'tmon.out', 'tmon.out.old.live');
    is($status, 1, 'a .live file without its profile is an error');
    like($err, qr/tmon\.out\.old\.live/, 'a message names the .live file without its profile');
    unlink map { ("$dir/$_.live", "$dir/$_.new") } @given;
};

# Reads files of ever longer names until there is no memory for a name. Tools ask what a file was
# read as, and no file can answer then.
SKIP: {
    my $grow = <<'END';
use Devel::DProf::Profile;
my $name = 'x' x 4e6;
my $profile = Devel::DProf::Profile->new;
for (1 .. 100) {
    my $files = $profile->files;
    eval { $profile->add($name); 1 } or print($@), last;
    $profile->files == $files + 1 or print("nothing\n"), last;
}
END
    my @limited = ('sh', '-c', 'ulimit -v 120000 || exit 1; exec "$@"', 'sh', built_perl());
    spew("$dir/grow.pl", $grow);
    my $can = system(@limited, '-MDevel::DProf::Profile', '-e', 'exit 0') == 0;
    skip 'needs ulimit -v', 2 if !$can;
    open my $out, '-|', @limited, "$dir/grow.pl" or die;
    my $said = join '', <$out>;
    ok(close $out, 'a process without memory for a name ends');
    like($said, qr/^out of memory/, 'a message says that there was no memory for a name');
    unlink "$dir/grow.pl";
}

done_testing;
