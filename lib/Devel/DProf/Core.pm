package Devel::DProf::Core;

# Loads the compiled part and nothing else. Devel::DProf itself starts the
# profiler, so no tool may load it.

use strict;
use warnings;

our $VERSION = '20261120.00';

require XSLoader;

# XSLoader looks for the object relative to its caller's file, as if that were
# the module's own; here it is one folder deeper, and in blib elsewhere. Telling it
# a file name saves DynaLoader, which is slow.
my $file = __FILE__;
if ($file =~ m{^(.*)/Devel/DProf/Core\.pm\z}s) {
    for my $dir ($1, @INC) {
        next if ref $dir || !-d "$dir/auto/Devel/DProf";
        $file = $dir;
        last;
    }
}
our $Dir = $file;
if (defined &Devel::DProf::_start) {
    # it is there: the program is profiled itself
} elsif ($file =~ /["\n]/) {
    XSLoader::load('Devel::DProf', $VERSION);
} else {
    eval qq{#line 1 "$file/Devel/DProf.pm"\nXSLoader::load('Devel::DProf', \$VERSION); 1} or die $@;
}
die "Devel::DProf was built for another perl than $^X\n" if !defined &Devel::DProf::_start;

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Core - the compiled part of Devel::DProf, without the profiler

=head1 DESCRIPTION

The tools load this. It starts nothing.

=cut
