# uWSGI, which embeds perl: started, reloaded and stopped, with one application and with two, plain
# and recorded.
use strict;
use warnings;
use lib 't/lib', 'xt/lib';
use Test::More;
use DProfTest;
use RunReader;
use Servers;

my $uwsgi = program('uwsgi');
plan skip_all => 'there is no uwsgi' if !$uwsgi;
plan skip_all => 'uwsgi has no plugin for PSGI'
    if run_program([$uwsgi, '--plugin', 'psgi', '--version'])->{raw};

# The same application under two names: each is a file of its own, and so an interpreter of its own.
my $app = <<'END';
use strict; use warnings;
sub row { 1 } sub page { row() for 1 .. 20; return 'page' }
sub { my ($env) = @_; select undef, undef, undef, 0.01;
    return [200, ['Content-Type' => 'text/plain'],
        [page() . (defined $DB::single ? ' debugger' : ' plain')]] };
END

for my $switch ('-d:DProf=tree', '-d:DProf=sample=1000', '-d:DProf', '-w') {
    for my $apps (1, 2) {
        my $dir = scratch();
        my $port = free_port();
        mkdir "$dir/out" or die "$dir/out: $!";
        spew("$dir/app$_.psgi", $app) for 1, 2;
        my @mount = $apps == 1 ? ('--psgi', "$dir/app1.psgi")
            : map { ('--mount', "/$_=$dir/app$_.psgi") } 1, 2;
        my $ask = sub {
            my ($when) = @_;
            is(get($port, '/' . (1 + $_ % $apps)), '200 page plain', "$switch, $when: $_")
                for 1 .. 10;
            return;
        };
        serve(sub {
            my ($pid) = slurp("$dir/pid") =~ /(\d+)/;
            $ask->('started');
            kill HUP => $pid;
            until_is('it is reloaded', sub {
                my $spawned = () = slurp("$dir/said") =~ /spawned uWSGI worker 1 /g;
                return $spawned > 1;
            });
            $ask->('reloaded');
        }, port => $port, signal => 'INT', dir => $dir,
            command => [$uwsgi, '--plugin', 'psgi', '--http-socket', "127.0.0.1:$port",
                '--http-socket-modifier1', 5, '--manage-script-name', @mount,
                '--master', '--processes', 2, '--pidfile', "$dir/pid", '--need-app'],
            env => { PERL5OPT => $switch, PERL5LIB => tree(), PERL_DPROF_MODE => undef,
                PERL_DPROF_OUT => $switch eq '-w' ? undef : "$dir/out/tmon.out" });
        my $said = slurp("$dir/said");
        unlike($said, qr/signal 11|Segmentation|DProf:|perl5db|DB<1>/, "$switch: nothing is said")
            or diag $said;
        my @files = grep { !/\.(?:old|live)\z/ } glob "$dir/out/*";
        my ($calls, @outcomes) = calls_of(@files);
        next if $switch eq '-w';
        cmp_ok(scalar @files, '>=', 2, "$switch: processes have files");
        my $rows = 0;
        $rows += $calls->{$_} for grep { /::row\z/ } keys %$calls;
        is($rows, 400, "$switch, $apps: all calls are recorded") if $switch !~ /sample/;
        diag join "\n", `ls -la $dir/out`, map { "$_ $calls->{$_}" } sort keys %$calls
            if $switch !~ /sample/ && $rows != 400;
    }
}

done_testing();
