# Stores: run-sets and their words; a store that is a folder, which gives back what went in, however
# names look, and counts once what comes twice.
use strict;
use warnings;
use lib 't/lib';
use DProfTest;
use Slices;
use Test::More;
use Devel::DProf::Store qw(escaped unescaped);
use Devel::DProf::Store::Failure;
use Devel::DProf::Store::RunSet;

my $dir = scratch();
my $now = 1_795_348_800;       # 2026-11-22T12:00:00Z

sub parsed { return eval { Devel::DProf::Store::RunSet::parse($_[0], $now) } // $@ }

sub dies {
    my ($code) = @_;
    return eval { $code->(); 1 } ? 'it lives' : Devel::DProf::Store::Failure->of($@);
}

subtest 'The words of a run-set are parsed' => sub {
    is_deeply(parsed(@$_[0]), $_->[1], "the run-set `$_->[0]' is parsed") for
        ['', {}], [' service=web  version=1.* ', { service => 'web', version => '1.*' }],
        ['service="my web" env="a\\"b\\\\"', { service => 'my web', env => 'a"b\\' }],
        ['version=""', { version => '' }], ['limit=3', { limit => 3 }],
        ['since=90s until=5m', { since => $now - 90, until => $now - 300 }],
        ['older=7d at=1h', { older => $now - 7 * 86400, at => $now - 3600 }],
        ['since=2w', { since => $now - 14 * 86400 }], ['since=1.5h', { since => $now - 5400 }],
        ['since=2026-11-22T12:00:00Z', { since => $now }],
        ['since=2026-11-22T12:00Z until=2026-11-23Z', { since => $now, until => $now + 43200 }];
    local $ENV{TZ} = 'UTC-2';
    is_deeply(parsed('since=2026-11-22T14:00'), { since => $now },
        "a time without a zone is in the machine's zone");
    my $all = 'there are service, version, host, env, since, until, at, older, warm, limit';
    is(parsed($_->[0]), "$_->[1]\n", "the run-set `$_->[0]' gives a message") for
        ['web', "web: a run-set has words such as service=web; $all"],
        ['service=', "service: a run-set has words such as service=web; $all"],
        ['versoin=1', 'unknown condition versoin; did you mean version?'],
        ['web=1', "unknown condition web; $all"],
        ['env=a env=b', 'env is given twice'],
        ['limit=0', 'limit=0: must be a positive number'],
        ['since=yesterday', 'since=yesterday: must be a time, such as 90s, 5m, 1h, 7d (ago), or '
            . '2026-11-22, 2026-11-22T10:00, 2026-11-22T10:00:30Z'],
        ['until=2026-13-22', 'until=2026-13-22: must be a time, such as 90s, 5m, 1h, 7d (ago), or '
            . '2026-11-22, 2026-11-22T10:00, 2026-11-22T10:00:30Z'];
    my $form = 'a quote is not closed, or no blank follows it; write service="my shop"';
    is(parsed($_), "$_: $form\n", "`$_' shows how quotes are written") for
        'service="a b', 'service="a b"x', 'service="a', 'service="';
    is(parsed('limit=3 service="a b'), "service=\"a b: $form\n",
        'the message has the words from the quote on');
    is(parsed('=web'), "=web: a run-set has words such as service=web; $all\n",
        'a value without a key is an error');
};

subtest 'Globs match whole values' => sub {
    for (['web', 'web', 1], ['web', 'web2', 0], ['web', "web\n", 0], ['w*', "w\nx", 1],
        ['*', '', 1], ['?', '', 0], ['?', "\n", 1], ['1.*', '1.2', 1], ['1.*', '102', 0],
        ['[a-c]x', 'bx', 1], ['[!a-c]x', 'bx', 0], ['[^a-c]x', 'dx', 1], ['[]x]', ']', 1],
        ['[z-a]', 'm', 0], ['[!z-a]', 'm', 1], ['[', '[', 1], ['a\\*', 'a*', 1], ['a\\*', 'ab', 0],
        ['(?{die})', '(?{die})', 1], ['a|b', 'a', 0], ['$', '$', 1], ["\xc3\xa4", "\xc3\xa4", 1],
        ['a-b.c/d', 'a-b.c/d', 1], ['\\', '\\', 1], ['**', 'x', 1]) {
        my ($glob, $value, $is_in) = @$_;
        my $pattern = Devel::DProf::Store::RunSet::pattern($glob);
        is($value =~ $pattern ? 1 : 0, $is_in,
            "the glob $glob " . ($is_in ? 'matches ' : 'does not match ') . $value);
    }
};

subtest 'Any name becomes one element of a path' => sub {
    my @names = ('', '.', '..', '.x', 'a/b', "a\nb", '%', '%41', "\0", '-', 'web', 'a b', "\xff",
        join '', map { chr } 0 .. 255);
    for my $name (@names) {
        my $element = escaped($name);
        my $shown = $name =~ s/[^ -~]/?/gr;
        like($element, qr/\A(?![.])[-!-.0-~]+\z/,
            "the path of `$shown' is one element of printable characters");
        is(unescaped($element), $name, "the path of `$shown' gives the name back");
    }
    is(keys %{ { map { escaped($_) => 1 } @names } }, @names,
        'no two names become the same element');
};

is(dies(sub { Devel::DProf::Store::open('mysql:x') }),
    "mysql:x: a store is dir:PATH, clickhouse:http://HOST:8123/DATABASE, or one that dprofstore -h "
        . "lists\n",
        'an unknown scheme is an error that lists the stores');
like(dies(sub { Devel::DProf::Store::open('dir://user:secret@host/x') }),
    qr/\Aa store's URL holds no user and password: /, 'a password in a URL is refused');
{
    my $file = spew("$dir/password", "secret \r\nmore\n");
    local @ENV{qw(DPROF_STORE_USER DPROF_STORE_PASSWORD)} = ('me', 'other');
    is_deeply([Devel::DProf::Store::credentials()], ['me', 'other'],
        'the environment has the user and the password');
    local $ENV{DPROF_STORE_PASSWORD_FILE} = $file;
    is_deeply([Devel::DProf::Store::credentials()], ['me', 'secret '],
        'the password comes from a file');
    local $ENV{DPROF_STORE_PASSWORD_FILE} = "$dir/none";
    like(dies(sub { Devel::DProf::Store::credentials() })->message,
        qr/\ADPROF_STORE_PASSWORD_FILE: \S+ cannot be read: /,
            'a missing file of a password is an error');
}

# ---- the folder ----

my $store = Devel::DProf::Store::open("dir:$dir/store/deep/");
for my $does (sub { $store->select({}) }, sub { $store->add([]) }, sub { $store->prune({}) }) {
    my $failure = dies($does);
    is($failure, "$dir/store/deep does not exist: dprofstore init makes it one\n",
        'a store that does not exist is an error that names dprofstore init');
    is($failure->retry, 1, 'a push to a store that does not exist is tried again');
}
is_deeply([$store->init], ["$dir/store/deep was made"], 'init makes the folder');
is_deeply([$store->init], ["$dir/store/deep is a store"], 'init can be repeated');
{
    mkdir "$dir/empty";
    my $empty = Devel::DProf::Store::open("dir:$dir/empty");
    is(dies(sub { $empty->add([]) }), "$dir/empty is no store: dprofstore init makes it one\n",
        'a folder that init has not made is no store');
    is_deeply([$empty->init], ["$dir/empty was there, and is a store now"],
        'init makes a store of an existing folder');
}

my $count = 0;
sub profile {
    my %more = @_;
    my $n = ++$count;
    my %p = (run => "6b.$n.1-7-0-1", service => 'web', version => '1.2', host => 'web-1',
        env => 'prod', start => $now + 60 * $n + 0.25, seconds => 60, %more);
    $p{file} //= spew("$dir/file$n", slice_text(run => "6b.$n.1", n => $n));
    return \%p;
}

# What select must return of what went in.
sub told { return map { my %p = %$_; delete @p{qw(file path)}; \%p } @_ }

subtest 'A store returns the profiles that were added' => sub {
    my @all = (profile(), profile(version => '1.3'), profile(service => 'api', host => 'a'));
    push @all, profile(service => $_, version => $_, host => $_, env => $_) for '', '.', '..',
        '../../../x', "a\nb", '-', 'a-7-0-1', '%2F', "\xff\0", '*', 'x' x 60, "%\\'\"; DROP";
    push @all, map { profile(start => $_) } 1795391884.21484, 1795391884.999999;
    $store->add(\@all);
    my @selected = $store->select({});
    is_deeply([told(@selected)], [told(@all)], 'select returns all that is known of each profile');
    my @paths = $store->fetch(\@selected, $dir);
    is(scalar(grep { gunzipped($paths[$_]) ne slurp($all[$_]{file}) } 0 .. $#all), 0,
        'the store keeps the bytes of each file');
    is_deeply([grep { m{\A/|(?:\A|/)\.} } files_in("$dir/store/deep")], ['.dprofstore'],
        'no name of a profile begins with a dot');
    is_deeply([sort(files_in($dir))], [sort((map { "file$_" } 1 .. $count), 'password',
        'empty/.dprofstore', map { "store/deep/$_" } files_in("$dir/store/deep"))],
        'the store writes nothing outside of its folder');
    my %names = map { $_->{service} => 1 } @all;
    for my $name (sort keys %names) {
        my $set = { map { $_ => $name =~ s/([\\*?\[])/\\$1/gr } qw(service version) };
        is(scalar($store->select($set)), scalar(grep { $_->{service} eq $name
            && $_->{version} eq $name } @all),
                'select finds a profile by its name: ' . ($name =~ s/[^ -~]/?/gr));
    }
    my @before = files_in("$dir/store");
    $store->add(\@all);
    is_deeply([files_in("$dir/store")], \@before, 'a profile that is added twice is stored once');
    $store->add([{ %{ $all[0] }, version => 'mistaken' }]);
    is(scalar(my @once = $store->select({ service => 'web' })), 4,
        'a profile that is added under another version counts once');
    is($store->prune({ version => 'mistaken' }), 1,
        'prune removes the profile of the mistaken version');
    is_deeply([files_in("$dir/store")], \@before, 'prune removes nothing else');
    ok(!-e "$dir/store/deep/web/mistaken", 'prune removes the folders of the mistaken version');
};

subtest 'Conditions select profiles' => sub {
    my $store = Devel::DProf::Store::open("dir:$dir/conditions");
    $store->init;
    my @all = map { profile(start => $now + $_ * 3600, version => "1.$_", host => 'h' . $_ % 2,
        env => $_ < 3 ? 'prod' : 'test', run => "6b.$_.2-7-0-1") } 0 .. 5;
    $store->add(\@all);
    my $hours = sub {
        my ($text) = @_;
        my $set = Devel::DProf::Store::RunSet::parse($text, $now + 6 * 3600);
        return join ' ', map { ($_->{start} - $now) / 3600 } $store->select($set);
    };
    is($hours->($_->[0]), $_->[1],
        "the condition '$_->[0]' selects its profiles")
        for ['', '0 1 2 3 4 5'], ['host=h1', '1 3 5'],
        ['since=2h', '4 5'], ['until=2h', '0 1 2 3'], ['older=4h', '0 1'],
        ['since=5h until=3h', '1 2'], ['env=prod', '0 1 2'], ['limit=2', '4 5'],
        ['host=h0 limit=1', '4'], ['version=1.[0-2] host=h0', '0 2'], ['service=api', ''],
        ['at=2026-11-22T13:00:59Z', '1'], ['at=2026-11-22T13:01:00Z', ''],
        ['since=2026-11-22T16:00Z', '4 5'], ['since=2027-01-01Z', ''];
    is_deeply([$store->list({ host => 'h1' })], [map { { service => 'web', version => "1.$_",
        hosts => 1, runs => 1, first => $now + 3600 * $_, last => $now + 3600 * $_ } } 1, 3, 5],
        'list has one row for each version');
    is($store->prune(Devel::DProf::Store::RunSet::parse('older=4h', $now + 6 * 3600)), 2,
        'prune removes the profiles older than four hours');
    is($hours->(''), '2 3 4 5', 'prune keeps the younger profiles');
    my $folder = "$dir/conditions/web/1.2/20261122";
    my ($new, $old) = map { spew("$folder/140000-x.tree.gz.$_.new", 'half') } 'a' x 16, 'b' x 16;
    utime 0, 0, $old;
    is($store->prune({ version => '1.2' }), 1, 'prune removes the profile of one version');
    ok(!-e $old, 'prune removes the old partial file of a push that was killed');
    ok(-e $new, 'prune keeps the new partial file of another push');
    $store->add([map { { %$_, service => 'copy' } } @all[3 .. 5]]);
    is($store->prune({ limit => 2 }), 2,
        'prune removes the two latest profiles, each of which is stored twice');
    is($hours->(''), '3', 'prune removes both copies of a profile');
    is($store->prune({}), 1, 'prune counts the copies of a profile as one');
};

subtest 'A store accepts any kind of profile' => sub {
    my $store = Devel::DProf::Store::open("dir:$dir/any");
    $store->init;
    my $trace = data('ours.out');
    $store->add([profile(file => $trace)]);
    my ($path) = $store->fetch([$store->select({})], $dir);
    my $text = in_process('dprofmerge', '-o', "$dir/merged", $trace);
    is(gunzipped($path), slurp("$dir/merged"),
        'a trace becomes the tree that dprofmerge makes of it');
    my $failure = dies(sub { $store->add([profile(file => spew("$dir/text", "hello\n"))]) });
    is($failure->message, "Not a perl profile: $dir/text", 'a text that is no profile is an error');
    is($failure->retry, 0, 'a text that is no profile is not tried again');
    is(scalar(my @all = $store->select({})), 1, 'the store keeps the trace alone');
    my $bad = slice_text() =~ s/= 1 1 2/= x 1 2/r;
    is(dies(sub { $store->add([profile(file => spew("$dir/bad", $bad))]) })->retry, 0,
        'a damaged tree is not tried again');
};

subtest 'A stored profile is on the disk before its original may go' => sub {
    my @synced;
    no warnings qw(redefine once);
    local *IO::Handle::sync = sub { push @synced, -s $_[0]; return 1 };
    $store->add([profile(service => 'synced')]);
    my ($path) = $store->fetch([$store->select({ service => 'synced' })]);
    is_deeply(\@synced, [-s $path], 'the store syncs all bytes of a profile');
};

subtest 'A store that cannot be written gives a message' => sub {
    my $file = spew("$dir/plain", '');
    my $failure = dies(sub { Devel::DProf::Store::open("dir:$file/x")->init });
    like($failure->message, qr/\A\Q$file\E\/x\S*: the folder could not be made: /,
        'init says that the folder could not be made');
    is($failure->retry, 1, 'a push to a store that cannot be written is tried again');
    spew("$dir/store/deep/blocked", '');
    $failure = dies(sub { $store->add([profile(service => 'blocked')]) });
    like($failure->message, qr/\/blocked\S*: the folder could not be made: /,
        'a file in place of a folder is an error');
    is($failure->retry, 1, 'a push that met a file in place of a folder is tried again');
    unlink "$dir/store/deep/blocked";
    is(dies(sub { $store->add([profile(service => 'x' x 300)]) })->retry, 0,
        'a name too long for a folder is refused for good');
    is(dies(sub { $store->add([profile(run => '../x')]) })->retry, 0,
        'an identity that leaves the store is refused for good');
};

subtest 'Four processes can add the same profiles at the same time' => sub {
    my @all = map { profile(service => 'both') } 1 .. 20;
    my @pids = map {
        my $pid = fork // die "fork: $!";
        if (!$pid) {
            eval { $store->add(\@all); 1 } or POSIX::_exit(1);
            POSIX::_exit(0);
        }
        $pid;
    } 1 .. 4;
    is(join(' ', map { waitpid $_, 0; $? } @pids), '0 0 0 0', 'all four processes succeed');
    my @selected = $store->select({ service => 'both' });
    is_deeply([told(@selected)], [told(@all)], 'each profile is stored once');
    is(scalar(grep { /\.new\z/ } files_in("$dir/store")), 0, 'no partial file is left');
};

done_testing;
