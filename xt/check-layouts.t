#!/usr/bin/perl
# The table of perls' layouts is as tools/layouts.pl makes it, the perl at hand lies as its column
# says, and each row has a value for each column.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author ();
use File::Copy qw(copy);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;

require './tools/layouts.pl';

my $table = 'src/attach/dp_layout_table.h';
my $text = content($table);
my $columns = columns($text);
is(text_of($columns), $text, 'the tool reads the table as it wrote it');
my $newest = (sort map { /^(\d+)/ } keys %$columns)[-1];
is_deeply([sort keys %$columns],
    [map { my $n = 26 + 2 * $_; ("${n}_plain", "${n}_threads") } 0 .. ($newest - 26) / 2],
        'the table has each series, with threads and without');
is_deeply([grep { length > 100 } split /\n/, $text], [], 'no line is too long');

# Neighbours that are equal share a column; those that are not, or have others between, do not.
my @fields = fields();
sub heads {
    my %value = @_;
    my %of = map {
        my $name = $_;
        $name => { map { $_ => $value{$name} } @fields }
    } keys %value;
    my ($heads) = text_of(\%of) =~ /DP_LAYOUT_COLUMNS\(X\) \\\n(.*?)\n\n/s;
    return $heads =~ s/[\\\s]+/ /gr;
}
is(heads('36_threads' => 7, '34_threads' => 7, '38_threads' => 8, '34_plain' => 7),
    ' X(34, 34, false) X(34, 36, true) X(38, 38, true)', 'equal series share a column');
is(heads('36_threads' => 7, '40_threads' => 7), ' X(36, 36, true) X(40, 40, true)',
    'series that have others between do not share a column');

# Runs the tool for the perl at hand in a copy, whose table $change changes. Returns what the tool
# says, and the table then.
my $dir = tempdir('dprof-layouts-XXXXXX', TMPDIR => 1, CLEANUP => 1);
for my $file ('tools/layouts.pl', 'xs/attach/dpx_fields.h', 'src/attach/dp_layout.h', $table) {
    make_path("$dir/" . $file =~ s{/[^/]+\z}{}r);
    copy($file, "$dir/$file") or die "$dir/$file: $!\n";
}
sub after {
    my ($change) = @_;
    local $_ = $text;
    $change->();
    open my $fh, '>', "$dir/$table" or die "$dir/$table: $!\n";
    print {$fh} $_;
    close $fh or die "$dir/$table: $!\n";
    my $said = qx{$^X $dir/tools/layouts.pl $^X 2>&1};
    return ($said, content("$dir/$table"));
}
is_deeply([after(sub { })], ['', $text], 'the perl at hand changes nothing');
my ($said, $new) = after(sub { s/R\(cop_size\K[^)]*/$& =~ s{\d+}{1}gr/e });
like($said, qr/\A\S+: cop_size is \d+, \d+_\w+ of the table has 1\n\z/,
    'the tool says which field differs');
my @differ = grep { columns($new)->{$_}{cop_size} != 1 } keys %$columns;
is(@differ, 1, 'the tool changes the column of the perl at hand only');
is(columns($new)->{ $differ[0] }{cop_size}, $columns->{ $differ[0] }{cop_size}, 'and rightly');
($said) = after(sub { s/\bR\(cop_size, [^)]*\)[ \\]*\n// });
like($said, qr/has no cop_size: give a perl for each column$/,
    'the tool needs all perls for a field that is new');
($said) = after(sub { s/(R\(cop_size, \d+), \d+/$1/ });
like($said, qr/cop_size has not as many values as there are columns$/,
    'the tool notices a row that is too short');

# The compiler counts the values.
open my $c, '>', "$dir/table.c" or die "$dir/table.c: $!\n";
print {$c} <<'END';
#include "dp_layout.h"
#include "dp_layout_table.h"
#define COLUMN(from, to, multiplicity) { { to, multiplicity }, from },
static const struct { struct dp_layout_of of; unsigned from; } columns[] = {
    DP_LAYOUT_COLUMNS(COLUMN)
};
#define NUMBER(field, ...) row_##field,
enum { DP_LAYOUT_ROWS(NUMBER) ROWS };
DP_CHECK(rows, (int)ROWS == (int)DP_LAYOUT_WORDS);
#define ROW(field, ...) \
    static const uint32_t values_##field[] = { __VA_ARGS__ }; \
    DP_CHECK(count_##field, DP_ARRAY_LEN(values_##field) == DP_ARRAY_LEN(columns)); \
    DP_CHECK(place_##field, offsetof(struct dp_layout, field) == row_##field * sizeof(uint32_t));
DP_LAYOUT_ROWS(ROW)
END
close $c or die "$dir/table.c: $!\n";
my $cc = 'cc -std=c99 -Wall -Werror -Wno-unused -fsyntax-only -Isrc/base -Isrc/attach';
is(qx{$cc $dir/table.c 2>&1}, '',
    'the table compiles, has the fields in order, and each row has a value for each column');
done_testing;
