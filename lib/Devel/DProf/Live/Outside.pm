package Devel::DProf::Live::Outside;

# Profiles of processes that are sampled from outside, for dproftop: another process takes the
# samples, and writes the profiles when it is asked for them.

use strict;
use warnings;

use Devel::DProf::Input qw(header_of);
use Devel::DProf::Live::Attach;
use File::Temp ();
use POSIX ();
use Time::HiRes ();

our $VERSION = $Devel::DProf::Core::VERSION;

# Seconds: a request waits for its answer at most so long.
use constant STEP => 0.1;

# Starts a child process that samples the processes PIDS. Dies with the reason if they cannot be
# sampled. HOW: options of Devel::DProf::Live::Attach, and first, the seconds until the first
# report.
sub new {
    my ($class, $pids, %how) = @_;
    my $first = delete $how{first};
    pipe my $requests, my $to or die "$!\n";
    pipe my $from, my $answers or die "$!\n";
    my $pid = fork // die "cannot fork: $!\n";
    if (!$pid) {
        close $_ for $to, $from;
        # The keys of the terminal are dproftop's; it ends the sampler by closing the pipe.
        POSIX::setpgid(0, 0);
        $answers->autoflush;
        eval { serve_requests($requests, $answers, $pids, %how); 1 } or print {$answers} "!$@";
        POSIX::_exit(0);
    }
    close $_ for $requests, $answers;
    $to->autoflush;
    my $self = bless { sampler => $pid, owner => $$, to => $to, from => $from,
        shows_at => Time::HiRes::time() + $first }, $class;
    $self->{dir} = $self->answer;
    return $self;
}

# ---- the sampler ----

# Runs in the child process: takes samples, and answers each byte of a request with a line: whether
# a process still runs, and the names of the profiles, which it has just written. Returns when the
# requests end, and removes the profiles.
sub serve_requests {
    my ($requests, $answers, $pids, %how) = @_;
    my $dir = File::Temp->newdir('dproftop-XXXXXX', TMPDIR => 1);
    my $session = Devel::DProf::Live::Attach->new(%how, step => STEP, out => "$dir/top");
    for my $pid (@$pids) {
        eval { $session->add($pid); 1 }
            or die $@ =~ /\bprocess $pid\b/ ? $@ : "process $pid: $@";
    }
    $session->add_children if $how{children};
    print {$answers} "$dir\0\n";
    for (;;) {
        my $is_left = $session->sample(undef, sub { is_asked($requests, 0) });
        is_asked($requests, undef);
        last if !sysread $requests, my $request, 1;
        my @names = map { s{.*/}{}sr } $session->write_files;
        print {$answers} join(' ', $is_left ? 1 : 0, @names), "\0\n";
    }
    return;
}

# Waits for a request, or for the end of requests, at most this number of seconds. Returns whether
# there is one.
sub is_asked {
    my ($requests, $seconds) = @_;
    vec(my $bits = '', fileno $requests, 1) = 1;
    return select($bits, undef, undef, $seconds) != 0;
}

# ---- dproftop ----

# Returns the next answer of the sampling process, without its end mark. Dies with the reason if
# there is none.
sub answer {
    my ($self) = @_;
    local $/ = "\0\n";
    my $answer = readline $self->{from};
    die $answer =~ s/\A!//r if defined $answer && $answer =~ /\A!/;
    die "the process that takes the samples has been ended\n" if !defined $answer;
    chomp $answer;
    return $answer;
}

# Returns whether a sampled process still runs, then the paths of the profiles up to now.
sub files {
    my ($self) = @_;
    my $wait = $self->{shows_at} - Time::HiRes::time();
    select undef, undef, undef, $wait if $wait > 0;
    local $SIG{PIPE} = 'IGNORE';
    print { $self->{to} } '?';
    my ($is_left, @names) = split ' ', $self->answer;
    my @paths = map { "$self->{dir}/$_" } @names;
    if (!$is_left) {
        # After the end there may be messages about the profiles, which nobody will find there.
        $Devel::DProf::Input::Shown{$_} = 'process ' . { header_of($_) }->{dprof_pid} for @paths;
    }
    return ($is_left, @paths);
}

# Slices are not removed before they are counted, as there are none.
sub skipped { return 0 }

sub DESTROY {
    my ($self) = @_;
    return if $self->{owner} != $$;
    local ($?, $!);
    close $_ for @$self{qw(to from)};
    waitpid $self->{sampler}, 0;
    return;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Live::Outside - profiles of processes that are sampled from outside

=head1 DESCRIPTION

L<dproftop> gets the files of programs without a recorder from this class. A process of its own
takes the samples: it moves to the processors of the programs (see L<dprofattach/How it stays
true>), and drawing a screen must not delay it. The profiles are in a temporary folder, which that
process removes at the end, also after dproftop was killed. It is internal to this distribution.

=head1 METHODS

=over

=item new PIDS, NAME => VALUE, ...

Attaches to the processes of a list. first: the seconds until C<files> returns for the first time.
rate, children, threads, pause: see L<Devel::DProf::Live::Attach>. Dies with one line.

=item files

Returns whether a process still runs, and the paths of profiles that have all samples up to now.

=item skipped

Returns 0, as L<Devel::DProf::Live::Files/skipped> does where no slices are written.

=back

=cut
