# What a sub frees when it ends is its own time, in samples, too: no safe point comes before its
# caller goes on. What perl does while it enters a sub is its caller's: its statement runs still.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;

plan(skip_all => no_lines()) if no_lines();

my $dir = scratch();
my $program = spew("$dir/p.pl", <<'END');
use strict;
my ($n, %made);
sub release {
    my $all = delete $made{all};
    $n += $_ for 1 .. 100_000;
    return $n;
}
for my $turn (1 .. 8) {
    $made{all}{$_} = [$_] for 1 .. 40_000;
    release();
    $n++;
}
END

# The percent of each line.
sub by_line {
    my $run = run_tool('dprofreport', ['-s', 'srcline', '--format', 'csv', '--percent-limit', 0],
        dir => $dir);
    return { map { /,([\d.]+),'?\Q$program\E:(\d+)'?$/ ? ($2 => $1) : () }
        split /\n/, $run->{out} };
}

for my $mode ('sample=1000', 'tree,sample=1000') {
    my $run = profiled([$program], dir => $dir,
        env => { PERL_DPROF_OUT_FILE_NAME => "$dir/tmon.out", mode_env($mode) });
    is($run->{raw}, 0, "$mode: the program runs") or diag $run->{err};
    my $line = by_line();
    cmp_ok($line->{6} // 0, '>', 3 * (($line->{11} // 0) + ($line->{10} // 0)),
        "$mode: the time of what is freed when the sub returns does not belong to its caller")
        or diag explain $line;
}

# perl changes to the sub's pad, then copies the arguments, and then comes to the sub's statement.
# At its end perl changes to the caller's pad, then frees the closure, and then is back at the
# caller's statement. All that time PL_curcop shows what runs.
$program = spew("$dir/p.pl", <<'END');
use strict;
my (@many, $closure);
sub entered { my $n = $_[-1]; undef @_; return $n }
sub enters {
    my $sum = 0;
    for (1 .. 40) { $sum += entered(@many) }
    return $sum;
}
sub closes {
    my %made;
    $made{$_} = [$_] for 1 .. 40_000;
    $closure = sub {
        my $n = keys %made; $n += $_ for 1 .. 40_000;
        undef $closure; return $n;
    };
    return;
}
sub ends {
    my $n = 0;
    for (1 .. 10) {
        closes();
        $n += $closure->();
    }
    return $n;
}
@many = (1) x 1_000_000;
print enters() + ends();
END
my %around = (3 => 'entered', map({ $_ => 'enters' } 5 .. 7),
    map({ $_ => 'closes' } 10 .. 12, 16), map({ $_ => '__ANON__' } 13, 14),
    map({ $_ => 'ends' } 19 .. 24));

for my $mode ('sample=1000', 'tree,sample=1000') {
    my $run = profiled([$program], dir => $dir,
        env => { PERL_DPROF_OUT_FILE_NAME => "$dir/tmon.out", mode_env($mode) });
    my ($file, %name, %of_sub, %of_line, @wrong) = ('');
    for (split /\n/, slurp("$dir/tmon.out")) {
        $name{$1} = $2 if /^& (\w+) \S+ (\w+)/;
        $of_sub{ $name{$1} // '' } += $2 if /^= \w+ (\w+) \S+ (\d+)/;
        $file = $1 if /^#f (\S+)/;
        next if $file ne $program || !/^#l (\d+) (\w+) \S+ (\d+)/;
        $of_line{$1} += $3;
        push @wrong, "$1 in $name{$2}" if $around{$1} && $name{$2} ne $around{$1};
    }
    is("@wrong", '', "$mode: each line is in its own sub");
    cmp_ok($of_sub{enters}, '>', 3 * ($of_sub{entered} // 0),
        "$mode: what enters a sub is its caller's time") or diag explain \%of_sub;
    cmp_ok($of_line{14} // 0, '>', 3 * ($of_sub{ends} // 0),
        "$mode: what is freed where a closure ends is its own time")
        or diag explain \%of_line, \%of_sub;
}

# What a sub frees when it goes to another sub is its own time, and their common caller called it.
# The samples of what was freed find the other sub in place of the first one.
$program = spew("$dir/p.pl", <<'END');
use strict;
sub target { return $_[0] + 1 }
sub jumps {
    my %made;
    $made{$_} = [$_] for 1 .. 40_000;
    goto &target;
}
sub calls {
    my $n = 0;
    for (1 .. 10) { $n += jumps($_) }
    return $n;
}
print calls();
END

{
    my $run = profiled([$program], dir => $dir,
        env => { PERL_DPROF_OUT_FILE_NAME => "$dir/tmon.out", mode_env('sample=1000') });
    my (%name, @stack, %calls, %of_line);
    for (split /\n/, slurp("$dir/tmon.out")) {
        $name{$1} = $2 if /^& (\w+) \S+ (\w+)/;
        $of_line{"$1 $name{$2}"} += $3 if /^#l (\d+) ([1-9]\w*) \S+ (\d+)/;
        next if !/^= (\d+) (\w+) \S+ (\d+)/ || !$name{$2};
        @stack[$1 .. $1 + 1] = ($name{$2});
        $calls{"$stack[$1 - 1] $stack[$1]"} += $3 if $1 > 1;
    }
    is_deeply([ grep { /^(?:target|jumps) / } sort keys %calls ], [],
        'a sub that a goto has ended was not called by the sub that the goto went to');
    my $freed = $of_line{'6 jumps'} // 0;
    cmp_ok($freed, '>', 0, 'there are samples of what the goto frees') or diag explain \%of_line;
    cmp_ok(10 * ($calls{'calls target'} // 0), '<', $freed,
        'what the goto frees is not the time of the other sub') or diag explain \%calls;
}

# The environment of a mode.
sub mode_env {
    my ($mode) = @_;
    return (PERL_DPROF_SAMPLE => 1000, $mode =~ /tree/ ? (PERL_DPROF_MODE => 'tree') : ());
}

done_testing;
