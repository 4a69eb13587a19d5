package AnyPprof;

# Decodes any pprof file, of any program, as protobuf's own readers do: unknown fields are skipped,
# missing ones are 0 or empty, numbers may be packed or not. What the numbers mean is not checked
# here. PprofReader is the strict one, for our own files; the two share the names of fields alone.

use strict;
use warnings;
use Exporter 'import';
use IO::Uncompress::Gunzip qw(gunzip $GunzipError);
use PprofReader ();

our @EXPORT = qw(decode_pprof pprof_totals);

# Here all numbers are unpacked, and there is a field that our own files never have.
my %FIELDS = %PprofReader::FIELDS;
$FIELDS{Sample} = { %{ $FIELDS{Sample} }, 1 => ['location_id', '*num'] };
$FIELDS{Mapping} = { %{ $FIELDS{Mapping} }, 6 => ['build_id', 'num'] };

# Reads a varint of $$bytes at its pos. Dies if the text ends in it.
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

# Returns the next LENGTH bytes of $$bytes, and moves its pos behind them.
sub skipped {
    my ($bytes, $length) = @_;
    my $at = pos $$bytes;
    die "unexpected EOF\n" if $length < 0 || $length > length($$bytes) - $at;
    pos($$bytes) = $at + $length;
    return substr $$bytes, $at, $length;
}

# Decodes a message of this name (%FIELDS) from bytes, as a hash of its fields.
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

# Returns the Profile of a pprof file as a hash, and how many bytes it has unpacked. Dies with what
# is wrong.
sub decode_pprof {
    my ($bytes) = @_;
    my $plain = $bytes;
    if ($bytes =~ /\A\x1f\x8b/) {
        gunzip(\$bytes, \$plain) or die "gzip: $GunzipError\n";
    }
    return (message('Profile', $plain), length $plain);
}

# Returns the sums of all samples of a Profile: [[type, unit, sum], ...].
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
