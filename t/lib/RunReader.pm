package RunReader;

# Shared by the tests of processes: reads a run of several files as the tools read it.

use strict;
use warnings;
use Config;
use Exporter 'import';
use File::Glob ':bsd_glob';
use Devel::DProf::Input;
use Devel::DProf::Profile;
use DProfTest;
use LineReader;

our @EXPORT = qw(MODES some_modes calls_of calls_of_run wrong_sums run_files without_numbers
    by_path);

my @lines = defined no_lines() ? ()
    : [lines => { counting(PERL_DPROF_MODE => 'tree', PERL_DPROF_LINES => 'time') }];

# Returns the values of a counter of a profile by path: `main::f;main::g` => number.
sub by_path {
    my ($profile, $metric) = @_;
    my $out = run_tool('dproffold', ['-m', $metric, $profile])->{out};
    return { map { /\A(.*) (\d+)\z/ ? ($1 => $2) : () } split /\n/, $out };
}

# Returns each way of recording, on the counting clock. `limit` is a trace that goes on as a tree.
sub MODES {
    return (
        [trace => { counting() }], [tree => { counting(PERL_DPROF_MODE => 'tree') }], @lines,
        [limit => { counting(PERL_DPROF_LIMIT => 5000, PERL_DPROF_BUFFER => 50) }],
    );
}

# Returns one of the modes for each of many programs, in turn; all modes under EXTENDED_TESTING.
sub some_modes {
    my ($n, @modes) = @_;
    return $ENV{EXTENDED_TESTING} ? @modes : $modes[$n % @modes];
}

# Returns a hash of the calls by name, then the outcomes of reading, of one file or more.
sub calls_of {
    my $profile = Devel::DProf::Profile->new;
    $profile->add($_) for @_;
    my %calls = map { ($_->[0] => $_->[1]) } $profile->rows({ rows => 100_000 });
    return (\%calls, map { $profile->outcome($_) } 0 .. $#_);
}

# Returns what calls_of() does for all files of the run that wrote this one.
sub calls_of_run { return calls_of(Devel::DProf::Input::processes($_[0])) }

# Returns those complete files in which the times of statements do not add up to those of contexts.
sub wrong_sums {
    my ($path) = @_;
    my @wrong;
    for my $file (Devel::DProf::Input::processes($path)) {
        my $text = slurp($file) // '';
        next if $text !~ /\$dprof_lines='time';/ || $text !~ /\$dprof_complete=1;/;
        push @wrong, map { $file =~ s{.*/}{}r . ": $_" }
            LineReader::problems(LineReader::read_text($text));
    }
    return @wrong;
}

# Returns the names of what a run left, without the directory.
sub run_files { return sort map { s{.*/}{}r } glob "$_[0]{dir}/tmon.out*" }

# Replaces process numbers, which differ from run to run, in what runs have printed. Returns the
# runs.
sub without_numbers { s/\b\d{2,}\b/N/g for map { @$_{qw(out err)} } @_; return @_ }

1;
