# Plack::Middleware::DProf under real servers: starman's workers, Twiggy's overlapping requests,
# and the server that comes with Plack.
use strict;
use warnings;
use lib 't/lib', 'xt/lib';
use Test::More;
use DProfTest;
use PhaseReader;
use Servers;

my $app = spew(scratch() . '/app.psgi', <<'END');
package Shop;
use Plack::Builder;
our @later;
sub row { 1 } sub page { row() for 1 .. $_[0]; return "page $_[0]" } sub tick { 1 }
sub stream { my ($respond) = @_; row();
    my $to = $respond->([200, ['Content-Type' => 'text/plain']]);
    for (1 .. 3) { row(); $to->write("part $_\n") } $to->close; return }
package Lines { sub new { bless { left => 3 } } sub close { 1 }
    sub getline { my ($self) = @_; Shop::row(); return $self->{left}-- ? "line\n" : undef } }
package Shop;
sub release {
    AE::postpone(sub { tick(); $_->([200, [], ['released']]) for @later; @later = () }); return }
sub app {
    my ($env) = @_;
    my $path = $env->{PATH_INFO};
    return sub { stream(@_) } if $path eq '/stream';
    return sub { push @later, $_[0]; row() } if $path eq '/later';
    die "dead\n" if $path eq '/dies';
    my @head = (200, ['Content-Type' => 'text/plain']);
    return [@head, Lines::new()] if $path eq '/lines';
    return [@head, [scalar @later]] if $path eq '/status';
    release() if $path eq '/release';
    select undef, undef, undef, 0.5 if $path =~ /slow/;
    return [@head, [page($path =~ /(\d+)/ ? $1 : 0)]];
}
builder { enable 'DProf', map { $_ ? (slower => $_) : () } $ENV{SLOWER}; \&app };
END

sub ask {
    my ($port) = @_;
    is(get($port, "/page/$_"), "200 page $_", "page $_") for 1 .. 12;
    is(get($port, '/stream'), "200 part 1\npart 2\npart 3\n", 'a stream') for 1, 2;
    is(get($port, '/lines'), "200 line\nline\nline\n", 'a body that is an object') for 1 .. 3;
    like(get($port, '/dies'), qr/^500 /, 'an application that dies');
    return;
}

my %WANT = ('GET /page/N Shop::page' => 12, 'GET /page/N Shop::row' => 78,
    'GET /stream Shop::stream' => 2, 'GET /stream Shop::row' => 8, 'GET /lines Shop::row' => 12,
    'GET /page/N Shop::app' => 12, 'GET /stream Shop::app' => 2, 'GET /lines Shop::app' => 3,
    'GET /dies Shop::app' => 1);

sub check {
    my ($files, $want, $name) = @_;
    my $calls = PhaseReader::calls($files, qr/^Shop::(?:app|row|page|stream|tick)\z/);
    is_deeply($calls, $want, $name) or diag explain $calls;
    return;
}

for my $server (['starman', ['--workers', 3], 'QUIT'], ['plackup', [], 'INT'],
    ['twiggy', [], 'QUIT']) {
    my ($name, $more, $signal) = @$server;
    subtest $name => sub {
        my $command = program($name) or plan skip_all => "there is no $name";
        my $port = free_port();
        my $dir = serve(\&ask, port => $port, signal => $signal,
            args => [$command, @$more, '--listen', "127.0.0.1:$port", $app]);
        # The signal kills plackup itself; what it has recorded is there all the same.
        my @files = $name eq 'plackup' ? "$dir/out" : files_of($dir);
        cmp_ok(scalar @files, '>=', 4, 'each worker has its file') if $name eq 'starman';
        check(\@files, \%WANT, 'each path has its calls, in all processes');
        my $table = run_tool('dprofreport', ['--processes', '-n', '-s', 'phase,sub', "$dir/out"]);
        like($table->{out}, qr{ 78  GET /page/N +Shop::row$}m, 'dprofreport --processes')
            or diag $table->{err};
    };
}

subtest 'requests that overlap' => sub {
    my $command = program('twiggy') or plan skip_all => 'there is no twiggy';
    my $port = free_port();
    my $ask = sub {
        my @pids;
        for my $n (1, 2) {
            my $pid = fork // die "fork: $!";
            POSIX::_exit(get($port, '/later') eq '200 released' ? 0 : 1) if !$pid;
            push @pids, $pid;
            until_is('a request waits', sub { get($port, '/status') eq "200 $n" });
        }
        is(get($port, '/release'), '200 page 0', 'both are released');
        for my $pid (@pids) { waitpid $pid, 0; is($?, 0, '... and get their page') }
    };
    my $dir = serve($ask, port => $port, signal => 'QUIT',
        args => [$command, '--listen', "127.0.0.1:$port", $app]);
    my $calls = PhaseReader::calls([files_of($dir)], qr/^Shop::(?:row|tick)\z/);
    is_deeply($calls, { 'GET /later Shop::row' => 2, '(overlapping requests) Shop::tick' => 1 },
        'what cannot be told apart is in one phase') or diag explain $calls;
};

subtest 'slow requests alone' => sub {
    my $command = program('starman') or plan skip_all => 'there is no starman';
    my $port = free_port();
    my $ask = sub {
        ask($port);
        is(get($port, "/slow/$_"), "200 page $_", "slow $_") for 3, 4;
    };
    my $dir = serve($ask, port => $port, signal => 'QUIT', env => { SLOWER => 0.4 },
        args => [$command, '--workers', 3, '--listen', "127.0.0.1:$port", $app]);
    check([files_of($dir)], { 'GET /slow/N Shop::app' => 2, 'GET /slow/N Shop::page' => 2,
        'GET /slow/N Shop::row' => 7 }, 'have their calls, and nothing is left of others');
};

done_testing();
