# Tree files agree with the naive model; a tree agrees with a trace of the same program; writing
# what was read gives the same bytes.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest;
use MadeUp;
use NaiveProfile;
use Devel::DProf::Profile;

my $dir = scratch();
my %time = (cpu => 0, user => 1, system => 2, real => 3);
my $state = 1;
sub rnd { $state = ($state * 1103515245 + 12345) % 2**31; ($state >> 8) % $_[0] }

# Makes a tree file whose contexts come in any order that a file may have, some of them twice,
# perhaps after a trace.
sub random_tree {
    my ($seed) = @_;
    $state = $seed * 7919 + 1;
    my $hz = (100, 1000, 10_000_000)[rnd(3)];
    my $behind = rnd(3) == 0;
    my @counters = (['ops:ops'], ['ops:ops', 'instructions'], [])[rnd(3)]->@*;
    my $text = profile_text(format => $behind ? 'trace' : 'tree', hz => $hz,
        counters => "@counters", times => [rnd(90_000), 0, 0]);
    my $names = 1 + rnd(9);
    if ($behind) {
        $text .= join '', map { sprintf "& %x P n%d\n", $_ + 20, $_ } 1 .. $names;
        $text .= sprintf "@ %d 0 %d\n+ %x\n", rnd(9), rnd(99), 21 + rnd($names) for 1 .. rnd(20);
        $text .= "PART3\n";
    }
    $text .= join '', map { sprintf "& %x P n%d lib/x.pm:%d\n", $_, $_, $_ } 1 .. $names;
    my $depth = 0;
    for my $n (0 .. rnd(200)) {
        my $id = $depth && $n ? 1 + rnd($names) : 0;
        my $longest = rnd(3) ? 1 + rnd(5000) : 0;
        $text .= sprintf "= %d %x %d %d %d %d %d %d%s%s\n", $n ? $depth : 0, $id, rnd(50),
            rnd(5000), rnd(9), rnd(7000),
            $longest, $longest ? rnd($longest) : 0, join('', map { ' ' . rnd(1000) } @counters),
            $id && !rnd(4) ? ' at=f:' . rnd(5) : '' if !$n || $depth;
        $depth = $n ? 1 + rnd($depth + 1) : 1;
    }
    return $text . join '', map { rnd(2) ? sprintf "h %x %d:%d %d:3\n", $_, rnd(20), rnd(100),
        20 + rnd(20) : () } 1 .. $names;
}

sub written {
    my ($profile) = @_;
    my $file = "$dir/written";
    open my $out, '>', $file or die;
    $profile->write_tree($out, 'x') and die;
    close $out;
    return slurp($file);
}

sub detailed {
    my $profile = Devel::DProf::Profile->new;
    $profile->detail;
    $profile->add($_) for @_;
    return $profile;
}

sub check {
    my ($what, $text) = @_;
    my $file = spew("$dir/tree.out", $text);
    my $naive = NaiveProfile->new($text);
    my $profile = detailed($file);
    my $good = is($profile->outcome(0)->{code}, 0, "$what: the file is read")
        || diag explain $profile->outcome(0);
    for my $time (sort keys %time) {
        my $flat = { map { ($_->[0] => [@$_[1 .. 3]]) }
            $profile->rows({ time => $time{$time}, program => 1 }) };
        $good &&= is_deeply($flat, $naive->flat($time),
            "$what: $time times of subs are those of the model");
    }
    my $again = written($profile);
    my $model = NaiveProfile->new($again);
    for (qw(counts span)) {
        $good &&= is_deeply($model->{$_}, $naive->{$_},
            "$what: $_ is that of the model") unless $text =~ /PART2/;
    }
    $good &&= is_deeply($model->tree('real'), $naive->tree('real'),
        "$what: contexts are those of the model");
    $good &&= is(written(detailed(spew("$dir/again.out", $again))), $again,
        "$what: reading and writing change nothing");
    return $good;
}

subtest
    'Random trees are what the naive model makes of them, and stay so when they are written '
        . 'again' => sub {
    for my $seed (1 .. ($ENV{DPROF_RUNS} || TestEnvironment::rounds(3, 25))) {
        next if check("seed $seed", random_tree($seed));
        diag("seed $seed");
        last;
    }
};

subtest 'A tree has no order of calls' => sub {
    my $text = random_tree(3) =~ s/PART2.*(?=PART3)//sr =~ s/trace 1/tree 1/r;
    my $file = spew("$dir/t.out", $text);
    for my $flag (qw(-T -t)) {
        is_deeply([dprofpp($flag, $file)],
            ['', "$file: this is a tree, which has no order of calls; use -S\n", 1],
            "$flag of a tree is an error");
    }
};

subtest 'A tree and a trace of one program have the same calls' => sub {
    my $script = spew("$dir/p.pl", <<'END');
sub fib { my $n = shift; $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
sub even { my $n = shift; $n ? odd($n - 1) : 1 }
sub odd { my $n = shift; $n ? even($n - 1) : 0 }
sub thrown { die "x\n" if $_[0]; 1 }
sub goes { goto &even }
my @subs = map { my $k = $_; sub { fib($k) } } 1 .. 3;
fib(8); even(7); goes(4); eval { thrown($_) } for 0 .. 3;
$_->() for @subs, @subs;
sort { fib(2); $a <=> $b } 3, 1, 2;
END
    my %calls;
    for my $mode (qw(trace tree)) {
        my $run = profiled([$script], env => { PERL_DPROF_CLOCK => 'counting',
            PERL_DPROF_MODE => $mode });
        is($run->{raw}, 0, "$mode: the program runs") or diag $run->{err};
        my $text = written(detailed($run->{profile}));
        like(slurp($run->{profile}), $mode eq 'tree' ? qr/^PART3$/m : qr/^PART2$/m,
            "$mode: the profile has the format of its mode");
        my $tree = NaiveProfile->new($text)->tree('real');
        $calls{$mode} = { map { /BEGIN|import/ ? () : ($_ => $tree->{$_}[0]) } keys %$tree };
    }
    ok($calls{tree}{'main::__ANON__;main::fib'}, 'the tree has contexts');
    is_deeply($calls{tree}, $calls{trace}, 'tree and trace have the same calls');
};

done_testing;
