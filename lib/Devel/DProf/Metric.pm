package Devel::DProf::Metric;

# What is counted: a kind of time, calls, or a counter of profiles. Only this module turns a word
# into a metric.

use strict;
use warnings;

use Devel::DProf::Constants qw(words_of time_words metric_is_time metric_text
                               DP_T_CPU DP_M_CALLS DP_M_COUNTER);

our $VERSION = $Devel::DProf::Core::VERSION;

my %NUMBER = (words_of('metric'), 'user+system' => DP_T_CPU);
delete $NUMBER{counter};        # a counter has its own name

# perf's: cycles:u, cpu/event=1/u.
my $MODIFIERS = qr{(?::|(?<=/))[ukhGHIpPSDWebRX]+\z};
# An event of a PMU with its terms, whose commas separate no metrics: cpu/event=0x3c,umask=1/u.
our $EVENT = qr{[A-Za-z][^\s<>=,&/]*/[^/>]+/\w*};
# The form of a word.
our $WORD = qr{$EVENT|[A-Za-z][\w.+%-]*(?::[\w.+%-]+)*(?:_\([^()]*\))?};

# ---- words ----

# Returns the metric of a word that means the same in all profiles (cpu, calls ...), or undef: the
# word may be the name of a counter.
sub known {
    my ($class, $word) = @_;
    my $number = $NUMBER{$word} // return undef;
    my $is_time = metric_is_time($number);
    return bless { name => $word, number => $number, counters => [],
        label => metric_text($number), unit => $is_time ? 's' : $word }, $class;
}

sub is_time_word {
    my ($word) = @_;
    return metric_is_time($NUMBER{$word} // DP_M_COUNTER);
}

# Returns the metric that a word means in these profiles, or undef if no profile has it. If the unit
# of the profiles is no time, the name of that unit is also a word for their values.
sub of {
    my ($class, $word, @profiles) = @_;
    my $unit = $profiles[0]->unit;
    $word = 'real' if is_time_word($word) && !grep { !$_->has_real_time_alone } @profiles;
    my $self = $class->known($unit ne 's' && length $unit && $word eq $unit ? 'cpu' : $word);
    return $class->counter_of($word, @profiles) if !$self;
    # Only their maker knows what folded stacks count.
    @$self{qw(label unit)} = (length $unit ? $unit : 'counts of folded stacks', $unit)
        if $self->is_time && $unit ne 's';
    return $self;
}

# Returns the counter that the user's word means in these profiles, as a metric, or undef if no
# profile has it. The profiles may have the counter in different columns, or lack it.
sub counter_of {
    my ($class, $word, @profiles) = @_;
    my @lists = map { [$_->counters] } @profiles;
    my $name = named($word, map { name_of($_) } map { @$_ } @lists)
        // with_unit($word, map { @$_ } @lists) // return undef;
    my @counters = map { my $list = $_;
        [grep { name_of($list->[$_]) eq $name } 0 .. $#$list]->[0] } @lists;
    my ($unit) = map { /\A\Q$name\E:([^:]*)\z/ ? $1 : () } @{ $lists[0] };
    $unit //= '';
    my $says_unit = !length $unit || $unit eq 'events' || index(lc $name, lc $unit) >= 0;
    my $is_exact = repeats($name)
        || $name =~ /\A(?:live-)?values\z/ && !grep { !counts_each_value(@$_) } @lists;
    return bless { name => $name, number => DP_M_COUNTER, counters => \@counters, unit => $unit,
        is_exact => $is_exact ? 1 : 0,
        label => $says_unit ? $name : "$name in $unit" }, $class;
}

# Returns the name of a counter NAME:UNIT. The unit comes after the last colon: cycles:u:cycles is
# cycles:u.
sub name_of { return $_[0] =~ s/:[^:]*\z//r }

# Returns the counter that a word means, or undef. The word is the counter's name, or that name
# without perf's modifiers (cycles for cycles:u) if only one counter matches. kmem does not mean
# kmem:kfree.
sub named {
    my ($word, @names) = @_;
    my ($exact) = grep { $_ eq $word } @names;
    return $exact if defined $exact || !length $word;
    my %like = map { $_ => 1 } grep { length && s/$MODIFIERS//r eq $word } @names;
    return keys %like == 1 ? (keys %like)[0] : undef;
}

# Returns the name of the counter that a word NAME_(UNIT) means, or undef. Files of other tools name
# their counters in this way: Memory_(bytes).
sub with_unit {
    my ($word, @counters) = @_;
    my ($name, $unit) = $word =~ /\A(.+)_\(([^()]+)\)\z/s or return undef;
    my ($found) = grep { $_ eq "$name:$unit" } @counters;
    return defined $found ? $name : undef;
}

# Splits a list of metrics into words; a comma between slashes does not separate.
sub words {
    my ($list) = @_;
    my @words = ('');
    for my $piece ($list =~ m{\G($EVENT|[^,]+|,)}g) {
        if ($piece eq ',') { push @words, '' }
        else { $words[-1] .= $piece }
    }
    return @words;
}

# Returns the metrics that always exist, as the help lists them.
sub for_help {
    my (undef, @times) = time_words();
    return ['cpu (user+system, the default)', @times, 'calls', 'ops'];
}

# Returns the end of a message that a profile lacks a metric: how to record the metric, or which
# existing metric may have been meant.
sub hint {
    my ($word, @known) = @_;
    return '; trees have ops: record with -d:DProf=tree' if $word eq 'ops';
    require Devel::DProf::Text;
    my $meant = Devel::DProf::Text::meant($word, @known);
    return length $meant ? "; $meant" : '';
}

# Returns the two lines of the message about a word that no profile has. WORDS: those that they
# have. WHY: what is wrong, in place of "there is no metric". HAVE: the second line, who has what.
sub missing {
    my ($word, $words, $why, $have) = @_;
    my $wrong = defined $why ? "$word: $why" : "there is no metric $word";
    return ($wrong . hint($word, @$words), $have);
}

# ---- the metric ----

sub name { return $_[0]{name} }
sub number { return $_[0]{number} }
sub label { return $_[0]{label} }
sub unit { return $_[0]{unit} }

# Returns the number of the counter in each of the profiles that the metric was made for, undef for
# a profile that lacks it.
sub counters { return @{ $_[0]{counters} } }

sub counter { return $_[0]{counters}[0] }

sub is_time { return metric_is_time($_[0]{number}) }
sub is_calls { return $_[0]{number} == DP_M_CALLS }
sub is_counter { return $_[0]{number} == DP_M_COUNTER }

# Returns whether a counter of this name has the same values in each run with the same hash seed.
sub repeats { return $_[0] =~ /^(?:ops|svs|svs-freed)\z/ }

# Returns whether a profile with these counters has each of perl's values (heap=exact), so that
# their numbers repeat like ops. heap=sample has live-values, too, but from samples. Bytes depend on
# what malloc has at hand.
sub counts_each_value { return scalar grep { name_of($_) eq 'values' } @_ }

# Returns whether the metric has the same values in each run, so that a single run decides.
sub is_exact { return $_[0]->is_calls || $_[0]{is_exact} || repeats($_[0]{name}) ? 1 : 0 }

# Returns the total of the one profile that the metric was made for: ticks, calls, or a counter's
# unit.
sub total {
    my ($self, $profile) = @_;
    return $self->is_counter ? $profile->counted($self->counter)
        : $self->is_calls ? $profile->calls : $profile->total($self->number);
}

# Returns the options, as pairs, with which Devel::DProf::Profile::rows has the values of this
# metric. Calls are a column of all rows.
sub for_rows {
    my ($self) = @_;
    return $self->is_counter ? (counter => $self->counter + 1)
        : (time => $self->is_calls ? DP_T_CPU : $self->number);
}

# Returns the reasons in the headers of files to doubt a counter's numbers, as lines. of: the name
# of the files in these lines.
sub doubts {
    my ($self, $of, @headers) = @_;
    return if !$self->is_counter;
    my $name = $self->name;
    my ($least, $lost) = (100, 0);
    for my $header (@headers) {
        my @names = map { name_of($_) } split ' ', $header->{dprof_counters} // '';
        my @shares = split ' ', $header->{dprof_shares} // '';
        my $share = qr/^\d+(?:\.\d+)?\z/;
        for (grep { $names[$_] eq $name && ($shares[$_] // '') =~ $share } 0 .. $#names) {
            $least = $shares[$_] if $shares[$_] < $least;
        }
        $lost ||= $header->{dprof_events_lost} && $name !~ /^(?:ops|(?:svs|bytes)(?:-freed)?)\z/;
    }
    return (
        $least < 99.95 ? sprintf('%s: %s was counted %.1f %% of the time; its numbers are '
            . 'estimates', $of, $name, $least) : (),
        $lost ? "$of: $name was not counted to the end: the program closed its counter" : (),
    );
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Metric - what is counted

=head1 SYNOPSIS

    my $metric = $profile->metric('cycles') or die 'there is no such counter';
    print $metric->label, ': ', $metric->total($profile), "\n";
    my @rows = $profile->rows({ $metric->for_rows });

=head1 DESCRIPTION

A metric is a kind of time, the number of calls, or a counter. No other module turns the word that a
user types into one: the same word means the same in all tools. A metric does not change. It is
internal to this distribution.

=head1 CONSTRUCTORS

=over

=item of WORD, PROFILE, ...

The metric that a word means in these profiles (L<Devel::DProf::Profile/metric> is the same for one
profile); undef if none of them has it. A word is C<cpu> or C<user+system>, C<user>, C<system>,
C<real>, C<calls>; the unit of the profiles' values, where those are not times; or a counter. The
word for a counter is its name (C<kmem:kfree>), its name without perf's modifiers if only one
counter matches (C<cycles> for C<cycles:u>, C<cpu/event=1/> for C<cpu/event=1/u>), or name and unit
as callgrind files have them (C<Memory_(bytes)>).

=item known WORD

The metric that a word means in every profile. Undef if the word may name a counter, which only a
profile can decide.

=back

=head1 METHODS

=over

=item name, number, label, unit

The name (C<cycles:u>), the number in C (C<DP_METRIC_LIST>), the text of a heading, and the unit:
C<s>, or what is counted; empty if that is unknown.

=item counters, counter

The counter's number in each profile, undef where a profile lacks the counter; its number in the
first profile.

=item is_time, is_calls, is_counter, is_exact

What kind of metric it is; whether its values repeat from run to run.

=item total PROFILE, for_rows

For a metric of one profile: its total; the options with which L<Devel::DProf::Profile/rows> has it.

=item doubts NAME, HEADER, ...

The doubts about the counter's numbers that files' headers (hashes) give rise to, as lines that
begin with NAME.

=back

=head1 FUNCTIONS

=over

=item named WORD, NAME, ...

The one among these names of counters that the word means, or undef.

=item is_time_word WORD

Whether the word is a kind of time.

=item words LIST

The words of a list that are separated by commas. Commas between slashes do not separate.

=item repeats NAME, counts_each_value COUNTER, ...

Whether a counter of that name repeats from run to run.

=item hint WORD, KNOWN, ...

The end of a message that a profile lacks a metric: how to record the metric, or which of the known
metrics may have been meant.

=item for_help

The metrics that always exist, as a reference to a list of texts for the help.

=item counter_of WORD, PROFILE, ..., with_unit WORD, COUNTER, ..., name_of COUNTER

Parts of the above.

=back

=cut
