# Measures a fleet in a store that is a folder. HOSTS (20) processes simulate hosts: each writes the
# slices of the last hour, one for every five minutes, and pushes them. The profiles of the other
# HOURS (24), and of TIMES (1) as many hosts, are links to these under names of their own. Prints
# the cost of pushing and of queries: elapsed and CPU seconds, and MB of memory, the best of 3
# (RUNS). More settings: SERVICES (20, but each has two hosts), CONTEXTS of a profile (500), JOBS,
# processes at a time (2), STORE, a folder that stays (a temporary one).
use strict;
use warnings;
use FindBin ();
use lib $FindBin::Bin, map { "$FindBin::Bin/../blib/$_" } qw(lib arch);
use Bench qw(scratch took tool);
use Devel::DProf::Store;
use Devel::DProf::Store::Dir;
use Devel::DProf::Store::Push;
use File::Path qw(make_path);
use List::Util qw(max min);
use Time::HiRes ();

use constant { SLICE => 300, HOUR => 3600 };

my %have = (HOSTS => 20, HOURS => 24, TIMES => 1, SERVICES => 20, CONTEXTS => 500, JOBS => 2);
$have{$_} = $ENV{$_} for grep { $ENV{$_} } keys %have;
$have{SERVICES} = max(1, min($have{SERVICES}, int($have{HOSTS} / 2)));
my $folder = $ENV{STORE} // scratch() . '/store';
my $url = "dir:$folder";
my $now = time;

sub service { return sprintf 'service%02d', $_[0] % $have{SERVICES} }

# Half of the hosts got the new version an hour ago.
sub version { return int($_[0] / $have{SERVICES}) % 2 ? '1.3' : '1.2' }

# ---- profiles ----

# Returns the contexts of a service: depth, sub, calls and ticks of each.
sub work {
    my ($service) = @_;
    srand $service + 1;
    my ($depth, @work) = 0;
    for (2 .. $have{CONTEXTS}) {
        $depth = 1 + int rand($depth < 20 ? $depth + 1 : 20);
        push @work, [$depth, 1 + int rand 100, 1 + int rand 100, 100 + int rand 100_000];
    }
    return \@work;
}

# Hosts differ in speed by up to 10 %; one sub of the new version takes a fifth more.
sub slice {
    my ($work, $host, $k, $start) = @_;
    my $speed = 1 + 0.1 * rand;
    my $text = sprintf "#fOrTyTwO\n\$hz=10000000;\n\$dprof_format='tree 1';\n\$dprof_run='%x.1.1';"
        . " \$dprof_pid=77; \$dprof_tid=0; \$dprof_slice=%d; \$dprof_start=%d;\n"
        . "\$rrun_utime=0; \$rrun_stime=0; \$rrun_rtime=%d;\n\$dprof_complete=1;\n\nPART3\n",
        $host + 1, $k, $start, SLICE * 1e7;
    $text .= sprintf "& %x P%d s%d f.pl:%d\n", $_, $_ % 20, $_, $_ for 1 .. 100;
    $text .= "= 0 0 1 10 0 10 0 0\n";
    for (@$work) {
        my ($depth, $sub, $calls, $ticks) = @$_;
        my $t = int $ticks * $speed * (0.95 + 0.1 * rand)
            * ($sub == 3 && version($host) eq '1.3' ? 1.2 : 1);
        $text .= sprintf "= %d %x %d %d 0 %d 10 1\n", $depth, $sub, $calls, $t, $t;
    }
    return $text;
}

# Writes a host's slices of the last hour to a spool, and pushes them.
sub live {
    my ($host) = @_;
    my $spool = scratch() . "/spool$host";
    mkdir $spool or die "$spool: $!";
    my $work = work($host % $have{SERVICES});
    srand 1000 + $host;
    my $count = HOUR / SLICE;
    for my $k (1 .. $count) {
        open my $out, '>', "$spool/$k.tree" or die "$spool: $!";
        print {$out} slice($work, $host, $k, $now - HOUR + ($k - 1) * SLICE);
        close $out or die "$spool: $!";
    }
    my @before = times;
    my $done = Devel::DProf::Store::Push->new(target => Devel::DProf::Store::open($url),
        service => service($host), version => version($host), host => "host$host", delete => 1,
        say => sub { die "$_[0]\n" })->pass($spool);
    $done->{sent} == $count or die "host$host: $done->{sent} profiles arrived\n";
    my @after = times;
    unlink "$spool/.lock";
    rmdir $spool;
    return $after[0] + $after[1] - $before[0] - $before[1];
}

# Runs each host as a process. Returns the CPU seconds that pushing took.
sub all_live {
    my $cpu = 0;
    pipe my $in, my $out or die "pipe: $!";
    my $running = 0;
    my $reap = sub { wait; $? and die "a host failed\n"; $running--; $cpu += readline $in };
    for my $host (0 .. $have{HOSTS} - 1) {
        $reap->() if $running >= $have{JOBS};
        my $pid = fork // die "fork: $!";
        if ($pid) { $running++; next }
        # _exit, because only the parent may remove the folder of the benchmark.
        require POSIX;
        my $took = eval { live($host) };
        warn $@ if !defined $took;
        syswrite $out, sprintf "%.4f\n", $took if defined $took;
        POSIX::_exit(defined $took ? 0 : 1);
    }
    $reap->() while $running;
    return $cpu;
}

# ---- history ----

# Links the pushed profiles under names of earlier hours, which had the old version, and of more
# hosts.
sub linked {
    my @all = Devel::DProf::Store::open($url)->select({});
    my (%made, $count);
    for my $p (@all) {
        my $from = "$folder/$p->{path}";
        for my $hour (0 .. $have{HOURS} - 1) {
            for my $time (1 .. $have{TIMES}) {
                next if !$hour && $time == 1;
                my ($run) = $p->{run} =~ /\A(\w+)\./;
                my ($place, $name) = Devel::DProf::Store::Dir::place_of({ %$p,
                    start => $p->{start} - $hour * HOUR, host => "$p->{host}x$time",
                    version => $hour ? '1.2' : $p->{version},
                    run => "$run.$hour.$time-77-0-" . ($p->{run} =~ /(\d+)\z/)[0] });
                make_path("$folder/$place") if !$made{$place}++;
                link $from, "$folder/$place/$name" or die "$folder/$place/$name: $!";
                $count++;
            }
        }
    }
    return $count // 0;
}

# ---- measurements ----

sub said {
    my ($what, @command) = @_;
    my @took = took(tool(@command)) or die "@command failed\n";
    printf "%-58s %8.2f s (CPU %7.2f) %5d MB\n", $what, @took;
    return;
}

$| = 1;
Devel::DProf::Store::open($url)->init;
my $begin = Time::HiRes::time();
my $cpu = all_live();
my @first = Devel::DProf::Store::open($url)->select({});
my $bytes = 0;
$bytes += -s "$folder/$_->{path}" for @first;
printf "%d hosts, %d profiles of %d contexts written and pushed in %.1f s; pushing one: %.2f ms of "
    . "CPU, %d bytes, %.1f a context\n", $have{HOSTS}, scalar @first, $have{CONTEXTS},
    Time::HiRes::time() - $begin, 1e3 * $cpu / @first, $bytes / @first,
    $bytes / @first / $have{CONTEXTS};
$begin = Time::HiRes::time();
my $count = @first + linked();
printf "%d hosts, %d hours: %d profiles, %d contexts, %.1f GB as files; named in %.1f s\n",
    $have{HOSTS} * $have{TIMES}, $have{HOURS}, $count, $count * $have{CONTEXTS},
    $count * $bytes / @first / 1e9, Time::HiRes::time() - $begin;

my @one = ('--from', $url, '--run-set');
said('list, one service, one hour', 'dprofstore', 'list', '--from', $url,
    'service=service01 since=61m');
said('list, all', 'dprofstore', 'list', '--from', $url);
said('dprofreport, one service, one hour', 'dprofreport', @one, 'service=service01 since=61m');
said('dprofreport, one service, all hours', 'dprofreport', @one, 'service=service01');
said('dprofdiff, two versions, one hour', 'dprofdiff', '-n', @one,
    'service=service01 version=1.2 since=61m', 'service=service01 version=1.3');
said('dprofdiff, two versions, all hours', 'dprofdiff', '-n', @one,
    'service=service01 version=1.2', 'service=service01 version=1.3');
said('dprofreport --history, one service, one hour', 'dprofreport', @one,
    'service=service01 since=61m', '--history', 'P3::s3');
