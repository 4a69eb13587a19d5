package Servers;

# Runs real servers on the loopback, plain or recorded, and asks them for pages.

use strict;
use warnings;
use Exporter 'import';
use File::Glob 'bsd_glob';
use HTTP::Tiny;
use IO::Socket::INET;
use POSIX ();
use Test::More;
use Time::HiRes ();
use DProfTest;

our @EXPORT = qw(program free_port serve get files_of until_is cookbook);

use constant PATIENCE => 30;    # seconds after which something does not happen any more

# Returns the path of a server's command, or nothing.
sub program {
    my ($name) = @_;
    my ($path) = grep { -x } map { "$_/$name" } split /:/, $ENV{PATH};
    return $path;
}

# Returns the block of the cookbook in which this line stands, as it is to be typed.
sub cookbook {
    my ($line) = @_;
    my $text = slurp(root() . '/lib/Devel/DProf/Cookbook.pod');
    my ($block) = grep { /^ {4}\Q$line\E/m } split /\n(?=\S)/, $text;
    die "the cookbook has no line $line\n" if !defined $block;
    return join('', map { s/^ {4}//r . "\n" } grep { /^(?: {4}|$)/ } split /\n/, $block)
        =~ s/\A\n+//r;
}

sub free_port {
    my $socket = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1') or die "listen: $!";
    return $socket->sockport;
}

sub until_is {
    my ($what, $is) = @_;
    my $end = time + PATIENCE;
    until ($is->()) {
        die "$what: not after " . PATIENCE . " seconds\n" if time > $end;
        Time::HiRes::sleep(0.02);
    }
    return;
}

sub get {
    my ($port, $path) = @_;
    my $got = HTTP::Tiny->new(timeout => PATIENCE, keep_alive => 0)
        ->get("http://127.0.0.1:$port$path");
    return "$got->{status} " . ($got->{status} == 599 ? $got->{content} : $got->{content} // '');
}

# Starts perl with these arguments under the recorder, calls { } with the port when it answers,
# and ends it by a signal. Options: port, env, signal, args; command, in place of perl; dir. Returns
# the folder with the profiles.
sub serve {
    my ($ask, %opt) = @_;
    my $dir = $opt{dir} // scratch();
    my @perl = @{ $opt{command} // [$^X, PROFILER()] };
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        setpgrp;        # Apache ends by a signal to its whole group
        delete @ENV{ grep { /^(?:PERL_DPROF|PERL5|HARNESS_|PLACK_|MOJO_)/ } keys %ENV };
        %ENV = (%ENV, PERL_DPROF_MODE => 'tree', PERL_DPROF_OUT => "$dir/out",
            PERL5LIB => root() . '/blib/lib', %{ $opt{env} // {} });
        chdir $dir or POSIX::_exit(126);
        open STDIN, '<', '/dev/null' or POSIX::_exit(126);
        open STDOUT, '>', "$dir/said" or POSIX::_exit(126);
        open STDERR, '>&', \*STDOUT or POSIX::_exit(126);
        exec @perl, @{ $opt{args} // [] } or POSIX::_exit(127);
    }
    my $is_up = eval {
        until_is('the server answers', sub {
            die "it has ended\n" if waitpid($pid, POSIX::WNOHANG()) == $pid;
            return IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $opt{port});
        });
        1;
    };
    my $why = $@;
    $ask->($opt{port}) if $is_up;
    kill $opt{signal} // 'TERM', $pid;
    waitpid $pid, 0;
    ok($is_up, 'the server answers') or diag $why, slurp("$dir/said");
    return $dir;
}

# Returns the profiles of all processes, in a folder or by how their names begin, when the last of
# them is whole: workers may end after the process that was started.
sub files_of {
    my ($dir) = @_;
    my $names = -d $dir ? "$dir/out" : $dir;
    my @files;
    until_is('the profiles are whole', sub {
        @files = grep { !/\.(?:live|new)\z/ } bsd_glob("$names*");
        return @files && !grep { slurp($_) !~ /\$dprof_complete=1;/ } @files;
    });
    return @files;
}

1;
