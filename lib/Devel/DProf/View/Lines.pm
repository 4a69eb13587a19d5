package Devel::DProf::View::Lines;

# The costs of source lines: which lines a word means, their counts and times, and their calls.

use strict;
use warnings;

use Devel::DProf::Constants qw(DP_T_REAL);
use Devel::DProf::Profile;
use Devel::DProf::Text qw(bytes);

our $VERSION = $Devel::DProf::Core::VERSION;

use constant { FILE => 0, LINE => 1, SUB => 2, COUNT => 3, SELF => 4, INCL => 5, CALLS => 6,
    TO => 7 };

# Indexes the costs of a profile's lines in a metric by file and line.
sub new {
    my ($class, $profile, $metric, $counter, %fields) = @_;
    my $self = bless { profile => $profile, %fields }, $class;
    $self->{subs} = [$profile->subs({ separate => 1 })];
    for my $row (@{ $profile->line_rows($metric, $counter // 0) }) {
        push @{ $self->{files}{ $row->[FILE] }{ $row->[LINE] } }, $row;
    }
    return $self;
}

# Returns the profile's detail of lines: 0, none; 1, counts; 2, times as well.
sub detail { return $_[0]{profile}->line_detail }

sub files { my ($self) = @_; return sort grep { length } keys %{ $self->{files} } }

# ---- the meaning of a word ----

# Returns the files or subs that a word means: [label, file, first line, last line] each. The word
# is a file's name or the end of that path, or a sub's label or the end of that after `::`.
sub find {
    my ($self, $word) = @_;
    my @files = grep { $_ eq $word } $self->files;
    @files = grep { m{(?:\A|/)\Q$word\E\z} } $self->files if !@files;
    return map { [undef, $_, 1, undef] } @files if @files;
    my @subs = grep { $_->[0] eq $word && length $_->[2] } @{ $self->{subs} };
    @subs = grep { $_->[0] =~ /(?:\A|::)\Q$word\E\z/ && length $_->[2] } @{ $self->{subs} }
        if !@subs;
    return map { ($self->range($_), $self->elsewhere($_)) } @subs;
}

# Returns the range from a sub's first line to the last line with one of its statements. If the
# first line is unknown, the range begins with the sub's first recorded statement.
sub range {
    my ($self, $sub) = @_;
    my ($label, undef, $file, $first) = @$sub;
    my @lines = $self->lines_of($label, $file);
    $first ||= $lines[0] // 1;
    my $last = $lines[-1] // $first;
    return [$label, $file, $first, $last > $first ? $last : $first];
}

# Returns a range for each place where `#line` puts statements of a sub: in another file, or above
# the sub's beginning.
sub elsewhere {
    my ($self, $sub) = @_;
    my ($label, undef, $file, $first) = @$sub;
    my @ranges;
    for my $other ($file, grep { $_ ne $file } $self->files) {
        my @lines = $self->lines_of($label, $other);
        @lines = grep { $first && $_ < $first } @lines if $other eq $file;
        push @ranges, [$label, $other, @lines[0, -1], 1] if @lines;
    }
    return @ranges;
}

# Returns the numbers of the lines in a file that have statements of a sub, in order.
sub lines_of {
    my ($self, $label, $file) = @_;
    my $of = $self->{files}{$file} || {};
    return sort { $a <=> $b } grep { grep { $self->is_in($_, $label) } @{ $of->{$_} } } keys %$of;
}

# Returns whether a row is about a sub, given by its label.
sub is_in {
    my ($self, $row, $label) = @_;
    return defined $row->[SUB] && $self->{subs}[ $row->[SUB] ][0] eq $label;
}

# Returns the rows of lines that a word means: FILE:LINE, FILE, or a compiled regex for FILE:LINE.
sub rows_of {
    my ($self, $word) = @_;
    my $of = $self->{files};
    if (ref $word) {
        return map { my $file = $_; map { @{ $of->{$file}{$_} } }
            grep { "$file:$_" =~ $word } keys %{ $of->{$file} } } $self->files;
    }
    my ($name, $line) = $word =~ /\A(.+):([0-9]+)\z/s ? ($1, $2) : ($word, undef);
    my @files = grep { $_ eq $name } $self->files;
    @files = grep { m{/\Q$name\E\z} } $self->files if !@files;
    return map { @$_ }
        map { defined $line ? $of->{$_}{$line} || [] : values %{ $of->{$_} } } @files;
}

# Returns the labels of subs, or the places, whose callers or callees a word asks for. For callers,
# lines stand for the subs that contain them. Returns nothing if the word means nothing, and undef
# if its lines are in no sub.
sub edges_of {
    my ($self, $word, $callees, @labels) = @_;
    my @subs = grep { $_ eq $word } @labels;
    my @rows = @subs ? () : $self->rows_of($word);
    @subs = grep { /::\Q$word\E\z/ } @labels if !@subs && !@rows;
    return @subs if @subs || !@rows;
    my %names = map { $_ => 1 } $callees ? map { "$_->[FILE]:$_->[LINE]" } @rows
        : map { $labels[ $_->[SUB] ] } grep { defined $_->[SUB] } @rows;
    return %names ? sort keys %names : undef;
}

# Returns the labels of subs, or the places, whose callers or callees the user wants to see, for
# several profiles. HOW: by_line, the word; edges_of, the word as the user gave it; callees,
# separate, autoload. Dies with the reason if nothing is found.
sub edges {
    my ($how, $names, @profiles) = @_;
    my @lines = map { Devel::DProf::View::Lines->new($_, DP_T_REAL) } @profiles;
    die "$names: no places of calls were recorded; record them with lines or callsites=1\n"
        if !grep { $_->has_places } @lines;
    my %found;
    my %naming = map { $_ => $how->{$_} } qw(separate autoload);
    for my $n (0 .. $#profiles) {
        my @labels = (map({ $_->[0] } $profiles[$n]->subs(\%naming)), '(program)');
        $found{ $_ // '' } = 1
            for $lines[$n]->edges_of($how->{by_line}, $how->{callees}, @labels);
    }
    my $in_none = delete $found{''};
    return [sort keys %found] if %found;
    my $word = bytes($how->{edges_of});
    die $in_none ? "$word is in no sub, so nothing calls it; --callees $word shows what it calls\n"
        : "there is no sub, file or line $word in $names\n";
}

# Returns whether the profile has the places of calls.
sub has_places { my ($self) = @_; return scalar grep { length } keys %{ $self->{files} } }

# Returns warnings about the numbers of lines. Statements are not recorded by phase, so the main
# program alone has none. If some files lack costs of statements, or times, the lines have only a
# part of the total.
sub doubts {
    my ($only_main, @profiles) = @_;
    my @files = map { my $p = $_; map { my %header = $p->header($_);
        [$p->outcome($_)->{path}, $header{dprof_lines}] } 0 .. $p->files - 1 } @profiles;
    my ($with) = grep { defined $_->[1] } @files or return;
    if ($only_main) {
        return map { defined $_->[1] ? "$_->[0]: --main leaves out the costs of statements, which"
            . ' are known for the whole run only; record with start=main' : () } @files;
    }
    my ($timed) = grep { ($_->[1] // '') eq 'time' } @files;
    return map {
        !defined $_->[1] ? "$_->[0]: the file has no costs of statements, unlike $with->[0];"
            . ' the lines shown lack its share'
        : $timed && $_->[1] ne 'time' ? "$_->[0]: the file has counts of statements but no times,"
            . " unlike $timed->[0]; the lines shown lack its times"
        : ()
    } @files;
}

# ---- costs ----

# Returns the numbers of a file's lines that have statements or calls, in no order.
sub numbers { my ($self, $file) = @_; return keys %{ $self->{files}{$file} || {} } }

# Returns the rows of a line that are shown. With a label, these are the rows of that sub, or, if it
# ran nothing on the line, those of other code there, such as blocks and closures in the sub.
sub rows_at {
    my ($self, $file, $line, $label) = @_;
    my @rows = @{ $self->{files}{$file}{$line} || [] };
    my @own = defined $label ? grep { $self->is_in($_, $label) } @rows : ();
    return grep({ $_->[COUNT] || $_->[SELF] } @own) ? @own : @rows;
}

# Returns whether statements of other subs ran on a line. Anonymous subs do not count, because they
# may be within the sub.
sub is_of_others {
    my ($self, $file, $line, $label) = @_;
    return scalar grep { ($_->[COUNT] || $_->[SELF]) && !$self->is_in($_, $label)
        && !(defined $_->[SUB] && $self->{subs}[ $_->[SUB] ][0] =~ /::__ANON__\b/) }
        @{ $self->{files}{$file}{$line} || [] };
}

# Returns count, self and inclusive of a line. With a label, these are of that sub's statements
# alone, or of all if it ran none there. Returns an empty list if the line has no row.
sub cost {
    my ($self, $file, $line, $label) = @_;
    my @rows = $self->rows_at($file, $line, $label);
    return if !@rows;
    my @sum = (0, 0, 0);
    for my $row (@rows) { $sum[$_] += $row->[ COUNT + $_ ] for 0 .. 2 }
    return @sum;
}

# Returns the calls from a line, or from one sub's part of it: [label, calls, inclusive] each, the
# longest first.
sub calls {
    my ($self, $file, $line, $label) = @_;
    my %of;
    for my $call (map { @{ $_->[TO] } } $self->rows_at($file, $line, $label)) {
        my $to = $of{ $self->{subs}[ $call->[0] ][0] } ||= [$self->{subs}[ $call->[0] ][0], 0, 0];
        $to->[1] += $call->[1];
        $to->[2] += $call->[2];
    }
    return sort { $b->[2] <=> $a->[2] || $b->[1] <=> $a->[1] || $a->[0] cmp $b->[0] } values %of;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::View::Lines - the costs of source lines

=head1 DESCRIPTION

The views of the tools get the lines of a profile from this module; see L<dprofreport>,
C<--annotate>. It is internal to this distribution.

=head1 METHODS

=over

=item new PROFILE, METRIC [, COUNTER]

Makes an object for a L<Devel::DProf::Profile>. METRIC is one of DP_METRIC_LIST's numbers; COUNTER
is the number of the counter if METRIC is DP_M_COUNTER.

=item detail

Returns 0 if the profile has at most calls by line, 1 if it has counts of statements, and 2 if it
has their times, too.

=item files

Returns the names of files that have lines.

=item find WORD

Returns the subs or files that a word means, as a list of [label or undef, file, first line, last
line or undef, is it only a part of a sub that begins elsewhere]. WORD is a file's name or the end
of that, or a sub's label or the end of that.

=item edges_of WORD, CALLEES, LABEL, ...

Returns what C<--callees>, or else C<--callers>, shows by line for a word or a compiled regex:
labels of subs, and FILE:LINE of lines that call subs. The LABELs are those of the profile's subs,
in their order, as they are shown. Returns nothing if the word means nothing, and undef if its lines
are in no sub and so have no callers.

=item edges HOW, NAMES, PROFILE, ...

A function: returns the same for several profiles, as a reference to a list. HOW is a hash: by_line,
the word or regex; edges_of, the word as the user gave it; callees; separate and autoload, which
decide the names of subs. Dies with the reason if nothing is found; NAMES are the files to name in
that message.

=item doubts ONLY_MAIN, PROFILE, ...

A function: returns warnings about the numbers of lines, one line of text each. ONLY_MAIN is true if
only the main program is shown.

=item has_places

Returns whether the profile has the places of calls.

=item numbers FILE

Returns the numbers of a file's lines that have statements or calls, in no order.

=item cost FILE, LINE [, LABEL]

Returns three sums for the statements of a line: how often they ran, their own cost, and their cost
with the subs that they call. Costs are ticks, or the counter's unit. With a LABEL, the sums are
those of that sub's statements, or of all statements if the sub has none on the line. Returns an
empty list if there are none.

=item calls FILE, LINE [, LABEL]

Returns the calls from these statements: [label, calls, inclusive cost] each, the costliest first.

=item range SUB, elsewhere SUB, lines_of LABEL, FILE, is_in ROW, LABEL

=item rows_of WORD, rows_at FILE, LINE, LABEL

=item is_of_others FILE, LINE, LABEL

These methods are parts of the above.

=back

=cut
