package Devel::DProf;

our $VERSION = '20261120.00';

require XSLoader;
XSLoader::load('Devel::DProf', $VERSION);

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf - a profiler that records every sub's entry and exit

=cut
