# The `&` lines: places, kinds, anonymous subs, bounds.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;

sub record {
    my ($code, %opt) = @_;
    my $file = spew(scratch() . '/prog.pl', $code);
    my $run = profiled([$file], env => { counting() }, %opt);
    is("$run->{err}$run->{raw}", '0', 'the program runs') or diag $code;
    return ($run->{got} = profile_ok($run->{profile}), $file, $run);
}

subtest 'A sub has the place of its first statement' => sub {
    my ($got, $file) = record(<<'END');
sub one { 1 }

sub three {
    # comment
    my $x = 1;
}
sub empty { }
#line 77 "other file%.pl"
sub elsewhere { 1 }
eval "\n\nsub evaled { 1 }"; die $@ if $@;
one(); three(); empty(); elsewhere(); evaled();
utf8::is_utf8('x');
END
    my %at = map { $_ => join ':', map { $_->{file} // '', $_->{line} // '' } $got->named($_) }
        map { "main::$_" } qw(one three empty elsewhere evaled);
    is($at{'main::one'}, "$file:1", 'a sub on line 1 has its place');
    is($at{'main::three'}, "$file:5", "a sub's place is its first statement");
    like($at{'main::empty'}, qr/^(?::|\Q$file\E:7)$/, 'an empty sub has its own line or none');
    is($at{'main::elsewhere'}, 'other file%.pl:77', '#line sets the place');
    like($at{'main::evaled'}, qr/^\(eval \d+\):3$/, 'a sub in a string eval has its place');
    is(($got->named('utf8::is_utf8'))[0]{kind}, 'xs', 'an XS sub is kind=xs');
    is(($got->named('utf8::is_utf8'))[0]{file}, undef, 'an XS sub has no place');
    is(($got->named('main::one'))[0]{kind}, undef, 'a Perl sub has no kind');
};

subtest 'Anonymous subs differ by their places' => sub {
    my ($got, $file) = record(<<'END');
my ($p, $q) = (sub { 1 }, sub { 2 });
$p->(); $p->(); $q->();
sub maker { my $n = shift; return sub { $n } }
maker($_)->() for 1 .. 5;
sub holder { my $in = sub { my $deep = sub { 1 }; $deep->() }; $in->() }
holder();
END
    my @anon = $got->named('main::__ANON__');
    is(@anon, 5, 'each piece of code has one id, which its closures share');
    is_deeply([map { $_->{line} } @anon], [1, 1, 3, 5, 5], 'anonymous subs have their lines');
    is(scalar(keys %{{ map { $_->{seq} => 1 } @anon }}), 5,
        'anonymous subs on one line have different numbers');
    my @by_seq = sort { $a->{seq} <=> $b->{seq} } @anon[0, 1];
    is($by_seq[0]{id}, $anon[0]{id}, 'the sub compiled later has the greater number');
    is_deeply([map { $_->{in} } @anon],
        [undef, undef, 'main::maker', 'main::holder', 'main::holder'],
        'anonymous subs have the named sub around them');
};

subtest 'Two subs of one name have ids of their own' => sub {
    my ($got) = record(<<'END');
no warnings;
sub f { 1 } f();
eval '*f = sub { 2 }'; f();
eval 'sub f { 3 }'; f();
{ package Other; sub f { 1 } f() }
END
    is(scalar($got->named('main::f')), 2, 'a redefined sub is another id of the same name');
    is($got->calls('main::f'), 2, 'the calls of both subs of one name are counted');
    is($got->calls('main::__ANON__'), 1, 'an anonymous sub assigned to a glob stays anonymous');
};

subtest 'Closures can get names' => sub {
    my ($got) = record(<<'END');
use Sub::Util 'set_subname';
sub make { my $n = shift; sub { $n++ } }
my @subs = map { set_subname("Made::no$_", make($_)) } 1 .. 20;
$_->() for @subs, @subs;
END
    is($got->calls("Made::no$_"), 2, "the calls of the closure Made::no$_ are counted")
        for 1, 2, 20;
};

subtest 'A wanted name remembers its AUTOLOAD' => sub {
    my ($got) = record(<<'END');
package Auto; our $AUTOLOAD; sub new { bless [] } sub AUTOLOAD { 1 }
package Child; our @ISA = 'Auto';
package main;
my $o = Auto->new; $o->thing; Auto::func(); Child->kid; my $m = "odd name"; $o->$m;
$o->can('thing') && die;
undef $o;
END
    my ($thing) = $got->named('Auto::thing');
    is($thing->{autoload}, 'Auto::AUTOLOAD', 'a wanted name has the AUTOLOAD that was called');
    is($got->calls($_), 1, "the call of $_ by AUTOLOAD has the wanted name")
        for 'Auto::thing', 'Auto::func', 'Child::kid', 'Auto::odd name',
        'Auto::DESTROY';
    is(($got->named('Child::kid'))[0]{autoload}, 'Auto::AUTOLOAD',
        'an inherited AUTOLOAD is named');
};

subtest 'The number of names is bounded' => sub {
    my ($got, undef, $run) =
        record('eval "sub f { 1 } f()" for 1 .. 5000; eval q(my $s = sub { 2 }; '
            . '$s->()) for 1 .. 5000; eval q(package P) . $_ . q(; sub g { 1 } g()) for 1 .. 50; '
            . 'print "ok\n"');
    cmp_ok(scalar($got->named('main::f')), '<=', 1001,
        'subs of string evals have a bounded number of ids');
    cmp_ok(scalar($got->named('main::__ANON__')), '<=', 1001,
        'anonymous subs of string evals have a bounded number of ids');
    is($got->calls('main::f'), 5000, 'all calls of the named subs are there');
    is($got->calls('main::__ANON__'), 5000, 'all calls of the anonymous subs are there');
    is($got->calls("P${_}::g"), 1, "P${_}::g has its call") for 1, 50;

    ($got) = record('our $AUTOLOAD; sub AUTOLOAD { 1 } &{"n$_"}() for 1 .. 2000, 1 .. 10;');
    cmp_ok(scalar(grep { $_->{autoload} } values %{ $got->{subs} }), '==', 1000,
        '1,000 names of one AUTOLOAD are kept');
    is($got->calls('main::AUTOLOAD'), 1000, 'further names count as plain AUTOLOAD');
    is($got->calls('main::n5'), 2, 'a known name keeps its own id');

    ($got) =
        record('eval "sub gen$_ { my \$s = sub { 1 }; \$s->() } gen$_(); gen5()" for 1 .. 3000; '
            . 'eval "package Anon$_; sub new { 1 } new()" for 1 .. 3000; '
        . 'eval sprintf "package Of::A0x%x::B; sub made { 1 } '
        . 'made()", 94123456789120 + 16 * $_ for 1 .. 3000; eval join("\n", map { "sub own$_ { 1 } '
        . 'own$_();" } 1 .. 3000)');
    my %n;
    for (keys %{ $got->{calls} }) {
        $n{s/0x[0-9a-f]+|\d+/N/gr}++;
        $n{"$_ calls"} = $got->{calls}{$_} if /#/;
    }
    is_deeply({ map { ($_ => $n{$_}) } grep { /gen|Anon|Of|own/ } keys %n },
        { 'main::genN' => 1000, 'main::gen#' => 1, 'main::gen# calls' => 2000, 'AnonN::new' => 1000,
            'Anon#::new' => 1, 'Anon#::new calls' => 2000,
          'Of::AN::B::made' => 1000, 'Of::A#::B::made' => 1, 'Of::A#::B::made calls' => 2000,
          'main::ownN' => 3000 },
        'names that count up have 1,000 ids of one kind, and those of different places are '
            . 'different subs');
    is($got->calls('main::gen5'), 2997, 'a known name keeps its id');
    is($got->calls('main::__ANON__'), 5996, 'subs within string evals are counted');

    note('66,000 names: with EXTENDED_TESTING=1'), return if !$ENV{EXTENDED_TESTING};
    ($got) =
        record('my $w = "Xaaaa"; eval join " ", map { my $n = $w++; "sub $n { 1 } $n();" } '
            . '1 .. 66_000; die $@ if $@; eval "package P$_; sub more { 1 } more(); '
            . 'sub again { 1 } again()" for 1 .. 30; '
        . 'Xaaaa(); eval join ";", map { "package W" . tr/0-9/a-j/r . "; sub x { 1 } x()" } '
        . '1000 .. 2500');
    my $names = keys %{ $got->{subs} };
    cmp_ok($names, '<', 65_536 + 1500, "very many names: $names are kept");
    is($got->calls('main::Xaaaa'), 2, 'known names keep their ids');
    is($got->calls('P#::(others)'), 60, 'further names count by package, without numbers');
    my $all = 0;
    $all += $_ for values %{ $got->{calls} };
    is($all - $got->calls('main::BEGIN'), 66_000 + 60 + 1 + 1501, 'no call is lost');
    cmp_ok($got->calls('main::(others)'), '>=', 460 + 400,
        'where packages are too many, the others count together');
};

subtest 'Names are bytes or UTF-8' => sub {
    my ($got, undef, $run) = record(<<'END');
no strict 'refs';
*{"a b\n\@ 1 1 1\n+ 1::x\ny\t%41;"} = eval 'sub { 1 }';
require Sub::Util;
Sub::Util::set_subname("Forged::\@ 9 9 9\n- 1\n/ 1", sub { 1 })->();
Sub::Util::set_subname("Empty::", sub { 1 })->();
Sub::Util::set_subname("Long::" . 'n' x 50_000, sub { 1 })->();
Sub::Util::set_subname("Wide::\x{263a}", sub { 1 })->();
Sub::Util::set_subname("Wide::\xe9", sub { 1 })->();
sub f { 1 }
f();
END
    my $text = slurp($run->{profile});
    unlike($text, qr/[\x00-\x09\x0b-\x1f\x7f]/, 'names leave no control bytes in the file');
    is($got->calls("Forged::\@ 9 9 9\n- 1\n/ 1"), 1, 'a name cannot forge a mark');
    is($got->calls('Empty::'), 1, 'a sub with an empty name is counted');
    is($got->calls('Long::' . 'n' x 50_000), 1, 'a name of 50,000 characters is kept');
  SKIP: {
        skip 'needs Sub::Util 1.50, which gives names of characters', 2
            if !DProfTest::module_there('Sub::Util', '1.50');
        is($got->calls("Wide::\x{263a}"), 1, 'a Unicode name is kept');
        like($text, qr/^& \w+ Wide \xe2\x98\xba /m, 'a Unicode name is UTF-8 in the file');
    }
    is($got->calls("Wide::\xe9"), 1, 'a Latin-1 name is kept');
    like($text, qr/^& \w+ Wide \xc3\xa9 /m, 'a Latin-1 name is UTF-8 in the file');
    is($got->calls('main::f'), 1, 'ordinary names are kept beside odd ones');
};

# Names that are compiled over and over keep their numbers; only string evals lose them.
{
    my $run = profiled(['-e',
        'for (1 .. 1500) { eval "sub g0 { 1 } g0(); sub g17 { 1 } g17()" } '
            . 'for (1 .. 1500) { eval "sub n$_ { 1 } n$_()" }'],
        env => { counting() });
    my $calls = profile_ok($run->{profile})->{calls};
    is_deeply([@$calls{qw(main::g0 main::g17 main::n1 main::n900 main::n1500)}],
        [1500, 1500, 1, 1, undef], 'a few names of evals keep their numbers');
    ok($calls->{'main::n#'} >= 490,
        'many names that count up become one') or diag $calls->{'main::n#'};
}

done_testing;
