package Proof;

# Shared by the long proofs: builds the module for a perl, and checks whether a profile is in order.

use strict;
use warnings;
use Config;
use Cwd 'abs_path';
use Exporter 'import';
use File::Basename 'dirname';
use File::Copy 'copy';
use File::Path 'make_path';

my $TOP;
BEGIN { $TOP = abs_path(dirname(__FILE__) . '/../..') }
use lib "$TOP/blib/lib", "$TOP/blib/arch", "$TOP/t/lib";
use StrictProfile;
use Devel::DProf::Profile;

our $STRICT_UP_TO = 200e6;      # bytes; it takes a minute for these

our @EXPORT_OK = qw(module_for flaws modes recording profiles_in);

# With this clock a slice of a second has some hundred marks.
our $CUTS = 'slice=1,clock=counting:1000000,spool-limit=0';

# Returns the modes that --mode names. further: those that the script takes beside trace and tree.
sub modes {
    my ($wish, @further) = @_;
    return qw(trace tree) if $wish eq 'both';
    my @known = ('trace', 'tree', @further);
    die '--mode: it is ' . join(', ', @known) . " or both\n" unless grep { $_ eq $wish } @known;
    return $wish;
}

# The options of a recording in this mode, with further ones. Each process has its own name: perls
# that a program starts write beside each other.
sub recording {
    my ($mode, $box, $more) = @_;
    my @how = $mode eq 'slices' ? ($CUTS, "spool=$box/tmon.spool")
        : ($mode eq 'samples' ? 'sample=5000' : "mode=$mode", "out=$box/tmon.%p");
    return join ',', @how, $more // ();
}

# Returns what recordings have left in a folder.
sub profiles_in {
    my ($box) = @_;
    return grep { -f && !/\.live\z/ } glob "$box/tmon.* $box/tmon.spool/*";
}

# Makes a folder under $work with the module built for this perl, .pm and .so together: with two
# folders XSLoader falls back to DynaLoader, Config and more, and the tests see those. With $define,
# or a perl other than this one, a copy of the tree is built there.
sub module_for {
    my ($perl, $work, $define) = @_;
    my $to = "$work/inc";
    make_path("$to/Devel", "$to/auto/Devel/DProf");
    my $debugging = qx("$perl" -e 'print join q( ), Internals::V()') =~ /\bDEBUGGING\b/
        ? '-DDEBUGGING' : '';
    my $blib = "$TOP/blib";
    if (abs_path($perl) ne abs_path($^X) || $define) {
        $blib = "$work/build/blib";
        my $flags = join ' ', '-g -O2', $debugging || (), $define || ();
        system("mkdir -p $work/build && cd $TOP && git ls-files -z | xargs -0 cp --parents -t "
            . "$work/build && cd $work/build"
             . " && { '$perl' Makefile.PL OPTIMIZE='$flags' && make; } >$work/build.log 2>&1") == 0
            or die "the module cannot be built for $perl, see $work/build.log\n";
    }
    my $so = "auto/Devel/DProf/DProf.$Config{dlext}";
    copy("$blib/lib/Devel/DProf.pm", "$to/Devel/DProf.pm")
        or die "run make first: $blib/lib/Devel/DProf.pm: $!\n";
    copy("$blib/arch/$so", "$to/$so") or die "run make first: $blib/arch/$so: $!\n";
    return $to;
}

# Returns what is wrong with a profile, by the strict reader and by the tools' own. An empty one is
# that of a process that was killed while it made the file; the caller knows whether that can be.
# One that was cut short by the end of its process may end anywhere, but the tools' own must still
# read it.
sub flaws {
    my ($path, $about) = @_;
    $about //= {};
    if (-z $path) {
        $about->{empty} = 1;
        return;
    }
    my $profile = Devel::DProf::Profile->new;
    my $code = $profile->add($path);
    my $outcome = $profile->outcome(0);
    my $cut = $code == Devel::DProf::Profile::TRUNCATED;
    $about->{cut} = 1 if $cut;
    return 'dprofpp: ' . ($outcome->{message} // "code $code") if $code && !$cut;
    return if -s $path > $STRICT_UP_TO;
    my $plain = unpacked($path);
    my @wrong = StrictProfile::problems($plain, $about);
    unlink $plain if $plain ne $path;
    return $cut && !$about->{header}{dprof_complete} ? () : @wrong;
}

# Returns the file itself, or a copy of it without gzip.
sub unpacked {
    my ($path) = @_;
    open my $in, '<:raw', $path or return $path;
    read $in, my $magic, 2;
    return $path if $magic ne "\x1f\x8b";
    require IO::Uncompress::Gunzip;
    IO::Uncompress::Gunzip::gunzip($path => "$path.unpacked", MultiStream => 1) or return $path;
    return "$path.unpacked";
}

1;
