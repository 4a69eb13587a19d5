# detail=: each call of a library is a span once. The databases are drivers without one
# (t/lib/FakeDBD.pm).
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;

my $lib = root() . '/t/lib';
my $has_dbi = eval { require DBI };
my %mode = (trace => 'mode=trace', tree => 'mode=tree', lines => 'mode=tree,lines=time');

# Runs a program with detail=, and returns its profiles.
sub recorded {
    my ($program, $options) = @_;
    my $dir = scratch();
    my $file = spew("$dir/program.pl", $program);
    my $run = run_perl(["-I$lib", $file], profile => 1, dir => $dir,
        env => { PERL_DPROF_OUT => "$dir/tmon.out", PERL_DPROF_OPTS => undef,
            map { ("PERL_DPROF_" . uc s/=.*//r) => s/.*?=//r } split /,/, $options });
    is("$run->{raw} $run->{err}", '0 ', 'the program runs');
    return grep { !/\.live\z/ } glob "$dir/tmon.out*";
}

# The calls of each span of a kind, in profiles.
sub calls {
    my ($kind, @profiles) = @_;
    my $run = run_tool('dprofreport', ['-t', "\t", '-F', 'calls,sub', '--wide', @profiles]);
    my %calls;
    for (split /\n/, $run->{out}) {
        my ($calls, $name) = /^\s*(\d+)\t(.*?)\s*\z/ or next;
        $calls{$name} = $calls if $name =~ s/^\Q$kind\E://;
    }
    return \%calls;
}

# Runs a program in each mode, and compares the calls of a kind.
sub calls_are {
    my ($kind, $program, $expected, $title) = @_;
    for my $mode (sort keys %mode) {
        my @profiles = recorded($program, "detail=$kind,$mode{$mode}");
        is_deeply(calls($kind, @profiles), $expected, "$title ($mode)")
            or diag explain calls($kind, @profiles);
    }
}

# ---- SQL ----
SKIP: {
    skip 'DBI is not installed', 1 if !$has_dbi;
    my $head = <<'END';
use strict;
use warnings;
use DBI;
use FakeDBD qw(Fake);
my ($dbh, $other) = map { DBI->connect('dbi:Fake:', '', '', { RaiseError => 1, PrintError => 0 }) }
    1 .. 2;
END
    calls_are(sql => $head . <<'END', {
my $sth = $dbh->prepare('SELECT a FROM t WHERE b = ?');
for my $i (1 .. 3) { $sth->execute($i); while (my @row = $sth->fetchrow_array) { last if $i > 2 } }
my $all = $dbh->selectall_arrayref("SELECT a FROM t WHERE b = $_") for 1 .. 4;
my @one = $dbh->selectrow_array($sth, undef, 1) for 1 .. 5;
my $col = $dbh->selectcol_arrayref('SELECT c FROM t') for 1 .. 2;
my $hash = $dbh->selectall_hashref('SELECT a FROM u', 'a');
my @all = $dbh->selectall_array('SELECT d FROM t');
my $row = $dbh->selectrow_hashref('SELECT e FROM t');
$dbh->do('DELETE FROM t WHERE a = ?', undef, 7) for 1 .. 2;
eval { $dbh->do('it fails') } for 1 .. 3;
$dbh->prepare_cached('SELECT f FROM t')->execute;
eval "\$dbh->do('UPDATE t')" for 1 .. 2;
my @sorted = sort { $dbh->do('SELECT sort'); $a <=> $b } 2, 1;
$dbh->commit;
END
        'SELECT a FROM t WHERE b = ?' => 3 + 4 + 5, 'prepare: SELECT a FROM t WHERE b = ?' => 1,
        'SELECT c FROM t' => 2, 'SELECT a FROM u' => 1, 'SELECT d FROM t' => 1,
        'SELECT e FROM t' => 1, 'DELETE FROM t WHERE a = ?' => 2, 'it fails' => 3,
        'SELECT f FROM t' => 1, 'prepare: SELECT f FROM t' => 1, 'UPDATE t' => 2,
        'SELECT sort' => 1, commit => 1,
    }, 'each execution counts once, however the program asks for it');

    calls_are(sql => $head . <<'END', {
$dbh->{Callbacks} = { selectcol_arrayref => sub { eval { $other->do('it fails') }; return } };
my $col = $dbh->selectcol_arrayref('SELECT a FROM t') for 1 .. 4;
my $list = DBI->connect('dbi:Fake:', '', '', { RaiseError => 1, PrintError => 0 });
$list->{HandleError} = sub { $other->do('INSERT INTO log'); return 0 };
eval { $list->selectall_arrayref('it fails, too') } for 1 .. 2;
END
        'SELECT a FROM t' => 4, 'it fails' => 4, 'it fails, too' => 2, 'INSERT INTO log' => 2,
    }, 'calls that callbacks make, and that die, are not those around them');

    calls_are(sql => $head . <<'END', {
package Tied { sub TIESCALAR { return bless [], shift } sub FETCH { return 'SELECT tied' } }
package Text { use overload '""' => sub { return 'SELECT text' } }
tie my $tied, 'Tied';
$dbh->do($tied) for 1 .. 3;
my $row = $dbh->selectrow_arrayref($tied) for 1 .. 2;
my $sth = $dbh->prepare(bless [], 'Text');
$sth->execute for 1 .. 5;
END
        '(unreadable)' => 3 + 2 + 5, 'prepare: (unreadable)' => 1,
    }, 'a text that only code of the program could tell is not read, but its executions count');

    calls_are(sql => $head . <<'END', {
my ($do, $all) = (\&DBI::db::do, \&DBI::db::selectall_arrayref);
sub go { for my $i (1) { goto &$do } }
sub all { goto &$all }
go($dbh, 'DELETE FROM t') for 1 .. 3;
my $rows = all($dbh, 'SELECT a FROM t') for 1 .. 4;
eval { go($dbh, 'it fails') } for 1 .. 2;
no warnings 'redefine';
*DBI::db::do = sub { goto &$do };
$dbh->do('DELETE FROM u') for 1 .. 5;
END
        'DELETE FROM t' => 3, 'SELECT a FROM t' => 4, 'it fails' => 2, 'DELETE FROM u' => 5,
    }, 'goto to a method of DBI is a call');

    my ($profile) = recorded($head . <<'END', 'detail=sql,mode=tree');
my $sth = $dbh->prepare('SELECT a');
$sth->execute;
my @row = $sth->fetchrow_array for 1 .. 2;
my ($all) = ($dbh->selectall_arrayref('SELECT b'), $dbh->selectall_arrayref('SELECT b'));
sub all { my $method = DBI::db->can('selectall_arrayref'); goto &$method }
my $rows = all($dbh, 'SELECT c') for 1 .. 3;
END
    my $text = slurp($profile);
    my %id = reverse map { /^& (\w+) sql (\S+)/ ? ($1 => $2) : () } split /\n/, $text;
    is_deeply({ map { my $id = $id{"SELECT%20$_"}; ($_ => $text =~ /^#s \Q$id\E rows=(\d+)$/m) }
            qw(a b c) }, { a => 2, b => 6, c => 9 }, 'the rows that a program has got')
        or diag $text;
}

# ---- requests ----
{
    # Nothing listens at port 1; a subclass answers in its place, and redirects.
    calls_are(http => <<'END', {
use strict;
use warnings;
use HTTP::Tiny;
my $real = \&HTTP::Tiny::request;
{ no warnings 'redefine'; *HTTP::Tiny::request = sub { goto &$real } }
my $tiny = HTTP::Tiny->new(timeout => 5);
$tiny->get("http://127.0.0.1:1/items/$_") for 1 .. 3;
$tiny->post_form('http://127.0.0.1:1/new', { a => 1 }) for 1 .. 2;
{ no warnings 'redefine';
  *HTTP::Tiny::_request = do { my $request = \&HTTP::Tiny::_request; sub { goto &$request } } }
$tiny->head('http://127.0.0.1:1/head');
END
        'GET http://127.0.0.1:1/items/*' => 3, 'POST http://127.0.0.1:1/new' => 2,
        'HEAD http://127.0.0.1:1/head' => 1,
    }, 'HTTP::Tiny');

    calls_are(http => <<'END', {
use strict;
use warnings;
package HTTP::Request {
    sub new { my ($class, @of) = @_; bless { _method => $of[0], _uri => $of[1] }, $class }
}
package LWP::UserAgent { sub simple_request { my ($self, $request) = @_; return 1 } }
my $agent = bless {}, 'LWP::UserAgent';
my $url = 'http://h/a';
$agent->simple_request(HTTP::Request->new(GET => bless \$url, 'URI')) for 1 .. 2;
$agent->simple_request(
    HTTP::Request->new(GET => bless [bless(\(my $u = 'http://h/b'), 'URI')], 'URI::URL'));
$agent->simple_request(HTTP::Request->new(GET => bless {}, 'Own')) for 1 .. 3;
{ no warnings 'redefine'; my $wrapped = \&LWP::UserAgent::simple_request;
  eval 'package LWP::UserAgent; sub simple_request { my @of = @_; $wrapped->(@of) } 1' or die; }
$agent->simple_request(HTTP::Request->new(PUT => 'http://h/c')) for 1 .. 4;
END
        'GET http://h/a' => 2, 'GET http://h/b' => 1, 'GET (unreadable)' => 3,
        'PUT http://h/c' => 4,
    }, 'LWP::UserAgent: URLs that are objects, and a wrapper with the name of what it wraps');

    calls_are(http => <<'END', {
use strict;
use warnings;
package Mojo::UserAgent { sub start { return } }
my $url = { scheme => 'http', host => 'h', path => { path => '/a/12' } };
my $tx = { req => { method => 'GET', url => $url } };
my $agent = bless {}, 'Mojo::UserAgent';
$agent->start($tx, undef) for 1 .. 2;
$agent->start($tx);
$agent->start($tx, sub { });
END
        'GET http://h/a/*' => 3,
    }, 'Mojo::UserAgent: a call with a callback returns before the request ends');
}

# A connection is a glob, whose hash has the host. Two connections take turns; LWP's own calls
# belong to its requests; what is read without a request belongs to none.
calls_are(http => <<'END', {
use strict;
use warnings;
package Net::HTTP::Methods {
    sub write_request { return 1 }
    sub read_response_headers { return 200 }
    sub read_entity_body { return 0 }
    sub connection { my ($class, $host) = @_; no strict 'refs'; our $n;
        my $self = bless \*{"glob" . ++$n}, $class; ${*$self}{http_host} = $host; return $self }
}
package Net::HTTP { our @ISA = 'Net::HTTP::Methods' }
package Net::HTTPS { our @ISA = 'Net::HTTP::Methods' }
package LWP::Protocol::http { sub request { $_[1]->write_request(GET => '/lwp');
    return $_[1]->read_response_headers } }
package main;
my ($one, $two) = (Net::HTTP->connection('h:8080'), Net::HTTPS->connection('s'));
$two->read_response_headers;
for my $i (1 .. 3) {
    $one->write_request(GET => "/items/$i?token=secret", 'User-Agent' => 'x');
    $two->write_request(POST => '/new');
    for my $connection ($two, $one) {
        $connection->read_response_headers;
        1 while $connection->read_entity_body(my $buffer, 1024);
    }
}
LWP::Protocol::http->request($one) for 1 .. 2;
$one->write_request(GET => 'http://other/a');
END
    'GET http://h:8080/items/*' => 3, 'POST https://s/new' => 3, 'GET http://other/a' => 1,
}, 'Net::HTTP');

# ---- templates ----

# In Mojolicious, the options of a template that is not inline have an undefined `inline`, and the
# renderer finds the handler.
calls_are(template => <<'END', {
use strict;
use warnings;
package Mojolicious::Renderer { sub _render_template { return 1 } }
package Mojo::Template { sub render { return 1 } sub render_file { return render(@_) } }
package Mojolicious::Plugin::EPLRenderer { sub handle { Mojo::Template->render_file('x.epl') } }
package Template::Document { sub process { return 1 } }
package Text::Xslate::Engine { sub render { return 1 } sub render_string { return render(@_) } }
package Text::Xslate::PP { sub render { return 1 } }
package HTML::Template { sub output { return 1 } }
package HTML::Mason::Request { sub comp { return 1 } }
package main;
my $renderer = bless { default_handler => 'ep', templates => { 'b.txt' => ['tt', 'ep'] } },
    'Mojolicious::Renderer';
sub page {
    $renderer->_render_template(undef, \my $to, { inline => undef, handler => undef, @_ });
}
page(template => 'a', format => 'html') for 1 .. 2;
page(template => 'b', format => 'txt');
page(template => 'shop/b', format => 'txt', handler => 'epl');
page(template => 'a', format => 'html', inline => 'SECRET <%= 1 %>');
Mojolicious::Plugin::EPLRenderer->handle;
Mojo::Template->render_file('t/mail-12345.ep');
Mojo::Template->render('SECRET');
bless({ name => 'report.tt' }, 'Template::Document')->process for 1 .. 3;
bless({ name => \'SECRET' }, 'Template::Document')->process;
Text::Xslate::Engine->render('a.tx', {});
Text::Xslate::Engine->render_string('SECRET');
Text::Xslate::PP->render('pp.tx');
bless({ options => { filename => 'page.tmpl' } }, 'HTML::Template')->output;
bless({ options => {} }, 'HTML::Template')->output;
my $mason = bless {}, 'HTML::Mason::Request';
$mason->comp('/head.mas');
$mason->comp({ store => \my $to }, '/in.mas');
$mason->comp(bless { path => '/object.mas' }, 'HTML::Mason::Component');
END
    'a.html.ep' => 2, 'b.txt.tt' => 1, 'shop/b.txt.epl' => 1, '(text)' => 5, 't/mail-*.ep' => 1,
    'report.tt' => 3, 'a.tx' => 1, 'pp.tx' => 1, 'page.tmpl' => 1, '/head.mas' => 1, '/in.mas' => 1,
    '/object.mas' => 1,
}, 'each library');

# ---- commands ----
calls_are(command => <<'END', {
use strict;
use warnings;
my $true = "$^X -e 1";
system $true for 1 .. 2;
system { $^X } 'another name', '-e', 1;
my $out = `A=secret B="x y" $true arg`;
open my $pipe, '-|', $^X, '-e', 1 or die;
my @lines = <$pipe>;
close $pipe;
open $pipe, "$true |" or die;
@lines = <$pipe>;
close $pipe;
my $pid = open($pipe, '-|') // die;
exit if !$pid;
close $pipe;
$pid = open($pipe, '-|', '-') // die;
exit if !$pid;
close $pipe;
END
    $^X =~ s{.*/}{}r =~ s/(?<![.\w])[0-9]+(?![.\w])/*/gr => 6,
}, 'commands, of which open without one is none') if $^X =~ m{/perl[0-9.]*\z} && $^X !~ /\s/;

done_testing;
