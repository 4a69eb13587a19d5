#!/usr/bin/perl
# What detail= says of real programs, beside what others counted: the database servers, DBI's own
# profile, a web server's log, and the programs themselves.
#
#   perl Makefile.PL && make
#   perl xt/details.pl [--keep] [NAME ...]
#
# NAME: some of the checks (database, dbic, mojo, dancer, report, commands). They run in traces,
# trees and trees with lines. Servers of PostgreSQL and MariaDB are started in a temporary folder,
# as root under the users postgres and mysql. What is not installed is skipped;
# DPROF_ALL_DETAILS=1 makes that a failure. Counts have to be equal, and times within 5 % of DBI's
# profile. Exit status 0: all are.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib", "$FindBin::Bin/../t/lib", "$FindBin::Bin/../blib/lib",
    "$FindBin::Bin/../blib/arch";
use Getopt::Long;
use IO::Socket::INET;
use Time::HiRes 'sleep';
use DProfTest;
use Databases;

GetOptions('keep' => \my $keep) or exit 2;
my %mode = (trace => 'mode=trace', tree => 'mode=tree', lines => 'mode=tree,lines=time');
my %needs = (database => ['DBI'], dbic => ['DBIx::Class'],
    mojo => [qw(Mojolicious DBIx::Class LWP)],
    dancer => [qw(Dancer2 DBIx::Class Template)], report => ['Template'], commands => ['IPC::Run']);
my @order = qw(database dbic mojo dancer report commands);
my @wanted = @ARGV ? @ARGV : @order;
my ($failed, $passed, $skipped) = (0, 0, 0);
my $here = "$FindBin::Bin/details";
$| = 1;

sub check {
    my ($good, $what, @more) = @_;
    print $good ? 'ok     ' : 'NOT OK ', "$what\n";
    print "           $_\n" for $good ? () : @more;
    $good ? $passed++ : $failed++;
    return;
}

sub skip {
    my ($why) = @_;
    print "skip   $why\n";
    $skipped++;
    $failed++ if $ENV{DPROF_ALL_DETAILS};
    return;
}

# ---- running ----

# Runs a program with detail=. Returns what it has printed, and its profiles.
sub recorded {
    my ($mode, $kinds, $name, @args) = @_;
    my $dir = scratch();
    my ($folder, $switch) = PROFILER();
    my $run = run_program([$^X, $folder,
            "$switch=$mode{$mode},detail=$kinds,out=$dir/tmon.out", "$here/$name.pl", @args],
        dir => $dir, limit => 300);
    check($run->{raw} == 0, "$name.pl runs ($mode)",
        split /\n/, $run->{err});
    return ($run->{out}, grep { !/\.live\z/ } glob "$dir/tmon.out*");
}

# The spans of a kind: text => [calls, seconds].
sub spans {
    my ($kind, @profiles) = @_;
    my $run = run_tool('dprofreport', ['-t', "\t", '-m', 'real', '-F', 'calls,period_children,sub',
        '--wide', @profiles]);
    my %spans;
    for (split /\n/, $run->{out}) {
        my ($calls, $time, $name) = /^\s*(\d+)\t\s*([\d.]+)\t(.*?)\s*\z/ or next;
        $spans{$name} = [$calls, $time] if $name =~ s/^\Q$kind\E://;
    }
    return \%spans;
}

# Compares counts by text.
sub same_counts {
    my ($title, $got, $expected) = @_;
    my @differ = map { sprintf '%s: %s in the profile, %s', $_, $got->{$_} // 0,
        $expected->{$_} // 0 }
        grep { ($got->{$_} // 0) != ($expected->{$_} // 0) }
        sort keys %{ { %$got, %$expected } };
    my $sum = 0;
    $sum += $_ for values %$expected;
    check(!@differ && $sum, "$title: $sum calls of " . keys(%$expected) . ' texts', @differ);
    return;
}

# ---- SQL ----

# One text for what a server and the profile say of a statement.
sub bare {
    my ($sql) = @_;
    $sql =~ s{--[^\n]*|/\*.*?\*/}{}gs;
    $sql = lc $sql =~ s/[`\s]//gr;
    $sql =~ s/\$\d+/?/g;
    $sql =~ s/\((?:\?(?:,\?)*|\.\.\.)\)/(?)/g;
    $sql =~ s/(values\(\?\)).*/$1/;
    $sql =~ s/\bcharacter\b|(?<=var)character/char/g;     # MariaDB's own words
    $sql =~ s/!=/<>/g;
    $sql =~ s/\(\d+\)/(?)/g if $sql =~ /^create/;          # PostgreSQL keeps those of definitions
    return $sql =~ s/-\?/?/gr;
}

# What drivers and servers do by themselves, and what the profile names otherwise.
my $OWN = qr/^(?:begin|start\ transaction|commit|rollback|savepoint|release|set\b|show|deallocate|
    discard|select\ pg_stat|create\ extension|truncate|update\ `?performance)/xi;

sub sql_counts {
    my ($spans) = @_;
    my %counts;
    for my $text (keys %$spans) {
        next if $text =~ /^prepare: / || $text =~ $OWN || $text =~ /^begin_work$/;
        $counts{ bare($text) } += $spans->{$text}[0];
    }
    return \%counts;
}

sub server_counts {
    my ($server) = @_;
    my %counts;
    for ($server->counted) {
        my ($text, $calls) = @$_;
        $counts{ bare($text) } += $calls if defined $text && $text !~ $OWN
            && $text !~ /\bpg_stat_statements\b|performance_schema/;
    }
    return \%counts;
}

# DBI's profile: time SECONDS STATEMENT.
sub same_times {
    my ($title, $out, $spans) = @_;
    my (%mine, %dbi);
    $mine{ bare($_) } += $spans->{$_}[1] for grep { !/^prepare: / } keys %$spans;
    while ($out =~ /^time ([\d.]+) (.*)$/mg) {
        my ($time, $text) = ($1, $2);
        $text = bare($text =~ s/-- again//r =~ s/'[^']*'|\b\d+\b/?/gr);
        $dbi{$text} += $time;
    }
    my ($mine, $dbi, @far) = (0, 0);
    for my $text (sort keys %dbi) {
        $mine += $mine{$text} // 0;
        $dbi += $dbi{$text};
        # Below a millisecond, the two profilers' own calls are more than the database.
        next if $dbi{$text} < 0.1;
        my $off = ($mine{$text} // 0) / $dbi{$text} - 1;
        push @far, sprintf '%s: %.4f s in the profile, %.4f s', $text, $mine{$text} // 0,
            $dbi{$text}
            if abs($off) > 0.05;
    }
    check(!@far && $dbi && abs($mine / $dbi - 1) <= 0.05,
        sprintf('%s: %.3f s in the profile, %.3f s in that of DBI', $title, $mine, $dbi), @far);
    return;
}

my %server;

# The databases that are there: name => [server or nothing, DSN, USER].
sub databases {
    my ($dir) = @_;
    my @databases;
    if (eval { require DBD::SQLite }) { push @databases, ['SQLite'] }
    else { skip('DBD::SQLite is not installed') }
    for my $kind (qw(Pg MariaDB)) {
        $server{$kind} //= Databases->start($kind, $dir);
        if (ref $server{$kind}) { push @databases, [$kind, $server{$kind}] }
        else { skip("$kind: $server{$kind}"); $server{$kind} = "no server of $kind" }
    }
    return @databases;
}

sub dsn {
    my ($name, $server) = @{ $_[0] };
    return $server ? $server->dsn : ('dbi:SQLite:dbname=' . scratch() . '/db', '');
}

sub check_sql {
    my ($program, $dir) = @_;
    for my $database (databases($dir)) {
        my ($name, $server) = @$database;
        my $reference;
        for my $mode (sort keys %mode) {
            $server->forget if $server;
            my ($out, @profiles) = recorded($mode, 'sql', $program, dsn($database));
            my $spans = spans(sql => @profiles);
            my $counts = sql_counts($spans);
            $reference //= $counts;
            my $expected = $server ? server_counts($server) : $reference;
            same_counts("$program, $name, $mode, " . ($server ? 'the server' : 'the other modes'),
                $counts, $expected);
            same_times("$program, $name, $mode", $out, $spans) if $program eq 'database';
        }
    }
    return;
}

# ---- requests and templates ----

sub said {
    my ($kind, $out) = @_;
    return { map { /^\Q$kind\E (\d+) (.*)/ ? ($2 => $1) : () } split /\n/, $out };
}

sub counts { my ($spans) = @_; return { map { $_ => $spans->{$_}[0] } keys %$spans } }

# The application is a server in a process of its own; the client's spans are compared with its log,
# and its statements with those that the database has counted.
sub check_mojo {
    my ($dir) = @_;
    for my $database (databases($dir)) {
        my ($name, $server) = @$database;
        for my $mode (sort keys %mode) {
            my $port = do {
                IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1')->sockport;
            };
            my ($url, $log) = ("http://127.0.0.1:$port", scratch() . '/log');
            my @dsn = dsn($database);
            $server->forget if $server;
            my $out = scratch();
            my ($folder, $switch) = PROFILER();     # makes a folder, so not in the child
            my $pid = fork // die "fork: $!\n";
            if (!$pid) {
                exec $^X, $folder, "$switch=$mode{$mode},detail=all,out=$out/tmon.out",
                    "$here/mojo.pl", @dsn, $url, $log or POSIX::_exit(127);
            }
            for (1 .. 300) {
                last if IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port);
                sleep 0.1;
            }
            my (undef, @client) = recorded($mode, 'http', 'client', $url);
            waitpid $pid, 0;
            check($? == 0, "the application ends ($mode, $name)");
            my @app = grep { !/\.live\z/ } glob "$out/tmon.out*";
            my %log;
            $log{ s{/\d+}{/*}gr }++ for split /\n/, slurp($log);
            my %got;
            my $http = spans(http => @client);
            $got{ s{http://[^/]*}{}r } += $http->{$_}[0] for keys %$http;
            # A redirect that Mojo::UserAgent follows is a part of its request; none is followed
            # here.
            same_counts("client, $mode, the server's log", \%got, \%log);
            same_counts("mojo, $name, $mode, the server", sql_counts(spans(sql => @app)),
                server_counts($server)) if $server;
            my $templates = counts(spans(template => @app));
            my $found = grep { m{^GET /artist/|^DELETE /artist/} } split /\n/, slurp($log);
            my $lists = $log{'GET /artists'};
            same_counts("mojo, $name, $mode, templates",
                { map { $_ => $templates->{$_} // 0 }
                    map { "$_.html.ep" } qw(artist artists discs) },
                { 'artist.html.ep' => $found, 'artists.html.ep' => $lists,
                    'discs.html.ep' => $found + 6 * $lists });
        }
    }
    return;
}

sub check_dancer {
    my ($dir) = @_;
    for my $database (databases($dir)) {
        my ($name, $server) = @$database;
        for my $mode (sort keys %mode) {
            $server->forget if $server;
            my ($out, @profiles) = recorded($mode, 'sql+template', 'dancer', dsn($database));
            same_counts("dancer, $name, $mode, the server", sql_counts(spans(sql => @profiles)),
                server_counts($server)) if $server;
            my $got = counts(spans(template => @profiles));
            my %by_file;
            $by_file{ s{.*/}{}r } += $got->{$_} for keys %$got;
            same_counts("dancer, $name, $mode, templates", \%by_file, said(template => $out));
        }
    }
    return;
}

sub check_report {
    for my $mode (sort keys %mode) {
        my ($out, @profiles) = recorded($mode, 'template', 'report');
        same_counts("report, $mode, templates", counts(spans(template => @profiles)),
            said(template => $out));
    }
    return;
}

# ---- commands ----

sub check_commands {
    for my $mode (sort keys %mode) {
        my $dir = scratch();
        for my $name (qw(one two three four five)) {
            spew("$dir/$name", "#!/bin/sh\necho $name >> $dir/log\n");
            chmod 0755, "$dir/$name";
        }
        my ($out, @profiles) = recorded($mode, 'command', 'commands', $dir);
        my %log;
        $log{$_}++ for split /\n/, slurp("$dir/log");
        # A child that runs a command by exec counts it, too: that of fork, and those of IPC::.
        my ($parent, @children) = sort { length $a <=> length $b } @profiles;
        my $got = counts(spans(command => $parent));
        my $forked = 0;
        $forked += (counts(spans(command => $_))->{five} // 0) for @children;
        same_counts("commands, $mode, their own log", { %$got, five => $forked }, \%log);
    }
    return;
}

# ---- all of them ----

for my $name (@wanted) {
    die "there is no check $name: @order\n" if !$needs{$name};
}
my $dir = scratch();
chmod 0755, $dir, $dir =~ s{/[^/]*\z}{}r;
for my $name (@wanted) {
    my @missing = grep { !eval "require $_" } @{ $needs{$name} };
    if (@missing) {
        skip("$name: @missing is not installed");
        next;
    }
    print "---- $name\n";
    if ($name eq 'database' || $name eq 'dbic') { check_sql($name, $dir) }
    elsif ($name eq 'mojo') { check_mojo($dir) }
    elsif ($name eq 'dancer') { check_dancer($dir) }
    elsif ($name eq 'report') { check_report() }
    else { check_commands() }
}
%server = ();
print "$passed passed, $failed failed, $skipped skipped\n";
exit($failed ? 1 : 0);
