package Devel::DProf::Store::Push;

# Profiles on their way to a store or a receiver: what is sent, what stays, what is moved aside.

use strict;
use warnings;

use Devel::DProf::Store;
use Devel::DProf::Store::Failure;
use Devel::DProf::Store::Spool;
use Devel::DProf::Text ();

our $VERSION = $Devel::DProf::Core::VERSION;

# A store takes many at once for the price of few.
use constant BATCH => 100;
use constant LONGEST_WAIT => 300;
# Bytes that may be refused before the first of them go.
use constant REFUSED_LIMIT => 100 << 20;

sub new {
    my ($class, %fields) = @_;
    return bless { stop => sub { return 0 }, service => undef, version => '', host => '', env => '',
        %fields }, $class;
}

# Sends what is there: folders are spools, and other paths profiles. Returns the numbers of what was
# sent and refused, and the failure that ended it, if one did.
sub pass {
    my ($self, @paths) = @_;
    my %done = (sent => 0, refused => 0);
    for my $path (@paths) {
        last if $self->{stop}->();
        next if eval { $self->spool_or_file($path, \%done); 1 };
        $done{failure} = Devel::DProf::Store::Failure->of($@);
        $done{failure}->retry ? last : $self->{say}->($done{failure}->message);
    }
    return \%done;
}

sub spool_or_file {
    my ($self, $path, $done) = @_;
    if (!-d $path) {
        my $entry = Devel::DProf::Store::Spool::single($path);
        $self->send_all(undef, $done, grep { $self->identified(undef, $done, $_) } $entry);
        return;
    }
    my $spool = Devel::DProf::Store::Spool->new($path, @{ $self->{users} // [] });
    Devel::DProf::Store::failed("$path: another dprofstore is at work there", retry => 1)
        if ($self->{delete} || -w $path) && !$spool->lock;
    $spool->clear if $self->{delete};
    my @entries = grep { $self->identified($spool, $done, $_) } $spool->entries;
    # The same again would fill the log of a night.
    $self->{say}->("$path: " . Devel::DProf::Text::plural($spool->foreign, 'slice')
        . ' of other users ' . ($spool->foreign == 1 ? 'stays' : 'stay')
        . ' there; --users names those whose slices are taken')
        if $spool->foreign && !$self->{told_foreign}{$path}++;
    @entries = $spool->merged(\@entries, $self->{merge},
        sub { $self->refuse($spool, $done, $_[1], Devel::DProf::Store::Failure->new(
            message => $_[0])) }, $self->{only_over} ? time : undef) if $self->{merge};
    $self->send_all($spool, $done, @entries);
    return;
}

sub identified {
    my ($self, $spool, $done, $entry) = @_;
    my $is_known = defined $entry->{run} || eval { Devel::DProf::Store::Spool::identify($entry) };
    if (!$is_known) {
        $self->refuse($spool, $done, $entry, Devel::DProf::Store::Failure->of($@));
        return 0;
    }
    $entry->{service} = $self->service_of($entry);
    return 1;
}

sub service_of {
    my ($self, $entry) = @_;
    return $self->{service} // (length $entry->{script} ? $entry->{script} : 'perl');
}

# ---- sending ----

sub send_all {
    my ($self, $spool, $done, @entries) = @_;
    # A receiver would count again what it got before a failure.
    my $most = $self->{target}->can('add') ? BATCH : 1;
    while (my @batch = splice @entries, 0, $most) {
        return if $self->{stop}->();
        if ($most == 1) {
            $self->send_one($spool, $done, @batch);
            next;
        }
        next if eval { $self->send_batch(\@batch); $self->arrived($done, $_) for @batch; 1 };
        my $failure = Devel::DProf::Store::Failure->of($@);
        die $failure if $failure->retry;
        # One of them is refused: the others are not to wait for it.
        $self->send_one($spool, $done, $_) for @batch;
    }
    return;
}

sub send_one {
    my ($self, $spool, $done, $entry) = @_;
    return if $entry->{arrived};
    if (eval { $self->send_batch([$entry]); 1 }) {
        $self->arrived($done, $entry);
        return;
    }
    my $failure = Devel::DProf::Store::Failure->of($@);
    die $failure if $failure->retry;
    $self->refuse($spool, $done, $entry, $failure);
    return;
}

# Copies of the files are there as long as it takes.
sub send_batch {
    my ($self, $batch) = @_;
    return if eval { $self->send_now($batch); 1 };
    my $failure = $@;
    Devel::DProf::Store::Spool::remove_copies(@$batch);
    die $failure;
}

sub send_now {
    my ($self, $batch) = @_;
    my @profiles = map { $self->profile_of($_) } @$batch;
    return $self->{target}->add(\@profiles) if $self->{target}->can('add');
    $self->{target}->take($_) for @profiles;
    return;
}

sub profile_of {
    my ($self, $entry) = @_;
    my $file = Devel::DProf::Store::Spool::file_of($entry);
    return { file => $file, service => $self->service_of($entry),
        (map { $_ => $entry->{$_} } qw(run start seconds)),
        map { $_ => $self->{$_} } qw(version host env) };
}

sub arrived {
    my ($self, $done, $entry) = @_;
    $done->{sent}++;
    $entry->{arrived} = 1;
    Devel::DProf::Store::Spool::remove_copies($entry);
    return if !$self->{delete};
    my $why = Devel::DProf::Store::Spool::remove($entry);
    Devel::DProf::Store::failed($why, retry => 1) if defined $why;
    return;
}

# What no repetition mends is moved aside, if it is in a spool.
sub refuse {
    my ($self, $spool, $done, $entry, $failure) = @_;
    Devel::DProf::Store::Spool::remove_copies($entry);
    die $failure if $failure->retry;
    $done->{refused}++;
    my $place = $spool && $self->{delete} ? $self->moved($spool, $entry, $failure) : undef;
    my $line = $failure->message . (defined $place ? "; it is now $place" : '');
    # What could not be moved is refused in each pass.
    $self->{say}->($line) if defined $place || !$self->{told}{$line}++;
    my $limit = $self->{refused_limit} // REFUSED_LIMIT;
    # The same again would fill the log of a night.
    return if !defined $place || !$spool->trim_refused($limit, $place)
        || $self->{has_trimmed}++;
    $self->{say}->($place =~ s{/[^/]*\z}{}sr . " has reached --refused-limit $limit bytes; the "
        . 'oldest profiles there are removed');
    return;
}

# The others are not to wait for what cannot be moved.
sub moved {
    my ($self, $spool, $entry, $failure) = @_;
    my $place = eval { $spool->move_aside($entry, $failure) };
    return $place if defined $place;
    my $why = Devel::DProf::Store::Failure->of($@)->message;
    $self->{say}->($why) if !$self->{told}{$why}++;
    return undef;
}

# ---- the loop of an agent ----

# Sends what comes into the spools until stop() is true. WAIT is called with seconds, and returns
# earlier if it is to end. TELL gets the result of each pass.
sub loop {
    my ($self, $every, $wait, $tell, @spools) = @_;
    my $pause = $every;
    my $said = '';
    while (!$self->{stop}->()) {
        my $done = $self->pass(@spools);
        $tell->($done);
        my $failure = $done->{failure};
        if ($failure && $failure->retry) {
            $pause = $said eq '' ? $every : 2 * $pause;
            $pause = $failure->after if ($failure->after // 0) > $pause;
            $pause = LONGEST_WAIT if $pause > LONGEST_WAIT;
            # The same again would fill the log of a night.
            $self->{say}->($failure->message . '; what is in the spool stays there')
                if $said ne $failure->message;
            $said = $failure->message;
        } else {
            $self->{say}->('it works again') if $said ne '';
            ($pause, $said) = ($every, '');
        }
        last if $self->{stop}->();
        $wait->($pause);
    }
    return;
}

1;
