package Test::DProf::Profile;

# The profile that a test has recorded, of a block or a script. It is read on first use.

use strict;
use warnings;

use Carp 'croak';

our $VERSION = '20261120.00';

# Makes the object for a profile. FIELDS: read, a sub that returns a Devel::DProf::Profile;
# is_block; skipped, the reason if there is no profile; dir, a folder for its file; stdout, stderr,
# status.
sub new {
    my ($class, %fields) = @_;
    return bless {%fields}, $class;
}

sub skipped { return $_[0]{skipped} }
sub is_block { return $_[0]{is_block} }
sub stdout  { return $_[0]{stdout} }
sub stderr  { return $_[0]{stderr} }
sub status  { return $_[0]{status} }

# Returns the profile, a Devel::DProf::Profile, which is read at the first call. Dies if there is
# none.
sub profile {
    my ($self) = @_;
    croak "there is no profile: $self->{skipped}" if defined $self->{skipped};
    return $self->{profile} //= $self->{read}->();
}

# Returns the metric of a word, or undef.
sub metric { return $_[0]->profile->metric($_[1]) }

# Returns the numbers of a sub, or of (total), as a hash: calls, and a metric's self and incl.
# Returns undef if there is no such sub.
sub row {
    my ($self, $name, $metric) = @_;
    return $self->rows($metric)->{$name};
}

# Returns a hash of the costs of all subs in a metric, by name: { calls, self, incl } each. Subs of
# the same name are also there as separate ones, by the labels that distinguish them.
sub rows {
    my ($self, $metric) = @_;
    return $self->{rows}{$metric} //= do {
        my $profile = $self->profile;
        my %how = (program => 1, rows => 2**31, $self->metric($metric)->for_rows);
        my %rows;
        my $total = 0;
        for my $separate (1, 0) {
            for my $row ($profile->rows({ %how, separate => $separate })) {
                my ($name, $calls, $own, $incl) = @$row;
                $total += $own if $separate;
                $rows{$name} //= { calls => $calls, self => $own, incl => $incl };
            }
        }
        # This row is that of the block, or of the program.
        $rows{'(total)'} = { calls => 1, self => $total, incl => $total };
        \%rows;
    };
}

# ---- for tests ----

# Returns the number of calls of a sub, 0 if it was not called.
sub calls {
    my ($self, $name) = @_;
    my $row = $self->row($name, 'cpu');
    return $row ? $row->{calls} : 0;
}

# Returns the spans of a profile, as Devel::DProf::Profile::spans does.
sub spans {
    my ($self, %how) = @_;
    my $metric = $self->metric('real');
    return Devel::DProf::Profile::spans([[$self->profile]], { %how, metric => $metric->number });
}

# Returns the cost of a sub. Dies if the profile lacks the metric.
sub cost {
    my ($self, $name, $what) = @_;
    my ($metric, $incl) = $self->metric_of($what);
    my $row = $self->row($name, $metric->name) or return 0;
    my $value = $row->{ $incl ? 'incl' : 'self' };
    return $metric->is_time ? $value / $self->profile->hz : $value;
}

# Returns the metric that a text means, self, incl, METRIC or incl METRIC, and whether its inclusive
# values are meant. Dies if there is no such metric.
sub metric_of {
    my ($self, $what) = @_;
    my $is_bare = $what =~ /^(?:self|incl)\z/;
    my $incl = $is_bare ? $what eq 'incl' : $what =~ s/^incl\s+//;
    my $metric = $self->metric($is_bare ? 'cpu' : $what);
    return ($metric, $incl) if $metric && !$metric->is_calls;
    my @names = $self->counters;
    my @times = Devel::DProf::Constants::time_words();
    croak "the profile has no $what; it has " . join(', ', 'self', 'incl', @times, @names)
        . (@names ? '' : ' (ops are counted in trees, by perl\'s own run loop)');
}

sub counters { return $_[0]->profile->counter_names }

# Returns the names of all subs in the profile, sorted.
sub subs {
    my ($self) = @_;
    my %seen;
    return sort grep { !$seen{$_}++ } map { $_->[0] } $self->profile->subs({ separate => 1 });
}

# Returns whether the profile has a sub of this name.
sub knows {
    my ($self, $name) = @_;
    return defined $self->row($name, 'cpu');
}

# Returns the path of the profile, which exists until the process ends.
sub file {
    my ($self) = @_;
    return $self->{file} //= do {
        my $path = $self->{dir}->() . '/' . ++$Test::DProf::Files . '.tmon';
        my $failed = $self->profile->save($path, $VERSION);
        croak "$path could not be written: $failed" if defined $failed;
        $path;
    };
}

# Returns the text that dprofreport prints for this profile with these options, to be shown when a
# test fails.
sub report {
    my ($self, @options) = @_;
    require Devel::DProf::Tool::Dprofreport;
    my $text = '';
    my $file = $self->file;
    {
        local *STDOUT;
        open STDOUT, '>', \$text or croak "memory: $!";
        local $ENV{DPROFREPORT_OPTS};
        Devel::DProf::Tool::Dprofreport::main('--no-pager', @options, $file);
        close STDOUT;
    }
    return $text;
}

# Returns the callers of a sub: pairs of name and calls, most calls first.
sub callers {
    my ($self, $name) = @_;
    my $edges = $self->profile->edges($name, { separate => 1 }) // [];
    return sort { $b->[1] <=> $a->[1] || $a->[0] cmp $b->[0] }
        map { [@$_[0, 1]] } grep { $_->[1] } @$edges;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Test::DProf::Profile - the profile that a test has recorded

=head1 SYNOPSIS

    my $p = profile_ok { My::run() } 'runs';
    note $p->calls('My::fetch'), ' fetches, ', $p->cost('My::parse', 'ops'), ' ops of parsing';
    note $p->report('-O', 10);

=head1 DESCRIPTION

C<profile_ok> and C<profile_script_ok> of L<Test::DProf> return such a profile. It is read when a
method first needs it. All methods except C<skipped> die if there is no profile.

Names are those of L<dprofreport>. C<My::parse> is a sub; C<My::__ANON__[lib/My.pm:12]> is one
anonymous sub, and C<My::__ANON__> stands for all those of a package together. C<(program)> is the
time outside of all subs, or the block's own time. C<(total)> is everything.

=head1 METHODS

=over

=item calls NAME

Returns how often a sub was called, 0 if it was not called.

=item spans NAME => VALUE, ...

Returns the spans, with real times, as L<Devel::DProf::Profile> does it: a hash of the lists kinds,
rows and repeats. The options are kind, and repeated.

=item cost NAME, WHAT

Returns the cost of a sub, all calls together, 0 if it was not called. WHAT is

    self                self time, user and system together, in seconds
    incl                inclusive time, user and system together, in seconds
    cpu user system real    one of the self times, in seconds; cpu is user and system
    ops                 steps of perl's interpreter, self
    svs, bytes ...      another counter that was requested (events), self, in its unit
    incl ops, incl real ...     the inclusive value

Dies if there is no such counter; the message lists those that exist.

=item subs

Returns the names of all subs in the profile, sorted.

=item counters

Returns the names of the profile's counters, C<ops> first.

=item file

Returns the path of a tree file with the profile, for tools. The file exists until the process ends.

=item report OPTION, ...

Returns the text of L<dprofreport> with these options.

=item callers NAME

Returns a list of pairs, [NAME, CALLS]: a caller, and how often it called that sub, most calls
first.

=item profile

Returns the L<Devel::DProf::Profile>.

=item stdout, stderr, status

For a script, return its output and error output, as bytes, and its status, in the form of C<$?>.

=item skipped

Returns the reason if there is no profile, or undef.

=back

=cut
