package GrindReader;

# Strict readers of the formats of valgrind's callgrind and cachegrind. What is not exactly as the
# formats want it is an error, also where their own readers are more patient. Functions are
# FILE:NAME.

use strict;
use warnings;
use Exporter 'import';

our @EXPORT_OK = qw(read_callgrind read_cachegrind inclusive);

my $NUMBER = qr/0|[1-9][0-9]*/;

# Adds values to those of a list, one by one.
sub add {
    my ($to, @values) = @_;
    $to->[$_] = ($to->[$_] // 0) + $values[$_] for 0 .. $#values;
    return;
}

# Dies unless the text is UTF-8 without control bytes, with a newline at its end.
sub check_bytes {
    my ($text) = @_;
    die "no newline at the end\n" if $text !~ /\n\z/;
    die "a control byte\n" if $text =~ /[\x00-\x09\x0b-\x1f\x7f]/;
    my $copy = $text;
    die "no UTF-8\n" if !utf8::decode($copy);
    return;
}

# Returns the numbers of a line, one for each event. Dies if they are others.
sub numbers {
    my ($text, $events) = @_;
    my @numbers = split / /, $text, -1;
    die "'$text' is not a number for each event\n"
        if @numbers != @$events || grep { !/^$NUMBER\z/ } @numbers;
    return @numbers;
}

# Dies unless the functions' own costs add up to the file's total. Returns the profile.
sub sums_agree {
    my ($got) = @_;
    my @sum = (0) x @{ $got->{events} };
    add(\@sum, @$_) for values %{ $got->{self} };
    die "the functions have @sum, the summary says @{ $got->{total} }\n"
        if "@sum" ne "@{ $got->{total} }";
    return $got;
}

# Returns {events, long, header, total, self => {FUNCTION => [...]}, lines => {FUNCTION =>
# {"FILE:LINE" => [...]}}, calls => {"CALLER>CALLEE" => [COUNT, ...]}, places => {"CALLER>CALLEE at
# FILE:LINE" => [COUNT, ...]}, begin => {FUNCTION => LINE}}. FUNCTION is where the function begins.
sub read_callgrind {
    my ($text) = @_;
    my %got = map { $_ => {} } qw(header long self lines calls places begin);
    check_bytes($text);
    my @lines = split /\n/, $text;
    my $line;
    my $die = sub { die 'line ' . ($line // 'the last') . ": $_[0]\n" };
    shift(@lines) eq '# callgrind format' or die "no first line\n";
    while (defined($line = shift @lines)) {
        if ($line =~ /^event: ([A-Za-z][A-Za-z0-9]*) : (.+)/) {
            $got{long}{$1} = $2;
        } elsif ($line =~ /^(version|creator|pid|cmd|positions): (.+)/) {
            $die->('twice, or behind events') if exists $got{header}{$1} || %{ $got{long} };
            $got{header}{$1} = $2;
        } else {
            last;
        }
    }
    $got{events} = [split / /, $line =~ s/^events: //r];
    my %once = map { $_ => 1 } @{ $got{events} };
    $die->('events') if !@{ $got{events} } || keys %once != @{ $got{events} }
        || join(' ', sort keys %once) ne join ' ', sort keys %{ $got{long} };
    $die->('the header') if $got{header}{version} ne '1' || $got{header}{positions} ne 'line';
    ($line = shift @lines) =~ s/^summary: // or $die->('no summary');
    $got{total} = [numbers($line, $got{events})];
    my (%file, %function, $file, $home, $at, $callee, $is_empty);
    my $end = sub { $die->("nothing in $at") if defined $at && $is_empty; return };
    my $name_of = sub {
        my ($of, $spec, $kind) = @_;
        my ($number, $name) = $spec =~ /^\(([1-9][0-9]*)\)(?: (\S|\S.*\S))?\z/
            or $die->("not (NUMBER) and perhaps a name: '$spec'");
        $die->('a name that looks like a number') if defined $name && $name =~ /^\([0-9]/;
        $die->("defined twice: $number") if defined $name && exists $of->{$number};
        return $of->{$number} //= $name // $die->("not defined: $kind $number");
    };
    while (defined($line = shift @lines)) {
        if ($line eq '') {
            $end->();
            ($file, $home, $at) = ();
        } elsif ($line =~ /^fl=(.*)/) {
            $die->('fl within a function') if defined $at;
            $file = $home = $name_of->(\%file, $1, 'file');
        } elsif ($line =~ /^fn=(.*)/) {
            $die->('fn without fl') if !defined $file || defined $at;
            $at = "$file:" . $name_of->(\%function, $1, 'function');
            $is_empty = 1;
        } elsif ($line =~ /^(f[ie])=(.*)/) {
            my $new = $name_of->(\%file, $2, 'file');
            $die->("$1 without need, or in place of the other one")
                if !defined $at || $new eq $file || ($1 eq 'fe') != ($new eq $home);
            $file = $new;
        } elsif ($line =~ /^cfi=(.*)/) {
            $die->('cfi outside of a function') if !defined $at;
            my $name = $name_of->(\%file, $1, 'file');
            ($line = shift @lines) =~ /^cfn=(.*)/ or $die->('cfi without cfn');
            $callee = "$name:" . $name_of->(\%function, $1, 'function');
            ($line = shift @lines) =~ /^calls=([1-9][0-9]*) ($NUMBER)\z/ or $die->('no calls');
            my ($count, $to) = ($1, $2);
            $got{begin}{$callee} //= $to;
            ($line = shift @lines) =~ /^($NUMBER) (.+)/ or $die->('calls without a cost');
            my ($where, @cost) = ("$file:$1", numbers($2, $got{events}));
            $is_empty = 0;
            add($got{calls}{"$at>$callee"} //= [], $count, @cost);
            add($got{places}{"$at>$callee at $where"} //= [], $count, @cost);
        } elsif ($line =~ /^totals: (.+)/) {
            $end->();
            $die->('totals') if $1 ne "@{ $got{total} }" || @lines;
            return sums_agree(\%got);
        } elsif ($line =~ /^($NUMBER) (.+)/) {
            $die->('a cost outside of a function') if !defined $at;
            my @cost = numbers($2, $got{events});
            $is_empty = 0;
            add($got{self}{$at} //= [], @cost);
            $die->('twice') if $got{lines}{$at}{"$file:$1"};
            $got{lines}{$at}{"$file:$1"} = \@cost;
        } else {
            $die->('not known');
        }
    }
    die "no totals\n";
}

# Returns what each function has with all that it calls, as a hash by function: the sum of its
# calls, [...] each.
sub inclusive {
    my ($got) = @_;
    my %sum;
    for my $edge (keys %{ $got->{calls} }) {
        my ($count, @cost) = @{ $got->{calls}{$edge} };
        add($sum{ $edge =~ s/.*>//sr } //= [], @cost);
    }
    return \%sum;
}

# Returns {events, cmd, total, self, lines} as above; a function is of the file that its lines are
# in.
sub read_cachegrind {
    my ($text) = @_;
    check_bytes($text);
    my %got = (self => {}, lines => {});
    my @lines = split /\n/, $text;
    shift(@lines) =~ /^desc: \S/ or die "no desc\n";
    shift(@lines) =~ /^cmd: (.+)/ and $got{cmd} = $1 or die "no cmd\n";
    shift(@lines) =~ /^events: (.+)/ and $got{events} = [split / /, $1] or die "no events\n";
    pop(@lines) =~ /^summary: (.+)/ and $got{total} = [numbers($1, $got{events})]
        or die "no summary\n";
    my ($file, $at);
    for my $line (@lines) {
        if ($line =~ /^fl=(.+)/) {
            ($file, $at) = ($1);
        } elsif ($line =~ /^fn=(.+)/) {
            die "fn without fl\n" if !defined $file || defined $at;
            $at = "$file:$1";
        } elsif ($line =~ /^($NUMBER) (.+)/ && defined $at) {
            my @cost = numbers($2, $got{events});
            add($got{self}{$at} //= [], @cost);
            add($got{lines}{$at}{$1} //= [], @cost);
        } else {
            die "not known: $line\n";
        }
    }
    return sums_agree(\%got);
}

1;
