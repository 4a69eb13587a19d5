# dprofexport --format speedscope and --format firefox: files read back strictly, against a naive
# model of random trees and traces. The test also tries the order of time, counters in it,
# processes, phases, lines of calls, names made to hurt, deep recursion, great values.
use strict;
use warnings;
use Encode ();
use JSON::PP;
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch slurp spew in_process);
use MadeUp;
use NaiveStacks qw(key);
use Slices;

my $dir = scratch();
my $n = 0;
my $rounds = $ENV{DPROF_RUNS} || TestEnvironment::rounds(25, 300);
srand($ENV{DPROF_SEED} // 77);

my @FORMATS = (['speedscope.json', \&read_speedscope], ['firefox.json', \&read_firefox]);
my %unit = (cpu => 'ns', real => 'ns', 'time order' => 'ns', calls => '', ops => '');

sub any { return $_[rand @_] }
sub encoded { return $_[0] =~ s/([\x00-\x20\x7f%])/sprintf '%%%02X', ord $1/ger }

# ---- strict readers: { profiles => [{ name, unit, self => { stack => value }, order => [[stack,
# start, length], ...], total }, ...] }; stacks are without their root. They die with what is wrong.

sub has_keys {
    my ($what, $hash, @keys) = @_;
    my ($is, $want) = map { join ' ', sort @$_ } [keys %$hash], \@keys;
    die "$what: has $is, not $want\n" if $is ne $want;
    return;
}

sub json { return JSON::PP->new->utf8->decode($_[0]) }

sub stack_of {
    my ($root, @names) = map { Encode::encode('UTF-8', $_) } @_;
    die "the root is $root\n" if $root ne '(program)';
    return key(@names);
}

# Adds a stretch of time to a profile.
sub add_stretch {
    my ($profile, $stack, $start, $length) = @_;
    return if !$length;
    $profile->{self}{$stack} += $length;
    $profile->{total} += $length;
    my $last = $profile->{order}[-1];
    if ($last && $last->[0] eq $stack && $last->[1] + $last->[2] == $start) {
        $last->[2] += $length;
    } else {
        push @{ $profile->{order} }, [$stack, $start, $length];
    }
    return;
}

sub read_speedscope {
    my ($text) = @_;
    my $file = json($text);
    has_keys('the file', $file, qw($schema exporter name activeProfileIndex shared profiles));
    $file->{'$schema'} eq 'https://www.speedscope.app/file-format-schema.json' or die "schema\n";
    $file->{activeProfileIndex} == 0 or die "activeProfileIndex\n";
    $file->{exporter} =~ /^Devel::DProf [\d.]+\z/ or die "exporter $file->{exporter}\n";
    my @frames = @{ $file->{shared}{frames} };
    for my $frame (@frames) {
        has_keys('a frame', { file => '', line => 0, %$frame }, qw(name file line));
    }
    my (@profiles, %frame, %used);
    for my $frame (@frames) {
        die "a frame twice: $frame->{name}\n"
            if $frame{ join "\0", map { $frame->{$_} // '' } qw(name file line) }++;
    }
    for my $p (@{ $file->{profiles} }) {
        has_keys($p->{name}, $p, qw(type name unit startValue endValue events));
        $p->{type} eq 'evented' && $p->{startValue} == 0 or die "$p->{name}: $p->{type}\n";
        my %profile = (name => $p->{name}, self => {}, order => [], total => 0,
            unit => $p->{unit} eq 'nanoseconds' ? 'ns'
                : $p->{unit} =~ /^(?:none|bytes)\z/ ? '' : die "unit $p->{unit}\n");
        my ($at, @open) = (0);
        for my $event (@{ $p->{events} }) {
            has_keys("$p->{name}: event", $event, qw(type frame at));
            die "$p->{name}: at goes back\n" if $event->{at} < $at;
            my $stack = @open ? stack_of(map { $frames[$_]{name} } @open) : undef;
            defined $stack || $event->{at} == $at or die "$p->{name}: a gap\n";
            add_stretch(\%profile, $stack, $at, $event->{at} - $at);
            $at = $event->{at};
            $used{ $event->{frame} } = 1;
            if ($event->{type} eq 'O') {
                $event->{frame} < @frames or die "$p->{name}: frame $event->{frame}\n";
                push @open, $event->{frame};
            } else {
                $event->{type} eq 'C' && @open && pop(@open) == $event->{frame}
                    or die "$p->{name}: not balanced\n";
            }
        }
        die "$p->{name}: open at the end\n" if @open;
        die "$p->{name}: endValue $p->{endValue}, not $at\n" if $p->{endValue} != $at;
        push @profiles, \%profile;
    }
    return { profiles => \@profiles, frames => \@frames, unused => @frames - keys %used };
}

# A table of columns: all have its length. Returns it.
sub table {
    my ($name, $table, @columns) = @_;
    my $length = $table->{length};
    has_keys($name, $table, 'length', @columns);
    for my $column (grep { $_ ne 'weightType' } @columns) {
        my $is = @{ $table->{$column} };
        die "$name.$column: $is rows, not $length\n" if $is != $length;
    }
    return $table;
}

# Does each value of a column number a row of a table? undef: it may be null.
sub refers {
    my ($column, $rows, $may_be_null) = @_;
    for my $v (@$column) {
        die "a reference to " . ($v // 'null') . " of $rows\n"
            if defined $v ? $v !~ /^\d+\z/ || $v >= $rows : !$may_be_null;
    }
    return;
}

# The profiler draws a sample until the next one begins: the last one is there again at its end.
sub check_end {
    my ($name, $samples) = @_;
    my ($stack, $time, $weight) = map { [@{$_}[-2, -1]] } @$samples{qw(stack time weight)};
    die "$name: one sample\n" if $samples->{length} < 2;
    die "$name: ends with another stack\n" if $stack->[0] != $stack->[1];
    die "$name: ends with $weight->[1]\n" if $weight->[1];
    my ($end, $is) = map { sprintf '%.0f', $_ * 1e6 } $time->[0] + $weight->[0], $time->[1];
    die "$name: ends at $is, not $end\n" if $samples->{weightType} eq 'tracing-ms' && $end != $is;
    return;
}

# The viewer hides threads that it takes for idle, unless the file names the visible ones. It sorts
# threads by name.
sub check_shown {
    my ($meta, $threads) = @_;
    my $is = join ' ', @{ $meta->{initialVisibleThreads} || ['not told'] };
    my $want = $threads > 30 ? 'not told' : join ' ', 0 .. $threads - 1;
    die "threads shown: $is, of $threads\n" if $is ne $want;
    die "threads are sorted\n" if !$meta->{keepProfileThreadOrder};
    return;
}

sub read_firefox {
    my ($text) = @_;
    my $file = json($text);
    has_keys('the file', { counters => [], %$file }, qw(meta libs threads counters shared));
    my @strings = @{ $file->{shared}{stringArray} };
    my %seen;
    die "a string twice\n" if grep { $seen{$_}++ } @strings;
    $file->{meta}{preprocessedProfileVersion} == 57 or die "version\n";
    my @categories = @{ $file->{meta}{categories} };
    die "no grey category\n" if !grep { $_->{color} eq 'grey' } @categories;
    check_shown($file->{meta}, scalar @{ $file->{threads} });
    my (@profiles, %tid);
    for my $t (@{ $file->{threads} }) {
        my $name = $t->{name};
        die "tid $t->{tid} twice\n" if $tid{ $t->{tid} }++;
        my $funcs = table("$name: funcTable", $t->{funcTable}, qw(name isJS relevantForJS resource
            fileName lineNumber columnNumber));
        my $frames = table("$name: frameTable", $t->{frameTable}, qw(address inlineDepth category
            subcategory func nativeSymbol innerWindowID line column));
        my $stacks = table("$name: stackTable", $t->{stackTable}, qw(frame prefix));
        my $samples = table("$name: samples", $t->{samples}, qw(stack time weight weightType));
        my $markers = table("$name: markers", $t->{markers}, qw(name startTime endTime phase
            category data));
        refers($funcs->{name}, scalar @strings);
        refers($funcs->{fileName}, scalar @strings, 1);
        refers($frames->{func}, $funcs->{length});
        refers($frames->{category}, scalar @categories);
        refers($stacks->{frame}, $frames->{length});
        refers($samples->{stack}, $stacks->{length});
        refers($markers->{name}, scalar @strings);
        my (@names, @lines);
        for my $row (0 .. $stacks->{length} - 1) {
            my ($frame, $prefix) = ($stacks->{frame}[$row], $stacks->{prefix}[$row]);
            die "$name: row $row is below $prefix\n" if defined $prefix && $prefix >= $row;
            $names[$row] = [defined $prefix ? @{ $names[$prefix] } : (),
                $strings[ $funcs->{name}[ $frames->{func}[$frame] ] ]];
            $lines[$row] = [defined $prefix ? @{ $lines[$prefix] } : (), $frames->{line}[$frame]];
        }
        my $is_time = $samples->{weightType} eq 'tracing-ms';
        my %profile = (name => $name, self => {}, order => [], total => 0, lines => {},
            unit => $is_time ? 'ns' : '', process => "$t->{processName} $t->{pid}",
            main => $t->{isMainThread} ? 1 : 0);
        my $before = -1;
        for my $k (0 .. $samples->{length} - 1) {
            my ($row, $weight) = ($samples->{stack}[$k], $samples->{weight}[$k]);
            my ($time, $value) = map { sprintf '%.0f', $_ * 1e6 } $samples->{time}[$k], $weight;
            die "$name: time goes back\n" if $time < $before;
            $before = $time;
            my $stack = stack_of(@{ $names[$row] });
            add_stretch(\%profile, $stack, $time, $is_time ? $value : $weight);
            $profile{lines}{ join ' ', map { $_ // '-' } @{ $lines[$row] } } = $stack;
        }
        check_end($name, $samples) if $samples->{length};
        $profile{markers} = [map { my $k = $_; [$strings[ $markers->{name}[$k] ],
            map { sprintf '%.0f', $markers->{$_}[$k] * 1e6 } qw(startTime endTime)] }
            0 .. $markers->{length} - 1];
        push @profiles, \%profile;
    }
    my @counters = map { read_counter($_, $file->{threads}) } @{ $file->{counters} || [] };
    return { profiles => \@profiles, meta => $file->{meta}, counters => \@counters };
}

# Returns { name, process, counts => [[count, from, to], ...], total } of a counter.
sub read_counter {
    my ($counter, $threads) = @_;
    my $name = "counter $counter->{name}";
    has_keys($name, $counter, qw(name category description pid mainThreadIndex samples));
    my $main = $threads->[ $counter->{mainThreadIndex} ] or die "$name: no thread\n";
    $main->{pid} eq $counter->{pid} or die "$name: pid $counter->{pid}, not $main->{pid}\n";
    my $samples = table($name, $counter->{samples}, qw(time count));
    my @time = map { sprintf '%.0f', $_ * 1e6 } @{ $samples->{time} };
    my @count = @{ $samples->{count} };
    my %read = (name => $counter->{name}, process => "$main->{processName} $main->{pid}",
        counts => [], total => 0);
    $read{total} += $_ for @count;
    for my $k (1 .. $#time) {
        die "$name: no time between two samples\n" if $time[$k] <= $time[ $k - 1 ];
        push @{ $read{counts} }, [$count[$k], @time[$k - 1, $k]];
    }
    # The profiler takes the first one for nothing.
    die "$name: begins with $count[0]\n" if @time > 1 && $count[0];
    return \%read;
}

# Runs dprofexport; returns what is in the file, or what is wrong with it.
sub export {
    my ($format, @args) = @_;
    my ($suffix, $reader) = @$format;
    my $path = "$dir/" . ++$n . ".$suffix";
    my $run = in_process('dprofexport', '-o', $path, @args);
    return "status $run->{status}: $run->{err}" if $run->{status};
    my $read = eval { $reader->(slurp($path)) } // return "$path: $@";
    $read->{err} = $run->{err};
    return $read;
}

# ---- the model ----

my @hard = ('a"b\\c', '<b>&amp;', "x\x0ay", "\e[31m", '(1)', 'a b', '{"x":1}',
    "\xc3\xa4\xe2\x82\xac", '# x', 'a;b', '__proto__', "\xe2\x80\xae", "\x00", '%20');

# Returns a profile at random: { text, hz, self => { metric => { stack => ticks } }, order => as the
# readers have it, in ticks; undef: of a tree }.
sub random_profile {
    my ($format, $hz) = @_;
    my @names = map { 'P::' . any(qw(a b c), @hard) } 0 .. 3 + rand 4;
    my %seen;
    @names = grep { !$seen{$_}++ } @names;
    my %p = (hz => $hz // any(10_000_000, 1_000_000_000, 1000, 3), order => [],
        self => { map { $_ => {} } qw(cpu real calls ops) });
    my (@lines, @sum);
    my $pass = sub {
        my ($stack, $user, $real, $ops) = @_;
        $p{self}{ops}{$stack} += $ops;
        $p{self}{cpu}{$stack} += $user;
        $p{self}{real}{$stack} += $real;
        add_stretch({ order => $p{order} }, $stack, $sum[1] // 0, $real);
        $sum[0] += $user, $sum[1] += $real;
        return "$user 0 $real" . ($format eq 'tree' ? '' : " $ops");
    };
    my @open;
    my $stack = sub { return key(map { $names[$_] } @open) };
    if ($format eq 'tree') {
        push @lines, '= 0 0 0 ' . $pass->('', (map { any(0, 1, int rand 1000) } 0, 1), 4)
            . ' 0 0 4';
    }
    for (1 .. 1 + rand 60) {
        if ($format eq 'tree') {
            $#open = int(rand(@open + 1)) - 1;
            push @open, int rand @names;
            my ($calls, $ops) = (any(0, 1, 7), int rand 50);
            $p{self}{calls}{ $stack->() } += $calls;
            push @lines, sprintf '= %d %x %d %s 0 0 %d', scalar @open, $open[-1] + 1, $calls,
                $pass->($stack->(), (map { any(0, 1, int rand 1000) } 0, 1), $ops), $ops;
            next;
        }
        push @lines, '@ '
            . $pass->($stack->(), (map { any(0, 1, int rand 1000) } 0, 1), any(0, int rand 50));
        if (@open && rand() < 0.5) {
            push @lines, sprintf '- %x', 1 + pop @open;
        } else {
            push @open, int rand @names;
            $p{self}{calls}{ $stack->() }++;
            push @lines, sprintf '+ %x', $open[-1] + 1;
        }
    }
    push @lines, sprintf '- %x', 1 + pop @open while $format ne 'tree' && @open;
    my $k = 0;
    $p{text} = profile_text(format => $format, hz => $p{hz}, lines => \@lines, complete => 1,
        subs => [map { 'P ' . encoded(substr $_, 3) . ' x.pl:' . ++$k } @names],
        times => [$sum[0] // 0, 0, $sum[1] // 0],
        counters => 'ops:ops',
        header => "\$dprof_script='s.pl';\n");
    return \%p;
}

# Returns what is wrong with a profile that was read, '' for nothing. Values are whole nanoseconds;
# where ticks are not, each may be off by less than one for each part that it is made of.
sub wrong {
    my ($read, $hz, $model) = @_;
    my $scale = $read->{unit} eq 'ns' ? 1e9 / $hz : 1;
    my $may_differ = $scale == int $scale ? 0 : 100;
    my %self = %{ $read->{self} };
    my ($got, $want) = (0, 0);
    for my $stack (keys %$model) {
        my $value = delete $self{$stack} // 0;
        my $wanted = $model->{$stack} * $scale;
        $got += $value, $want += $wanted;
        return "$read->{name}: $stack: $value, not $wanted"
            if abs($value - $wanted) > $may_differ;
    }
    return "$read->{name}: not in the model: " . join ', ', keys %self if %self;
    return abs($got - $want) > 0.51 ? "$read->{name}: sum $got, not $want" : '';
}

# The same of the order of time: [[stack, start, length], ...] in ticks.
sub wrong_order {
    my ($read, $hz, $model) = @_;
    my $rounded = sub { return sprintf '%.0f', int($_[0] * 1e9 / $hz + 0.5) };
    my $want = join "\n", map {
        my ($stack, $start, $length) = @$_;
        my $from = $rounded->($start);
        "$stack $from " . ($rounded->($start + $length) - $from)
    } @$model;
    my $got = join "\n", map { "@$_" } @{ $read->{order} };
    return $got eq $want ? '' : "$read->{name}:\n$got\nnot\n$want";
}

# And of a counter in it: all that was counted.
sub wrong_counts {
    my ($read, @all) = @_;
    my $want = 0;
    $want += $_ for @all;
    return $read->{total} == $want ? '' : "$read->{name} counts $read->{total}, not $want";
}

for my $format (@FORMATS) {
    my @bad;
    for my $round (1 .. $rounds) {
        my $kind = any(qw(tree trace));
        my $p = random_profile($kind);
        my $file = spew("$dir/" . ++$n . '.out', $p->{text});
        my @want = (qw(cpu real calls ops), $kind eq 'tree' ? () : 'time order');
        my @m = rand() < 0.3 ? do { @want = qw(calls cpu); (-m => 'calls,cpu') } : ();
        my $read = export($format, @m, $file);
        if (!ref $read) {
            push @bad, "round $round, $file: $read";
            next;
        }
        my @profiles = @{ $read->{profiles} };
        my $is = join ', ', map { "$_->{name} $_->{unit}" } @profiles;
        my @wrong = $is eq join(', ', map { "$_ $unit{$_}" } @want) ? () : $is;
        for my $profile (@profiles) {
            my $name = $profile->{name};
            push @wrong, $name eq 'time order' ? wrong_order($profile, $p->{hz}, $p->{order})
                : wrong($profile, $p->{hz}, $p->{self}{$name});
        }
        my @all = values %{ $p->{self}{ops} };
        push @wrong, map { wrong_counts($_, @all) } @{ $read->{counters} || [] };
        my $counters = @{ $read->{counters} || [] };
        push @wrong, "$counters counters"
            if $counters != ($format->[0] =~ /^f/ && $want[-1] eq 'time order');
        push @bad, "round $round, $file: $_" for grep { length } @wrong;
    }
    is(join("\n", @bad), '', "$format->[0] agrees with $rounds random trees and traces");
}

subtest 'Several processes are exported' => sub {
    my @all = map { random_profile('trace', 1000) } 1 .. 3;
    my $k = 0;
    my @files = map {
        $k++;
        spew("$dir/p$k.out", $_->{text} =~ s/^(?=\$dprof_script)/\$dprof_pid=10$k;
            \$dprof_start=170000000$k.5;\n/mrx)
    } @all;
    for my $format (@FORMATS) {
        my $read = export($format, @files);
        ok(ref $read, "$format->[0] writes several processes") or diag($read);
        my @got = map { $_->{process} ? "$_->{name}, $_->{process}" : $_->{name} }
            @{ $read->{profiles} };
        my $sep = $format->[0] =~ /^s/ ? 's.pl, pid' : 's.pl';
        my @metrics = qw(cpu real calls ops);
        my @want = $format->[0] =~ /^s/
            ? map { my $m = $_; map { "$m, $sep 10$_" } 1 .. 3 } @metrics, 'time order'
            : ((map { my $p = $_; map { "$_, $sep 10$p" } @metrics } 1 .. 3),
                map { "time order, $sep 10$_" } 1 .. 3);
        is_deeply(\@got, \@want, "$format->[0] has the metrics of each process");
        my @wrong;
        for my $profile (@{ $read->{profiles} }) {
            my ($p) = "$profile->{name} " . ($profile->{process} // '') =~ s/^/ /r;
            my ($number) = $p =~ /10(\d)\s*\z/;
            my $made = $all[ $number - 1 ];
            my ($name) = $profile->{name} =~ /^([^,]+)/;
            push @wrong, wrong($profile, $made->{hz}, $made->{self}{$name}) if $made->{self}{$name};
        }
        is(join("\n", grep { length } @wrong), '', "$format->[0] has the values of each process");
        next if $format->[0] =~ /^s/;
        is_deeply([map { $_->{main} } @{ $read->{profiles} }], [(1, 0, 0, 0) x 3, 0, 0, 0],
            "$format->[0] has a main thread for each process");
        my @last = map { $_->{order}[0] } @{ $read->{profiles} }[-3 .. -1];
        my @first = map { $all[$_]{order}[0][1] * 1e9 / $all[$_]{hz} + 1e9 * $_ } 0 .. 2;
        is_deeply([map { sprintf '%.0f', $_->[1] } @last], [map { sprintf '%.0f', $_ } @first],
            "$format->[0] begins each process at its start");
        is(join(', ', map { $_->{process} } @{ $read->{counters} }), 's.pl 101, s.pl 102, s.pl 103',
            "$format->[0] has a counter for each process");
        is(join("\n", map { wrong_counts($read->{counters}[$_], values %{ $all[$_]{self}{ops} }) }
            0 .. 2), "\n\n", "$format->[0] has all that each counter counts");
        is_deeply([map { $_->{counts}[0][1] } @{ $read->{counters} }], [0, 1e9, 2e9],
            "$format->[0] begins each counter at its process's start");
        is($read->{meta}{startTime}, 1700000001500,
            "$format->[0] begins at the start of the first process");
    }
};

subtest 'All threads are exported, even more than the viewer shows' => sub {
    my $k = 100;
    my @files = map {
        $k++;
        spew("$dir/m$k.out", $_->{text} =~ s/^(?=\$dprof_script)/\$dprof_pid=$k;\n/mr)
    } map { random_profile('trace', 1000) } 1 .. 7;
    for my $processes (6, 7) {
        my $read = export($FORMATS[1], @files[0 .. $processes - 1]);
        ok(ref $read, "$FORMATS[1][0] writes $processes processes") or diag($read);
        is(scalar @{ $read->{profiles} }, 5 * $processes,
            "$FORMATS[1][0] writes five threads for each process");
    }
};

my $phases = spew("$dir/phases.out", profile_text(hz => 1000, subs => ['% BEGIN - kind=phase',
    '% main - kind=phase', 'P a x.pl:1', 'P b x.pl:2'], times => [10, 0, 10], complete => 1,
    lines => ['# phase 1', '@ 1 0 1', '+ 3', '@ 2 0 2', '- 3', '@ 1 0 1', '# phase 2', '@ 1 0 1',
        '+ 3', '@ 1 0 1', '+ 4', '@ 1 0 1', '- 4', '@ 1 0 1', '- 3', '@ 2 0 2']));

# Their names are in the order of a store, by time.
subtest 'Slices of a process are joined' => sub {
    my @files = map {
        my ($k, $pid) = ($_, $_ % 2 ? 7 : 8);
        spew("$dir/slice$k", slice_text(pid => $pid, slice => 1 + int $k / 2, n => 1 + $k,
            start => 1_795_348_800 + $k));
    } 0 .. 3;
    for my $format (@FORMATS) {
        my $read = export($format, '-m', 'cpu', @files);
        is_deeply([map { [$_->{name}, $_->{total}] } grep { $_->{name} =~ /^cpu/ }
            @{ $read->{profiles} }], [map { [$format->[0] =~ /firefox/ ? 'cpu'
            : "cpu, /srv/web.pl, pid $_->[0]", $_->[1]] } [8, 240_000_000], [7, 360_000_000]],
            "$format->[0] joins the slices of each process") or diag(explain($read));
    }
};

subtest 'Phases of a trace are markers' => sub {
    for my $format (@FORMATS) {
        my $read = export($format, $phases);
        ok(ref $read, "$format->[0] writes a trace with phases") or diag($read);
        is($read->{unused} // 0, 0, "$format->[0] has no name that no frame uses");
        my ($cpu, $order) = @{ $read->{profiles} }[0, -1];
        is_deeply($cpu->{self}, { '' => 5e6, 'P::a' => 4e6, 'P::a;P::b' => 1e6 },
            "$format->[0] has no frame for a phase");
        is_deeply([map { "@$_" } @{ $order->{order} }], [map { "$_->[0] " . $_->[1] * 1e6 . ' '
            . $_->[2] * 1e6 } ['', 0, 1], ['P::a', 1, 2], ['', 3, 2], ['P::a', 5, 1],
            ['P::a;P::b', 6, 1], ['P::a', 7, 1], ['', 8, 2]], "$format->[0] has the order of time");
        is_deeply($order->{markers}, [['BEGIN', 0, 4e6], ['main', 4e6, 10e6]],
            "$format->[0] has a marker for each phase")
            if $order->{markers};
        my $main = export($format, '--phase', 'main', $phases);
        is_deeply($main->{profiles}[0]{self}, { '' => 3e6, 'P::a' => 2e6, 'P::a;P::b' => 1e6 },
            "$format->[0] has what --phase selects");
        is_deeply(export($format, '--skip', 'a', $phases)->{profiles}[-1]{self}, { '' => 9e6,
            'P::b' => 1e6 }, "$format->[0] has the order of time after --skip");
    }
};

subtest 'Counters of a trace are tracks' => sub {
    my $file = spew("$dir/counted.out", profile_text(hz => 1000, subs => ['P a x.pl:1',
        'P b x.pl:2'], times => [10, 0, 10], complete => 1, counters => 'ops:ops bytes:bytes',
        lines => ['@ 1 0 1 2 7', '+ 1', '@ 2 0 2 10 0', '+ 2', '@ 0 0 0 5 1', '- 2', '+ 2',
            '@ 1 0 1 3 0', '- 2', '@ 3 0 3 30 0', '- 1', '@ 3 0 3 6 1']));
    my ($speedscope, $firefox) = map { export($_, $file) } @FORMATS;
    ok(ref $_, 'dprofexport writes a trace with counters') or return diag($_)
        for $speedscope, $firefox;
    is((grep { $_->{name} eq 'time order' } @{ $speedscope->{profiles} }), 1,
        'speedscope has one profile in order of time');
    my ($ops, $bytes, @more) = @{ $firefox->{counters} };
    is_deeply([map { $_->{name} } $ops, $bytes, @more], [qw(ops bytes)],
        'firefox has a track for each counter');
    # a and the program count as their time passes; b counts 5 in no time, and then 3
    is_deeply([map { "@$_" } @{ $ops->{counts} }], ['2 0 1000000', '16 1000000 3000000',
        '8 3000000 4000000', '24 4000000 7000000', '6 7000000 10000000'],
            'firefox counts ops in order of time')
        or diag(explain($ops));
    is($bytes->{total}, 9, 'firefox has the total of bytes');
    is(export($FORMATS[1], '-m', 'real,calls', $file)->{counters}[0], undef,
        'firefox has no track of a counter that -m leaves out');
};

subtest 'Lines of calls are exported' => sub {
    my $file = spew("$dir/lines.out", profile_text(format => 'tree', hz => 1_000_000_000,
        subs => ['P a x.pl:1', 'P b x.pl:5'], complete => 1,
        header => "\$dprof_script='x.pl';\n", lines => ['= 0 0 0 1 0 1 0 0',
            '= 1 1 1 2 0 2 0 0 at=x.pl:20', '= 2 2 1 4 0 4 0 0 at=x.pl:3',
            '= 2 2 1 8 0 8 0 0 at=x.pl:4', '= 1 2 1 16 0 16 0 0 at=z.pl:9',
            '= 1 1 1 32 0 32 0 0']));
    my ($speedscope, $firefox) = map { export($_, '-m', 'cpu', $file) } @FORMATS;
    my $self = { '' => 1, 'P::a' => 34, 'P::a;P::b' => 12, 'P::b' => 16 };
    is_deeply($_->{profiles}[0]{self}, $self,
        'the values of lines are those of their subs') for $speedscope, $firefox;
    is_deeply($firefox->{profiles}[0]{lines}, { '-' => '', '20 -' => 'P::a',
        '20 3 -' => 'P::a;P::b', '20 4 -' => 'P::a;P::b', '- -' => 'P::b' },
        "firefox puts a caller at the line of the call if the line is in the caller's file")
        or diag(explain($firefox->{profiles}[0]{lines}));
    is(scalar @{ $speedscope->{profiles}[0]{order} }, 4, 'speedscope has one frame for both lines');
    is_deeply($speedscope->{frames}, [{ name => '(program)' },
        { name => 'P::a', file => 'x.pl', line => 1 },
        { name => 'P::b', file => 'x.pl', line => 5 }],
        'the frame of speedscope has the line where its sub begins')
        or diag(explain($speedscope->{frames}));
    is_deeply($firefox->{profiles}[0]{order}, [['', 0, 1], ['P::a', 1, 34], ['P::a;P::b', 35, 12],
        ['P::b', 47, 16]], 'sums of firefox follow each other without gaps')
        or diag(explain($firefox->{profiles}[0]{order}));
};

subtest 'Deep recursion and extreme values are exported' => sub {
    my $deep = 5000;
    my $file = spew("$dir/deep.out", profile_text(format => 'tree', hz => 1_000_000_000,
        subs => ['P a x.pl:1', 'P b x.pl:2'], complete => 1, lines => ['= 0 0 0 5 0 5 0 0',
            map { sprintf '= %d %d 1 1 0 1 0 0', $_, 1 + $_ % 2 } 1 .. $deep]));
    my $great = 1 << 60;
    my $bounds = spew("$dir/great.out", profile_text(format => 'tree', hz => 1_000_000_000,
        subs => ['P a x.pl:1', 'P b x.pl:2'], complete => 1, lines => ['= 0 0 0 0 0 0 0 0',
            "= 1 1 1 $great $great $great 0 0", "= 2 2 3 $great $great $great 0 0"]));
    my $none = spew("$dir/none.out", profile_text(format => 'tree', hz => 1000, complete => 1,
        subs => ['P a x.pl:1'], lines => ['= 0 0 0 0 0 0 0 0', '= 1 1 0 0 0 0 0 0']));
    for my $format (@FORMATS) {
        my $path = "$dir/deep.$format->[0]";
        is(in_process('dprofexport', '-m', 'cpu', '-o', $path, $file)->{status}, 0,
            'dprofexport writes a deep recursion');
        cmp_ok(-s $path, '<', 120 * $deep,
            "the size of $format->[0] grows with the contexts alone");
        my $read = export($format, $bounds);
        is_deeply([map { $_->{total} } @{ $read->{profiles} }], [4 * $great, 2 * $great, 4],
            'great values are exact') or diag(explain($read));
        $read = export($format, $none);
        like($read->{err}, qr/nothing is left/, 'a profile without values gives a message');
        is_deeply([map { $_->{self} } @{ $read->{profiles} }], [{}, {}, {}],
            'a profile without values gives a file');
    }
};

subtest 'A profile without an order of time has no such view' => sub {
    my $trace = random_profile('trace');
    my $file = spew("$dir/once.out", $trace->{text});
    open my $in, '<', $file or die $!;
    my $tree = spew("$dir/tree.out", random_profile('tree')->{text});
    for my $case (['standard input', '-'], ['metrics without real', '-m', 'cpu,calls', $file],
        ['a trace and a tree', $file, $tree]) {
        my ($what, @args) = @$case;
        open my $old, '<&', \*STDIN or die $!;
        open STDIN, '<', $file or die $!;
        my $read = export($FORMATS[0], '-f', @args);
        open STDIN, '<&', $old or die $!;
        ok(ref $read, "dprofexport exports $what") or diag($read);
        is((grep { $_->{name} =~ /^time order/ } @{ $read->{profiles} }), 0,
            "the export has no view in order of time: $what");
    }
};

done_testing;
