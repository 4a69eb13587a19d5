package Devel::DProf::View;

# What the tools of columns share: metrics, sort keys, filters, output options.

use strict;
use warnings;

use Exporter 'import';
use Devel::DProf::Profile;
use Devel::DProf::Tool qw(list_of pattern);

our $VERSION = $Devel::DProf::Core::VERSION;
our @EXPORT_OK = qw(%METRIC %METRIC_NAME @KEYS %KEY %FORMAT key keys_of counter_names filters flags medium colour few COUNTER);

# As src/dprof.h and src/dp_table.h have them.
our %METRIC = (cpu => 0, 'user+system' => 0, user => 1, system => 2, real => 3, calls => 4);
our %METRIC_NAME = (0 => 'user+system time', 1 => 'user time', 2 => 'system time', 3 => 'real time', 4 => 'calls');
our @KEYS = qw(sub package script pid thread srcline phase caller parent);
our %KEY = (map({ $KEYS[$_] => $_ } 0 .. $#KEYS), symbol => 0, dso => 1, comm => 2, tid => 4);
use constant COUNTER => 16;
use constant { SHOWN => 1, PARENT => 2, CUT => 4 };
our %FORMAT = (text => 0, csv => 1, json => 2, markdown => 3, html => 4, tap => 5, junit => 6, github => 7);

# A unique beginning of a key will do.
sub key {
    my ($word) = @_;
    my $lower = lc $word;
    return $KEY{$lower} if exists $KEY{$lower};
    my %number = map { $KEY{$_} => 1 } grep { length $lower && index($_, $lower) == 0 } keys %KEY;
    return (keys %number)[0] if keys %number == 1;
    die "Unknown --sort key: `$word'; there are " . join(', ', @KEYS) . "\n";
}

# The numbers of a list of keys, each once.
sub keys_of {
    my ($list) = @_;
    my %twice;
    my @keys = grep { !$twice{$_}++ } map { key($_) } split /,/, $list;
    die "-s: no keys\n" if !@keys;
    return @keys;
}

sub counter_names {
    my ($profile) = @_;
    return [map { s/:.*//sr } $profile->counters];
}

# Lists and patterns of names, as flags() takes them.
sub filters {
    my ($opt, @patterns) = @_;
    my %how;
    for (['S', 'subs'], ['d', 'packages'], ['C', 'scripts']) {
        my ($name, $to) = @$_;
        $how{$to} = { map { $_ => 1 } list_of("-$name", $opt->{$name}) } if defined $opt->{$name};
    }
    for my $name (@patterns) {
        $how{"re_$name"} = pattern(length $name > 1 ? "--$name" : "-$name", $opt->{$name}) if defined $opt->{$name};
    }
    return %how;
}

# By sub, and for the time outside of all subs: what the filters and patterns say.
sub flags {
    my ($how, $profile, $header, $labels) = @_;
    my $n = 0;
    my $script = $header->{dprof_script} // '';
    my $hidden = $how->{scripts} && !$how->{scripts}{$script} && !$how->{scripts}{ $script =~ s{.*/}{}sr };
    return undef if !$hidden && !grep { $how->{$_} } qw(subs packages re_only re_skip re_p re_ignore-callees);
    my $flags = '';
    for my $sub ($profile->subs($how), ['(program)', '(program)']) {
        my ($own, $package) = @$sub;
        my $label = $labels ? $labels->[$n] // $own : $own;     # as it is shown
        $n++;
        my $shown = !$hidden
            && (!$how->{subs} || $how->{subs}{$label} || $how->{subs}{$own} || $how->{subs}{ $own =~ s/\[.*//sr })
            && (!$how->{packages} || $how->{packages}{$package})
            && (!$how->{re_only} || $label =~ $how->{re_only})
            && (!$how->{re_skip} || $label !~ $how->{re_skip});
        $flags .= chr(($shown ? SHOWN : 0)
            | ($how->{re_p} && $label =~ $how->{re_p} ? PARENT : 0)
            | ($how->{'re_ignore-callees'} && $label =~ $how->{'re_ignore-callees'} ? CUT : 0));
    }
    return $flags;
}

# Format, separator, percentage: those that the tool knows.
sub medium {
    my ($opt, $how, @formats) = @_;
    my $format = $opt->{format} // 'text';
    die "--format $format: it is one of " . join(', ', sort @formats) . "\n" if !grep { $_ eq $format } @formats;
    $how->{format} = $FORMAT{$format};
    if (length($opt->{t} // '')) {
        die "'.' is the only non valid --field-separator argument\n" if $opt->{t} eq '.';
        $how->{separator} = $opt->{t} =~ s/\\t/\t/gr;
    }
    $how->{quiet} = $opt->{q} ? 1 : 0;
    my $color = $opt->{color} // 'auto';
    die "--color $color: it is auto, always or never\n" if $color !~ /^(?:auto|always|never)\z/;
    $how->{color} = $color;
    my $percentage = $opt->{percentage} // 'absolute';
    die "--percentage $percentage: it is relative or absolute\n" if $percentage !~ /^(?:relative|absolute)\z/;
    $how->{relative} = $percentage eq 'relative' ? 1 : 0;
    $how->{title} = $opt->{title} if defined $opt->{title};
    return;
}

sub colour {
    my ($how, $is_terminal) = @_;
    return $how->{color} eq 'always' || ($how->{color} eq 'auto' && $is_terminal && !length($ENV{NO_COLOR} // '')) ? 1 : 0;
}

# The first three of a list, and how many more there are.
sub few { return @_ > 3 ? (@_[0 .. 2], 'and ' . (@_ - 3) . ' more') : @_ }

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::View - what the tools of columns share

=head1 DESCRIPTION

Options that L<dprofreport> and L<dprofdiff> have in common. Not meant for anybody else.

=cut
