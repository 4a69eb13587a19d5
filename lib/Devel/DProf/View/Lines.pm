package Devel::DProf::View::Lines;

# What lines of source cost.

use strict;
use warnings;

use Devel::DProf::Constants qw(DP_T_REAL);
use Devel::DProf::Profile;
use Devel::DProf::Text qw(bytes);

our $VERSION = $Devel::DProf::Core::VERSION;

use constant { FILE => 0, LINE => 1, SUB => 2, COUNT => 3, SELF => 4, INCL => 5, CALLS => 6,
    TO => 7 };

sub new {
    my ($class, $profile, $metric, $counter, %fields) = @_;
    my $self = bless { profile => $profile, %fields }, $class;
    $self->{subs} = [$profile->subs({ separate => 1 })];
    for my $row (@{ $profile->line_rows($metric, $counter // 0) }) {
        push @{ $self->{files}{ $row->[FILE] }{ $row->[LINE] } }, $row;
    }
    return $self;
}

sub detail { return $_[0]{profile}->line_detail }

sub files { my ($self) = @_; return sort grep { length } keys %{ $self->{files} } }

# ---- the meaning of a word ----

# Returns what a word means: [label, file, first line, last line] each. A file has its name in the
# profile, or the end of that; a sub has its label, or the end of that after `::`.
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

# Returns the lines from a sub's beginning, or where that is not known the first one that has a
# statement of it, to the last one.
sub range {
    my ($self, $sub) = @_;
    my ($label, undef, $file, $first) = @$sub;
    my @lines = $self->lines_of($label, $file);
    $first ||= $lines[0] // 1;
    my $last = $lines[-1] // $first;
    return [$label, $file, $first, $last > $first ? $last : $first];
}

# Returns the lines of a sub that `#line` puts into other files, or in front of its beginning: a
# range in each file.
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

sub is_in {
    my ($self, $row, $label) = @_;
    return defined $row->[SUB] && $self->{subs}[ $row->[SUB] ][0] eq $label;
}

# Returns the rows of lines that a word means: FILE:LINE, FILE, or a regex that such places match.
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

# Returns what the view needs to find the calls from lines (callees), or those of the subs that they
# are in: labels, places. Returns nothing if the word means nothing; undef: the lines are in no sub.
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

# The same of several profiles. HOW: by_line, the word; edges_of, the word as it was given; callees,
# separate, autoload. Dies with why there are none.
sub edges {
    my ($how, $names, @profiles) = @_;
    my @lines = map { Devel::DProf::View::Lines->new($_, DP_T_REAL) } @profiles;
    die "$names: places of calls are not in there; record them with lines or callsites=1\n"
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
    die $in_none ? "$word is in no sub, which could have callers\n"
        : "there is no sub, file or line $word in $names\n";
}

# Whether the places of calls are known.
sub has_places { my ($self) = @_; return scalar grep { length } keys %{ $self->{files} } }

# Prints doubts about the numbers of lines: statements are not recorded by phase, so there are none
# of the main program alone; and if a file has none, or no times, and others have, the lines have
# only a part of the total.
sub doubts {
    my ($only_main, @profiles) = @_;
    my @files = map { my $p = $_; map { my %header = $p->header($_);
        [$p->outcome($_)->{path}, $header{dprof_lines}] } 0 .. $p->files - 1 } @profiles;
    my ($with) = grep { defined $_->[1] } @files or return;
    if ($only_main) {
        return map { defined $_->[1] ? "$_->[0]: --main leaves out what statements cost, which is"
            . ' known of the whole run alone; record with start=main' : () } @files;
    }
    my ($timed) = grep { ($_->[1] // '') eq 'time' } @files;
    return map {
        !defined $_->[1] ? "$_->[0]: it does not tell what statements cost, as $with->[0] does;"
            . ' the lines shown lack it'
        : $timed && $_->[1] ne 'time' ? "$_->[0]: it has counts of statements and no times, which"
            . " $timed->[0] has; the lines shown lack them"
        : ()
    } @files;
}

# ---- costs ----

# The numbers of a file's lines that have something, in no order.
sub numbers { my ($self, $file) = @_; return keys %{ $self->{files}{$file} || {} } }

# Returns what is shown of a line: if a sub is asked for, its own part. A line on which only others
# have something, blocks and closures in the sub, is theirs.
sub rows_at {
    my ($self, $file, $line, $label) = @_;
    my @rows = @{ $self->{files}{$file}{$line} || [] };
    my @own = defined $label ? grep { $self->is_in($_, $label) } @rows : ();
    return grep({ $_->[COUNT] || $_->[SELF] } @own) ? @own : @rows;
}

# Whether a line has statements of code outside of the sub. Anonymous subs may be within it.
sub is_of_others {
    my ($self, $file, $line, $label) = @_;
    return scalar grep { ($_->[COUNT] || $_->[SELF]) && !$self->is_in($_, $label)
        && !(defined $_->[SUB] && $self->{subs}[ $_->[SUB] ][0] =~ /::__ANON__\b/) }
        @{ $self->{files}{$file}{$line} || [] };
}

# Returns the sums of a line, or of one sub's part of it: count, self, inclusive; none if nothing is
# known.
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

Devel::DProf::View::Lines - what lines of source cost

=head1 DESCRIPTION

The lines of a profile as the views of the tools have them; see L<dprofreport>, C<--annotate>. It is
internal to this distribution.

=head1 METHODS

=over

=item new PROFILE, METRIC [, COUNTER]

Of a L<Devel::DProf::Profile>. METRIC is one of DP_METRIC_LIST's numbers; COUNTER is that of the
counter, if it is DP_M_COUNTER.

=item detail

0: the profile knows calls by line at the most. 1: it knows how often statements ran. 2: and how
long.

=item files

The names of files that have lines.

=item find WORD

What a user means by a word: a list of [label or undef, file, first line, last line or undef,
whether it is no more than a part of the sub, which begins elsewhere]. A file goes by its name or
the end of that, a sub by its label or the end of that.

=item edges_of WORD, CALLEES, LABEL, ...

What C<--callees> (or else C<--callers>) shows by line for a word or a compiled regex: labels of
subs, and FILE:LINE of lines from which subs are called. The LABELs are those of the profile's subs,
in their order, as they are shown. Nothing if the word means nothing; undef if it means lines that
are in no sub, which so have no callers.

=item edges HOW, NAMES, PROFILE, ...

A function: the same of several profiles, as a reference to a list. HOW is a hash: by_line, the
word or regex; edges_of, the word as it was given; callees; separate and autoload, how subs are
named. Dies with why there are none; NAMES are those of the files, for that.

=item doubts ONLY_MAIN, PROFILE, ...

A function: what is to be said of the numbers of lines, as lines. ONLY_MAIN is true if the profiles
are to be of the main program alone.

=item has_places

Does the profile tell where calls are made?

=item numbers FILE

The numbers of the lines of a file that have something, in no order.

=item cost FILE, LINE [, LABEL]

How often the statements of a line ran, their own cost, and that with the subs that they call:
ticks, or what the counter counts. With a LABEL, of the statements of that sub, or where it has none
on the line, of those that there are. An empty list if there are none.

=item calls FILE, LINE [, LABEL]

The calls from a line, or from these statements of it: [label, calls, inclusive cost] each, the
longest first.

=item range SUB, elsewhere SUB, lines_of LABEL, FILE, is_in ROW, LABEL

=item rows_of WORD, rows_at FILE, LINE, LABEL

=item is_of_others FILE, LINE, LABEL

Parts of the above.

=back

=cut
