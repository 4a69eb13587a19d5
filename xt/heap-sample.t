# heap=sample in random programs that know what they keep: exact where each block is noted, and
# estimates without bias where few are.
#
# With an interval of 1 byte, what lives must be exact. With a larger one, 95 % of the estimates
# must be within 1.96 standard errors.
#
# The subs of a program keep records, and other subs drop some of them. Records are random
# structures of strings, arrays, hashes, numbers and references. At its end the program walks
# through what is left, and adds up blocks, values and bytes by the rules of the manual. DPROF_SEED
# and DPROF_RANDOM: where to begin, and how many. DPROF_INTERVAL: bytes, of the estimates.
use strict;
use warnings;
use Config;
use FindBin;
use lib "$FindBin::Bin/../t/lib";
use Test::More;
use DProfTest;

plan skip_all => no_lines() if defined no_lines();
plan skip_all => 'perl has an allocator of its own' if ($Config{usemymalloc} // '') eq 'y';

my $first = $ENV{DPROF_SEED} // 1;
my $programs = $ENV{DPROF_RANDOM} // 100;
my $interval = $ENV{DPROF_INTERVAL} // 2048;
my @counters = qw(live-blocks live-values live-bytes);

# ---- programs ----

# Walks through what a sub has kept. A block has its size, and its own value with the numbers and
# references that it holds; also the bytes of all their heads and bodies. Prints how many blocks of
# each such kind there are.
my $TRUTH = <<'END';
use B ();
my %body = ('B::IV' => 0, 'B::NULL' => 0, 'B::PV' => 16, 'B::PVIV' => 24, 'B::PVNV' => 32,
    'B::NV' => 0, 'B::PVMG' => 48, 'B::AV' => 40, 'B::HV' => 32);
sub truth {
    my ($sub, @todo) = @_;
    my (%seen, %n);
    @todo = map { B::svref_2object($_) } @todo;
    while (my $sv = shift @todo) {
        next if $seen{$$sv}++;
        my $class = ref $sv;
        my ($values, $heads, $block) = (1, 24 + ($body{$class} // die $class));
        my @in;
        if ($class eq 'B::AV') {
            @in = grep { ref ne 'B::SPECIAL' } $sv->ARRAY;
            $block = 8 * ($sv->MAX + 1) if $sv->MAX >= 0;
        } elsif ($class eq 'B::HV') {
            my %of = $sv->ARRAY;
            @in = values %of;
            $block = 8 * ($sv->MAX + 1) if %of;
            $heads += 24 * @in;
        } elsif ($sv->FLAGS & B::SVf_ROK) {
            push @todo, $sv->RV;
        } else {
            $block = $sv->LEN if $sv->can('LEN');
        }
        for my $in (@in) {
            my $has_memory = !($in->FLAGS & B::SVf_ROK) && $in->can('LEN') && $in->LEN;
            $values++, $heads += 24 + $body{ ref $in } if !$has_memory;
            push @todo, $in;
        }
        $n{"$block $values $heads"}++ if $block;
    }
    print "$sub $_ $n{$_}\n" for sort keys %n;
    return;
}
END

# Returns the text of a random value that takes memory of its own, or of any one.
sub value {
    my ($depth, $any) = @_;
    my $kind = int rand($any ? 7 : 4);
    return ('$i', '$i + 0.5', 'undef')[$kind - 4] if $kind > 3;
    # Perl's own strings end in a number, so that no two values share one.
    return sprintf '("%s" x %d) . $i', ('a' .. 'z')[rand 26], 16 + rand 10**(1.3 + rand 2)
        if $kind < 1 || $depth < 1;
    my @in = map { value($depth - 1, 1) } 0 .. rand 5;
    return '[' . join(', ', @in) . ']' if $kind < 3;
    my $n = 0;
    return '+{' . join(', ', map { "k" . $n++ . " => $_" } @in) . '}';
}

# Returns a program of some subs, and how many strings each sub makes. It is called so many times
# that it keeps about that many bytes.
sub program {
    my ($seed, $bytes) = @_;
    srand $seed;
    my @subs = map { "s$_" } 1 .. 2 + rand 5;
    my $code = "use Devel::DProf::Control 'heap';\n";
    my (@calls, $truths, %strings);
    for my $sub (@subs) {
        my $value = rand() < 0.2 ? '+{ n => $i }' : value(2);
        $value = "\\($value)" if $value =~ /\A\(/;
        $strings{$sub} = () = $value =~ / x /g;
        my $size = 40;
        $size += / x (\d+)/ ? $1 : 24 for $value =~ /( x \d+|[\[\{])/g;
        my $times = int 20 + $bytes / $size * (1 + rand 2);
        my $share = (0, 0.5, 0.9)[rand 3];      # of what is dropped
        $times = int $times / (1 - $share);
        $code .= "our \@$sub; \$#$sub = $times; sub $sub { my (\$i) = \@_; \$${sub}[\$i] = $value; "
            . "return }\n"
            . "sub ${sub}_drop { undef \$${sub}[\$_[0]]; return }\n";
        push @calls, "for (1 .. $times) { $sub(\$_); "
            . "${sub}_drop(1 + int rand \$_) if rand() < $share; "
            . "temporary(\$_) if rand() < 0.1 }\n";
        $truths .= "truth('$sub', grep { ref } \@$sub);\n";
    }
    $code .= "sub temporary { my \@t = map { [\$_, 'x' x 100] } 1 .. 1 + \$_[0] % 9; return }\n";
    return ("$code srand $seed;\n@calls heap('end');\n$TRUTH$truths 1;\n", \%strings);
}

# Runs a program. Returns by sub the kinds of blocks, which are [n, size, values, bytes], the
# counters, and how many strings it makes. The recorder's clock is the usual one, as then its dice
# have another beginning in each run.
sub results {
    my ($seed, $bytes, $how_often) = @_;
    my @how = $seed % 2 ? (PERL_DPROF_MODE => 'tree', PERL_DPROF_LINES => 'time')
        : (PERL_DPROF_SAMPLE => 100);
    my ($code, $strings) = program($seed, $bytes);
    my $run = profiled([spew(scratch() . '/p.pl', $code)], limit => 120, env => { @how,
        PERL_DPROF_HEAP => 'sample', PERL_DPROF_HEAP_INTERVAL => $how_often });
    die "seed $seed: status $run->{raw}, $run->{err}\n" if $run->{raw} || length $run->{err};
    my (%blocks, %got);
    for (split /\n/, $run->{out}) {
        my ($sub, $size, $values, $heads, $n) = split;
        push @{ $blocks{$sub} }, [$n, $size, $values, $size + $heads];
    }
    for my $counter (@counters) {
        for (split /\n/, run_tool('dproffold', ['-m', $counter, "$run->{profile}-end"])->{out}) {
            $got{$1}{$counter} += $2 if /\bmain::(s\d+) (\d+)\z/;
        }
    }
    return (\%blocks, \%got, $strings);
}

sub sum { my $sum = 0; $sum += $_ for @_; return $sum }

# ---- each block is noted ----

{
    my ($sites, @wrong) = (0);
    for my $seed ($first .. $first + $programs - 1) {
        my ($blocks, $got, $strings) = results($seed, 2000, 1);
        for my $sub (sort keys %$blocks) {
            $sites++;
            my @all = @{ $blocks->{$sub} };
            my %want = ('live-blocks' => sum(map { $_->[0] } @all),
                map { my $at = $_; $counters[ $at - 1 ] => sum(map { $_->[0] * $_->[$at] } @all) }
                    2, 3);
            # The sub's pad keeps strings for the next call, and so does a number that was a
            # string. Perl also makes a few blocks once in a program.
            for my $counter (@counters) {
                my $more = ($got->{$sub}{$counter} // 0) - $want{$counter};
                my $most = $counter eq 'live-bytes' ? 500 + 8000 * $strings->{$sub}
                    : 6 + 2 * $strings->{$sub};
                push @wrong, "seed $seed, $sub, $counter: $want{$counter} and $more"
                    if $more < 0 || $more > $most;
            }
        }
    }
    is(scalar @wrong, 0, "$programs programs, $sites subs: what lives is exact, but for pads")
        or diag join "\n", @wrong[0 .. ($#wrong < 20 ? $#wrong : 20)];
}

# ---- estimates ----

# A block of a size is noted with the probability p = 1 - exp(-size / interval), and then counts
# as 1 / p blocks, rounded by chance. Returns the variance that this gives the counters of n such
# blocks.
sub variances {
    my ($n, $size, $values, $bytes) = @_;
    my $p = 1 - exp(-$size / $interval);
    my $part = 1 / $p - int 1 / $p;
    my ($noted, $rounded) = ($n * (1 - $p) / $p, $n * $p * $part * (1 - $part));
    return ($noted + $rounded, $values**2 * ($noted + $rounded),
        $bytes**2 * $noted + ($bytes - $size)**2 * $rounded);
}

# Where fewer blocks are noted than so many, the estimates are not distributed normally.
use constant FEW => 60;

{
    my (%z, %beyond, $few);
    for my $seed ($first .. $first + $programs - 1) {
        my ($blocks, $got) = results($seed, 150 * $interval, $interval);
        for my $sub (sort keys %$blocks) {
            my @all = @{ $blocks->{$sub} };
            $few++, next if sum(map { $_->[0] * (1 - exp(-$_->[1] / $interval)) } @all) < FEW;
            my @want = (sum(map { $_->[0] } @all), map { my $at = $_;
                    sum(map { $_->[0] * $_->[$at] } @all) } 2, 3);
            my @var = (0) x 3;
            for my $kind (@all) {
                my @more = variances(@$kind);
                $var[$_] += $more[$_] for 0 .. 2;
            }
            for my $n (0 .. 2) {
                my $z = (($got->{$sub}{ $counters[$n] } // 0) - $want[$n]) / sqrt $var[$n];
                push @{ $z{ $counters[$n] } }, $z;
                # The chance of one of 500 sites to be 4.1 standard errors off is 2 %.
                $beyond{$seed} = "seed $seed, $sub, $counters[$n]: $z" if abs $z > 4.1;
            }
        }
    }
    for my $counter (@counters) {
        my @z = @{ $z{$counter} };
        my $in = grep { abs $_ < 1.96 } @z;
        my $off = ($in - 0.95 * @z) / sqrt(0.05 * 0.95 * @z);
        cmp_ok(abs $off, '<', 4, sprintf "$counter: %.1f %% of %d subs are within 1.96 standard "
            . 'errors', 100 * $in / @z, scalar @z);
        my $bias = sum(@z) / sqrt @z;
        cmp_ok(abs $bias, '<', 4, sprintf '... and without bias: their mean is %+.3f, %+.1f of its '
            . 'standard errors', sum(@z) / @z, $bias);
    }
    diag join "\n", values %beyond if %beyond;
    cmp_ok(scalar keys %beyond, '<=', $programs / 100, ($programs - keys %beyond)
        . " of $programs programs have no sub beyond 4.1 standard errors");
    note(($few // 0) . ' subs have too few noted blocks');
}

done_testing;
