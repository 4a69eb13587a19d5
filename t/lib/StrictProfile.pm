package StrictProfile;

# A reader of traces that forgives nothing, in plain Perl and on its own: it
# shares no code with the tools. It keeps no tree, so size does not matter.

use strict;
use warnings;

# What is wrong with the file, one string each; nothing when all is well.
# $about, a hash, gets: header, marks, calls (by id), names (by id). With a name in
# $about->{until}, calls are counted up to the first one of that sub, and $about->{until_stack} names
# those it was called from. $about->{late} gets
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
        if ($line eq "PART2\n") { $part2 = 1; last }
        next if $line =~ /^#/;
        pos($line) = 0;
        $line =~ /\G\s+/gc;
        while (pos($line) < length $line) {
            if ($line =~ /\G\$(\w+)=(?:'((?:[^'\\\x00-\x1f\x7f]|\\['\\])*)'|(-?\d+(?:\.\d+)?));\s*/gc) {
                return "header: \$$1 twice" if exists $header{$1};
                $header{$1} = defined $3 ? $3 : $2 =~ s/\\(.)/$1/gr;
            } else {
                return sprintf 'header: %.60s', substr $line, pos $line;
            }
        }
    }
    return 'no PART2' unless $part2;
    $about->{header} = \%header;
    for (qw(hz XS_VERSION dprof_format dprof_run dprof_pid dprof_tid dprof_clock dprof_inherited)) {
        return "header: no \$$_" unless exists $header{$_};
    }
    return "format $header{dprof_format}" unless $header{dprof_format} eq 'trace 1';

    my (%name, @calls, @stack, $last, $until);
    my $resumed = $header{dprof_inherited};
    my ($forgive, $left) = ($about->{unwinding});
    my ($marks, $user, $sys, $real) = (0, 0, 0, 0);
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
            my @t = $line =~ /\A@ (\d+) (\d+) (\d+)\n\z/;
            if (@t == 3) { $user += $t[0]; $sys += $t[1]; $real += $t[2] }
            else { $bad->('no times', $line) or last }
            next;
        }
        if ($kind eq '# ') {
            if ($line =~ /\A# phase ([0-9a-f]+)\n\z/ ? !exists $name{$1} : $line !~ /\A# (?:suspend|resume) \d+\n\z/) {
                $bad->('unknown note', $line) or last;
            }
            $resumed = $1 if $line =~ /resume (\d+)/;
            next;
        }
        if ($kind eq '& ') {
            if ($line =~ /\A& ([1-9a-f][0-9a-f]*) ([^\x00-\x20\x7f]+) ([^\x00-\x20\x7f]+) (-|[^\x00-\x20\x7f]*:\d+)((?: \w+=[^\x00-\x20\x7f]+)*)\n\z/) {
                if (exists $name{$1}) { $bad->('a second name', $line) or last }
                $name{$1} = $2 eq '%' ? $3 : "$2\::$3";
                $about->{fields}{$1} = [ $2, $3, $4, $5 ];
            } else {
                $bad->('no name', $line) or last;
            }
            next;
        }
        $marks++;
        chomp(my $id = substr $line, 2);
        if (defined $left && $kind ne '/ ' && !($forgive && $kind eq '+ ' && ($name{$id} // '') =~ $forgive)) {
            push @{ $about->{late} }, "$name{$left} before $kind" . ($name{$id} // '?') unless $until;
        }
        $left = $kind eq '/ ' ? $id : undef;
        if (!exists $name{$id}) {
            $bad->('an unknown id or line', $line) or last;
        } elsif ($kind eq '+ ') {
            if (!$until && defined $about->{until} && $name{$id} eq $about->{until}) {
                $until = [@calls];
                $about->{until_stack} = join ' ', map { $name{$_} } @stack;
            }
            push @stack, $id;
            $calls[ hex $id ]++ unless $resumed && $resumed--;
        } elsif ($kind eq '- ' || $kind eq '/ ') {
            if (!@stack) { $bad->('leaves nothing', $line) or last }
            elsif ($stack[-1] ne $id) { $bad->("leaves what is not on top ($stack[-1])", $line) or last }
            pop @stack;
        } elsif ($kind eq '* ') {
            if (!@stack) { $bad->('replaces nothing', $line) or last }
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
        push @wrong, "$marks marks, the header has $header{total_marks}" if $marks != $header{total_marks};
        push @wrong, "times add up to $user $sys $real, the header has @header{qw(rrun_utime rrun_stime rrun_rtime)}"
            if $user != $header{rrun_utime} || $sys != $header{rrun_stime} || $real != $header{rrun_rtime};
    }
    $about->{marks} = $marks;
    $about->{names} = \%name;
    @calls = @$until if $until;
    $about->{calls} = { map { (sprintf('%x', $_) => $calls[$_]) } grep { $calls[$_] } 0 .. $#calls };
    return @wrong;
}

1;
