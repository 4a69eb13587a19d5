# Spans in samples. Random programs ask what a sample would be charged to; and the time of
# statements, commands and patterns is where the program knows it to be.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;
use RunReader qw(by_path);
use SpanProgram;

my $dir = scratch();
my $lib = root() . '/lib';

# Runs a program plain and with samples. Returns the run and the stacks.
sub sampled {
    my ($code, $what, %env) = @_;
    my $file = spew("$dir/prog.pl", $code);
    my $plain = plain(["-I$lib", $file]);
    my $run = profiled(["-I$lib", $file], limit => 60, env => \%env);
    is(same_as_plain($plain, $run), '', "the program runs as plain: $what");
    return ($run, by_path($run->{profile}, 'samples'));
}

# ---- random programs ----

for my $seed (1 .. 6) {
    my $file = spew("$dir/random.pl", SpanProgram->text($seed));
    my $plain = plain(["-I$lib", $file], env => { EXPECT => "$dir/plain" });
    for my $detail ('', 'all') {
        my $run = profiled([$file], env => { counting(), PERL_DPROF_SAMPLE => 100_000,
            length $detail ? (PERL_DPROF_DETAIL => $detail) : (), EXPECT => "$dir/counts" });
        my $how = length $detail ? "with detail=$detail" : 'without detail=';
        is(same_as_plain($plain, $run), '', "the program of seed $seed runs as plain $how");
        like($run->{out}, qr/^\d+ checks, 0 bad$/m, '... and what a sample has is right');
    }
}

# ---- ends that no hook and no sample has seen ----

for my $detail ('', 'all') {
    my ($run) = sampled(<<'END', 'spans before other subs of the same depth',
use Devel::DProf::Control 'span';
BEGIN { *charged = defined &Devel::DProf::_charged ? \&Devel::DProf::_charged : sub { undef } }
my @bad;
sub deep { my ($n, $want) = @_; $n ? deep($n - 1, $want) : note($want) }
sub note { my $is = charged() // 'main::note'; push @bad, "$is, not $_[0]" if $is ne $_[0] }
sub nested { my ($n) = @_; $n ? nested($n - 1) : span('a', 'b', sub { 1 }) }
sub dies { my ($n) = @_; $n ? dies($n - 1) : span('a', 'b', sub { die "x\n" }) }
sub scope {
    my ($n) = @_;
    $n ? scope($n - 1) : do { my $s = span('a', 'c'); deep(1, 'main::note') };
}
for my $outer (0 .. 4) {
    for my $inner (0 .. 6) {
        nested($outer); deep($inner, 'main::note');
        eval { dies($outer) }; deep($inner, 'main::note');
        eval { eval { dies($outer) }; deep($inner, 'main::note') };
        scope($outer); deep($inner, 'main::note');
        for (1) { nested($outer); my @s = sort { deep($inner, 'main::note'); 0 } 1, 2 }
    }
}
print @bad ? "bad: $bad[0]" : 'good', "\n";
END
        counting(), PERL_DPROF_SAMPLE => 1, length $detail ? (PERL_DPROF_DETAIL => $detail) : ());
    is($run->{out}, "good\n", '... and none is found when it has ended');
}

# ---- a sample at every statement ----

# Each span stands in the stack where the program has opened it, and nowhere else.
{
    my ($run, $stacks) = sampled(<<'END', 'spans of Perl code',
use Devel::DProf::Control 'span';
package HTTP::Request {
    sub new { my ($class, @of) = @_; bless { _method => $of[0], _uri => $of[1] } }
}
package LWP::UserAgent {
    sub simple_request { my $x = 0; $x += $_ for 1 .. 5; send_it($_[1]); $x++; return $x }
    sub send_it { my $x = 0; $x += $_ for 1 .. 5; die "no\n" if $_[0]{_uri} =~ /dies/; return $x }
}
package main;
sub work { my $x = 0; $x += $_ for 1 .. 5; return $x }
sub request {
    my $x = work();
    LWP::UserAgent->simple_request(HTTP::Request->new(GET => $_[0]));
    work();
}
sub by_goto {
    @_ = ('LWP::UserAgent', HTTP::Request->new(POST => $_[0]));
    goto &LWP::UserAgent::simple_request;
}
sub scope { { my $span = span('cache', 'scope'); work() } work() }
for (1 .. 10) {
    request('http://h/a/7'); eval { request('http://h/dies') }; by_goto('http://h/b');
    span('cache', 'code', sub { work(); request('http://h/in') }); scope(); work();
}
END
        PERL_DPROF_CLOCK => 'counting:10000', PERL_DPROF_SAMPLE => 100_000,
        PERL_DPROF_DETAIL => 'http');
    my $sent = 'LWP::UserAgent::simple_request';
    my @want = ('main::by_goto', 'main::request', 'main::request;main::work', 'main::scope',
        'main::scope;cache:scope', 'main::scope;cache:scope;main::work', 'main::scope;main::work',
        'main::work', map({
            my $to = "main::request;$sent;http:GET http://h/$_";
            ($to, "$to;LWP::UserAgent::send_it");
        } 'a/*', 'dies'),
        map({ ($_, "$_;LWP::UserAgent::send_it") } "$sent;http:POST http://h/b"));
    my %seen = map { s/main::__ANON__\[[^\]]*\]/main::__ANON__/gr => 1 } keys %$stacks;
    my $code = 'cache:code;main::__ANON__';
    push @want, "$code;main::work", "$code;main::request;main::work",
        map { ($_, "$_;LWP::UserAgent::send_it") } "$code;main::request;$sent;http:GET http://h/in";
    is_deeply([grep { !$seen{$_} } @want], [], '... and all stacks are there')
        || diag explain [sort keys %seen];
    my %known = map { $_ => 1 } @want;
    is_deeply([grep { /\w:(?!:)/ && !/CORE:/ && !$known{$_}
        && !/\Acache:code(;main::__ANON__(;main::request(;HTTP::Request::new)?)?)?\z/ }
        sort keys %seen], [], '... and no span is anywhere else');
}

# ---- by the clock, in a thread ----

my %often = (PERL_DPROF_SAMPLE => 1000, PERL_DPROF_DETAIL => 'all');

{
    my ($run, $stacks) = sampled(<<'END', 'spans of builtins', %often);
sub wait_for { my ($pid) = @_; system 'sleep', '0.3'; return }
sub match { my $x = 'a' x 600; $x =~ /a*a*[bc]/; return }
sub plain { my $x = 0; $x += $_ for 1 .. 300_000; return $x }
plain(); wait_for(); match(); plain();
END
    my @with = grep { /\bcommand:sleep/ } sort keys %$stacks;
    is_deeply(\@with, ['main::wait_for;CORE:system;command:sleep'],
        'a command that is waited for has all its samples');
    my @patterns = grep { /\bregex:/ } sort keys %$stacks;
    is_deeply(\@patterns, ['main::match;CORE:match;regex:a*a*[bc]'], 'a pattern is where it runs');
    ok(!grep({ /main::plain.*;\w+:(?!:)/ } keys %$stacks), 'code without spans has none');
}

SKIP: {
    skip 'DBI is not installed', 4 if !eval { require DBI };
    my ($run, $stacks) = sampled(<<"HEAD" . <<'END', 'statements of SQL', %often);
use lib '$FindBin::Bin/lib';
HEAD
use FakeDBD 'Fake'; use DBI;
my $dbh = DBI->connect('dbi:Fake:', '', '', { RaiseError => 1, PrintError => 0 });
sub slow {
    my $sth = $dbh->prepare("SELECT a FROM t WHERE b = 'x'");
    $sth->execute for 1 .. 3000;
}
sub all { my $r = $dbh->selectall_arrayref('SELECT c FROM t') for 1 .. 1000; return }
sub fails { for (1 .. 500) { eval { $dbh->do("it fails") }; plain(3) } return }
sub plain { my ($n) = @_; my $x = 0; $x += $_ for 1 .. $n; return $x }
slow(); plain(300_000); all(); fails(); plain(300_000);
END
    my %under;
    for my $stack (keys %$stacks) {
        my ($sub) = $stack =~ /\bmain::(slow|all|fails|plain)\b/;
        my ($span) = $stack =~ /;(sql:[^;]*)/ or next;
        $under{ ($sub // '') . " $span" } += $stacks->{$stack};
    }
    delete $under{"slow sql:prepare: SELECT a FROM t WHERE b = ?"};
    # A busy machine may take too few samples to see all three.
    delete @under{'all sql:SELECT c FROM t', 'fails sql:it fails',
        'slow sql:SELECT a FROM t WHERE b = ?'};
    is_deeply([sort keys %under], [], 'each statement is under its caller alone');
    ok(!grep({ /main::plain.*;sql:|sql:.*main::plain/ } keys %$stacks),
        'what runs after a statement that died is not in it');
    like(slurp($run->{profile}), qr/^#s \w+ rows=/m, 'rows are counted');
}

# ---- processes ----

{
    my ($run) = sampled(<<'END', 'a fork within a span', %often);
use Devel::DProf::Control 'span';
sub busy { my $x = 0; $x += $_ for 1 .. 400_000; return }
span('a', 'outer', sub {
    my $pid = fork // die;
    if (!$pid) { span('a', 'child', sub { busy() }); exit 0 }
    waitpid $pid, 0;
});
busy();
print "status $?\n";
END
    my ($child) = glob "$run->{dir}/tmon.out.*";
    my @stacks = grep { /main::busy/ } keys %{ by_path($child, 'samples') };
    is_deeply([grep { !/a:outer;.*a:child;.*main::busy/ } @stacks], [],
        'the child goes on in the span') || diag explain \@stacks;
    ok(!grep({ /a:outer.*main::busy/ } keys %{ by_path($run->{profile}, 'samples') }),
        'the span ends in the parent');
}

done_testing();
