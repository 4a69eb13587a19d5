package Devel::DProf::Lines;

# What lines of source cost, and the source beside it.

use strict;
use warnings;

use Devel::DProf::Profile;

our $VERSION = $Devel::DProf::Core::VERSION;

use constant { FILE => 0, LINE => 1, SUB => 2, COUNT => 3, SELF => 4, INCL => 5, CALLS => 6,
    TO => 7 };

sub new {
    my ($class, $profile, $metric, $counter, %how) = @_;
    my $self = bless { profile => $profile, %how }, $class;
    $self->{subs} = [$profile->subs({ separate => 1 })];
    for my $row (@{ $profile->line_rows($metric, $counter // 0) }) {
        push @{ $self->{files}{ $row->[FILE] }{ $row->[LINE] } }, $row;
    }
    return $self;
}

sub detail { return $_[0]{profile}->line_detail }

sub files { my ($self) = @_; return sort grep { length } keys %{ $self->{files} } }

# ---- what is meant ----

# What a word means: [label, file, first line, last line] each. A file is named as the profile has
# it, or by the end of that; a sub by its label, or by the end of that behind `::`.
sub find {
    my ($self, $word) = @_;
    my @files = grep { $_ eq $word } $self->files;
    @files = grep { m{(?:\A|/)\Q$word\E\z} } $self->files if !@files;
    return map { [undef, $_, 1, undef] } @files if @files;
    my @subs = grep { $_->[0] eq $word && length $_->[2] } @{ $self->{subs} };
    @subs = grep { $_->[0] =~ /(?:\A|::)\Q$word\E\z/ && length $_->[2] } @{ $self->{subs} }
        if !@subs;
    return map { $self->range($_) } @subs;
}

# From the line where a sub begins to the last one that has a statement of it.
sub range {
    my ($self, $sub) = @_;
    my ($label, undef, $file, $first) = @$sub;
    my $last = $first;
    my $of = $self->{files}{$file} || {};
    for my $line (keys %$of) {
        $last = $line if $line > $last && grep { $self->is_in($_, $label) } @{ $of->{$line} };
    }
    return [$label, $file, $first, $last];
}

sub is_in {
    my ($self, $row, $label) = @_;
    return defined $row->[SUB] && $self->{subs}[ $row->[SUB] ][0] eq $label;
}

# ---- the source ----

# The lines of a file as bytes, and whether it is another than the one that was recorded; nothing if
# it is not there. where: folders that it may be below.
sub source {
    my ($self, $file, @where) = @_;
    for my $path ((map { "$_/$file" } @where), $file) {
        next if !-f $path;
        open my $in, '<:raw', $path or next;
        my $text = do { local $/; <$in> } // '';
        return ([map { s/\r\z//r } split /\n/, $text], $self->is_another($file, $text));
    }
    return;
}

# Is a text another than the source that was recorded? Undef: that is not known.
sub is_another {
    my ($self, $file, $text) = @_;
    my ($size, $crc) = $self->{profile}->line_source($file) or return undef;
    require Compress::Raw::Zlib;
    return $size != length $text || $crc != Compress::Raw::Zlib::crc32($text) ? 1 : 0;
}

# Sums of a line, or of what one sub has of it: count, self, inclusive; none where nothing is known.
sub cost {
    my ($self, $file, $line, $label) = @_;
    my @rows = @{ $self->{files}{$file}{$line} || [] };
    @rows = grep { $self->is_in($_, $label) } @rows if defined $label;
    return if !@rows;
    my @sum = (0, 0, 0);
    for my $row (@rows) { $sum[$_] += $row->[ COUNT + $_ ] for 0 .. 2 }
    return @sum;
}

# The calls from a line: [label, calls, inclusive] each, the longest first.
sub calls {
    my ($self, $file, $line) = @_;
    my %of;
    for my $call (map { @{ $_->[TO] } } @{ $self->{files}{$file}{$line} || [] }) {
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

Devel::DProf::Lines - what lines of source cost

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

What a user means by a word: a list of [label or undef, file, first line, last line or undef]. A
file goes by its name or the end of that, a sub by its label or the end of that.

=item source FILE, FOLDER, ...

The lines of a file, without their ends, and whether the file is another than the one that was
recorded (undef: that is not known). An empty list if it is not there. The file is looked for below
the FOLDERs first.

=item cost FILE, LINE [, LABEL]

How often the statements of a line ran, their own cost, and that with the subs that they call:
ticks, or what the counter counts. With a LABEL, of the statements of that sub. An empty list if
there are none.

=item calls FILE, LINE

The calls from a line: [label, calls, inclusive cost] each, the longest first.

=item is_another FILE, TEXT

=item range SUB, is_in ROW, LABEL

Parts of the above.

=back

=cut
