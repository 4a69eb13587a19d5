package ClickHouse;

# A server of ClickHouse on loopback, with a folder of its own, for tests.

use strict;
use warnings;
use HTTP::Tiny;
use IO::Socket::INET;
use POSIX ();
use Test::More;
use lib 't/lib';
use DProfTest qw(spew slurp);

use constant { PASSWORD => qq(p'w "d\\&<x>\xc3\xa4), USER => 'pusher', PATIENCE => 60 };

# Returns the path of the server's program; where there is none, the test file is skipped.
sub need {
    for my $folder (split(/:/, $ENV{PATH} // ''), '/usr/sbin', '/usr/bin') {
        return "$folder/clickhouse-server" if -x "$folder/clickhouse-server";
    }
    my $what = 'missing: clickhouse-server (Debian: clickhouse-server)';
    BAIL_OUT($what) if $ENV{DPROF_ALL_STORES};
    plan skip_all => $what;
}

# Starts servers that know each other as the cluster `both', a shard each.
sub start_all {
    my ($dir, $count) = @_;
    my @servers = map { bless { dir => "$dir/server$_", owner => $$ }, __PACKAGE__ } 1 .. $count;
    # All ports are taken before one is let go, so that they differ.
    my @sockets = map { my $s = $_; map { [$s, $_, IO::Socket::INET->new(Listen => 1,
        LocalAddr => '127.0.0.1') || die "no port: $!"] } qw(http tcp) } @servers;
    $_->[0]{ $_->[1] } = $_->[2]->sockport for @sockets;
    close $_->[2] for @sockets;
    my $shards = join '', map { "<shard><internal_replication>true</internal_replication><replica>"
        . "<host>127.0.0.1</host><port>$_->{tcp}</port></replica></shard>" } @servers;
    for my $server (@servers) {
        $server->configure($shards);
        $server->start;
    }
    return @servers;
}

sub escaped { return $_[0] =~ s/([<>&"])/'&#' . ord($1) . ';'/ger }

sub configure {
    my ($self, $shards) = @_;
    my $dir = $self->{dir};
    mkdir $_ or die "$_: $!" for $dir, "$dir/data", "$dir/tmp";
    spew("$dir/config.xml", <<"END");
<yandex>
<logger><level>warning</level><log>$dir/log</log><errorlog>$dir/errors</errorlog></logger>
<listen_host>127.0.0.1</listen_host>
<http_port>$self->{http}</http_port><tcp_port>$self->{tcp}</tcp_port>
<path>$dir/data/</path><tmp_path>$dir/tmp/</tmp_path><users_config>$dir/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>67108864</mark_cache_size><max_concurrent_queries>20</max_concurrent_queries>
<remote_servers><both>$shards</both></remote_servers>
</yandex>
END
    my $password = escaped(PASSWORD);
    my $user = '<networks><ip>127.0.0.1</ip></networks><profile>default</profile>'
        . '<quota>default</quota>';
    spew("$dir/users.xml", <<"END");
<yandex>
<profiles><default><max_memory_usage>2000000000</max_memory_usage><max_threads>2</max_threads>
</default><reader><readonly>1</readonly></reader></profiles>
<users><default><password></password>$user</default>
<@{[USER]}><password>$password</password>$user</@{[USER]}>
<reader><password></password><networks><ip>127.0.0.1</ip></networks><profile>reader</profile>
<quota>default</quota></reader></users>
<quotas><default></default></quotas>
</yandex>
END
    return;
}

sub start {
    my ($self) = @_;
    my $dir = $self->{dir};
    $self->{pid} = fork // die "fork: $!";
    if (!$self->{pid}) {
        open STDOUT, '>', "$dir/out";
        open STDERR, '>&', \*STDOUT;
        # It would wait for us with what the test holds open.
        POSIX::close($_) for 3 .. 255;
        exec need(), "--config-file=$dir/config.xml" or POSIX::_exit(127);
    }
    for (1 .. 10 * PATIENCE) {
        return if HTTP::Tiny->new(timeout => 5)->get($self->url . '/ping')->{success};
        last if waitpid($self->{pid}, POSIX::WNOHANG()) == $self->{pid};
        select undef, undef, undef, 0.1;
    }
    delete $self->{pid};
    die "clickhouse-server does not start:\n" . slurp("$dir/out");
}

sub url { return "http://127.0.0.1:$_[0]{http}" }

sub stop {
    my ($self, $signal) = @_;
    my $pid = delete $self->{pid} // return;
    kill $signal // 'TERM', $pid;
    waitpid $pid, 0;
    return;
}

sub DESTROY {
    my ($self) = @_;
    local ($?, $!, $@);
    $self->stop('KILL') if $self->{owner} == $$;
    return;
}

# Returns the answer to a statement; dies if it fails.
sub ask {
    my ($self, $sql) = @_;
    my $answer = HTTP::Tiny->new(timeout => PATIENCE)->request('POST',
        $self->url . '/?wait_end_of_query=1', { content => $sql });
    die "$sql: $answer->{content}" if !$answer->{success};
    return $answer->{content} =~ s/\n\z//r;
}

1;
