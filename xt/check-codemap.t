#!/usr/bin/perl
# CODE-MAP names every file once, and no file that does not exist. Tests are numbered: no number is
# used twice in a folder, and CODE-MAP has them in order.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use Test::More;

# A line of the map: NAME, two blanks or more, what it is. Lines that begin with # or a blank are
# prose. A name that ends in / stands for all files of a folder of data; program text is named file
# by file.
my $data = qr{^(?:t/(?:data|golden|corpus|scripts)|fuzz/corpus|src/pmu-events/arch|share)/};

sub complaints {
    my ($map, @files) = @_;
    my (@bad, %named);
    for my $line (split /\n/, $map) {
        next if $line =~ /^(?:#|\s|$)/;
        my ($name, $text) = $line =~ /^(\S+)\s{2,}(\S.*)$/
            or push(@bad, "not NAME, blanks, text: $line"), next;
        push @bad, "named twice: $name" if $named{$name}++;
        push @bad, "not for whole folders of program text: $name"
            if $name =~ m{/$} && $name !~ $data;
    }
    my %unused = %named;
    for my $file (@files) {
        my @by = grep { $_ eq $file || m{/$} && index($file, $_) == 0 } keys %named;
        delete @unused{@by};
        push @bad, "not in CODE-MAP: $file" unless @by;
    }
    push @bad, map { "in CODE-MAP, but not there: $_" } sort keys %unused;
    return @bad, misnumbered($map =~ m{^(t/(?:c/)?\d\S*)}mg);
}

# Checks the names of tests in the order of CODE-MAP.
sub misnumbered {
    my (@bad, %last);
    for my $name (@_) {
        my ($folder, $number) = $name =~ m{^(.*/)(\d+)-};
        my $last = $last{$folder};
        push @bad, "not in order: $name" if defined $last && $number < $last;
        push @bad, "a number used twice: $name" if defined $last && $number == $last;
        $last{$folder} = $number;
    }
    return @bad;
}

is(join("\n", complaints(content('CODE-MAP'), tracked())), '', 'CODE-MAP and the files agree');

like(join("\n", complaints("a.c  x\n", 'a.c', 'b.c')), qr/not in CODE-MAP: b\.c/,
    'notices: a file not named');
like(join("\n", complaints("a.c  x\nb.c  y\n", 'a.c')), qr/not there: b\.c/,
    'notices: a file that is gone');
like(join("\n", complaints("a.c  x\na.c  y\n", 'a.c')), qr/twice: a\.c/,
    'notices: a file named twice');
like(join("\n", complaints("src/  x\n", 'src/a.c')), qr/whole folders/,
    'notices: a folder of program text');
like(join("\n", complaints("a.c x\n", 'a.c')), qr/not NAME/, 'notices: a line without two blanks');
like(join("\n", complaints("t/10-a.t  x\nt/10-b.t  x\n", 't/10-a.t', 't/10-b.t')),
    qr/twice: t\/10-b/,
    'notices: two tests of one number');
like(join("\n", complaints("t/11-a.t  x\nt/10-b.t  x\n", 't/11-a.t', 't/10-b.t')),
    qr/order: t\/10-b/,
    'notices: a test out of order');
is(join("\n", complaints("# head\n\na.c   x\nt/data/   y\n", 'a.c', 't/data/b')), '',
    'notices: nothing in a good CODE-MAP');
done_testing;
