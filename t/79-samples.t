# The text of perf script, and speedscope's JSON, in the tools: made-up ones against a naive sum;
# what perf has recorded, where it is. t/c/28-perf.c and t/c/29-speedscope.c try each detail.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch slurp spew run_program in_process tool_command);
use JSON::PP ();

my $dir = scratch();
my $n = 0;
srand($ENV{DPROF_SEED} // 5);

sub shown {
    my $run = in_process(@_);
    return $run->{status} || length $run->{err} ? "$run->{status}: $run->{err}" : $run->{out};
}

sub file { return spew($dir . '/' . ++$n, $_[0]) }

# { stack => value } as folded text.
sub folded { my ($stacks) = @_; return join '', map { "$_ $stacks->{$_}\n" } sort keys %$stacks }

my @names = ('main', 'N::f', 'a b', "caf\xc3\xa9", 'x.y', 'CORE:open');

sub stack { return map { $names[rand @names] } 1 .. 1 + rand 6 }

subtest 'Random samples of perf are added up' => sub {
    for my $round (1 .. 10) {
        my ($text, %clock, %faults) = '';
        for (1 .. 1 + rand 50) {
            my @stack = stack();
            my ($event, $of, $value) = rand() < 0.7 ? ('cpu-clock', \%clock, 250_000)
                : ('page-faults', \%faults, 1 + int rand 9);
            $of->{ join ';', 'my_perl', @stack } += $value;
            $text .= sprintf "my perl 7/8 [%03d] %d.5: %10d %s: \n", rand 4, rand 1000, $value,
                $event;
            $text .= sprintf "\t%16x %s+0x%x (/usr/bin/x)\n", rand 1e9, $_, rand 99
                for reverse @stack;
            $text .= "\n";
        }
        next if !%clock || !%faults;
        my $file = file($text);
        my $good = is(shown('dproffold', '--unit', 'ns', $file), folded(\%clock),
            "round $round: dproffold prints the time of samples");
        $good &&= is(shown('dproffold', '-m', 'page-faults', $file), folded(\%faults),
            "round $round: dproffold prints the page faults");
        $good or diag($file), last;
    }
};

# A profile of random stacks; what it counts, by stack.
sub sampled {
    my ($name, $unit, $index) = @_;
    my (@samples, @weights, %sum);
    for (1 .. 1 + rand 30) {
        my @stack = stack();
        push @samples, [map { $index->{$_} } @stack];
        push @weights, int rand 1000;
        $sum{ join ';', @stack } += $weights[-1];
    }
    return { type => 'sampled', name => $name, unit => $unit, startValue => 0, endValue => 1,
        samples => \@samples, weights => \@weights }, \%sum;
}

# The same as events.
sub evented {
    my ($name, $unit, $index) = @_;
    my ($at, @open, @events, %sum) = (1000);
    for (1 .. 1 + rand 60) {
        my $passed = int rand 100;
        $sum{ join ';', @open } += $passed if @open;
        $at += $passed;
        my $frame = @open && rand() < 0.5 ? pop @open : undef;
        push @events, { type => defined $frame ? 'C' : 'O', at => $at,
            frame => $index->{ $frame // do { push @open, $names[rand @names]; $open[-1] } } };
    }
    push @events, { type => 'C', at => $at, frame => $index->{ pop @open } } while @open;
    return { type => 'evented', name => $name, unit => $unit, startValue => $events[0]{at},
        endValue => $at, events => \@events }, \%sum;
}

sub json {
    my ($exporter, @profiles) = @_;
    my %file = ('$schema' => 'https://www.speedscope.app/file-format-schema.json',
        exporter => $exporter, profiles => \@profiles,
        shared => { frames => [map { { name => $_ } } map { utf8_of($_) } @names] });
    # Members come in any order, another one in each file.
    my %rank;
    return JSON::PP->new->utf8->sort_by(sub {
        ($rank{$JSON::PP::a} //= rand) <=> ($rank{$JSON::PP::b} //= rand);
    })->encode(\%file);
}

sub utf8_of { my ($bytes) = @_; utf8::decode($bytes); return $bytes }

sub sum {
    my %sum;
    for my $part (@_) { $sum{$_} += $part->{$_} for keys %$part }
    delete @sum{grep { !$sum{$_} } keys %sum};
    return \%sum;
}

# What speedscope shows as nothing is a sum beside the stacks.
sub without_program { return $_[0] =~ s/^\(program\) .*\n//mr }

subtest 'Random profiles of speedscope are added up' => sub {
    my %index = map { $names[$_] => $_ } 0 .. $#names;
    for my $round (1 .. 10) {
        my ($one, $first) = sampled('thread 1', 'nanoseconds', \%index);
        my ($two, $second) = evented('thread 2', 'nanoseconds', \%index);
        my ($three, $bytes) = sampled('heap', 'bytes', \%index);
        my $file = file(json('made up', $one, $two, $three));
        my $good = is(without_program(shown('dproffold', '--unit', 'ns', $file)),
            folded(sum($first, $second)), "round $round: threads add up");
        $good &&= is(shown('dproffold', '-m', 'memory', $file), folded(sum($bytes)),
            "round $round: dproffold prints bytes");
        my ($calls, $counted) = sampled('calls', 'none', \%index);
        @$one{qw(name unit)} = ('cpu', 'nanoseconds');
        @$two{qw(name unit)} = ('wall', 'nanoseconds');
        $file = file(json('Devel::DProf 1', $calls, $one, $two));
        $good &&= is(shown('dproffold', '--unit', 'ns', '-m', 'cpu', $file), folded(sum($first)),
            "round $round: dproffold prints CPU time");
        $good &&= is(without_program(shown('dproffold', '--unit', 'ns', '-m', 'real', $file)),
            folded(sum($second)), "round $round: dproffold prints real time");
        $good &&= is(shown('dproffold', '-m', 'calls', $file), folded(sum($counted)),
            "round $round: dproffold prints calls");
        $good or diag($file), last;
    }
};

subtest 'Files that cannot be read give a message' => sub {
    my $perf = "x 1 7.5: 3 cycles: \n\t1 f (/x)\n\n";
    my $run = in_process('dprofreport', file($perf . "what\n"));
    is($run->{err}, "$dir/$n: this is neither a sample nor a frame: what (line 4, byte "
        . length($perf) . ")\n", "a line that is not perf's is named");
    is($run->{status}, 1, "a line that is not perf's gives status 1");
    my $json = json('x', { unit => 'none', samples => [[9]], weights => [1] });
    $run = in_process('dprofreport', file($json));
    like($run->{err}, qr/: its profiles have frame 9, and there are 6 /,
        'a frame that does not exist is named');
    $json = JSON::PP->new->canonical->encode(JSON::PP->new->decode($json));
    $run = in_process('dprofreport', file(substr $json, 0, 100));
    like($run->{err}, qr/: the file ends within its JSON \(line 1, byte 100\)$/,
        'JSON that was cut is named');
};

subtest 'A recording of perf is read' => sub {
    my $perf = "$dir/perf.data";
    my $program = 'sub f { my $x; $x += $_ for 1 .. 3e5; $x } f() for 1 .. 3';
    my $run = run_program(['perf', 'record', '-q', '-e', 'cpu-clock', '-g', '-o', $perf, $^X, '-e',
        $program]);
    plan skip_all => 'perf cannot record here' if $run->{status} || !-s $perf;
    my $text = run_program(['perf', 'script', '-i', $perf])->{out};
    my ($total, %sum) = 0;
    for my $sample (split /\n\n/, $text) {
        my ($period, $leaf) = $sample =~ / +(\d+) +cpu-clock:.*(?:\n\s+[0-9a-f]+ (\S+)\+0x)?/
            or next;
        $total += $period;
        $sum{$leaf} += $period if defined $leaf;
    }
    my ($header, @rows) = split /\n/,
        shown('dprofreport', qw(--no-children --format csv -F), 'sub,period', file($text));
    my %ours = map { (split /,/)[0] => sprintf '%.0f', 1e9 * (split /,/)[1] } @rows;
    my $ours = 0;
    $ours += $_ for values %ours;
    is($ours, $total, 'dprofreport has the total of perf report');
    is_deeply({ map { $_ => $ours{$_} } keys %sum }, \%sum,
        'dprofreport has the functions of perf report');
};

done_testing;
