package Workers;

# Servers that have perl in them, each with an application that works for as long as it is asked:
# Minion, Apache with mod_perl, PostgreSQL with PL/Perl, uWSGI. They are to be looked at from
# outside.

use strict;
use warnings;

use DProfTest;
use Devel::DProf::Live::Target;
use POSIX ();
use Servers qw(program free_port get until_is);
use Time::HiRes ();

# The work of a request: 10 ms or so.
use constant WORK => 'sub work { my $x = 0; $x += $_ for 1 .. 200_000; return $x }';

# Each server: its NAME, the PACKAGES of Debian that have it, a function that says whether they are
# there, and one that starts it.
sub all {
    return (
        ['Minion', 'libminion-perl libminion-backend-sqlite-perl',
            sub { eval { require Minion; require Minion::Backend::SQLite } }, \&minion],
        ['mod_perl', 'apache2 libapache2-mod-perl2',
            sub { apache() && -e modules() . '/mod_perl.so' }, \&mod_perl],
        ['PL/Perl', 'postgresql postgresql-plperl',
            sub { postgres() && -e postgres() =~ s{bin\z}{lib/plperl.so}r }, \&pl_perl],
        ['uWSGI', 'uwsgi-core uwsgi-plugin-psgi',
            sub { program('uwsgi') && !system 'uwsgi --plugin psgi --version >/dev/null 2>&1' },
            \&uwsgi],
    );
}

sub apache { my ($path) = grep { -x } program('apache2') // (), '/usr/sbin/apache2'; return $path }
sub modules { return '/usr/lib/apache2/modules' }

sub postgres {
    my ($bin) = sort { ($b =~ /(\d+)/)[0] <=> ($a =~ /(\d+)/)[0] } glob '/usr/lib/postgresql/*/bin';
    return $bin;
}

# Starts a command in a process group of its own, which end() ends.
sub start {
    my ($dir, @command) = @_;
    my $pid = fork // die "fork: $!\n";
    return $pid if $pid;
    setpgrp;
    delete @ENV{ grep { /^(?:PERL|HARNESS_|PLACK_|MOJO_)/ } keys %ENV };
    $ENV{MOJO_LOG_LEVEL} = 'fatal';
    chdir $dir or POSIX::_exit(126);
    open STDIN, '<', '/dev/null' or POSIX::_exit(126);
    open STDOUT, '>>', "$dir/said" or POSIX::_exit(126);
    open STDERR, '>&', \*STDOUT or POSIX::_exit(126);
    if (!ref $command[0]) { exec @command or POSIX::_exit(127) }
    $command[0]->();
    POSIX::_exit(0);
}

# Ends what a server has started: the last process first, and each with its group.
sub end {
    my ($server) = @_;
    for my $pid (reverse @{ $server->{started} }) {
        my $ends = $server->{ends}{$pid};
        ref $ends ? $ends->() : kill $ends, $pid if $ends;
        my $until = time + 10;
        while (waitpid($pid, POSIX::WNOHANG()) == 0) {
            kill KILL => -$pid if !$ends || time > $until;
            Time::HiRes::sleep(0.02);
        }
    }
    return;
}

sub folder {
    my $dir = scratch();
    chmod 0755, $dir, $dir =~ s{/[^/]*\z}{}r;       # a server may change its user
    return $dir;
}

# Asks a server for pages without an end.
sub asked {
    my ($dir, $pid, $port, $path, $signal) = @_;
    my $asks = start($dir, sub { while (1) { get($port, $path) } });
    until_is('the server answers', sub { get($port, $path) =~ /^200 / });
    return { started => [$pid, $asks], attach => [$pid], ends => { $pid => $signal } };
}

sub minion {
    my $dir = folder();
    spew("$dir/jobs.pl", <<"END");
use Mojolicious::Lite; plugin Minion => { SQLite => 'sqlite:$dir/jobs.db' };
@{[WORK]}
app->minion->add_task(crunch => sub { work() for 1 .. 300 });
if (\$ARGV[0] eq 'fill') { app->minion->enqueue('crunch') for 1 .. 200 } else { app->start }
END
    waitpid start($dir, $^X, 'jobs.pl', 'fill'), 0;
    my $pid = start($dir, $^X, 'jobs.pl', 'minion', 'worker', '-j', 1, '-I', 1);
    until_is('a job runs', sub { Devel::DProf::Live::Target::children_of($pid) });
    return { started => [$pid], attach => [$pid], waits => qr{Minion::Worker::run} };
}

sub mod_perl {
    my ($dir, $port) = (folder(), free_port());
    spew("$dir/Shop.pm", <<"END");
package Shop;
use strict; use warnings; use Apache2::RequestRec (); use Apache2::RequestIO ();
@{[WORK]}
sub handler { my (\$r) = \@_; \$r->content_type('text/plain'); \$r->print(work()); return 0 }
1;
END
    spew("$dir/httpd.conf", <<"END");
ServerRoot $dir
ServerName 127.0.0.1
Listen 127.0.0.1:$port
PidFile $dir/pid
ErrorLog $dir/error.log
LoadModule mpm_prefork_module @{[modules()]}/mod_mpm_prefork.so
LoadModule authz_core_module @{[modules()]}/mod_authz_core.so
LoadModule perl_module @{[modules()]}/mod_perl.so
@{[ $> ? '' : "User nobody\nGroup nogroup" ]}
StartServers 2
PerlSwitches -I$dir
PerlModule Shop
<Location /shop>
    SetHandler perl-script
    PerlResponseHandler Shop
</Location>
END
    my $pid = start($dir, apache(), '-f', "$dir/httpd.conf", '-DFOREGROUND');
    return asked($dir, $pid, $port, '/shop', 'TERM');
}

sub uwsgi {
    my ($dir, $port) = (folder(), free_port());
    spew("$dir/app.psgi", WORK . "\nsub { [200, ['Content-Type' => 'text/plain'], [work()]] }\n");
    my $pid = start($dir, program('uwsgi'), '--plugin', 'psgi', '--http-socket',
        "127.0.0.1:$port", '--http-socket-modifier1', 5, '--psgi', "$dir/app.psgi", '--master',
        '--processes', 2, '--need-app');
    return asked($dir, $pid, $port, '/', 'INT');
}

# PostgreSQL does not run as root.
sub pl_perl {
    my ($dir, $bin) = (folder(), postgres());
    my @as = $> ? () : qw(runuser -u postgres --);
    system("chown postgres $dir") == 0 or die "no user postgres\n" if !$>;
    my $call = sub { system("cd $dir && @as @_ >>$dir/psql.log 2>&1") == 0
        or die slurp("$dir/psql.log") };
    $call->("$bin/initdb -D $dir/data -A trust");
    my $pid = start($dir, @as, "$bin/postgres", '-D', "$dir/data", '-k', $dir,
        '-c', 'listen_addresses=');
    my @psql = ("$bin/psql", '-h', $dir, '-d', 'postgres', '-c');
    my $server = { started => [$pid],
        ends => { $pid => sub { $call->("$bin/pg_ctl -D $dir/data -m immediate stop") } } };
    eval {
        until_is('PostgreSQL answers', sub { eval { $call->("@psql 'SELECT 1'"); 1 } });
        spew("$dir/work.sql", <<"END");
CREATE EXTENSION plperl;
CREATE FUNCTION work() RETURNS float8 LANGUAGE plperl AS \$\$
    @{[WORK]}
    return work();
\$\$;
END
        chmod 0644, "$dir/work.sql";
        $call->("@psql[0 .. 4] -f $dir/work.sql");
        push @{ $server->{started} }, start($dir, @as, @psql,
            'SELECT sum(work()) FROM generate_series(1, 1000000)');
        until_is('the query runs', sub {
            $server->{attach} = [grep { (slurp("/proc/$_/cmdline") // '') =~ /SELECT/ }
                Devel::DProf::Live::Target::children_of($pid)];
            return @{ $server->{attach} };
        });
        1;
    } or do { my $why = $@; end($server); die $why };
    return $server;
}

1;
