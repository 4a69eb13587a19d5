# dprofstore: what is sent, what stays in the spool, what is merged, what is moved aside; the agent.
use strict;
use warnings;
use lib 't/lib';
use DProfTest;
use Fcntl qw(LOCK_EX LOCK_NB);
use Slices;
use Test::More;
use Devel::DProf::Store;
use Devel::DProf::Store::Failure;
use Devel::DProf::Store::Push;
use Devel::DProf::Store::Spool;

my @STORES = qw(store two three);

# Runs dprofstore in a folder; returns standard output, error output, status.
sub dprofstore {
    my ($dir, @args) = @_;
    my $run = run_tool('dprofstore', \@args, dir => $dir);
    return [@$run{qw(out err status)}];
}

# A file as a process has it that lives.
sub locked {
    my ($path) = @_;
    open my $file, '<', $path or die "$path: $!";
    flock $file, LOCK_EX or die "$path: $!";
    return $file;
}

sub selected { return Devel::DProf::Store::open("dir:$_[0]/store")->select({}) }
sub left { return join ' ', grep { $_ ne '.lock' } files_in("$_[0]/spool") }

subtest 'dprofstore push sends slices and files, and prune removes them' => sub {
    my $dir = spool_of(3, @STORES);
    my @push = ('push', '--to', 'dir:store', '--version', '1.2', '--host', 'h', '--env', 'e');
    is_deeply(dprofstore($dir, @push, 'spool'), ["3 profiles pushed\n", '', 0],
        'push sends three slices');
    is_deeply([map { "@$_{qw(service version host env run start seconds)}" } selected($dir)],
        [map { "web.pl 1.2 h e 6b.1.1-7-0-$_ " . (1_795_348_800.25 + 60 * $_) . ' 60' } 1 .. 3],
        'the store knows service, version, host, time and run of each slice');
    is_deeply(dprofstore($dir, @push, 'spool'), ["3 profiles pushed\n", '', 0],
        'push sends the same slices again');
    is(scalar(my @once = selected($dir)), 3,
        'the store keeps one copy of a slice that was sent twice');
    is(left($dir), join(' ', map { slice_name(slice => $_) } 1 .. 3),
        'the slices stay in the spool without --delete');
    is_deeply(dprofstore($dir, @push, '-q', '--delete', 'spool'), ['', '', 0],
        'push with -q and --delete prints nothing');
    is(left($dir), '', 'push --delete empties the spool');
    is(scalar(my @still = selected($dir)), 3, 'the store still has one copy of each slice');
    my $file = spew("$dir/x.out", slice_text(slice => 9));
    is_deeply(dprofstore($dir, @push, '--service', 'api', 'x.out', data('classic.out')),
        ["2 profiles pushed\n", '', 0], 'push sends files that are named');
    my ($foreign) = grep { /\Amd5/ } map { $_->{run} } selected($dir);
    like($foreign // '', qr/\Amd5\.[0-9a-f]{32}-0-0-0\z/,
        'the store names a foreign file by its contents');
    ok(-e $file, 'push without --delete keeps a file that is named');
    is_deeply(dprofstore($dir, @push, '--service', 'api', '--delete', 'x.out'),
        ["1 profile pushed\n", '', 0], 'push --delete sends a file that is named');
    ok(!-e $file, 'push --delete removes a file that is named');
    my $list = dprofstore($dir, 'list', '--from', 'dir:store', 'service=web*');
    is($list->[0], <<'END', 'list prints one row for each version of a service');
service  version  hosts  profiles  first                 last
web.pl   1.2          1         3  2026-11-22T12:01:00Z  2026-11-22T12:03:00Z
END
    is_deeply(dprofstore($dir, 'prune', '--from', 'dir:store', '-n', 'service=web*'),
        ["3 profiles would be removed\n", '', 0], 'prune -n only counts the profiles');
    is_deeply(dprofstore($dir, 'prune', '--from', 'dir:store', 'service=web*'),
        ["3 profiles removed\n", '', 0], 'prune removes the profiles');
    is_deeply(dprofstore($dir, 'list', '--from', 'dir:store', 'service=web*'),
        ['', "dprofstore: service=web*: the store has no such profiles\n", 1],
            'list finds no profile after prune');
};

subtest 'Push completes the last slice of a process that has died' => sub {
    my $dir = spool_of(1, @STORES);
    my $text = slice_text(slice => 2, start => 1_795_349_000);
    my $name = slice_name(slice => 2) =~ s/tree\z/part/r;
    spew("$dir/spool/$name", $text);
    open my $held, '<', "$dir/spool/$name" or die "$name: $!";
    flock $held, LOCK_EX | LOCK_NB or die "$name: $!";
    my @push = qw(push --to dir:store --delete spool);
    is_deeply(dprofstore($dir, @push), ["1 profile pushed\n", '', 0],
        'push leaves out a slice that a process still writes');
    is(left($dir), $name, 'the slice of a living process stays in the spool');
    close $held;
    is_deeply(dprofstore($dir, @push), ["1 profile pushed\n", '', 0],
        'push sends the slice of a process that has died');
    is_deeply([map { $_->{run} } selected($dir)], ['6b.1.1-7-0-1', '6b.1.1-7-0-2'],
        'the store has both slices of the process');
    is(left($dir), '', 'the slice of the dead process has left the spool');
    spew("$dir/spool/$name", '');
    is_deeply(dprofstore($dir, @push), ["0 profiles pushed, 1 refused\n", 'dprofstore: Not a perl '
        . "profile: spool/$name (it is empty); it is now spool/refused/$name\n", 1],
        'push moves an empty part aside');
    symlink '/etc/passwd', "$dir/spool/x.tree";
    is(dprofstore($dir, @push)->[0], "0 profiles pushed\n", 'push does not follow a symbolic link');
};

subtest 'Push moves a file that is no profile aside' => sub {
    my $dir = spool_of(2, @STORES);
    spew("$dir/spool/a.tree", "hello\n");
    my @told = ('Not a perl profile: spool/a.tree', '3 profiles');
    is_deeply(dprofstore($dir, qw(push --to dir:store spool)),
        ["2 profiles pushed, 1 refused\n", "dprofstore: $told[0]\n", 1],
            'push says that the file is no profile');
    ok(-e "$dir/spool/a.tree", 'push without --delete leaves the file in the spool');
    is_deeply(dprofstore($dir, qw(push --to dir:store --delete spool)),
        ["2 profiles pushed, 1 refused\n", "dprofstore: $told[0]; it is now spool/refused/a.tree\n",
            1], 'push --delete moves the file aside');
    is(left($dir), 'refused/a.tree refused/a.tree.why', 'the reason lies beside the refused file');
    is(slurp("$dir/spool/refused/a.tree.why"), "$told[0]\n", 'the file .why holds the message');
    is(slurp("$dir/spool/refused/a.tree"), "hello\n", 'the refused file keeps its contents');
};

subtest '--refused-limit bounds the folder refused' => sub {
    my $dir = spool_of(0, @STORES);
    mkdir "$dir/spool/refused";
    my @push = ('push', '--to', 'dir:store', '--delete', '--refused-limit');
    # By the time of their answers: c, a, b; d has none.
    my %age = (a => 200, b => 100, c => 300, d => 250);
    for my $name (sort keys %age) {
        my @files = (spew("$dir/spool/refused/$name.tree", 'x' x 400),
            $name eq 'd' ? () : spew("$dir/spool/refused/$name.tree.why", 'y' x 100));
        utime time - $age{$name}, time - $age{$name}, $files[-1];
    }
    spew("$dir/spool/refused/keep.txt", '');
    utime 1, 1, "$dir/spool/refused/keep.txt";
    mkdir "$dir/spool/refused/folder";
    symlink '../../store', "$dir/spool/refused/link";
    my $refused = sub {
        my ($limit, @names) = @_;
        spew("$dir/spool/$_.tree", 'hello') for @names;
        my $got = dprofstore($dir, @push, $limit, 'spool');
        return ((grep { !/it is now/ } split /\n/, $got->[1]), left($dir));
    };
    my $files = sub { join ' ', map { "refused/$_" } sort 'link/.dprofstore', @_ };
    my @with_why = map { ("$_.tree", "$_.tree.why") } qw(a b);
    my @new = ('e.tree', 'e.tree.why');
    is_deeply([$refused->('1G', 'e')], [$files->(qw(c.tree c.tree.why d.tree keep.txt), @with_why,
        @new)], 'push removes no refused profile below the limit');
    is_deeply([$refused->('1400', 'f')], ['dprofstore: spool/refused has reached --refused-limit '
        . '1400 bytes; the oldest profiles there are removed', $files->(@with_why, @new,
        'f.tree', 'f.tree.why')],
            'push removes the oldest profiles with their answers, and no link');
    is_deeply([$refused->('0', 'g', 'h')], ['dprofstore: spool/refused has reached --refused-limit '
        . '0 bytes; the oldest profiles there are removed', $files->('h.tree', 'h.tree.why')],
        'push keeps the last refused profile and prints the message once');
    ok(-d "$dir/store", 'push does not remove the folder behind a link');
    is_deeply([@{ dprofstore($dir, @push, '1x', 'spool') }[1, 2]], ['--refused-limit 1x: must be a '
        . "number of bytes, or like 100M\nTry 'dprofstore -h' for help.\n", 2],
            'a limit that is no number of bytes is an error');
};

subtest 'Push keeps the spool if the store fails' => sub {
    my $dir = spool_of(2, @STORES);
    my $left = left($dir);
    is_deeply(dprofstore($dir, qw(push --to dir:none --delete spool)), ["0 profiles pushed\n",
        "dprofstore: $dir/none does not exist: dprofstore init makes it one; what did not arrive "
            . "stays where it is\n", 1], 'push to a missing store fails and says how to make one');
    spew("$dir/store/web.pl", '');
    my $got = dprofstore($dir, qw(push --to dir:store --delete spool));
    is_deeply([@$got[0, 2]], ["0 profiles pushed\n", 1],
        "push fails if it cannot make the store's folder");
    like($got->[1],
        qr/\Adprofstore: \S+: the folder could not be made: [^;\n]+; what did not .*\n\z/,
        'push says in one line that the folder could not be made');
    is(left($dir), $left, 'all slices stay in the spool if push fails');
    unlink "$dir/store/web.pl";
    my $names = join '', map { my $n = $_ + 2; sprintf "& %x P n%s x.pm:1\n", $n,
        unpack 'H*', pack 'NNN', map { $n * 2_654_435_761 * $_ % 2**32 } 1 .. 3 } 1 .. 200;
    spew("$dir/spool/" . slice_name(slice => 3), slice_text(slice => 3, lines => $names));
    my $run = run_program(['sh', '-c', q{trap '' XFSZ; ulimit -f 1; exec "$@"}, 'sh',
        tool_command('dprofstore', qw(push --to dir:store --delete -q spool))], dir => $dir);
    is($run->{status}, 1, 'push fails on a full disk');
    like($run->{err}, qr/ could not be written: File too large; what did not arrive stays where/,
        'push says in one line that the store could not be written');
    ok(-e "$dir/spool/" . slice_name(slice => 3),
        'the slice that did not arrive stays in the spool');
    is(join(' ', grep { !/\.tree\.gz\z/ } files_in("$dir/store")), '.dprofstore',
        'a failed push leaves no partial file in the store');
    is(dprofstore($dir, qw(push --to dir:store --delete spool))->[2], 0,
        'push succeeds once the disk has room');
    is(scalar(my @all = selected($dir)), 3, 'the store has all slices after the second push');
};

subtest 'The slices of a recorded program merge into the whole recording' => sub {
    my $dir = spool_of(0, @STORES);
    my $text = 'sub f { my $x = 0; $x += $_ for 1 .. 9; g($x) } sub g { $_[0] + 1 } '
        . 'f() for 1 .. 2000; kill 9, $$ if @ARGV';
    my %env = (PERL_DPROF_CLOCK => 'counting:300000', PERL_DPROF_SLICE => 1,
        PERL_DPROF_SPOOL => 'spool', PERL_HASH_SEED => 0);
    for my $args ([], ['killed']) {
        profiled(['-e', $text, @$args], dir => $dir, env => \%env);
        my @files = map { "$dir/spool/$_" } grep { /\.(?:tree|part)\z/ } files_in("$dir/spool");
        cmp_ok(scalar @files, '>', 2, "@$args: the program records more than two slices");
        my $merged = merged_text(@files);
        my $got = dprofstore($dir, qw(push --to dir:store --service), "x@$args",
            qw(--delete spool));
        is_deeply($got, [@files . " profiles pushed\n", '', 0], "@$args: push sends all slices");
        is(left($dir), '', "@$args: push empties the spool");
        is(run_tool('dprofmerge', ['--from', 'dir:store', '--run-set', "service=x@$args"],
            dir => $dir)->{out}, $merged,
                "@$args: dprofmerge makes the same of the store's slices as of the spool's");
    }
};

# A store that does as the test says.
{
    package Stub;
    sub new { my ($class, %how) = @_; return bless { got => [], %how }, $class }
    sub add {
        my ($self, $profiles) = @_;
        $self->{calls}++;
        for my $p (@$profiles) {
            my $how = $self->{failure}->($p) or next;
            die Devel::DProf::Store::Failure->new(%$how);
        }
        push @{ $self->{got} }, map { $_->{run} } @$profiles;
        return;
    }
    package Receiver;
    sub new { my ($class, %how) = @_; return bless { got => [], %how }, $class }
    sub take {
        my ($self, $profile) = @_;
        die Devel::DProf::Store::Failure->new(message => 'busy', retry => 1)
            if $self->{room}-- < 1;
        push @{ $self->{got} }, $profile;
        return;
    }
}

sub pushed {
    my ($dir, $target, %how) = @_;
    my @said;
    my $done = Devel::DProf::Store::Push->new(target => $target, service => 'web', delete => 1,
        say => sub { push @said, $_[0] }, %how)->pass("$dir/spool");
    return { %$done, said => \@said, failure => $done->{failure} && $done->{failure}->message };
}

subtest 'Push moves a profile aside that the store refuses' => sub {
    my $dir = spool_of(5, @STORES);
    my $stub = Stub->new(failure => sub {
        $_[0]{run} =~ /-3\z/ ? { message => '400 Bad Request', answer => "no\nthree" } : undef });
    my $got = pushed($dir, $stub);
    my $name = slice_name(slice => 3);
    is_deeply($got, { sent => 4, refused => 1, failure => undef,
        said => ["400 Bad Request; it is now $dir/spool/refused/$name"] },
            'push sends four profiles and refuses one');
    is_deeply([sort @{ $stub->{got} }], [map { "6b.1.1-7-0-$_" } 1, 2, 4, 5],
        'the store gets the other four profiles');
    is(left($dir), "refused/$name refused/$name.why", 'only the refused profile is left');
    is(slurp("$dir/spool/refused/$name.why"), "400 Bad Request\nno\nthree\n",
        "the file .why holds the store's answer");
    add_slice($dir, $_) for 6 .. 8;
    $stub = Stub->new(failure => sub { { message => '503', retry => 1 } });
    is_deeply(pushed($dir, $stub), { sent => 0, refused => 0, failure => '503', said => [] },
        'push stops at a failure that may pass');
    is($stub->{calls}, 1, 'push tries a profile once after a failure that may pass');
    like(left($dir), qr/\Arefused\S+ \S+why (?:web\S+-[678]\.tree ?){3}\z/,
        'the profiles stay in the spool after a failure that may pass');
    $stub = Stub->new(failure => sub { undef });
    add_slice($dir, $_) for 10 .. 259;
    is(pushed($dir, $stub)->{sent}, 253, 'push sends 253 profiles');
    is($stub->{calls}, 3, 'push sends many profiles in three batches');
};

# A receiver would count again what it gets again. t/99-receivers.t sends to real classes.
subtest 'Push hands each profile to a receiver' => sub {
    my $dir = spool_of(3, @STORES);
    my $to = Receiver->new(room => 2);
    is_deeply(pushed($dir, $to, version => '1.2'),
        { sent => 2, refused => 0, failure => 'busy', said => [] },
            'push stops when the receiver is busy after two profiles');
    is(left($dir), slice_name(slice => 3), 'push removes the two profiles that the receiver took');
    my ($got, @more) = @{ $to->{got} };
    is(scalar @more, 1, 'the receiver got one profile after the first');
    is_deeply([@$got{qw(service version start seconds)}], ['web', '1.2', '1795348860.25', '60'],
        'a receiver gets service, version, start and length');
};

# ---- merging ----

sub merged_text {
    my @files = @_;
    my $out = scratch() . '/merged';
    in_process('dprofmerge', '-o', $out, @files);
    return slurp($out);
}

subtest 'Push --merge makes one profile of each interval' => sub {
    my $dir = spool_of(6, @STORES);
    # Two intervals of five minutes: the slices 1 to 4, 5 and 6. What a process did in its first two
    # minutes, which warm= leaves out, stays apart.
    my $whole = merged_text(map { "$dir/spool/" . slice_name(slice => $_) } 1, 2);
    is_deeply(dprofstore($dir, qw(push --to dir:store --service web --merge 5m --delete spool)),
        ["3 profiles pushed\n", '', 0],
            "push --merge stores three profiles: two intervals, and a process's first minutes "
                . 'apart');
    is(left($dir), '', 'push --merge empties the spool');
    my @all = selected($dir);
    is_deeply([map { "$_->{start} $_->{seconds}" } @all],
        ['1795348860.25 120', '1795348980.25 120', '1795349100.25 120'],
        'each merged profile has its start and its seconds');
    is_deeply([map { $_->{start} } Devel::DProf::Store::RunSet::warmed({}, 120, @all)],
        [1795348980.25, 1795349100.25], "warm= leaves out a process's first minutes");
    my ($path) = Devel::DProf::Store::open("dir:$dir/store")->fetch(\@all, $dir);
    is(gunzipped($path), $whole, 'push merges slices as dprofmerge does');
    add_slice($dir, $_, script => $_ < 3 ? 'a.pl' : 'b.pl') for 1 .. 4;
    dprofstore($dir, qw(push --to dir:two --merge 300 --delete spool));
    is_deeply([map { $_->{service} } Devel::DProf::Store::open("dir:$dir/two")->select({})],
        ['a.pl', 'b.pl'], 'push does not merge profiles of two services');
    add_slice($dir, 1);
    spew("$dir/spool/bad.tree", slice_text(slice => 2) =~ s/= 1 1 2/= x 1 2/r);
    is(dprofstore($dir, qw(push --to dir:three --merge 300 --delete spool))->[0],
        "1 profile pushed, 1 refused\n", 'push --merge leaves out a damaged slice');
    is(left($dir), 'refused/bad.tree refused/bad.tree.why',
        'push --merge moves the damaged slice aside');
    is(dprofstore($dir, qw(push --to dir:store --merge 300 spool))->[2], 2,
        '--merge without --delete is a usage error');
};

# Interrupts a push that merges after so many steps, and lets the next one go on; one more slice of
# the same interval has come meanwhile.
subtest 'A merge that is interrupted loses nothing' => sub {
    for my $step (1 .. 12) {
        my $dir = spool_of(3, @STORES);
        my ($n, $write, $remove, $add) = (0, \&Devel::DProf::Write::whole,
            \&Devel::DProf::Store::Spool::remove, \&Devel::DProf::Store::Dir::add);
        my $dies = sub {
            my ($code) = @_;
            return sub { die "killed\n" if ++$n >= $step; return $code->(@_) };
        };
        {
            require Devel::DProf::Store::Dir;
            no warnings 'redefine';
            local *Devel::DProf::Write::whole = $dies->($write);
            local *Devel::DProf::Store::Spool::remove = $dies->($remove);
            # The answer of a store is lost, too.
            local *Devel::DProf::Store::Dir::add = sub {
                my @got = $add->(@_);
                die "killed\n" if ++$n >= $step;
                return @got;
            };
            local *Devel::DProf::Store::Spool::move_aside = sub { die "killed\n" };
            eval { pushed($dir, Devel::DProf::Store::open("dir:$dir/store"), merge => 300) };
        }
        add_slice($dir, 4);
        my $done = pushed($dir, Devel::DProf::Store::open("dir:$dir/store"), merge => 300);
        my @all = selected($dir);
        my @paths = Devel::DProf::Store::open("dir:$dir/store")->fetch(\@all, $dir);
        my $sum = 0;
        for my $path (@paths) { $sum += $_ for gunzipped($path) =~ /^= 1 \w+ 2?\d* (\d+)/mg }
        is($sum, 40 * (1 + 2 + 3 + 4),
            "an interruption after step $step loses no call and counts none twice");
        is(left($dir), '',
            "the push after an interruption at step $step empties the spool") if !$done->{failure};
    }
};

subtest 'One push at a time works on a spool' => sub {
    my $dir = spool_of(2, @STORES);
    my $spool = Devel::DProf::Store::Spool->new("$dir/spool");
    ok($spool->lock, 'a process can lock a spool');
    is_deeply(dprofstore($dir, qw(push --to dir:store --delete spool)), ["0 profiles pushed\n",
        'dprofstore: spool: another dprofstore is using this spool; what did not arrive stays '
            . "where it is\n", 1], 'a push says that another one holds the spool');
    undef $spool;
    is(dprofstore($dir, qw(push --to dir:store --delete spool))->[2], 0,
        'a push succeeds after the lock is gone');
};

# ---- the agent ----

subtest 'The agent waits longer while the store fails' => sub {
    my $dir = spool_of(1, @STORES);
    my ($passes, @waits, @said, @sent) = (0);
    my $stub = Stub->new(failure => sub {
        $passes++ < 8 ? { message => 'no answer', retry => 1 } : undef });
    my $push = Devel::DProf::Store::Push->new(target => $stub, delete => 1,
        say => sub { push @said, $_[0] }, stop => sub { @waits >= 10 });
    $push->loop(10, sub { push @waits, $_[0] }, sub { push @sent, $_[0]{sent} }, "$dir/spool");
    is("@waits", '10 20 40 80 160 300 300 300 10 10',
        'the agent doubles its wait up to five minutes');
    is("@sent", '0 0 0 0 0 0 0 0 1 0', 'the profile arrives once');
    is_deeply(\@said, ['no answer; the profiles stay in the spool', 'sending works again'],
        'the agent says once that the store fails and once that it works');
};

subtest 'The agent merges intervals that are over' => sub {
    my $dir = spool_of(0, @STORES);
    my $now = time;
    my $past = $now - $now % 300 - 600;
    add_slice($dir, 1, start => $past);
    add_slice($dir, 2, start => $past + 60);
    add_slice($dir, 3, start => $now);
    is(pushed($dir, Stub->new(failure => sub { undef }), merge => 300, only_over => 1)->{sent}, 1,
        'the agent sends the interval that is over');
    is(left($dir), slice_name(slice => 3), 'the agent keeps the slice of the current interval');
};

subtest 'The agent ends on a signal' => sub {
    for my $signal (qw(TERM INT HUP)) {
        my $dir = spool_of(2, @STORES);
        my $pid = open(my $out, '-|') // die "fork: $!";
        if (!$pid) {
            chdir $dir or die "$dir: $!";
            delete @ENV{grep { /^DPROF/ } keys %ENV};
            exec tool_command('dprofstore', qw(agent --to dir:store --every 600 spool));
        }
        is(scalar readline($out), "2 profiles pushed\n",
            "$signal: the agent has pushed both slices");
        kill $signal, $pid;
        is(join('', readline $out), '', "$signal: the agent prints no second line");
        close $out;
        is($?, 0, "$signal: the agent exits with status 0");
        is(left($dir), '', "$signal: the agent leaves the spool empty");
    }
};

subtest 'Push --delete removes pieces that a slice contains' => sub {
    my $dir = spool_of(4, @STORES);
    my ($gone, $locked, $foreign, $open) = map { "$dir/spool/"
        . slice_name(slice => $_) =~ s/tree\z/part/r } 1 .. 4;
    spew("$_.live", pack 'H16', '03527044756e654c') for $gone, $locked, $open;
    spew("$foreign.live", 'notes');
    spew($open, '');
    my @locks = map { locked($_) } $open, $locked =~ s/part\z/tree/r;
    my @push = qw(push --to dir:store -q);
    is_deeply(dprofstore($dir, @push, 'spool'), ['', '', 0],
        'push without --delete says nothing about pieces');
    is_deeply([map { -e "$_.live" ? 1 : 0 } $gone, $locked, $foreign, $open], [1, 1, 1, 1],
        'push without --delete keeps all pieces');
    dprofstore($dir, @push, '--delete', 'spool');
    is_deeply([map { -e "$_.live" ? 1 : 0 } $gone, $locked, $foreign, $open], [0, 1, 1, 1],
        'push --delete removes a piece only if a slice has it and no process uses it');
};

subtest 'The command line is checked' => sub {
    my $dir = spool_of(1, @STORES);
    my @wrong = ([[], 'name a command: init, push, agent, list, prune'],
        [['pull'], 'unknown command pull; did you mean push?'],
        [['push', 'spool'], 'name the store: --to dir:PATH, or DPROF_STORE in the environment'],
        [['push', '--to', 'dir:x'], 'push: name spools, or profiles'],
        [['list', '--from', 'dir:x', '--delete'], '--delete does not go with list'],
        [['prune', '--from', 'dir:x'], "prune: say what to remove, as in 'older=30d'"],
        [['push', '--to', 'dir:x', '--merge', 'x', 'spool'],
            '--merge x: must be a number of seconds, or like 5m'],
        [['push', '--to', 'dir:x', '--label', '=1', 'spool'],
            '--label =1: must be KEY=VALUE']);
    for (@wrong) {
        my ($args, $message) = @$_;
        is_deeply(dprofstore($dir, @$args), ['', "$message\nTry 'dprofstore -h' for help.\n", 2],
            "dprofstore says: $message");
    }
    is_deeply(dprofstore($dir, 'list', '--from', 'ftp:x'),
        ['', 'dprofstore: ftp:x: a store is dir:PATH, clickhouse:http://HOST:8123/DATABASE, or one '
            . "that dprofstore -h lists\n",
            1], 'an unknown kind of store is an error that lists the kinds');
    is(dprofstore($dir, 'push', '--to', 'dir:x', 'none')->[1],
        "dprofstore: none: there is no such file; dprof run -- perl PROGRAM records one\n",
        'a missing spool is an error');
    like(dprofstore($dir, '-V')->[0], qr/\Adprofstore version: \d/, '-V prints the version');
    my $run = run_tool('dprofstore', ['init'], dir => $dir, env => { DPROF_STORE => 'dir:env' });
    is($run->{status}, 0, 'DPROF_STORE names the store');
    ok(-d "$dir/env", 'push makes the store that DPROF_STORE names');
    my $opts = sub { my $run = run_tool('dprofstore', [@_], dir => $dir, env => {
        DPROFSTORE_OPTS => '--to dir:env --service mine --every 1 -n -q' });
        return [@$run{qw(out err status)}] };
    is_deeply($opts->('push', 'spool'), ['', '', 0], 'push uses its options of DPROFSTORE_OPTS');
    like($opts->('list')->[0], qr/^mine +- +1 +1 /m, 'list uses its options of DPROFSTORE_OPTS');
    is_deeply($opts->('list', '-q'),
        ['', "-q does not go with list\nTry 'dprofstore -h' for help.\n", 2],
        'the command line refuses what DPROFSTORE_OPTS may hold');
};

done_testing;
