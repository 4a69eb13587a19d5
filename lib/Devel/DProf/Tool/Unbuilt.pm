package Devel::DProf::Tool::Unbuilt;

# What a tool does where the compiled part of Devel::DProf cannot be loaded: it prints its manual.

use strict;
use warnings;

our $VERSION = $Devel::DProf::Core::VERSION;

# The options that all tools have, and how much of the manual Pod::Usage prints for them.
my %PRINTED = (map({ $_ => 1 } '-h', '--help'), map({ $_ => 2 } '-H', '--manual'),
    map { $_ => 0 } '-V', '--version');

# Does the work of the running program if this is one of the tools: prints help, manual or version,
# or the reason why the tool cannot do more, and exits. Returns if the program is another one. The
# reason is one line.
sub stand_in {
    my ($why) = @_;
    my ($folder, $name) = $0 =~ m{\A(.*?)(dprof[a-z]*)\z}s or return;
    my @args = @ARGV;
    my ($dashes) = grep { $args[$_] eq '--' } 0 .. $#args;
    $#args = $dashes - 1 if defined $dashes;
    my ($asked) = grep { exists $PRINTED{$_} } @args;
    if ($name eq 'dprof') {
        my ($tool, $more) = grep { /^\w/ } @args;
        $asked //= '-h' if !defined $tool || $tool eq 'help';
        $tool = $more if defined $tool && $tool eq 'help';
        $name = "dprof$tool" if defined $tool && -e "${folder}dprof$tool";
    }
    local $| = 1;
    print "$name version: $VERSION\n" if defined $asked && !$PRINTED{$asked};
    manual("$folder$name", $PRINTED{$asked}) if defined $asked && $PRINTED{$asked};
    print STDERR "$name: $why\n";
    exit(defined $asked ? 0 : 1);
}

# Prints a manual: its synopsis and options (1), or all of it (2).
sub manual {
    my ($file, $part) = @_;
    require Pod::Usage;
    Pod::Usage::pod2usage(-verbose => $part, -noperldoc => 1, -input => $file,
        -output => \*STDOUT, -exitval => 'NOEXIT');
    return;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Tool::Unbuilt - help and manuals of the tools without the compiled part

=head1 DESCRIPTION

The tools need the compiled part of Devel::DProf, for their options, too. Where it was not built, or
was built for another perl, L<Devel::DProf::Core> loads this module. It is internal to this
distribution.

=head1 FUNCTIONS

=over

=item stand_in WHY

If the running program is one of the tools: prints what C<-h>, C<-H> or C<-V> ask for, from the
manual in the command's own file, then WHY on the standard error, and exits with 0. Without one of
these options it prints only WHY, and exits with 1. Returns if the program is another one.

=back

=cut
