package FuzzProgram;

# Random programs that enter and leave subs in every way there is, and that log what they did. Each
# sub counts its own calls, and at many points the sub that is being charged is compared with the
# one that caller() names.
#
# A seed always gives the same program, and a program always runs the same way.
#
# In a program's environment, FUZZ_SKIP is a regex of subs that are not recorded; with FUZZ_BUILTINS
# builtins are recorded.

use strict;
use warnings;
use List::Util ();

our $SUBS = 32;

# The generator is our own, since the sequence of rand belongs to the program.
my $state;
sub pick {
    $state = ($state * 1103515245 + 12345) % 2147483648;
    return int(($state >> 8) / 8388608 * $_[0]);
}
sub one { return $_[ pick(scalar @_) ] }

our $level;
my ($unique, $has_try, $has_defer);

sub name { return 'f' . pick($SUBS) }

# ---- calls: expressions ----

my @calls = (
    (sub { name() . '(1, 2)' }) x 4,
    sub { '&' . name() },
    sub { '&' . name() . '(@_)' },
    sub { 'main->' . name() . '(3)' },
    sub { '$ref{' . name() . '}->(4)' },
    sub { '&{\&' . name() . '}(5)' },
    sub { 'do { no strict "refs"; &{"' . name() . '"}(6) }' },
    sub { 'F::Obj->new->run("' . name() . '")' },
    sub { 'F::Kid->new->run("' . name() . '")' },
    sub { 'F::Auto->auto_' . pick(5) . '(7)' },
    sub { 'F::Auto::func_' . pick(5) . '(7)' },
    sub { 'sub { $c{__ANON__}++; ' . check() . call() . ' }->()' },
    sub { 'main->can("' . name() . '")->(8)' },
    sub { '(' . call() . ', ' . call() . ')[-1]' },
    sub { 'named("' . name() . '")' },
    sub { 'scalar(' . call() . ')' },
    sub { 'do { my @list = ' . call() . '; scalar @list }' },
    sub { '$closure[' . pick(4) . ']->()' },
);

sub call { return $level > 4 ? name() . '()' : nest(one(@calls)) }
sub nest { my ($code) = @_; local $level = $level + 1; return $code->() }

sub check { return 'K(Devel::DProf::_charged()); ' }
sub round_of_calls {
    my ($n) = @_;
    return "    \$fuel = 120; eval { L$n: for my \$l$n (1, 2) { " . check() . call() . '; '
        . check() . ' } };' . check();
}
sub check_in { return "K(Devel::DProf::_charged(), 1, '$_[0]'); " }
sub chance { return 'rand() < ' . (one(1, 2, 4) / 20) }
sub label { return 'L' . pick(4) }
sub thrown {
    return one('"thrown\n"', 'bless([], "F::Error")', '{ a => 1 }',
        'bless([], "F::Gone")', '$over');
}
sub jump {
    return one('next', 'last', 'next', 'last', 'redo', 'next ' . label(), 'last ' . label(),
        'goto ' . label());
}

sub block {
    my $n = 1 + pick(2);
    return '{ ' . join(' ', map { action() } 1 .. $n) . ' }';
}

# Returns a callback's body: it may call, die, or leave by a loop exit that finds no loop.
sub body {
    my ($value) = @_;
    return '{ $c{__ANON__}++; ' . check() . one('', call() . ';', call() . ';',
        'die ' . thrown() . ' if ' . chance() . ';', jump() . ' if ' . chance() . ';',
        'return 1 if ' . chance() . ';', 'eval { die "in\n" };', 'eval { ' . call() . ' };')
            . " $value }";
}

# A sort block is no sub.
sub sort_body {
    return '{ ' . one('', check_in('CORE:sort')) . one('', call() . ';',
        'die ' . thrown() . ' if ' . chance() . ';', 'eval { ' . call() . ' };',
        'eval { die "in\n" };') . ' $a <=> $b }';
}

sub fenced { return 'List::Util::first { $c{__ANON__}++; eval { ' . call() . ' }; 0 } 1' }

# Returns a callback that has a name.
sub named_body {
    my ($name, $value) = @_;
    return "Sub::Util::set_subname('$name', sub "
        . body($value) =~ s/\$c\{__ANON__\}/\$c{"$name"}/r . ')';
}

# require rethrows in the middle of an unwinding, so this handler needs a name.
sub handler { return named_body('F::handler', one('1', 'die "again\n"')) }

# ---- actions: statements ----

my @actions = (
    (sub { call() . ';' }) x 5,
    (sub { check() }) x 4,
    (sub { 'eval ' . block() . ';' }) x 3,
    sub { 'eval { ' . call() . '; 1 } or ' . call() . ';' . check() },
    sub { 'if (!eval { ' . call() . '; die "x\n" }) { ' . check() . call() . ' }' },
    (sub { 'die ' . thrown() . ' if ' . chance() . ';' }) x 3,
    (sub { jump() . ' if ' . chance() . ';' }) x 3,
    sub { 'for (1 .. 2) ' . block() . check() },
    sub { label() . ': for my $i (1 .. 2) { ' . call() . '; ' . check() . ' }' . check() },
    sub {
        my $v = '$w' . $unique++;
        label() . ": { my $v = 0; while ($v++ < 2) " . block() . ' continue { ' . check() . ' } }';
    },
    sub { 'goto &' . name() . ' if ' . chance() . ';' },
    sub { 'if (' . chance() . ') { my $f = $ref{' . name() . '}; goto &$f }' },
    sub {
        'if (' . chance() . ') { @_ = (1, 2); goto &' . one('List::Util::sum', 'List::Util::max',
            'Scalar::Util::blessed', 'Scalar::Util::dualvar') . ' }';
    },
    sub { 'if (' . chance() . ') { @_ = (sub ' . body('0') . ', 1, 2); goto &List::Util::first }' },
    sub { 'goto &absent if ' . chance() . ';' },
    sub { 'eval { goto &' . name() . ' };' . check() },
    sub { 'return ' . call() . ' if ' . chance() . ';' },
    sub { 'return wantarray ? (1, ' . call() . ') : ' . call() . ' if ' . chance() . ';' },
    sub { 'my @s' . $unique++ . ' = sort ' . sort_body() . ' 3, 1, 2;' . check() },
    sub {
        'my @s' . $unique++ . ' = sort ' . one(qw(by_num by_ret by_die by_proto by_call))
            . ' 3, 1, 2;' . check();
    },
    sub { 'my @s' . $unique++ . ' = sort $by 3, 1, 2;' . check() },
    sub { 'my @s' . $unique++ . ' = reverse sort { by_num() || $b <=> $a } 3, 1, 2;' },
    sub { 'my $v' . $unique++ . ' = List::Util::first ' . body('0') . ' 1, 2, 3;' . check() },
    sub {
        'my $v' . $unique++ . ' = List::Util::reduce ' . body('$a + $b') . ' 1, 2, 3;' . check();
    },
    sub {
        'my $v' . $unique++ . ' = List::Util::' . one(qw(any all none notall)) . ' '
            . body(one(0, 1)) . ' 1, 2, 3;';
    },
    sub {
        'my @v' . $unique++ . ' = List::Util::' . one(qw(pairmap pairgrep)) . ' ' . body('1')
            . ' 1, 2, 3, 4;';
    },
    sub {
        'my @v' . $unique++ . ' = List::Util::max_by_name(' . 'sub ' . body('$_[0]')
            . ', 1, 2);' . check();
    },
    sub { 'my $v' . $unique++ . ' = &List::Util::first(\&' . name() . ', 1, 2);' . check() },
    sub { 'my @v' . $unique++ . ' = map { ' . check() . call() . ' } 1, 2;' },
    sub { 'my @v' . $unique++ . ' = grep { ' . call() . '; 1 } 1, 2;' },
    sub { 'my $o' . $unique++ . ' = bless [' . pick(8) . '], "F::Gone";' },
    sub { '{ my $o = bless [' . pick(8) . '], "F::Gone"; ' . call() . ' }' . check() },
    sub { '{ my $o = bless [' . pick(8) . '], "F::Gone"; undef $o; }' . check() },
    sub { 'eval { my $o = bless [' . pick(8) . '], "F::Gone"; die ' . thrown() . ' };' . check() },
    sub {
        'tie my $t' . ++$unique . ', "F::Tie"; { my $v = $t' . $unique . '; $t' . $unique
            . ' = 2; }' . check();
    },
    sub {
        'tie my %t' . ++$unique . ', "F::Tie"; { my $v = $t' . $unique . '{a}; delete $t' . $unique
            . '{b}; my @k = keys %t' . $unique . '; }' . check();
    },
    # (No element of a tied array is made local: FETCH may move the save stack, and
    # save_aelem_flags of perl 5.26 as far as 5.36 writes to where the stack was before.)
    sub {
        'tie my %t' . ++$unique . ', "F::Tie"; { local $t' . $unique . '{a}; ' . call()
            . ' } tie my @t' . $unique . ', "F::Tie"; { my $v = $t' . $unique . '[0]; $t'
            . $unique . '[0] = 2; }' . check();
    },
    sub { one('my $v = "$over";', 'my $v = $over + 1;', 'my $v = -$over;', '$over->(1);',
        '&$over(1);', 'if ($over) { 1 }', 'my @v = @$over;', 'my $v = $over <=> 3;',
        'my @v = sort { $a <=> $b } $over, 2, 1;', 'sprintf "%s %d", $over, $over;',
        'my %h = ($over => 1);', 'my $v = join $over, 1, 2;') . check() },
    sub {
        '{ local $SIG{__DIE__} = ' . handler() . '; eval { ' . one('die "x\n"', 'die ' . thrown(),
            call(), 'my $v = undef; $v->method') . ' }; }' . check();
    },
    sub {
        '{ local $SIG{__WARN__} = sub ' . body(one('1', 'die "warned\n"')) . '; '
            . one('eval { warn "x\n" };', 'warn "x\n";') . call() . ' }';
    },
    sub { $has_try ? 'try ' . block() . ' catch ($e) ' . block() . check() : check() },
    sub {
        $has_try ? 'for my $try (1, 2) { try { ' . call() . '; die 1 if ' . chance() . '; '
            . one('next;', 'last;', '', 'return 3;') . ' } catch ($e) { ' . check()
            . one('next;', 'last;', '', call()) . ' } }' : call() . ';';
    },
    sub { $has_defer ? # (perl itself crashes when a defer block is left by an exception or a jump)
        '{ defer { deferred(Devel::DProf::_charged()) } ' . call() . '; }' : call() . ';' },
    sub { 'eval q{' . call() . '; ' . check() . '};' . check() },
    sub {
        'eval q{' . one(jump() . ' if rand() < .3;', 'die "x\n";', '1 +* ;', 'return 1;',
            'BEGIN { ' . call() . ' }') . call() . '};';
    },
    sub { my $g = 'g' . pick(3); "eval q{sub $g { \$c{$g}++; " . call() . " } $g();};" . check() },
    # (perl itself crashes when regex code is left by a jump, or has an eval of its own that
    # catches)
    sub { '"aa" =~ /a(?{ ' . fenced() . ' })a/;' . check() },
    sub {
        '"ab" =~ /a(?{ ' . one('die "x\n" if ' . chance(), fenced()) . ' })(??{ ' . fenced()
            . '; "b" })/;' . check();
    },
    sub { '(my $s' . ++$unique . ' = "xx") =~ s/x/' . call() . '/ge;' . check() },
    sub { 'eval { ' . one('&List::Util::first(1, 2)', '&List::Util::reduce()',
        '&Scalar::Util::dualvar(1)', 'List::Util::pairs->bad', 'F::Nowhere->method',
        'no_such()', '"x"->(1)',
        'my $u; &$u()', 'Sub::Util::set_prototype(1, 2)') . ' };' . check() },
    sub {
        one('&List::Util::first(1, 2)', '&Scalar::Util::dualvar(1)', 'no_such(1)') . ' if '
            . chance() . ';';
    },
    sub { name() . '(bless([' . pick(8) . '], "F::Gone"));' . check() },
    sub {
        'eval { ' . name() . '(bless([' . pick(8) . '], "F::Gone"), ' . call() . ', die ' . thrown()
            . ') };' . check();
    },
    sub { '{ local $global = bless [' . pick(8) . '], "F::Gone"; ' . call() . ' }' . check() },
    sub { 'local $global = bless [' . pick(8) . '], "F::Gone";' },
    sub { 'lv() = ' . call() . ';' . check() },
    sub { '(lv(), my $v' . $unique++ . ') = (' . call() . ', 2); for (lv()) { ' . call() . ' }' },
    sub { 'down(' . pick(30) . ', "' . name() . '");' },
    sub {
        'eval { eval { ' . call() . '; die "in\n" }; ' . check() . call()
            . '; die "out\n" };' . check();
    },
    sub {
        'eval { eval { eval { die ' . thrown() . ' }; die $@ }; ' . jump() . ' if ' . chance()
            . ' };' . check();
    },
    sub { 'eval q{sub dying { $c{dying}++; undef &dying; ' . call() . ' } dying()};' . check() },
    sub {
        '{ no strict "refs"; no warnings; local *{"moving"} = sub ' . body('1')
            . '; moving(); }' . check();
    },
    sub { 'my @v' . $unique++ . ' = (' . call() . ', (wantarray // 2), ' . call() . ');' },
    sub { '{ local $@; eval { ' . call() . ' }; }' },
    sub { 'kill USR1 => $$;' . call() . ';' . check() },
    sub {
        '{ local $SIG{USR1} = ' . named_body('F::signal', one('die "signal\n"', '1'))
            . '; eval { kill USR1 => $$; ' . call() . '; }; }' . check();
    },
    sub { 'eval { require "F/x' . pick(5) . '.pm" };' . check() },
    sub { 'do { ' . call() . ' } while (' . chance() . ');' },
    sub {
        'my $v' . $unique++ . ' = F::Obj->new->' . one('isa', 'can', 'DOES')
            . '("x"); UNIVERSAL::isa($over, "x");' . check();
    },
    sub {
        'my $s' . ++$unique . ' = Sub::Util::set_subname("F::renamed", sub { $c{"F::renamed"}++; '
            . check() . call() . ' }); $s' . $unique . '->();';
    },
    sub {
        'if (' . chance()
            . ') { my @c = caller(pick_depth()); my @a = do { package DB; caller(1) }; }' . check();
    },
    sub { 'F::Obj->new->super(' . one(1, 0) . ');' . check() },
);

sub action {
    return call() . ';' if $level > 4;
    return nest(one(@actions));
}

# ---- a program ----

# $no_defer: perl's own code for defer blocks fails when the context stack grows in them, as a perl
# with assertions reports.
sub program {
    my ($seed, $rounds, $no_defer) = @_;
    $rounds ||= 20;
    $state = ($seed * 7919 + 17) % 2147483648;
    pick(1) for 1 .. 5;
    ($level, $unique) = (0, 0);
    ($has_try, $has_defer) = ($] >= 5.034, $] >= 5.036 && !$no_defer);
    my $use = ($has_try ? "use feature 'try'; " : '') . ($has_defer ? "use feature 'defer'; " : '');
    my $text = <<"END" . <<'END';
# seed $seed
use strict; no warnings; $use
srand $seed;
my \$rounds = $rounds;
END
use List::Util; use Scalar::Util; use Sub::Util;
BEGIN {
    no strict 'refs';
    our $plain = defined &Devel::DProf::_start ? 0 : 1;
    *{'Devel::DProf::_charged'} = \&re::regnames_count if $plain;   # an XS sub, too
}
our $plain;
our $skip = $ENV{FUZZ_SKIP};
our (%c, $fuel, $depth, $checks, $wrong, $global, $lv, $over, $by, %ref, @closure, $AUTOLOAD);
$fuel = 0; $depth = 0; $checks = 0; $wrong = 0;
$over = bless [1, 2], 'F::Over';
$by = sub { $c{__ANON__}++; $a <=> $b };
sub pick_depth { $c{pick_depth}++; return $depth % 4 }

# Compares the name that is being charged with the one that caller() has. A plain program executes
# the same ops: where several signals are pending, each is handled at a further op.
sub K {
    $c{K}++;
    $checks++;
    my ($charged, $i, $builtin) = @_;
    my ($name, $skipped);
    $i ||= 1;
    while (defined($name = (caller $i++)[3])) {
        next if $name eq '(eval)';
        last if !defined $skip || $name !~ $skip;
        $skipped = 1;
    }
    # caller() does not show these.
    return if $skipped && $charged && $charged =~ /^(?:List::Util::|CORE:)/;
    $name = $builtin if $builtin && $ENV{FUZZ_BUILTINS};
    $charged //= '(program)';
    $name //= '(program)';
    my $running = ($charged =~ s/^F::Auto::(?:auto|func)_\d.*/F::Auto::AUTOLOAD/r, $name)[$plain];
    return if $running eq $name;
    print "wrong: charged $charged, running $name, line ", (caller 0)[2], "\n" if $wrong++ < 5;
    return;
}
sub deferred { $c{deferred}++; K($_[0], 2) }
sub fueled { $c{fueled}++; return $fuel-- > 0 && $depth < 25 }
sub down {
    $c{down}++;
    my ($n, $f) = @_;
    if ($n <= 0) { return fueled() ? $ref{$f}->() : 1 } down($n - 1, $f);
    K(Devel::DProf::_charged());
    1;
}
sub lv : lvalue { $c{lv}++; K(Devel::DProf::_charged()); $lv }
sub named { $c{named}++; my $f = shift; return fueled() ? $ref{$f}->(@_) : 0 }
sub by_num { $c{by_num}++; $a <=> $b }
sub by_ret {
    $c{by_ret}++;
    K(Devel::DProf::_charged());
    return $a <=> $b if rand() < .5;
    my $r = $a <=> $b;
    return $r;
}
sub by_die { $c{by_die}++; die "compare\n" if rand() < .2; $a <=> $b }
sub by_proto ($$) { $c{by_proto}++; K(Devel::DProf::_charged()); $_[0] <=> $_[1] }
sub by_call { $c{by_call}++; eval { f1() } if fueled(); f2() if fueled(); $a <=> $b }
{ package F::Obj; our %c; *c = \%main::c;
  sub new { $c{'F::Obj::new'}++; my $class = shift; return bless { }, $class }
  sub run {
      $c{'F::Obj::run'}++;
      my ($self, $f) = @_;
      main::K(Devel::DProf::_charged());
      return main::fueled() ? $main::ref{$f}->() : 0;
  }
  sub super { $c{'F::Obj::super'}++; return $_[1] ? $_[0]->new->super(0) : 1 }
  package F::Kid; our @ISA = 'F::Obj';
  sub run {
      main::K(Devel::DProf::_charged());
      $c{'F::Kid::run'}++;
      my $self = shift;
      return $self->SUPER::run(@_);
  }
  package F::Gone;
  sub DESTROY { $c{'F::Gone::DESTROY'}++; main::K(Devel::DProf::_charged()); my $n = $_[0][0] // 0;
      if ($n == 1) { die "from DESTROY\n" }
      if ($n == 2) { eval { die "in DESTROY\n" } }
      if ($n == 3 && main::fueled()) { main::f1() }
      if ($n == 4 && main::fueled()) { local $@; eval { main::f2() } }
      if ($n == 5 && main::fueled()) { for (1 .. 2) { main::f3() } }
      main::K(Devel::DProf::_charged()) }
  package F::Error;
  package F::Tie;
  sub TIESCALAR { $c{'F::Tie::TIESCALAR'}++; bless [] }
  sub TIEHASH { $c{'F::Tie::TIEHASH'}++; bless [] }
  sub TIEARRAY { $c{'F::Tie::TIEARRAY'}++; bless [] }
  sub FETCH {
      $c{'F::Tie::FETCH'}++;
      main::K(Devel::DProf::_charged());
      main::f4() if main::fueled();
      die "FETCH\n" if rand() < .1;
      1;
  }
  sub STORE { $c{'F::Tie::STORE'}++; main::f5() if main::fueled(); die "STORE\n" if rand() < .1; }
  sub DELETE { $c{'F::Tie::DELETE'}++; main::K(Devel::DProf::_charged()); 1 }
  sub EXISTS { $c{'F::Tie::EXISTS'}++; 1 }
  sub FETCHSIZE { $c{'F::Tie::FETCHSIZE'}++; 1 }
  sub FIRSTKEY { $c{'F::Tie::FIRSTKEY'}++; 'a' }
  sub NEXTKEY { $c{'F::Tie::NEXTKEY'}++; undef }
  sub CLEAR { $c{'F::Tie::CLEAR'}++ }
  sub UNTIE { $c{'F::Tie::UNTIE'}++ }
  package F::Over;
  use overload '""' => \&str, '+' => \&add, 'neg' => sub {
      $c{'F::Over::__ANON__'}++;
      1;
  }, '&{}' => \&code, 'bool' => \&true, '<=>' => \&cmp3, '0+' => \&num,
      '@{}' => \&list, fallback => 1;
  sub str {
      $c{'F::Over::str'}++;
      main::K(Devel::DProf::_charged());
      main::f6() if main::fueled();
      die "str\n" if rand() < .1;
      'over';
  }
  sub add { $c{'F::Over::add'}++; main::f7() if main::fueled(); 3 }
  sub code { $c{'F::Over::code'}++; main::K(Devel::DProf::_charged()); return \&main::f8 }
  sub true { $c{'F::Over::true'}++; 1 }
  sub num { $c{'F::Over::num'}++; 1 }
  sub cmp3 {
      $c{'F::Over::cmp3'}++;
      main::K(Devel::DProf::_charged());
      die "cmp\n" if rand() < .1;
      1;
  }
  sub list { $c{'F::Over::list'}++; return [1, 2] }
  package F::Auto; our $AUTOLOAD;
  sub AUTOLOAD { my $want = $AUTOLOAD; $c{$want}++; main::K(Devel::DProf::_charged());
      return if $want =~ /DESTROY/;
      if ($want =~ /1$/) { goto &main::f9 }
      if ($want =~ /2$/) { die "AUTOLOAD\n" }
      main::f10() if main::fueled();
      main::K(Devel::DProf::_charged());
      return 1 }
}
unshift @INC, sub { $c{__ANON__}++; my ($self, $file) = @_; return unless $file =~ m{^F/x(\d)};
K(Devel::DProf::_charged()); delete $INC{$file};
    my $text = $1 == 1 ? 'die "in file\n"' : $1 == 2 ? '0'
        : 'main::K(Devel::DProf::_charged()); main::f11() if main::fueled(); 1';
    open my $fh, '<', \$text; return $fh };
$SIG{USR1} = sub { $c{__ANON__}++; K(Devel::DProf::_charged()) };
END
    $text =~ s/List::Util::max_by_name/List::Util::first/g;
    for my $n (0 .. $SUBS - 1) {
        my $count = 2 + pick(3);
        my $body = join "\n    ", map { action() } 1 .. $count;
        $body =~ s/List::Util::max_by_name\(/&List::Util::first(/g;
        $text .=
            "sub f$n "
                . "{\n    \$c{f$n}++; fueled() or return wantarray ? (1, 2) : 1; "
                . "local \$depth = \$depth + 1;\n    "
            . check() . "\n    $body\n    " . one('1;', 'return 2;', check(), 'return;',
                call() . ';', 'return (' . call() . ');') . "\n}\n";
    }
    $text .= "push \@closure, map { my \$n = \$_; sub { \$c{__ANON__}++; \$fuel -= \$n; " . check()
        . 'return 1 if !fueled(); ' . call() . " } } 1 .. 4;\n";
    $text .= "\$ref{\"f\$_\"} = do { no strict 'refs'; \\&{\"f\$_\"} } for 0 .. "
        . ($SUBS - 1) . ";\n";
    $text .=
        <<'END' . join("\n", map { round_of_calls($_) } 0 .. 3) . <<'END';
for my $round (1 .. $rounds) {
END

}
sub printing { }
sub out_of { my $n = shift; exit 0 if !$n; my @s = sort { out_of($n - 1) } 1, 2 }
END {
    K(Devel::DProf::_charged());
    printing();     # what is destroyed later is not in the figures
    print "$_ $c{$_}\n" for sort keys %c;
    print "checks $checks wrong $wrong\n";
}
List::Util::first { $c{__ANON__}++; out_of(3) } 1;
END
    return $text;
}

# Names subs that perl calls in the middle of an unwinding: no time of the program passes between
# the exits before and such a call. (require makes a string of an exception that it passes on.)
our $UNWINDING =
    qr/::DESTROY\z|\AF::Tie::|\AF::Over::str\z|\AF::handler\z|\Amain::deferred\z|\Amain::END\z|
        \ADevel::DProf::_charged\z/x;

# Compares the profile's counts by name with the lines that the program printed. $about: as
# StrictProfile::problems fills it, edges too; with a regex in {skip}, such subs must not be there.
# Returns what is wrong.
sub compare {
    my ($output, $about) = @_;
    my %profile;
    $profile{ $about->{names}{$_} } += $about->{calls}{$_} for keys %{ $about->{calls} };
    my @late = @{ $about->{late} || [] };
    my @wrong = $output =~ /^wrong: (.*)/mg;
    my ($checks, $bad) = $output =~ /^checks (\d+) wrong (\d+)$/m
        or return 'the program did not come to its end';
    push @wrong, "$bad of $checks times another sub was charged" if $bad;
    push @wrong, "END was called from $about->{until_stack}"
        if $about->{until_stack} ne 'main::END';
    push @wrong, @late . " exits were noticed late: $late[0]" if @late;
    push @wrong, miscounted($output, $about, \%profile);
    return @wrong;
}

# Compares counts by name alone. Signals may be pending when a sub is called, and are handled in its
# first op, before it has counted itself; handlers that may do more than to check are F::signal.
sub miscounted {
    my ($output, $about, $profile) = @_;
    my $edges = $about->{edges} || {};
    my %have = %$profile;
    my %made;
    for ($output =~ /^(\w\S* \d+)$/mg) {
        my ($name, $count) = split ' ';
        $name = "main::$name" unless $name =~ /::/;
        $made{$name} = defined $about->{skip} && $name =~ $about->{skip} ? 0 : $count;
    }
    # A handler that calls AUTOLOAD changes $AUTOLOAD, by which AUTOLOAD counts itself.
    if (grep { /^F::Auto::\w+ > F::signal\z/ } keys %$edges) {
        for my $counts (\%have, \%made) {
            my @names = grep { /^F::Auto::(?:auto|func)_\d\z/ } keys %$counts;
            $counts->{'F::Auto'} = List::Util::sum0(delete @$counts{@names});
        }
    }
    my @wrong;
    for my $name (sort keys %made) {
        my $more = ($have{$name} // 0) - $made{$name};
        # A handler that dies ends the sub.
        next if $more > 0 && $more <= ($edges->{"$name > F::signal"} // 0);
        push @wrong, "$name: " . ($have{$name} // 0) . " calls, $made{$name} were made" if $more;
    }
    return @wrong;
}

1;
