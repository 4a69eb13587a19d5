package Devel::DProf::Tool::Dprofmerge;

# dprofmerge: options, one tree file of many profiles.

use strict;
use warnings;

use Devel::DProf::Input qw(files_of report_outcome usable);
use Devel::DProf::Tool qw(OK FAILED complain saved);
use Devel::DProf::Tool::Options;

our $VERSION = $Devel::DProf::Core::VERSION;

my $TOOL = Devel::DProf::Tool::Options->new(
    name => 'dprofmerge', run => \&merge_names,
    text => <<'END',
dprofmerge [options] profile ...

Makes one profile, a tree file, of many: traces and trees, also gzipped ones and
those of killed processes; folded stacks, and files of NYTProf, pprof,
callgrind, perf and speedscope.

= o|output=s(some)
    -o file       the output (default: standard output)
= z|gzip
    -z            gzipped
= F|force
    -F            tolerates missing entries and exits
= main
    --main        leaves out what ran before the main program
= processes
    --processes   reads all files of each run (tmon.out.PID)
= from=s  run-set=s@
    --from STORE --run-set SET   profiles of a store (dprofstore), in place of files
= unit=s(unit)
    --unit u      what folded stacks count: s, ms, us, ns, calls, samples ...
= counters-only
    --counters-only   a baseline: calls and counters that repeat; no times, no machine
    -V, -h, -H    version, this help, the manual
END
);

sub main { return $TOOL->main(@_) }
sub command { return $TOOL }

# Runs the tool: adds up the named profiles and writes their sum. Returns the exit status.
sub merge_names {
    my ($opt, $given) = @_;
    my @names = @$given || !$opt->{processes} ? @$given : 'tmon.out';
    return $TOOL->usage('name the profiles to merge') if !@names;
    my $out = $opt->{o} // '-';
    return $TOOL->usage('a terminal cannot show the result; use -o FILE, or > FILE')
        if $out eq '-' && -t STDOUT;
    my ($profile, $failed) = sum_files($opt, files_of($opt->{processes}, $opt->{F}, @names));
    return FAILED if !$profile;
    return write_sum($profile, $opt, $out) || $failed;
}

# Reads files and adds them up; a file that cannot be read is left out, after a message. Returns the
# sum, or undef if there is none, and an exit status.
sub sum_files {
    my ($opt, @names) = @_;
    require Devel::DProf::Compare::Baseline if $opt->{'counters-only'};
    my %take = $opt->{'counters-only'} ? (bases => Devel::DProf::Compare::Baseline::bases()) : ();
    my $input = Devel::DProf::Input->new(detail => 1, phases => 1, progress => 1,
        main => $opt->{main}, unit => $opt->{unit}, force => $opt->{F});
    my $failed = OK;
    my ($all, $any) = $input->sum(\%take, sub {
        my ($o, $why) = @_;
        complain("$o->{path}: $why") if defined $why;
        return 1 if !defined $why && !is_unusable($o, $opt);
        complain("$o->{path} is left out");
        $failed = FAILED;
        return 0;
    }, @names);
    complain('The files do not have the same counters; those that one of the files lacks are left '
        . 'out.') if $all->counters_differ;
    return ($any ? $all : undef, $failed);
}

# Prints the messages about a file. Returns true if the file cannot be used.
sub is_unusable {
    my ($o, $opt) = @_;
    return !usable(report_outcome($o, $opt->{F})) if $o->{code};
    return 0 if !$o->{open_count} || $opt->{F};
    complain("$o->{path}: Garbled profile is missing $o->{open_count} exit time stamps; "
        . "-F accepts it");
    return 1;
}

# Writes the sum as a tree file. Returns the exit status.
sub write_sum {
    my ($profile, $opt, $out) = @_;
    my %how = (gzip => $opt->{z} ? 1 : 0);
    %how = (%how, %{ Devel::DProf::Compare::Baseline::written_how($profile, 1) })
        if $opt->{'counters-only'};
    return saved('dprofmerge', $out, sub { $profile->write_tree($_[0], $VERSION, \%how) });
}

1;
