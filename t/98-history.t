# dprofreport --history: by interval and by version, against sums that are made here.
use strict;
use warnings;
use lib 't/lib';
use DProfTest;
use Slices;
use Test::More;
use Devel::DProf::Store;

my $dir = scratch();
my $begin = 1_795_348_800;      # 2026-11-22T12:00:00Z
my (@profiles, %of_interval, %of_version);

# 200 slices of a minute: five intervals of five minutes each have a version of their own. A sub h
# that is there later takes more and more.
for my $k (0 .. 199) {
    my ($n, $g) = (1 + $k % 7, 1 + $k % 11);
    my $version = ('1.9', '1.10', '=2', "3,\"x\n")[$k / 50];
    my $h = $k < 50 ? 0 : $k;
    my $file = spew("$dir/$k", slice_text(run => "6b.$k.1", n => $n, g => $g,
        start => $begin + 60 * $k, lines => $h ? "& 3 P h web.pl:3\n= 1 3 $k $h 0 9 0 0\n" : ''));
    push @profiles, { file => $file, run => "6b.$k.1-7-0-1", service => 'web', host => 'a',
        env => '', version => $version, start => $begin + 60 * $k, seconds => 60 };
    for my $sum ($of_interval{ int($k / 5) } //= { n => 0 }, $of_version{$version} //= { n => 0 }) {
        $sum->{n}++;
        $sum->{g} += $g;
        $sum->{total} += 60 * $n + $h;
        $sum->{self_g} += 19 * $n;
        $sum->{self_h} += $h;
        $sum->{self_program} += $n;
        $sum->{program}++;
        $sum->{h} += $h ? $k : 0;
    }
}
my $store = Devel::DProf::Store::open("dir:$dir/store");
$store->init;
$store->add(\@profiles);

sub history {
    my $run = run_tool('dprofreport', ['--from', 'dir:store', '--history', @_], dir => $dir);
    return [@$run{qw(out err status)}];
}
my @set = ('--run-set', 'service=web');

sub line {
    my ($label, $sum, $sub) = @_;
    my ($self, $calls) = @$sum{"self_$sub", $sub};
    my $per_call = $calls && $sub ne 'program' ? sprintf '%.4f', 1000 * $self / $calls : '';
    return sprintf "%s,%d,%.4f,%s,%d,\n", $label, $sum->{n}, 100 * $self / $sum->{total},
        $per_call, $calls;
}

sub at {
    my ($k) = @_;
    return sprintf '2026-11-22T%02d:%02d:00Z', 12 + int(5 * $k / 60), 5 * $k % 60;
}

is_deeply(history('main::g', @set, '--format', 'csv'), [join('', "from,profiles,self_percent,"
    . "per_call_us,calls,ops\n", map { line(at($_), $of_interval{$_}, 'g') } 0 .. 39), '', 0],
        '--history has a row for every five minutes');
is_deeply(history('P::h', @set, '--format', 'csv')->[0], join('', "from,profiles,self_percent,"
    . "per_call_us,calls,ops\n", map { line(at($_), $of_interval{$_}, 'h') } 0 .. 39),
    '--history prints empty rows for a sub that does not exist at first');
is_deeply(history('(program)', @set, '--format', 'csv')->[0], join('', "from,profiles,self_percent,"
    . "per_call_us,calls,ops\n", map { line(at($_), $of_interval{$_}, 'program') } 0 .. 39),
    '--history shows what ran outside of all subs');
is_deeply(history('main::g', @set, '--by', 'version', '--format', 'csv')->[0], join('',
    "version,profiles,self_percent,per_call_us,calls,ops\n", line('1.9', $of_version{'1.9'}, 'g'),
    line('1.10', $of_version{'1.10'}, 'g'), line("'=2", $of_version{'=2'}, 'g'),
    line('"3,""x\x0a"', $of_version{"3,\"x\n"}, 'g')),
    '--by version sorts versions by time, and no cell is a formula');

my $text = history('P::h', @set, '--by', 'version')->[0];
utf8::decode($text);
my @share = map { sprintf '%.2f%%', 100 * $_->{self_h} / $_->{total} }
    @of_version{'1.9', '1.10', '=2', "3,\"x\n"};
my @blocks = map { chr 0x2581 + int($_->{h} / $of_version{"3,\"x\n"}{h} * 7 + 0.5) }
    @of_version{'1.9', '1.10', '=2', "3,\"x\n"};
like($text, qr/^# History of: P::h\n# Metric: user\+system time, self\n/m,
    'the text names the sub and the metric');
like($text, qr/^# Calls: @{[ join '', @blocks ]}$/m, 'the text has a line of blocks');
like($text, qr/^1\.9 +50 +$share[0] +- +0 +-\n1\.10 +50 +$share[1] +1000\.000 us +[0-9,]+ +-\n=2 /m,
    'the text has a row for each version');
my $quiet = history('P::h', @set, '--by', 'version', '-q')->[0];
utf8::decode($quiet);
is($quiet, $text =~ s/\A.*\n\.[. ]+\n//sr, '-q prints rows only');
like($text, qr/^3,"x\\x0a? +50|^3,"x\S* +50 +$share[3]/m, '-q escapes the names of versions');
my $long = history('main::g', @set, '--by', '60s')->[0];
utf8::decode($long);
my ($line) = $long =~ /^# Calls: (\S+)$/m;
is(length $line, 60, 'a long line of blocks has 60 of them');
my $calls = history('main::g', @set, '-m', 'calls')->[0];
like($calls, qr/^# Metric: calls, self$/m, '-m selects the metric');
like($calls, qr/^2026-11-22T12:00:00Z +5 +60\.00% +- +15 +-$/m,
    '-m calls prints shares of the calls');

# Mojolicious has the digest of an application's path in the names of its subs.
subtest 'Names that differ from version to version are one sub' => sub {
    my $apps = Devel::DProf::Store::open("dir:$dir/apps");
    $apps->init;
    $apps->add([map {
        my $package = 'App::' . $_ x 16;
        my $file = spew("$dir/app$_", slice_text(run => "6b.$_.1",
            lines => "& 3 $package h web.pl:3\n= 1 3 $_ 7 0 9 0 0\n"));
        { file => $file, run => "6b.$_.1-7-0-1", service => 'app', host => 'a', env => '',
            version => $_, start => $begin + $_, seconds => 60 };
    } 1 .. 3]);
    my $calls = sub {
        my $run = run_tool('dprofreport', ['--from', 'dir:apps', '--history', $_[0],
            qw(--run-set service=app --by version --format csv)], dir => $dir);
        return $run->{err} . join ' ', $run->{out} =~ /^\d,1,[\d.]+,[\d.]*,(\d+),/mg;
    };
    is($calls->('App::#::h'), '1 2 3', 'the common name stands for the names of all versions');
    is($calls->('App::2222222222222222::h'), '0 2 0',
        'the name of one version stands for that version');
    is($calls->('App::#::g'), "there is no sub App::#::g in service=app\n",
        'a common name that no version has is an error');
};

subtest '--history draws pictures and pages' => sub {
    my @by = ('P::h', '--by', 'version', '--title', 'a<&"', '--format');
    my $svg = history(@by, 'svg', @set)->[0];
    my $page = history(@by, 'html', @set)->[0];
    utf8::decode($_) for $svg, $page;
    like($svg, qr/\A<svg id="dprof-history" [^<>]* aria-label\W{2}a&#60;&#38;&#34;">\n/,
        'the picture has the title, escaped');
    like($svg, qr/^\@media \(prefers-color-scheme: dark\)/m,
        'the picture has light and dark colours');
    unlike("$svg$page", qr/<script|javascript:|\bon\w+=|(?:href|src)=|url\(|\@import/,
        'picture and page have no script and load no file');
    my @points = $svg =~ /<polyline class="curve" points="([^"]+)"/g;
    my $most = $of_version{"3,\"x\n"};
    my $curve = sub {
        my ($top, @values) = @_;
        return join ' ', map { sprintf '%.1f,%.1f', 90 + 890 * $_ / 3,
            $top + 120 - 120 * $values[$_] / $values[3] } 0 .. 3;
    };
    my @versions = @of_version{'1.9', '1.10', '=2', "3,\"x\n"};
    is_deeply(\@points, [$curve->(84, map { $_->{self_h} / $_->{total} } @versions),
        '386.7,248.0 683.3,248.0 980.0,248.0', $curve->(412, map { $_->{h} } @versions)],
        'the picture has curves of share, time per call and calls, and none of ops');
    like($svg,
        qr{<title>1\.10, Profiles 50, Self $share[1], Per call 1000\.000 us, Calls [\d,]+, Ops },
        'a point has its numbers as a title');
    unlike($svg, qr/[^\x20-\x7e\n]/, 'the picture escapes the characters of a version');
    like($page, qr/\A<!DOCTYPE html>\n/, 'the page is HTML');
    ok(index($page, $svg) > 0, 'the page has the picture');
    like($page,
        qr{^<tr><td>=2</td><td>50</td><td>$share[2]</td><td>1000\.000 us</td><td>[\d,]+</td>}m,
        'the page has the numbers');
    is(scalar(() = $page =~ /<tr>/g), 5, 'the page has the rows of all versions');
    my $times = history('main::g', @set, '--format', 'svg')->[0];
    like($times, qr{y="\d+\.0">2026-11-22T12:00:00Z</text>}, 'the axis of time has its start');
    like($times, qr{class="soft end" [^>]*>2026-11-22T15:15:00Z</text>},
        'the axis of time has its end');
};

# All formats have the same rows.
subtest '--history prints JSON and Markdown' => sub {
    require JSON::PP;
    my @by = ('P::h', @set, '--by', 'version', '--format');
    my ($head, @lines) = map { [split /,(?=[^,]*(?:,[^,]*){0,4}\z)/, $_, -1] } split /\n/,
        history(@by, 'csv')->[0];
    my $json = JSON::PP->new->utf8->decode(history(@by, 'json')->[0]);
    is_deeply([map { $_->{key} } @{ $json->{columns} }],
        [qw(version profiles self_percent per_call_us calls ops)], 'columns of JSON');
    is_deeply([map { my $row = $_; map { $_ // '' } @$row{qw(profiles calls ops)} }
        @{ $json->{rows} }], [map { @$_[1, 4, 5] } @lines], 'JSON has the numbers of CSV');
    is_deeply([map { $_->{version} } @{ $json->{rows} }], ['1.9', '1.10', '=2', "3,\"x\n"],
        'JSON has the names of versions unchanged');
    is($json->{metric}, 'user+system time, self', 'JSON has the metric as a fact');
    my $markdown = history(@by, 'markdown')->[0];
    like($markdown, qr/^\| `=2` \| 50 \| $share[2] \| 1000\.000 us \| [\d,]+ \| - \|$/m,
        'Markdown has a row for each version');
};

my $hint = "Try 'dprofreport -h' for help.\n";
is_deeply(history(@{ $_->[0] }), ['', $_->[1], $_->[2]], "--history @{ $_->[0] } is an error") for
    [['main::x', @set], "there is no sub main::x in service=web\n", 1],
    [['main::g', @set, '-m', 'ops'], "-m ops: no profile has this metric in service=web\n", 1],
    [['main::g', @set, '--by', 'x'], "--by x: must be version, or an interval such as 5m, 1h, 1d\n"
        . $hint, 2],
    [['main::g', @set, '--callers', 'P::h'], "--callers does not go with --history\n$hint", 2],
    [['main::g', @set, '1'], "--history takes run-sets, and no files\n$hint", 2];
my $run = run_tool('dprofreport', ['--history', 'main::g', '1'], dir => $dir);
is($run->{err}, "--history needs the profiles of a store: --from STORE --run-set SET\n$hint",
    '--history of files is an error');
is(run_tool('dprofreport', ['--format', 'svg', '1'], dir => $dir)->{err},
    "--format svg goes with --history SUB\n$hint", '--format svg without --history is an error');
is(run_tool('dprofreport', ['--by', '5m', '1'], dir => $dir)->{status}, 2,
    '--by without --history is an error');
done_testing;
