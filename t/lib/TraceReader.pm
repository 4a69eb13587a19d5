package TraceReader;

# Reads a trace profile in the plainest way there is, to check the recorder: no speed, no tolerance.
# Whatever is not as Devel::DProf::Format says is listed in {problems}. It shares no code with the
# distribution on purpose.

use strict;
use warnings;

our $ROOT = '(program)';

# TraceReader->read($file, events => 1)
#   header    name => value of the header's statements
#   subs      id => { package, name, full, file, line, kind, autoload, in, seq }
#   calls     full name => number of calls (enters and gotos, not inherited frames)
#   edges     "caller > callee" => number of calls
#   self      full name => real ticks;   incl: total ticks under each tree path is in `tree`
#   tree      { name, calls, real, user, sys, kids => { name => node }, order => [names] }
#   marks     '+' => n ...
#   sum       [user, system, real] of all @ lines
#   events    [ [sign, full name, time passed before?, depth] ... ], when asked for
#   phases    names in the order in which they began
#   in_phase  phase => { full name => calls }
#   inherited full names of frames that were running when the file began
#   depth     the deepest the stack was
#   classic => 1 takes what Devel::DProf 20110802 wrote
#   open      names of frames still open at the end
sub read {
    my ($class, $file, %opt) = @_;
    my $self = bless {
        file => $file, with_events => $opt{events}, header => {}, subs => {}, calls => {},
            edges => {}, self => {},
        marks => { map { $_ => 0 } qw(+ - * /) }, sum => [0, 0, 0], events => [],
        inherited => [], phases => [], in_phase => {}, depth => 0, problems => [], open => [],
    }, $class;
    open my $in, '<:raw', $file or do {
        $self->problem("cannot read: $!");
        return $self;
    };
    if ($self->_header($in, \%opt)) {
        $self->_trace($in, \%opt);
        $self->_sums unless $opt{classic};
    }
    return $self;
}

# Notes what is wrong with the file, with the number of the line that was read last.
sub problem {
    my ($self, $text) = @_;
    my $problems = $self->{problems};
    push @$problems, $text . ($. ? " (line $.)" : '') if @$problems < 20;
    return;
}

# Returns what is wrong with the file, as a list.
sub problems { return @{ $_[0]{problems} } }

# ---- header ----

# Reads the header.
sub _header {
    my ($self, $in, $opt) = @_;
    my $first = readline $in;
    if (!defined $first || $first ne "#fOrTyTwO\n") {
        $self->problem('does not begin with the magic number');
        return;
    }
    while (defined(my $line = readline $in)) {
        return 1 if $line eq "PART2\n";
        next if $line =~ /^#/;
        my $rest = $line;
        $rest =~ s/\s*\z/;/ if $opt->{classic} && $rest =~ /[^;\s]\s*\z/;
        while ($rest =~ s/^\s*\$(\w+)=(?:(-?\d+(?:\.\d+)?)|'((?:[^'\\]|\\.)*)');//) {
            my ($name, $number, $string) = ($1, $2, $3);
            $self->problem("\$$name twice") if exists $self->{header}{$name};
            if (defined $string) {
                $string =~ s/\\(.)/$1/g;
                # Blanks within strings are those of the old tools (`DProf 1.0`).
                $string = join ' ', map { length ? $self->_decode($_) : '' } split / /, $string, -1;
            }
            $self->{header}{$name} = $string // $number;
        }
        $self->problem("odd header line: $line") if $rest =~ /\S/ || $line !~ /\n\z/;
    }
    $self->problem('no PART2');
    return;
}

# Returns a field decoded.
sub _decode {
    my ($self, $text) = @_;
    return '' if $text eq '%';
    $self->problem("raw control byte in '$text'") if $text =~ /[\x00-\x20\x7f]/;
    $self->problem("bad escape in '$text'") if $text =~ /%(?![0-9A-F]{2})/;
    $text =~ s/%([0-9A-F]{2})/chr hex $1/ge;
    utf8::decode($text);
    return $text;
}

# ---- trace ----

# Reads the line of a sub.
sub _name {
    my ($self, $fields) = @_;
    my ($id, $package, $name, $place, @more) = split / /, $fields, -1;
    if (!defined $place || $id !~ /^[0-9a-f]+$/) {
        $self->problem("bad name line: & $fields");
        return;
    }
    $self->problem("id $id named twice") if $self->{subs}{$id} || $self->{phase_names}{$id};
    if ($package eq '%' && "@more" eq 'kind=phase') {
        $self->{phase_names}{$id} = $self->_decode($name);
        return;
    }
    my %sub = (id => $id, package => $self->_decode($package), name => $self->_decode($name));
    $sub{full} = $sub{package} . (grep({ $_ eq 'kind=span' } @more) ? ':' : '::') . $sub{name};
    if ($place ne '-') {
        $place =~ /^(.*):(\d+)$/s or $self->problem("bad place $place");
        @sub{qw(file line)} = ($self->_decode($1 // ''), $2);
    }
    for (@more) {
        my ($key, $value) = /^(\w+)=(.*)$/s or $self->problem("bad field '$_' in & $fields");
        $sub{$key} = $self->_decode($value) if defined $key;
    }
    $self->{subs}{$id} = \%sub;
    return;
}

# Returns an empty node of the tree.
sub _node {
    return { name => $_[0], calls => 0, real => 0, user => 0, sys => 0, kids => {}, order => [] }
}

# Returns the kid of a node by name, made if it is new.
sub _kid {
    my ($node, $name) = @_;
    return $node->{kids}{$name} //= do {
        push @{ $node->{order} }, $name;
        _node($name);
    };
}

# Reads the marks, and adds up times and calls.
sub _trace {
    my ($self, $in, $opt) = @_;
    my $root = $self->{tree} = _node($ROOT);
    my @stack = ([undef, $root]);           # [id first entered, node, parent of node]
    my $node = $root;
    my ($subs, $marks) = @$self{qw(subs marks)};
    my $inherit = $self->{header}{dprof_inherited} // 0;
    my ($passed, $suspend, $depth, $phase, $in_phase) = (0, 0, 0, '');
    my $counters = () = ($self->{header}{dprof_counters} // '') =~ /\S+/g;
    my $more = qr/^(?:\d+ ?){$counters}\z/;
    my $events = $opt->{events} && $self->{events};

    while (defined(my $line = readline $in)) {
        if (chop $line ne "\n") {
            $self->problem('ends in the middle of a line');
            last;
        }
        my $sign = substr $line, 0, 1;
        if ($sign eq '@') {
            my ($user, $sys, $real, $counts) = $line
                =~ /^\@ ([0-9]+) ([0-9]+) ([0-9]+)(?: (.*))?\z/s;
            if (!defined $user || ($counters || defined $counts) && ($counts // '') !~ $more) {
                $self->problem("odd line: $line");
                next;
            }
            $self->problem('an empty @ line')
                unless $user + $sys + $real || ($counts // '') =~ /[1-9]/;
            $self->problem("more CPU than time: $line") if $user + $sys > $real;
            $node->{user} += $user;
            $node->{sys} += $sys;
            $node->{real} += $real;
            $passed = $real || 1;
            next;
        }
        # StrictProfile compares the sums.
        next if $line =~ /^#f \S+ size=\d+ crc=[0-9a-f]+\z/
            || $line =~ /^# end(?: (?:marks|user|system|real)=\d+){4}\z/;
        if ($sign eq '#' && $line =~ /^# (phase|suspend|resume) ([0-9a-f]+)\z/) {
            # Time up to a stop belongs to the program itself if no sub runs then.
            $passed = 0 if $1 eq 'suspend' && !hex $2;
            $inherit = $2 if $1 eq 'resume';
            $suspend = $2 if $1 eq 'suspend';
            next if $1 ne 'phase';
            $phase = $self->{phase_names}{$2} // $self->problem("unknown phase: $line");
            undef $in_phase;
            push @{ $self->{phases} }, $phase;
            next;
        }
        if ($sign !~ /^[&+*\/-]/ || substr($line, 1, 1) ne ' ') {
            $self->problem("odd line: $line");
            next;
        }
        my $rest = substr $line, 2;
        my $sub = $sign ne '&' && $subs->{$rest};
        if (!$sub) {
            # This is what the classic recorder spent on writing.
            next if $opt->{classic} && $rest =~ /^& /;
            if ($sign eq '&') {
                $self->_name($opt->{classic} ? "$rest -" : $rest);
            } else {
                $self->problem("unknown id in: $line");
            }
            next;
        }
        my $full = $sub->{full};
        $marks->{$sign}++;
        if ($sign eq '+') {
            my $inherited = $inherit && $inherit--;
            my $kid = $node->{kids}{$full} || _kid($node, $full);
            push @stack, [$rest, $kid, $node];
            $depth = $#stack if $depth < $#stack;
            if ($inherited) {
                push @{ $self->{inherited} }, $full;
                $self->problem('time passed before an inherited frame') if $passed;
            } else {
                ($in_phase //= $self->{in_phase}{$phase} //= {})->{$full}++;
                $kid->{calls}++;
            }
            $node = $kid;
        } elsif (@stack == 1) {
            $self->problem("unexpected: $line");
            next;
        } elsif ($sign eq '*') {
            $node = $stack[-1][1] = _kid($stack[-1][2], $full);
            ($in_phase //= $self->{in_phase}{$phase} //= {})->{$full}++;
            $node->{calls}++;
        } else {
            my $top = pop @stack;
            if ($suspend && $suspend--) {
                $self->problem("$line is suspended") if $sign ne '/';
            }
            $self->problem("'$line' ends a frame of $top->[0]")
                if $top->[0] ne $rest && !$opt->{classic};
            $node = $stack[-1][1];
        }
        push @$events, [$sign, $full, $passed, scalar @stack] if $events;
        $passed = 0;
    }
    $self->{depth} = $depth;
    $self->{trailing} = $passed;
    $self->{open} = [map { $subs->{ $_->[0] }{full} } @stack[1 .. $#stack]];
    $self->problem('inherited frames are missing') if $inherit;
    $self->_add_up($root);
    close $in;
    return;
}

# Adds up what the tree has of each sub, each pair, and in all.
sub _add_up {
    my ($self, $root) = @_;
    my @todo = [$root];
    while (my $next = pop @todo) {
        my ($node, $parent) = @$next;
        push @todo, map { [$_, $node] } values %{ $node->{kids} };
        $self->{sum}[0] += $node->{user};
        $self->{sum}[1] += $node->{sys};
        $self->{sum}[2] += $node->{real};
        $self->{self}{ $node->{name} } += $node->{real} if $node->{real};
        next if !$node->{calls};
        $self->{calls}{ $node->{name} } += $node->{calls};
        $self->{edges}{"$parent->{name} > $node->{name}"} += $node->{calls};
    }
    return;
}

# Compares the header with what was read.
sub _sums {
    my $self = shift;
    my $header = $self->{header};
    for (qw(hz XS_VERSION dprof_format dprof_run dprof_pid dprof_ppid dprof_tid dprof_perl
            dprof_script dprof_start dprof_clock dprof_options dprof_inherited)) {
        $self->problem("no \$$_") unless defined $header->{$_};
    }
    return unless $header->{dprof_complete};
    my $marks = 0;
    $marks += $_ for values %{ $self->{marks} };
    $self->problem("\$total_marks is $header->{total_marks}, but there are $marks")
        if $header->{total_marks} != $marks;
    my @sum = @{ $self->{sum} };
    for (qw(utime stime rtime)) {
        my $sum = shift @sum;
        $self->problem("\$rrun_$_ is " . $header->{"rrun_$_"} . ", but the lines say $sum")
            if $header->{"rrun_$_"} != $sum;
    }
    $self->problem("frames open at the end: @{ $self->{open} }") if @{ $self->{open} };
    return;
}

# ---- questions ----

sub complete { return $_[0]{header}{dprof_complete} }
sub calls { return $_[0]{calls}{ $_[1] } // 0 }
sub edge { return $_[0]{edges}{"$_[1] > $_[2]"} // 0 }
sub self_time { return $_[0]{self}{ $_[1] } // 0 }

# Returns subs of this full name, in the order of their ids.
sub named {
    my ($self, $full) = @_;
    my $subs = $self->{subs};
    return map { $subs->{$_} } sort { hex $a <=> hex $b } grep { $subs->{$_}{full} eq $full }
        keys %$subs;
}

# Returns the marks of subs that match, as words: `+main::f -main::f`; main:: is left out. A ~
# stands before a mark if no time passed since the last one shown.
sub marks {
    my ($self, $filter) = @_;
    die "read without events => 1\n" if !$self->{with_events};
    my $passed = 0;
    my @words;
    for (@{ $self->{events} }) {
        my ($sign, $full, $time) = @$_;
        $passed ||= $time;
        next unless $full =~ $filter;
        push @words, ($passed ? '' : '~') . $sign . ($full =~ s/^main:://r);
        $passed = 0;
    }
    return @words;
}

1;
