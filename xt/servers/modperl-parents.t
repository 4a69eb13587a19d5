# Apache with several interpreters in each process (mod_perl's +Parent), which start, are restarted
# gracefully, and stop. All that ask are recorded, and one that does not ask is not.
use strict;
use warnings;
use lib 't/lib', 'xt/lib';
use Test::More;
use DProfTest;
use RunReader;
use Servers;

my ($apache) = grep { -x } program('apache2') // (), '/usr/sbin/apache2';
my ($modules) = grep { -e "$_/mod_perl.so" } '/usr/lib/apache2/modules';
plan skip_all => 'there is no apache2' if !$apache;
plan skip_all => 'there is no mod_perl' if !$modules;

my @modes = (["-d:DProf=tree", 1], ["-d:DProf=sample=1000", 0], ["-d:DProf", 1], ["-w", undef]);
for (@modes) {
    my ($switch, $counts) = @$_;
    my $dir = scratch();
    my $port = free_port();
    mkdir "$dir/out" or die "$dir/out: $!";
    for my $name (qw(One Two Three)) {
        spew("$dir/$name.pm", <<"END");
package $name;
use strict; use warnings;
use Apache2::Const -compile => 'OK'; use Apache2::RequestRec (); use Apache2::RequestIO ();
our \@boot = map { row_at_start() } 1 .. 3;
sub row_at_start { 1 } sub row { 1 } sub page { row() for 1 .. 20; return "$name" }
sub handler { my (\$r) = \@_; \$r->content_type('text/plain');
    my \$debugger = defined \$DB::single ? 'debugger' : 'plain';
    \$r->print(page() . " \$debugger"); return Apache2::Const::OK }
1;
END
    }
    my $perl = sub {
        my ($name, $options, $own) = @_;
        return <<"END";
    PerlOptions $options
    PerlSwitches $own @{[ map { "-I$_" } tree(), $dir ]}
    PerlModule $name
    <Location /$name>
        SetHandler perl-script
        PerlResponseHandler $name
    </Location>
END
    };
    my @ports = ($port, free_port(), free_port());
    my $own = $switch eq '-w' ? '-w' : "$switch,out=$dir/out/tmon.out" =~ s/DProf,/DProf=/r;
    spew("$dir/httpd.conf", <<"END");
ServerRoot $dir
ServerName 127.0.0.1
@{[ map { "Listen 127.0.0.1:$_\n" } @ports ]}
PidFile $dir/pid
ErrorLog $dir/error.log
LoadModule mpm_prefork_module $modules/mod_mpm_prefork.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule perl_module $modules/mod_perl.so
@{[ $> ? '' : "User nobody\nGroup nogroup" ]}
StartServers 2
MaxSpareServers 2
@{[ $perl->('One', '+Enable', $own) ]}
<VirtualHost *:$ports[1]>
@{[ $perl->('Two', '+Parent', $own) ]}
</VirtualHost>
<VirtualHost *:$ports[2]>
@{[ $perl->('Three', '+Parent', '-w') ]}
</VirtualHost>
END
    chmod 0777, "$dir/out";
    chmod 0755, $dir, $dir =~ s{/[^/]*\z}{}r;
    my @names = qw(One Two Three);
    my $ask = sub {
        my ($when) = @_;
        for my $turn (1 .. 5) {
            is(get($ports[$_], "/$names[$_]"), "200 $names[$_] plain", "$switch, $when: $names[$_]")
                for 0 .. 2;
        }
        return;
    };
    serve(sub {
        until_is('the file of its process', sub { (slurp("$dir/pid") // '') =~ /\d/ });
        my ($pid) = slurp("$dir/pid") =~ /(\d+)/;
        $ask->('started');
        for my $n (1, 2) {
            kill USR1 => $pid;
            until_is('a graceful restart', sub {
                my $resumed = () = slurp("$dir/error.log") =~ /resuming normal operations/g;
                return $resumed > $n;
            });
            $ask->("restarted gracefully, $n");
        }
    }, port => $port, signal => 'WINCH', dir => $dir,
        command => [$apache, '-f', "$dir/httpd.conf", '-DFOREGROUND'],
        env => { PERL_DPROF_MODE => undef, PERL_DPROF_OUT => undef });
    my $log = slurp("$dir/error.log");
    unlike($log, qr/exit signal|Segmentation|Abort|DProf:|perl5db/, "$switch: nothing is said") or
        diag $log;
    my @files = grep { !/\.(?:old|live)\z/ } glob "$dir/out/*";

    if (!defined $counts) {
        is(scalar @files, 0, 'nothing is recorded');
        next;
    }
    my ($calls, @outcomes) = calls_of(@files);
    is(join(' ', map { $_->{code} } @outcomes), join(' ', map { 0 } @files),
        "$switch: all files are whole");
    cmp_ok(scalar @files, '>=', 6, "$switch: interpreters and children have files")
        or diag "@files";
    next if !$counts;
    is_deeply([map { $calls->{"${_}::row"} // 0 } @names], [300, 300, 0],
        "$switch: all calls of two interpreters are recorded, and none of the third")
        or diag join "\n", `ls -la $dir/out`, map { "$_ $calls->{$_}" } sort keys %$calls;
}

done_testing();
