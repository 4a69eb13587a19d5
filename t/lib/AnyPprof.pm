package AnyPprof;

# Decodes any pprof file, of any program, as protobuf's own readers do: unknown fields are skipped,
# missing ones are 0 or empty, numbers may be packed or not. What the numbers mean is not checked
# here. PprofReader is the strict one, for our own files; the two share no code.

use strict;
use warnings;
use Exporter 'import';
use IO::Uncompress::Gunzip qw(gunzip $GunzipError);

our @EXPORT = qw(decode_pprof pprof_totals);

# message => { field => [name, kind] }: kind is num, text, or a message; with * it is a list.
my %FIELDS = (
    Profile => { 1 => ['sample_type', '*ValueType'], 2 => ['sample', '*Sample'],
        3 => ['mapping', '*Mapping'], 4 => ['location', '*Location'],
        5 => ['function', '*Function'], 6 => ['string_table', '*text'], 9 => ['time_nanos', 'num'],
        10 => ['duration_nanos', 'num'], 11 => ['period_type', 'ValueType'],
        12 => ['period', 'num'] },
    ValueType => { 1 => ['type', 'num'], 2 => ['unit', 'num'] },
    Sample => { 1 => ['location_id', '*num'], 2 => ['value', '*num'], 3 => ['label', '*Label'] },
    Label => { 1 => ['key', 'num'], 2 => ['str', 'num'], 3 => ['num', 'num'] },
    Mapping => { 1 => ['id', 'num'], 5 => ['filename', 'num'], 6 => ['build_id', 'num'] },
    Location => { 1 => ['id', 'num'], 2 => ['mapping_id', 'num'], 4 => ['line', '*Line'] },
    Line => { 1 => ['function_id', 'num'], 2 => ['line', 'num'] },
    Function => { 1 => ['id', 'num'], 2 => ['name', 'num'], 3 => ['system_name', 'num'],
        4 => ['filename', 'num'], 5 => ['start_line', 'num'] },
);

sub varint {
    my ($bytes) = @_;
    $$bytes =~ /\G([\x80-\xff]{0,9}[\x00-\x7f])/gc or die "unexpected EOF\n";
    my ($value, $shift) = (0, 0);
    for my $byte (unpack 'C*', $1) {
        $value |= ($byte & 0x7f) << $shift if $shift < 64;
        $shift += 7;
    }
    # int64: the 64th bit is the sign.
    return unpack 'q', pack 'Q', $value;
}

sub skipped {
    my ($bytes, $length) = @_;
    my $at = pos $$bytes;
    die "unexpected EOF\n" if $length < 0 || $length > length($$bytes) - $at;
    pos($$bytes) = $at + $length;
    return substr $$bytes, $at, $length;
}

sub message {
    my ($name, $bytes) = @_;
    my $fields = $FIELDS{$name};
    my %message = map { my ($field, $kind) = @$_;
        ($field => $kind =~ /^\*/ ? [] : $kind eq 'num' ? 0 : undef) } values %$fields;
    pos($bytes) = 0;
    while (pos $bytes < length $bytes) {
        my $tag = varint(\$bytes);
        my ($number, $type) = ($tag >> 3, $tag & 7);
        die "wire type $type\n" if $number < 1 || $type =~ /[3467]/;
        my $value = $type == 0 ? varint(\$bytes)
            : skipped(\$bytes, $type == 1 ? 8 : $type == 5 ? 4 : varint(\$bytes));
        my ($field, $kind) = @{ $fields->{$number} // next };
        my $is_list = $kind =~ s/^\*//;
        die "$name.$field: wire type $type\n"
            if $type != 2 && ($kind ne 'num' || $type) || $type == 2 && $kind eq 'num' && !$is_list;
        if ($kind eq 'num' && $type == 2) {
            pos($value) = 0;
            push @{ $message{$field} }, varint(\$value) while pos $value < length $value;
            next;
        }
        $value = message($kind, $value) if $FIELDS{$kind};
        if ($is_list) { push @{ $message{$field} }, $value }
        else { $message{$field} = $value }
    }
    return \%message;
}

# Returns the Profile, and how many bytes it has unpacked. Dies with what is wrong.
sub decode_pprof {
    my ($bytes) = @_;
    my $plain = $bytes;
    if ($bytes =~ /\A\x1f\x8b/) {
        gunzip(\$bytes, \$plain) or die "gzip: $GunzipError\n";
    }
    return (message('Profile', $plain), length $plain);
}

# Returns [[type, unit, sum], ...].
sub pprof_totals {
    my ($profile) = @_;
    my @types = @{ $profile->{sample_type} };
    my @sums = (0) x @types;
    for my $sample (@{ $profile->{sample} }) {
        $sums[$_] += $sample->{value}[$_] for 0 .. $#types;
    }
    return [map { [(map { $profile->{string_table}[$_] } @{ $types[$_] }{qw(type unit)}),
        $sums[$_]] } 0 .. $#types];
}

1;
