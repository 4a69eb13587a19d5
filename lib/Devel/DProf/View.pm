package Devel::DProf::View;

# Shared by the tools that print columns: metrics, sort keys, filters, output options.

use strict;
use warnings;

use Exporter 'import';
use Devel::DProf::Constants qw(words_of first_words time_words
                               DP_T_CPU DP_T_USER DP_T_SYSTEM DP_T_REAL
                               DP_K_SUB DP_K_PACKAGE DP_K_SCRIPT DP_K_THREAD
                               DP_F_SHOWN DP_F_PARENT DP_F_CUT);
use Devel::DProf::Profile;

our $VERSION = $Devel::DProf::Core::VERSION;
our @EXPORT_OK = qw(metric_number metric_in is_time_word metrics_for_help key keys_of
                    counter_names counter_named metrics_of counter_repeats counter_label
                    counter_unit counter_hint counter_doubts filters flags nothing_shown medium
                     colour too_large);

our %METRIC = (words_of('metric'), 'user+system' => DP_T_CPU);
delete $METRIC{counter};        # a counter has its own name

# Takes a metric's word; returns undef for a counter's name. (Importing a hash would load
# Exporter::Heavy, too.)
sub metric_number { return $METRIC{ $_[0] } }

# The metric that somebody means, where values of this unit stand in the place of times: they can be
# called by their unit.
sub metric_in {
    my ($unit, $name) = @_;
    return $unit ne 's' && length $unit && $name eq $unit ? 'cpu' : $name;
}

our @KEYS = first_words('key');
# These are perf's words for some.
our %KEY = (words_of('key'), symbol => DP_K_SUB, dso => DP_K_PACKAGE, comm => DP_K_SCRIPT,
    tid => DP_K_THREAD);
our %FORMAT = words_of('format');

# A unique prefix of a key is accepted.
sub key {
    my ($word) = @_;
    my $lower = lc $word;
    return $KEY{$lower} if exists $KEY{$lower};
    my %number = map { $KEY{$_} => 1 } grep { length $lower && index($_, $lower) == 0 } keys %KEY;
    return (keys %number)[0] if keys %number == 1;
    die "Unknown --sort key: `$word'; the keys are " . join(', ', @KEYS) . "\n";
}

# Returns the numbers of a list of keys, each once.
sub keys_of {
    my ($list) = @_;
    my %twice;
    my @keys = grep { !$twice{$_}++ } map { key($_) } split /,/, $list;
    die "-s has no keys\n" if !@keys;
    return @keys;
}

# Returns the metrics that always exist, as the help lists them.
sub metrics_for_help {
    my (undef, @times) = time_words();
    return ['cpu (user+system, the default)', @times, 'calls', 'ops'];
}

# Whether a metric's word is that of a kind of time.
my %is_time_word = ('user+system' => 1, map { $_ => 1 } time_words());
sub is_time_word { return exists $is_time_word{ $_[0] } }

# ---- counters ----

# Returns names by number; empty if a file of the profile lacks the counter. The unit comes after
# the last colon: cycles:u:cycles.
sub counter_names {
    my ($profile) = @_;
    return [map { s/:[^:]*\z//r } $profile->counters];
}

# Returns the counter that a word means: its name, or that without perf's modifiers, cycles for
# cycles:u, if only one counter fits. kmem is no name of kmem:kfree. Undef: none.
sub counter_named {
    my ($word, @names) = @_;
    my ($exact) = grep { $_ eq $word } @names;
    return $exact if defined $exact || !length $word;
    my $modifiers = qr{:[ukhGHIpPSDWebRX]+\z|(?<=/)[a-zA-Z]+\z};
    my %like = map { $_ => 1 } grep { length && s/$modifiers//r eq $word } @names;
    return keys %like == 1 ? (keys %like)[0] : undef;
}

# Splits a list of metrics; commas between slashes do not separate: cpu/event=0x3c,umask=1/,ops.
sub metrics_of {
    my ($list) = @_;
    my @metrics = ('');
    for my $piece ($list =~ m{\G([A-Za-z][^/,]*/[^/]+/\w*|[^,]+|,)}g) {
        if ($piece eq ',') { push @metrics, '' }
        else { $metrics[-1] .= $piece }
    }
    return @metrics;
}

# Behind what says that a profile lacks a counter: how to record it.
sub counter_hint { return $_[0] eq 'ops' ? '; trees have ops: record with -d:DProf=tree' : '' }

# Whether a counter repeats from run to run, with the same hash seed.
sub counter_repeats { return $_[0] =~ /^(?:ops|svs|svs-freed)\z/ }

# Returns a counter's name in a heading: with the unit, unless the name tells it.
sub counter_label {
    my ($profile, $name) = @_;
    my $unit = counter_unit($profile, $name);
    my $is_in_name = !length $unit || $unit eq 'events' || index(lc $name, lc $unit) >= 0;
    return $is_in_name ? $name : "$name in $unit";
}

# Returns a counter's unit; empty if the profile has none.
sub counter_unit {
    my ($profile, $name) = @_;
    my ($unit) = map { /\A\Q$name\E:([^:]*)\z/ ? $1 : () } $profile->counters;
    return $unit // '';
}

# Returns the doubts about a counter's numbers, from the headers of files: lines.
sub counter_doubts {
    my ($name, $of, @headers) = @_;
    my ($least, $lost) = (100, 0);
    for my $header (@headers) {
        my @names = map { s/:[^:]*\z//r } split ' ', $header->{dprof_counters} // '';
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

# ---- filters ----

# Returns lists and patterns of names, as flags() takes them.
sub filters {
    my ($opt, @patterns) = @_;
    return if !grep { defined $opt->{$_} } qw(S d C), @patterns;
    require Devel::DProf::Values;
    my %how;
    for (['S', 'subs'], ['d', 'packages'], ['C', 'scripts']) {
        my ($name, $to) = @$_;
        next if !defined $opt->{$name};
        $how{$to} = { map { $_ => 1 } Devel::DProf::Values::list_of("-$name", $opt->{$name}) };
    }
    for my $name (grep { defined $opt->{$_} } @patterns) {
        my $option = length $name > 1 ? "--$name" : "-$name";
        $how{"re_$name"} = Devel::DProf::Values::pattern($option, $opt->{$name});
    }
    return %how;
}

# Returns the flags of each sub, and of the time outside of all subs, by the filters and patterns.
sub flags {
    my ($how, $profile, $header, $labels) = @_;
    my $n = 0;
    my $script = $header->{dprof_script} // '';
    my $base = $script =~ s{.*/}{}sr;
    my $hidden = $how->{scripts} && !$how->{scripts}{$script} && !$how->{scripts}{$base};
    my @filters = qw(subs packages re_only re_skip re_p re_ignore-callees);
    if (!$hidden && !grep { $how->{$_} } @filters) {
        $how->{shown}++;
        return undef;
    }
    my ($subs, $cut) = @$how{qw(subs re_ignore-callees)};
    my $flags = '';
    my %naming = map { $_ => $how->{$_} } qw(separate autoload);
    for my $sub ($profile->subs(\%naming), ['(program)', '(program)']) {
        my ($own, $package) = @$sub;
        my $label = $labels ? $labels->[$n] // $own : $own;     # as it is shown
        $n++;
        my $shown = !$hidden
            && (!$subs || $subs->{$label} || $subs->{$own} || $subs->{ $own =~ s/\[.*//sr })
            && (!$how->{packages} || $how->{packages}{$package})
            && (!$how->{re_only} || $label =~ $how->{re_only})
            && (!$how->{re_skip} || $label !~ $how->{re_skip});
        $how->{shown} += $shown ? 1 : 0;
        $flags .= chr(($shown ? DP_F_SHOWN : 0)
            | ($how->{re_p} && $label =~ $how->{re_p} ? DP_F_PARENT : 0)
            | ($cut && $label =~ $cut ? DP_F_CUT : 0));
    }
    return $flags;
}

# Returns what is to be said if the filters show nothing at all: after flags() of each profile.
sub nothing_shown {
    my ($how) = @_;
    my %option = (subs => '-S', packages => '-d', scripts => '-C', re_only => '--only',
        re_skip => '--skip');
    my @given = map { $option{$_} } grep { $how->{$_} } qw(subs packages scripts re_only re_skip);
    return undef if !@given || $how->{shown};
    return join(' and ', @given) . ': no sub matches';
}

# Sets format, separator, percentage: those that the tool has.
sub medium {
    my ($opt, $how, @formats) = @_;
    my $format = $opt->{format} // 'text';
    die "--format $format: must be one of " . join(', ', sort @formats) . "\n"
        if !grep { $_ eq $format } @formats;
    $how->{format} = $FORMAT{$format};
    if (length($opt->{t} // '')) {
        die "'.' is the only non valid --field-separator argument\n" if $opt->{t} eq '.';
        $how->{separator} = $opt->{t} =~ s/\\t/\t/gr;
    }
    $how->{quiet} = $opt->{q} ? 1 : 0;
    my $color = $opt->{color} // 'auto';
    die "--color $color: must be auto, always or never\n" if $color !~ /^(?:auto|always|never)\z/;
    $how->{color} = $color;
    my $percentage = $opt->{percentage} // 'absolute';
    die "--percentage $percentage: must be relative or absolute\n"
        if $percentage !~ /^(?:relative|absolute)\z/;
    $how->{relative} = $percentage eq 'relative' ? 1 : 0;
    $how->{title} = $opt->{title} if defined $opt->{title};
    return;
}

sub colour {
    my ($how, $is_terminal) = @_;
    my $auto = $how->{color} eq 'auto' && $is_terminal && !length($ENV{NO_COLOR} // '');
    return $how->{color} eq 'always' || $auto ? 1 : 0;
}

# Adds up the times of the profiles in ticks of the finest of all. Returns a message about the first
# profile that makes a sum too large, or nothing. C checks the same limit, DP_LIMIT_TOTAL, but
# cannot name a file.
sub too_large {
    my ($hz, @profiles) = @_;
    my @sum;
    for my $p (@profiles) {
        for my $time (DP_T_USER, DP_T_SYSTEM, DP_T_REAL) {
            $sum[$time] += $p->total($time) * ($hz / $p->hz);
            next if $sum[$time] <= 2**62 * (1 - 1e-12);
            my $ticks = $p->hz == $hz ? ''
                : ", in the ticks of the other files (\$hz=$hz, not \$hz=" . $p->hz . ')';
            return $p->outcome(0)->{path} . ": the times add up to more than fits$ticks";
        }
    }
    return;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::View - what the tools that print columns share: metrics, keys, filters

=head1 DESCRIPTION

This module provides the options that L<dprofreport> and L<dprofdiff> have in common. It is internal
to this distribution.

=cut
