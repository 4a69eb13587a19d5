package Devel::DProf::View::Growth;

# What has grown from one snapshot of memory to a later one, by place, and who holds it.

use strict;
use warnings;

use List::Util qw(max sum);

use Devel::DProf::Constants qw(DP_T_REAL DP_F_SHOWN);
use Devel::DProf::Core;
use Devel::DProf::Table;
use Devel::DProf::Text qw(plural shown);
use Devel::DProf::View::Layout qw(aligned grouped middle);

our $VERSION = $Devel::DProf::Core::VERSION;

# Columns of line_rows and edges, and the place of the program's own values.
use constant { FILE => 0, LINE => 1, SUB => 2, SELF => 4, NAME => 0, INCL => 3,
    PROGRAM => '(program)' };
# The first bytes of a type's name (heap-types), and the fewest columns of a name.
use constant { KIND => 'value:', LEAST => 24, CLASSES => 2 };

# Makes the growth from the first to the last of the snapshots, [NAME, PROFILE, FLAGS] each, where
# FLAGS says which subs are shown, as for print_report. Those of one process are put in their order;
# others are in order. A single snapshot has grown from nothing. Dies with a message if a profile
# has no counts of what lives.
sub new {
    my ($class, @given) = @_;
    my @snapshots = in_order(@given);
    for (@snapshots) {
        my ($name, $profile) = @$_;
        die shown($name) . ": it does not say what lives in memory; perl -d:DProf=tree,lines,"
            . "heap=exact or heap=sample records that\n" if !$profile->metric('live-bytes');
    }
    my $self = bless { names => [short_names(map { $_->[0] } @snapshots)],
        last => $snapshots[-1][1], holders => [$snapshots[-1][1]->holders], places => {},
        totals => [] }, $class;
    for my $n (0 .. $#snapshots) {
        $self->{totals}[$n] = {};
        $self->read($n, $_, @{ $snapshots[$n] }[1, 2]) for qw(bytes values);
    }
    $_->{holder} = $self->holder($_) for values %{ $self->{places} };
    return $self;
}

# Returns snapshots of one process by their slices or their time, and others as they are.
sub in_order {
    my %processes;
    my @all = map {
        my %header = $_->[1]->header(0);
        $processes{ join ' ', map { $_ // '' } @header{qw(dprof_run dprof_pid dprof_tid)} } = 1;
        [$_, $header{dprof_slice} // 0, $_->[1]->total(DP_T_REAL)];
    } @_;
    return @_ if keys %processes > 1;
    return map { $_->[0] } sort { $a->[1] <=> $b->[1] || $a->[2] <=> $b->[2] } @all;
}

# Returns names without the beginning that all share up to a `-`, if something is left.
sub short_names {
    my @names = map { s{.*/}{}sr } @_;
    my ($front) = $names[0] =~ /\A(.*-)./s;
    return @names if @names < 2 || !defined $front
        || grep { index($_, $front) || length == length $front } @names;
    return map { substr $_, length $front } @names;
}

# Adds the numbers of a snapshot: live bytes or values, by sub and, if they are recorded, by line.
sub read {
    my ($self, $n, $what, $profile, $flags) = @_;
    my $metric = $profile->metric("live-$what");
    my $shown = shown_subs($profile, $flags);
    my @rows = $profile->line_detail ? lines_of($profile, $metric) : subs_of($profile, $metric);
    for my $row (@rows) {
        my ($sub, $file, $line, $number) = @$row;
        next if $shown && !$shown->{$sub};
        my $place = $self->{places}{ join "\0", $sub, $file, $line }
            //= { sub => $sub, file => $file, line => $line };
        $place->{$what}[$n] += $number;
        $self->{totals}[$n]{$what} += $number;
    }
    return;
}

# Returns the names of the subs that are shown, as a hash; undef: all are.
sub shown_subs {
    my ($profile, $flags) = @_;
    return undef if !defined $flags;
    my @names = ((map { $_->[0] } $profile->subs({ separate => 1 })), PROGRAM);
    return { map { ord(substr $flags, $_, 1) & DP_F_SHOWN ? ($names[$_] => 1) : () } 0 .. $#names };
}

sub lines_of {
    my ($profile, $metric) = @_;
    my @subs = map { $_->[0] } $profile->subs({ separate => 1 });
    return map { [defined $_->[SUB] ? $subs[ $_->[SUB] ] : PROGRAM, @$_[FILE, LINE, SELF]] }
        grep { $_->[SELF] } @{ $profile->line_rows($metric->number, $metric->counter) };
}

# A type is a frame of its own, whose values belong to its callers.
sub subs_of {
    my ($profile, $metric) = @_;
    my %naming = (separate => 1);
    return map {
        my ($name, undef, $number) = @$_;
        index($name, KIND) ? [$name, '', 0, $number] : map { [$_->[NAME], '', 0, $_->[INCL]] }
            @{ $profile->edges($name, { %naming, metric => $metric->number,
                counter => $metric->counter }) // [] };
    } grep { $_->[2] } $profile->rows({ %naming, program => 1, counter => $metric->counter + 1 });
}

# Returns who holds values of a place in the last snapshot, or undef.
sub holder {
    my ($self, $place) = @_;
    my $name = $place->{sub} =~ s/\[[^\[\]]*\]\z//r;
    for (@{ $self->{holders} }) {
        my ($at, $sub, $chain) = @$_;
        $sub = PROGRAM if $sub eq '' || $sub =~ s/\A%::(.*)/($1)/s;
        return $chain if $sub eq $name && ($at eq '' || $at eq "$place->{file}:$place->{line}"
            || !length $place->{file});
    }
    return undef;
}

# Returns the types of what a place has made, with heap-types: those with the most bytes.
sub types {
    my ($self, $place) = @_;
    my $metric = $self->{last}->metric('live-bytes');
    my $edges = $self->{last}->edges($place->{sub}, { separate => 1, callees => 1,
        metric => $metric->number, counter => $metric->counter }) // [];
    my @types = map { substr $_->[NAME], length KIND }
        sort { $b->[INCL] <=> $a->[INCL] || $a->[NAME] cmp $b->[NAME] }
        grep { index($_->[NAME], KIND) == 0 } @$edges;
    splice @types, CLASSES;
    return join ', ', @types;
}

# ---- rows ----

sub is_one { return @{ $_[0]{names} } == 1 }

# Returns by how much a place has grown.
sub more {
    my ($self, $of, $what) = @_;
    my @numbers = map { $_ // 0 } @{ $of->{$what} || [] }[0 .. $#{ $self->{names} }];
    return $numbers[-1] - ($self->is_one ? 0 : $numbers[0]);
}

# Returns the places that have grown, the largest first.
sub grown {
    my ($self) = @_;
    return sort {
        $self->more($b, 'bytes') <=> $self->more($a, 'bytes')
            || $self->more($b, 'values') <=> $self->more($a, 'values')
            || $a->{sub} cmp $b->{sub} || $a->{file} cmp $b->{file} || $a->{line} <=> $b->{line}
    } grep { $self->more($_, 'bytes') > 0 || $self->more($_, 'values') > 0 }
        values %{ $self->{places} };
}

# Returns the names of the first snapshot in which a place has values, and of the last one that has
# more of them than the one before.
sub seen {
    my ($self, $place) = @_;
    my @bytes = map { $_ // 0 } @{ $place->{bytes} }[0 .. $#{ $self->{names} }];
    my ($first) = grep { $bytes[$_] } 0 .. $#bytes;
    my ($last) = grep { $bytes[$_] > ($_ ? $bytes[ $_ - 1 ] : 0) } reverse 0 .. $#bytes;
    return map { $self->{names}[ $_ // 0 ] } $first, $last;
}

sub place_of {
    my ($place) = @_;
    my $file = $place->{file} =~ s{.*/}{}sr;
    # The folder of an anonymous sub's file says little, and takes room.
    return $place->{sub} =~ s{\[.*/}{[}sr . (length $file ? ", $file line $place->{line}" : '');
}

# ---- output ----

sub title {
    my ($self) = @_;
    my @names = map { shown($_) } @{ $self->{names} };
    return 'Live memory: ' . ($self->is_one ? $names[0] : "$names[0] to $names[-1]");
}

# Returns bytes as people read them.
sub size {
    my ($bytes) = @_;
    my $of = abs $bytes;
    my ($unit) = grep { $of >= 10 * $_->[0] || ($_->[0] > 1e3 && $of >= $_->[0]) }
        [1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB'];
    return grouped(sprintf '%.0f', $bytes) . ' B' if !$unit;
    my $number = $bytes / $unit->[0];
    return sprintf '%.*f %s', abs $number < 10 ? 2 : abs $number < 100 ? 1 : 0, $number, $unit->[1];
}

# Returns the answer in a sentence.
sub answer {
    my ($self, @grown) = @_;
    my ($first, $last) = @{ $self->{totals} }[0, -1];
    my $now = size($last->{bytes} // 0);
    my $values = grouped($last->{values} // 0) . ' values';
    return "$now in $values live, from " . plural(scalar @grown, 'place') . '.' if $self->is_one;
    return "No place has grown: $now in $values live." if !@grown;
    my $more = 0;
    $more += $self->more($_, 'bytes') for @grown;
    return 'Live memory went from ' . size($first->{bytes} // 0) . " to $now, in $values now; "
        . plural(scalar @grown, 'place has', 'places have') . ' grown, by ' . size($more) . '.';
}

# Returns the table for programs.
sub table {
    my ($self, $rows) = @_;
    my @grown = $self->grown;
    my $table = Devel::DProf::Table->new(['Bytes', 'bytes'], ['Values', 'values'],
        $self->is_one ? () : (['First seen', 'first_seen', 1], ['Last grew', 'last_grew', 1]),
        ['Sub', 'sub', 1], ['File', 'file', 1], ['Line', 'line'], ['Types', 'types', 1],
        ['Held by', 'held_by', 1]);
    $table->fact('Growth', 'growth', $self->answer(@grown));
    splice @grown, $rows if $rows && @grown > $rows;
    for my $place (@grown) {
        $table->row((map { [$_, $_] } $self->more($place, 'bytes'), $self->more($place, 'values')),
            $self->is_one ? () : $self->seen($place), $place->{sub},
            length $place->{file} ? ($place->{file}, [$place->{line}, $place->{line}])
            : (undef, undef), $self->types($place), $place->{holder});
    }
    return $table;
}

# Returns the text for people. HOW: rows, quiet, width (0: any), and title or undef.
sub text {
    my ($self, %how) = @_;
    my @grown = $self->grown;
    my @head = $how{quiet} ? () : (shown($how{title} // $self->title), $self->answer(@grown), '');
    my $others = $how{rows} && @grown > $how{rows} ? @grown - $how{rows} : 0;
    splice @grown, $how{rows} if $others;
    my $sign = $self->is_one ? '' : '+';
    my @rows = map {
        [$sign . size($self->more($_, 'bytes')), $sign . grouped($self->more($_, 'values')),
            $self->is_one ? () : $self->seen($_), shown(place_of($_)), $self->notes($_)]
    } @grown;
    unshift @rows, ['Bytes', 'Values', $self->is_one ? () : ('First seen', 'Last grew'), 'Place']
        if @rows && !$how{quiet};
    my $n = $self->is_one ? 2 : 4;
    my @widths = map { my $i = $_; max(0, map { length $_->[$i] } @rows) } 0 .. $n - 1;
    my $indent = sum(@widths) + 2 * $n;
    my $room = $how{width} ? max($how{width} - $indent, LEAST) : 1e9;
    my @lines = map {
        my ($place, @notes) = @$_[$n .. $#$_];
        (aligned(\@widths, '  ', @$_[0 .. $n - 1]) . '  ' . middle($place, $room),
            map { ' ' x $indent . middle(shown($_), $room) } @notes);
    } @rows;
    push @lines, '', '... and ' . plural($others, 'further place') . '; -O shows more.' if $others;
    my $outside = $self->outside;
    push @lines, '', "Not counted: what C libraries allocate by themselves: $outside."
        if !$how{quiet} && length $outside;
    push @lines, '', $self->next_step if !$how{quiet} && @rows;
    return join "\n", @head, @lines, '';
}

# Returns what else the text says of a place: the types that it made, and who holds them.
sub notes {
    my ($self, $place) = @_;
    my $types = $self->types($place);
    return (length $types ? "made $types" : (),
        defined $place->{holder} ? "held by $place->{holder}" : ());
}

# Returns the libraries whose memory is not counted.
sub outside {
    my ($self) = @_;
    my %header = $self->{last}->header(0);
    my ($first, @more) = split / /, $header{dprof_outside} // '' or return '';
    return shown($first) . (@more ? " and others (dprofpp -V lists them)" : '');
}

# Returns what to type next.
sub next_step {
    my ($self) = @_;
    return 'Next: record with heap-holders=10, and this table will say who holds the values.'
        if !@{ $self->{holders} };
    return 'Next: record with the option lines, and this table will show the lines.'
        if !$self->{last}->line_detail;
    return 'Next: dprofflame -m live-bytes draws what lives.';
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::View::Growth - what has grown between snapshots of memory

=head1 SYNOPSIS

    my $growth = Devel::DProf::View::Growth->new(['warm', $warm], ['done', $done]);
    print $growth->text(width => 80);

=head1 DESCRIPTION

This class compares snapshots of what lives in memory (L<Devel::DProf/MEMORY>) by sub and line, for
C<dprofreport --growth>. C<table(ROWS)> is the same as a L<Devel::DProf::Table>. It is internal to
this distribution.

=cut
