package KnownStacks;

# A program whose calls are a tree: each sub has one caller, and one line that calls it. So every
# mixture of two stacks is one that cannot be.

use strict;
use warnings;

# Makes a program whose stacks are known: a tree of subs of this depth, in which each sub calls
# three others.
sub new {
    my ($class, $depth) = @_;
    my $self = bless { lines => ['use strict; use warnings;'], caller => { f => 'main' },
        call_line => {}, sub_of => [] }, $class;
    $self->add_sub('f', $depth);
    push @{ $self->{lines} }, '$SIG{TERM} = sub { exit 3 };', '$| = 1; print "."; my $n = 0;',
        'while (!$ARGV[0] || $n++ < $ARGV[0]) {', '  my $x = f(1);', '}';
    $self->{call_line}{f} = $#{ $self->{lines} };
    return $self;
}

# Adds a sub to the program, and those that it calls.
sub add_sub {
    my ($self, $name, $depth) = @_;
    my $lines = $self->{lines};
    my $add = sub { push @$lines, $_[0]; $self->{sub_of}[@$lines] = $name };
    $add->("sub $name {");
    $add->('  my $x = shift;');
    for my $kid (map { "${name}_$_" } 0 .. ($depth ? 2 : -1)) {
        $add->('  $x += 1;');
        $add->("  \$x = $kid(\$x);");
        $self->{call_line}{$kid} = @$lines;
        $self->{caller}{$kid} = $name;
    }
    $add->('  $x &= 0xffff;');
    $add->('  return $x;');
    push @$lines, '}';
    $self->add_sub("${name}_$_", $depth - 1) for 0 .. ($depth ? 2 : -1);
    return;
}

# Returns the program. It prints a dot when it begins, and calls f as often as its argument says,
# or for ever.
sub program { my ($self) = @_; return join("\n", @{ $self->{lines} }) . "\n" }

# Reads the text of a profile of that program. Returns the number of its samples, and a list of what
# cannot be.
sub impossible {
    my ($self, $text) = @_;
    my (%name, @path, %wrong, $is_module);
    my $n = 0;
    for (split /\n/, $text) {
        if (/^& (\w+) \S+ (\S+)/) {
            $name{$1} = $2;
        } elsif (/^= (\w+) (\w+) \S+ \S+ \S+ \S+ \S+ \S+ (\S+)(.*)/) {
            my ($depth, $sub, $samples, $rest) = (hex $1, $name{$2} // '', $3, $4);
            $n += $samples;
            $#path = $depth;
            $path[$depth] = $sub;
            next if $sub !~ /^f/;
            my ($at) = $rest =~ /at=\S+:(\d+)/;
            my $above = $path[$depth - 1];
            $wrong{"$sub below $above"} += $samples || 1 if $above ne $self->{caller}{$sub};
            $wrong{"$sub called at line " . ($at // '?')} += $samples || 1
                if ($at // 0) != $self->{call_line}{$sub};
        } elsif (/^#f (\S+)/) {
            $is_module = $1 =~ /\.pm\z/;          # strict.pm, warnings.pm
        } elsif (!$is_module && /^#l (\d+) (\w+)/) {
            my ($line, $sub) = ($1, $name{$2} // '');
            $wrong{"line $line of $sub"}++
                if ($self->{sub_of}[$line] // '') ne ($sub =~ /^f/ ? $sub : '');
        }
    }
    return ($n, join ', ', map { "$_ ($wrong{$_})" } sort keys %wrong);
}

1;
