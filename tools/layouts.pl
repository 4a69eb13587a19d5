#!/usr/bin/perl
# Makes src/attach/dp_layout_table.h, the layouts of the perls that dprof attach knows. For each
# perl that it is given it compiles the list in xs/attach/dpx_fields.h with that perl's headers, and
# runs it.
#
# usage: tools/layouts.pl [--print] PERL|CORE ...
#   PERL     a perl, with its headers
#   CORE     a folder of headers (.../CORE, or perl's source), with config.h of that perl
#   --print  print the table, and write nothing
# Columns of other perls that the table has stay. A perl whose configuration is unusual, such as one
# with DEBUGGING, is compared with the table and not written.
use strict;
use warnings;
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Text::Wrap ();

my $top = dirname(__FILE__) . '/..';
my $table = "$top/src/attach/dp_layout_table.h";
my @fields = fields();

sub main {
    my @perls = @_;
    my $is_print = @perls && $perls[0] eq '--print' && shift @perls;
    die "usage: tools/layouts.pl [--print] PERL|CORE ...\n" if !@perls || $perls[0] =~ /^-/;
    my $columns = columns(content($table));
    for my $perl (@perls) {
        my ($name, $unusual, $values) = measure($perl);
        warn "$perl: $_\n" for differences($name, $columns->{$name}, $values);
        if ($unusual) { warn "$perl: not written: this perl has $unusual\n" }
        else { $columns->{$name} = $values }
    }
    my $text = text_of(complete($columns));
    if ($is_print) { print $text; return 0 }
    open my $fh, '>', $table or die "$table: $!\n";
    print {$fh} $text;
    close $fh or die "$table: $!\n";
    return 0;
}

sub content {
    my ($file) = @_;
    open my $fh, '<', $file or die "$file: $!\n";
    local $/;
    return scalar <$fh>;
}

# Returns the names of the fields, in the order of dp_layout.h.
sub fields {
    my $all = content("$top/src/attach/dp_layout.h");
    my ($interpreter) = $all =~ /#define DP_LAYOUT_INTERPRETER\(X\)((?:.*\\\n)+.*)/;
    my ($rest) = $all =~ /#define DP_LAYOUT_FIELDS\(X\)((?:.*\\\n)+.*)/;
    return map { /\bX\((\w+)\)/g } $interpreter, $rest;
}

# Returns the folder of a perl's headers, and the flags to compile with them.
sub headers {
    my ($perl) = @_;
    if (!-d $perl) {
        my ($core, $flags) = split /\n/,
            `$perl -MConfig -e 'print "\$Config{archlibexp}/CORE\n\$Config{ccflags}\n"'`;
        return ($core, $flags) if $core && -e "$core/perl.h";
        die "$perl: no perl, or one without headers\n";
    }
    # perl's source has the flags in config.sh, an installed perl in Config_heavy.pl.
    for my $file ("$perl/config.sh", "$perl/../Config_heavy.pl") {
        return ($perl, $1) if -e $file && content($file) =~ /^ccflags='(.*)'$/m;
    }
    return ($perl, '-D_GNU_SOURCE -fwrapv -fno-strict-aliasing');
}

# Prints the name of a perl's column, what is unusual in its configuration, and the fields.
my $program = <<'END';
#define PERL_NO_GET_CONTEXT
#include "EXTERN.h"
#include "perl.h"
#include "XSUB.h"
#undef printf
#include "dpx_fields.h"
int main(void)
{
#ifdef MULTIPLICITY
    printf("name %d_threads\n", PERL_VERSION + PERL_VERSION % 2);
#else
    printf("name %d_plain\n", PERL_VERSION + PERL_VERSION % 2);
#endif
    if (PERL_VERSION % 2)
        printf("unusual code, of a version under development\n");
#if defined(MULTIPLICITY) && !defined(USE_ITHREADS)
    printf("unusual MULTIPLICITY without threads\n");
#endif
#ifdef DEBUGGING
    printf("unusual DEBUGGING\n");
#endif
#ifndef __x86_64__
    /* struct stat and sigjmp_buf, which lie in the interpreter, are of other sizes. */
    printf("unusual processor, not x86-64\n");
#endif
#ifdef PERL_RC_STACK
    printf("unusual PERL_RC_STACK\n");
#endif
    if (sizeof(NV) != 8)
        printf("unusual numbers of %d bytes\n", (int)sizeof(NV));
    if (sizeof(void *) != 8 || sizeof(IV) != 8)
        printf("unusual pointers of %d and integers of %d bytes\n", (int)sizeof(void *),
            (int)sizeof(IV));
#define PRINT(name, value) printf(#name " %lu\n", (unsigned long)(value));
    DPX_FIELDS(PRINT)
    return 0;
}
END

# Compiles and runs the list for one perl. Returns its column's name, such as 36_threads; what is
# unusual in its configuration, '' if nothing; and the values.
sub measure {
    my ($perl) = @_;
    my ($core, $flags) = headers($perl);
    my $dir = tempdir(CLEANUP => 1);
    open my $c, '>', "$dir/layout.c" or die "$dir: $!\n";
    print {$c} $program;
    close $c or die "$dir: $!\n";
    # Without -O the inline functions of perl's headers would need perl's library.
    system("cc -O $flags -w -I'$core' -I'$top/xs/attach' -o '$dir/layout' '$dir/layout.c'") == 0
        or die "$perl: its headers do not compile\n";
    my @lines = split /\n/, `$dir/layout`;
    my @unusual = map { /^unusual (.*)/ ? $1 : () } @lines;
    my %value = map { /^(\w+) (\w+)$/ ? ($1 => $2) : () } @lines;
    my ($missing) = grep { !defined $value{$_} } @fields;
    die "xs/attach/dpx_fields.h has no $missing, dp_layout.h has\n" if $missing;
    return ($value{name}, join(', ', @unusual), { map { $_ => $value{$_} } @fields });
}

# Returns what differs between a column that the table has and a perl.
sub differences {
    my ($name, $old, $new) = @_;
    return map { "$_ is $new->{$_}, $name of the table has $old->{$_}" }
        grep { defined $old->{$_} && $old->{$_} ne $new->{$_} } @fields;
}

# Returns the columns of a table: name => { field => value }. A column of the table stands for
# several series.
sub columns {
    my $all = $_[0] =~ s/\\\n//gr;
    my ($list) = $all =~ /^#define DP_LAYOUT_COLUMNS\(X\)(.*)/m;
    my @names;
    while (($list // '') =~ /\bX\((\d+), (\d+), (true|false)\)/g) {
        my ($from, $to, $kind) = ($1, $2, $3 eq 'true' ? 'threads' : 'plain');
        push @names, [map { $_ % 2 ? () : "${_}_$kind" } $from .. $to];
    }
    my %columns;
    while ($all =~ /\bR\((\w+), ([\d, ]+)\)/g) {
        my ($field, @values) = ($1, split /,\s*/, $2);
        @values == @names or die "$table: $field has not as many values as there are columns\n";
        for my $i (0 .. $#names) { $columns{$_}{$field} = $values[$i] for @{ $names[$i] } }
    }
    return \%columns;
}

# Returns the columns, of which each has all fields.
sub complete {
    my ($of) = @_;
    for my $name (sort keys %$of) {
        my @missing = grep { !defined $of->{$name}{$_} } @fields or next;
        die "$table: $name has no $missing[0]: give a perl for each column\n";
    }
    return $of;
}

# Returns the text of the table: a row for each field, a column for each run of equal series.
sub text_of {
    my ($of) = @_;
    my @columns;
    for my $name (sort { order($a) cmp order($b) } keys %$of) {
        my ($series, $kind) = split /_/, $name;
        my @values = @{ $of->{$name} }{@fields};
        my $last = $columns[-1];
        if ($last && $last->{kind} eq $kind && $last->{to} + 2 == $series
            && "@{ $last->{values} }" eq "@values") {
            $last->{to} = $series;
            next;
        }
        push @columns, { from => $series, to => $series, kind => $kind, values => \@values };
    }
    my @heads = map {
        sprintf 'X(%d, %d, %s)', @$_{qw(from to)}, $_->{kind} eq 'threads' ? 'true' : 'false'
    } @columns;
    my @rows = map {
        my $i = $_;
        "R($fields[$i], " . join(', ', map { $_->{values}[$i] } @columns) . ')'
    } 0 .. $#fields;
    return <<'END' . macro('DP_LAYOUT_COLUMNS(X)', @heads) . <<'END'
/* The layouts of perls by series. tools/layouts.pl makes this file from the headers of these perls:
 * do not edit it. It holds for x86-64 and numbers of 8 bytes: elsewhere phase, main_cv and
 * compiling, or gv_stash and nv_nv, lie at other places.
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
    local ($Text::Wrap::columns, $Text::Wrap::unexpand) = (99, 0);
    my $lines = join "\n", map { Text::Wrap::wrap('    ', '        ', $_) } @items;
    return "#define $name \\\n" . ($lines =~ s/\n/ \\\n/gr) . "\n";
}

exit main(@ARGV) if !caller;
1;
