package Devel::DProf::Sample;

use strict;
use warnings;

our $VERSION = '20261120.00';

# Dies with a message about the options of `use Devel::DProf::Sample', at the line of the use.
sub croak_for_use {
    require Carp;
    Carp::croak("use " . __PACKAGE__ . ": $_[0]");
}

# Loads the compiled part. Returns why that failed, or undef.
sub load_core {
    local ($@, $SIG{__DIE__});
    return undef if eval { require Devel::DProf::Core };
    my $why = $@ =~ s/ at \S+ line .*//sr;
    chomp $why;
    return $why;
}

# Starts to sample the program. If the compiled part cannot be loaded, prints a message and returns,
# because a server should start even without its profiler.
sub import {
    my (undef, @options) = @_;
    croak_for_use('options are NAME => VALUE') if @options % 2;
    my %options = (hz => 100, @options);
    my $hz = delete $options{hz};
    croak_for_use('hz must be a whole number of samples a second, from 1 on')
        if ($hz // '') !~ /\A[1-9][0-9]*\z/;
    croak_for_use("$_ has no value") for grep { !defined $options{$_} } sort keys %options;
    my $why = load_core();
    if (defined $why) {
        print STDERR "DProf: $why; the program is not profiled\n";
        return;
    }
    Devel::DProf::_start_late("sample=$hz", map { "$_=$options{$_}" } sort keys %options);
    return;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Sample - a program that takes samples of itself, without -d

=head1 SYNOPSIS

    use Devel::DProf::Sample hz => 100, out => '/tmp/web.%p.out';

    # in a server: a file each minute, loaded but stopped until kill -USR2
    use Devel::DProf::Sample hz => 100, spool => '/var/spool/dprof', slice => 60,
        start => 'no', toggle => 'USR2';

    # in a program that is already running
    require Devel::DProf::Sample;
    Devel::DProf::Sample->import(hz => 1000);

=head1 DESCRIPTION

This module begins to sample the program that loads it, as C<perl -d:DProf=sample=100> does from the
beginning: see L<Devel::DProf/SAMPLING> for what a sample is and what it costs. It is for programs
whose perl cannot be given options: servers that are started by others, scripts of cron, workers of
job queues. The rest of the program needs no change. L<Devel::DProf::Control> stops it, starts it
again and marks phases.

Subs that were compiled before get the profiler's hooks, too, if they can be found through the
symbol table. A sub in a string eval, or in a file that is still being required, can have returned
before its sample is taken, more often than other subs. The line of such a sample is right.

The file is made at once if the main program already runs, and otherwise when the main program
begins. Each process that loads this module makes a recording of its own. If many processes load it
(workers that load the application after the fork), give each a file by C<out =E<gt> 'NAME.%p'>, or
all of them one C<spool>. Children that are forked later belong to the recording of their parent.

Threads that are made later are sampled, too; threads that already run are not. If a thread loads
the module, that thread and those that it makes are sampled. When the thread ends, another one may
begin a recording.

If the program runs under C<-d:DProf>, the module does nothing, and that recording goes on.

=head1 OPTIONS

=over

=item hz => N

Samples a second: a whole number from 1 to 100000. The default is 100.

=item NAME => VALUE

Any other option of L<Devel::DProf/OPTIONS> that has a value: C<out>, C<spool>, C<slice>,
C<compress>, C<start>, C<toggle>, C<signal>, C<checkpoint>, C<only>, C<skip>, C<fork>, C<threads>,
C<contexts>, C<events>. They take precedence over the environment variables PERL_DPROF_NAME.

=back

The module dies if an option is wrong, with a message that names the option. If the compiled part
cannot be loaded, one line on the standard error says so, and the program goes on without a profile.

=head1 SEE ALSO

L<Devel::DProf>, L<Devel::DProf::Control>, L<Plack::Middleware::DProf>,
L<Mojolicious::Plugin::DProf>

=cut
