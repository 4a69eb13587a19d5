package NaiveProfile;

# Reads as Format.pod says, word by word, in the plainest way: each interval is given to every name
# on the stack. This is slow, and independent of the C core.

use strict;
use warnings;
use Math::BigInt;

# Reads the text of a profile, in the plainest way.
sub new {
    my ($class, $text) = @_;
    my $self = bless { flat => {}, order => [], total => [0, 0, 0], tree => {}, lines => [],
        hz => 100 }, $class;
    $self->read($text);
    return $self;
}

# Returns a field of a name line decoded, if $on is true.
sub decode {
    my ($s, $on) = @_;
    $on and ($s = $s eq '%' ? '' : $s =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ger);
    $s;
}

# Returns the name that a line gives: PACKAGE::NAME, or KIND:TEXT of a span.
sub name_of {
    my ($ours, undef, undef, $package, $name, @more) = @_;
    my $of = decode($package, $ours);
    return decode($name, $ours) if !length $of;
    return $of . (grep({ $_ eq 'kind=span' } @more) ? ':' : '::') . decode($name, $ours);
}

# Adds up the times and calls of a profile's text.
sub read {
    my ($self, $text) = @_;
    my ($head, $trace) = $text =~ /\A(.*?^PART[23]\r?\n)(.*)\z/ms or die "no header";
    my $tree = $head =~ /^PART3\r?\n\z/m ? $trace : $trace =~ s/^PART3\n(.*)\z//ms ? $1 : '';
    $trace = '' if $head =~ /^PART3\r?\n\z/m;
    my %h;
    $h{$1} = defined $3 ? $3 : $2 while $head =~ /\$(\w+)=('((?:[^'\\]|\\.)*)'|[-\d.]+)/g;
    $self->{hz} = $h{hz} // 100;
    my $ours = exists $h{dprof_format};
    my $inherited = $h{dprof_inherited} // 0;
    my @over = map { $h{"over_${_}time"} // 0 } qw(u s r);
    my $tests = $h{over_tests} || 1;
    my (%name, @stack, $clock, $writing);
    my @wait = (0, 0, 0);
    my @counters = map { s/:[^:]*\z//r } split ' ', $h{dprof_counters} // '';
    my @counted = (0) x @counters;
    my @passed = (0, 0, 0);
    my $mark_number = 0;
    my $give = sub {
        my ($to, @t) = @_;      # to: the stack that is charged
        my %seen;
        $self->{total}[$_] += $t[$_] for 0 .. 2;
        $self->{flat}{'(program)'}{incl}[$_] += $t[$_] for 0 .. 2;
        for my $n (grep { !$seen{$_}++ } @$to) { $self->{flat}{$n}{incl}[$_] += $t[$_] for 0 .. 2 }
        my $top = @$to ? $to->[-1] : '(program)';
        $self->{flat}{$top}{self}[$_] += $t[$_] for 0 .. 2;
        $self->{tree}{ join ';', @$to }{self}[$_] += $t[$_] for 0 .. 2;
    };
    my $pass = sub {
        my @t = map { $_ < 0 ? 0 : $_ } @_;
        $passed[$_] += $t[$_] for 0 .. 2;
        if (!$writing) { $wait[$_] += $t[$_] for 0 .. 2 }
        if ($clock) { $clock->[$_] += $t[$_] for 0 .. 2 }
    };
    for my $line (split /\n/, $trace) {
        my @f = split ' ', $line;
        $inherited = $f[2] if @f == 3 && $f[0] eq '#' && $f[1] eq 'resume';
        next if !@f || $f[0] =~ /^#/;
        if ($f[0] eq '@') {
            $pass->(@f[1 .. 3]);
            if (!$writing) { $counted[$_] += $f[4 + $_] // 0 for 0 .. $#counters }
            next;
        }
        if ($f[0] eq '&') {
            $name{ hex $f[1] } = name_of($ours, @f);
            next;
        }
        my $n;
        if (@f >= 4 && $f[1] ne '&') {
            my @now = @f[1 .. 3];
            $pass->(map { $clock && $now[$_] > $clock->[$_] ? $now[$_] - $clock->[$_] : 0 } 0 .. 2);
            $clock = [@now];
            $n = $f[4];
        } elsif ($f[1] eq '&') {
            $n = $f[2];
        } else {
            $n = $name{ hex $f[1] };
        }
        if ($n eq 'Devel::DProf::write' && ($f[1] eq '&' || @f >= 4)) { $writing = $f[0] eq '+';
        next }
        # Computes the mark's share of the overhead, in whole ticks that add up.
        my @cost = map {
            my $all = Math::BigInt->new($over[$_]);
            my ($before, $after) = map { ($all * $_ / (2 * $tests))->numify } $mark_number,
                $mark_number + 1;
            $after - $before;
        } 0 .. 2;
        $mark_number++;
        $give->(\@stack, map { $wait[$_] - ($cost[$_] < $wait[$_] ? $cost[$_] : $wait[$_]) }
            0 .. 2);
        @wait = (0, 0, 0);
        $self->{counts}{ join ';', @stack }{ $counters[$_] } += $counted[$_] for 0 .. $#counters;
        @counted = (0) x @counters;
        pop @stack if $f[0] ne '+';
        if ($f[0] eq '+' || $f[0] eq '*') {
            push @{ $self->{lines} }, '   ' x @stack . $n . ($inherited > 0 ? ' (goes on)' : '');
            push @stack, $n;
            push @{ $self->{order} }, $n if !$self->{flat}{$n}{seen}++;
            my $call = $inherited > 0 ? 0 : 1;
            $inherited--;
            $self->{flat}{$n}{calls} += $call;
            $self->{tree}{ join ';', @stack }{calls} += $call;
        }
    }
    $give->(\@stack, @wait);
    $self->{counts}{ join ';', @stack }{ $counters[$_] } += $counted[$_] for 0 .. $#counters;
    $self->{open} = length $tree || $head =~ /PART3/ ? [] : [@stack];
    %name = () if $tree =~ /^&/m;
    my (@path, %phase);
    for my $line (split /\n/, $tree) {
        my @f = split ' ', $line;
        if ($f[0] eq '&') {
            $name{ hex $f[1] } = name_of($ours, @f);
            $phase{ hex $f[1] } = 1 if $line =~ / kind=phase/;
        }
        next if $f[0] ne '=';
        my ($depth, $id, $calls, $user, $system, $real, $longest, $shortest) = @f[1 .. 8];
        splice @path, $depth ? $depth - 1 : 0;
        push @path, $name{ hex $id } if $depth;
        $path[-1] = '' if $depth && $phase{ hex $id };
        $passed[0] += $user, $passed[1] += $system, $passed[2] += $real;
        my @subs = grep { length } @path;       # phases are no frames here
        $give->(\@subs, $user, $system, $real);
        my $at = join ';', @subs;
        $self->{counts}{$at}{ $counters[$_] } += $f[9 + $_] for 0 .. $#counters;
        next if !$depth || !length $path[-1];
        push @{ $self->{order} }, $path[-1] if !$self->{flat}{ $path[-1] }{seen}++;
        $self->{flat}{ $path[-1] }{calls} += $calls;
        $self->{tree}{$at}{calls} += $calls;
        next if !$longest;
        my $span = $self->{span}{$at} //= [0, $shortest];
        $span->[0] = $longest if $longest > $span->[0];
        $span->[1] = $shortest if $shortest < $span->[1];
    }
    my @rest = $h{dprof_saved} ? (0, 0, 0) : map {
        my $r = ($h{"rrun_${_}time"} // 0) - $passed[{ u => 0, s => 1, r => 2 }->{$_}];
        $r > 0 ? $r : 0
    } qw(u s r);
    $give->([], @rest);
}

my %columns = (cpu => [0, 1], user => [0], system => [1], real => [2]);

# Returns the sum of the times that a column's name means.
sub pick { my ($t, $time) = @_; my $sum = 0; $sum += $t->[$_] // 0 for @{ $columns{$time} }; $sum }

# Returns a hash from names to [calls, self, inclusive], with times of this kind.
sub flat {
    my ($self, $time) = @_;
    my %out;
    for my $n (keys %{ $self->{flat} }) {
        my $f = $self->{flat}{$n};
        $out{$n} = [$n eq '(program)' ? 1 : $f->{calls} // 0, pick($f->{self}, $time),
            pick($f->{incl}, $time)];
    }
    return \%out;
}

# Returns a hash from paths "a;b;c" to [calls, inclusive], with times of this kind.
sub tree {
    my ($self, $time) = @_;
    my %out;
    for my $path (grep { length } keys %{ $self->{tree} }) {
        my $incl = 0;
        for my $other (keys %{ $self->{tree} }) {
            $incl += pick($self->{tree}{$other}{self}, $time)
                if $other eq $path || index($other, "$path;") == 0;
        }
        $out{$path} = [$self->{tree}{$path}{calls} // 0, $incl];
    }
    return \%out;
}

1;
