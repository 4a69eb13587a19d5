package Devel::DProf::Store::Push;

# Sends profiles to a store or a receiver, removes those that arrived, and moves refused ones aside.

use strict;
use warnings;

use Devel::DProf::Store;
use Devel::DProf::Store::Failure;
use Devel::DProf::Store::Spool;
use Devel::DProf::Text ();
use Devel::DProf::Tool qw(progress end_transient);

our $VERSION = $Devel::DProf::Core::VERSION;

# The most profiles in one call of a store, for which many cost little more than one.
use constant BATCH => 100;
use constant LONGEST_WAIT => 300;
# The most bytes of refused profiles; beyond it, the oldest are removed.
use constant REFUSED_LIMIT => 100 << 20;

# Makes the object that sends profiles. FIELDS: target, a store or receiver; say, for messages;
# stop, a sub that returns whether to end; service, version, host, env; delete, merge, users,
# refused_limit.
sub new {
    my ($class, %fields) = @_;
    return bless { stop => sub { return 0 }, service => undef, version => '', host => '', env => '',
        %fields }, $class;
}

# Sends the profiles at these paths once: folders are spools, and other paths are profiles. Returns
# a hash with the numbers of sent and refused profiles, and the failure that ended the pass, if any.
sub pass {
    my ($self, @paths) = @_;
    my %done = (sent => 0, refused => 0);
    for my $path (@paths) {
        last if $self->{stop}->();
        next if eval { $self->push_path($path, \%done); 1 };
        $done{failure} = Devel::DProf::Store::Failure->of($@);
        $done{failure}->retry ? last : $self->{say}->($done{failure}->message);
    }
    return \%done;
}

# Sends the profiles of a spool, or a single file. $done counts what arrived and what was refused.
sub push_path {
    my ($self, $path, $done) = @_;
    if (!-d $path) {
        my $entry = Devel::DProf::Store::Spool::single($path);
        $self->send_all(undef, $done, grep { $self->identified(undef, $done, $_) } $entry);
        return;
    }
    my $spool = Devel::DProf::Store::Spool->new($path, @{ $self->{users} // [] });
    Devel::DProf::Store::failed("$path: another dprofstore is using this spool", retry => 1)
        if ($self->{delete} || -w $path) && !$spool->lock;
    $spool->clear if $self->{delete};
    my @entries = grep { $self->identified($spool, $done, $_) } $spool->entries;
    # This message comes once, as repetitions would fill the log.
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

# Adds to an entry which recording and service it is of. Returns false, after refusing the entry, if
# the file does not say it.
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

# Returns the service of an entry: that of the options, or else the script's name.
sub service_of {
    my ($self, $entry) = @_;
    return $self->{service} // (length $entry->{script} ? $entry->{script} : 'perl');
}

# ---- sending ----

# Sends entries in batches if the target accepts batches, otherwise one by one. Dies if the target
# cannot be reached; then the rest stays in the spool.
sub send_all {
    my ($self, $spool, $done, @entries) = @_;
    # After a failure, a receiver would count again the profiles that it already has.
    my $most = $self->{target}->can('add') ? BATCH : 1;
    my $sent = progress_of(@entries);
    while (my @batch = splice @entries, 0, $most) {
        $sent->(@batch);
        return if $self->{stop}->();
        if ($most == 1) {
            $self->send_one($spool, $done, @batch);
            next;
        }
        next if eval { $self->send_batch(\@batch); $self->arrived($done, $_) for @batch; 1 };
        my $failure = Devel::DProf::Store::Failure->of($@);
        die $failure if $failure->retry;
        # One profile of the batch is refused, which should not delay the others.
        $self->send_one($spool, $done, $_) for @batch;
    }
    end_transient();
    return;
}

# Returns a function that shows how much of the entries has been sent. It is called with each batch
# before that is sent.
sub progress_of {
    my ($done, $total) = (0, 0);
    my $progress = progress('sending') or return sub { };
    $total += -s $_->{path} // 0 for @_;
    return sub {
        $progress->($done, $total);
        $done += -s $_->{path} // 0 for @_;
    };
}

# Sends an entry by itself. If the target refuses the entry, it is moved aside; any other failure
# dies, and so ends the pass.
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

# Sends a batch of entries. If that fails, removes the copies of their files, and dies.
sub send_batch {
    my ($self, $batch) = @_;
    return if eval { $self->send_now($batch); 1 };
    my $failure = $@;
    Devel::DProf::Store::Spool::remove_copies(@$batch);
    die $failure;
}

# Gives the profiles of a batch to the target. Dies with a Failure if that fails.
sub send_now {
    my ($self, $batch) = @_;
    my @profiles = map { $self->profile_of($_) } @$batch;
    return $self->{target}->add(\@profiles) if $self->{target}->can('add');
    $self->{target}->take($_) for @profiles;
    return;
}

# Returns an entry as the hash that a target takes: file, service, version, host, env, run, start
# and seconds.
sub profile_of {
    my ($self, $entry) = @_;
    my $file = Devel::DProf::Store::Spool::file_of($entry);
    return { file => $file, service => $self->service_of($entry),
        (map { $_ => $entry->{$_} } qw(run start seconds)),
        map { $_ => $self->{$_} } qw(version host env) };
}

# Notes that an entry has arrived and, with --delete, removes its file.
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

# Counts an entry as refused, and moves it aside with --delete. Dies instead if another attempt may
# succeed.
sub refuse {
    my ($self, $spool, $done, $entry, $failure) = @_;
    Devel::DProf::Store::Spool::remove_copies($entry);
    die $failure if $failure->retry;
    $done->{refused}++;
    my $place = $spool && $self->{delete} ? $self->moved($spool, $entry, $failure) : undef;
    my $line = $failure->message . (defined $place ? "; it is now $place" : '');
    # An entry that could not be moved is refused in each pass, but reported once.
    $self->{say}->($line) if defined $place || !$self->{told}{$line}++;
    my $limit = $self->{refused_limit} // REFUSED_LIMIT;
    # This message comes once, as repetitions would fill the log.
    return if !defined $place || !$spool->trim_refused($limit, $place)
        || $self->{has_trimmed}++;
    $self->{say}->($place =~ s{/[^/]*\z}{}sr . " has reached --refused-limit $limit bytes; the "
        . 'oldest profiles there are removed');
    return;
}

# Moves an entry of a spool aside. Returns its new path or, after a message, undef: one failure must
# not delay the other entries.
sub moved {
    my ($self, $spool, $entry, $failure) = @_;
    my $place = eval { $spool->move_aside($entry, $failure) };
    return $place if defined $place;
    my $why = Devel::DProf::Store::Failure->of($@)->message;
    $self->{say}->($why) if !$self->{told}{$why}++;
    return undef;
}

# ---- the loop of an agent ----

# Sends new entries of the spools until stop() is true. WAIT is called with seconds, and returns
# early if the process has to end. REPORT is called with the result of each pass.
sub loop {
    my ($self, $every, $wait, $report, @spools) = @_;
    my $pause = $every;
    my $said = '';
    while (!$self->{stop}->()) {
        my $done = $self->pass(@spools);
        $report->($done);
        my $failure = $done->{failure};
        if ($failure && $failure->retry) {
            $pause = $said eq '' ? $every : 2 * $pause;
            $pause = $failure->after if ($failure->after // 0) > $pause;
            $pause = LONGEST_WAIT if $pause > LONGEST_WAIT;
            # The same message is not repeated, as that would fill the log.
            $self->{say}->($failure->message . '; the profiles stay in the spool')
                if $said ne $failure->message;
            $said = $failure->message;
        } else {
            $self->{say}->('sending works again') if $said ne '';
            ($pause, $said) = ($every, '');
        }
        last if $self->{stop}->();
        $wait->($pause);
    }
    return;
}

1;
