package Foreign;

# Files as other profilers write them.

use strict;
use warnings;
use Exporter 'import';

our @EXPORT_OK = qw(pprof_bytes callgrind_text);

# ---- protocol buffers ----

# Returns a number as a varint.
sub varint {
    my ($n) = @_;
    my $bytes = '';
    for (; $n >= 0x80; $n >>= 7) { $bytes .= chr($n & 0x7f | 0x80) }
    return $bytes . chr $n;
}

# Returns the field with this number as bytes of a message: a number.
sub number { my ($field, $n) = @_; return varint($field << 3) . varint($n) }

# Returns the field with this number as bytes of a message: text or a message of its own.
sub message {
    my ($field, $bytes) = @_;
    return varint($field << 3 | 2) . varint(length $bytes) . $bytes;
}

# A profile of pprof, not packed. All of these have defaults:
#   types      [[name, unit], ...]
#   samples    [[[frames], [values], phase], ...]: frames from the caller to the callee, as names;
#              values as many as types; the phase may be missing
#   places     { name => [file, line] }
#   default    the name of the type that is shown first
sub pprof_bytes {
    my %how = (types => [['cpu', 'nanoseconds']], samples => [], places => {}, @_);
    my (@strings, %string, %function, $tables);
    my $string = sub { $string{ $_[0] } //= push(@strings, $_[0]) - 1 };
    $string->('');
    my $function = sub {
        my ($name) = @_;
        return $function{$name} if $function{$name};
        my $id = $function{$name} = 1 + keys %function;
        my ($file, $line) = @{ $how{places}{$name} || ['', 0] };
        $tables .= message(5, number(1, $id) . number(2, $string->($name))
            . number(4, $string->($file)) . number(5, $line));
        $tables .= message(4, number(1, $id) . message(4, number(1, $id) . number(2, $line)));
        return $id;
    };
    my $bytes = join '',
        map { message(1, number(1, $string->($_->[0])) . number(2, $string->($_->[1]))) }
            @{ $how{types} };
    for my $sample (@{ $how{samples} }) {
        my ($frames, $values, $phase) = @$sample;
        $bytes .= message(2, message(1, join '', map { varint($function->($_)) } reverse @$frames)
            . message(2, join '', map { varint($_) } @$values)
            . (defined $phase
                ? message(3, number(1, $string->('phase')) . number(2, $string->($phase))) : ''));
    }
    $bytes .= number(14, $string->($how{default})) if defined $how{default};
    return $bytes . ($tables // '') . join '', map { message(6, $_) } @strings;
}

# ---- callgrind.out ----

# A file of callgrind. Functions are [name, [own costs], [callee, calls, [inclusive costs]] ...].
sub callgrind_text {
    my ($events, @functions) = @_;
    my $text = "# callgrind format\nversion: 1\ncreator: made up\npositions: line\n"
        . "events: $events\n\n";
    my $n = 0;
    my %number;
    my $name = sub { $number{ $_[0] } ? "($number{$_[0]})" : do {
        $number{ $_[0] } = ++$n;
        "($n) $_[0]";
    } };
    for my $function (@functions) {
        my ($sub, $own, @calls) = @$function;
        $text .= 'fl=(1)' . ($n ? '' : ' x.pl') . "\nfn=" . $name->($sub) . "\n1 @$own\n";
        for my $call (@calls) {
            my ($callee, $calls, $cost) = @$call;
            $text .= 'cfn=' . $name->($callee) . "\ncalls=$calls 1\n+0 @$cost\n";
        }
    }
    return $text;
}

1;
