package Devel::DProf::Core;

# Loads the compiled part and nothing else. Devel::DProf itself starts the profiler, so that no tool
# may load it.

use strict;
use warnings;

our $VERSION = '20261120.00';

require XSLoader;

# XSLoader looks for the object relative to its caller's file, which has as many folders above it as
# the caller's package has parts. In blib the object is elsewhere; without a file name that fits,
# XSLoader would load DynaLoader and Config, which is slow.
my $file = __FILE__;
if ($file =~ m{^(.*)/Devel/DProf/Core\.pm\z}s) {
    for my $dir ($1, @INC) {
        next if ref $dir || !grep { -e "$dir/auto/Devel/DProf/DProf.$_" } qw(so bundle dll);
        $file = $dir;
        last;
    }
}
our $Dir = $file;
if (defined &Devel::DProf::_start) {
    # The functions exist already: this program is itself profiled.
} elsif ($file =~ /["\n]/) {
    eval { XSLoader::load('Devel::DProf', $VERSION); 1 } or fail(why_not_loaded($@));
} else {
    eval qq{#line 1 "$file/Devel/DProf/Core.pm"\nXSLoader::load('Devel::DProf', \$VERSION); 1}
        or fail(why_not_loaded($@));
}
fail("Devel::DProf was built for another perl than $^X; install it with this perl, or run the "
    . "tools with the perl that has it\n") if !defined &Devel::DProf::_start;

# Dies with a line, except in a tool, which can still print its manual. Only this failure loads more
# modules.
sub fail {
    my ($why) = @_;
    eval {
        require Devel::DProf::Tool::Unbuilt;
        Devel::DProf::Tool::Unbuilt::stand_in($why =~ s/\n\z//r);
    };
    die $why;
}

# Returns one line that says why the object could not be loaded, without places in XSLoader's code.
sub why_not_loaded {
    my ($error) = @_;
    return 'the compiled part of Devel::DProf is missing; perl Makefile.PL && make builds it, and '
        . "perl -Iblib/lib -Iblib/arch blib/script/TOOL runs a tool with it\n"
        if $error =~ /\ACan't locate loadable object/;
    # perl appends places: " at FILE line N.", and more of them on lines of their own.
    $error =~ s/^[ \t]*at [^\r\n]* line [0-9]+\.?[ \t]*$//mg;
    $error =~ s/^([^\r\n]*) at [^\r\n]* line [0-9]+\.?[ \t]*$/$1/mg;
    $error =~ s/\s+\z//;
    $error =~ s/\s*[\r\n]\s*/; /g;
    return "$error\n";
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Core - the compiled part of Devel::DProf, loaded without starting the profiler

=head1 DESCRIPTION

The tools load this. It starts nothing. If the compiled part cannot be loaded, it dies with a line:

=over

=item fail LINE

Dies with that line. In a tool, L<Devel::DProf::Tool::Unbuilt> exits before that.

=item why_not_loaded ERROR

Returns that line for an error of L<XSLoader>.

=back

=cut
