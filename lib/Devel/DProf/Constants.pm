package Devel::DProf::Constants;

# The numbers and words that C and Perl share. Each has one list, in src/dprof/.

use strict;
use warnings;

use Devel::DProf::Core;
use Hash::Util ();

our $VERSION = $Devel::DProf::Core::VERSION;

# These functions can be imported, besides constants.
my %function = map { $_ => 1 } qw(words_of all_words_of first_words time_words
    metric_is_time metric_is_counter metric_text options given);

# Makes constants in the package that imports them. A constant has its name in C: DP_TEXT,
# DP_M_COUNTER. An unknown name is an error, before anything runs.
sub import {
    my (undef, @names) = @_;
    my $to = caller;
    for my $name (@names) {
        if ($function{$name}) {
            no strict 'refs';
            *{"${to}::$name"} = \&$name;
        } elsif (!_make($to, $name)) {
            require Carp;
            Carp::croak("there is no constant $name: see the lists in src/dprof/");
        }
    }
    return;
}

# Returns a list's words and their numbers, in pairs: words_of('format') is text => 0, csv => 1 ...
sub words_of { return @{ _words($_[0], 0) } }

# Returns the words alone, in their order.
sub first_words {
    my @pairs = words_of($_[0]);
    return @pairs[grep { $_ % 2 == 0 } 0 .. $#pairs];
}

# Returns the same as words_of(), followed by other words for the same numbers. The other word of a
# metric is its name in a sentence.
sub all_words_of { return @{ _words($_[0], 1) } }

# ---- metrics ----

BEGIN { _make(__PACKAGE__, 'DP_M_COUNTER') }
my %is_time = reverse words_of('time');
# Names in sentences come after the words.
my @metrics = all_words_of('metric');
my %text = reverse splice @metrics, @metrics / 2;

# Returns whether a metric, given by its number, is measured in ticks.
sub metric_is_time { return exists $is_time{ $_[0] } }

# Returns whether a metric, given by its number, is one of a file's counters.
sub metric_is_counter { return $_[0] == DP_M_COUNTER }

# Returns the name of a metric in a sentence ("user+system time"), given its number.
sub metric_text { return $text{ $_[0] } }

# Returns the words of the kinds of time: cpu, user ...
sub time_words { return first_words('time') }

# ---- options ----

my %known;

# Returns the options of a view in C: a hash of exactly the keys that C takes, with undef where
# there is no value. Writing or reading another key of the hash is an error.
sub options {
    my ($view, %how) = @_;
    my %options = map { $_ => undef } @{ $known{$view} //= _keys($view) };
    Hash::Util::lock_keys(%options);
    for my $key (sort keys %how) {
        if (!exists $options{$key}) {
            require Carp;
            Carp::croak("unknown key '$key' for $view");
        }
        $options{$key} = $how{$key};
    }
    return \%options;
}

# Returns, as pairs, those of the options that have values. From now on the options cannot change.
sub given {
    my ($options) = @_;
    Hash::Util::lock_hashref($options);
    return map { defined $options->{$_} ? ($_ => $options->{$_}) : () } keys %$options;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Constants - numbers, words and keys of options that C and Perl share

=head1 DESCRIPTION

This module has the constants of the compiled part, under their names in C, and the words for them
on command lines. It is internal to this distribution.

=cut
