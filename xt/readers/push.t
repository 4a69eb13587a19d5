# Calibrates t/lib/StandIn.pm, to which t/99-receivers.t sends profiles. It takes what Pyroscope's
# own pusher (npm's @pyroscope/nodejs) sends, and says of Pyroscope's own test files what
# Pyroscope's own test expects. DPROF_PYROSCOPE names a copy of its sources (git clone
# https://github.com/grafana/pyroscope); without it, the second part is skipped.
use strict;
use warnings;
use FindBin;
use HTTP::Tiny;
use Test::More;
use lib 't/lib', "$FindBin::Bin/../lib";
use DProfTest qw(scratch slurp);
use Readers;
use StandIn;

delete @ENV{grep { /_proxy\z/i } keys %ENV};
my $dir = scratch();

subtest 'the pusher' => sub {
    need_package('@pyroscope/nodejs');
    my $server = StandIn->new(file => "$dir/pusher.log", basic => 'me:secret', tenant => 'team-a');
    my $run = run_node("$FindBin::Bin/push.js", $server->url);
    is($run->{raw}, 0, 'it ran') or diag($run->{err});
    my ($request, @more) = $server->requests;
    is(scalar @more, 0, 'one profile');
    is($request->{status}, 200, '... was taken') or diag($request->{answer});
    is($request->{name}, 'wall', '... its name');
    is_deeply([@{ $request->{labels} }{qw(service_name region pyroscope_spy)}],
        ['shop.web', 'eu', 'nodespy'], '... its labels');
    my %totals = map { $_->[0] => $_->[2] } @{ $request->{totals} };
    is(join(' ', sort keys %totals), 'cpu samples wall', '... its types');
    cmp_ok($totals{samples}, '>', 0, '... its samples');
};

# Sends the files of a row of Pyroscope's table as its test does: returns the status, and what the
# stand-in has kept.
sub sent {
    my ($server, %row) = @_;
    my @parts = map { my ($name, $path) = @$_;
        qq{--b\r\nContent-Disposition: form-data; name="$name"; filename="$name"\r\n\r\n}
            . slurp("$ENV{DPROF_PYROSCOPE}/$path") . "\r\n" }
        grep { defined $_->[1] } [profile => $row{profile}], [prev_profile => $row{prevProfile}],
            [sample_type_config => $row{sampleTypeConfig}];
    my $url = $server->url . '/ingest?name=pprof.test{qwe=asd}&spyName=foo239';
    my $answer = HTTP::Tiny->new->post($url, { content => join('', @parts, "--b--\r\n"),
        headers => { 'Content-Type' => 'multipart/form-data; boundary=b' } });
    return ($answer->{status}, ($server->requests)[-1]);
}

subtest 'test files' => sub {
    my $sources = $ENV{DPROF_PYROSCOPE} // '';
    my $test = slurp("$sources/pkg/ingester/pyroscope/ingest_handler_test.go")
        // plan(skip_all => 'missing: the sources of Pyroscope (DPROF_PYROSCOPE)');
    my ($table) = $test =~ /^func TestIngestPPROFFixtures.*?\n(.*?)^\t\}\n/ms;
    my @rows = map { my $row = $_; +{ $row =~ /^\s*(\w+):\s+(?:repoRoot \+ )?"?([^"\s,]+)"?,/mg } }
        $table =~ /^\t\t\{\n(.*?)^\t\t\},/msg;
    cmp_ok(scalar @rows, '>=', 10, scalar(@rows) . ' rows in its table');
    my $server = StandIn->new(file => "$dir/files.log", any_time => 1);
    for my $row (@rows) {
        delete @$row{grep { $row->{$_} eq '' } keys %$row};
        my ($status, $kept) = sent($server, %$row);
        is($status, $row->{expectStatus}, "$row->{profile}: $row->{expectStatus}")
            or diag($kept->{answer});
        next if $row->{expectStatus} != 200;
        is($kept->{name}, $row->{expectMetric}, "... $row->{expectMetric}");
        is_deeply($kept->{labels}, { service_name => 'pprof.test', qwe => 'asd',
            __delta__ => 'false', pyroscope_spy => 'foo239' }, '... labels');
    }
    my ($status, $kept) = sent($server,
        profile => 'pkg/og/convert/pprof/testdata/invalid_utf8.pb.gz');
    is($status, 422, 'a string that is not UTF-8');
    like($kept->{answer}, qr/invalid utf8 string hex/, '... says so');
};

done_testing;
