#!/usr/bin/perl
# The folders of src/ are its levels: a file includes headers of its own folder and of those that
# its folder may see, and no files include each other in a circle. And what the core must not do:
# know perl, print, exit, allocate past dp_mem, read a clock or the environment.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use Test::More;

# The public headers, in dprof/, include each other only, and everybody may include them.
# What a file of another folder may include besides its own folder's headers. The recorder and the
# analyzers do not see each other: they meet in the format.
my %sees = (
    base    => [],
    format  => ['base'],
    events  => ['base'],
    record  => [qw(base format)],
    profile => [qw(base format)],
    view    => [qw(base profile)],
    print   => [qw(base profile view)],
);
# dp_fmt.h has the words and limits of the file, for everybody.
my %open = (dp_fmt => 1);
# dp_pmu_events.c is made by jevents; its header stands beside that, for both.
my %beside = ('pmu-events/pmu-events.h' => 'dp_pmu_events');

# The folder of each header or source, by its name without .h or .c.
my %folder = map { m{^src/(\w+)/(dp_\w+)\.[ch]$} ? ($2 => $1) : () } tracked();
@folder{qw(dp_pmu_events dp_share)} = qw(events print);

# What the analyzers show to others, and all folders see.
my %public = map { m{^src/dprof/(\w+)\.h$} ? ($1 => 1) : () } tracked();

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
    my ($folder, $stem) = $file =~ m{^(?:(\w+)/)?(\w+)\.[ch]$} or return "$file: neither .c nor .h";
    my $public = ($folder // '') eq 'dprof';
    return "$file: in no folder that is a level: see the top of $0"
        if !$public && !$sees{ $folder // '' };
    my @bad;
    my %visible = map { $_ => 1 } $public ? () : ($folder, @{ $sees{$folder} });

    my $n = 0;
    for my $line (split /\n/, $text) {
        $n++;
        next unless $line =~ /^\s*#\s*include\s*([<"])([^>"]+)[>"]/;
        my ($system, $name) = ($1 eq '<', $2);
        my $at = "$file line $n";
        if ($system) {
            push @bad, "$at: <$name>: public headers need stddef.h and stdint.h only"
                if $public && $name !~ /^(?:stddef|stdint)\.h$/;
            push @bad, "$at: <$name>: the core knows no perl"
                if $name =~ /(?:^|\/)(?:perl|XSUB|EXTERN)\.h$/;
            next;
        }
        next if $name =~ m{^dprof/(\w+)\.h$} && $public{$1};
        my $to = $beside{$name} // ($name =~ /^(\w+)\.h$/)[0];
        if ($public) { push @bad, qq{$at: "$name": public headers include public ones only} }
        elsif (!defined $to) { push @bad, qq{$at: "$name": not a header of src/} }
        elsif ($open{$to}) { next }
        elsif (!$folder{$to}) { push @bad, qq{$at: "$name": in no folder} }
        elsif (!$visible{ $folder{$to} }) {
            push @bad, qq{$at: "$name": $folder does not see $folder{$to}};
        }
    }

    my $code = strip_c($text =~ s/^\s*#\s*include.*//mgr);
    for my $what (sort keys %forbidden) {
        push @bad, "$file: $what: $1" if $code =~ /($forbidden{$what})/;
    }
    push @bad, "$file: allocates past dp_mem: $1" if $stem ne 'dp_mem' && $code =~ /($allocates)/;
    return @bad;
}

# Files that include each other, directly or by way of others. A .c and its .h are one file here;
# the .c of a family's table may name its kinds: dp_render.c includes dp_render_*.h.
sub circles {
    my (%text) = @_;
    my %to;
    for my $file (sort keys %text) {
        my ($stem, $kind) = $file =~ m{(\w+)\.([ch])$} or next;
        for my $name ($text{$file} =~ m{^\s*#\s*include\s*"(?:dprof/)?(\w+)\.h"}mg) {
            next if $name eq $stem || $kind eq 'c' && $name =~ /^\Q$stem\E_/;
            $to{$stem}{$name} = 1;
        }
    }
    my (%state, @bad);
    my $visit;
    $visit = sub {
        my ($at, @way) = @_;
        push(@bad, join ' -> ', @way, $at), return if ($state{$at} // '') eq 'open';
        return if $state{$at};
        $state{$at} = 'open';
        $visit->($_, @way, $at) for sort keys %{ $to{$at} };
        $state{$at} = 'done';
    };
    $visit->($_) for sort keys %to;
    return @bad;
}

my %text = map { (s{^src/}{}r) => content($_) } grep { m{^src/(?:\w+/dp_\w+|dprof/\w+|\w+)\.[ch]$} }
    tracked();
ok(%text > 100, 'src/ has files') or BAIL_OUT('nothing to check');
is(join("\n", map { complaints($_, $text{$_}) } sort keys %text), '',
    'levels, and what the core must not do');
is(join("\n", circles(%text)), '', 'no circles');

# The check notices what it is there for.
my @samples = (
    ['a higher level',   'base/dp_buf.c', qq{#include "dp_buf.h"\n#include "dp_prof.h"\n},
        qr/base does not see profile/],
    ['the other side',   'record/dp_rec.h', qq{#include "dp_prof.h"\n},
        qr/record does not see profile/],
    ['and back',         'profile/dp_prof.c', qq{#include "dp_rec.h"\n},
        qr/profile does not see record/],
    ['a view that reads', 'view/dp_flat.c', qq{#include "dp_reader.h"\n},
        qr/view does not see format/],
    ['no folder',        'dp_odd.c', qq{int x;\n}, qr/in no folder/],
    ['an unknown folder', 'odd/dp_odd.c', qq{int x;\n}, qr/in no folder/],
    ['unknown included', 'base/dp_buf.c', qq{#include "dp_odd.h"\n}, qr/in no folder/],
    ['a path',           'base/dp_buf.c', qq{#include "pmu-events/jev.h"\n},
        qr/not a header of src/],
    ['the events',       'base/dp_buf.c', qq{#include "pmu-events/pmu-events.h"\n},
        qr/base does not see events/],
    ['perl',             'base/dp_buf.c', qq{#include "perl.h"\n}, qr/in no folder/],
    ['perl, system',     'base/dp_buf.c', qq{#include <perl.h>\n}, qr/knows no perl/],
    ['dpx_',             'base/dp_buf.c', qq{void f(void) { dpx_x(); }\n}, qr/knows perl/],
    ['malloc',           'base/dp_buf.c', qq{void *p = malloc (3);\n}, qr/allocates/],
    ['printing',         'view/dp_tree.c', qq{void f(void) { printf("x"); }\n}, qr/prints/],
    ['a public include', 'dprof/report.h', qq{#include <stdio.h>\n}, qr/public headers need/],
    ['ours in public',   'dprof/report.h', qq{#include "dp_base.h"\n}, qr/public ones only/],
    ['none such',        'base/dp_buf.c', qq{#include "dprof/odd.h"\n}, qr/not a header/],
);
like(join("\n", complaints($_->[1], $_->[2])), $_->[3], "notices: $_->[0]") for @samples;
like(join("\n", circles('a/x.h' => qq{#include "y.h"\n}, 'a/y.c' => qq{#include "z.h"\n},
    'a/z.h' => qq{#include "x.h"\n})), qr/x -> y -> z -> x/, 'notices: a circle');
is(join("\n", complaints('base/dp_buf.c',
    qq{#include "dp_buf.h"\n#include "dp_err.h"\n/* printf(x) */ char *s = "free(x)";\n})),
    '', 'and nothing else');
done_testing;
