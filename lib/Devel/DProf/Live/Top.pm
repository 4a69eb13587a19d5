package Devel::DProf::Live::Top;

# Makes the output of dproftop: rates as a table, or as lines of text in the order and from the row
# that keys have chosen.

use strict;
use warnings;

use Devel::DProf::Live::Rates;
use Devel::DProf::Table;
use Devel::DProf::Text qw(shown plural);
use Devel::DProf::View::Layout qw(aligned middle cut grouped);
use POSIX ();

our $VERSION = $Devel::DProf::Core::VERSION;

# The field by which rows are sorted, for each word of --sort.
my %COLUMN = (
    self => Devel::DProf::Live::Rates::SELF, inclusive => Devel::DProf::Live::Rates::INCL,
    calls => Devel::DProf::Live::Rates::COUNT,
);
my @WIDTHS = (5, 10, 10, 9);
# The number of lines above the rows of a screen.
use constant ABOVE => 4;

my @HELP = split /\n/, <<'END';
Keys of dproftop

  P  T  N      order: by self, by inclusive, by calls (or samples)
  R            reverses the order
  l            lines of source, or subs
  c            full names, before the columns beside them
  up down      scrolls; also j, k, page up, page down, home
  space        updates now
  d  s         the seconds between two updates
  h  ?         this help
  q            ends; the program goes on

%self is the share of the total since the last update. self and incl (with the
called subs) are milliseconds in each second of real time.

Any key goes back.
END

# Makes the object that turns samples into text and obeys keys. FIELDS: rates, delay, sort, reverse,
# rows, lines, full.
sub new {
    my ($class, %fields) = @_;
    die "--sort $fields{sort}: must be self, inclusive or calls\n"
        if !defined $COLUMN{ $fields{sort} };
    return bless { first => 0, note => '', entry => undef, %fields }, $class;
}

# ---- keys ----

my %SORT = (P => 'self', T => 'inclusive', N => 'calls');
my %TOGGLE = (R => 'reverse', l => 'lines', c => 'full', h => 'help', '?' => 'help');
my %SCROLL = (up => -1, k => -1, down => 1, j => 1);

# Obeys a key. Returns "quit" or "sample" if the caller has to do that, else ''.
sub key {
    my ($self, $key) = @_;
    return $self->enter_delay($key) if defined $self->{entry};
    return $self->{help} = '' if $self->{help};
    $self->{note} = '';
    return 'quit' if $key eq 'q';
    return 'sample' if $key eq ' ' || $key eq "\n";
    if ($SORT{$key}) { @$self{qw(sort first)} = ($SORT{$key}, 0) }
    elsif ($TOGGLE{$key}) { $self->{ $TOGGLE{$key} } = !$self->{ $TOGGLE{$key} } }
    elsif ($key eq 'd' || $key eq 's') { $self->{entry} = '' }
    else { $self->scroll($key) }
    return '';
}

# Moves the first row that is shown if the key is one for that.
sub scroll {
    my ($self, $key) = @_;
    my $page = $self->{page} || 1;
    my $by = $SCROLL{$key} // { 'page up' => -$page, 'page down' => $page }->{$key};
    if ($key eq 'home') { $self->{first} = 0 }
    elsif (defined $by) { $self->{first} += $by }
    $self->{first} = 0 if $self->{first} < 0;
    return;
}

# Adds a key to the new interval that the user types, and sets the interval once it is complete.
sub enter_delay {
    my ($self, $key) = @_;
    if ($key =~ /\A[0-9.]\z/ && length $self->{entry} < 8) { $self->{entry} .= $key }
    elsif ($key eq "\x7f" || $key eq "\b") { chop $self->{entry} }
    elsif ($key eq "\n" || $key eq 'escape') {
        my $seconds = $key eq "\n" ? $self->{entry} : '';
        $self->{entry} = undef;
        my $is_number = $seconds =~ /\A(?:[0-9]+\.?[0-9]*|\.[0-9]+)\z/ && $seconds > 0;
        $self->{delay} = $seconds if $is_number;
        $self->{note} = "$seconds: not a number of seconds" if length $seconds && !$is_number;
    }
    return '';
}

sub delay { return $_[0]{delay} }

sub is_help { return $_[0]{help} ? 1 : 0 }

# ---- text ----

# Returns a sample as lines of text: a whole block, or, with a height, one screen. If the width is
# 0, names are not cut.
sub text {
    my ($self, $sample, $width, $height) = @_;
    return map { cut($_, $width) } @HELP if $self->{help};
    my @rows = $self->ordered($sample);
    my $count = $self->{rows} // ($height ? $height : 15);
    if ($height) {
        $count = $height - ABOVE if $count > $height - ABOVE;
        $count = 1 if $count < 1;
        $self->{page} = $count;
        $self->{first} = @rows - $count if $self->{first} > @rows - $count;
        $self->{first} = 0 if $self->{first} < 0;
    }
    my $first = $self->{first};
    my $last = $first + $count > @rows ? $#rows : $first + $count - 1;
    my @shown = @rows[$first .. $last];
    my @lines = ($self->title($sample), $self->summary($sample));
    push @lines, $self->status($sample, scalar @rows, scalar @shown) if $height;
    push @lines, $self->notes($sample) if !$height;
    push @lines, $self->legend(@shown) if !$height && !$self->{explained}++;
    push @lines, $self->lines($sample, $width, @shown);
    return map { $width ? cut($_, $width) : $_ } @lines;
}

# Returns lines that explain the columns of a block. Only the first block has them; a screen has a
# page of help.
sub legend {
    my ($self, @rows) = @_;
    my (undef, $is_counter) = $self->{rates}->label;
    return ('self: the sub alone; incl: with the subs that it calls; %self: its share since the'
        . ' last update' . ($is_counter ? '.' : '; ms/s: milliseconds in each second.'),
        (grep { $_->[3] eq '(program)' } @rows) ? '(program): the code outside all subs.' : ());
}

# Returns the rows of a sample, subs or lines, in the order of --sort.
sub ordered {
    my ($self, $sample) = @_;
    my ($by, $rows) = ($COLUMN{ $self->{sort} }, $sample->{ $self->{lines} ? 'lines' : 'subs' });
    my @rows = sort { $b->[$by] <=> $a->[$by] || $b->[0] <=> $a->[0] || $b->[1] <=> $a->[1]
        || $a->[3] cmp $b->[3] || $a->[4] cmp $b->[4] } @$rows;
    return $self->{reverse} ? reverse @rows : @rows;
}

# Returns the first line: the time of the sample, and the program that is watched.
sub title {
    my ($self, $sample) = @_;
    my $more = $sample->{files} - 1;
    my ($label) = $self->{rates}->label;
    my $clock = POSIX::strftime('%H:%M:%S', localtime $sample->{at});
    my @of = (shown($sample->{path}) . ($more ? ' and ' . plural($more, 'more file') : ''),
        defined $sample->{pid} ? "process $sample->{pid}" : ());
    @of = ("process $sample->{pid}" . ($more ? " and $more more" : ''), 'sampled from outside')
        if $sample->{is_outside};
    return join '  ', 'dproftop', $clock, @of,
        length($sample->{script} // '') ? shown($sample->{script}) : (), "by $label";
}

my %SINCE = (last => 'since the last update', start => 'since the start',
    anew => 'since a new run began');

# Returns the second line: how long the interval of the sample is, and the sums in it.
sub summary {
    my ($self, $sample) = @_;
    my $per = $sample->{seconds};
    return sprintf '%.2f s %s: cpu %.3f s, real %.3f s; %s %s/s', $per, $SINCE{ $sample->{since} },
        @$sample{qw(cpu real)}, number($sample->{count} / $per), count_word($sample);
}

# Returns the word for what a sample counts: calls or samples.
sub count_word { return $_[0]{is_sampled} ? 'samples' : 'calls' }

# Returns the line above a screen's table.
sub status {
    my ($self, $sample, $all, $shown) = @_;
    return "Seconds between two updates ($self->{delay}): $self->{entry}" if defined $self->{entry};
    my @notes = ($self->{note} || (), $self->notes($sample));
    return $notes[0] if @notes;
    my $first = $self->{first};
    return ($shown < $all ? $first + 1 . '-' . ($first + $shown) . ' of ' : '')
        . plural($all, $self->{lines} ? 'line' : 'sub') . " by $self->{sort}"
        . ($self->{reverse} ? ', reversed' : '') . "; updates every $self->{delay} s; h: help";
}

# Returns remarks about a sample, without which the user would misread it.
sub notes {
    my ($self, $sample) = @_;
    return (
        $sample->{since} eq 'anew' ? 'This is a new run: its rates begin anew.' : (),
        $sample->{skipped} ? plural($sample->{skipped}, 'slice was', 'slices were')
            . ' removed before this update, and could not be counted.' : (),
        $self->{lines} && !$sample->{detail} ? 'The profile has no lines: record with'
            . ' -d:DProf=tree,lines or sample=100.' : (),
    );
}

# Returns the rows of a sample as a Devel::DProf::Table: all of them, or as many as --rows allows.
sub whole {
    my ($self, $sample) = @_;
    my @rows = $self->ordered($sample);
    splice @rows, $self->{rows} if defined $self->{rows} && @rows > $self->{rows};
    return $self->table($sample, @rows);
}

# Makes a Devel::DProf::Table of rows. Its first column is the time of the sample, because programs
# read several samples from one file.
sub table {
    my ($self, $sample, @rows) = @_;
    my ($label, $is_counter) = $self->{rates}->label;
    my @heads = ('%self', $is_counter ? ('self/s', 'incl/s') : ('self ms/s', 'incl ms/s'),
        ($self->{lines} && !$sample->{is_sampled} ? 'times' : count_word($sample)) . '/s');
    my $table = Devel::DProf::Table->new(['time', 'time', 1],
        (map { [$_, s/%self/self_pct/r =~ s{/s}{_per_s}r =~ tr/ /_/r] } @heads),
        map { [$_, $_, 1] } $self->{lines} ? qw(line sub) : qw(sub place));
    my $time = POSIX::strftime('%Y-%m-%dT%H:%M:%SZ', gmtime $sample->{at});
    $table->fact('Update', 'look', $self->title($sample));
    $table->fact('Interval', 'interval', $self->summary($sample));
    $table->fact('Note', 'note', $_) for join ' ', $self->notes($sample);
    $table->json($_ => $sample->{$_}) for qw(seconds cpu real count);
    $table->row($time, cells($sample, $_), @$_[3, 4]) for @rows;
    return $table;
}

# Returns rows of the table as lines of text that fit the width.
sub lines {
    my ($self, $sample, $width, @rows) = @_;
    my @texts = map { my (undef, @cells) = @$_; [map { shown($_) } @cells] }
        $self->table($sample, @rows)->texts;
    my @numbers = map { aligned(\@WIDTHS, ' ', splice @$_, 0, scalar @WIDTHS) } @texts;
    my $most = $width || $self->{names_width};
    my @names = $self->names($most && $most - 2 - length $numbers[0], @texts);
    return map { shift(@numbers) . "  $_" } @names;
}

# Returns the numbers of a row, each as [EXACT, TEXT]: share, then own, inclusive and count per
# second.
sub cells {
    my ($sample, $row) = @_;
    my ($self, $incl, $count) = @$row;
    my $per = $sample->{seconds};
    my $share = $sample->{total} ? 100 * $self / $sample->{total} : 0;
    return ([sprintf('%.4f', $share), sprintf '%.1f', $share],
        map({ [sprintf('%.4f', $_ / $per), number($_ / $per)] } $self, $incl),
        [sprintf('%.4f', $count / $per), $count ? number($count / $per) : '-']);
}

# Returns the texts right of the numbers, from [NAME, PLACE] each: two columns that fit the room. If
# a place does not fit, its folders are removed first.
sub names {
    my ($self, $room, @pairs) = @_;
    my ($first, $second) = longest_texts(@pairs);
    return map { sprintf('%-*s  %s', $first > 60 ? 60 : $first, @$_) =~ s/\s+\z//r } @pairs
        if !$room || $self->{full};
    if ($first + 2 + $second > $room && !$self->{lines}) {
        @pairs = map { [$_->[0], $_->[1] =~ s{.*/}{}sr] } @pairs;
        ($first, $second) = longest_texts(@pairs);
    }
    ($first, $second) = share_room($room < 20 ? 20 : $room, $first, $second);
    return map { my ($name, $place) = @$_;
        sprintf('%-*s  %s', $first, middle($name, $first), middle($place, $second)) =~ s/\s+\z//r
    } @pairs;
}

# Returns the lengths of the longest first and the longest second text of pairs.
sub longest_texts {
    my (@pairs) = @_;
    return map { my $i = $_; (sort { $b <=> $a } map { length $_->[$i] } @pairs)[0] } 0, 1;
}

# Returns the widths of two columns that share the room: the second one gets what the first one
# leaves, but at least two fifths of the room if it needs them.
sub share_room {
    my ($room, $first, $second) = @_;
    return ($first, $second) if $first + 2 + $second <= $room;
    my $least = $second < 0.4 * $room ? $second : int(0.4 * $room);
    $second = $room - 2 - $first > $least ? $room - 2 - $first : $least;
    return ($first < $room - 2 - $second ? $first : $room - 2 - $second, $second);
}

# Returns a number as text of at most seven characters.
sub number {
    my ($n) = @_;
    return sprintf '%.1f', $n if $n < 9999.95;
    return grouped(sprintf '%.0f', $n) if $n < 9_999_999.5;
    my ($unit, $size) = $n < 9999.95e6 ? ('M', 1e6) : $n < 9999.95e9 ? ('G', 1e9) : ('T', 1e12);
    return sprintf '%.1f%s', $n / $size, $unit;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Live::Top - the text of dproftop, and its keys

=head1 DESCRIPTION

This module turns rates into lines of text, and handles the keys. It is internal to this
distribution.

=head1 METHODS

=over

=item new NAME => VALUE, ...

The NAMEs are rates, a L<Devel::DProf::Live::Rates>; sort, which is self, inclusive or calls;
reverse, lines, full; rows, or undef; delay, the seconds between two samples. Dies if sort is
another word.

=item text LOOK, WIDTH [, HEIGHT]

Turns the result of L<Devel::DProf::Live::Rates/sample> into lines: a block, or with a HEIGHT one
screen. No line is longer than WIDTH, unless that is 0.

=item whole LOOK

Returns the rows of a sample as a L<Devel::DProf::Table>: all of them, or at most C<rows>.

=item key KEY

Performs the command of a key. Returns C<quit> or C<sample> if the caller has to do that.

=item delay

Returns the seconds between two samples, which a key may have changed.

=item is_help

Returns whether the list of keys is shown.

=back

=cut
