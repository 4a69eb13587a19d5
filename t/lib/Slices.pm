package Slices;

# Made-up slices of made-up services, as recorders leave them in a spool.

use strict;
use warnings;
use Exporter 'import';
use DProfTest;
use MadeUp;

our @EXPORT = qw(slice_text slice_name add_slice spool_of files_in gunzipped);

# The text of a slice; slices with different n cost differently. All of these have defaults: run,
# pid, tid, slice, start, n, script; g, the calls of main::g; lines, more of them.
sub slice_text {
    my %how = (run => '6b.1.1', pid => 7, tid => 0, slice => 1, start => 1_795_348_800.25, n => 1,
        script => '/srv/web.pl', lines => '', g => 3, @_);
    my $n = $how{n};
    return profile_text(format => 'tree', hz => 1000, times => [60 * $n, 0, 60_000],
        header => "\$dprof_run='$how{run}'; \$dprof_pid=$how{pid}; "
            . "\$dprof_tid=$how{tid}; \$dprof_slice=$how{slice}; \$dprof_start=$how{start}; "
            . "\$dprof_script='$how{script}'; \$dprof_hash_seed='0'; \$dprof_perturb_keys='0';",
        subs => ['main f web.pl:1', 'main g web.pl:2'],
        lines => "= 0 0 0 $n 0 0 0 0\n= 1 1 2 " . 40 * $n . " 0 50 0 0\n= 2 2 $how{g} "
            . 19 * $n . " 0 20 0 0\n$how{lines}");
}

# Returns the name of a slice's file.
sub slice_name {
    my %how = (run => '6b.1.1', pid => 7, tid => 0, slice => 1, @_);
    return "web.pl-$how{run}-$how{pid}-$how{tid}-$how{slice}.tree";
}

# Writes the N-th slice into the spool of a folder, a minute after the one before; returns its path.
sub add_slice {
    my ($folder, $n, @more) = @_;
    my %slice = (slice => $n, n => $n, start => 1_795_348_800.25 + 60 * $n, @more);
    return spew("$folder/spool/" . slice_name(%slice), slice_text(%slice));
}

# Makes a folder with a spool of COUNT slices, and with empty stores of these names. Returns its
# path.
sub spool_of {
    my ($count, @stores) = @_;
    require Devel::DProf::Store;
    my $folder = scratch();
    mkdir "$folder/spool" or die "$folder/spool: $!";
    Devel::DProf::Store::open("dir:$folder/$_")->init for @stores;
    add_slice($folder, $_) for 1 .. $count;
    return $folder;
}

# Returns the names of all files below a folder, sorted, with those whose names begin with a dot.
sub files_in {
    my ($folder, $below) = @_;
    $below //= '';
    opendir my $in, "$folder/$below" or return;
    return map { -d "$folder/$below$_" ? files_in($folder, "$below$_/") : "$below$_" }
        sort grep { !/\A\.\.?\z/ } readdir $in;
}

# Returns the unpacked text of a file, or undef.
sub gunzipped {
    my ($file) = @_;
    require IO::Uncompress::Gunzip;
    IO::Uncompress::Gunzip::gunzip($file => \my $text) or return undef;
    return $text;
}

1;
