# only= and skip=: what is charged to whom, how subs without a frame are entered and left, the
# patterns and their errors. Random programs leave some of their subs unrecorded.
use strict;
use warnings;
use utf8;
use Config;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Glob ':bsd_glob';
use Test::More;
use DProfTest;
use FuzzProgram;
use StrictProfile;

binmode Test::More->builder->$_, ':utf8' for qw(output failure_output);

# Returns the program's marks without those of perl's own start, "+f" for main::f. Takes $opt{only},
# $opt{skip}.
sub marks {
    my ($code, %opt) = @_;
    my $file = spew(scratch() . '/prog.pl', $code);
    my %env = map { defined $opt{$_} ? ('PERL_DPROF_' . uc, $opt{$_}) : () } qw(only skip builtins);
    utf8::encode($_) for values %env;
    my $plain = plain([$file]);
    my $run = profiled([$file], env => { counting(%env) });
    is(same_as_plain($plain, $run) . ($plain->{status} ? "status $plain->{status}: $plain->{err}"
        : ''), '', "the program runs as plain: $opt{name}");
    my $got = profile_ok($run->{profile}, "the profile is well formed: $opt{name}",
        events => 1);
    my $words = join ' ',
        $got->marks(qr/^(?:main::(?!(?:BEGIN|END|import)\z)|A::|CORE::|Data::Dumper::Dumpxs|
            List::Util::(?!bootstrap|import)[a-z])/x);
    my %about = (unwinding => qr/::DESTROY\z/);
    is(join(', ', StrictProfile::problems($run->{profile}, \%about), @{ $about{late} || [] }), '',
        "the profile is well formed, and calls exit in time: $opt{name}");
    is($words =~ s/~//gr, $opt{marks}, "the marks are right: $opt{name}") if defined $opt{marks};
    return $got;
}

# ---- whom the time and the calls go to ----

subtest "A skipped sub's time and calls belong to its caller" => sub {
    my $code = "sub f { g(); h() } sub g { h(); 1 } sub h { 1 } f();";
    marks($code, name => 'nothing set', marks => '+f +g +h -h -g +h -h -f');
    marks($code, name => 'skip=', skip => '::g$', marks => '+f +h -h +h -h -f');
    marks($code, name => 'only=', only => '^main::[fh]$', marks => '+f +h -h +h -h -f');
    marks($code, name => 'first only=, then skip=', only => '^main::', skip => 'f$',
        marks => '+g +h -h -g +h -h');
    my $got = marks($code, name => 'nobody', only => 'nobody', marks => '');
    is_deeply([grep { $got->{calls}{$_} } keys %{ $got->{calls} }], [],
        'an only= that nothing matches records no calls');
    is(scalar(keys %{ $got->{subs} }), 0, 'an only= that nothing matches records no names');
    $got = marks($code, name => 'a skipped sub', skip => '::g$');
    is_deeply([$got->named('main::g')], [], 'a skipped sub is not named in the file');
    # Each reading of the counting clock is a step of 10 ticks. f has four intervals: up to the call
    # of g, up to those of h, up to its return; h has two of one. 7 ms pass in g.
    my $slow = $code =~ s/sub g \{/sub g { Devel::DProf::_advance(7_000_000, 0);/r;
    my $plain = 'BEGIN { *Devel::DProf::_advance = sub { } '
        . "unless defined &Devel::DProf::_advance }\n";
    $got = marks($plain . $slow, name => 'times', skip => '::g$|^Devel');
    is_deeply($got->{self}, { %{ $got->{self} }, 'main::f' => 70_050, 'main::h' => 20 },
        "a skipped sub's time is the caller's, to the tick");
};

# ---- entries and exits without frames ----

my $use = 'use List::Util; sub one { 1 } ';
for (
    [ 'die through a skipped sub',
        'sub r { sk() } sub sk { one(); die "x\n" } eval { r() }; one();', 'sk$',
        '+r +one -one /r +one -one' ],
    [ 'die caught in a skipped sub',
        'sub r { die "x\n" } sub sk { eval { r() }; one() } sk(); one();', 'sk$',
        '+r /r +one -one +one -one' ],
    [ 'last out of a skipped sub',
        'no warnings; sub r { for (1) { sk() } one() } sub sk { last } r();', 'sk$',
        '+r +one -one -r' ],
    [ 'next out of both', 'no warnings; sub r { sk() } sub sk { next } for (1, 2) { r() } one();',
        'sk$', '+r /r +r /r +one -one' ],
    [ 'return in a skipped sub in an eval',
        'sub r { sk(); one() } sub sk { eval { return 1 }; return one() } r();', 'sk$',
        '+r +one -one +one -one -r' ],
    [ 'goto from recorded to skipped',
        'sub r { goto &sk } sub sk { one() } sub o { r(); one() } o();', 'sk$',
        '+o +r -r +one -one +one -one -o' ],
    [ 'goto from skipped to recorded',
        'sub sk { goto &r } sub r { one() } sub o { sk(); one() } o();', 'sk$',
        '+o +r +one -one -r +one -one -o' ],
    [ 'goto and return',
        'sub sk { goto &r } sub r { return one() } sub o { my $x = sk(); one() } o();', 'sk$',
        '+o +r +one -one -r +one -one -o' ],
    [ 'goto and die', 'sub sk { goto &r } sub r { die 1 } sub o { eval { sk() }; one() } o();',
        'sk$', '+o +r /r +one -one -o' ],
    [ 'goto there and back',
        'sub r { my $n = shift; return one() if !$n; @_ = $n - 1; goto &sk } sub sk { goto &r } '
            . 'r(2); one();', 'sk$',
        '+r -r +r -r +r +one -one -r +one -one' ],
    [ 'goto from recorded to a skipped XS sub',
        'sub r { @_ = (1, 2); goto &List::Util::sum } sub o { r(); one() } o();', 'List::',
        '+o +r -r +one -one -o' ],
    [ 'goto from skipped to an XS sub',
        'sub sk { @_ = (1, 2); goto &List::Util::sum } sub o { sk(); one() } o();', 'sk$',
        '+o +List::Util::sum -List::Util::sum +one -one -o' ],
    [ 'goto from skipped to an XS sub that calls',
        'sub sk { @_ = (sub { one(); 0 }, 1); goto &List::Util::first } sub o { sk(); one() } o();',
        'sk$|ANON',
        '+o +List::Util::first +one -one -List::Util::first +one -one -o' ],
    [ 'goto from recorded to a skipped XS sub that calls',
        'sub r { @_ = (sub { one(); 0 }, 1); goto &List::Util::first } sub o { r(); one() } o();',
        'List::|ANON',
        '+o +r -r +one -one +one -one -o' ],
    [ 'goto from skipped to an XS sub that dies',
        'sub sk { @_ = (); goto &List::Util::first } sub o { eval { sk() }; one() } o();', 'sk$',
        '+o +List::Util::first /List::Util::first +one -one -o' ],
    [ 'goto in an eval',
        'sub sk { eval { goto &one }; r() } sub r { eval { goto &one }; one() } sk();', 'sk$',
        '+r +one -one -r' ],
    [ 'a skipped XS sub that calls', 'sub r { List::Util::first { one(); 0 } 1; one() } r();',
        'List::', '+r +__ANON__ +one -one -__ANON__ +one -one -r' ],
    [ 'a skipped callback', 'sub r { List::Util::first { one(); 0 } 1; one() } r();', 'ANON',
        '+r +List::Util::first +one -one -List::Util::first +one -one -r' ],
    [ 'a skipped callback that dies',
        'sub r { eval { List::Util::first { one(); die 1 } 1 }; one() } r();', 'ANON',
        '+r +List::Util::first +one -one /List::Util::first +one -one -r' ],
    [ 'a skipped destructor in the place of a dead sub',
        'sub A::B::TIESCALAR { bless [], "A::B" } sub A::B::FETCH { r() } '
            . 'sub r { List::Util::first { die 1 } 1 } sub A::DESTROY { one() } '
        . 'sub o { local $main::g = bless [1], "A"; tie my $t, "A::B"; my $x = $t } eval { o() }; '
        . 'one();', 'A::|ANON',
        '+o +r +List::Util::first /List::Util::first /r +one -one /o +one -one' ],
    [ 'a skipped comparator', 'sub by { one(); $a <=> $b } my @x = sort by 2, 1; one();', 'by$',
        '+one -one +one -one' ],
    [ 'a recorded comparator in a skipped sub',
        'sub by { $a <=> $b } sub sk { my @x = sort by 2, 1; one() } sk();', 'sk$',
        '+by -by +one -one' ],
    [ 'a skipped comparator that dies',
        'sub by { die 1 } sub r { eval { my @x = sort by 2, 1 }; one() } r();', 'by$',
        '+r +one -one -r' ],
    [ 'recursion of both',
        'sub r { my $n = shift; sk($n - 1) if $n } sub sk { r($_[0]); one() } r(2);', 'sk$',
        '+r +r +r -r +one -one -r +one -one -r' ],
    [ 'DESTROY skipped',
        'sub A::DESTROY { one() } sub r { my $o = bless [], "A"; die 1 } eval { r() }; one();',
        'A::', undef ],
    [ 'subs in a regex',
        'sub sk { one() } "ab" =~ /a(?{ sk(); r() })b/; sub r { "x" =~ /(x)/; one() } '
            . 'print "$&|", defined $1 ? 1 : 0, "\n";', 'sk$', '+one -one +r +one -one -r' ],
    [ 'exit in a skipped sub', 'sub r { sk() } sub sk { one(); exit } r();', 'sk$',
        '+r +one -one /r' ],
    [ 'AUTOLOAD by what was wanted', 'our $AUTOLOAD; sub AUTOLOAD { one() } wanted(); other();',
        'wanted', '+one -one +other +one -one -other' ],
    [ 'AUTOLOAD wanted, itself skipped', 'our $AUTOLOAD; sub AUTOLOAD { one() } wanted(); other();',
        'AUTOLOAD|other', '+wanted +one -one -wanted +one -one' ],
    [ 'a sub renamed',
        'use Sub::Util; my $s = Sub::Util::set_subname("main::s", sub { one() }); $s->(); one();',
        '::s$', '+one -one +one -one' ],
) {
    my ($name, $code, $skip, $marks) = @$_;
    marks($use . $code, name => $name, skip => $skip, marks => $marks);
}

# ---- names ----

subtest 'Patterns match names as characters' => sub {
    my $code =
        "use utf8; binmode STDOUT, ':utf8';\nmy \$f = sub { 1 };\nmy \$g = sub { 2 }; \$f->(); "
            . "\$g->();\nsub größe { 1 } größe(); sub A::Жук { 1 } A::Жук();\n";
    utf8::encode($code);
    marks($code, name => 'anonymous subs by their place', skip => 'prog\.pl:2\]$', marks => do {
        my $m = '+__ANON__ -__ANON__ +größe -größe +A::Жук -A::Жук';
        $m;
    });
    marks($code, name => 'names are characters', only => '^main::gr..e$', marks => '+größe -größe');
    marks($code, name => 'in patterns, too', only => '^A::[Ж]', marks => '+A::Жук -A::Жук');
    marks($code, name => 'classes know characters', only => '^A::\w+$', marks => '+A::Жук -A::Жук');
    $code = "use utf8; my \@f = (\\&größe, \\&A::Жук); sub größe { 1 } sub A::Жук { 1 } "
        . "{ use bytes; \$_->() for \@f }";
    utf8::encode($code);
    marks($code, name => 'use bytes does not matter', only => '::gr..e$', marks => '+größe -größe');
    my $got = marks('for (1 .. 1000) { eval "sub A::f$_ { 1 } A::f$_(); 1" or die }',
        name => 'many', skip => '^A::f\d*5$');
    is(scalar(grep { /^A::f/ } keys %{ $got->{calls} }), 900,
        'each sub compiled in a string eval is skipped by name');
    $got = marks('package A; our $AUTOLOAD; sub AUTOLOAD { 1 } for my $n (1 .. 2500) { no strict '
        . '"refs"; &{"f$n"}() }', name => 'many AUTOLOAD', only => 'f\d*0$');
    is(scalar(grep { /^A::f/ } keys %{ $got->{calls} }), 250,
        'AUTOLOAD is recorded by the wanted names');
    $got = marks('package A; our $AUTOLOAD; sub AUTOLOAD { 1 } for my $n (1 .. 1500) { no strict '
        . '"refs"; &{"f$n"}() } f9(); z1();', name => 'too many', only => 'f\d*$');
    is(scalar(grep { /^A::f/ } keys %{ $got->{calls} }), 1000,
        'no more than 1,000 wanted names are kept');
    is($got->calls('A::AUTOLOAD'), 500, 'further wanted names count as AUTOLOAD');
};

# ---- the program's matches ----

marks(<<'END', name => 'match state', skip => '(f)(\d)', marks => undef);
my $s = 'abc';
$s =~ /(b)(?<n>c)/;
pos($s) = 1;
sub f1 { 1 } sub g1 { 1 }
f1(); g1();
print "$1 $2 $+{n} $& $` $' @- @+ ", pos($s), "\n";
$! = 2; $@ = 'keep';
eval 'sub f2 { 1 } sub g2 { 1 } 1';
$@ = 'keep'; $! = 2;
f2(); g2();
print $! + 0, " $@\n";
print join('|', "xay" =~ /(x)(?{ f3() })(a)(?{ g3() })(y)/), "\n";
sub f3 { "zz" =~ /(z)/; 1 } sub g3 { 1 }
my $n = () = "aaaa" =~ /a(?{ eval "sub f4_$n { 1 } f4_$n(); 1"; $n++ })/g;
print "$n\n";
(my $t = 'a1b2') =~ s/(\d)/f5($1) . $1/ge;
sub f5 { "<$_[0]>" }
print "$t ", split(/(,)/, 'a,b'), "\n";
print "empty\n" if 'zzz' =~ //;
my @s = sort { f6($a) <=> g6($b) } 3, 1, 2;
sub f6 { $_[0] } sub g6 { $_[0] }
print "@s\n";
{ use locale; sub f7 { 1 } f7() } { no warnings; local $^W = 1; sub f8 { 1 } f8() }
sub DESTROY { f9(); print "gone $1\n" if "q" =~ /(q)/ } sub f9 { 1 }
{ my $o = bless []; } eval { my $o = bless []; die "x\n" }; print $@;
END

subtest 'Tainted programs may have patterns' => sub {
    my $file = spew(scratch() . '/prog.pl',
        "sub f { 1 } sub g { 1 } my \$x = \$ENV{PATH} . f() . g(); eval { open my \$o, '>', \$x }; "
            . "print \$@; g();\n");
    my $run = run_perl(['-I' . tree(), '-T', '-d:DProf=skip=f$', $file], env => { counting() });
    is($run->{raw} . $run->{err}, '0', 'a tainted program runs');
    like($run->{out}, qr/^Insecure dependency/, 'the program stays tainted');
    is(read_profile($run->{profile})->calls('main::g'), 2,
        'a sub that matches no skip= is recorded');
    is(read_profile($run->{profile})->calls('main::f'), 0,
        'a sub that matches skip= is not recorded');
    $run = run_perl(['-I' . tree(), '-T', '-d:DProf', $file],
        env => { counting(), PERL_DPROF_SKIP => 'f$' });
    is(read_profile($run->{profile})->calls('main::f'), 1, '-T ignores the environment');
};

subtest 'Threads apply patterns' => sub {
    plan skip_all => 'no threads' if !$Config::Config{useithreads} && !eval { require Config;
    $Config::Config{useithreads} };
    my $file = spew(scratch() . '/prog.pl',
        'use threads; sub f { g() } sub g { 1 } f(); threads->create(sub { f(); f() })->join; '
            . 'print "ok\n";');
    my $run = profiled([$file], env => { counting(), PERL_DPROF_SKIP => '::g$' });
    is("$run->{raw}$run->{err}$run->{out}", "0ok\n", 'a program with threads runs');
    my ($thread) = glob "$run->{profile}.*.1";
    is_deeply([map { read_profile($_)->calls('main::f'), read_profile($_)->calls('main::g') }
        $run->{profile}, $thread], [1, 0, 2, 0], 'each thread applies the pattern');
};

subtest 'Forked children apply patterns' => sub {
    my $file = spew(scratch() . '/prog.pl',
        'sub f { g() } sub g { 1 } sub sk { my $p = fork; if (!$p) { f(); g(); exit } '
            . 'waitpid $p, 0; print "$p\n" } sub r { sk() } r();');
    my $run = profiled([$file], env => { counting(), PERL_DPROF_SKIP => '::(?:g|sk)$' });
    chomp(my $pid = $run->{out});
    my $child = profile_ok("$run->{profile}.$pid");
    is_deeply($child->{inherited}, ['main::r'], 'the child begins below recorded subs only');
    is_deeply([map { $child->calls("main::$_") } qw(f g sk)], [1, 0, 0],
        'the child skips the same subs');
};

# ---- errors ----

my @PROPERTIES = ('\p{Block=Basic_Latin}', '\p{Lu}|f');
for (
    [ 'a(', qr/^DProf:\ only=a\(:\ Unmatched\ \(\ in\ regex;\ marked\ by\ <--\ HERE\ in\ m\/a\(\ <--
        \ HERE\ \/\n/x ],
    [ '*', qr/^DProf: only=\*: Quantifier follows nothing in regex/ ],
    [ '(?{1})', qr/^DProf: only=\(\?\{1\}\): code in a pattern is not run\n/ ],
    [ 'x(??{1})', qr/code in a pattern is not run/ ],
    [ '(*{1})', qr/code in a pattern is not run/ ],
    [ '(?(?{1})a|b)', qr/code in a pattern is not run/ ],
    [ 'a(?R)?', qr/calls its own groups/ ],
    [ '(a)(?1)', qr/calls its own groups/ ],
    [ '(?<n>a)(?&n)', qr/calls its own groups/ ],
    [ '\p{IsMine}', $] < 5.032 ? qr/before 5\.32/ : qr/subs of the program/ ],
    [ '\P{ ^main::InMine}', $] < 5.032 ? qr/before 5\.32/ : qr/subs of the program/ ],
    [ '\N{SPACE}', qr/no names here/ ],
    [ '\p{Nonesuch}', qr/^DProf: only=\\p\{Nonesuch\}: / ],
    $] < 5.032 ? map { [ $_, qr/^DProf: only=\Q$_\E: perls before 5\.32 look/ ] } @PROPERTIES : (),
) {
    my ($pattern, $message) = @$_;
    my $run = profiled(['-e', 'print "ran\n"'], env => { PERL_DPROF_ONLY => $pattern });
    like($run->{err}, $message, "the message says why $pattern is no pattern");
    ok($run->{status} && $run->{out} eq '' && !-e $run->{profile},
        "the program does not start with the pattern $pattern, and there is no file");
}
for my $fine (TestEnvironment::sample(3, '\(?\{', '[(]\?', '(?i:MAIN)', '\\\\N|f', '\N{U+66}',
    '(?<!x)f', '(?>f)', $] < 5.032 ? () : @PROPERTIES, '(?|(f)|(g))', '(?-i)f', '(?^:f)')) {
    my $run = profiled(['-e', 'sub f { 1 } f(); print "ran\n"'],
        env => { PERL_DPROF_ONLY => $fine });
    is("$run->{err}$run->{out}", "ran\n", "$fine is accepted as a pattern");
}
# Where case folding has to run Perl code, it does so before the program starts; threads have the
# result, too.
for ([ '(?i)\x{3b1}', "\x{3b1} \x{391}" ], [ '(?i)ss', "\x{17f}s" ],
    [ '(?x-m: (?xi) \x{e9} )', "\x{c9}" ], [ '(?i:[\x{3b1}-\x{3b3}])', "\x{3b1} \x{391}" ]) {
    my ($pattern, $names) = @$_;
    my @subs = map { "main::$_" } split / /, $names;
    my $code = "\x{3b1} \x{391} \x{17f}s \x{c9} f" =~ s/(\S+)/sub $1 { 1 } $1();/gr;
    utf8::encode($code);
    for my $thread (0 .. ($Config{useithreads} ? 1 : 0)) {
        my $run = profiled(['-e', ($thread ? 'use threads; ' : '') . 'use utf8; '
            . ($thread ? "threads->create(sub { $code })->join;" : $code) . ' print "ran\n"'],
            env => { PERL_DPROF_ONLY => $pattern });
        is("$run->{err}$run->{out}", "ran\n",
            "the program runs with the pattern $pattern" . ($thread ? ', as a thread' : ''));
        my ($file) = $thread ? glob "$run->{profile}.*.1" : $run->{profile};
        is_deeply([sort keys %{ profile_ok($file)->{calls} }], [sort @subs],
            "the subs that match $pattern are recorded, and no others");
    }
}
{
    my $run = run_perl(['-I' . tree(), '-d:DProf=tree,skip=^main::g$,ticks=1000000', '-e',
        'sub f { g() } sub g { 1 } f()']);
    like(slurp($run->{profile}), qr/ main f /,
        'a sub that the import list does not skip is recorded');
    unlike(slurp($run->{profile}), qr/ main g /,
        'skip= between other options of the import list works');
    like(slurp($run->{profile}), qr/\$dprof_skip='\^main::g\$'/, 'the header has the pattern');
}

# ---- random programs ----

my @kinds = ('^main::f\d*[0-4]$', '^main::f\d*[5-9]$', '^main::(?:by_|named|down|lv|fueled)',
    '^(?:List|Scalar|Sub)::Util::', '^F::(?:Tie|Gone|Over)::',
    '^main::__ANON__', '^F::Auto::', '^F::Obj|^F::Kid', '^main::K$',
    '^UNIVERSAL::|^main::deferred$');
for my $seed (301 .. 300 + ($ENV{DPROF_PROGRAMS} // TestEnvironment::rounds(2, 8))) {
    my $file = spew(scratch() . "/fuzz$seed.pl", FuzzProgram::program($seed, 3));
    my $plain = plain([$file], limit => 30);
  SKIP: {
        skip "program $seed does not run", 1 if $plain->{raw} || $plain->{out} !~ /^checks /m;
        my $skip = join '|', map { $kinds[ ($seed * $_ + $_) % @kinds ] } 1 .. 1 + $seed % 4;
        my %how = $seed % 2 ? (PERL_DPROF_SKIP => $skip) : (PERL_DPROF_ONLY => "^(?!(?:$skip))");
        my $run = profiled([$file], limit => 60, env => { counting(%how, FUZZ_SKIP => $skip) });
        my %about = (until => 'main::printing', unwinding => $FuzzProgram::UNWINDING,
            skip => qr/$skip/);
        my @wrong = $run->{raw} ? "status $run->{raw}: $run->{err}"
            : StrictProfile::problems($run->{profile}, \%about);
        push @wrong, FuzzProgram::compare($run->{out}, \%about) unless @wrong;
        is(join("\n", @wrong), '', "the calls of program $seed without $skip are right");
    }
}

# Perl looks for signals while it matches a pattern, as a lookahead does it.
subtest 'Signals that come while a name is matched do no harm' => sub {
    my $code = <<'END';
sub where { return join ' ', map { (caller $_)[3] // '-' } 1 .. 3 }
sub f { my $n = 1; print "in f\n"; return g(kill USR1 => $$) } sub g { my $n = 2; return $n }
$SIG{USR1} = sub { print 'handler: ', where(), "\n" };
f(kill USR1 => $$); print "ends\n";
END
    my $file = spew(scratch() . '/p.pl', $code);
    my $plain = plain([$file]);
    for my $env ({}, { PERL_DPROF_MODE => 'tree' }, { PERL_DPROF_SAMPLE => 20_000 }) {
        my %env = (PERL_DPROF_ONLY => '^main::(?!x)', PERL_DPROF_SKIP => '(?<!x)::y', %$env);
        same_as_plain($plain, profiled([$file], env => \%env), join ' ', 'the program',
            'runs as plain with signals');
    }
    my $run = profiled(['-e', 'sub f { my $s = 0; $s += $_ for 1 .. 200; $s } '
        . 'for (1 .. 300) { f(); eval "sub f$_ { f() } f$_()" } print "alive\n"'],
        env => { PERL_DPROF_ONLY => '^main::(?!x)', PERL_DPROF_SAMPLE => 20_000 });
    is("$run->{raw} $run->{out}$run->{err}", "0 alive\n", 'no sample is taken in a match');
};

done_testing;
