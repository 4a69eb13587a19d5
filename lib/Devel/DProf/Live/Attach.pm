package Devel::DProf::Live::Attach;

# A session that samples processes from outside, and writes their profiles.

use strict;
use warnings;

use Devel::DProf::Live::Target;
use Devel::DProf::Write;
use Time::HiRes ();

our $VERSION = $Devel::DProf::Core::VERSION;

use constant STEP => 0.5;        # seconds between two looks at children and threads

# Makes a session that samples processes from outside. HOW: rate, out, step, seconds and spool (for
# slices), children, threads, pause, root.
sub new {
    my ($class, %how) = @_;
    my $self = bless {
        rate => 100, out => 'tmon.out', step => STEP, %how,
        targets => [], ended => [], is_known => {},
        run => random_id(), start => sprintf('%.6f', Time::HiRes::time()), slice => 0,
    }, $class;
    return $self;
}

# Returns a run id of 32 random hexadecimal digits.
sub random_id { return join '', map { sprintf '%08x', int rand 2**32 } 1 .. 4 }

# Attaches to a process. Dies with the reason if that is impossible.
sub add {
    my ($self, $pid) = @_;
    my $target = Devel::DProf::Live::Target->process($pid, %$self{qw(threads pause)});
    $self->{is_known}{$pid} = 1;
    push @{ $self->{targets} }, { pid => $pid, target => $target,
        ppid => Devel::DProf::Live::Target::parent_of($pid) };
    return $target;
}

# Attaches to the children of all sampled processes, and of the process `root'. Children that are no
# perl, or not yet, are tried again at the next call.
sub add_children {
    my ($self) = @_;
    my @roots = ($self->{root} // (), map { $_->{pid} } @{ $self->{targets} });
    my %is_new = map { $_ => 1 } grep { !$self->{is_known}{$_} }
        map { Devel::DProf::Live::Target::children_of($_) } @roots;
    for my $pid (sort { $a <=> $b } keys %is_new) {
        eval { $self->add($pid); 1 } or next;
    }
    return;
}

# Takes samples until the time is over, until STOP returns true, or until all have ended. Returns
# whether processes are left.
sub sample {
    my ($self, $seconds, $stop) = @_;
    my $until = defined $seconds ? Time::HiRes::time() + $seconds : undef;
    my $slice_ends = $self->{seconds} ? Time::HiRes::time() + $self->{seconds} : undef;
    until ($stop->()) {
        my $now = Time::HiRes::time();
        if (defined $slice_ends && $now >= $slice_ends) {
            $self->write_slices;
            $slice_ends += $self->{seconds};
        }
        my ($left) = sort { $a <=> $b } $self->{step}, grep { defined }
            defined $until ? $until - $now : undef,
            defined $slice_ends ? $slice_ends - $now : undef;
        return 1 if defined $until && $until <= $now;
        my @targets = map { $_->{target} } @{ $self->{targets} };
        if (!@targets) { select undef, undef, undef, 0.02 }
        elsif (!Devel::DProf::Live::Target::run(\@targets, $self->{rate}, $left > 0 ? $left : 0)) {
            return 0 if !$self->go_on;
        }
        $self->add_children if $self->{children};
        $_->look_for_threads for $self->{threads} ? map { $_->{target} } @{ $self->{targets} } : ();
        $self->set_aside;
    }
    return scalar grep { Devel::DProf::Live::Target::is_alive($_->{pid}) } @{ $self->{targets} };
}

# Returns whether processes are left to sample after all have seemed to end: some of them may still
# run, as another program after an exec.
sub go_on {
    my ($self) = @_;
    $self->set_aside;
    return 1 if @{ $self->{targets} };
    $self->add_children if $self->{children};
    return @{ $self->{targets} } || $self->{is_open} && $self->{is_open}->();
}

# Moves the processes that have ended from {targets} to {ended}. A process that still runs has
# become another program by exec, and is attached to again if that program is a perl.
sub set_aside {
    my ($self) = @_;
    my @goes;
    for my $one (@{ $self->{targets} }) {
        if (grep { !$_->{ended} } @{ $one->{target}->counts }) {
            push @goes, $one;
            next;
        }
        push @{ $self->{ended} }, $one;
    }
    my $has_changed = @goes != @{ $self->{targets} };
    my @ended = grep { my $one = $_; !grep { $_ == $one } @goes } @{ $self->{targets} };
    $self->{targets} = \@goes;
    eval { $self->add($_->{pid}) } for $has_changed ? @ended : ();
    return;
}

# ---- files ----

# Returns the facts that a profile's header needs, as pairs. one: the process; count: the counts of
# one of its threads.
sub header {
    my ($self, $one, $count) = @_;
    return (run => $self->{run}, start => $self->{start}, rate => $self->{rate},
        ppid => $one->{ppid}, script => $count->{script});
}

# Calls CODE with the file's number, process, counts of the thread, and text of each profile that
# has samples. Returns the number of profiles.
sub each_profile {
    my ($self, $slice, $code) = @_;
    my $n = 0;
    for my $one (@{ $self->{ended} }, @{ $self->{targets} }) {
        my @counts = @{ $one->{target}->counts };
        for my $i (grep { $counts[$_]{samples} } 0 .. $#counts) {
            my $text = $one->{target}->profile($i, $self->header($one, $counts[$i]),
                slice => $slice);
            $code->($n++, $one, $counts[$i], $text);
        }
    }
    return $n;
}

# Writes the profiles: the first to `out', the others to names with process and thread behind that.
# Returns the names. Dies with the reason if a file cannot be written.
sub write_files {
    my ($self) = @_;
    my (@names, %times);
    $self->each_profile(0, sub {
        my ($n, $one, $count, $text) = @_;
        my $name = $self->{out};
        $name .= ".$one->{pid}" . ($count->{number} ? ".$count->{number}" : '') if $n;
        # After an exec, the same process has another program, and a profile of its own.
        my $before = $times{$name}++;
        $name .= ".exec$before" if $before;
        write_text($name, $text);
        push @names, $name;
    });
    return @names;
}

# Writes a slice of each process to the spool, and begins the next one.
sub write_slices {
    my ($self) = @_;
    $self->{slice}++;
    my $n = $self->each_profile($self->{slice}, sub {
        my (undef, $one, $count, $text) = @_;
        my $program = ($count->{script} // '') =~ s{.*/}{}sr =~ s/\.\w{1,3}\z//r
            =~ s/[^A-Za-z0-9._]/_/gr;
        $program = 'perl' if $program eq '';
        write_text(join('-', "$self->{spool}/" . substr($program, 0, 64), $self->{run},
            $one->{pid}, $count->{number}, "$self->{slice}.tree"), $text);
    });
    $_->{target}->begin_slice for @{ $self->{targets} };
    $self->{ended} = [];
    $self->{slices} += $n;
    return;
}

# Writes a text to a file as a whole. Dies with the reason if that fails.
sub write_text {
    my ($name, $text) = @_;
    my $why = Devel::DProf::Write::whole($name, sub { return print({ $_[0] } $text) ? 0 : 1 });
    die "$name: $why\n" if defined $why;
    return;
}

# Returns, as a hash, the sums of all counts so far: samples, and those that were mended, given up,
# unread or behind.
sub totals {
    my ($self) = @_;
    my %sum = map { $_ => 0 } qw(samples mended given_up unread behind);
    for my $one (@{ $self->{ended} }, @{ $self->{targets} }) {
        for my $count (@{ $one->{target}->counts }) {
            $sum{$_} += $count->{$_} for keys %sum;
        }
    }
    return %sum;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Live::Attach - a session that samples processes from outside

=head1 DESCRIPTION

L<dprofattach> and L<dproftop> use this class. It is internal to this distribution.

=head1 METHODS

=over

=item new NAME => VALUE, ...

rate: samples a second (100). out: the file of the first profile. step: the seconds between two
looks at children and threads, and at STOP (0.5). children: also the processes that those start.
root: a process that is not sampled itself, but its children are. is_open: a function that says
whether more processes may come after all have ended. threads, pause: see
L<Devel::DProf::Live::Target/process>. spool, seconds: a folder for slices, and how long one is.

=item add PID

Attaches to a process. Dies with one line.

=item sample SECONDS, STOP

Takes samples until so many seconds have passed (undef: without limit), until the function STOP
returns true, or until all processes have ended. Returns whether some still run.

=item write_files

Writes the profiles, and returns their names. Dies with one line.

=item write_slices

Writes a slice of each profile to the spool, and begins the next ones.

=item totals

Returns the sums of samples, mended, given_up, unread and behind, as a list of names and values.

=back

=cut
