package Devel::DProf::Store::RunSet;

# Parses and applies conditions on the profiles of a store: service=web version=1.3 since=1h.

use strict;
use warnings;

use Time::Local ();
use Devel::DProf::Core;
use Devel::DProf::Text qw(unknown);

our $VERSION = $Devel::DProf::Core::VERSION;

my @GLOBS = qw(service version host env);
my @TIMES = qw(since until at older);
# The words that are no condition on a single profile.
my @OTHERS = qw(warm limit);

# The first WARM seconds of a process are not compared, and not merged with later ones. In the place
# of a slice's number, a merged profile has COLD if it is of such seconds, and WARMED if not.
use constant { WARM => 120, COLD => 1, WARMED => 2 };
my %TIME = map { $_ => 1 } @TIMES;
my %SECONDS = (s => 1, m => 60, h => 3600, d => 86400, w => 7 * 86400);

# ---- words ----

# Returns the conditions of a run-set as a hash. text: words KEY=VALUE with blanks between them;
# VALUE may be quoted. now: the time that durations refer to. Dies with a message about the first
# mistake.
sub parse {
    my ($text, $now) = @_;
    $now //= time;
    my %set;
    my $value_at = qr/"(?:[^"\\]|\\.)*"(?!\S)|[^\s"]\S*|(?!\S)/;
    while ($text =~ /\G\s*(?!\s)([^\s=]++)(?:=($value_at)|(?!=))/gc) {
        my ($key, $value) = ($1, $2);
        die "$key: a run-set has words such as service=web; " . allowed_keys() . "\n"
            if !defined $value || !length $value;
        die unknown('condition', $key, keys_of_sets()) . "\n" if !is_key($key);
        die "$key is given twice\n" if exists $set{$key};
        $value =~ s/\A"(.*)"\z/$1/s and $value =~ s/\\(["\\])/$1/g;
        $set{$key} = value_of($key, $value, $now);
    }
    if ($text =~ /\G\s*(\S.*)/gcs) {
        my $rest = $1;
        die "$rest: a run-set has words such as service=web; " . allowed_keys() . "\n"
            if $rest =~ /\A=/;
        die "$rest: a quote is not closed, or no blank follows it; write service=\"my shop\"\n";
    }
    return \%set;
}

# Returns the keys that conditions can have.
sub keys_of_sets { return (@GLOBS, @TIMES, @OTHERS) }

sub is_key {
    my ($key) = @_;
    return scalar grep { $_ eq $key } keys_of_sets();
}

# Returns the end of a message: the keys that conditions can have.
sub allowed_keys { return 'there are ' . join(', ', keys_of_sets()) }

# Returns the value of a condition as the stores use it: a time in seconds since 1970, a number, or
# the text.
sub value_of {
    my ($key, $value, $now) = @_;
    return time_of($key, $value, $now) if $TIME{$key};
    return warm_seconds($value) if $key eq 'warm';
    return $value if $key ne 'limit';
    $value =~ /\A[1-9]\d{0,8}\z/ or die "limit=$value: must be a positive number\n";
    return $value + 0;
}

# Returns the seconds of warm=: so much of the beginning of each process is left out. Dies if the
# text is no time.
sub warm_seconds {
    my ($value) = @_;
    return 0 if $value eq '0';
    return duration($value) // die "warm=$value: must be a time, such as 90s or 2m, or 0\n";
}

# Returns the seconds since 1970 of a point in time, given as a date, or as a duration before now.
sub time_of {
    my ($key, $value, $now) = @_;
    my $seconds = duration($value);
    return $now - $seconds if defined $seconds;
    my $time = date_of($value);
    return $time if defined $time;
    die "$key=$value: must be a time, such as 90s, 5m, 1h, 7d (ago), or 2026-11-22, "
        . "2026-11-22T10:00, 2026-11-22T10:00:30Z\n";
}

# Returns the seconds of a duration such as 90s or 5m, or undef.
sub duration {
    my ($text) = @_;
    my ($number, $unit) = $text =~ /\A(\d{1,9}(?:\.\d{1,6})?)([smhdw])\z/ or return undef;
    return $number * $SECONDS{$unit};
}

# Returns the seconds since 1970 of a date, or undef. A date without Z is a local time.
sub date_of {
    my ($text) = @_;
    my ($year, $month, $day, $hour, $minute, $second, $zone)
        = $text =~ /\A(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d))?)?(Z?)\z/ or return undef;
    my @at = ($second // 0, $minute // 0, $hour // 0, $day, $month - 1, $year);
    return eval { $zone ? Time::Local::timegm(@at) : Time::Local::timelocal(@at) };
}

# ---- matching ----

# Returns a glob as the text of a regular expression that perl and RE2 read in the same way.
sub pattern {
    my ($glob) = @_;
    my $re = '';
    for ($glob) {
        pos = 0;
        while (pos() < length) {
            if (/\G\*+/gc) { $re .= '.*' }
            elsif (/\G\?/gc) { $re .= '.' }
            elsif (/\G\[([!^]?)(\]?[^\]\\]+)\]/gc) { $re .= character_class($1, $2) }
            elsif (/\G\\?(.)/gcs) { $re .= quote_character($1) }
        }
    }
    return "(?s)\\A$re\\z";
}

# Returns the text of a character class. A range with its end before its beginning matches nothing,
# and is no error.
sub character_class {
    my ($not, $chars) = @_;
    my @parts;
    while ($chars =~ /\G(.)(?:-(.))?/gs) {
        my ($from, $to) = ($1, $2);
        next if defined $to && $to lt $from;
        push @parts, quote_character($from) . (defined $to ? '-' . quote_character($to) : '');
    }
    return @parts ? '[' . ($not ? '^' : '') . join('', @parts) . ']' : $not ? '.' : '[^\x00-\xff]';
}

# Returns a character as the text of a regular expression that matches only that.
sub quote_character { return $_[0] =~ s/([\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e])/\\$1/r }

# Returns a sub that returns whether a profile meets all conditions of a run-set but the limit.
sub matcher {
    my ($set) = @_;
    my @globs = map { my $re = pattern($set->{$_}); [$_, qr/$re/] }
        grep { exists $set->{$_} } @GLOBS;
    my ($since, $until, $older, $at) = @$set{qw(since until older at)};
    return sub {
        my ($profile) = @_;
        for my $glob (@globs) {
            return 0 if ($profile->{ $glob->[0] } // '') !~ $glob->[1];
        }
        my $start = $profile->{start};
        return 0 if defined $since && $start < $since || defined $until && $start >= $until
            || defined $older && $start >= $older;
        return 1 if !defined $at;
        return $start <= $at && $at < $start + ($profile->{seconds} || 1) ? 1 : 0;
    };
}

# Returns the profiles without the slices that processes began in their first seconds: those of
# warm=, or SECONDS. If no process has a second slice, the first slices are whole runs, and stay.
sub warmed {
    my ($set, $seconds, @profiles) = @_;
    $seconds = $set->{warm} // $seconds;
    return @profiles if !$seconds || !grep { slice_of($_) > 1 } @profiles;
    # The last slice of a process may be shorter than the others.
    my %longest;
    for my $p (@profiles) {
        my $process = process_of($p);
        $longest{$process} = $p->{seconds} if ($p->{seconds} || 0) > ($longest{$process} // 0);
    }
    return grep {
        my $slice = slice_of($_);
        my $began = is_merged($_) ? ($slice == COLD ? 0 : $seconds)
            : ($slice - 1) * ($longest{ process_of($_) } || 60);
        !$slice || $began >= $seconds;
    } @profiles;
}

# Returns the number of a slice, or COLD or WARMED of merged slices, or 0 if the profile is no
# slice.
sub slice_of {
    my ($profile) = @_;
    return $profile->{run} =~ /\A(?!md5\.).*-\d+-\d+-(\d+)\z/s ? $1 : 0;
}

sub is_merged { return $_[0]{run} =~ /\Amerged\./ ? 1 : 0 }

# Returns what the identities of all slices of a process share.
sub process_of { return $_[0]{run} =~ s/-\d+\z//r }

# Returns COLD or WARMED for a slice of a spool (Devel::DProf::Store::Spool::identify), or 0: only
# slices of the same kind are merged.
sub kind_of_slice {
    my ($profile) = @_;
    my $slice = slice_of($profile) or return 0;
    return ($slice - 1) * ($profile->{seconds_of_slice} || 60) < WARM ? COLD : WARMED;
}

# Returns profiles sorted by start, and only the latest ones if the run-set has a limit.
sub in_order {
    my ($set, @profiles) = @_;
    @profiles = sort { $a->{start} <=> $b->{start} || $a->{run} cmp $b->{run} } @profiles;
    my $limit = $set->{limit} // return @profiles;
    return @profiles > $limit ? @profiles[-$limit .. -1] : @profiles;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Store::RunSet - conditions on the profiles of a store

=head1 SYNOPSIS

    my $set = Devel::DProf::Store::RunSet::parse('service=web version=1.* since=1h');
    my $is_in = Devel::DProf::Store::RunSet::matcher($set);
    my @chosen = Devel::DProf::Store::RunSet::in_order($set, grep { $is_in->($_) } @profiles);

=head1 DESCRIPTION

A run-set has words C<key=value>, which must all hold. A value with blanks is in double quotes;
there, a backslash precedes a quote or a backslash. L<dprofstore/RUN-SETS> has the meaning of the
words. This module is internal to this distribution.

=head1 FUNCTIONS

=over

=item parse TEXT [, NOW]

Returns a hash with the keys that the text has: service, version, host and env, which are globs in
bytes; since, until, at and older, in seconds since 1970; warm, in seconds; limit, a number. Dies
with a message that names the wrong word and what is allowed. NOW is the time from which C<1h> is
subtracted.

=item warmed SET, SECONDS, PROFILE, ...

Returns the profiles without the slices that processes began in their first seconds. Their number is
that of C<warm=>, or else SECONDS.

=item duration TEXT

Returns the seconds of C<90s>, C<5m>, C<1h>, C<7d> or C<2w>, and undef for anything else.

=item pattern GLOB

Returns the text of a regular expression, for perl and for RE2, that the whole value must match.

=item matcher SET

Returns a sub that takes a profile's hash (L<Devel::DProf::Store/METHODS OF A STORE>) and returns
whether it meets all conditions but limit.

=item in_order SET, PROFILE, ...

Returns the profiles, sorted by start and then by run; with limit, only that many of the latest.

=back

=cut
