package Devel::DProf::Tool::Dprofstore;

# dprofstore: options, and the five commands.

use strict;
use warnings;

use Devel::DProf::Store;
use Devel::DProf::Store::RunSet;
use Devel::DProf::Text qw(shown plural text bytes unknown);
use Devel::DProf::Tool qw(OK FAILED complain written);
use Devel::DProf::Tool::Options;

our $VERSION = $Devel::DProf::Core::VERSION;

my $TOOL = Devel::DProf::Tool::Options->new(
    name => 'dprofstore', settings => \&settings, run => \&run_command, goes => \&has_option,
    about => ['V', 'h|help', 'H|manual'],       # its profiles have a version
    text => <<'END',
dprofstore init --to STORE
dprofstore push --to STORE [options] SPOOL|PROFILE ...
dprofstore agent --to STORE [options] SPOOL ...
dprofstore list --from STORE [RUN-SET]
dprofstore prune --from STORE RUN-SET

Keeps the profiles of many machines, so that dprofreport --from, dprofdiff --from and the other
tools can select among them. A STORE is {URLS}.
A RUN-SET is words such as 'service=web version=1.* since=1h'.

push, agent:
= to|from=s
    --to STORE, --from STORE        the store (default: DPROF_STORE)
= service=s  version=s  host=s  env=s
    --service NAME --version TEXT   the service and its version (default: the script's name; none)
    --host NAME --env NAME          their host and environment (default: this host; none)
= label=s@
    --label KEY=VALUE               for receivers that have labels
= push-api
    --push-api          Pyroscope: its newer interface, in place of /ingest
= profile-name=s
    --profile-name NAME             Parca, and with --push-api (process_cpu)
= merge=s
    --merge SECONDS     one profile of each service and interval, as by dprofmerge; with --delete
= delete
    --delete            removes profiles that arrived; refused ones go to SPOOL/refused
= users=s@
    --users NAME,...    also takes slices of these users (default: this user's and root's)
= refused-limit=s
    --refused-limit BYTES           the size beyond which the oldest of these go (100M)
= every=s
    --every SECONDS     agent: how often it looks at the spool (10)
= q|quiet
    -q                  prints only errors
prune:
= n|dry-run
    -n, --dry-run       says how many profiles it would remove
    -V  -h  -H          version, this help, the manual
END
    lists => { URLS => [Devel::DProf::Store::urls()] },
);

sub main { return $TOOL->main(@_) }
sub command { return $TOOL }

my @SEND = qw(service version host env label push-api profile-name merge delete users
    refused-limit);
my %COMMAND = (
    init => { run => \&init, options => [] },
    push => { run => \&push_all, options => [@SEND, 'q'] },
    agent => { run => \&agent, options => [@SEND, 'q', 'every'] },
    list => { run => \&list, options => [] },
    prune => { run => \&prune, options => ['n'] },
);

# ---- options ----

# Returns the values of options as a hash: merge and every in seconds, labels as a hash, users as
# numbers, and the store's URL. Dies with what is wrong.
sub settings {
    my ($opt) = @_;
    my %how = (url => $opt->{to} // $ENV{DPROF_STORE});
    for my $name (grep { defined $opt->{$_} } qw(merge every)) {
        my $seconds = $opt->{$name} =~ /\A\d{1,7}\z/ ? $opt->{$name}
            : Devel::DProf::Store::RunSet::duration($opt->{$name});
        die "--$name $opt->{$name}: must be a number of seconds, or like 5m\n"
            if !$seconds || $seconds > 86400;
        $how{$name} = $seconds;
    }
    $how{refused_limit} = bytes_of('refused-limit', $opt->{'refused-limit'})
        if defined $opt->{'refused-limit'};
    $how{users} = [map { user_of($_) } map { split /,/ } @{ $opt->{users} || [] }];
    $how{labels} = {};
    for my $label (@{ $opt->{label} || [] }) {
        my ($key, $value) = $label =~ /\A([^=]+)=(.+)\z/s
            or die "--label $label: must be KEY=VALUE\n";
        $how{labels}{$key} = $value;
    }
    return \%how;
}

# Returns the number of a user, given by name or number.
sub user_of {
    my ($name) = @_;
    return $name =~ /\A\d{1,10}\z/ ? $name : scalar(getpwnam $name)
        // die "--users $name: there is no such user\n";
}

# Returns the number of bytes in an option's value, such as 10k, 100M or 1G.
sub bytes_of {
    my ($option, $text) = @_;
    my ($n, $unit) = $text =~ /\A(\d{1,12})([kMG]?)\z/
        or die "--$option $text: must be a number of bytes, or like 100M\n";
    return $n << { '' => 0, k => 10, M => 20, G => 30 }->{$unit};
}

# Returns whether a command has an option. An unknown command has all options.
sub has_option {
    my ($option, $word) = @_;
    my $command = $COMMAND{ $word // '' } or return 1;
    return scalar grep { $_ eq $option } 'to', @{ $command->{options} };
}

# Runs the tool's command, which is the first word, after checking that the options go with it.
sub run_command {
    my ($opt, $how, $names) = @_;
    my ($word, @words) = @$names;
    my @all = qw(init push agent list prune);
    return $TOOL->usage('name a command: ' . join ', ', @all) if !defined $word;
    return $TOOL->usage(text("$word: a command comes first: dprofstore push $word")) if -e $word;
    my $command = $COMMAND{$word}
        or return $TOOL->usage(unknown('command', $word, @all));
    for my $given (sort keys %$opt) {
        return $TOOL->usage((length $given > 1 ? '--' : '-') . "$given does not go with $word")
            if !has_option($given, $word);
    }
    return $TOOL->usage('name the store: --to dir:PATH, or DPROF_STORE in the environment')
        if !length($how->{url} // '');
    my $status = eval { $command->{run}->($opt, $how, @words) };
    return $status if defined $status;
    complain('dprofstore: ' . $_) for split /\n/, "$@";
    return FAILED;
}

# Opens the store of the options. Dies if it does not have the method that the command needs.
sub open_store {
    my ($how, $method) = @_;
    my $store = Devel::DProf::Store::open($how->{url});
    $store->can($method) or Devel::DProf::Store::failed(
        Devel::DProf::Store::without_secrets($how->{url}) . ' takes profiles, and has no '
        . ($method eq 'init' ? 'need of init' : 'way to give them back'));
    return $store;
}

# Prints lines on standard output, escaped. Returns the exit status.
sub print_lines {
    my (@lines) = @_;
    print map { bytes(shown($_)) . "\n" } @lines;
    return written('dprofstore', \*STDOUT, 0);
}

# ---- commands ----

# Runs dprofstore init: makes the store. Returns the exit status.
sub init {
    my ($opt, $how, @words) = @_;
    return $TOOL->usage("init: $words[0]: it takes no names") if @words;
    return print_lines(open_store($how, 'init')->init);
}

# Returns the object that sends profiles to the store; `push` and `agent` share it.
sub new_sender {
    my ($opt, $how, %more) = @_;
    require Devel::DProf::Store::Push;
    require Sys::Hostname;
    my %is = (version => $opt->{version} // '', env => $opt->{env} // '',
        host => $opt->{host} // Sys::Hostname::hostname());
    return Devel::DProf::Store::Push->new(target => target_of($opt, $how, $more{stop}, %is),
        users => $how->{users},
        merge => $how->{merge}, delete => $opt->{delete}, refused_limit => $how->{refused_limit},
        service => $opt->{service},
        say => sub { complain("dprofstore: $_[0]") }, %is, %more);
}

# Returns the store or the receiver of the options. Dies for labels that the receiver would always
# refuse.
sub target_of {
    my ($opt, $how, $stop, %is) = @_;
    my %of_receivers = (%{ $how->{labels} } ? (labels => $how->{labels}) : (),
        map { my $name = $_ =~ tr/-/_/r; defined $opt->{$_} ? ($name => $opt->{$_}) : () }
        qw(push-api profile-name));
    my $target = Devel::DProf::Store::open($how->{url}, %of_receivers, stop => $stop);
    if ($target->can('take')) {
        $target->check($target->labels_of({ service => $opt->{service} // 'any', %is }));
    } elsif (%of_receivers) {
        my ($name) = sort keys %of_receivers;
        Devel::DProf::Store::failed('--' . ($name eq 'labels' ? 'label' : $name =~ tr/_/-/r)
            . " is for receivers; $how->{url} is a store");
    }
    return $target;
}

# Runs dprofstore push: sends the profiles of spools and files to the store once. Returns the exit
# status.
sub push_all {
    my ($opt, $how, @paths) = @_;
    return $TOOL->usage('push: name spools, or profiles') if !@paths;
    return $TOOL->usage('--merge needs --delete: a later push could not know which profiles were '
        . 'merged')
        if $how->{merge} && !$opt->{delete};
    return $TOOL->usage('--merge takes spools, which are folders')
        if $how->{merge} && grep { -e && !-d } @paths;
    my $done = new_sender($opt, $how)->pass(@paths);
    my $failure = $done->{failure};
    complain('dprofstore: ' . $failure->message . '; what did not arrive stays where it is')
        if $failure && $failure->retry;
    my $status = $opt->{q} ? OK : print_lines(result_of($done));
    return $failure || $done->{refused} ? FAILED : $status;
}

# Returns in words how many profiles were sent and refused.
sub result_of {
    my ($done) = @_;
    return plural($done->{sent}, 'profile') . ' pushed'
        . ($done->{refused} ? ", $done->{refused} refused" : '');
}

# Runs dprofstore agent: sends what arrives in spools until a signal comes, each slice after its
# time is over. Returns the exit status.
sub agent {
    my ($opt, $how, @spools) = @_;
    return $TOOL->usage('agent: name spools, which are folders') if !@spools;
    $opt->{delete} = 1;
    my ($is_over, $wait) = until_signal();
    my $sender = new_sender($opt, $how, stop => $is_over, only_over => 1);
    $| = 1;
    $sender->loop($how->{every} // 10, $wait, sub {
        my ($done) = @_;
        print result_of($done), "\n" if !$opt->{q} && ($done->{sent} || $done->{refused});
    }, @spools);
    return written('dprofstore', \*STDOUT, 0);
}

# Returns a sub that returns whether SIGTERM, SIGINT or SIGHUP has come, and a sub that waits for
# these signals, at most the given seconds. A signal does not interrupt a push. The pipe ensures
# that a signal just before the wait ends it.
sub until_signal {
    pipe my $in, my $out or die "the agent did not start, because it cannot make a pipe: $!\n";
    $out->blocking(0);
    my $over = 0;
    for my $name (qw(TERM INT HUP)) {
        $SIG{$name} = sub { $over = 1; syswrite $out, 'x' };
    }
    return (sub { return $over }, sub {
        my ($seconds) = @_;
        my $bits = '';
        vec($bits, fileno $in, 1) = 1;
        select $bits, undef, undef, $seconds if !$over;
    });
}

# Runs dprofstore list: prints which services and versions the store has, and since when. Returns
# the exit status.
sub list {
    my ($opt, $how, @words) = @_;
    my $set = Devel::DProf::Store::RunSet::parse("@words");
    my @rows = open_store($how, 'list')->list($set)
        or Devel::DProf::Store::failed(@words ? "@words: the store has no such profiles"
            : 'the store has no profiles');
    my @table = (['service', 'version', 'hosts', 'profiles', 'first', 'last'],
        map { [shown_name($_->{service}), shown_name($_->{version}), @$_{qw(hosts runs)},
            map { time_text($_) } @$_{qw(first last)}] } @rows);
    my @width = map { my $c = $_; (sort { $b <=> $a } map { length $_->[$c] } @table)[0] } 0 .. 5;
    my @lines;
    for my $row (@table) {
        push @lines, join('  ', map { my $left = $_ < 2 || $_ > 3 ? '-' : '';
            sprintf "%$left$width[$_]s", $row->[$_] } 0 .. 5) =~ s/\s+\z//r;
    }
    print map { bytes($_) . "\n" } @lines;
    return written('dprofstore', \*STDOUT, 0);
}

# Returns a name of the store as text, or "-" if it is empty.
sub shown_name { return length $_[0] ? shown(text($_[0])) : '-' }

# Returns a time, in seconds since 1970, as text.
sub time_text {
    my ($time) = @_;
    require POSIX;
    return POSIX::strftime('%Y-%m-%dT%H:%M:%SZ', gmtime $time);
}

# Runs dprofstore prune: removes the profiles of a run-set, or with -n only says how many it would
# remove. Returns the exit status.
sub prune {
    my ($opt, $how, @words) = @_;
    my $set = Devel::DProf::Store::RunSet::parse("@words");
    return $TOOL->usage("prune: say what to remove, as in 'older=30d'") if !%$set;
    my $store = open_store($how, 'prune');
    return print_lines(plural(scalar(() = $store->select($set)), 'profile') . ' would be removed')
        if $opt->{n};
    return print_lines(plural($store->prune($set), 'profile') . ' removed');
}

1;
