package SpanProgram;

# Random programs that open and leave spans in all ways. While it runs, a program knows what should
# be charged, asks the recorder what is charged, and counts both calls and spans by itself.

use strict;
use warnings;

# Returns the text of a program for a seed. Its last line of output is `N checks, N bad`; it prints
# its counts to the file that $ENV{EXPECT} names, `NAME COUNT` a line.
sub text {
    my ($class, $seed) = @_;
    return <<'HEAD' . "srand $seed;\n" . <<'PROGRAM' =~ s/\bcheck\(\)/check(charged())/gr;
use strict; use warnings;
use Devel::DProf::Control 'span';
our ($top, %count, $bad, $checks, $depth, $budget) = (undef, (), );
($bad, $checks, $depth, $budget) = (0) x 4;
BEGIN { *charged = defined &Devel::DProf::_charged ? \&Devel::DProf::_charged : sub { 'plain' } }
sub check {
    my ($is, $want) = ($_[0] // '', $top // '');
    $checks++;
    return if $is eq $want || $is eq 'plain';
    print "charged $is, not $want: ", join(' ', map { (caller $_)[2] } 0 .. 3), "\n" if ++$bad < 5;
}
HEAD
sub note { $count{$_[0]}++ }
my @subs = map { "s$_" } 1 .. 6;
for my $s (@subs) {
    eval "sub $s { local \$top = 'main::$s'; note('main::$s'); work() } 1" or die $@;
}
eval "sub g$_ { \@_ = (); goto &s$_ } 1" or die $@ for 1 .. 3;
sub run { no strict 'refs'; &{ $subs[rand @subs] }() }
sub inner {
    local $top = 'main::inner';
    note('main::inner');
    check(); eval { work() }; check();
    return 1;
}
sub leave_loop {
    note('main::leave_loop'); note('q:leave');
    my $span = span('q', 'leave');
    local $top = 'q:leave';
    check();
    note('q:in');
    no warnings 'exiting';
    span('q', 'in', sub { last LOOP });
}
sub with_goto {
    note('main::with_goto'); note('r:goto');
    my $span = span('r', 'goto');
    { local $top = 'r:goto'; check() }
    goto &{ \&{ $subs[rand @subs] } };
}
sub in_sort {
    note('main::in_sort'); note('o:sort');
    my $span = span('o', 'sort');
    my @sorted = sort { local $top = 'o:sort'; check(); $a <=> $b } map { int rand 9 } 1 .. 3;
    return;
}
my @ways = (
    sub { run() },
    sub { eval { run(); die "x\n" if rand() < 0.5 } },
    sub {
        my $t = 't' . int rand 4;
        note("sql:$t");
        span('sql', $t, sub { local $top = "sql:$t"; inner() });
    },
    sub {
        my $t = 't' . int rand 4;
        note("http:$t");
        eval { span('http', $t, sub { local $top = "http:$t"; inner(); die "y\n" }) };
    },
    sub { no strict 'refs'; my $g = 'g' . (1 + int rand 3); note("main::$g"); eval { &$g() } },
    sub { LOOP: for (1) { leave_loop() } },
    sub { no strict 'refs'; with_goto() },
    sub { in_sort() },
);
sub work {
    local $top = 'main::work';
    note('main::work');
    return if $depth > 12 || $budget-- < 0;
    local $depth = $depth + 1;
    for (1 .. 1 + int rand 3) {
        my $what = int rand 12;
        if ($what < 8) { way($what); check() }
        elsif ($what == 8) {
            { note('x:u'); my $span = span('x', 'u'); local $top = 'x:u'; check();
              work() if rand() < 0.7; check() }
            check();
        } elsif ($what == 9) {
            for my $k (1 .. 3) {
                note("y:$k"); my $span = span('y', $k); local $top = "y:$k"; check();
                next if rand() < 0.5;
                work();
                last if rand() < 0.3;
                check();
            }
            check();
        } elsif ($what == 10) {
            eval {
                note('z:v'); my $span = span('z', 'v'); local $top = 'z:v'; check();
                die "w\n" if rand() < 0.5;
                local $SIG{__DIE__} = sub { 1 };
                work();
            };
            check();
        } elsif (rand() < 0.3) { die "z\n" }
    }
    return;
}
# A sub that only passes on: what it is charged with is not asked.
sub way { note('main::way'); $ways[$_[0]]->() }
for (1 .. 20) { $budget = 150; eval { work() }; check() }
$top = 'a:main'; note($top);
my $last = span('a', 'main');
check(); eval { work() }; check(); undef $last; $top = undef; check();
print "$checks checks, $bad bad\n";
open my $out, '>', $ENV{EXPECT} or die;
print {$out} "$_ $count{$_}\n" for sort keys %count;
PROGRAM
}

1;
