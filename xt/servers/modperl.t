# The cookbook's recipe for mod_perl, under a real Apache: only slow requests, of all children.
use strict;
use warnings;
use lib 't/lib', 'xt/lib';
use Test::More;
use DProfTest;
use PhaseReader;
use Servers;

my ($apache) = grep { -x } program('apache2') // (), '/usr/sbin/apache2';
my ($modules) = grep { -e "$_/mod_perl.so" } '/usr/lib/apache2/modules';
plan skip_all => 'there is no apache2' if !$apache;
plan skip_all => 'there is no mod_perl' if !$modules;

my $dir = scratch();
my $port = free_port();
spew("$dir/Slow.pm", cookbook('# Slow.pm'));
spew("$dir/Shop.pm", <<'END');
package Shop;
use strict; use warnings;
use Apache2::Const -compile => 'OK'; use Apache2::RequestRec (); use Apache2::RequestIO ();
sub row { 1 } sub page { row() for 1 .. $_[0]; return "page $_[0]" }
sub handler { my ($r) = @_; my ($n) = $r->uri =~ /(\d+)/;
    select undef, undef, undef, 0.7 if $n > 100;
    die "dead\n" if $r->uri =~ /dies/;
    $r->content_type('text/plain'); $r->print(page($n)); return Apache2::Const::OK }
1;
END
my $recipe = cookbook('PerlSwitches ') =~ s{/var/tmp/dprof/tmon}{$dir/out/tmon}r;
spew("$dir/httpd.conf", <<"END");
ServerRoot $dir
ServerName 127.0.0.1
Listen 127.0.0.1:$port
PidFile $dir/pid
ErrorLog $dir/error.log
LoadModule mpm_prefork_module $modules/mod_mpm_prefork.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule perl_module $modules/mod_perl.so
@{[ $> ? '' : "User nobody\nGroup nogroup" ]}
StartServers 3
PerlSwitches @{[ map { "-I$_" } tree(), root() . '/blib/lib', $dir ]}
$recipe
PerlModule Shop
<Location /shop>
    SetHandler perl-script
    PerlResponseHandler Shop
</Location>
END
mkdir "$dir/out" or die "$dir/out: $!";
chmod 0777, "$dir/out";
chmod 0755, $dir, $dir =~ s{/[^/]*\z}{}r;

sub ask {
    my ($port) = @_;
    is(get($port, "/shop/$_"), "200 page $_", "page $_") for 1 .. 9, 120, 10, 130, 11;
    like(get($port, "/shop/dies/$_"), qr/^500 /, 'a handler that dies') for 4, 104;
    return;
}

serve(\&ask, port => $port, signal => 'WINCH', dir => $dir,
    command => [$apache, '-f', "$dir/httpd.conf", '-DFOREGROUND'],
    env => { PERL_DPROF_MODE => undef, PERL_DPROF_OUT => undef });
my @files = grep { !/\.old/ } files_of("$dir/out/tm");
cmp_ok(scalar @files, '>=', 4, 'each child has its file');
my $calls = PhaseReader::calls(\@files, qr/^Shop::(?:row|page|handler)\z/);
is_deeply($calls, { 'GET /shop/N Shop::handler' => 2, 'GET /shop/N Shop::page' => 2,
    'GET /shop/N Shop::row' => 250, 'GET /shop/dies/N Shop::handler' => 1 },
    'slow requests have their calls, and there are no others') or diag explain $calls;
my $table = run_tool('dprofreport', ['--processes', '-n', '-s', 'phase,sub', "$dir/out/tmon.out"]);
like($table->{out}, qr{ 250  GET /shop/N +Shop::row$}m, 'dprofreport --processes')
    or diag $table->{err};

done_testing();
