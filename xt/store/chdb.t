# The same statements and rows go through the engine of a new ClickHouse: what went in comes out.
use strict;
use warnings;
use lib 't/lib', 'xt/lib';
use DProfTest;
use IPC::Open2;
use Slices;
use Test::More;
use Devel::DProf::Store;
use Devel::DProf::Store::RunSet;

my $packages = $ENV{DPROF_STORES} // '';
if (!-f "$packages/node_modules/chdb/package.json") {
    my $what = 'missing: chdb (npm; sh xt/store/run installs it)';
    BAIL_OUT($what) if $ENV{DPROF_ALL_STORES};
    plan skip_all => $what;
}
my $dir = scratch();
my $pid = open2(my $out, my $in, 'node', 'xt/store/chdb.js', $packages, "$dir/data");
my ($port) = (readline($out) // '') =~ /\A(\d+)/ or die 'chdb does not start';
my ($store, $folder) = map { Devel::DProf::Store::open($_) }
    "clickhouse:http://127.0.0.1:$port/fleet", "dir:$dir/folder";

sub texts {
    my ($store, $set) = @_;
    my @selected = $store->select($set);
    my @paths = $store->fetch(\@selected, scratch());
    return { map { $selected[$_]{run} => gunzipped($paths[$_]) } 0 .. $#paths };
}

sub set { return Devel::DProf::Store::RunSet::parse($_[0], 1_795_348_800) }

my @done = $store->init;
like($done[0], qr/\AClickHouse [2-9]\d\./, $done[0]);
is_deeply([$store->init]->[2], 'table dprof_profiles is there', 'init can be repeated');
$folder->init;

my @names = ("web", "a'b\\c\td\ne", "\xff\xfe\0", "\xc3\xa4", '', '%');
my @profiles = map {
    my $path = scratch() . '/slice';
    spew($path, slice_text(n => $_, pid => $_));
    { file => $path, run => "r-$_-0-1", service => $names[ $_ % @names ],
        version => $names[ $_ % 5 ], host => 'h' . $_ % 3, env => '', seconds => $_ / 8,
        start => 1_795_348_800 - 3600 * $_ + $_ / 8 }
} 1 .. 60;
push @profiles, map { { %{ $profiles[0] }, run => 'c' . tr{a-z}{}cdr . '-0-0-0',
    file => root() . "/t/corpus/$_" } } qw(tree lines lines-source counters trace-then-tree folded
    pprof);
for (1, 2) { $_->add(\@profiles) for $store, $folder }

# What tools print of sums that the engine makes is what they print from the folder.
sub same_reports {
    my ($what) = @_;
    for (['dprofreport', '--format=csv', '--run-set', 'service=web'],
        ['dprofmerge', '-o', '-', '--run-set', ''],
        ['dprofreport', '-s', 'srcline', '--run-set', ''],
        ['dprofdiff', '--format=csv', '--run-set', 'host=h1', 'host=h2'],
        ['dprofdiff', '--bisect', 'service=[!z]*'],
        map { ['dprofreport', '--run-set', 'service=[!z]*', '--history', 'main::f', '--by', $_] }
            'version', '1h') {
        my ($tool, @args) = @$_;
        my @runs = map { run_tool($tool, ['--from', $_, @args]) }
            "clickhouse:http://127.0.0.1:$port/fleet", "dir:$dir/folder";
        is($runs[0]{out}, $runs[1]{out}, "$what: $tool @args");
        is($runs[0]{status}, $runs[1]{status}, '... with the same status')
            or diag($runs[0]{err});
    }
    return;
}

same_reports('once');
{
    no warnings qw(redefine once);
    local *Devel::DProf::Store::ClickHouse::new_profiles = sub { @_[1 .. $#_] };
    $store->add(\@profiles);
}
for my $text ('', 'service=web', 'version="" since=1d', 'host=h[12] limit=9', 'at=5h') {
    is_deeply([map { $_->{run} } $store->select(set($text))],
        [map { $_->{run} } $folder->select(set($text))], "select '$text'");
    is_deeply([$store->list(set($text))], [$folder->list(set($text))], "list '$text'");
    is_deeply(texts($store, set($text)), texts($folder, set($text)), '... and the same bytes');
}
is(scalar keys %{ texts($store, {}) }, @profiles, 'all of them');
same_reports('rows came twice');
for my $text ('host=h1', 'older=1d') {
    is($store->prune(set($text)), $folder->prune(set($text)), "prune '$text'");
    is_deeply(texts($store, {}), texts($folder, {}), '... leaves the same');
}
close $in;
waitpid $pid, 0;
done_testing;
