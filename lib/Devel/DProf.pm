package Devel::DProf;


our $VERSION = '20261120.00';

# Nothing else is loaded: ops that were compiled before the hooks are set go
# unseen, and what we load the program could see.
require XSLoader;
XSLoader::load('Devel::DProf', $VERSION);

my $started;

sub import {
    _start() unless $started++;
    return;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf - a profiler that records every sub's entry and exit

=cut
