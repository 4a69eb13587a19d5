#!/usr/bin/perl
# Runs jevents on the event lists of a whole kernel, and compares every field. It takes the folder
# PMU_EVENTS_TREE=.../tools/perf/pmu-events/arch, or else those in Debian's package linux-source-6.1
# where that is installed. Compares every field of every event, for all architectures, with a
# reading in Perl, xt/lib/PmuTree.pm, through a compiler. Needs make first; takes a minute.
use strict;
use warnings;
use Config;
use Cwd 'abs_path';
use File::Temp ();
use FindBin;
use lib "$FindBin::Bin/lib";
use PmuTree qw(architectures read_tree @fields);
use Test::More;
use Time::HiRes 'time';

chdir "$FindBin::Bin/.." or die "$FindBin::Bin/..: $!\n";
my $jevents = abs_path("src/pmu-events/jevents$Config{_exe}") // '';
-x $jevents or BAIL_OUT('src/pmu-events/jevents is not there: run make first');
my $dir = File::Temp->newdir;
my $tree = $ENV{PMU_EVENTS_TREE} // unpacked('/usr/src/linux-source-6.1.tar.xz');
plan skip_all =>
    'no event lists: PMU_EVENTS_TREE does not name any, and /usr/src/linux-source-6.1.tar.xz '
        . '(package linux-source-6.1) is not there' unless $tree;
my @archs = architectures($tree) or BAIL_OUT("$tree: no directory there has a mapfile.csv");

sub unpacked {
    my ($archive) = @_;
    return unless -e $archive;
    system('tar', '-xf', $archive, '-C', "$dir", '--strip-components=1', '--wildcards',
        '*/tools/perf/pmu-events/arch') == 0 or BAIL_OUT("$archive: tar failed");
    return "$dir/tools/perf/pmu-events/arch";
}

# Writes a program that prints what a compiled table has: rows, their events; each text with its
# length before it, - for none.
sub dump_program {
    my $members = join ' ', map { "put(e->$_);" } @fields;
    open(my $out, '>', "$dir/dump.c") or die "$dir/dump.c: $!\n";
    print $out <<"END";
#include "pmu-events/pmu-events.h"
#include <stdio.h>
#include <string.h>
static void put(const char *s)
{
    if (s)
        printf("%lu:%s", (unsigned long)strlen(s), s);
    else
        putchar('-');
}
int main(void)
{
    for (const struct pmu_events_map *m = pmu_events_map; m->cpuid; m++) {
        putchar('R'); put(m->cpuid); put(m->version); put(m->type);
        const struct pmu_event *e = m->table;
        for (; e->name || e->event || e->desc || e->metric_name; e++) {
            putchar('E');
            $members
        }
    }
    return 0;
}
END
    close $out or die "$dir/dump.c: $!\n";
}

# Returns ( [ [cpuid, version, type], [ {event} ... ] ] ... ).
sub read_dump {
    my ($text) = @_;
    my @rows;
    my $get = sub {
        $text =~ /\G-/gc and return undef;
        $text =~ /\G(\d+):/gc or die "dump: not understood at byte " . pos $text;
        my $s = substr $text, pos $text, $1;
        pos($text) += $1;
        return $s;
    };
    while ($text =~ /\G([RE])/gc) {
        if ($1 eq 'R') { push @rows, [ [ map { $get->() } 1 .. 3 ], [] ]; next }
        my %e = map { ($_ => $get->()) } @fields;
        delete @e{ grep { !defined $e{$_} } keys %e };
        push @{ $rows[-1][1] }, \%e;
    }
    pos($text) == length $text or die "dump: something behind it";
    return @rows;
}

sub text_of {
    my ($e) = @_;
    return join ' ', map { "$_=" . (defined $e->{$_} ? "<$e->{$_}>" : '-') } @fields;
}

dump_program();
my ($files, $events, $rows) = (0, 0, 0);
for my $arch (@archs) {
    my $began = time;
    my $said = `'$jevents' $arch '$tree' '$dir/$arch.c' 2>&1`;
    my $took = time - $began;
    is("$? $said", '0 ', "$arch: jevents prints no message");
    is(system("$Config{cc} -std=c99 -Wall -Wextra -Werror -Isrc -o '$dir/$arch' '$dir/$arch.c' "
        . "'$dir/dump.c'"), 0, "$arch: the table compiles without a warning") or next;
    my $want = read_tree("$tree/$arch");
    my @got = read_dump(scalar `'$dir/$arch'`);
    my @rows = @{ $want->{rows} };
    is_deeply([ map { $_->[0] } @got ], [ map { [ @$_[0 .. 2] ] } @rows ],
        "$arch: all " . @rows . ' rows are right');
    my ($bad, $n) = ('', 0);
    for my $i (0 .. $#rows) {
        my @have = map { text_of($_) } @{ ($got[$i] // [])->[1] // [] };
        my @wanted = map { text_of($_) } @{ $want->{tables}{ $rows[$i][3] } // [ {} ] };
        $n += @have;
        for my $k (0 .. (@have > @wanted ? $#have : $#wanted)) {
            next if ($have[$k] // '') eq ($wanted[$k] // '') || $bad;
            $bad = "row $rows[$i][0], event $k:\ngot  " . ($have[$k] // 'none') . "\nwant "
                . ($wanted[$k] // 'none');
        }
    }
    is($bad, '', "$arch: all $n events of all rows, are right in every field");
    my %mapped = map { $_->[3] => 1 } @rows;
    is(join(' ', grep { !$mapped{$_} && !m{(?:^|/)sys$} } sort keys %{ $want->{tables} }), '',
        "$arch: no table is left out");
    my $of_arch = 0;
    $of_arch += @$_ for values %{ $want->{tables} };
    diag(sprintf '%-8s %3d lists, %2d tables, %5d events, %2d rows: %.3f s', $arch, $want->{files},
        scalar keys %{ $want->{tables} }, $of_arch, scalar @rows, $took);
    $files += $want->{files}, $events += $of_arch, $rows += @rows;
}
cmp_ok($events, '>', 100, "$files lists have more than a hundred events: $events, and $rows rows");
done_testing;
