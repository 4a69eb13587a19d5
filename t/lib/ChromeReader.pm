package ChromeReader;

# Reads files in Chrome's trace event format as dprofexport writes them, and forgives nothing. Adds
# up what a reader of such files would: calls nest by time, of those that begin together the longest
# is the outermost, and of those that also end together the first in the file is.

use strict;
use warnings;
use JSON::PP;
use Exporter 'import';

our @EXPORT_OK = qw(read_chrome);

my %KEYS = (
    M => 'args name ph pid tid ts', X => 'cat dur name ph pid tid ts',
    i => 'cat name ph pid s tid ts',
);

# Returns { problems => [text], tracks => { "PID:TID" => { process, thread, phases => [[name, ns]],
# first, last => ns, subs => { name => [calls, self ns, inclusive ns, stretches that go on] } } } }.
sub read_chrome {
    my ($text) = @_;
    my %all = (problems => [], tracks => {});
    my $whole = eval { JSON::PP->new->utf8->decode($text) };
    push @{ $all{problems} }, "no JSON: $@" if !$whole;
    my ($first, @lines) = split /\n/, $text, -1;
    push @{ $all{problems} }, "first line: $first"
        if $first ne '{"displayTimeUnit":"ns","traceEvents":[';
    my @end = splice @lines, -2;
    push @{ $all{problems} }, "last lines: @end" if "@end" ne ']} ';
    my %slices;
    for my $n (0 .. $#lines) {
        my $problem = read_event($all{tracks}, \%slices, $lines[$n], $n == $#lines);
        push @{ $all{problems} }, "$problem: $lines[$n]" if defined $problem;
    }
    for my $at (sort keys %slices) {
        push @{ $all{problems} }, add_up($all{tracks}{$at}, @{ $slices{$at} });
    }
    return \%all;
}

# Adds one line of the file to $tracks and $slices. Returns what is wrong with it, or undef.
sub read_event {
    my ($tracks, $slices, $line, $is_last) = @_;
    return 'a comma' if ($line =~ s/,\z// ? 1 : 0) == ($is_last ? 1 : 0);
    my $event = eval { JSON::PP->new->utf8->decode($line) } or return 'no JSON';
    my $keys = $KEYS{ $event->{ph} // '' } or return 'an unknown kind';
    return 'other keys' if join(' ', sort keys %$event) ne $keys;
    return 'odd numbers' if $line !~ /"pid":\d+,"tid":\d+,/;
    my $at = "$event->{pid}:$event->{tid}";
    my $track = $tracks->{$at} //= { phases => [], subs => {} };
    if ($event->{ph} eq 'M') {
        my $what = $event->{name} =~ /\A(process|thread)_name\z/ ? $1 : return 'an odd name';
        return 'named twice' if defined $track->{$what};
        $track->{$what} = $event->{args}{name};
        return undef;
    }
    return 'an event of a nameless track'
        if !defined $track->{process} || !defined $track->{thread};
    my ($ts) = $line =~ /"ts":(\d+\.\d{3}),/ or return 'an odd time';
    my ($dur) = $line =~ /"dur":(\d+\.\d{3}),/;
    $_ = ($_ // 0) =~ s/\.//r + 0 for $ts, $dur;
    if ($event->{ph} eq 'i') {
        push @{ $track->{phases} }, [$event->{name}, $ts];
        return $event->{cat} eq 'phase' && $event->{s} eq 't' ? undef : 'no phase';
    }
    return 'an odd category' if $event->{cat} !~ /\Aperl(,goes_on)?\z/;
    push @{ $slices->{$at} }, [$ts, $dur, $event->{name}, $1 ? 1 : 0];
    return undef;
}

# Adds up the calls of a track, given as slices [start, duration, name, goes on]. Returns what is
# wrong, as a list.
sub add_up {
    my ($track, @slices) = @_;
    my @order = sort {
        $slices[$a][0] <=> $slices[$b][0] || $slices[$b][1] <=> $slices[$a][1] || $a <=> $b
    } 0 .. $#slices;
    my (@stack, %open, @problems);
    $track->{first} = $slices[ $order[0] ][0];
    $track->{last} = 0;
    for my $slice (@slices[@order]) {
        my ($start, $dur, $name, $goes_on) = @$slice;
        my $sub = $track->{subs}{$name} //= [0, 0, 0, 0];
        my $end = $start + $dur;
        $sub->[ $goes_on ? 3 : 0 ]++;
        $track->{last} = $end if $end > $track->{last};
        $open{ (pop @stack)->[1] }-- while @stack && $stack[-1][0] <= $start;
        next if !$dur;
        push @problems, "$name at $start: ends behind its caller" if @stack && $end > $stack[-1][0];
        $track->{subs}{ $stack[-1][1] }[1] -= $dur if @stack;
        $sub->[1] += $dur;
        $sub->[2] += $dur if !$open{$name}++;
        push @stack, [$end, $name];
    }
    return @problems;
}

1;
