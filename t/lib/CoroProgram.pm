package CoroProgram;

# Random programs of coroutines (Coro) that yield wherever code can run, and that log what they did.
# Each sub counts its own calls, by caller too, and at many points the sub that is being charged is
# compared with the one that caller() names.
# charged is compared with the one that caller() names.
#
# A seed always gives the same program, and a program always runs the same way. A coroutine waits
# only for what it has started itself, so that none waits for ever.

use strict;
use warnings;

our $SUBS = 16;

my $state;
# Returns a random whole number below the argument, the same in each run with the same seed.
sub pick {
    $state = ($state * 1103515245 + 12345) % 2147483648;
    return int(($state >> 8) / 8388608 * $_[0]);
}
# Returns one of the arguments, by chance.
sub one { return $_[ pick(scalar @_) ] }

our ($level, $calm);
my ($unique, $control);

# Returns what the code returns, called one level deeper.
sub nest { my ($code) = @_; local $level = $level + 1; return $code->() }
sub name { return 'f' . pick($SUBS) }
# Returns code that compares the sub that is charged with the one that runs.
sub check { return 'K(Devel::DProf::_charged()); ' }
sub chance { return 'rand() < ' . (one(1, 2, 4) / 20) }
sub spin { return 'advance(); ' }
sub round_of_actions {
    return '    $fuel = 60; eval { for my $l (1, 2) { ' . check() . action() . ' ' . check()
        . ' } };' . check() . spin();
}
sub count_anon { return '$on and $c{__ANON__}++; ' }

# Returns code at which another coroutine may go on.
sub yield {
    return one('cede; ', 'cede; ', '&cede; ', 'Coro::cede_notself; ', '$cede->(); ',
        '$Coro::current->ready; schedule; ', 'Coro::Semaphore->new(1)->down; ') if $calm;
    return one(
        'cede; ', 'cede; ', 'cede; ', '&cede; ', '&cede(); ', 'Coro::cede_notself; ',
        '$Coro::current->ready; schedule; ', 'my $r = cede; ', 'my @r = cede(); ',
        '$cede->(); ', '&$cede; ', 'do { no strict "refs"; &{"Coro::cede"}() }; ',
        'Coro->can("cede")->(); ',
        '{ my $m = ("cede", "named")[rand 2]; Coro->can($m) ? Coro->can($m)->() : named("f1") } ',
        '{ my $c = pop @ready; $c->cede_to if $c && $c->is_ready && !$c->is_destroyed }  ',
        'for my $m (qw(sub_a cede sub_b cede_notself)) { my $f = "Any"->can($m); &$f() } ',
        'tie my $t, "T::Cede"; { my $v = $t } ', 'Coro::Semaphore->new(1)->down; ',
        'for my $s (Coro::Semaphore->new(1), Coro::Semaphore->new(2)) { for my $m (one_of(qw(wait '
            . 'down)), "up", one_of(qw(try down)), "up", "wait") { $s->$m } } ',
    );
}

my @calls = (
    (sub { name() . '(1)' }) x 5,
    sub { '&' . name() . '(@_)' },
    sub { 'named("' . name() . '")' },
    sub { 'sub { ' . count_anon() . check() . call() . ' }->()' },
    sub { 'main->can("' . name() . '")->(2)' },
    sub { 'do { my @list = (' . call() . ', ' . call() . '); scalar @list }' },
    sub { 'eval { ' . call() . ' }' },
);

# A coroutine that may be cancelled must not be within a callback from C: perl crashes.
my @calm = (
    (sub { calm_name() . '(1);' }) x 3,
    (sub { yield() . check() . spin() }) x 4,
    sub { 'eval { ' . call() . '; ' . yield() . 'die "out\n" };' . check() },
    sub { 'sub { ' . count_anon() . check() . call() . ' }->();' },
    sub { '{ local $global = $global + 1; ' . yield() . call() . '; }' . check() },
    sub { '{ my $o = bless [' . pick(5) . '], "Gone"; ' . call() . '; }' . check() },
    sub { 'my @v' . $unique++ . ' = map {; ' . yield() . call() . ' } 1, 2;' . check() },
    sub { 'eval q{' . yield() . call() . '; ' . check() . '};' . check() },
    sub { 'if (' . chance() . ') { @_ = (1); goto &' . calm_name() . ' }' },
    sub {
        'for my $l (1, 2) { ' . call() . '; last if ' . chance() . '; ' . yield() . ' }' . check();
    },
);

sub calm_name { return 'g' . pick(4) }
# Returns what the code returns, called so that it makes only code that never dies.
sub calmly { my ($code) = @_; local $calm = 1; return $code->() }

sub call {
    return calm_name() . '()' if $calm;
    return $level > 4 ? name() . '()' : nest(one(@calls));
}

sub block { return '{ ' . join(' ', map { action() } 0 .. pick(2)) . ' }' }

# Returns what a coroutine runs: an exception that nobody catches would end the program. $in: a
# variable that is true while a coroutine is in it.
sub body {
    my ($end, $in) = @_;
    my $body = join ' ', map { action() } 0 .. pick(2);
    $body = "$in = 1; $body" if $in;
    return 'sub { ' . count_anon() . check() . "eval { $body }; " . ($in ? "$in = 0; " : '')
        . one('', check(), spin(), yield()) . ($end // '') . ' }';
}

# Returns a callback of an XS sub. It must not be where $a and $b are set, which coroutines share:
# perl crashes.
sub callback {
    return '{ ' . count_anon() . one(check(), spin(), '') . one(yield(), call() . '; ',
        yield() . call() . '; ') . one('', 'die "callback\n" if ' . chance() . '; ') . $_[0] . ' }';
}

my @actions = (
    (sub { call() . ';' }) x 3,
    (sub { yield() . check() }) x 4,
    (sub { yield() . spin() }) x 2,
    sub { spin() },
    sub { check() },
    sub {
        my $n = $unique++;
        "my \$c$n = async " . substr(body(), 4) . "; " . one('', call() . '; ', yield())
            . one("\$c$n->join;", "\$c$n->join;", "my \@r$n = \$c$n->join;", '',
                "undef \$c$n;") . check();
    },
    sub {
        my $n = $unique++;
        "my \$c$n = new Coro " . calmly(\&body) . "; " . one("\$c$n->ready; ", "\$c$n->ready; ", '')
            . yield() . one("undef \$c$n; ", "\$c$n->cancel; ") . check();
    },
    (sub {
        my $n = $unique++;
        "my \$c$n = async " . substr(calmly(\&body), 4) . '; ' . yield() . one('', yield())
            . one("\$c$n->cancel;", "\$c$n->cancel(1, 2);", "undef \$c$n;") . one('', yield())
            . check() . spin();
    }) x 2,
    (sub { my $n = $unique++;
    "my (\$c$n, \$in$n); \$c$n = async " . substr(body('', "\$in$n"), 4) . '; ' . yield()
        . one('', yield()) . one("\$c$n->throw(\"thrown\\n\") if \$in$n;",
        "if (\$in$n) { \$c$n->throw(\"thrown\\n\"); cede }", "eval { \$c$n->safe_cancel };",
        "eval { \$c$n->safe_cancel; cede; };") . one('', yield()) . check() . spin() }) x 2,
    # The coroutine is given up while it holds objects.
    (sub { my $n = $unique++;
    "my \$c$n = new Coro sub { " . count_anon() . 'my $o = bless [' . pick(8) . '], "Gone"; '
        . one('', 'my $p = bless [' . pick(8) . '], "Gone"; ',
            'local $global = bless [' . pick(8) . '], "Gone"; ',
            'tie our $stored, "Stored"; local $stored = 3; ')
        . one('keep', 'keep(3)', 'inner_keep(2)') . "}; \$c$n->ready; cede; "
        . one('', call() . '; ') . one("undef \$c$n; ", "undef \$c$n; ",
            "{ my \$d = \$c$n; undef \$c$n; " . spin() . '}', "\$c$n = 1; ", "\$c$n->cancel; ",
            "drop(\$c$n); undef \$c$n; ") . check() . spin() }) x 3,
    sub { 'async_pool ' . substr(body(), 4) . '; ' . one('', yield()) . check() },
    sub { 'push @ready, async ' . substr(body(), 4) . ';' . check() },
    sub {
        'async { ' . count_anon() . 'eval { ' . call() . '; ' . yield() . ' }; '
            . one('Coro::terminate; ', 'terminate 1, 2; ', '$Coro::current->cancel; ')
            . 'print "not here\n" }->join;' . check();
    },
    sub { my $n = $unique++;
    "{ my \$q$n = Coro::Channel->new(" . one('', 1, 2) . "); async { " . count_anon()
        . "for (1 .. 3) { eval { " . one(call() . '; ', spin(), yield())
        . "}; \$q$n->put(\$_) } \$q$n->shutdown }; while (defined(my \$v = \$q$n->get)) { "
        . one(call() . '; ', spin(), yield(), '') . 'last if ' . chance() . '; } }' . check() },
    sub {
        my $n = $unique++;
        "{ my \$s$n = Coro::Semaphore->new(0); async { " . count_anon() . 'eval { ' . action()
            . " }; \$s$n->up }; " . one("\$s$n->down", "\$s$n->wait", "my \$g = \$s$n->guard",
                "1 while !\$s$n->try && (cede, 1)") . '; ' . check() . '}';
    },
    sub {
        my $n = $unique++;
        "{ my \$s$n = Coro::Signal->new; async { " . count_anon() . 'eval { ' . action()
            . " }; \$s${n}->" . one('send', 'broadcast') . "; \$s$n->send }; \$s$n->wait; "
            . check() . '}';
    },
    sub {
        my $n = $unique++;
        "{ my \$r$n = Coro::rouse_cb; async { " . count_anon() . 'eval { ' . action()
            . " }; \$r$n->(1, 2) }; my \@v = Coro::rouse_wait(\$r$n); " . check() . '}';
    },
    sub { 'eval { ' . call() . '; ' . yield() . 'die "out\n" };' . check() },
    sub {
        'eval { eval { ' . yield() . 'die "in\n" }; ' . check() . call() . '; die "out\n" };'
            . check() . spin();
    },
    sub { 'die "through\n" if ' . chance() . ';' },
    sub { 'return ' . call() . ' if ' . chance() . ';' },
    sub { 'if (' . chance() . ') { @_ = (1); goto &' . name() . ' }' },
    sub { 'eval { goto &Coro::cede };' . check() },
    sub { '{ local $global = $global + 1; ' . yield() . call() . '; }' . check() },
    sub { '{ my $o = bless [' . pick(8) . '], "Gone"; ' . call() . '; }' . check() },
    sub {
        'tie my $t' . ++$unique . ', "Tied"; { my $v = $t' . $unique . '; $t' . $unique . ' = 2; }'
            . check() . spin();
    },
    sub {
        one('my $v = "$over";', 'my $v = $over + 1;', '$over->(1);', 'if ($over) { 1 }',
            'my $v = $over <=> 3;') . check() . spin();
    },
    sub { 'my $v' . $unique++ . ' = List::Util::first ' . callback('0') . ' 1, 2;' . check() },
    sub {
        'my $v' . $unique++ . ' = List::Util::reduce { ' . count_anon() . check() . spin()
            . '$a + $b } 1, 2, 3;' . check();
    },
    sub {
        'my $v' . $unique++ . ' = &List::Util::first(sub ' . callback('0') . ', 1, 2);' . check();
    },
    sub {
        'my @s' . $unique++ . ' = sort ' . one('by_num', 'by_check', '{ by_check(); $a <=> $b }')
            . ' 3, 1, 2;' . check();
    },
    sub { 'my @v' . $unique++ . ' = map {; ' . yield() . call() . ' } 1, 2;' . check() },
    sub { '(my $s' . ++$unique . ' = "xx") =~ s/x/' . call() . '/ge;' . check() },
    sub { 'eval q{' . yield() . call() . '; ' . check() . '};' . check() },
    sub {
        '{ Coro::on_enter ' . callback_of_switch() . '; Coro::on_leave ' . callback_of_switch()
            . '; ' . yield() . call() . '; }' . check();
    },
    sub { my $n = $unique++;
    "{ my \$m$n = Coro::State->new; my \$s$n; \$s$n = Coro::State->new(sub { " . count_anon()
        . check() . "for (1 .. 9) { " . one(spin(), check(), "named_spin(); ")
        . "Coro::State::transfer(\$s$n, \$m$n) } }); "
        . "for (0 .. " . pick(3) . ") { \$m$n->transfer(\$s$n); " . check() . one(spin(), '')
        . "} }" . check() . spin() },
    sub {
        'for my $l (1, 2) { ' . call() . '; last_out() if ' . chance() . '; ' . yield()
            . ' }' . check();
    },
    sub { 'down(' . pick(30) . ', "' . name() . '");' . check() },
    sub { 'eval { Coro::rouse_wait(1) };' . check() },
    sub {
        'eval { local $SIG{__DIE__} = sub { ' . count_anon() . check() . one('', yield()) . '}; '
            . yield() . 'die "handled\n" };' . check();
    },
    sub {
        '{ local $SIG{__WARN__} = sub { ' . count_anon() . check() . one('', yield())
            . '}; warn "x\n"; }' . check();
    },
    sub {
        $control ? one('call_off(); ', 'call_on(); ', 'call_on(); ',
            'call_into("p' . pick(4) . '"); ') : check();
    },
);

# Returns code that runs in the middle of a switch, and so cannot switch.
sub callback_of_switch { return '{ ' . count_anon() . one('', 'named_spin(); ') . '}' }

# Returns a random statement.
sub action {
    return one(call() . ';', yield()) if $level > 3;
    return nest(one($calm ? @calm : @actions));
}

# Returns the text of a random program for a seed, which counts its own calls and prints them.
sub program {
    my ($seed, $rounds) = @_;
    $rounds ||= 5;
    $state = ($seed * 7919 + 17) % 2147483648;
    pick(1) for 1 .. 5;
    ($level, $unique, $control) = (0, 0, $seed % 4 == 0);
    my $text = <<"END" . <<'END';
# seed $seed
use strict; no warnings;
srand $seed;
my \$rounds = $rounds;
END
use List::Util; use Coro; use Coro::State; use Coro::Channel; use Coro::Semaphore; use Coro::Signal;
use Devel::DProf::Control ();
BEGIN {
    no strict 'refs';
    defined &{"Devel::DProf::$_"} or *{"Devel::DProf::$_"} = sub { 0 } for qw(_charged _advance);
}
our $plain; BEGIN { $plain = !defined &Devel::DProf::_start }
our (%c, %e, $ended, $on, $fuel, $depth, $checks, $wrong, $global, $over, $cede, @ready,
    $spins, $phase);
($on, $fuel, $depth, $checks, $wrong, $global, $spins) = (1, 0, 0, 0, 0, 0, 0);
$over = bless [1, 2], 'Over';
$cede = \&Coro::cede;
sub one_of { $on and $c{one_of}++; return $_[rand @_] }

# Returns the sub around: who called the caller.
sub around {
    my ($i, $name) = ($_[0] + 1);
    1 while defined($name = (caller $i++)[3]) && $name eq '(eval)';
    return $name // '(program)';
}
sub K {
    $on and $c{K}++, $c{around}++;
    $checks++;
    my ($charged) = @_;
    my $name = around(1);
    return if $plain;
    $charged //= '(program)';
    return if $charged eq $name;
    print "wrong: charged $charged, running $name, line ", (caller 0)[2], "\n" if $wrong++ < 5;
    return;
}
# Deep recursion in coroutines that are given up damages pads: the program then runs other code than
# it was written with.
our $broken = 0;
sub on_die {
    $on and $c{on_die}++;
    $broken++
        if $_[0] =~ /undefined value as|Not an? .*reference|Bizarre|panic|Undefined subroutine/;
    return;
}
BEGIN { $Coro::State::DIEHOOK = $SIG{__DIE__} = \&on_die }
# Lets time pass, and records whose time it is.
sub advance {
    return if $ended;
    $on and $c{advance}++, $c{around}++, $spins++, $e{around(1) . ' > main::advance'}++;
    around(1) if !$on;
    Devel::DProf::_advance(50_000, 50_000);
    return;
}
sub named_spin { $on and $c{named_spin}++; advance(); K(Devel::DProf::_charged()); 1 }
sub fueled { $on and $c{fueled}++; return $fuel-- > 0 && $depth < 25 }
sub named {
    $on and $c{named}++;
    my $f = shift // 'f1';
    no strict 'refs';
    return fueled() ? &{"main::$f"}(@_) : 0;
}
sub down {
    $on and $c{down}++;
    my ($n, $f) = @_;
    if ($n <= 0) { cede; no strict 'refs'; return fueled() ? &{"main::$f"}() : 1 } down($n - 1, $f);
    K(Devel::DProf::_charged());
    1;
}
sub by_num { $on and $c{by_num}++; $a <=> $b }
sub by_check {
    $on and $c{by_check}++;
    my $r = $a <=> $b;
    advance() if rand() < .5;
    K(Devel::DProf::_charged());
    $r;
}
sub last_out { $on and $c{last_out}++; no warnings 'exiting'; cede if rand() < .5; last }
sub keep {
    $on and $c{keep}++;
    my $n = shift // 1;
    my $o = bless [$n], 'Gone';
    while (1) { schedule; K(Devel::DProf::_charged()); advance() }
}
sub inner_keep { $on and $c{inner_keep}++; my $o = bless [6], 'Gone'; eval { keep(@_) }; 1 }
sub drop { $on and $c{drop}++; undef $_[0]; advance(); K(Devel::DProf::_charged()) }
sub call_off { $on and $c{call_off}++; off_log() }
sub off_log { $on and $c{off_log}++; Devel::DProf::Control::stop(); $on = 0 }
sub call_on { $on and $c{call_on}++; Devel::DProf::Control::start(); $on = 1 }
sub call_into { $on and $c{call_into}++; Devel::DProf::Control::mark($_[0]) }
{ package Any;
  sub sub_a { $on and $c{'Any::sub_a'}++; main::K(Devel::DProf::_charged()); 1 }
  sub sub_b { $on and $c{'Any::sub_b'}++; main::advance(); 1 }
  *cede = \&Coro::cede; *cede_notself = \&Coro::cede_notself;
  package T::Cede; sub TIESCALAR {
      $on and $c{'T::Cede::TIESCALAR'}++;
      bless [];
  }
  *FETCH = \&Coro::cede;
  package Gone;
  sub DESTROY { return if $ended; $on and $c{'Gone::DESTROY'}++; main::K(Devel::DProf::_charged());
  my $n = $_[0][0] // 0;
      if ($n == 1) { main::advance() }
      if ($n == 2) { eval { die "in DESTROY\n" } }
      if ($n == 3) { local $@; eval { main::named_spin() } }
      if ($n == 5 && $Coro::current == $Coro::main && main::fueled()) {
          Coro::cede();
          main::advance();
          main::f3();
      }
      if ($n == 4) { die "from DESTROY\n" }
      main::K(Devel::DProf::_charged()) }
  package Tied;
  sub TIESCALAR { $on and $c{'Tied::TIESCALAR'}++; bless [] }
  sub FETCH {
      $on and $c{'Tied::FETCH'}++;
      main::K(Devel::DProf::_charged());
      Coro::cede() if rand() < .7;
      main::advance();
      main::f4() if main::fueled();
      die "FETCH\n" if rand() < .1;
      1;
  }
  sub STORE {
      $on and $c{'Tied::STORE'}++;
      Coro::cede() if rand() < .3;
      main::f5() if main::fueled();
      main::K(Devel::DProf::_charged());
      1;
  }
  package Stored;
  sub TIESCALAR { $on and $c{'Stored::TIESCALAR'}++; bless [] }
  sub FETCH { $on and $c{'Stored::FETCH'}++; 1 }
  sub STORE { $on and $c{'Stored::STORE'}++; main::K(Devel::DProf::_charged()); main::advance(); 1 }
  package Over;
  use overload '""' => \&str, '+' => \&add, '&{}' => \&code, 'bool' => \&true, '<=>' => \&cmp3,
      fallback => 1;
  sub str {
      $on and $c{'Over::str'}++;
      Coro::cede();
      main::K(Devel::DProf::_charged());
      main::f6() if main::fueled();
      die "str\n" if rand() < .1;
      'over';
  }
  sub add { $on and $c{'Over::add'}++; Coro::cede(); main::advance(); 3 }
  sub code {
      $on and $c{'Over::code'}++;
      Coro::cede();
      main::K(Devel::DProf::_charged());
      return \&main::f8;
  }
  sub true { $on and $c{'Over::true'}++; Coro::cede(); 1 }
  sub cmp3 {
      $on and $c{'Over::cmp3'}++;
      main::K(Devel::DProf::_charged());
      die "cmp\n" if rand() < .1;
      1;
  }
}
END
    for my $n (0 .. $SUBS - 1) {
        my $body = join "\n    ", map { action() } 1 .. 2 + pick(3);
        $text .=
            "sub f$n "
                . "{\n    \$on and \$c{f$n}++, \$c{around}++, \$e{around(1) . ' > main::f$n'}++;\n "
                . "   fueled() or return 1; local \$depth = \$depth + 1;\n    "
            . check() . "\n    $body\n    " . one('1;', 'return 2;', check(), 'return;',
                call() . ';') . "\n}\n";
    }
    for my $n (0 .. 3) {
        $text .=
            "sub g$n "
                . "{\n    \$on and \$c{g$n}++, \$c{around}++, \$e{around(1) . ' > main::g$n'}++;\n "
                . "   fueled() or return 1;\n    "
            . calmly(sub {
                join "\n    ", check(), map { action() } 1 .. 2 + pick(2);
            }) . "\n    " . one('1;', check(), 'return;') . "\n}\n";
    }
    $text .=
        <<'END' . join("\n", map { round_of_actions() } 0 .. 3) . <<'END';
for my $round (1 .. $rounds) {
END
    $fuel = 0; cede for 1 .. 30;
}
sub printing { }
END {
    $ended = 1;
    printing();     # what is destroyed later is not in the figures
    $_ = undef for @ready;
    print "$_ $c{$_}\n" for sort keys %c;
    print "edge $_ $e{$_}\n" for sort keys %e;
    print "stacks ", Coro::State::cctx_count(), " ", Coro::State::cctx_idle(), "\n";
    print "broken\n" if $broken;
    print "checks $checks wrong $wrong spins $spins\n";
}
END
    return $text;
}

# Names subs that perl calls in the middle of an unwinding or of a switch.
our $UNWINDING =
    qr/::DESTROY\z|\A(?:Tied|Stored)::|\Amain::__ANON__\z|\Amain::END\z|\ACoro::_coro_run\z|
        \ACoro::State::diehook\z|\Amain::on_die\z/x;

# Whether the program ended, as it was written.
sub ran { my ($run) = @_; return $run->{out} =~ /^checks /m && $run->{out} !~ /^broken$/m }

# Compares the profile with what the program printed. $about: a hash that StrictProfile::problems
# has filled, with edges. Returns what is wrong, as a list.
sub compare {
    my ($output, $about) = @_;
    my %profile;
    # A sub without a place is C code: Coro makes such subs.
    $profile{ $about->{names}{$_} } += $about->{calls}{$_}
        for grep { $about->{names}{$_} ne 'main::__ANON__' || $about->{fields}{$_}[2] ne '-' }
        keys %{ $about->{calls} };
    my @late = @{ $about->{late} || [] };
    my @wrong = $output =~ /^wrong: (.*)/mg;
    my ($checks, $bad, $spins) = $output =~ /^checks (\d+) wrong (\d+) spins (\d+)$/m
        or return 'the program did not come to its end';
    push @wrong, "$bad of $checks times another sub was charged" if $bad;
    push @wrong, @late . " exits or switches were noticed late: $late[0]" if @late;
    for ($output =~ /^(\w\S* \d+)$/mg) {
        my ($name, $count) = split ' ';
        $name = "main::$name" unless $name =~ /::/;
        my $have = $profile{$name} // 0;
        push @wrong, "$name: $have calls, $count were made" if $have != $count;
    }
    for ($output =~ /^edge (\S+ > \S+ \d+)$/mg) {
        my ($edge, $count) = /^(.*) (\d+)$/;
        my $have = $about->{edges}{$edge} // 0;
        push @wrong, "$edge: $have calls, $count were made" if $have != $count;
    }
    return @wrong;
}

1;
