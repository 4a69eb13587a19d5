package Models;
# Reads lists of events by CPU model, as jevents takes them, strictly, from a folder or from memory.
use strict;
use warnings;
use Exporter 'import';
use File::Find ();
use JSON::PP ();

our @EXPORT = qw(read_lists encoding mapped);

# Returns a tree of lists: { ARCH => { rows => [ { cpuid, version, model, type } ], events => {
# MODEL => [ events ] }, files => { MODEL => [ names ] } } }, and a list of what is wrong with its
# files. Each event of a model has what its ArchStdEvent says. $files is a hash of PATH => text,
# with ARCH/... for paths.
sub read_lists {
    my ($files) = @_;
    my (%lists, %std, @bad);
    for my $path (sort keys %$files) {
        my ($arch, $model, $name) = $path =~ m{^([^/]+)/(?:(.+)/)?([^/]+)$} or next;
        my $list = $lists{$arch} //= { rows => [], events => {}, files => {} };
        if (!defined $model && $name eq 'mapfile.csv') {
            $list->{rows} = rows($path, $files->{$path}, \@bad);
        } elsif ($name =~ /\.json$/) {
            my $events = events($path, $files->{$path}, \@bad);
            if (defined $model) {
                push @{ $list->{events}{$model} }, @$events;
                push @{ $list->{files}{$model} }, $name;
            } else {
                $std{$arch}{ lc($_->{EventName} // '') } = $_ for @$events;
            }
        } else {
            push @bad, "$path: neither a list nor a map";
        }
    }
    for my $arch (keys %lists) {
        resolve($_, $std{$arch}, \@bad) for map { @$_ } values %{ $lists{$arch}{events} };
    }
    return (\%lists, @bad);
}

# Returns the same, from a folder.
sub files_below {
    my ($dir) = @_;
    my %files;
    File::Find::find({ no_chdir => 1, wanted => sub {
        return unless -f && /\.(?:json|csv)$/;
        my $path = substr $_, length($dir) + 1;
        open(my $fh, '<:raw', $_) or die "$_: $!\n";
        local $/;
        $files{$path} = <$fh>;
    } }, $dir);
    return \%files;
}

sub events {
    my ($path, $text, $bad) = @_;
    my $events = eval { JSON::PP->new->utf8->decode($text) };
    if (!$events) {
        push @$bad, "$path: " . $@ =~ s/ at \S+ line.*//sr;
        return [];
    }
    my @flat = ref $events eq 'ARRAY' ? @$events : ();
    push @$bad, "$path: no array, or an empty one" unless @flat;
    push @$bad, "$path: not only objects" if grep { ref ne 'HASH' } @flat;
    @flat = grep { ref eq 'HASH' } @flat;
    # JSON::PP accepts a key twice, and a number as a string.
    my $keys = () = $text =~ /"(?:[^"\\]|\\.)*"\s*:/g;
    my $kept = 0;
    for my $event (@flat) {
        $kept += keys %$event;
        $event->{' path'} = $path;
        push @$bad, "$path: $_ is no string"
            for grep { ref $event->{$_} || !defined $event->{$_} } sort keys %$event;
    }
    push @$bad, "$path: a key twice" if $kept != $keys;
    push @$bad, "$path: a value that is no string" if $text =~ /"\s*:\s*[^"\s]/;
    return \@flat;
}

sub rows {
    my ($path, $text, $bad) = @_;
    my (undef, @lines) = split /\n/, $text;
    my @rows;
    for (grep { /^[^#]/ } @lines) {
        my %row;
        @row{qw(cpuid version model type)} = my @fields = split /,/, $_, -1;
        push @$bad, "$path: not four fields: $_" if @fields != 4 || grep { $_ eq '' } @fields;
        push @rows, \%row;
    }
    push @$bad, "$path: does not end with a newline" if $text !~ /\n\z/;
    return \@rows;
}

sub resolve {
    my ($event, $std, $bad) = @_;
    my $name = $event->{ArchStdEvent} // return;
    my $of = $std->{ lc $name };
    push @$bad, "$event->{' path'}: no standard event $name" unless $of;
    $event->{$_} //= $of->{$_} for grep { $_ ne ' path' } keys %{ $of // {} };
}

# Returns what an event counts, in one spelling: two events are the same if these are equal.
sub encoding {
    my ($event) = @_;
    my @terms;
    for my $key (qw(EventCode ConfigCode ExtSel UMask CounterMask Invert EdgeDetect AnyThread FCMask
        PortMask MSRIndex MSRValue)) {
        my ($value) = split /,/, $event->{$key} // '';
        next unless defined $value && $value =~ /\S/;
        $value =~ s/\s//g;
        my $number = $value =~ /^0x/i ? hex $value : $value;
        push @terms, sprintf '%s=%#x', $key, $number if $number;
    }
    push @terms, map { "$_=$event->{$_}" } grep { length($event->{$_} // '') } qw(Filter Unit);
    return join ',', @terms;
}

# Returns the model of a CPU: that of the first row whose expression matches all of it.
sub mapped {
    my ($rows, $cpuid) = @_;
    for my $row (@$rows) {
        return $row->{model} if $cpuid =~ /\A(?:$row->{cpuid})\z/;
    }
    return 'none';
}

1;
