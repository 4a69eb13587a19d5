# Random programs call and leave subs in every way there is. Each sub writes its own log: its name
# and its caller, from a localized variable, which perl itself unwinds. The profile must have the
# same calls in the same order, and every exit when it happens.
#
# DPROF_SEED and DPROF_PROGRAMS: where to begin, and how many.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;

TestEnvironment::skip_long() if !$ENV{DPROF_PROGRAMS};

my $first = $ENV{DPROF_SEED} // 1;
my $programs = $ENV{DPROF_PROGRAMS} // TestEnvironment::rounds(3, 6);
my $SUBS = 12;

my $PRELUDE = <<'END';
no warnings; no strict;
use List::Util qw(first reduce any pairmap);
our ($IN, $FUEL, @LOG) = ('-', 1500);
sub enter { push @LOG, "$_[0]<$IN" if @LOG < 20_000 }
sub at { BEGIN { } push @LOG, "at<$IN" if @LOG < 20_000; 1 }
package D {
    sub DESTROY {
        local $main::IN = 'D';
        push @main::LOG, "D<$_[0][1]";
        main::at();
        $_[0][0]->() if $main::FUEL-- > 0;
    }
}
package T {
    sub TIESCALAR { bless $_[1] } sub FETCH { $main::FUEL-- > 0 ? $_[0]->()
        : 1 } sub STORE { main::at() }
}
package O {
    use overload '+' => sub { $main::FUEL-- > 0 ? $_[0]->() : 1 }, '""' => sub {
        main::at();
        'o';
    }, '&{}' => sub { main::at(); $_[0]->code }, fallback => 1;
}
package main;
sub AUTOLOAD { at(); 1 }
END

# The log's lines of D name the sub that made the object, not the one that is running.
sub generate {
    my $seed = shift;
    my $state = $seed * 2654435761 % 2**32;
    my $random = sub {
        $state = ($state * 1103515245 + 12345) % 2**31;
        int($state / 65536) % $_[0];
    };
    my $sub = sub { 's' . $random->($SUBS) };
    my @actions = (
        sub { $sub->() . '();' },
        sub { $sub->() . '(1, 2);' },
        sub { '&' . $sub->() . ';' },
        sub { 'eval { ' . $sub->() . '() }; at();' },
        sub { 'eval { ' . $sub->() . '(); die "thrown\n" }; at();' },
        sub { 'die "random\n" if $FUEL % 3 == 0;' },
        sub { 'return ' . $sub->() . '() if $FUEL % 4 == 0;' },
        sub { 'for my $i (1 .. 2) { next if $i == 2; ' . $sub->() . '() } at();' },
        sub { 'for (1 .. 3) { { last } ' . $sub->() . '(); last if $FUEL % 2 } at();' },
        sub { 'last TOP if $FUEL % 7 == 0;' },
        sub { 'next TOP if $FUEL % 11 == 0;' },
        sub { 'last if $FUEL % 13 == 0;' },
        sub { 'goto &' . $sub->() . ' if $FUEL % 2;' },
        sub { 'eval { goto &' . $sub->() . ' }; at();' },
        sub { 'goto &List::Util::sum if $FUEL % 17 == 0;' },
        sub { 'my @s = sort { ' . $sub->() . '(); $a <=> $b } 2, 1; at();' },
        sub { 'my @s = sort ' . $sub->() . ' 3, 1, 2; at();' },
        sub { 'my @s = eval { sort ' . $sub->() . ' 2, 1 }; at();' },
        sub { 'first {; ' . $sub->() . '(); 0 } 1, 2; at();' },
        # There is one element only: between elements perl does not undo a local.
        sub { 'my $c = \&' . $sub->() . '; first \&$c, 1; at();' },
        sub { 'any {; eval { ' . $sub->() . '() }; at(); 0 } 1, 2;' },
        sub { 'reduce {; ' . $sub->() . '(); 1 } 1, 2; at();' },
        sub { 'pairmap {; ' . $sub->() . '() } 1, 2; at();' },
        sub { '{ my $o = bless [\&' . $sub->() . ", \$IN], 'D'; at() } at();" },
        sub { 'my $o = bless [sub { ' . $sub->() . "(); die \"from destroy\\n\" }, \$IN], 'D';" },
        sub { 'tie my $t, "T", \&' . $sub->() . '; my $x = $t + 1; at();' },
        sub { 'my $o = bless \&' . $sub->() . ', "O"; my $x = $o + 1; at(); bless $o, "Plain";' },
        sub { 'eval q{' . $sub->() . '()}; at();' },
        sub { 'eval q{die "in eval\n"}; at();' },
        sub { '"a" =~ /a(?{ ' . $sub->() . '() })/; at();' },
        sub { 'local $SIG{__DIE__} = sub { at() }; eval { die "handled\n" }; at();' },
        sub {
            'local $SIG{__DIE__} = sub { ' . $sub->() . '(); die "again\n" }; eval { ' . $sub->()
                . '() }; at();';
        },
        sub { 'local $SIG{__WARN__} = sub { ' . $sub->() . '() }; warn "w"; at();' },
        sub { 'main->' . $sub->() . '; at();' },
        sub { '&{"' . $sub->() . '"}(1); at();' },
        sub { 'my $n = "made_up"; &$n(); at();' },
        sub { 'my $s = "x"; $s =~ s/x/' . $sub->() . '()/e; at();' },
        sub { 'my @m = map {; ' . $sub->() . '() } 1, 2; at();' },
        sub { 'my $f = sub { ' . $sub->() . '() }; $f->(); at();' },
        sub { 'eval { eval { ' . $sub->() . '() }; at(); die $@ || "none\n" }; at();' },
        sub { 'wantarray ? return (1, 2) : return if $FUEL % 5 == 0;' },
        sub { 'goto OUT if $FUEL % 19 == 0;' },
        sub { '{ ' . $sub->() . '(); redo if $FUEL-- % 23 == 0 } at();' },
        sub { 'eval { &Internals::SvREFCNT(1, 2, 3, 4) }; at();' },
        sub { 'kill USR1 => $$ if $FUEL % 9 == 0; at();' },
    );
    my $text = $PRELUDE;
    for my $n (0 .. $SUBS - 1) {
        my $body = join "\n    ", map { $actions[$random->(scalar @actions)]->() }
            1 .. 2 + $random->(4);
        $text .=
            "sub s$n "
                . "{ enter('s$n'); local \$IN = 's$n'; return 1 if \$FUEL-- <= 0 || \@_ && ref "
                . "\$_[0] eq 'X';\n    $body\n    1 }\n";
    }
    $text .= "\$SIG{USR1} = sub { at() };\n";
    $text .= "for my \$round (1 .. 12) { TOP: for my \$once (1) { eval { s" . $random->($SUBS)
        . "() }; at() } OUT: at(); \$FUEL += 60 }\n";
    $text .= 'print "$_\n" for @LOG;' . "\n";
    return $text;
}

# Makes the same log from the profile: each call with the nearest sub of the program above it.
sub log_of {
    my $got = shift;
    my @stack = ('-');
    my @log;
    for (@{ $got->{events} }) {
        my ($sign, $full) = @$_;
        my $name = $full =~ /^main::(s\d+|at)\z/ ? $1 : $full eq 'D::DESTROY' ? 'D' : undef;
        if ($sign eq '-' || $sign eq '/') {
            pop @stack;
            next;
        }
        pop @stack if $sign eq '*';
        push @log, $name eq 'D' ? 'D' : "$name<$stack[-1]" if defined $name;
        push @stack, defined $name && $name ne 'at' ? $name : $stack[-1];
    }
    return \@log;
}

# With the counting clock time passes between any two events of the program. An exit with no time
# between it and the next mark was noticed only then. (Objects are destroyed while an exception
# unwinds: then no time lies between.)
sub late {
    my $got = shift;
    my $before = ['', ''];
    for (@{ $got->{events} }) {
        return "$before->[0]$before->[1] was noticed at $_->[0]$_->[1]"
            if $before->[0] eq '/' && $_->[0] ne '/' && !$_->[2] && $_->[1] ne 'D::DESTROY';
        $before = $_;
    }
    return '';
}

my ($calls, $run_ones) = (0, 0);
for my $seed ($first .. $first + $programs - 1) {
    my $file = spew(scratch() . "/random$seed.pl", generate($seed));
    my $plain = plain([$file], limit => 20);
  SKIP: {
        # Such a program may bring perl itself down.
        skip "program $seed does not run: $plain->{err}", 1 if $plain->{raw};
        my $run = profiled([$file], limit => 60, env => { counting() });
        my $diff = same_as_plain($plain, $run);
        my $got = read_profile($run->{profile}, events => 1);
        $diff ||= join "\n", $got->problems;
        $diff ||= 'not complete' unless $got->complete;
        my @own = map { /^D</ ? 'D' : $_ } split /\n/, $plain->{out};
        my $seen = log_of($got);
        for my $i (0 .. (@own > @$seen ? @own : @$seen) - 1) {
            last if length $diff;
            my ($mine, $theirs) = map { $_ // 'nothing' } $own[$i], $seen->[$i];
            last if $i >= 20_000;
            $diff = "call $i: the program says $mine, the profile $theirs" if $mine ne $theirs;
        }
        $diff ||= late($got);
        $run_ones++;
        $calls += @own;
        is($diff, '', "program $seed agrees with its " . @own . ' own calls')
            or diag("DPROF_SEED=$seed DPROF_PROGRAMS=1");
    }
}
cmp_ok($run_ones, '>=', $programs / 2, "most of the programs run, with $calls calls compared");
done_testing;
