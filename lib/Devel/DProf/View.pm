package Devel::DProf::View;

# Shared by the tools that print columns: sort keys, filters, output options.

use strict;
use warnings;

use Exporter 'import';
use Devel::DProf::Constants qw(words_of first_words
                               DP_T_USER DP_T_SYSTEM DP_T_REAL
                               DP_K_SUB DP_K_PACKAGE DP_K_SCRIPT DP_K_THREAD
                               DP_K_SRCLINE
                               DP_F_SHOWN DP_F_PARENT DP_F_CUT);
use Devel::DProf::Profile;
use Devel::DProf::Table;
use Devel::DProf::Text ();

our $VERSION = $Devel::DProf::Core::VERSION;
our @EXPORT_OK = qw(key keys_of filters flags given_filters filters_names shows_name nothing_shown
                    medium colour too_large meant_subs meant_selected folders server_left_out);

our @KEYS = first_words('key');
# Other words for some keys, most of them perf's.
our %KEY = (words_of('key'), line => DP_K_SRCLINE, symbol => DP_K_SUB, dso => DP_K_PACKAGE,
    comm => DP_K_SCRIPT, tid => DP_K_THREAD);

# Returns the number of a --sort key, from its name or a prefix that fits only one key; upper case
# counts as lower case. Dies if there is no such key.
sub key {
    my ($word) = @_;
    my $lower = lc $word;
    return $KEY{$lower} if exists $KEY{$lower};
    my %number = map { $KEY{$_} => 1 } grep { length $lower && index($_, $lower) == 0 } keys %KEY;
    return (keys %number)[0] if keys %number == 1;
    die "Unknown --sort key: `$word'; " . Devel::DProf::Text::instead($lower, @KEYS) . "\n";
}

# Returns the numbers of a list of keys, each once.
sub keys_of {
    my ($list) = @_;
    my %twice;
    my @keys = grep { !$twice{$_}++ } map { key($_) } split /,/, $list;
    die "-s has no keys; for example -s package,sub\n" if !@keys;
    return @keys;
}

# ---- filters ----

# The filters that choose among names, and their options.
my %OPTION_OF = (subs => '-S', packages => '-d', scripts => '-C', re_only => '--only',
    re_skip => '--skip', re_kind => '--kind');

# Returns the filters, lists and patterns of names, that flags() takes, as pairs, from a tool's
# options. PATTERNS: the names of the options that are regular expressions, and kind, whose value is
# a kind of spans.
sub filters {
    my ($opt, @patterns) = @_;
    return if !grep { defined $opt->{$_} } qw(S d C), @patterns;
    require Devel::DProf::OptionValues;
    my %how;
    for (['S', 'subs'], ['d', 'packages'], ['C', 'scripts']) {
        my ($name, $to) = @$_;
        next if !defined $opt->{$name};
        $how{$to} = { map { $_ => 1 }
                Devel::DProf::OptionValues::list_of("-$name", $opt->{$name}) };
    }
    for my $name (grep { defined $opt->{$_} } @patterns) {
        my $option = length $name > 1 ? "--$name" : "-$name";
        $how{"re_$name"} = $name eq 'kind'
            ? Devel::DProf::OptionValues::kind_pattern($how{kind_name} = Devel::DProf::Text::text(
                $opt->{kind})) : Devel::DProf::OptionValues::pattern($option, $opt->{$name});
    }
    return %how;
}

# Returns whether --only, --skip and --kind are among the filters; and whether they show a name.
sub filters_names { return scalar grep { $_[0]{$_} } qw(re_only re_skip re_kind) }

sub shows_name {
    my ($how, $name) = @_;
    my ($only, $skip, $kind) = @$how{qw(re_only re_skip re_kind)};
    return (!$only || $name =~ $only) && (!$skip || $name !~ $skip) && (!$kind || $name =~ $kind);
}

# Returns the options of the filters that were given, in the order of their names in $how.
sub given_filters {
    my ($how) = @_;
    return map { $OPTION_OF{$_} } grep { $how->{$_} }
        qw(subs packages scripts re_only re_skip re_kind);
}

# Returns a string with the flags of each sub, and of the time outside of all subs, that the filters
# $how give them, or undef if they hide nothing. labels: the names that the filters apply to, if
# these are others than the profile's.
sub flags {
    my ($how, $profile, $header, $labels) = @_;
    my $n = 0;
    my $script = $header->{dprof_script} // '';
    my %server = $how->{no_server} ? map { $_ => 1 } $profile->server : ();
    my $base = $script =~ s{.*/}{}sr;
    my $hidden = $how->{scripts} && !$how->{scripts}{$script} && !$how->{scripts}{$base};
    my @filters = qw(subs packages re_p re_ignore-callees);
    if (!$hidden && !%server && !filters_names($how) && !grep { $how->{$_} } @filters) {
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
        my $is_server = %server && $server{$own};
        $how->{server}{$own} = 1 if $is_server;
        my $shown = !$hidden && !$is_server
            && (!$subs || $subs->{$label} || $subs->{$own} || $subs->{ $own =~ s/\[.*//sr })
            && (!$how->{packages} || $how->{packages}{$package})
            && shows_name($how, $label);
        $how->{shown} += $shown ? 1 : 0;
        $flags .= chr(($shown ? DP_F_SHOWN : 0)
            | ($how->{re_p} && $label =~ $how->{re_p} ? DP_F_PARENT : 0)
            | ($cut && $label =~ $cut ? DP_F_CUT : 0));
    }
    return $flags;
}

# Returns how many subs of a server the flags have left out, as text with an end, or nothing.
sub server_left_out {
    my ($how) = @_;
    my $n = keys %{ $how->{server} || {} } or return;
    return $n == 1 ? '1 sub above the application is left out; --all shows it'
        : "$n subs above the application are left out; --all shows them";
}

# Returns the folders of --symfs or --source-dir: LIST has the value of each time that the option
# was given, with commas between folders, or is undef.
sub folders { return map { Devel::DProf::Text::text($_) } map { split /,/ } @{ $_[0] || [] } }

use constant { ALL_SUBS => '; dprofreport lists the subs',
    ALL_SPANS => '; dprofreport -s span lists the spans' };

# Returns a message if the filters show no sub, or undef. flags() must have run for each profile.
sub nothing_shown {
    my ($how) = @_;
    my @given = given_filters($how);
    return undef if !@given || $how->{shown};
    return '-s span: no spans were recorded; -d:DProf=tree,detail=all records them'
        if $how->{re_kind} && !defined $how->{kind_name} && !$how->{subs} && !$how->{packages}
        && !grep { $how->{$_} } qw(scripts re_only re_skip);
    return join(' and ', @given) . ': no ' . ($how->{re_kind} ? 'span' : 'sub') . ' matches';
}

# Returns, for the end of that message, what to type: which sub a single name of -S may have meant,
# as meant_subs() does, or the command that lists what there is.
sub meant_selected {
    my ($how, @profiles) = @_;
    my ($name, @more) = keys %{ $how->{subs} || {} };
    return meant_subs($name, @profiles) if defined $name && !@more;
    return $how->{packages} ? '; dprofreport -s package lists the packages'
        : $how->{scripts} ? '; dprofreport -s script lists the scripts'
        : $how->{re_kind} ? ALL_SPANS : ALL_SUBS;
}

# Returns which subs of profiles an unknown name may mean, as the end of a message. A name without a
# package is compared with the names of subs without theirs.
sub meant_subs {
    my ($word, @profiles) = @_;
    return meant_names($word, map { $_->[0] } map { $_->subs({}) } @profiles);
}

# Returns the same for names that the caller lists.
sub meant_names {
    my ($word, @known) = @_;
    my %names = map { $_ => $_ } @known;
    %names = map { s/.*:://sr => $_ } sort keys %names if $word !~ /::/;
    my $meant = Devel::DProf::Text::question(
        map { $names{$_} } Devel::DProf::Text::near($word, keys %names));
    return length $meant ? "; $meant" : ALL_SUBS;
}

# Sets format, separator, quiet, relative (of --percentage) and title in $how from a tool's options,
# and checks --color. Dies with what is wrong.
sub medium {
    my ($opt, $how, @formats) = @_;
    $how->{format} = Devel::DProf::Table::format_of($opt->{format}, undef, @formats);
    if (length($opt->{t} // '')) {
        die "'.' is the only non valid --field-separator argument\n" if $opt->{t} eq '.';
        $how->{separator} = $opt->{t} =~ s/\\t/\t/gr;
    }
    $how->{quiet} = $opt->{q} ? 1 : 0;
    my $color = $opt->{color} // 'auto';
    die "--color $color: must be auto, always or never\n" if $color !~ /^(?:auto|always|never)\z/;
    my $percentage = $opt->{percentage} // 'absolute';
    die "--percentage $percentage: must be relative or absolute\n"
        if $percentage !~ /^(?:relative|absolute)\z/;
    $how->{relative} = $percentage eq 'relative' ? 1 : 0;
    $how->{title} = $opt->{title} if defined $opt->{title};
    return;
}

# Returns whether the text has colours.
sub colour {
    my ($opt, $is_terminal) = @_;
    my $color = $opt->{color} // 'auto';
    my $auto = $color eq 'auto' && $is_terminal && !length($ENV{NO_COLOR} // '');
    return $color eq 'always' || $auto ? 1 : 0;
}

# Adds up the times of the profiles in ticks of the finest rate. Returns a message about the first
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
