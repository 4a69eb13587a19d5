# Measures the sums of a store on ClickHouse beside a store that is a folder, and compares their
# outputs. A service has PROFILES (1085) slices of a day, of VERSIONS (30) and HOSTS (25), with
# CONTEXTS (513) of 2,510 each; SERVICES (20) have as many rows in the database. Prints elapsed and
# CPU seconds of the client and of the server, and the client's MB, the best of RUNS (3), and
# whether the outputs are equal. Needs clickhouse-server. STORE: a folder for the data (a temporary
# one).
use strict;
use warnings;
use FindBin ();
use lib $FindBin::Bin, map { "$FindBin::Bin/../$_" } qw(blib/lib blib/arch t/lib xt/lib);
use Bench qw(scratch took tool);
use ClickHouse;
use Devel::DProf::Store;
use List::Util qw(shuffle);
use Test::More ();

use constant DAY => 86_400;

my %have = (PROFILES => 1085, VERSIONS => 30, HOSTS => 25, CONTEXTS => 513, SERVICES => 20,
    RUNS => 3);
$have{$_} = $ENV{$_} for grep { $ENV{$_} } keys %have;
my $dir = $ENV{STORE} // scratch();
my $midnight = DAY * (int(time / DAY) - 1);
$| = 1;
srand 1;

# ---- profiles ----

# Contexts of the service in the order of a tree: parent, depth, sub.
my @tree = [-1, 0, 0];
while (@tree < 2510) {
    my $up = int rand(@tree > 400 ? 400 : scalar @tree);
    $up = $#tree if rand() < 0.6 && $tree[-1][1] < 30;
    push @tree, [$up, $tree[$up][1] + 1, 1 + int rand 200];
}

# Returns the text of a slice: some contexts with all those above them.
sub slice {
    my ($n, $version, $host, $start) = @_;
    my %in = (0 => 1);
    my $from = int rand @tree;
    for (my $k = 0; keys %in < $have{CONTEXTS}; $k++) {
        for (my $at = ($from + 7 * $k) % @tree; !$in{$at}; $at = $tree[$at][0]) { $in{$at} = 1 }
    }
    my %kids;
    push @{ $kids{ $tree[$_][0] } }, $_ for grep { $_ } keys %in;
    my ($speed, %calls) = 1 + 0.1 * ($host % 3);
    my ($lines, @sums) = ('', (0) x 4);
    my @todo = 0;
    my %seen;
    while (defined(my $at = pop @todo)) {
        my ($up, $depth, $sub) = @{ $tree[$at] };
        my $calls = $depth ? 1 + int rand 100 : 0;
        my $t = int $calls * $sub * 10 * $speed * (0.95 + 0.1 * rand)
            * ($sub == 3 && $version > $have{VERSIONS} / 2 ? 1.3 : 1);
        my $at_key = $depth ? sprintf ' at=f.pl:%d', $at : '';
        $lines .= sprintf "= %d %x %d %d 0 %d %d %d %d%s\n", $depth, $sub, $calls, $t, $t,
            $depth ? 1 + int($t / 9) : 0, $depth ? 1 : 0, 7 * $calls, $at_key;
        $calls{$sub} += $calls if $depth;
        push @todo, sort { $tree[$b][2] <=> $tree[$a][2] || $b cmp $a } @{ $kids{$at} || [] };
        $sums[$_] += ($calls, $t, 0, $t)[$_] for 0 .. 3;
    }
    my @subs = sort { $a <=> $b } keys %calls;
    my $names = join '', map { sprintf "& %x P%03d s%03d f.pl:%d\n", $_, $_, $_, $_ } @subs;
    my $rest = join '', (map { sprintf "h %x 3:%d 9:1\n", $_, $calls{$_} } @subs), "#f f.pl\n",
        map { sprintf "#l %d %x %d %d 0 %d %d\n", $_, $_, $calls{$_}, (3 * $_) x 2, $calls{$_} }
        @subs;
    my $count = () = "$names$lines$rest" =~ /\n/g;
    return sprintf("#fOrTyTwO\n\$hz=10000000;\n\$XS_VERSION='DProf 20261120.00';\n"
        . "\$over_utime=0; \$over_stime=0; \$over_rtime=0;\n\$over_tests=10000;\n"
        . "\$dprof_format='tree 1'; \$dprof_run='%032x'; \$dprof_pid=%d; \$dprof_tid=0;\n"
        . "\$dprof_slice=%d;\n\$dprof_perl='5.36.0'; \$dprof_script='app.psgi'; \$dprof_start=%d;\n"
        . "\$dprof_options='mode=tree,callsites=1,lines=time,slice=60'; \$dprof_end=1;\n"
        . "\$dprof_lines='time';\n\$dprof_counters='ops:ops';\n\$rrun_utime=%d; \$rrun_stime=0; "
        . "\$rrun_rtime=%d; \$dprof_complete=1;%s\n\nPART3\n", $n % 97, 100 + $n % 97,
        1 + int($n / 97), $start, @sums[1, 3], ' ' x 500) . "$names$lines$rest"
        . sprintf "# end lines=%d calls=%d user=%d system=%d real=%d\n", $count, @sums;
}

# ---- stores ----

my ($server) = ClickHouse::start_all($dir, 1);
my $url = 'clickhouse:' . $server->url . '/fleet';
my %store = (clickhouse => $url, folder => "dir:$dir/folder");
my %open = map { $_ => Devel::DProf::Store::open($store{$_}) } keys %store;
$_->init for values %open;
my @profiles = map {
    my $n = $_;
    my ($version, $host) = (int($n * $have{VERSIONS} / $have{PROFILES}), $n % $have{HOSTS});
    my $start = $midnight + int(DAY * $n / $have{PROFILES});
    my $path = "$dir/slice$n";
    open my $out, '>', $path or die "$path: $!";
    print {$out} slice($n, $version, $host, $start);
    close $out or die "$path: $!";
    { file => $path, service => 'web', version => sprintf('1.%02d', $version), host => "h$host",
        env => '', start => $start, seconds => 60,
        run => sprintf '%032x-%d-0-%d', $n % 97, 100 + $n % 97, 1 + int($n / 97) };
} 0 .. $have{PROFILES} - 1;

sub server_seconds {
    open my $in, '<', "/proc/$server->{pid}/stat" or die "no server: $!";
    my @fields = split / /, readline($in) =~ s/.*\) //r;
    return ($fields[11] + $fields[12]) / 100;
}

for my $name (sort keys %open) {
    my ($client, $at) = (0, server_seconds());
    $client -= $_ for (times)[0, 1];
    my @rest = @profiles;
    while (my @some = splice @rest, 0, 100) { $open{$name}->add(\@some) }
    $client += $_ for (times)[0, 1];
    printf "%-46s %7.2f s CPU, %.2f ms a profile; the server's %.2f s\n", "push to $name", $client,
        1e3 * $client / @profiles, server_seconds() - $at;
}
unlink map { $_->{file} } @profiles;
for my $table (qw(profiles contexts samples histograms statements files)) {
    my $columns = join ', ', grep { $_ ne 'service' } split /\n/, $server->ask(
        "SELECT name FROM system.columns WHERE database = 'fleet' AND table = 'dprof_$table'");
    # Other services have other names and runs of their own.
    my $run = $columns =~ s/\brun\b/concat(run, '') AS run/r;
    for my $k (1 .. $have{SERVICES} - 1) {
        my $values = $columns =~ s/\brun\b/concat('$k', run)/r;
        $server->ask("INSERT INTO fleet.dprof_$table (service, $columns) SELECT 'service$k', "
            . "$values FROM fleet.dprof_$table WHERE service = 'web'");
    }
}
printf "rows of samples: %s, of statements: %s, of histograms: %s\n", map { $server->ask(
    "SELECT count() FROM fleet.dprof_$_") } qw(samples statements histograms);

# ---- measurements ----

sub measure {
    my ($what, @command) = @_;
    my %out;
    for my $name (sort keys %store) {
        my ($tool, @args) = map { $_ eq 'STORE' ? $store{$name} : $_ } @command;
        my $at = server_seconds();
        my @took = took(tool($tool, @args)) or die "@command failed\n";
        my $server_took = (server_seconds() - $at) / $have{RUNS};
        my @argv = tool($tool, @args);
        open my $in, '-|', @argv or die "$argv[0]: $!";
        local $/;
        $out{$name} = readline $in;
        printf "%-46s %6.2f s, CPU %5.2f + %5.2f = %5.2f s, %4d MB\n", "$what, $name", $took[0],
            $took[1], $name eq 'folder' ? (0, $took[1])
                : ($server_took, $took[1] + $server_took), $took[2];
    }
    print "    the outputs differ\n" if $out{clickhouse} ne $out{folder};
    return;
}

sleep 5 if !$ENV{RUNS};         # merges of the parts take CPU time
my @from = ('--from', 'STORE', '--run-set');
measure('dprofreport, a day', 'dprofreport', @from, 'service=web');
my ($old, $new) = map { sprintf 'service=web version=1.%02d', $have{VERSIONS} * $_ } 0.4, 0.6;
measure('dprofdiff, two versions', 'dprofdiff', @from, $old, $new);
measure('--bisect', 'dprofdiff', '--from', 'STORE', '-f', '--bisect', 'service=web');
measure('--history, 30 versions', 'dprofreport', @from, 'service=web', '--history', 'P003::s003',
    '--by', 'version');
measure('--history, an hour', 'dprofreport', @from, 'service=web', '--history', 'P003::s003',
    '--by', '1h');
