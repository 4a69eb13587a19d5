package Unnoticed;

# What xt/faults.pl and xt/limits.pl share: programs, run plain and profiled. Programs under hard
# conditions must print and return what they do without the profiler, and the tools must read what
# is left.

use strict;
use warnings;
use Cwd 'abs_path';
use Exporter 'import';
use File::Basename 'dirname';
use File::Glob ':bsd_glob';
use File::Temp 'tempdir';

my $TOP;
BEGIN { $TOP = abs_path(dirname(__FILE__) . '/../..') }
use lib "$TOP/blib/lib", "$TOP/blib/arch", "$TOP/t/lib";
use DProfTest ();

our @EXPORT = qw(%WAY profiler spew slurp folder run unreadable judge ends);

# Ways of recording, by the options that ask for them.
our %WAY = (
    trace => 'mode=trace', tree => 'tree', compress => 'compress=6', packed => 'tree,compress=6',
    limit => 'limit=3000,buffer=50', events => 'events=?ops+svs', sites => 'tree,callsites=1',
    lines => 'tree,lines', counts => 'tree,lines=count',
);

my @BLIB = ("-I$TOP/blib/lib", "-I$TOP/blib/arch");
my $dir = tempdir('dprof-unnoticed-XXXX', TMPDIR => 1, CLEANUP => 1);
my ($tried, $bad) = (0, 0);
$| = 1;

# Returns perl's switches that record in this way.
sub profiler { my ($options) = @_; return (@BLIB, "-d:DProf=$options") }

sub spew { my ($name, $text) = @_; return DProfTest::spew("$dir/$name", $text) }

# Returns a file's bytes; none where there is no file.
sub slurp { my ($path) = @_; return DProfTest::slurp($path) // '' }

# Makes a folder for programs to run in.
sub folder {
    my ($name) = @_;
    -d "$dir/$name" || mkdir "$dir/$name" or die "$dir/$name: $!\n";
    return "$dir/$name";
}

# Runs perl with these arguments in a folder that is emptied before. Returns its output and status
# as one text, and the profiler's own lines.
sub run {
    my ($where, @args) = @_;
    unlink glob "$where/*";
    my $status = system("cd '$where' && timeout 60 $^X @args"
        . " >'$dir/stdout' 2>'$dir/stderr' </dev/null");
    # This is the D of a line of the profiler, where a file may have one byte.
    my @err = grep { $_ ne 'D' } split /^/, slurp("$dir/stderr");
    return join('', slurp("$dir/stdout"), "status $status\n", grep { !/^DProf: / } @err),
        grep { /^DProf: / } @err;
}

# Returns what is wrong with the profiles in a folder; a FILE.live counts with its file.
sub unreadable {
    my ($where) = @_;
    my @wrong;
    for my $file (grep { !/\.live$/ } map { glob "$where/$_" } qw(tmon.out* *.tree *.part)) {
        my $text = qx{'$^X' @BLIB '$TOP/blib/script/dprofpp' -O 1 '$file' 2>&1};
        push @wrong, "$file cannot be read: $text" if $? > 1 << 8 || $? & 127;
    }
    return @wrong;
}

# Counts a case, and prints what was wrong with it.
sub judge {
    my ($what, @wrong) = @_;
    $tried++;
    $bad++, print "$what: ", map { s/^/  /mgr . "\n" } @wrong if @wrong;
    return;
}

# Prints the last line, and returns the exit status: 1 if something was wrong, or nothing was tried.
sub ends {
    my ($cases) = @_;
    print "$tried $cases, $bad noticed\n";
    return $bad || !$tried ? 1 : 0;
}

1;
