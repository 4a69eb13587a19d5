# Spools where others can make names: links, FIFOs, folders and files of others, at every name that
# a tool opens there. Nothing outside of the spool is read, written or removed, nobody waits, and
# what is good arrives. As root, another user plants them; else this user does.
use strict;
use warnings;
use lib 't/lib';
use DProfTest;
use Fcntl qw(LOCK_EX);
use POSIX ();
use Slices;
use Test::More;
use Devel::DProf::Dir;
use Devel::DProf::Store;

use constant OTHER => 65_534;

my $IS_ROOT = $> == 0;
# What hangs is a failure, too.
alarm 300;

# Runs code as another user if we are root; dies if the code does.
sub as_other {
    my ($code) = @_;
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        if ($IS_ROOT) {
            $) = OTHER . ' ' . OTHER;
            POSIX::setgid(OTHER);
            POSIX::setuid(OTHER);
        }
        my $good = eval { $code->(); 1 };
        print {*STDERR} "# $@" if !$good;
        POSIX::_exit($good ? 0 : 1);
    }
    waitpid $pid, 0;
    return $? == 0;
}

sub can_be_other {
    return 1 if !$IS_ROOT;
    my $dir = scratch();
    chmod 0755, $dir =~ s{/[^/]+\z}{}r;
    chmod 01777, $dir;
    return as_other(sub { open my $out, '>', "$dir/x" or die "$!\n" });
}

# The names and contents below a folder.
sub contents {
    my ($dir) = @_;
    return { map { my $is = -l "$dir/$_" ? 'link' : -f _ ? slurp("$dir/$_") : 'special';
        ($_ => $is) } files_in($dir) };
}

sub dprofstore {
    my ($dir, @args) = @_;
    my $run = run_tool('dprofstore', \@args, dir => $dir);
    return [@$run{qw(out err status)}];
}

sub stored { return join ' ', sort map { $_->{run} } Devel::DProf::Store::open("dir:$_[0]")
    ->select({}) }

# ---- the recorder ----

my $CALLS = 'sub g { 1 } sub f { g() for 1 .. 10 } f() for 1 .. 300; ';
my %SLICE = (PERL_DPROF_CLOCK => 'counting:300000', PERL_HASH_SEED => 0);

sub recorded {
    my ($dir, $program, @options) = @_;
    return run_perl(['-I' . DProfTest::tree(), @options, '-e', $program], dir => $dir,
        env => \%SLICE);
}

subtest 'The default spool is no link of another user' => sub {
    my $private = scratch();
    my %plant = (
        'a link to a folder' => [sub { symlink $private, $_[0] }, 'is a symbolic link'],
        'a link to nothing' => [sub { symlink "$private/new", $_[0] }, 'is a symbolic link'],
        'a FIFO' => [sub { POSIX::mkfifo($_[0], 0600) }, 'is no directory'],
        'a file' => [sub { spew($_[0], '') }, 'is no directory'],
        $IS_ROOT ? ("another user's folder" => [sub { mkdir $_[0]; chown OTHER, OTHER, $_[0] },
            "is another user's"]) : (),
    );
    for my $what (sort keys %plant) {
        my ($code, $why) = @{ $plant{$what} };
        my $dir = scratch();
        $code->("$dir/tmon.spool");
        my $run = recorded($dir, $CALLS . 'print 1', '-d:DProf=slice=1');
        is("$run->{out}$run->{err}", "DProf: $run->{dir}/tmon.spool $why; name another one with "
            . "spool=DIR or PERL_DPROF_SPOOL\nBEGIN failed--compilation aborted.\n",
                "$what is no default spool");
    }
    is_deeply(contents($private), {}, 'links in place of the default spool lead to no file');
    my $dir = scratch();
    symlink $private, "$dir/named";
    recorded($dir, $CALLS, '-d:DProf=slice=1,spool=named');
    cmp_ok(scalar(my @all = files_in($private)), '>', 2,
        'a spool that the user names may be a link');
    unlink map { "$private/$_" } @all;
    # It is taken away between two slices, and something else has its name.
    my $run = recorded($dir, "$CALLS rename 'tmon.spool', 'taken'; "
        . "symlink '$private', 'tmon.spool'; f() for 1 .. 300; print 7;", '-d:DProf=slice=1');
    is($run->{out}, 7, 'the program runs on if its spool becomes a link');
    like($run->{err}, qr{\ADProf: \S.*; the slice goes on\n\z},
        'one line says that the spool has become a link');
    is_deeply(contents($private), {}, 'the target of a later link gets no file');
};

# Who reads a slice knows the names of the next ones.
subtest 'Planted names of slices do no harm' => sub {
    my %plant = (
        link => q{symlink "$victim/secret", $_}, dangling => q{symlink "$victim/new", $_},
        hard => q{link "$victim/secret", $_}, FIFO => q{POSIX::mkfifo($_, 0600)},
        folder => q{mkdir $_}, file => q{open my $f, '>', $_; print $f "notes\n"},
    );
    my ($wrong, $slices) = (0, 0);
    for my $kind (sort keys %plant) {
        for my $suffix (qw(part part.live part.new tree)) {
            my ($dir, $victim) = (scratch(), scratch());
            spew("$victim/secret", "secret\n");
            my $run = recorded($dir, "use POSIX (); my \$victim = '$victim'; $CALLS"
                . 'my ($stem, $n) = (glob("spool/*.part"))[0] =~ /(.*-)(\d+)\.part\z/; '
                . "for (map { \$stem . \$_ . '.$suffix' } \$n + 1 .. \$n + 3) { $plant{$kind} } "
                . 'f() for 1 .. 300; print 7;', '-d:DProf=slice=1,spool=spool');
            my @slices = grep { /\.tree\z/ && -f "$dir/spool/$_" } files_in("$dir/spool");
            $slices += @slices > 3;
            my @bad = ($run->{out} ne '7' || $run->{raw} ? 'the program has noticed' : (),
                $run->{err} =~ /\A(?:DProf: [^\n]+\n)?\z/ ? () : $run->{err},
                eq_hash(contents($victim), { secret => "secret\n" }) ? () : 'elsewhere');
            $wrong++, diag("$kind at .$suffix: @bad") if @bad;
        }
    }
    is($wrong, 0, 'no program notices planted names, and no file elsewhere changes');
    cmp_ok($slices, '>', 12, 'slices are written beside planted names');
};

subtest "Programs under -T ignore the environment's spool" => sub {
    my %environment = (PERL_DPROF_SLICE => 1, PERL_DPROF_SPOOL_LIMIT => 1);
    for my $name (sort keys %environment) {
        my $dir = scratch();
        my $run = run_perl(['-I' . DProfTest::tree(), '-T', '-d:DProf=tree', '-e', 1], dir => $dir,
            env => { %SLICE, $name => $environment{$name}, PERL_DPROF_SPOOL => "$dir/spool" });
        is($run->{err}, '', "$name, PERL_DPROF_SPOOL: the program runs without a message");
        is(join(' ', files_in($dir)), 'tmon.out',
            "$name, PERL_DPROF_SPOOL: the program leaves no slice");
    }
    my $dir = scratch();
    run_perl(['-I' . DProfTest::tree(), '-T', '-d:DProf=slice=60', '-e', 1], dir => $dir);
    is(scalar(() = files_in("$dir/tmon.spool")), 1, 'slice= in the option list works under -T');
};

# ---- dprofstore ----

# A shared spool with good slices of root's (or this user's), a store, and what must not be touched.
sub shared {
    my $dir = spool_of(3, 'store');
    chmod 0755, $dir;
    chmod 01777, "$dir/spool";
    mkdir "$dir/victim", 0700 or die $!;
    spew("$dir/victim/important$_.db", 'x' x 5000) for 1 .. 3;
    spew("$dir/victim/secret.out", slice_text(run => '77.7.7', slice => 7));
    chmod 0600, map { "$dir/victim/$_" } files_in("$dir/victim");
    return $dir;
}

my $GOOD = join ' ', map { "6b.1.1-7-0-$_" } 1 .. 3;
my @PUSH = qw(push --to dir:store --delete --refused-limit 100 spool);

plan_skip() if !can_be_other();
sub plan_skip {
    pass('root cannot be user ' . OTHER . ' here, so the rest is not tried');
    done_testing;
    exit 0;
}

subtest 'A link in place of the folder refused is not followed' => sub {
    my $dir = shared();
    my $before = contents("$dir/victim");
    ok(as_other(sub {
        symlink "$dir/victim", "$dir/spool/refused" or die "$!\n";
        spew("$dir/spool/evil.tree", "* * * * * root id\n");
        spew("$dir/spool/evil2.tree", "* * * * * root id\n");
    }), 'another user can plant a link named refused');
    spew("$dir/spool/junk.tree", "no profile\n");
    my $got = dprofstore($dir, @PUSH);
    is($got->[2], 1, 'the push fails if refused is a link');
    like($got->[1], qr{^dprofstore: spool/refused is a symbolic link; remove it$}m,
        'the push says that refused is a link');
    is_deeply(contents("$dir/victim"), $before, 'the target of the link stays as it was');
    is(stored("$dir/store"), $GOOD, 'the push sends the other profiles');
};

subtest "Another user's list of merged slices has no effect" => sub {
    plan skip_all => 'needs root' if !$IS_ROOT;
    my $dir = shared();
    my $before = contents("$dir/victim");
    spew("$dir/spool/other.tree", slice_text(slice => 9));
    ok(as_other(sub {
        symlink "$dir/victim/secret.out", "$dir/spool/merged.x-1-0-0.tree" or die "$!\n";
        spew("$dir/spool/.merged.x.merged", "merged.x-1-0-0 1795348800 60 app\nother.tree\n");
        spew("$dir/spool/.merged.y.merged", "merged.y-1-0-0 1795348800 60 app\nother.tree\n");
        spew("$dir/spool/merged.y-1-0-0.tree", slice_text(slice => 8));
    }), 'another user can plant a list of merged slices');
    my $got = dprofstore($dir, @PUSH);
    is_deeply($got, ["4 profiles pushed\n", 'dprofstore: spool: 1 slice of other users stays '
        . "there; --users names those whose slices are taken\n", 0],
            'the push does not use the planted list');
    is(stored("$dir/store"), "$GOOD 6b.1.1-7-0-9", 'all slices arrive, and no secret file');
    is_deeply(contents("$dir/victim"), $before, 'the push removes no other file');
};

subtest 'A planted lock is refused' => sub {
    my %plant = (
        'a link' => [sub { symlink '../victim/new', $_[0] }, 'is a symbolic link'],
        'a FIFO' => [sub { POSIX::mkfifo($_[0], 0666) }, 'is no regular file'],
        $IS_ROOT ? ("another user's" => [sub { spew($_[0], '') }, "is another user's"]) : (),
    );
    for my $what (sort keys %plant) {
        my ($code, $why) = @{ $plant{$what} };
        my $dir = shared();
        as_other(sub { $code->("$dir/spool/.lock") });
        is_deeply(dprofstore($dir, @PUSH), ["0 profiles pushed\n",
            "dprofstore: spool/.lock $why; remove it; what did not arrive stays where it is\n", 1],
            "dprofstore refuses $what as a lock");
        ok(!-e "$dir/victim/new", 'dprofstore makes no file behind a lock that is a link');
    }
    my $dir = shared();
    spew("$dir/spool/.lock", '');
    chmod 0644, "$dir/spool/.lock";
    dprofstore($dir, @PUSH);
    is((stat "$dir/spool/.lock")[2] & 0777, 0600,
        'the mode of a lock keeps other users from locking it');
};

subtest 'Slices of other users wait for --users' => sub {
    plan skip_all => 'needs root' if !$IS_ROOT;
    my $dir = shared();
    as_other(sub { spew("$dir/spool/" . slice_name(slice => 5), slice_text(slice => 5)) });
    my $line = 'dprofstore: spool: 1 slice of other users stays there; --users names those whose '
        . "slices are taken\n";
    is_deeply(dprofstore($dir, @PUSH), ["3 profiles pushed\n", $line, 0],
        'push leaves the slices of other users with a line');
    is_deeply(dprofstore($dir, @PUSH, '--users', 1), ["0 profiles pushed\n", $line, 0],
        'push leaves the slices of users that --users does not name');
    is_deeply(dprofstore($dir, @PUSH, '--users', '1,' . OTHER), ["1 profile pushed\n", '', 0],
        'push sends the slices of users that --users names');
    is(stored("$dir/store"), "$GOOD 6b.1.1-7-0-5", 'the store has all slices');
    is(dprofstore($dir, @PUSH, '--users', 'no such one')->[2], 2,
        'an unknown user of --users is a usage error');
};

# ---- at random ----

my @NAMES = ('.lock', 'refused', 'refused/web.tree', 'refused/junk.tree', 'refused/junk.tree.why',
    'a.tree', 'a.tree.gz', 'a.part', 'a.part.live', 'a.part.new', 'b.tree', 'b.part.live',
    '.merged.m.merged', 'merged.m-1-0-0.tree', 'merged.m-1-0-0.tree.00.new',
    '.merged.m-1-0-0.merged.00.new');
my @KINDS = (
    [link => sub { symlink "$_[1]/victim/secret.out", $_[0] }],
    [link_to_folder => sub { symlink "$_[1]/victim", $_[0] }],
    [dangling => sub { symlink "$_[1]/victim/new", $_[0] }],
    [hard => sub { link "$_[1]/victim/secret.out", $_[0] }],
    [fifo => sub { POSIX::mkfifo($_[0], 0666) }],
    [folder => sub { mkdir $_[0]; chmod 0777, $_[0] }],
    [foreign => sub { spew($_[0], slice_text(run => '66.6.6')) if $IS_ROOT }],
    [list => sub { spew($_[0], join "\n", 'merged.m-1-0-0 1795348800 60 app',
        map({ slice_name(slice => $_) } 1 .. 3), '../victim/secret.out', '') if $IS_ROOT }],
);

my $rounds = $ENV{EXTENDED_TESTING} ? 100 : 25;
srand(my $seed = $ENV{DPROF_SEED} // 1);
my ($wrong, $arrived) = (0, 0);
for my $round (1 .. $rounds) {
    my $dir = shared();
    my $before = contents("$dir/victim");
    my @planted;
    for my $name (grep { rand() < 0.35 } @NAMES) {
        my ($kind, $code) = @{ $KINDS[ rand @KINDS ] };
        push @planted, "$name: $kind";
        # Where the folder is not there, or not the planter's, nothing is planted.
        as_other(sub { eval { $code->("$dir/spool/$name", $dir) } });
    }
    spew("$dir/spool/junk.tree", "no profile\n") if rand() < 0.5;
    my @more = rand() < 0.5 ? ('--merge', 300) : ();
    dprofstore($dir, @PUSH, @more) for 1 .. 2;
    my $is_there = join "\n", map { gunzipped("$dir/store/$_") // '' }
        grep { /gz\z/ } files_in("$dir/store");
    my %left = map { $_ => 1 } files_in("$dir/spool");
    # A slice has arrived, by itself or merged, or is still there.
    my $sum = 0;
    $sum += $_ for $is_there =~ /^= 1 \w+ 2?\d* (\d+)/mg;
    $sum += 40 * $_ for grep { $left{ slice_name(slice => $_) } } 1 .. 3;
    my @bad = (grep { $_ } $is_there =~ /77\.7\.7/ ? 'a secret is in the store' : '',
        $is_there =~ /66\.6\.6/ ? "another user's profile is in the store" : '',
        $sum != 40 * 6 ? "slices are lost or count twice: $sum" : '');
    push @bad, 'what is elsewhere has changed' if !eq_hash(contents("$dir/victim"), $before);
    $wrong++, diag("seed $seed, round $round: @planted: @bad") if @bad;
    $arrived++ if $is_there =~ /6b\.1\.1/;
}
is($wrong, 0, 'no planted name changes a file elsewhere');
cmp_ok($arrived, '>', $rounds / 3, 'profiles arrive among planted names');

done_testing;
