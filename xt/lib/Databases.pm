package Databases;

# Servers of PostgreSQL and MariaDB in a temporary folder, without a port, that count statements.

use strict;
use warnings;
use POSIX ();

use constant PATIENCE => 60;

# Starts a server. Returns an object, or the reason why there is none.
sub start {
    my ($class, $kind, $dir) = @_;
    my $self = bless { dir => "$dir/$kind", kind => $kind, owner => $$ }, $class;
    mkdir $self->{dir} or die "$self->{dir}: $!\n";
    my $why = $kind eq 'Pg' ? $self->start_pg : $self->start_mariadb;
    return $why if $why;
    require DBI;
    for (1 .. PATIENCE * 10) {
        return $self if $self->connect;
        select undef, undef, undef, 0.1;
    }
    return "the server has not started: $self->{dir}/log";
}

sub dsn {
    my ($self) = @_;
    return $self->{kind} eq 'Pg' ? ("dbi:Pg:host=$self->{dir};dbname=postgres", 'postgres')
        : ("dbi:MariaDB:mariadb_socket=$self->{dir}/s;database=mysql", 'root');
}

sub connect {
    my ($self) = @_;
    return eval { DBI->connect($self->dsn, '', { RaiseError => 1, PrintError => 0,
        PrintWarn => 0 }) };
}

# Runs a command as the server's user. root must not run these servers.
sub as_server {
    my ($self, @command) = @_;
    my ($uid, $gid) = (getpwnam($self->{kind} eq 'Pg' ? 'postgres' : 'mysql'))[2, 3];
    return "there is no user for it" if $> == 0 && !defined $uid;
    chown $uid, $gid, $self->{dir} if $> == 0;
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        POSIX::setsid();
        if ($> == 0) { POSIX::setgid($gid); POSIX::setuid($uid) }
        chdir $self->{dir} or POSIX::_exit(126);
        open STDIN, '<', '/dev/null' or POSIX::_exit(126);
        open STDOUT, '>>', "$self->{dir}/log" or POSIX::_exit(126);
        open STDERR, '>&', \*STDOUT or POSIX::_exit(126);
        exec { $command[0] } @command or POSIX::_exit(127);
    }
    return $pid;
}

sub runs {
    my ($self, @command) = @_;
    my $pid = $self->as_server(@command);
    return $pid if $pid !~ /^\d+$/;
    waitpid $pid, 0;
    return $? ? "$command[0] has failed: $self->{dir}/log" : undef;
}

sub program {
    my ($name, @folders) = @_;
    my ($path) = grep { -x } map { "$_/$name" } @folders, split(/:/, $ENV{PATH}), '/usr/sbin';
    return $path;
}

sub start_pg {
    my ($self) = @_;
    my ($folder) = reverse sort glob '/usr/lib/postgresql/*/bin';
    my ($initdb, $postgres) = map { program($_, $folder // ()) } qw(initdb postgres);
    return 'PostgreSQL is not installed' if !$initdb || !$postgres;
    return 'DBD::Pg is not installed' if !eval { require DBD::Pg };
    my $data = "$self->{dir}/data";
    my $why = $self->runs($initdb, '-D', $data, qw(-A trust -U postgres --no-sync));
    return $why if $why;
    my @set = map { ('-c', $_) } "unix_socket_directories=$self->{dir}", 'listen_addresses=',
        'shared_preload_libraries=pg_stat_statements', 'pg_stat_statements.track=top', 'fsync=off';
    $self->{pid} = $self->as_server($postgres, '-D', $data, @set);
    return undef;
}

sub start_mariadb {
    my ($self) = @_;
    my ($install, $server) = (program('mariadb-install-db'), program('mariadbd'));
    return 'MariaDB is not installed' if !$install || !$server;
    return 'DBD::MariaDB is not installed' if !eval { require DBD::MariaDB };
    my $data = "--datadir=$self->{dir}/data";
    my $why = $self->runs($install, '--no-defaults', $data, '--skip-test-db',
        '--auth-root-authentication-method=normal');
    return $why if $why;
    $self->{pid} = $self->as_server($server, '--no-defaults', $data, "--socket=$self->{dir}/s",
        '--skip-networking', '--performance-schema=on', '--pid-file=pid');
    return undef;
}

# Forgets the statements that have been counted.
sub forget {
    my ($self) = @_;
    my $dbh = $self->connect;
    if ($self->{kind} eq 'Pg') {
        $dbh->do('create extension if not exists pg_stat_statements');
        $dbh->do('select pg_stat_statements_reset()');
    } else {
        $dbh->do("update performance_schema.setup_consumers set enabled = 'YES'");
        $dbh->do('truncate performance_schema.events_statements_summary_by_digest');
    }
    $dbh->disconnect;
    return;
}

# Returns [text, calls] of each statement.
sub counted {
    my ($self) = @_;
    my $dbh = $self->connect;
    my $rows = $dbh->selectall_arrayref($self->{kind} eq 'Pg'
            ? 'select query, calls from pg_stat_statements'
            : 'select digest_text, count_star from performance_schema.'
                . 'events_statements_summary_by_digest');
    $dbh->disconnect;
    return @$rows;
}

sub DESTROY {
    my ($self) = @_;
    return if !$self->{pid} || $$ != $self->{owner};
    local $?;
    kill INT => $self->{pid} if $self->{kind} eq 'Pg';
    kill TERM => $self->{pid} if $self->{kind} ne 'Pg';
    waitpid $self->{pid}, 0;
    return;
}

1;
