# Firefox Profiler files in npm's profiler-cli, which is the profiler without its page.
use strict;
use warnings;
use Encode ();
use FindBin;
use JSON::PP;
use Test::More;
use lib 't/lib', "$FindBin::Bin/../lib";
use DProfTest qw(scratch run_program);
use NaiveStacks qw(shown);
use Readers;

my $cli = need_package('@firefox-devtools/profiler-cli') =~ s{/node_modules/.*}{}r
    . '/node_modules/.bin/profiler-cli';
# It leaves a process behind until it is told to stop, and keeps what that one is in its home.
my $home = scratch();

sub cli {
    my (@args) = @_;
    my $run = run_program([$cli, @args], env => { HOME => $home, LC_ALL => 'C.UTF-8' });
    $run->{raw} == 0 or diag("profiler-cli @args: status $run->{status}\n$run->{out}$run->{err}");
    return $run;
}

# Loads a file, and tries it again where the process that is left behind was not there in half a
# second, which is all that it is given: a machine may have other work to do.
sub loaded {
    my ($file) = @_;
    my $run;
    for (1 .. 20) {
        $run = run_program([$cli, 'load', $file], env => { HOME => $home, LC_ALL => 'C.UTF-8' });
        my ($late) = "$run->{out}$run->{err}" =~ /did not become ready .* running as pid (\d+)/s
            or last;
        kill 'TERM', $late;
    }
    $run->{raw} == 0 or diag("profiler-cli load $file: $run->{out}$run->{err}");
    return $run->{raw} == 0;
}

sub json_of { return JSON::PP->new->utf8->decode(cli(@_, '--json')->{out}) }

END {
    local $?;
    cli('stop', '--all') if defined $home;
}

# Returns { sub => [self, inclusive] } of a thread, in nanoseconds or in what is counted; what is 0
# is left out.
sub functions_of {
    my ($thread) = @_;
    my $json = json_of(qw(thread functions --include-idle --limit 0 --thread), $thread);
    my $scale = $json->{weightType} eq 'tracing-ms' ? 1e6 : 1;
    my %rows;
    for my $row (@{ $json->{functions} }) {
        my $to = $rows{ shown(Encode::encode('UTF-8', $row->{name})) } //= [0, 0];
        $to->[0] += sprintf '%.0f', $scale * $row->{selfSamples};
        $to->[1] += sprintf '%.0f', $scale * $row->{totalSamples};
    }
    return { map { ($_ => $rows{$_}) } grep { $rows{$_}[1] } keys %rows };
}

# Returns the same of dprofreport; of calls, what is inclusive is taken from the thread.
sub rows_of {
    my ($metric, $functions, @files) = @_;
    my ($rows) = report($metric, '-R', @files);
    my %want;
    for my $name (keys %$rows) {
        my ($self, $all) = map { $_ + 0 } @{ $rows->{$name} };
        $all = $functions->{ shown($name) }[1] if $metric eq 'calls';
        $want{ shown($name) } = [$self, $all] if $all;
    }
    return \%want;
}

for my $profile (grep { $_->{name} ne 'processes' } @{ profiles() }) {
    my $file = exported('.firefox.json', @{ $profile->{files} });
    ok(loaded($file), "$profile->{name}: the profiler loads it") or next;
    for my $thread (@{ json_of(qw(thread list))->{threads} }) {
        my $name = $thread->{name};
        my $metric = $name eq 'time order' ? 'real' : $name;
        my $functions = functions_of($thread->{threadHandle});
        is_deeply($functions, rows_of($metric, $functions, @{ $profile->{files} }),
            "... $name: self and inclusive of " . keys(%$functions) . ' subs');
        next if $name ne 'time order';
        my $markers = json_of(qw(thread markers --thread), $thread->{threadHandle});
        is_deeply([sort map { $_->{markerName} } @{ $markers->{byType} }],
            [qw(BEGIN main)], '... phases are markers');
        is_deeply([map { "$_->{name}, $_->{graphType}" }
            @{ json_of(qw(counter list))->{counters} }], ['ops, line-rate'],
            '... counters are tracks');
    }
}

done_testing;
