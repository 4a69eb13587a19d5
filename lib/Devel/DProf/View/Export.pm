package Devel::DProf::View::Export;

# Writes profiles in formats of other tools, for dprofexport and dprofstore push.

use strict;
use warnings;

use Exporter 'import';
use Devel::DProf::Core;
use Devel::DProf::Input ();
use Devel::DProf::Metric;
use Devel::DProf::Text qw(text);
use Devel::DProf::View::Stacks;

our $VERSION = $Devel::DProf::Core::VERSION;
our @EXPORT_OK = qw(stacks metrics part_of nanoseconds pprof);

# Makes the object that reads profiles for a format, a Devel::DProf::View::Stacks. HOW adds options
# of C, and FIELDS fields of the object.
sub stacks {
    my ($opt, $format, $how, %fields) = @_;
    my ($shared, %shared) = Devel::DProf::View::Stacks::settings($opt);
    return Devel::DProf::View::Stacks->new({ %$shared, format => $format->{name}, by_sub => 1,
        by_site => !$format->{no_sites}, %$how }, kind => 'export',
        has_timeline => $format->{timeline}, %shared, %fields);
}

# Returns the words of all metrics of the profiles: times, calls, counters. cpu is user and system
# time.
sub metrics {
    my ($stacks) = @_;
    my %has = map { $_ => 1 } $stacks->has;
    my @counters = grep { !Devel::DProf::Metric->known($_) } $stacks->has;
    return 'cpu' if $stacks->unit ne 's' && !@counters;
    return ((grep { $has{$_} } $stacks->unit eq 's' ? qw(cpu real) : 'cpu', 'calls'), @counters);
}

# Returns a hash of the facts about a profile that formats can hold: name (the script, or else the
# path), pid, tid, and start and duration in nanoseconds. pid or tid is missing if not all files of
# the profile share it.
sub part_of {
    my ($profile) = @_;
    my @headers = map { { $profile->header($_) } } 0 .. $profile->files - 1;
    my %part = (name => text($headers[0]{dprof_script}
        // Devel::DProf::Input::shown_as($profile->outcome(0)->{path})));
    for my $name (qw(pid tid)) {
        my %values = map { ($_->{"dprof_$name"} // 0) => 1 } @headers;
        my ($value, @more) = keys %values;
        $part{$name} = $value if !@more && $value =~ /^\d{1,15}\z/;
    }
    @part{qw(start duration)} = times_of(@headers);
    return \%part;
}

# Returns the start of the first recording, and the time until the last one ended, in nanoseconds.
# If no header gives a start time, the duration is that of the longest recording.
sub times_of {
    my (@headers) = @_;
    my ($start, $end, $longest) = (0, 0, 0);
    for my $header (@headers) {
        my $began = nanoseconds($header->{dprof_start});
        my $took = ($header->{hz} || 0) > 0 && ($header->{rrun_rtime} // '') =~ /^\d{1,18}\z/
            ? int($header->{rrun_rtime} / $header->{hz} * 1e9) : 0;
        $start = $began if $began && (!$start || $began < $start);
        $end = $began + $took if $began && $began + $took > $end;
        $longest = $took if $took > $longest;
    }
    return ($start, $start ? $end - $start : $longest);
}

# Converts decimal seconds with a fraction to nanoseconds, exactly.
sub nanoseconds {
    my ($seconds) = @_;
    my ($whole, $fraction) = ($seconds // '') =~ /^(\d{1,10})(?:\.(\d+))?\z/ or return 0;
    return $whole * 1_000_000_000 + substr(($fraction // '') . '000000000', 0, 9);
}

# Returns the bytes of a pprof file, or undef. A start and a duration in IS replace those of the
# files' headers.
sub pprof {
    my ($paths, %is) = @_;
    my $is_at_end = delete $is{at_end};
    my $format = Devel::DProf::View::Stacks::format_of('tools', 'pprof');
    my $stacks = stacks({ f => 1 }, $format, {});
    $stacks->read(@$paths) or return;
    $stacks->settle(metrics($stacks)) or return;
    my @parts = map { { %{ part_of($_) }, %is } } $stacks->profiles(0);
    for my $part (grep { $is_at_end && $_->{start} } @parts) {
        $part->{start} += $part->{duration};
    }
    my $bytes = '';
    open my $out, '>:raw', \$bytes or die "memory: $!\n";
    my $result = $stacks->print($out, $format->{name}, side => 0,
        parts => \@parts);
    close $out or die "memory: $!\n";
    return $result->{code} || $stacks->failed ? undef : $bytes;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::View::Export - profiles as files of other tools, for dprofexport and receivers

=head1 DESCRIPTION

L<dprofexport> writes such files, and the receivers of L<Devel::DProf::Store::Receiver> get them. It
is internal to this distribution.

=head1 FUNCTIONS

=over

=item stacks OPTIONS, FORMAT, HOW, NAME => VALUE, ...

Returns a L<Devel::DProf::View::Stacks> for a format of another tool.

=item metrics STACKS

Returns the names of all metrics that its profiles have.

=item part_of PROFILE

Returns a hash of what formats can hold about a profile: name (the script, or else the path), pid
and tid, as far as all its files share them, and start and duration in nanoseconds.

=item pprof PATHS, NAME => VALUE, ...

Adds up the files and returns the bytes of one pprof file with all metrics, or undef after a
message. start and duration, in nanoseconds, replace those of the files. With at_end, the time of
the pprof profile is that of its end.

=item nanoseconds SECONDS

Converts decimal seconds with a fraction, exactly.

=back

=cut
