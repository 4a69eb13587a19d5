package StrictProfile;

# Reads traces and trees strictly, in plain Perl: it shares no code with the tools. It keeps no
# calls, so that size does not matter.

use strict;
use warnings;

# A source, and what is known of it.
my $ROWS = qr{\A#s ([1-9a-f][0-9a-f]*) rows=\d+\n\z};
# Who holds a value: PLACE SUB CHAIN, three fields.
my $HOLDER = qr/\A#h (?:%|\S+:[1-9]\d*) \S+ \S+\n\z/;
my $SOURCE = qr{\A#f [^\x00-\x20\x7f]+(?: size=\d+ crc=[0-9a-f]+(?: text=[\w+/]+={0,2})?)?\n\z};

# Returns what is wrong with the file, one string each; nothing when all is well.
# $about, a hash, gets: header, marks, calls (by id), names (by id). With a name in
# $about->{until}, calls are counted up to the first one of that sub, and $about->{until_stack}
# names those it was called from. With $about->{edges}, a hash, that one gets the calls of each
# "caller > callee". $about->{late} gets
# the exits other than returns after which no time passed until the next mark: with
# the counting clock, those that were noticed only then. $about->{unwinding}, a regex,
# names the subs that may be called in the middle of an unwinding.
sub problems {
    my ($path, $about) = @_;
    $about //= {};
    my @wrong;
    open my $in, '<:raw', $path or return "cannot be opened: $!";
    my $first = <$in>;
    return 'empty' unless defined $first;
    return 'no magic number' unless $first eq "#fOrTyTwO\n";

    my (%header, $part2);
    while (my $line = <$in>) {
        if ($line =~ /\APART([23])\n\z/) { $part2 = $1; last }
        next if $line =~ /^#/;
        pos($line) = 0;
        $line =~ /\G\s+/gc;
        while (pos($line) < length $line) {
            if ($line
                =~ /\G\$(\w+)=(?:'((?:[^'\\\x00-\x1f\x7f]|\\['\\])*)'|(-?\d+(?:\.\d+)?));\s*/gc) {
                return "header: \$$1 twice" if exists $header{$1};
                $header{$1} = defined $3 ? $3 : $2 =~ s/\\(.)/$1/gr;
            } else {
                return sprintf 'header: %.60s', substr $line, pos $line;
            }
        }
    }
    return 'no PART2' unless $part2;
    # A sum of several files is written whole, and has only what they share.
    $header{dprof_complete} = 1 if exists $header{dprof_merged};
    $about->{header} = \%header;
    for (qw(hz XS_VERSION dprof_format), exists $header{dprof_merged} ? ()
        : qw(dprof_run dprof_pid dprof_tid dprof_clock dprof_inherited)) {
        return "header: no \$$_" unless exists $header{$_};
    }
    return "format $header{dprof_format}"
        unless $header{dprof_format} eq ($part2 == 3 ? 'tree 1' : 'trace 1');
    if ($part2 == 3) {
        my $sums = [0, 0, 0];
        my @wrong = tree($in, $about, $sums);
        push @wrong, 'no line with the sums' if $header{dprof_complete} && !$about->{ended};
        push @wrong, sums(\%header, 0, @$sums) if $header{dprof_complete};
        return @wrong;
    }

    my (%name, @calls, @stack, @runs, $last, $until, $edges);
    $edges = $about->{edges};
    my $columns = () = ($header{dprof_counters} // '') =~ /\S+/g;
    my ($resumed, $suspended) = ($header{dprof_inherited}, 0);
    # This is the number of the mark after which frames went on, if no time has passed since.
    my $back = 0;
    my ($forgive, $left) = ($about->{unwinding});
    my ($marks, $user, $sys, $real, $ended) = (0, 0, 0, 0, 0);
    my $bad = sub {
        my $text = sprintf 'line %d: %s: %.60s', $., @_;
        push @wrong, $text =~ s/\n//r;
        return @wrong < 10;
    };
    while (my $line = <$in>) {
        my $kind = substr $line, 0, 2;
        $last = $line;
        if ($kind eq '@ ') {
            undef $left;
            $back = 0;
            my @t = $line =~ /\A@ (\d+) (\d+) (\d+)(?: \d+){$columns}\n\z/;
            if (@t == 3) {
                $user += $t[0];
                $sys += $t[1];
                $real += $t[2];
                $bad->('more CPU than time', $line) or last if $t[0] + $t[1] > $t[2];
            }
            else { $bad->('no times', $line) or last }
            next;
        }
        if ($ended) { $bad->('behind the line with the sums', $line) or last }
        next if $line =~ $SOURCE || $line =~ $ROWS && exists $name{$1};
        if ($line =~ /\A# end /) {
            $ended = 1;
            $bad->('other sums', $line) or last
                if $line ne "# end marks=$marks user=$user system=$sys real=$real\n";
            next;
        }
        if ($kind eq '# ') {
            if ($line =~ /\A# suspend (\d+)\n/) { $suspended = $1 }
            if ($line =~ /\A# phase ([0-9a-f]+)\n\z/ ? !exists $name{$1}
                : $line !~ /\A# (?:suspend|resume) \d+\n\z/) {
                $bad->('unknown note', $line) or last;
            }
            $resumed = $1 if $line =~ /resume (\d+)/;
            next;
        }
        if ($kind eq '& ') {
            if ($line
                =~ /\A&\ ([1-9a-f][0-9a-f]*)\ ([^\x00-\x20\x7f]+)\ ([^\x00-\x20\x7f]+)\ (-|
                    [^\x00-\x20\x7f]*:\d+)((?:\ \w+=[^\x00-\x20\x7f]+)*)\n\z/x) {
                if (exists $name{$1}) { $bad->('a second name', $line) or last }
                $name{$1} = $2 eq '%' ? $3 : "$2\::$3";
                $about->{fields}{$1} = [ $2, $3, $4, $5 ];
            } else {
                $bad->('no name', $line) or last;
            }
            next;
        }
        if ($line eq "PART3\n") {
            return 'a tree behind a trace that was not too long'
                unless $header{dprof_limit_reached};
            my $sums = [$user, $sys, $real];
            push @wrong, tree($in, $about, $sums);
            push @wrong, 'no line with the sums' if $header{dprof_complete} && !$about->{ended};
            push @wrong, sums(\%header, $marks, @$sums) if $header{dprof_complete};
            return @wrong;
        }
        $marks++;
        chomp(my $id = substr $line, 2);
        if (defined $left && $kind ne '/ '
            && !($forgive && $kind eq '+ ' && ($name{$id} // '') =~ $forgive)) {
            push @{ $about->{late} }, "$name{$left} before $kind" . ($name{$id} // '?')
                unless $until;
        }
        $left = $kind ne '/ ' ? undef : $suspended && $suspended-- ? undef : $id;
        if (!exists $name{$id}) {
            $bad->('an unknown id or line', $line) or last;
        } elsif ($kind eq '+ ') {
            if (!$until && defined $about->{until} && $name{$id} eq $about->{until}) {
                $until = [@calls];
                $about->{until_stack} = join ' ', map { $name{$_} } @stack;
            }
            if ($edges && !$resumed) {
                $edges->{ (@runs ? $name{ $runs[-1] } : '(program)') . " > $name{$id}" }++;
            }
            # Another coroutine went on and makes a call: did time pass before it?
            if ($back && $back eq $marks && !$resumed && !($forgive && $name{$id} =~ $forgive)) {
                push @{ $about->{late} }, "another coroutine before + $name{$id}" unless $until;
            }
            $back = $resumed ? $marks + 1 : 0;
            push @runs, $id if $edges;
            push @stack, $id;
            $calls[ hex $id ]++ unless $resumed && $resumed--;
        } elsif ($kind eq '- ' || $kind eq '/ ') {
            if (!@stack) { $bad->('leaves nothing', $line) or last }
            elsif ($stack[-1] ne $id) {
                $bad->("leaves what is not on top ($stack[-1])", $line) or last;
            }
            pop @stack;
            pop @runs if $edges;
        } elsif ($kind eq '* ') {
            if (!@stack) { $bad->('replaces nothing', $line) or last }
            if ($edges && @runs) {
                $runs[-1] = $id;
                $edges->{ (@runs > 1 ? $name{ $runs[-2] } : '(program)') . " > $name{$id}" }++;
            }
            $calls[ hex $id ]++;
        } else {
            $bad->('unknown line', $line) or last;
        }
    }
    close $in;
    return @wrong if @wrong;
    push @wrong, 'the last line is cut' if defined $last && $last !~ /\n\z/;
    if ($header{dprof_complete}) {
        push @wrong, scalar(@stack) . ' frames are open at the end' if @stack;
        push @wrong, sums(\%header, $marks, $user, $sys, $real);
        push @wrong, 'no line with the sums' if !$ended;
    }
    $about->{marks} = $marks;
    $about->{names} = \%name;
    @calls = @$until if $until;
    $about->{calls} = { map { (sprintf('%x', $_) => $calls[$_]) }
        grep { $calls[$_] } 0 .. $#calls };
    return @wrong;
}

# Compares what the header of a complete file says about the rest. Returns what is wrong, as a list.
sub sums {
    my ($header, $marks, @t) = @_;
    my @wrong;
    push @wrong, "$marks marks, the header has " . ($header->{total_marks} // 0)
        if $marks != ($header->{total_marks} // 0);
    push @wrong, "times add up to @t, the header has @$header{qw(rrun_utime rrun_stime rrun_rtime)}"
        if grep { $t[$_] != $header->{ (qw(rrun_utime rrun_stime rrun_rtime))[$_] } } 0 .. 2;
    return @wrong;
}

# Returns whether the keys of a context have stretches of time that cannot be, or a unit of these
# elsewhere than in the root.
sub is_odd_when {
    my ($keys, $depth, $unit) = @_;
    return 1 if $depth && $keys =~ / unit=/;
    return 0 if $keys !~ / when=(\S*)/;
    return !$unit || $1 !~ /\A\d+\+[1-9]\d*(?:,\d+\+[1-9]\d*)*\z/;
}

# Reads the lines of a tree, and adds its times to @$sums. Returns what is wrong, as a list.
sub tree {
    my ($in, $about, $sums) = @_;
    my ($edges, $counters) = ($about->{edges}, scalar split ' ',
        $about->{header}{dprof_counters} // '');
    my (@wrong, %name, %phase, @calls, @path, $root, %counted, $last, $lined, $unit);
    my ($is_slice, $id_before) = (exists $about->{header}{dprof_slice}, 0);
    # Both are sums, of contexts and of statements: user, system, real, each counter.
    my (@contexts, @statements);
    my ($called, $began) = (0, $.);
    $about->{ended} = 0;
    my $bad = sub {
        my $text = sprintf 'line %d: %s: %.60s', $., @_;
        push @wrong, $text =~ s/\n//r;
        return @wrong < 10;
    };
    while (my $line = <$in>) {
        $last = $line;
        if ($about->{ended}) { $bad->('behind the line with the sums', $line) or last }
        if ($line
            =~ /\A&\ ([1-9a-f][0-9a-f]*)\ ([^\x00-\x20\x7f]+)\ ([^\x00-\x20\x7f]+)\ (-|
                [^\x00-\x20\x7f]*:\d+)((?:\ \w+=[^\x00-\x20\x7f]+)*)\n\z/x) {
            if (exists $name{$1}) { $bad->('a second name', $line) or last }
            if ($is_slice ? hex $1 <= $id_before : hex $1 != 1 + $id_before) {
                $bad->('not the next number', $line) or last;
            }
            if ($root) { $bad->('a name behind the first context', $line) or last }
            my $id = $1;
            $id_before = hex $id;
            $name{$id} = $2 eq '%' ? $3 : "$2\::$3";
            $phase{$id} = 1 if $line =~ / kind=phase$/;
        } elsif ($line
            =~ /\A=\ (\d+)\ ([0-9a-f]+)\ (\d+)\ (\d+)\ (\d+)\ (\d+)\ (\d+)\ (\d+)((?:\ \d+)*)(
                (?:\ \w+=[^\x00-\x20\x7f]+)*)\n\z/x) {
            my ($depth, $id, $calls, $user, $sys, $real, $longest, $shortest, $counts, $keys) = ($1,
                $2, $3, $4, $5, $6, $7, $8, $9, $10);
            $unit = $1 if !$depth && $keys =~ /\ unit=([1-9]\d*)(?:\ |\z)/x;
            if (is_odd_when($keys, $depth, $unit)) {
                $bad->('impossible stretches of time', $line) or last;
            }
            if ($depth == 0 ? $root++ || $id ne '0' : !exists $name{$id}
                || $depth > @path) { $bad->('stands nowhere', $line) or last }
            if ($depth && ($user + $sys > $real || $shortest > $longest)) {
                $bad->('impossible times', $line) or last }
            if (($counts =~ tr/ //) != $counters) {
                $bad->('not as many counters as the header names', $line) or last;
            }
            $called += $calls;
            $#path = $depth - 1;
            if ($phase{$id} && $depth != 1) {
                $bad->('a phase not right below the root', $line) or last;
            }
            my $name = $depth && !$phase{$id} ? $name{$id} : '(program)';
            $edges->{"$path[-1] > $name"} += $calls if $edges && $depth && $calls && !$phase{$id};
            push @path, $name;
            $calls[ hex $id ] += $calls if $depth && !$phase{$id};
            my @row = ($user, $sys, $real, split ' ', $counts);
            $contexts[$_] += $row[$_] for 0 .. $#row;
        } elsif ($line =~ /\Ah ([1-9a-f][0-9a-f]*)((?: \d+:\d+)+)\n\z/) {
            my ($id, $buckets) = ($1, $2);
            if (!exists $name{$id} || exists $counted{$id}) { $bad->('a histogram of nothing',
                $line) or last }
            $counted{$id} += $1 while $buckets =~ / \d+:(\d+)/g;
        } elsif ($line =~ $ROWS && exists $name{$1}) {
            next;
        } elsif ($line =~ $HOLDER && ($about->{header}{dprof_options} // '') =~ /heap-holders=/) {
            next;
        } elsif ($line =~ $SOURCE) {
            $lined = 1;
        } elsif ($line =~ /\A# end /) {
            my ($calls, $lines) = ($called, $. - $began - 1);
            my @t = map { $_ // 0 } @contexts[0 .. 2];
            $bad->('other sums', $line) or last if $line
                ne "# end lines=$lines calls=$calls user=$t[0] system=$t[1] real=$t[2]\n";
            $about->{ended} = 1;
        } elsif ($line =~ /\A#l \d+ (0|[1-9a-f][0-9a-f]*) \d+((?: \d+)*)(?: later=[1-9]\d*)?\n\z/) {
            my ($id, @row) = ($1, split ' ', $2);
            my $times = ($about->{header}{dprof_lines} // '') eq 'time';
            if (!$lined || ($id && !exists $name{$id})) {
                $bad->('a statement of nothing', $line) or last;
            }
            if (@row != ($times ? 3 + $counters : 0)) {
                $bad->('not the columns of a statement', $line) or last;
            }
            $statements[$_] += $row[$_] for 0 .. $#row;
        } else {
            $bad->('unknown line', $line) or last;
        }
    }
    push @wrong, 'the last line is cut' if defined $last && $last !~ /\n\z/;
    $sums->[$_] += $contexts[$_] // 0 for 0 .. 2;
    if ($about->{header}{dprof_complete}) {
        push @wrong, 'no root' unless $root;
        push @wrong, "statements come to @statements, contexts to @contexts"
            if ($about->{header}{dprof_lines} // '') eq 'time' && "@statements" ne "@contexts";
        # Some calls that ended in a slice may have begun in an earlier one.
        for ($is_slice ? () : keys %counted) {
            push @wrong,
                "$name{$_}: $counted{$_} calls in the histogram, $calls[ hex $_ ] in the tree"
                    if $counted{$_} > ($calls[ hex $_ ] // 0) && @wrong < 10;
        }
    }
    $about->{names} = \%name;
    $about->{calls} = { map { (sprintf('%x', $_) => $calls[$_]) }
        grep { $calls[$_] } 0 .. $#calls };
    return @wrong;
}

1;
