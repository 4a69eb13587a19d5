# Recorded files and random streams agree, to the tick, with a model that shares no code with the C
# core.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use NaiveProfile;
use DProfTest;
use MadeUp;
use Devel::DProf::Profile;

my $dir = scratch();
my %time = (cpu => 0, user => 1, system => 2, real => 3);

sub flat {
    my ($profile, $time, %how) = @_;
    return { map { ($_->[0] => [@$_[1 .. 3]]) }
        $profile->rows({ time => $time{$time}, program => 1, %how }) };
}

sub check {
    my ($what, $text) = @_;
    my $file = spew("$dir/naive.out", $text);
    my $naive = NaiveProfile->new($text);
    my $profile = Devel::DProf::Profile->new;
    my $code = $profile->add($file);
    my $good = ok($code == 0 || $code == -4, "$what: the file is read")
        || diag explain $profile->outcome(0);
    for my $time (sort keys %time) {
        my $flat = flat($profile, $time);
        $good &&= is_deeply($flat, $naive->flat($time),
            "$what: $time, calls, self and inclusive times are those of the model");
        my $sum = 0;
        $sum += $_->[1] for values %$flat;
        $good &&= is($sum, $profile->total($time{$time}),
            "$what: $time, self times add up to the total");
        $good &&= is_deeply([grep { $_->[2] < $_->[1] } values %$flat], [],
            "$what: $time, no inclusive time is below the self time");
    }
    $good &&= is_deeply([map { $_->[0] }
        $profile->rows({ order => Devel::DProf::Profile::UNSORTED })],
        $naive->{order}, "$what: subs are in the order of their first entry");
    $good &&= is_deeply($profile->outcome(0)->{open}, $naive->{open},
        "$what: the open calls are those of the model");
    my ($calls) = dprofpp('-T', '-F', '--no-separate-anon', $file);
    $good &&= is($calls, join('', map { "$_\n" } @{ $naive->{lines} }),
        "$what: -T prints the model's lines");
    $good &&= is_deeply(merged(dprofpp('-S', '-F', '-r', '--no-separate-anon', $file)),
        rounded($naive), "$what: -S prints the model's tree");
    return $good;
}

# Parses what -S prints: path => [calls, seconds].
sub merged {
    my ($text) = @_;
    my (%out, @path);
    for (split /\n/, $text) {
        my ($blank, $name, $calls, $time) = /^( *)(.*) x (\d+)  \t([\d.]+)s/ or die "-S: $_";
        splice @path, length($blank) / 2;
        push @path, $name;
        $out{ join ';', @path } = [$calls, $time];
    }
    return \%out;
}

sub rounded {
    my ($naive) = @_;
    my $tree = $naive->tree('real');
    my $digits = length($naive->{hz} - 1);
    return { map { ($_ => [$tree->{$_}[0], sprintf '%.*f', $digits,
        $tree->{$_}[1] / $naive->{hz}]) } keys %$tree };
}

check($_, slurp(data("$_.out"))) for qw(manual-old manual-new classic);
check('ours', slurp(data('ours.out')) =~ s/%1b/x/r);

# Generates random programs: deep, shallow, recursive, with gotos, overheads, both styles.
my $state = $ENV{DPROF_SEED} // 1;
sub rnd { $state = ($state * 1103515245 + 12345) % 2**31; ($state >> 8) % $_[0] }

sub random_text {
    my ($seed) = @_;
    $state = $seed * 7919 + 1;
    my $ours = rnd(2);
    my $old = !$ours && rnd(2);
    my @hz = (100, 1000, 10_000_000);
    my $names = 1 + rnd(12);
    my $hz = $hz[rnd(3)];
    my $head = '';
    $head .= sprintf "\$over_utime=%d; \$over_stime=%d; \$over_rtime=%d;\n\$over_tests=%d;\n",
        rnd(100), rnd(3), rnd(1000), 1 + rnd(20) if rnd(2);
    $head .= "\$dprof_inherited=" . rnd(4) . ";\n" if $ours && rnd(2);
    my $trace = '';
    my (%named, @stack);
    my @clock = map { rnd(1000) } 0 .. 2;
    my $marks = rnd(400);
    my $deep = rnd(3) ? 50 : 70;
    while ($marks-- > 0 || @stack) {
        $trace .= sprintf "@ %d %d %d\n", rnd(rnd(9) ? 50 : 12_345_678), rnd(9),
            rnd(3) ? rnd(2000) : 0 for 1 .. (rnd(5) ? 1 : rnd(3));
        if (!$ours && !rnd(20)) {
            $trace .= "+ & Devel::DProf::write\n@ 7 1 9\n- & Devel::DProf::write\n";
        }
        my $id = 2 + rnd($names) ** 2;
        my $op = @stack && ($marks < 0 || rnd(100) > $deep || @stack > 150)
            ? (rnd(4) ? '-' : rnd(2) ? '/' : $marks > 0 ? '*' : '-') : '+';
        if ($op ne '+' && $op ne '*') { $id = $stack[-1] }
        if (!$named{$id}++) {
            $trace .= sprintf "& %x P%d n%d lib/x.pm:%d%s\n", $id, $id % 3, $id, $id,
                $ours && $id % 3 == 0 ? ' kind=span' : '';
        }
        if ($old && rnd(3) == 0) {
            $_ += rnd(30) for @clock;
            $trace .= sprintf "%s %d %d %d P%d::n%d\n", $op, @clock, $id % 3, $id;
        } else {
            $trace .= sprintf "%s %x\n", $op, $id;
        }
        if ($op eq '+') { push @stack, $id } elsif ($op eq '*') { } else { pop @stack }
        # The exit behind a goto carries the id first entered, which stays on the stack.
    }
    return profile_text(format => $ours ? 'trace' : 'classic', hz => $hz, header => $head,
        times => [rnd(9_000_000), rnd(90), rnd(90_000)], lines => $trace);
}

my $runs = $ENV{DPROF_RUNS} || TestEnvironment::rounds(4, 20);
for my $seed (1 .. $runs) {
    my $text = random_text($seed);
    next if check("seed $seed", $text);
    diag("seed $seed");
    last;
}

# Gzip, CRLF and a second reading change nothing; two files count twice as much as one.
my $text = random_text(5);
my $plain = spew("$dir/one.out", $text);
my $crlf = spew("$dir/crlf.out", $text =~ s/\n/\r\n/gr);
my $profile = Devel::DProf::Profile->new;
$profile->add($plain);
my $other = Devel::DProf::Profile->new;
$other->add($crlf);
is_deeply(flat($other, 'cpu'), flat($profile, 'cpu'),
    'lines that end in CRLF give the same numbers');
$other->add($plain);
is_deeply(flat($other, 'cpu'),
    { map { ($_->[0] => [map { 2 * $_ } @$_[1 .. 3]]) } $profile->rows({ program => 1 }) },
    'a file that is named twice has twice the numbers');

done_testing;
