#!/usr/bin/perl
# A small spreadsheet: cells with numbers, texts and formulas; prints what they come to.
# usage: sheet.pl [FILE]     lines like: B7 = SUM(A1:A6) * 2     without a file: a sample
use strict;
use warnings;

# Formulas are compiled to closures by recursive descent:
#   sum = product { (+|-) product }     product = power { (*|/) power }
#   power = atom [ ^ power ]            atom = number | cell | NAME(args) | (sum) | -atom
package Sheet::Formula;

my %FUNCTION = (
    SUM   => sub { my $sum = 0; $sum += $_ for @_; $sum },
    COUNT => sub { scalar @_ },
    MIN   => sub { my $min = shift; for (@_) { $min = $_ if $_ < $min } $min },
    MAX   => sub { my $max = shift; for (@_) { $max = $_ if $_ > $max } $max },
    IF    => sub { $_[0] ? $_[1] : $_[2] },
    ROUND => sub { sprintf '%.*f', $_[1] // 0, $_[0] },
);

sub compile {
    my ($class, $text) = @_;
    my $self = bless { tokens => [ $text =~ /\d+(?:\.\d+)?|[A-Z]+\d*|[-+*\/^(),:]|\S/g ],
        text => $text }, $class;
    my $code = $self->sum;
    $self->fail if @{ $self->{tokens} };
    return $code;
}

sub fail { die "#SYNTAX\n" }
sub peek { $_[0]{tokens}[0] // '' }
sub take { shift @{ $_[0]{tokens} } // $_[0]->fail }

sub expect {
    my ($self, $token) = @_;
    $self->take eq $token or $self->fail;
}

sub sum {
    my ($self) = @_;
    my $left = $self->product;
    while ($self->peek =~ /^[-+]$/) {
        my ($op, $a, $b) = ($self->take, $left, $self->product);
        $left = $op eq '+' ? sub { $a->($_[0]) + $b->($_[0]) } : sub { $a->($_[0]) - $b->($_[0]) };
    }
    return $left;
}

sub product {
    my ($self) = @_;
    my $left = $self->power;
    while ($self->peek =~ m{^[*/]$}) {
        my ($op, $a, $b) = ($self->take, $left, $self->power);
        $left = $op eq '*' ? sub { $a->($_[0]) * $b->($_[0]) }
            : sub { my $by = $b->($_[0]) or die "#DIV/0\n"; $a->($_[0]) / $by };
    }
    return $left;
}

sub power {
    my ($self) = @_;
    my $base = $self->atom;
    return $base if $self->peek ne '^';
    $self->take;
    my $exponent = $self->power;
    return sub { $base->($_[0]) ** $exponent->($_[0]) };
}

sub atom {
    my ($self) = @_;
    my $token = $self->take;
    if ($token eq '-') {
        my $of = $self->atom;
        return sub { -$of->($_[0]) };
    }
    if ($token eq '(') {
        my $inner = $self->sum;
        $self->expect(')');
        return $inner;
    }
    return sub { $token } if $token =~ /^\d/;
    return sub { $_[0]->value($token) } if $token =~ /^[A-Z]+\d+$/;
    my $function = $FUNCTION{$token} or $self->fail;
    my @args = $self->args;
    return sub { my $sheet = shift; $function->(map { $_->($sheet) } @args) };
}

# Arguments of a function; A1:B9 stands for all cells of the range.
sub args {
    my ($self) = @_;
    my @args;
    $self->expect('(');
    while (1) {
        if (($self->{tokens}[1] // '') eq ':') {
            my ($from, undef, $to) = map { $self->take } 1 .. 3;
            push @args, sub {
                my $sheet = shift;
                map { $sheet->value($_) } Sheet::range($from, $to);
            };
        }
        else {
            push @args, $self->sum;
        }
        my $next = $self->take;
        return @args if $next eq ')';
        $self->fail if $next ne ',';
    }
}

# Cells by name. A value is computed when somebody asks for it, once.
package Sheet;

sub new { return bless { cells => {} }, $_[0] }

sub read_line {
    my ($self, $line) = @_;
    my ($name, $text) = $line =~ /^([A-Z]+\d+)\s*=\s*(.*?)\s*$/ or die "not a cell: $line";
    $self->{cells}{$name} = { text => $text };
}

sub value {
    my ($self, $name) = @_;
    my $cell = $self->{cells}{$name} or return 0;
    return $cell->{value} if exists $cell->{value};
    die $cell->{error} if $cell->{error};
    die "#CYCLE\n" if $cell->{busy};
    local $cell->{busy} = 1;
    my $value = eval { Sheet::Formula->compile($cell->{text})->($self) };
    die $cell->{error} = $@ if !defined $value;
    return $cell->{value} = $value;
}

sub shown {
    my ($self, $name) = @_;
    my $value = eval { $self->value($name) };
    chomp(my $error = $@);
    return defined $value ? sprintf('%.6g', $value) : $error;
}

sub column { my $n = 0; $n = $n * 26 + ord($_) - 64 for split //, $_[0]; return $n }

sub letters {
    my ($n) = @_;
    return $n > 26 ? letters(int(($n - 1) / 26)) . letters(($n - 1) % 26 + 1) : chr(64 + $n);
}

sub range {
    my ($from, $to) = @_;
    my ($c1, $r1, $c2, $r2) = map { /^([A-Z]+)(\d+)$/ ? (column($1), $2) : die "#RANGE\n" }
        $from, $to;
    return map { my $c = letters($_); map { "$c$_" } $r1 .. $r2 } $c1 .. $c2;
}

sub by_place {
    my ($c1, $r1) = $a =~ /(\D+)(\d+)/;
    my ($c2, $r2) = $b =~ /(\D+)(\d+)/;
    return $r1 <=> $r2 || column($c1) <=> column($c2);
}

sub names { return sort by_place keys %{ $_[0]{cells} } }

package main;

my $sheet = Sheet->new;
$sheet->read_line($_) for @ARGV ? read_file($ARGV[0]) : sample(1000);
printf "%-6s %12s   %s\n", $_, $sheet->shown($_), $sheet->{cells}{$_}{text} for $sheet->names;

sub read_file {
    my ($name) = @_;
    open(my $fh, '<', $name) or die "$name: $!\n";
    return grep { /\S/ } <$fh>;
}

# Interest, month by month, with running totals, and three mistakes to report.
sub sample {
    my ($rows) = @_;
    my @lines = ('A1 = 1000', 'B1 = A1 * 0.02 / 12', 'C1 = A1 + B1', 'D1 = B1');
    for my $row (2 .. $rows) {
        my $above = $row - 1;
        my $least = $row > 12 ? $row - 12 : 1;
        push @lines, "A$row = C$above + IF($row - ROUND($row / 12) * 12, 50, 50 + (2 + 3) ^ 2)",
            "B$row = A$row * (0.02 + 0.0001 * ($row - MAX(A1, B1) / 1000)) / 12",
            "C$row = A$row + B$row", "D$row = SUM(B$least:B$row)";
    }
    return @lines, 'E1 = E2', 'E2 = E1 + 1', 'E3 = 1 / (A1 - 1000)', 'E4 = 2 +';
}
