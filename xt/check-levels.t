#!/usr/bin/perl
# The levels of src/: a file includes its own header, lower levels, and files to its left on its own
# level. And what the core must not do: know perl, print, exit, allocate past dp_mem, read a clock
# or the environment.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use Test::More;

# Files by level, each level from left to right; several lists on a level do not see each other.
# A new file is put where it belongs, here and in CODE-MAP.
my @levels = (
    [ 'base',   [qw(dp_base dp_err dp_mem dp_buf dp_map dp_num dp_pool dp_sort dp_io dp_rebase
                    dp_text)] ],
    [ 'format', [qw(dp_fmt dp_foreign dp_header dp_pieces dp_reader dp_reader_text dp_reader_tree dp_reader_pieces dp_reader_folded)],
                [qw(dp_gzip dp_live dp_rotate dp_outfile dp_writer dp_pmu_events dp_sysfile dp_cpuid
                    dp_pmu_near dp_pmu_names dp_pmu_terms dp_pmu_dev dp_pmu dp_pmu_find
                    dp_pmu_each dp_pmu_attr dp_perf)] ],
    [ 'model',  [qw(dp_cct dp_rec)],
                [qw(dp_origin dp_subs dp_file dp_window dp_prof dp_prof_tree dp_prof_take dp_prof_all)] ],
    [ 'views',  [qw(dp_select dp_align dp_checkout dp_pair dp_rank dp_flat dp_tree dp_trace dp_overhead dp_chain dp_edges dp_stat dp_diff dp_diff_compare dp_diff_tree dp_gate
                    dp_stacks dp_stacks_reverse dp_palette dp_flame)] ],
    [ 'render', [qw(dp_table dp_render dp_render_fit dp_render_classic dp_render_file dp_render_columns dp_render_csv dp_render_json
                    dp_render_markdown dp_render_html dp_chain_text dp_render_report dp_render_gate dp_render_diff dp_render_diff_flat dp_render_diff_tree dp_dump
                    dp_render_folded dp_share dp_render_flame dp_render_svg dp_render_page)] ],
);
# dp_pmu_events.c is made by jevents; its header stands beside that, for both.
my %header = ('pmu-events/pmu-events.h' => 'dp_pmu_events');
# The recorder's side and the analyzers' side meet in dp_fmt.h alone.
my %open = map { $_ => 1 } qw(dp_fmt);

my %place;
for my $level (0 .. $#levels) {
    my (undef, @lists) = @{ $levels[$level] };
    for my $list (0 .. $#lists) {
        $place{ $lists[$list][$_] } = [ $level, $list, $_ ] for 0 .. $#{ $lists[$list] };
    }
}

my %forbidden = (
    'prints'                => qr/\b(?:v?printf|v?fprintf|puts|fputs|putchar|perror|fwrite)\s*\(/,
    'ends the process'      => qr/\b(?:exit|_exit|abort|longjmp|siglongjmp)\s*\(/,
    'reads the environment' => qr/\b(?:secure_)?getenv\s*\(/,
    'reads a clock'         => qr/\b(?:clock_gettime|gettimeofday|time|times|clock|getrusage)\s*\(/,
    'knows perl'            => qr/\bdpx_|\b[ACHSG]V\s*\*|\bp?THX\b|\bPerl_|\bPL_|\bcroak\s*\(/,
);
my $allocates = qr/\b(?:malloc|calloc|realloc|reallocarray|free|strdup|strndup|asprintf|vasprintf)\s*\(/;

# Complaints about one file, given its name without src/ and its text.
sub complaints {
    my ($file, $text) = @_;
    my ($stem, $ext) = $file =~ /^(\w+)\.([ch])$/ or return "$file: neither .c nor .h";
    my @bad;
    my $where = $stem eq 'dprof' ? [ scalar @levels, 0, 0 ] : $place{$stem};
    return "$file: on no level; put it on one in xt/check-levels.t" unless $where;

    my $n = 0;
    for my $line (split /\n/, $text) {
        $n++;
        next unless $line =~ /^\s*#\s*include\s*([<"])([^>"]+)[>"]/;
        my ($system, $name) = ($1 eq '<', $2);
        my $at = "$file line $n";
        if ($system) {
            push @bad, "$at: <$name>: the public header needs stddef.h and stdint.h only"
                if $file eq 'dprof.h' && $name !~ /^(?:stddef|stdint)\.h$/;
            push @bad, "$at: <$name>: the core knows no perl" if $name =~ /(?:^|\/)(?:perl|XSUB|EXTERN)\.h$/;
            next;
        }
        my $to = $header{$name} // ($name =~ /^(\w+)\.h$/)[0];
        push(@bad, "$at: \"$name\": not a header of src/"), next unless defined $to;
        next if $to eq $stem && $ext eq 'c';
        if ($file eq 'dprof.h') { push @bad, "$at: \"$name\": the public header includes nothing of ours"; next }
        next if $to eq 'dprof';
        my $there = $place{$to} or push(@bad, "$at: \"$name\": on no level"), next;
        # The table of a family names its kinds: dp_render.c may include dp_render_*.h.
        next if $ext eq 'c' && $to =~ /^\Q$stem\E_/;
        if ($there->[0] > $where->[0]) {
            push @bad, "$at: \"$name\": $levels[$there->[0]][0] is above " . ($levels[$where->[0]][0] // '');
        }
        elsif ($there->[0] == $where->[0]) {
            next if $open{$to};
            push @bad, "$at: \"$name\": the two sides of a level do not see each other" if $there->[1] != $where->[1];
            push @bad, "$at: \"$name\": stands right of $stem on its level"
                if $there->[1] == $where->[1] && $there->[2] >= $where->[2];
        }
    }

    my $code = strip_c($text =~ s/^\s*#\s*include.*//mgr);
    for my $what (sort keys %forbidden) {
        push @bad, "$file: $what: $1" if $code =~ /($forbidden{$what})/;
    }
    push @bad, "$file: allocates past dp_mem: $1" if $stem ne 'dp_mem' && $code =~ /($allocates)/;
    return @bad;
}

# The recorder reaches no analyzer file and the other way round, also not by way of lower levels.
sub sides {
    my (%text) = @_;
    my @lists = ([qw(dp_rec dp_cct dp_writer dp_outfile dp_gzip dp_live)], [qw(dp_prof dp_file dp_subs dp_reader dp_reader_text dp_header dp_pieces dp_origin)]);
    my @bad;
    for my $side (0, 1) {
        my %other = map { $_ => 1 } @{ $lists[ 1 - $side ] };
        for my $stem (@{ $lists[$side] }) {
            for my $file (grep { exists $text{$_} } "$stem.c", "$stem.h") {
                push @bad, map { "$file includes $_.h of the other side" }
                    grep { $other{$_} } $text{$file} =~ /^\s*#\s*include\s*"(\w+)\.h"/mg;
            }
        }
    }
    return @bad;
}

my %text = map { (s{^src/}{}r) => content($_) } grep { m{^src/[^/]+\.[ch]$} } tracked();
ok(%text > 10, 'src/ has files') or BAIL_OUT('nothing to check');
is(join("\n", map { complaints($_, $text{$_}) } sort keys %text), '', 'levels, and what the core must not do');
is(join("\n", sides(%text)), '', 'recorder and analyzers meet in the file format only');

# The check notices what it is there for.
my @samples = (
    [ 'a higher level',   'dp_buf.c',    qq{#include "dp_buf.h"\n#include "dp_prof.h"\n}, qr/model is above base/ ],
    [ 'to the right',     'dp_err.h',    qq{#include "dp_pool.h"\n},                      qr/stands right of dp_err/ ],
    [ 'the other side',   'dp_rec.h',    qq{#include "dp_prof.h"\n},                      qr/two sides/ ],
    [ 'an unknown file',  'dp_odd.c',    qq{int x;\n},                                    qr/on no level/ ],
    [ 'unknown included', 'dp_buf.c',    qq{#include "dp_odd.h"\n},                       qr/on no level/ ],
    [ 'a folder',         'dp_buf.c',    qq{#include "pmu-events/jev.h"\n},              qr/not a header of src/ ],
    [ 'the events',       'dp_buf.c',    qq{#include "pmu-events/pmu-events.h"\n},       qr/format is above base/ ],
    [ 'perl',             'dp_buf.c',    qq{#include "perl.h"\n},                         qr/on no level/ ],
    [ 'perl, system',     'dp_buf.c',    qq{#include <perl.h>\n},                         qr/knows no perl/ ],
    [ 'dpx_',             'dp_buf.c',    qq{void f(void) { dpx_x(); }\n},                 qr/knows perl/ ],
    [ 'malloc',           'dp_buf.c',    qq{void *p = malloc (3);\n},                     qr/allocates/ ],
    [ 'printing',         'dp_tree.c',   qq{void f(void) { printf("x"); }\n},             qr/prints/ ],
    [ 'a public include', 'dprof.h',     qq{#include <stdio.h>\n},                        qr/public header/ ],
    [ 'ours in public',   'dprof.h',     qq{#include "dp_base.h"\n},                      qr/nothing of ours/ ],
);
like(join("\n", complaints($_->[1], $_->[2])), $_->[3], "notices: $_->[0]") for @samples;
like(join("\n", sides('dp_rec.c' => qq{#include "dp_reader.h"\n})), qr/other side/, 'notices: the recorder reading');
is(join("\n", complaints('dp_buf.c', qq{#include "dp_buf.h"\n#include "dp_err.h"\n/* printf(x) */ char *s = "free(x)";\n})),
    '', 'and nothing else');
done_testing;
