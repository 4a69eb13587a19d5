package Devel::DProf::Store;

# Where profiles are kept, or sent to. A URL names the place, and its scheme the class.

use strict;
use warnings;

use Exporter 'import';
use Devel::DProf::Core;
use Devel::DProf::Input ();
use Devel::DProf::Store::Failure;

our $VERSION = $Devel::DProf::Core::VERSION;
our @EXPORT_OK = qw(credentials token failed escaped unescaped);

use constant CHUNK => 1 << 16;

# Each scheme, its class below this one, and what a URL looks like.
my @SCHEMES = (
    ['dir', 'Dir', 'dir:PATH'],
    ['clickhouse', 'ClickHouse', 'clickhouse:http://HOST:8123/DATABASE'],
    ['pyroscope', 'Receiver::Pyroscope', 'pyroscope:http://HOST:4040'],
    ['parca', 'Receiver::Parca', 'parca:http://HOST:7070'],
    ['coroot', 'Receiver::Coroot', 'coroot:http://HOST:8080'],
);

# Returns the store of a URL, SCHEME:PLACE, as an object of the scheme's class. Dies with a message
# about a wrong URL.
sub open {
    my ($url, %opt) = @_;
    my ($scheme, $place) = ($url // '') =~ /\A([a-z]+):(.+)\z/s;
    my ($row) = grep { $_->[0] eq ($scheme // '') } @SCHEMES or die unknown_store($url);
    $place =~ m{\A(?:https?:)?//[^/]*\@}
        and die "a store's URL holds no user and password: DPROF_STORE_USER has the name, "
            . "DPROF_STORE_PASSWORD or the file DPROF_STORE_PASSWORD_FILE the password\n";
    my $class = __PACKAGE__ . "::$row->[1]";
    require $class =~ s{::}{/}gr . '.pm';
    return $class->new($place, %opt);
}

# Returns the message about a URL that is no store's.
sub unknown_store {
    my ($url) = @_;
    return without_secrets($url // '') . ': a store is dir:PATH, '
        . "clickhouse:http://HOST:8123/DATABASE, or one that dprofstore -h lists\n";
}

# A host, perhaps with a port, in a URL.
our $HOST = qr/(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?/;

# Returns the part of a wrong URL that a message may show: after the scheme, only a path below a
# host. Anything else may be a name and a password in the wrong place.
sub without_secrets {
    my ($url) = @_;
    my ($scheme, $rest) = $url =~ m{\A((?:[a-z]+:)?(?:https?:)?/*)(.*)\z}s;
    return $rest =~ m{\A(?:$HOST)?(?:/[^?#\@:]*)?\z} ? $url : "$scheme...";
}

# Returns the forms that the URL of a store can have, as text.
sub urls { return map { $_->[2] } @SCHEMES }

# ---- what the classes share ----

# Dies with a Devel::DProf::Store::Failure. HOW: its other fields.
sub failed {
    my ($message, %how) = @_;
    die Devel::DProf::Store::Failure->new(message => $message, %how);
}

# Returns bytes as one element of a path, or one word of a line: never empty, without a dot in front
# or a blank.
sub escaped {
    my ($bytes) = @_;
    return '%' if !length $bytes;
    $bytes =~ s/([^A-Za-z0-9._\-+=\@:])/sprintf '%%%02X', ord $1/ge;
    return $bytes =~ s/\A\./%2E/r;
}

# Returns the bytes that escaped() has turned into a text.
sub unescaped {
    my ($text) = @_;
    return $text eq '%' ? '' : $text =~ s/%([0-9A-F]{2})/chr hex $1/ger;
}

# Reads the profile in a file of any kind. Returns the Devel::DProf::Profile, and whether the file
# already is a whole tree. Dies with a Failure if the file is no profile.
sub profile_in {
    my ($path) = @_;
    require Devel::DProf::Input;
    my $input = Devel::DProf::Input->new(detail => 1, phases => 1);
    my $profile = $input->profile;
    my $outcome = $input->read($profile, $path);
    my $why = unusable($outcome);
    failed($why) if defined $why;
    my %header = $profile->header(0);
    return ($profile, !($outcome->{code} || $outcome->{open_count} || -e "$path.live"
        || ($header{dprof_format} // '') !~ /\Atree /));
}

# Returns a sub that writes a profile to a handle, as a gzipped tree, and returns 0, or anything
# else if it has failed. A whole tree keeps its bytes; any other file becomes a tree. Reads the file
# at once, and dies with a Failure if it is no profile.
sub tree_writer {
    my ($path) = @_;
    my ($profile, $is_whole) = profile_in($path);
    return sub { return gzipped($path, $_[0]) } if $is_whole;
    return sub { return $profile->write_tree($_[0], $VERSION, { gzip => 1 }) };
}

# Returns the profile in a file as the text of a tree. Dies with a Failure if the file is no
# profile, or no tree can be made of it.
sub tree_text {
    my ($path) = @_;
    my ($profile) = profile_in($path);
    my $text = '';
    CORE::open my $out, '>:raw', \$text or failed("$path: $!");
    my $rc = $profile->write_tree($out, $VERSION, {});
    close $out;
    failed(Devel::DProf::Input::shown_as($path) . ': no tree could be made of it') if $rc;
    return $text;
}

# Returns whether two files have the same profile, whatever kind of file each is. Dies as
# tree_text() does.
sub is_same { return tree_text($_[0]) eq tree_text($_[1]) }

# Returns a string that identifies a recording: all copies of a profile share it, and no other
# profile has it. Old ids of runs are not random: two runs that began in the same microsecond may
# have the same id. A file that names no run has a digest of its contents as identity, and its mtime
# as start.
sub recording {
    my ($p) = @_;
    return $p->{run} =~ /\Amd5\./ ? $p->{run} : sprintf '%s %.6f', @$p{qw(run start)};
}

# Returns why a file that was read cannot be kept, or undef; ADVISES: with what to type instead.
sub unusable {
    my ($outcome, $advises) = @_;
    return undef if !$outcome->{code};
    require Devel::DProf::Outcome;
    my $what = Devel::DProf::Outcome::verdict($outcome);
    return undef if Devel::DProf::Input::usable($what);
    return (Devel::DProf::Outcome::lines($outcome, $what, $advises))[0]
        // "$outcome->{path}: this is no profile";
}

# Copies a file to a handle, gzipped unless it is so already. Returns 0, or 1 if that failed.
sub gzipped {
    my ($path, $out) = @_;
    CORE::open my $in, '<:raw', $path or return 1;
    require Compress::Raw::Zlib;
    my ($pack, $packed);
    while (read $in, my $bytes, CHUNK) {
        $pack //= $bytes =~ /\A\x1f\x8b/ ? 0 : Compress::Raw::Zlib::Deflate->new(
            -AppendOutput => 1, -WindowBits => Compress::Raw::Zlib::WANT_GZIP());
        $packed = '';
        return 1 if $pack && $pack->deflate($bytes, $packed) != 0;
        print {$out} $pack ? $packed : $bytes or return 1;
    }
    $packed = '';
    return 1 if !defined $pack || $in->error || $pack && $pack->flush($packed) != 0;
    return print({$out} $packed) ? 0 : 1;
}

# Calls CODE with the contents of a gzipped file, in pieces. Returns nothing, or what is wrong with
# the file; dies if it has more than MOST bytes. SHOWN is the path for messages.
sub unpacked {
    my ($path, $shown, $most, $code) = @_;
    require IO::Uncompress::Gunzip;
    my $in = IO::Uncompress::Gunzip->new($path, MultiStream => 1)
        or return $IO::Uncompress::Gunzip::GunzipError;
    my $sum = 0;
    while ((my $n = $in->read(my $bytes, CHUNK)) > 0) {
        $sum += $n;
        failed("$shown: unpacked, it has more than $most bytes") if $sum > $most;
        $code->($bytes);
    }
    return $in->error ? "$IO::Uncompress::Gunzip::GunzipError" : ();
}

# Returns a row for each service and version of the selected profiles, as list() of a store does.
sub rows_of {
    my %row;
    counted(\%row, $_) for @_;
    return rows(\%row);
}

# Adds a profile to the rows that rows() returns. A store calls this for one profile at a time if
# all profiles would be too many to hold.
sub counted {
    my ($to, $p) = @_;
    my $row = $to->{ $p->{service} }{ $p->{version} }
        //= { %$p{qw(service version)}, runs => 0, hosts => {}, first => $p->{start} };
    $row->{runs}++;
    $row->{hosts}{ $p->{host} } = 1;
    $row->{first} = $p->{start} if $p->{start} < $row->{first};
    $row->{last} = $p->{start} if $p->{start} > ($row->{last} // 0);
    return;
}

# Returns the rows that counted() has made, sorted by service and version.
sub rows {
    my ($from) = @_;
    my @rows = map { my $s = $from->{$_}; map { $s->{$_} } sort keys %$s } sort keys %$from;
    $_->{hosts} = keys %{ $_->{hosts} } for @rows;
    return @rows;
}

# Returns the user and the password of a store from the environment. Passwords are not arguments,
# because other users can see arguments.
sub credentials {
    return ($ENV{DPROF_STORE_USER}, read_secret($ENV{DPROF_STORE_PASSWORD},
        DPROF_STORE_PASSWORD_FILE => $ENV{DPROF_STORE_PASSWORD_FILE}));
}

# Returns the token of a store from the environment, or undef.
sub token {
    return read_secret($ENV{DPROF_STORE_TOKEN},
        DPROF_STORE_TOKEN_FILE => $ENV{DPROF_STORE_TOKEN_FILE});
}

# Returns the first line of the file at PATH, which the variable NAME has given, or, without a path,
# the value. Dies with a Failure if the file cannot be read.
sub read_secret {
    my ($value, $name, $path) = @_;
    return $value if !defined $path || !length $path;
    CORE::open my $in, '<:raw', $path or failed("$name: $path cannot be read: $!");
    return (readline($in) // '') =~ s/\r?\n\z//r;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Store - where profiles are kept, by URL: stores and receivers

=head1 SYNOPSIS

    use Devel::DProf::Store;
    use Devel::DProf::Store::RunSet;

    my $store = Devel::DProf::Store::open('dir:/var/lib/dprof');
    print map { "$_\n" } $store->init;
    $store->add([{ file => 'tmon.out', run => '1.2.3-77-0-0', service => 'web', version => '1.3',
        host => 'h1', env => 'prod', start => 1795348800.5, seconds => 60 }]);
    my $set = Devel::DProf::Store::RunSet::parse('service=web version=1.3 since=1h');
    my @paths = $store->fetch([$store->select($set)], $folder);

=head1 DESCRIPTION

A store keeps each profile by itself, and gives it back unchanged. L<dprofstore> fills it, and the
tools read it with C<--from>. It is internal to this distribution.

=head1 FUNCTIONS

=over

=item open URL, NAME => VALUE, ...

The store, or the receiver, that a URL names: an object of the scheme's class, made by its
C<new(PLACE, NAME =E<gt> VALUE, ...)>, where PLACE is the URL without the scheme and its colon. Dies
with a message for people, or a L<Devel::DProf::Store::Failure>.

=item without_secrets URL

The part of a wrong URL that a message may show.

=item unpacked PATH, SHOWN, BYTES, CODE

Calls CODE with the contents of a gzipped file, in pieces. Returns nothing, or what is wrong with
the file; dies if the contents have more than BYTES bytes. SHOWN is the path for messages.

=item urls

What URLs of each scheme look like.

=item credentials

A user's name and password, from the environment (DPROF_STORE_USER, DPROF_STORE_PASSWORD) or the
first line of the file that DPROF_STORE_PASSWORD_FILE names. Each is undef if it is missing.

=item escaped BYTES, unescaped TEXT

Any name as one element of a path, and back.

=item tree_writer PATH

A sub that writes any profile to a handle, as a gzipped tree file, and returns 0, or anything else
if it has failed. A tree keeps its bytes. Dies if the file is no profile.

=item profile_in PATH

The L<Devel::DProf::Profile> of a file of any kind, and whether the file is a tree that is whole.
Dies if the file is no profile.

=item tree_text PATH

The text of the tree that any profile becomes in a store. Dies if the file is no profile, or no tree
can be made of it.

=item is_same PATH, PATH

Whether two files have the same profile, whatever kind of file each is. Dies as C<tree_text> does.

=item recording PROFILE

A string that all copies of a profile in a store have, and no other profile has.

=item unusable OUTCOME

Why a file that was read (L<Devel::DProf::Profile/outcome>) cannot be kept; undef if it can.

=item rows_of PROFILE, ...

What C<list> of a store returns, for profiles that its C<select> returned.

=item counted HASH, PROFILE

=item rows HASH

The same, one profile at a time: C<counted> adds a profile to a hash, which is empty at first, and
C<rows> returns the result.

=item token

A bearer token, or an API key, in the same way: DPROF_STORE_TOKEN, DPROF_STORE_TOKEN_FILE.

=item failed MESSAGE, NAME => VALUE, ...

Dies with a L<Devel::DProf::Store::Failure>.

=back

=head1 METHODS OF A STORE

Each class of a store has these. All die with a L<Devel::DProf::Store::Failure>. A SET is that of
L<Devel::DProf::Store::RunSet>. Names and paths are bytes.

=over

=item init

Makes the tables or folders that the store needs, and can be repeated. Returns what it did, as lines
for people.

=item add PROFILES

Keeps a list of profiles, a hash each: file, the path of any profile that our readers read; run, its
identity (L<Devel::DProf::Store::Spool>); service, version, host and env, where a missing one is the
empty string; start, in seconds since 1970 with a fraction; seconds, how long it is.

Adding a profile that the store already has is no error, and changes nothing. Another profile with
the same identity is an error: an identity counts once, so one of the two would be lost. (The folder
compares contents, and looks at the profiles that began on the same day; ClickHouse compares start
and length, and looks at the profiles that began while those of the list did.)

=item select SET

The selected profiles: a list of such hashes, without file, ordered by start and then by run.

=item fetch SELECTED, FOLDER

Paths of the tree files of a list that C<select> returned, in its order. The files are the store's
own, or were written into the folder.

=item are_sampled SELECTED

For each profile of such a list, whether it has samples instead of calls.

=item sums GROUPS, FOLDER, NAME => VALUE, ...

Only stores that can add up profiles have this method. GROUPS are lists of profiles that C<select>
returned. Returns a list of paths for each group: files in the folder that add up to the same
profile as those of the group's profiles, with a header for each of these. Returns nothing if the
store's tables are too old.

flat: only calls, times and counters of subs are wanted, and the subs' callers and other headers are
not. brief: statements and durations of calls are not wanted. seconds: each group has the profiles
that began in an interval of that length since 1970.

=item list SET

A list of hashes, one for each service and version: service, version, hosts and runs, which are
numbers, first and last, the starts of the earliest and the latest profile. The list is ordered by
service and version.

=item prune SET

Removes what the set selects, and returns the number of profiles.

=back

=head1 METHODS OF A RECEIVER

A receiver takes profiles and gives none back; L<Devel::DProf::Store::Receiver> has its methods.

=cut
