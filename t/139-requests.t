# Requests of a server, counted by name: how many there were, how many were kept, and how long they
# took, against a plain list of their times. With the counting clock each time is known. No server
# is needed.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Glob ':bsd_glob';
use Compress::Zlib ();
use JSON::PP ();
use MIME::Base64 ();
use Test::More;
use DProfTest;
use Devel::DProf::Profile;
use Devel::DProf::Requests;

use constant NEAR => 0.04;      # a quantile is the middle of a bucket of a sixteenth

my %TREE = (counting(), PERL_DPROF_MODE => 'tree');

# The program calls request(NAME, MS), which advances the clock by so many milliseconds.
my $PROGRAM = <<'END';
use strict; use warnings;
use Devel::DProf::Requests ();
use Devel::DProf::Control ();
our $REQUESTS;
sub wait_for { my ($ms) = @_;
    Devel::DProf::_advance($ms * 1_000_000, 0) if defined Devel::DProf::Control::phase(); return }
sub request { my ($name, $ms) = @_;
    my $request = $REQUESTS->begin($name); my $section = $request->section; wait_for($ms);
    undef $section; $request->end; return }
END

# Runs the program plain and recorded, and returns the name of the profile.
sub record {
    my ($what, $program, %env) = @_;
    my $dir = scratch();
    my $file = spew("$dir/p.pl", $PROGRAM . $program);
    my @with = ('-I' . root() . '/blib/lib', $file);
    my $plain = plain([@with], env => { PERL5LIB => tree() });
    my $run = profiled([@with], dir => $dir, env => { %TREE, PERL_DPROF_OUT => "$dir/out", %env });
    is("$plain->{err}$plain->{raw}", 0, "$what: the program runs without the profiler");
    same_as_plain($plain, $run, "$what: the program does the same with the profiler");
    return "$dir/out";
}

# Returns the requests in files, by name.
sub requests_in {
    my (@files) = @_;
    my $profile = Devel::DProf::Profile->new;
    $profile->add($_) for @files;
    my %of;
    for my $one ($profile->requests) {
        my ($name, @numbers) = @$one;
        @{ $of{$name} }{qw(seen kept sum p50 p95 longest)} = @numbers;
    }
    return \%of;
}

# Checks counts and times against a list of milliseconds. The recorder's own readings of the clock
# add microseconds.
sub is_like {
    my ($got, $kept, $what, @ms) = @_;
    my @sorted = sort { $a <=> $b } @ms;
    my $sum = 0;
    $sum += $_ for @ms;
    is_deeply([@$got{qw(seen kept)}], [scalar @ms, $kept], "$what: numbers of requests");
    my %want = (sum => $sum, longest => $sorted[-1],
        p50 => $sorted[ int(0.5 * @ms + 0.9999) - 1 ],
        p95 => $sorted[ int(0.95 * @ms + 0.9999) - 1 ]);
    for my $name (sort keys %want) {
        my $ms = $got->{$name} / 1e6;
        my $near = $name =~ /^p/ ? NEAR * $want{$name} + 0.1 : 0.2 * @ms;
        ok(abs($ms - $want{$name}) <= $near, "$what: $name")
            or diag "$ms, and not $want{$name}";
    }
    return;
}

# Returns the data of a page as text.
sub text_of {
    my ($page) = @_;
    my ($packed) = slurp($page) =~ m{id="dprof-data">([^<]*)</script>};
    return Compress::Zlib::memGunzip(MIME::Base64::decode_base64($packed // '')) // 'no data';
}

my $MANY = 'my $n = 7; for (1 .. 300) { $n = ($n * 7919 + 13) % 1009;'
    . ' request($n % 3 ? "GET /a b" : "GET /%c", 1 + $n % 400) }';

sub many {
    my ($n, %ms) = (7);
    for (1 .. 300) {
        $n = ($n * 7919 + 13) % 1009;
        push @{ $ms{ $n % 3 ? 'GET /a b' : 'GET /%c' } }, 1 + $n % 400;
    }
    return \%ms;
}

subtest 'Times of requests are those of a plain list' => sub {
    for my $mode (qw(tree trace)) {
        my $out = record($mode, '$REQUESTS = Devel::DProf::Requests->new;' . $MANY,
            PERL_DPROF_MODE => $mode);
        my $got = requests_in($out);
        my $want = many();
        is(join('|', sort keys %$got), join('|', sort keys %$want), "$mode: the names of requests");
        is_like($got->{$_}, scalar @{ $want->{$_} }, "$mode: $_", @{ $want->{$_} })
            for sort keys %$want;
        like(slurp($out), qr/\n# end /, "$mode: the file has its end");
        next if $mode eq 'trace';
        run_tool('dprofmerge', ['-o', "$out.sum", $out, $out]);
        is_like(requests_in("$out.sum")->{$_}, 2 * @{ $want->{$_} }, "the sum of two files: $_",
            (@{ $want->{$_} }) x 2) for sort keys %$want;
    }
};

subtest 'Requests that are not recorded are counted' => sub {
    my $want = many();
    my $out = record('slower',
        '$REQUESTS = Devel::DProf::Requests->new(slower => 0.2505);' . $MANY);
    my $got = requests_in($out);
    is_like($got->{$_}, scalar(grep { $_ > 250 } @{ $want->{$_} }), "slower: $_", @{ $want->{$_} })
        for sort keys %$want;
    $out = record('none is slow enough', '$REQUESTS = Devel::DProf::Requests->new(slower => 9);'
        . 'request("GET /a", $_) for 1 .. 10;', PERL_DPROF_START => 'no');
    is_like(requests_in($out)->{'GET /a'}, 0, 'none is slow enough', 1 .. 10);
    my $report = run_tool('dprofreport', [$out]);
    like($report->{out}, qr/^Requests: 10 seen, 0 kept; --requests shows how long they took$/m,
        'a report says that no request was kept');
    $out = record('every', '$REQUESTS = Devel::DProf::Requests->new(every => 4);'
        . 'request("GET /a", $_) for 1 .. 10;');
    is_like(requests_in($out)->{'GET /a'}, 3, 'every', 1 .. 10);
    $out = record('stopped', '$REQUESTS = Devel::DProf::Requests->new;'
        . 'request("a", 1); Devel::DProf::Control::stop(); request("a", 2) for 1 .. 3;');
    is_like(requests_in($out)->{a}, 1, 'a recording that is stopped', 1, 2, 2, 2);
};

subtest 'Each process counts its own requests' => sub {
    my $out = record('forked workers', <<'END');
$REQUESTS = Devel::DProf::Requests->new;
my $open = $REQUESTS->begin('open'); my $section = $open->section; wait_for(5);
for my $n (1 .. 2) { if (!fork) { request('worker', $n); undef $section; $open->end; exit 0 } wait }
request('parent', 3); undef $section; $open->end;
END
    my %of = map { $_ => requests_in($_) } grep { !/\.live\z/ } bsd_glob("$out*");
    is_deeply([sort keys %{ delete $of{$out} }], ['open', 'parent'],
        'the parent has the requests that it has ended');
    is_deeply([map { join ' ', keys %$_ } values %of], [('worker') x 2],
        'a child does not count a request that its parent has begun');
    my $all = requests_in(grep { !/\.live\z/ } bsd_glob("$out*"));
    is_like($all->{worker}, 2, 'the sum of all processes', 1, 2);
};

subtest 'Each slice has the requests that end in it' => sub {
    my $spool = scratch() . '/spool';
    record('slices', '$REQUESTS = Devel::DProf::Requests->new; request("a", 1);'
        . ' my $open = $REQUESTS->begin("b"); Devel::DProf::Control::save(); request("a", 2);'
        . ' wait_for(7); $open->end;', PERL_DPROF_OUT => undef, PERL_DPROF_SPOOL => $spool,
        PERL_DPROF_SLICE => 60);
    my @slices = sort(bsd_glob("$spool/*.tree"));
    is(scalar @slices, 2, 'there are two slices');
    my @seen = map { requests_in($_) } @slices;
    is_deeply([map { my $of = $_; join ', ', map { "$_ $of->{$_}{seen}" } sort keys %$of } @seen],
        ['a 1', 'a 1, b 1'], 'a request belongs to one slice');
    is_like(requests_in(@slices)->{b}, 1, 'a request across two slices', 9);
};

subtest 'dprofreport --requests is a table' => sub {
    my $out = record('table', '$REQUESTS = Devel::DProf::Requests->new(slower => 0.02);'
        . 'request("GET /slow", 50) for 1 .. 4; request("GET /fast", 10) for 1 .. 5;');
    my $got = run_tool('dprofreport', ['--requests', '--format', 'json', $out]);
    my $rows = JSON::PP::decode_json($got->{out})->{requests};
    is_deeply([map { [@$_{qw(phase seen kept dropped)}] } @$rows],
        [['GET /slow', 4, 4, 0], ['GET /fast', 5, 0, 5]], 'the costliest requests come first')
        or diag $got->{out};
    like(run_tool('dprofreport', ['--requests', $out])->{out},
        qr/^# Requests: 9 seen, 4 kept\n.*^ +4 +4 +0 +50\.\d+ +(?:[\d.]+ +){3}GET \/slow\n/ms,
        'text has the same');
    my $none = record('no requests', 'wait_for(1);');
    $got = run_tool('dprofreport', ['--requests', $none]);
    is($got->{status}, 1, 'a profile without requests is an error');
    like($got->{err}, qr/no requests were counted; Plack::Middleware::DProf and/,
        'the message says what counts requests');
    like(run_tool('dprofreport', ['--requests', '-s', 'sub', $out])->{err},
        qr/^--requests has its own columns; leave out -s$/m, 'columns are refused');
};

subtest 'Reports leave out the subs above the application' => sub {
    my $program = <<'END';
$REQUESTS = Devel::DProf::Requests->new;
sub App::page { App::row() for 1 .. 3; return } sub App::row { wait_for(1) }
sub Server::run { Server::handle($_) for 1 .. 2; return }
sub Server::handle { my $request = $REQUESTS->begin("GET /$_[0]"); my $section = $request->section;
    my $inner = sub { App::page() }; $inner->(); undef $section; $request->end; return }
Server::run();
END
    for my $how (['a tree', PERL_DPROF_MODE => 'tree'], ['a trace', PERL_DPROF_MODE => 'trace'],
        ['samples', PERL_DPROF_MODE => undef, PERL_DPROF_SAMPLE => 10_000]) {
        my ($what, @env) = @$how;
        my $out = record($what, $program, @env);
        my $profile = Devel::DProf::Profile->new;
        $profile->add($out);
        is(join(' ', sort $profile->server), 'Server::handle Server::run',
            "$what: the subs above the application");
        my @m = $what eq 'samples' ? ('-m', 'samples') : ();
        my $got = run_tool('dprofreport', [@m, $out])->{out};
        like($got, qr/^Server: 2 subs above the application are left out; --all shows them$/m,
            "$what: a report says how many subs it leaves out");
        unlike($got, qr/Server::/, "$what: a report leaves them out");
        like($got, qr/ App::row$/m, "$what: a report has the application");
        $got = run_tool('dprofreport', [@m, '--all', $out])->{out};
        like($got, qr/ Server::handle\n/, "$what: --all shows them");
        unlike($got, qr/above the application/, "$what: --all leaves nothing out");
        for my $tool (qw(dprofflame dprofhtml)) {
            my $page = "$out.$tool.html";
            for my $all ([], ['--all']) {
                my $got = run_tool($tool, [@m, @$all, '-o', $page, $out]);
                is("$got->{status} $got->{err}", '0 ', "$what: $tool @$all writes a page");
                like(text_of($page), $all->[0] ? qr/\A(?!.*above the application)/s
                    : qr/"subs above the application are left out; --all shows them"/,
                    "$what: the page of $tool @$all says whether it leaves subs out");
            }
        }
        unlike(run_tool('dprofflame', [@m, $out])->{out}, qr/Server::/,
            "$what: a picture leaves them out");
        like(run_tool('dproffold', [@m, $out])->{out}, qr/Server::run;Server::handle;/,
            "$what: folded stacks are whole");
    }
    my $out = record('a tree', $program);
    run_tool('dprofmerge', ['-o', "$out.sum", $out]);
    unlike(run_tool('dprofreport', ["$out.sum"])->{out}, qr/Server::/,
        'a merged profile knows them, too');
};

subtest 'A line that cannot be read is left out' => sub {
    my $out = record('damaged', '$REQUESTS = Devel::DProf::Requests->new; request("a", 1);'
        . ' request("b", 2);');
    my $text = slurp($out);
    for my $bad ('#r a', '#r a seen=x', '#r a seen=1 9999:1', '#r a seen=1 3:', '#r') {
        my $file = spew("$out.bad", $text =~ s/^#r a .*/$bad/mr);
        is_deeply([keys %{ requests_in($file) }], ['b'], "'$bad' is left out");
    }
    my $more = spew("$out.more", $text =~ s/^(#r a .*)/$1 later=3/mr);
    is_deeply([sort keys %{ requests_in($more) }], ['a', 'b'], 'an unknown key is skipped');
};

done_testing();
