# Plack::Middleware::DProf: what each request costs, by its phase; with the counting clock every
# call is known. No server is needed: an application is a sub.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;
use PhaseReader;

plan skip_all => 'there is no Plack' if !PhaseReader::has('Plack::Middleware');

my %TREE = (counting(), PERL_DPROF_MODE => 'tree');
my %ALONE = (PERL_DPROF_START => 'no');

# What the programs share: an application, and what servers do with a response.
my $SERVER = <<'END';
use strict; use warnings;
use Plack::Middleware::DProf;
use Devel::DProf::Control ();
sub page { row() for 1 .. $_[0]; return "$_[0]\n" } sub row { 1 } sub idle { 1 } sub tick { 1 }
package Body { sub new { my ($class, @lines) = @_; return bless [@lines], $class }
    sub getline { main::row(); return shift @{ $_[0] } } sub close { main::tick() }
    sub path { '/a/path' } }
package Writer { sub new { bless { text => '' } } sub write { $_[0]{text} .= $_[1]; return 7 }
    sub close { print "closed: $_[0]{text}\n" } sub poll { return "poll $_[1]" } }
package main;
sub wrapped { my ($app, @opt) = @_; return Plack::Middleware::DProf->wrap($app, @opt) }
sub env { my ($path, @more) = @_;
    return { REQUEST_METHOD => 'GET', SCRIPT_NAME => '', PATH_INFO => $path, @more } }
sub body_of { my ($body) = @_;
    return join '', @$body if ref $body eq 'ARRAY';
    my $text = ''; while (defined(my $line = $body->getline)) { $text .= $line } $body->close;
    return $text }
sub ask { my ($app, $path, @more) = @_;
    my $got = eval { $app->(env($path, @more)) } or return print "died: $@";
    return print "$got->[0] ", body_of($got->[2]), "\n" if ref $got eq 'ARRAY';
    $got->(sub { my ($r) = @_; print "$r->[0] "; return Writer::new() if !$r->[2];
        print body_of($r->[2]), "\n"; return });
    idle() }
END

# Runs the program plain and recorded; the output must be the same. Returns calls as `PHASE SUB`, of
# subs that are named here.
sub phases {
    my ($name, $program, %env) = @_;
    my $file = spew(scratch() . '/p.pl', $SERVER . $program);
    my @with = ('-I' . root() . '/blib/lib', $file);
    my $plain = plain([@with], env => { PERL5LIB => tree() });
    is("$plain->{err}$plain->{raw}", 0, "$name runs without the profiler");
    my $run = profiled([@with], env => { %TREE, %env });
    same_as_plain($plain, $run, "$name does the same with the profiler");
    return (PhaseReader::calls($run->{profile}, qr/^(?:Body|Writer|main)::\w+\z/), $run);
}

my $APP = <<'END';
my $app = sub { my ($env) = @_; my ($n) = $env->{PATH_INFO} =~ /(\d+)/;
    die "gone\n" if !$n; return [200, [], [page($n)]] };
END

{
    my ($calls, $run) = phases('pages', $APP . <<'END');
$app = wrapped($app);
ask($app, '/page/3'); idle(); ask($app, '/page/40'); ask($app, '/cart/2'); idle();
ask($app, '/gone'); idle();
ask($app, '/u/550e8400-e29b-41d4-a716-446655440000/9', REQUEST_METHOD => 'MADEUP');
END
    is_deeply($calls, {
        'GET /page/N main::page' => 2, 'GET /page/N main::row' => 43,
        'GET /cart/N main::page' => 1, 'GET /cart/N main::row' => 2,
        'OTHER /u/N/N main::page' => 1, 'OTHER /u/N/N main::row' => 550,
        'main main::ask' => 5, 'main main::body_of' => 4, 'main main::env' => 5,
        'main main::idle' => 3, 'main main::wrapped' => 1,
    }, 'each path has its calls') or diag explain $calls;
    is_deeply(PhaseReader::calls($run->{profile},
        qr/^(?:Plack::Middleware::DProf|Devel::DProf::Requests)::/), {},
        "the profile has none of the middleware's own subs");
    is(PhaseReader::begun($run->{profile})->{'GET /page/N'}, 2,
        'each request of a path begins a phase');
}
{
    my ($calls) = phases('every third', $APP . <<'END', %ALONE);
$app = wrapped($app, every => 3); ask($app, "/page/$_"), idle() for 1 .. 8;
END
    is_deeply($calls, { 'GET /page/N main::page' => 3, 'GET /page/N main::row' => 1 + 4 + 7 },
        'only requests are recorded with start=no');
    ($calls) = phases('every third of all', $APP . <<'END');
$app = wrapped($app, every => 3); ask($app, "/page/$_"), idle() for 1 .. 8;
print "still\n" if !defined Devel::DProf::Control::phase() || Devel::DProf::Control::recording();
END
    is_deeply([@$calls{'GET /page/N main::row', 'main main::idle', 'main main::row'}],
        [12, 8, undef], 'requests are recorded, and what runs outside of them');
}

# Numbers of rows from 100 on are slow.
my $SLOW = $APP =~ s/page\(\$n\)/work(\$n)/r . <<'END';
sub work { Devel::DProf::_advance($_[0] * 100_000, 0) if defined Devel::DProf::Control::phase();
    return page($_[0]) }
END
{
    my ($calls, $run) = phases('slower than 10 ms', $SLOW . <<'END');
$app = wrapped($app, slower => 0.01);
for (1 .. 3) { ask($app, '/page/7'), idle() for 1 .. 3; ask($app, '/page/120');
    ask($app, '/fast/2') }
ask($app, '/gone'); ask($app, '/last/100');
END
    my %rows = map { $_ => $calls->{$_} } grep { /main::(?:row|idle)\z|^(?!main)/ } keys %$calls;
    is_deeply(\%rows, { 'GET /page/N main::row' => 360, 'GET /page/N main::page' => 3,
        'GET /page/N main::work' => 3, 'GET /last/N main::row' => 100,
        'GET /last/N main::page' => 1, 'GET /last/N main::work' => 1, 'main main::idle' => 9,
    }, 'slow requests are recorded, and what runs outside of them') or diag explain \%rows;
    is_deeply(PhaseReader::begun($run->{profile}), { BEGIN => 1, main => 5,
        'GET /page/N' => 3, 'GET /last/N' => 1 }, 'requests that are left out begin no phase')
        or diag explain PhaseReader::begun($run->{profile});
    ($calls, $run) = phases('slower with start=no', $SLOW . <<'END', %ALONE);
$app = wrapped($app, slower => 0.01, every => 2);
ask($app, "/page/$_"), idle() for 100, 101, 3, 4, 200, 201;
if (!fork) { ask($app, "/child/$_"), idle() for 1, 150, 5, 6, 160; exit 0 } wait;
END
    is_deeply($calls, { 'GET /page/N main::page' => 2, 'GET /page/N main::work' => 2,
        'GET /page/N main::row' => 300 }, 'every second request is recorded, and nothing else');
    is(PhaseReader::begun($run->{profile})->{'GET /page/N'}, 2,
        'every second request begins a phase');
    my ($child) = grep { !/\.live\z/ } glob "$run->{profile}.*";
    is_deeply(PhaseReader::calls($child, qr/^main::row\z/), { 'GET /child/N main::row' => 160 },
        'every second request of a forked worker is recorded');
}
{
    my ($calls, $run) = phases('slow ones that overlap', $SLOW . <<'END');
my @later; my $on = wrapped(sub { my ($env) = @_; work($env->{PATH_INFO} =~ /(\d+)/);
    return sub { my ($respond) = @_; push @later, $respond } }, slower => 0.01);
my $begin = sub { $on->(env($_[0]))->(sub { return }) };
my $finish = sub { my ($n, $at) = @_; work($n);
    (splice @later, $at, 1)->([200, [], Body->new('x')]) };
my $body; $begin->('/a1'); tick(); $begin->('/b110'); $begin->('/c2'); tick() for 1 .. 10;
$finish->(0, 1); tick(); body_of($_) for $finish->(1, 1), $finish->(1, 0); tick() for 1 .. 100;
ask(wrapped($app, slower => 5), '/fast/1'); ask($on, '/d3'); (shift @later)->([200, [], ['x']]);
END
    my %rows = map { $_ => $calls->{$_} } grep { /main::(?:row|tick)\z/ } keys %$calls;
    is_deeply(\%rows, { 'GET /aN main::row' => 2, 'GET /aN main::tick' => 1,
        'GET /bN main::row' => 110, '(overlapping requests) main::row' => 1,
        '(overlapping requests) main::tick' => 11, 'main main::tick' => 100,
    }, 'requests that overlap are slow by their own time, and share what overlaps')
        or diag explain \%rows;
}
{
    my ($calls) = phases('slow bodies', <<'END');
sub wait_for { Devel::DProf::_advance(20_000_000, 0) if defined Devel::DProf::Control::phase() }
package Slow { our @ISA = 'Body'; sub close { main::wait_for(); main::tick() for 1 .. 3 } }
package main;
my $app = wrapped(sub { row(); return [200, [], ($_[0]{PATH_INFO} =~ /slow/ ? 'Slow' : 'Body')
    ->new('a')] }, slower => 0.01);
ask($app, '/slow'); ask($app, '/fast'); ask($app, '/slow');
END
    my @subs = grep { /^GET.*main::(?:row|tick)/ } sort keys %$calls;
    is_deeply([map { [$_, $calls->{$_}] } @subs],
        [['GET /slow main::row', 6], ['GET /slow main::tick', 6]],
            'slow requests are recorded to their very end')
        or diag explain $calls;
}
{
    my ($calls) = phases('names', $APP . <<'END');
$app = wrapped($app, name => sub { my ($env) = @_; die "no\n" if $env->{PATH_INFO} =~ /5/;
    return $env->{PATH_INFO} =~ /6/ ? undef : 'all pages' });
local $SIG{__WARN__} = sub { Devel::DProf::Control::phase() ? 0 : print 'told' };
ask($app, '/a/3'); ask($app, '/b/5'); ask($app, '/b/6');
ask($app, '/c/7', 'dprof.name' => 'the c');
my $router = wrapped(sub { my ($env) = @_; row();
    if ($env->{PATH_INFO} =~ /late/) { $env->{'dprof.name'} = 'late' }
    else { $_->('router') for $env->{'dprof.rename'} // () }
    row(); row(); return [200, [], Body->new('x')] });
ask($router, '/r'); ask($router, '/late');
my $own = wrapped(sub { Devel::DProf::Control::mark('own'); tick(); return [200, [], ['']] });
ask($own, '/o'); tick();
END
    my %rows = map { $_ => $calls->{$_} } grep { /main::(?:row|tick)\z/ } keys %$calls;
    is_deeply(\%rows, {
        'all pages main::row' => 3, 'GET /b/N main::row' => 11, 'the c main::row' => 7,
        'GET /r main::row' => 1, 'router main::row' => 4, 'router main::tick' => 1,
        'GET /late main::row' => 3, 'late main::row' => 2, 'late main::tick' => 1,
        'own main::tick' => 1, 'main main::tick' => 1,
    }, 'the names of phases come from the option, the environment and the application')
        or diag explain \%rows;
}
{
    my ($calls) = phases('bodies', <<'END');
my @same = (200, ['X', 'y'], Body->new('a', 'b'));
my $app = wrapped(sub { return \@same });
ask($app, '/object') for 1, 2; print ref $same[2], "\n";
my $body = $app->(env('/path'))->[2];
print $body->path, ' ', $body->can('path')->($body), ' ', $body->can('nothing') // 'no', ' ',
    $body->isa('Body'), "\n"; idle(); undef $body; tick();
open my $in, '<', \"text\n" or die; my $file = [200, [], $in];
my $got = wrapped(sub { return $file })->(env('/file')); tick();
print $got == $file ? "same\n" : "other\n";
print ref wrapped(sub { return 'odd' })->(env('/odd')) || 'odd', "\n"; tick();
END
    is_deeply($calls, {
        'GET /object Body::getline' => 4, 'GET /object main::row' => 4,
        'GET /object Body::close' => 2, 'GET /object main::tick' => 2,
        'GET /path Body::path' => 2, 'GET /path main::idle' => 1, 'main main::tick' => 3,
        'GET /object main::body_of' => 2, 'main main::ask' => 2,
        'main main::env' => 5, 'main main::wrapped' => 3, 'main Body::new' => 1,
    }, 'bodies that are objects end when they are closed or freed') or diag explain $calls;
}
{
    my ($calls) = phases('streams', <<'END');
my $app = wrapped(sub { my ($env) = @_; row();
    die "early\n" if $env->{PATH_INFO} =~ /early/;
    return sub { my ($respond) = @_; row(); row();
        die "late\n" if $env->{PATH_INFO} =~ /late/;
        return $respond->([200, [], Body->new('whole')]) if $env->{PATH_INFO} =~ /whole/;
        my $w = $respond->([200, []]); print $w->write('x'), ' ', $w->poll('p'), "\n"; row();
        $w->close; tick() } });
ask($app, $_), tick() for '/whole', '/stream'; eval { ask($app, '/late') }; tick();
eval { ask($app, '/early') }; tick();
END
    my %rows = map { $_ => $calls->{$_} }
        grep { /main::(?:row|tick|idle)\z|Writer::|Body::/ } keys %$calls;
    is_deeply(\%rows, {
        'GET /whole main::row' => 5, 'GET /whole Body::new' => 1, 'GET /whole Body::getline' => 2,
        'GET /whole Body::close' => 1, 'GET /whole main::tick' => 1,
        'GET /stream main::row' => 4, 'GET /stream main::tick' => 1, 'GET /stream Writer::new' => 1,
        'GET /stream Writer::write' => 1, 'GET /stream Writer::poll' => 1,
        'GET /stream Writer::close' => 1,
        'GET /late main::row' => 3, 'GET /early main::row' => 1,
        'main main::idle' => 2, 'main main::tick' => 4,
    }, 'bodies run in the phase of their request') or diag explain \%rows;
}
{
    my ($calls) = phases('requests that overlap', <<'END');
my @later; my $app = wrapped(sub { my ($env) = @_; row();
    return sub { my ($respond) = @_; row(); push @later, $respond } });
my $begin = sub { $app->(env($_[0]))->(sub { return }) };
my $finish = sub { (shift @later)->([200, [], []]) };
$begin->('/a'); tick(); $begin->('/b'); tick() for 1 .. 10; $begin->('/c'); $finish->(); tick();
$finish->(); tick() for 1 .. 100; $finish->(); tick() for 1 .. 1000;
END
    my %rows = map { $_ => $calls->{$_} } grep { /main::(?:row|tick)\z/ } keys %$calls;
    is_deeply(\%rows, { map({ ("GET /$_ main::row" => 2) } qw(a b c)),
        'GET /a main::tick' => 1, '(overlapping requests) main::tick' => 11,
        'GET /c main::tick' => 100, 'main main::tick' => 1000,
    }, 'overlapping requests have the calls that certainly belong to them') or diag explain \%rows;
}
{
    my ($calls) = phases('many paths', <<'END');
my $app = wrapped(sub { row(); return [200, [], ['']] });
ask($app, "/\xc3\xa9 "); ask($app, ''); ask($app, '/' . 'z' x $_) for 300, 400;
my $name = 'aa'; ask($app, '/' . $name++) for 1 .. 260; ask($app, '/aa');
END
    my @names = grep { /main::row\z/ } keys %$calls;
    my @of = map { $calls->{"GET $_ main::row"} } '(other paths)', '/aa', "/\xc3\xa9 ", '/',
        '/' . 'z' x 199;
    is_deeply([scalar @names, @of], [201, 63, 2, 1, 1, 2],
        'the names of phases are bounded in number and in length')
        or diag explain \@of;
}
{
    my $mistakes = <<'END';
my $told = ''; local $SIG{__WARN__} = sub { $told .= $_[0] =~ s/ at \S+ line.*//sr . "\n" };
my $app = wrapped(sub { row(); return [200, [], ['']] }, every => 0, name => 'x', evry => 2,
    slower => 'x');
ask($app, '/a');
die "not told: $told" if Devel::DProf::Control::phase()
    && $told !~ /unknown option evry\n.*every => 0 is not.*\n.*name is not a code.*\n.*slower => x/;
END
    my ($calls) = phases('mistakes', $mistakes);
    is($calls->{'GET /a main::row'}, 1, 'wrong names give a message and do no harm');
}
{
    my ($calls) = phases('inside', <<'END');
my $inner = wrapped(sub { my ($env) = @_; row(); return [200, [], ['']] });
my $app = wrapped($inner); ask($app, '/twice');
my $sub = wrapped(sub { ask($inner, '/within'); row(); return [200, [], ['']] });
ask($sub, '/around');
sub in_child { row(); return } if (!fork) { ask($app, '/child'); exit 0 } wait;
sub T::DESTROY { print "destroyed\n" } our $t = bless [], 'T';
exit 0 if ask(wrapped(sub { row(); exit 0 }), '/exit');
END
    my %rows = map { $_ => $calls->{$_} } grep { /main::row\z/ } keys %$calls;
    is_deeply(\%rows, { 'GET /twice main::row' => 1, 'GET /within main::row' => 1,
        'GET /around main::row' => 1, 'GET /exit main::row' => 1,
    }, 'nested middlewares and an exit keep their phases') or diag explain \%rows;
}
SKIP: {
    skip 'there is no Coro', 3 if run_perl(['-e', 'require Coro'])->{raw};
    my ($calls) = phases('coroutines', <<'END');
use Coro;
my $app = wrapped(sub { my ($env) = @_; row(); cede(); tick() for 1 .. 5; return [200, [], ['']] });
my @t = map { my $n = $_; async { $app->(env("/$n")) } } qw(a b); $_->join for @t; row();
END
    is_deeply([@$calls{'GET /a main::row', 'GET /b main::row', 'main main::row',
        '(overlapping requests) main::row'}], [1, undef, 1, 1],
        'calls of overlapping requests belong to no request while several are in the application')
        or diag explain $calls;
}
{
    my ($calls, $run) = phases('samples', $APP . <<'END', PERL_DPROF_MODE => undef,
$app = wrapped($app); ask($app, '/page/3000'); ask($app, '/cart/9'); idle();
END
        PERL_DPROF_SAMPLE => 100_000, PERL_DPROF_CLOCK => 'counting:10000');
    is_deeply($calls, {}, 'a sampled profile has no calls');
    my $table = run_tool('dprofreport', ['-m', 'samples', '-s', 'phase', $run->{profile}])->{out};
    my %self = map { /%\s+([\d.]+)%\s+(\S.*\S)\s*\z/ ? ($2 => $1) : () } split /\n/, $table;
    cmp_ok($self{'GET /page/N'}, '>', 40 * $self{'GET /cart/N'},
        'a sampled profile has the phases of requests')
        or diag $table;
}

done_testing();
