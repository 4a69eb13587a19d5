#!/usr/bin/perl
# Makes src/attach/dp_layout_table.h, the layouts of the perls that dprof attach knows, from perls
# that are there: compiles the list in xs/attach/dpx_layout.h with the headers of each, and runs it.
#
# usage: tools/layouts.pl [--print] PERL|CORE ...
#   PERL     a perl, with its headers
#   CORE     a folder of headers (.../CORE), with config.h of that perl
#   --print  print the columns as text, and write nothing
# Columns of other perls that the table has stay.
use strict;
use warnings;
use File::Basename qw(dirname);
use File::Temp qw(tempdir);

my $top = dirname(__FILE__) . '/..';
my $table = "$top/src/attach/dp_layout_table.h";
my $is_print = @ARGV && $ARGV[0] eq '--print' && shift;
die "usage: tools/layouts.pl [--print] PERL|CORE ...\n" if !@ARGV;

my @fields = fields();
my %column = columns_of_table();
for my $perl (@ARGV) {
    my ($name, $values) = measure($perl);
    my $old = $column{$name};
    warn "$perl: $name differs from the table\n" if $old && "@$old" ne "@$values";
    $column{$name} = $values;
}
my $text = text_of(\%column);
if ($is_print) { print $text }
else {
    open my $fh, '>', $table or die "$table: $!\n";
    print {$fh} $text;
    close $fh or die "$table: $!\n";
}

# Returns the names of the fields, in the order of dp_layout.h.
sub fields {
    open my $fh, '<', "$top/src/attach/dp_layout.h" or die "dp_layout.h: $!\n";
    my $all = do { local $/; <$fh> };
    my ($interpreter) = $all =~ /#define DP_LAYOUT_INTERPRETER\(X\)((?:.*\\\n)+.*)/;
    my ($rest) = $all =~ /#define DP_LAYOUT_FIELDS\(X\)((?:.*\\\n)+.*)/;
    return map { /\bX\((\w+)\)/g } $interpreter, $rest;
}

# Compiles and runs the list for one perl. Returns its column's name, such as 36_threads, and the
# values.
sub measure {
    my ($perl) = @_;
    my ($core, $flags) = ($perl, '-D_GNU_SOURCE -fwrapv -fno-strict-aliasing');
    if (!-d $perl) {
        $core = `$perl -MConfig -e 'print "\$Config{archlibexp}/CORE"'`;
        $flags = `$perl -MConfig -e 'print \$Config{ccflags}'`;
        die "$perl: no perl, or one without headers\n" if !-e "$core/perl.h";
    }
    my $dir = tempdir(CLEANUP => 1);
    open my $c, '>', "$dir/layout.c" or die "$dir: $!\n";
    print {$c} <<'END';
#define PERL_NO_GET_CONTEXT
#include "EXTERN.h"
#include "perl.h"
#include "XSUB.h"
#undef printf
#include "dpx_layout.h"
int main(void)
{
#ifdef MULTIPLICITY
    printf("%d_threads\n", PERL_VERSION);
#else
    printf("%d_plain\n", PERL_VERSION);
#endif
#define PRINT(name, value) printf(#name " %lu\n", (unsigned long)(value));
    DPX_LAYOUT(PRINT)
    return 0;
}
END
    close $c or die "$dir: $!\n";
    system("cc $flags -w -I'$core' -I'$top/xs/attach' -o '$dir/layout' '$dir/layout.c'") == 0
        or die "$perl: its headers do not compile\n";
    my ($name, @lines) = split /\n/, `$dir/layout`;
    my %value = map { split / / } @lines;
    return ($name, [map { $value{$_} // die "$_: no such field in dpx_layout.h\n" } @fields]);
}

# Returns the columns that the table has: name => values. A column of the table stands for several
# series.
sub columns_of_table {
    open my $fh, '<', $table or return;
    my $all = do { local $/; <$fh> } =~ s/\\\n//gr;
    my ($list) = $all =~ /^#define DP_LAYOUT_COLUMNS\(X\)(.*)/m or return;
    my @names = map { [split /, /] } $list =~ /\bX\((.*?)\)/g;
    my %columns;
    while ($all =~ /\bR\((\w+), ([\d, ]+)\)/g) {
        my @values = split /,\s*/, $2;
        for my $i (0 .. $#names) {
            my ($from, $to, $has) = @{ $names[$i] };
            push @{ $columns{"${_}_" . ($has eq 'true' ? 'threads' : 'plain')} }, $values[$i]
                for grep { !($_ % 2) } $from .. $to;
        }
    }
    return %columns;
}

# Returns the text of the table: a row for each field, a column for each run of equal series.
sub text_of {
    my ($of) = @_;
    my @columns;
    for my $name (sort { order($a) cmp order($b) } keys %$of) {
        my ($series, $kind) = split /_/, $name;
        my $last = $columns[-1];
        if ($last && $last->{kind} eq $kind && "@{ $last->{values} }" eq "@{ $of->{$name} }") {
            $last->{to} = $series;
            next;
        }
        push @columns,
            { from => $series, to => $series, kind => $kind, values => $of->{$name} };
    }
    my @heads = map {
        sprintf 'X(%d, %d, %s)', @$_{qw(from to)}, $_->{kind} eq 'threads' ? 'true' : 'false'
    } @columns;
    my @rows = map {
        my $i = $_;
        "R($fields[$i], " . join(', ', map { $_->{values}[$i] } @columns) . ')'
    } 0 .. $#fields;
    return <<'END' . macro('DP_LAYOUT_COLUMNS(X)', @heads) . "\n" . <<'END'
/* Made by tools/layouts.pl from the headers of these perls; do not edit.
 *
 * A column: its first and last series, and whether perl was built with MULTIPLICITY. */
END
/* A row: a field (dp_layout.h), and its value in each column. */
END
        . macro('DP_LAYOUT_ROWS(R)', @rows);
}

# Returns the text by which columns are sorted.
sub order { return join ' ', map { sprintf '%12s', $_ } reverse split /_/, $_[0] }

# Returns a macro of these items, in lines of at most 100 columns.
sub macro {
    my ($name, @items) = @_;
    my @lines = ('   ');
    for my $word (map { split / / } @items) {
        my $is_new = length("$lines[-1] $word \\") > 100 || $word =~ /^R\(/;
        push @lines, $is_new && $word =~ /^R\(/ ? '   ' : '       ' if $is_new;
        $lines[-1] .= " $word";
    }
    shift @lines if $lines[0] !~ /\S/;
    return "#define $name \\\n" . join(" \\\n", @lines) . "\n";
}
