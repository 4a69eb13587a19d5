package PprofReader;

# Reads pprof files as strictly as any of their readers, and more strictly than most. It refuses
# what violates the comments of google/pprof's proto/profile.proto demand, what CheckValid in its
# profile/profile.go checks, what Parca and Pyroscope refuse. It shares no code with the writer.

use strict;
use warnings;
use Exporter 'import';
use IO::Uncompress::Gunzip qw($GunzipError);

our @EXPORT = qw(read_pprof pprof_frames pprof_stacks);

# message => { field => [name, kind] }. A kind is num, a message's name, or bytes; with * in front
# it may be repeated, and numbers are packed. ids are packed numbers that stay so: there may be
# many.
our %FIELDS = (
    Profile => { 1 => ['sample_type', '*ValueType'], 2 => ['sample', '*Sample'],
        3 => ['mapping', '*Mapping'], 4 => ['location', '*Location'],
        5 => ['function', '*Function'], 6 => ['string_table', '*bytes'],
        9 => ['time_nanos', 'num'], 10 => ['duration_nanos', 'num'],
        11 => ['period_type', 'ValueType'], 12 => ['period', 'num'],
        14 => ['default_sample_type', 'num'] },
    ValueType => { 1 => ['type', 'num'], 2 => ['unit', 'num'] },
    Sample => { 1 => ['location_id', 'ids'], 2 => ['value', '*num'], 3 => ['label', '*Label'] },
    Label => { 1 => ['key', 'num'], 2 => ['str', 'num'], 3 => ['num', 'num'],
        4 => ['num_unit', 'num'] },
    Mapping => { 1 => ['id', 'num'], 5 => ['filename', 'num'], 7 => ['has_functions', 'num'],
        8 => ['has_filenames', 'num'], 9 => ['has_line_numbers', 'num'] },
    Location => { 1 => ['id', 'num'], 2 => ['mapping_id', 'num'], 4 => ['line', '*Line'] },
    Line => { 1 => ['function_id', 'num'], 2 => ['line', 'num'] },
    Function => { 1 => ['id', 'num'], 2 => ['name', 'num'], 3 => ['system_name', 'num'],
        4 => ['filename', 'num'], 5 => ['start_line', 'num'] },
);

# ---- the wire ----

# Reads a varint of a text at its pos, in its shortest form and of 63 bits: no count is negative.
sub varint {
    my ($bytes) = @_;
    $$bytes =~ /\G([\x80-\xff]{0,9}[\x00-\x7f])/gc or die "a number that does not end\n";
    my ($value, $shift) = (0, 0);
    for my $byte (unpack 'C*', $1) {
        $value |= ($byte & 0x7f) << $shift;
        $shift += 7;
    }
    die "a number that is written too long\n" if length $1 > 1 && $1 =~ /\x00\z/;
    die "a negative number\n" if length $1 > 9;
    return $value;
}

# Returns the numbers in a packed field.
sub numbers {
    my ($bytes) = @_;
    my @numbers;
    pos($bytes) = 0;
    push @numbers, varint(\$bytes) while pos $bytes < length $bytes;
    return @numbers;
}

# Returns the fields of a message: [number, value, wire type], in their order.
sub fields_of {
    my ($bytes) = @_;
    my @fields;
    pos($bytes) = 0;
    while (pos $bytes < length $bytes) {
        my $tag = varint(\$bytes);
        my ($number, $type) = ($tag >> 3, $tag & 7);
        my $value = varint(\$bytes);
        if ($type == 2) {
            my $at = pos $bytes;
            die "field $number: longer than what it is in\n" if $value > length($bytes) - $at;
            pos($bytes) = $at + $value;
            $value = substr $bytes, $at, $value;
        } elsif ($type) {
            die "field $number: wire type $type\n";
        }
        push @fields, [$number, $value, $type];
    }
    return @fields;
}

# Decodes a message of this name (%FIELDS) from bytes, as a hash. Dies with what is wrong.
sub message {
    my ($name, $bytes) = @_;
    my %message = map { $_->[1] =~ /^\*/ ? ($_->[0] => []) : () } values %{ $FIELDS{$name} };
    my %seen;
    for my $field (fields_of($bytes)) {
        my ($number, $value, $type) = @$field;
        my ($key, $kind) = @{ $FIELDS{$name}{$number} // die "$name: field $number\n" };
        my $many = $kind =~ s/^\*//;
        die "$name.$key: wire type $type\n" if $type != ($kind eq 'num' && !$many ? 0 : 2);
        die "$name.$key: twice\n"
            if $seen{$number}++ && (!$many || $kind eq 'num');
        die "$name.$key: a 0 that nobody needs\n" if !$many && $kind eq 'num' && !$value;
        if ($many && $kind eq 'num') {
            die "$name.$key: empty\n" if !length $value;
            $message{$key} = [numbers($value)];
        } else {
            $value = message($kind, $value) if $FIELDS{$kind};
            if ($many) { push @{ $message{$key} }, $value }
            else { $message{$key} = $value }
        }
    }
    return \%message;
}

# ---- the profile ----

# Returns what a file holds, or dies with what is wrong with it:
#   types      [[type, unit], ...]
#   default, time, duration, period, script
#   functions  [{ name, file, line }, ...] from 1 up
#   locations  [[function, line], ...] from 1 up
#   samples    [{ ids, values, labels }, ...]; ids: of pprof_frames
sub read_pprof {
    my ($packed) = @_;
    my $bytes;
    my $gunzip = IO::Uncompress::Gunzip->new(\$packed, Transparent => 0)
        or die "no gzip: $GunzipError\n";
    { local $/; $bytes = readline $gunzip; }
    die "bytes behind the end of gzip\n" if !$gunzip->eof || length $gunzip->trailingData;
    my $profile = message('Profile', $bytes // '');
    my $text = strings($profile);
    my @functions = functions($profile, $text);
    my @locations = locations($profile, $#functions);
    my %read = (functions => \@functions, locations => \@locations,
        script => mapping($profile, $text),
        default => $text->($profile->{default_sample_type} // die "no default\n"));
    $read{types} = [map { [type($_, $text)] } @{ $profile->{sample_type} }];
    my %types = map { ("@$_" => 1) } @{ $read{types} };
    die "no types, or one twice\n" if !%types || keys %types != @{ $read{types} };
    die "period: no type of samples\n"
        if !$profile->{period_type} || !$types{ join ' ', type($profile->{period_type}, $text) };
    die "default: no type of samples\n" if !grep { $_->[0] eq $read{default} } @{ $read{types} };
    @read{qw(time duration period)}
        = map { $profile->{$_} // 0 } qw(time_nanos duration_nanos period);
    $read{samples} = [map { sample($_, scalar @{ $read{types} }, $#locations, $text) }
        @{ $profile->{sample} }];
    $text->();
    return \%read;
}

# Returns the function that returns the n-th string; without a number it dies if one was never
# asked for.
sub strings {
    my ($profile) = @_;
    my @strings = @{ $profile->{string_table} };
    die "string 0 is not empty\n" if !@strings || $strings[0] ne '';
    my (%seen, %used);
    for my $string (@strings) {
        die "a string twice: $string\n" if $seen{$string}++;
        my $copy = $string;
        die "a string that is not UTF-8: $string\n" if !utf8::decode($copy);
    }
    return sub {
        my ($n) = @_;
        if (!defined $n) {
            my ($unused) = grep { !$used{$_} } 1 .. $#strings;
            die "a string that nobody uses: $strings[$unused]\n" if $unused;
            return;
        }
        die "there is no string $n\n" if $n > $#strings;
        $used{$n} = 1;
        return $strings[$n];
    };
}

# Returns the name and the unit of a sample type. Dies if they are odd.
sub type {
    my ($type, $text) = @_;
    my ($name, $unit) = map { $text->($type->{$_} // die "a type without $_\n") } qw(type unit);
    die "type: $name\n" if $name !~ /\A[a-z_][a-z0-9_]*\z/;
    return ($name, $unit);
}

# Dies unless there is one mapping, as dprofexport writes it.
sub mapping {
    my ($profile, $text) = @_;
    my @mappings = @{ $profile->{mapping} };
    die @mappings . " mappings\n" if @mappings != 1;
    die "the mapping: $_\n"
        for grep { ($mappings[0]{$_} // 0) != 1 }
        qw(id has_functions has_filenames has_line_numbers);
    return $text->($mappings[0]{filename} // 0);
}

# Returns the functions, { name, file, line }, numbered from 1 up. Dies with what is wrong.
sub functions {
    my ($profile, $text) = @_;
    my (@functions, %seen) = (undef);
    for my $function (@{ $profile->{function} }) {
        die "function $function->{id} in place of " . @functions . "\n"
            if ($function->{id} // 0) != @functions;
        my %is = (name => $text->($function->{name} // die "a function without name\n"),
            file => $text->($function->{filename} // 0), line => $function->{start_line} // 0);
        die "$is{name}: another system_name\n" if $function->{name} != $function->{system_name};
        die "a function twice: $is{name}\n" if $seen{ join "\0", @is{qw(name file line)} }++;
        push @functions, \%is;
    }
    return @functions;
}

# Returns the locations, [function, line], numbered from 1 up. Dies with what is wrong.
sub locations {
    my ($profile, $last) = @_;
    my (@locations, %seen) = (undef);
    for my $location (@{ $profile->{location} }) {
        my ($line, @more) = @{ $location->{line} };
        die "location $location->{id} in place of " . @locations . "\n"
            if ($location->{id} // 0) != @locations;
        die "location $#locations: no mapping\n" if ($location->{mapping_id} // 0) != 1;
        die "location $#locations: not one line\n" if !$line || @more;
        my ($function, $number) = ($line->{function_id} // 0, $line->{line} // 0);
        die "location $#locations: function $function\n" if !$function || $function > $last;
        die "a location twice: $function, $number\n" if $seen{"$function $number"}++;
        push @locations, [$function, $number];
    }
    return @locations;
}

# Checks and returns a sample, { ids, values, labels }. Dies with what is wrong.
sub sample {
    my ($sample, $types, $last, $text) = @_;
    my @values = @{ $sample->{value} };
    die "a sample of " . @values . " values, not $types\n" if @values != $types;
    die "a sample without a value\n" if !grep { $_ } @values;
    my $ids = $sample->{location_id} // '';
    die "a sample without frames\n" if !length $ids;
    # Deep stacks have millions of these: those of one byte are checked by their least and greatest.
    my $long = join '', $ids =~ /[\x80-\xff]+[\x00-\x7f]/g;
    my $short = $ids =~ s/[\x80-\xff]+[\x00-\x7f]//gr;
    my $most = chr($last < 127 ? $last : 127);
    die "there is no location\n" if $short =~ /[^\x01-\Q$most\E]/;
    for my $id (numbers($long)) {
        die "there is no location $id\n" if $id > $last;
    }
    my %labels;
    for my $label (@{ $sample->{label} }) {
        my $key = $text->($label->{key} // die "a label without key\n");
        die "label $key: reserved\n" if $key =~ /\Approf::/;
        die "label $key: twice\n" if exists $labels{$key};
        die "label $key: no string\n" if !defined $label->{str} || defined $label->{num};
        $labels{$key} = $text->($label->{str});
    }
    return { ids => $ids, values => \@values, labels => \%labels };
}

# Returns the frames of a sample, the root first: [function, line] each.
sub pprof_frames {
    my ($read, $sample) = @_;
    return map { $read->{locations}[$_] } reverse numbers($sample->{ids});
}

# Returns { stack of names, with ; between => [values] }, without the root. Those of a stack are
# added up.
sub pprof_stacks {
    my ($read) = @_;
    my %stacks;
    for my $sample (@{ $read->{samples} }) {
        my ($root, @names) = map { $read->{functions}[$_->[0]]{name} } pprof_frames($read, $sample);
        die "the root is $root\n" if $root ne '(program)';
        my $to = $stacks{ join ';', map { s/;/%3B/gr } @names } //= [];
        $to->[$_] += $sample->{values}[$_] for 0 .. $#{ $sample->{values} };
    }
    return \%stacks;
}

1;
