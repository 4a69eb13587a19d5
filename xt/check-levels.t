#!/usr/bin/perl
# The folders of src/ are its levels: a file includes headers of its own folder and of those that
# its folder may see. The core must not know perl, print, exit, allocate past dp_mem, or read a
# clock or the environment. In xs/, each .c has a header of its own, and the recorder and the
# analyzers do not see each other. In both, no files include or call each other in a circle.
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
    pair    => [qw(base profile)],
    view    => [qw(base profile pair)],
    print   => [qw(base profile pair view)],
);
# dp_fmt.h has the words and limits of the file, for everybody.
my %open = (dp_fmt => 1);
# dp_pmu_events.c is made by jevents; its header stands beside that, for both.
my %beside = ('pmu-events/pmu-events.h' => 'dp_pmu_events');

# xs/ has two sides. The recorder sees what it is made of; the analyzers' side has the public
# headers, and a few of the core's for its conversions.
my %side = (
    (map { ("dpx_$_" => 'analyzers') }
        qw(constants diff formats hash host keys lines list report rows stacks)),
    (map { ("dpx_$_" => 'both') } qw(compat events plan)),
);
my %side_sees = (
    recorder  => [qw(base format events record)],
    analyzers => [qw(base events profile pair view)],
    both      => [qw(base format events record)],
);
# Of the side's own headers, these have no .c: types, shims, and the state of an interpreter.
my %types = map { $_ => 1 } qw(dpx dpx_compat dpx_plan);
# These are perl's, in the same namespace of includes.
my %perls = map { $_ => 1 } qw(EXTERN.h perl.h XSUB.h);

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
my $allocates = qr/\b(?:malloc|calloc|realloc|reallocarray|free|strdup|strndup|asprintf|vasprintf)
    \s*\(/x;

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

# Returns the same for a file of xs/, given its name without xs/, its text, and all names there.
sub xs_complaints {
    my ($file, $text, %there) = @_;
    my ($stem, $kind) = $file =~ /^(\w+)\.([ch])$/ or return "xs/$file: neither .c nor .h";
    my $side = $side{$stem} // 'recorder';
    $side = 'recorder' if $side eq 'both' && $kind eq 'c';      # it is its header that both see
    my @ours = $text =~ /^\s*#\s*include\s*"([^"]+)"/mg;
    my @bad;
    push @bad, "xs/$file: it has no header of its own" if $kind eq 'c' && !exists $there{"$stem.h"};
    push @bad, "xs/$file: $stem.h is to be the first that it includes"
        if $kind eq 'c' && exists $there{"$stem.h"} && ($ours[0] // '') ne "$stem.h"
            && $stem ne 'dpx_fit';
    push @bad, "xs/$file: there is no $stem.c, and it is not among the headers of types"
        if $kind eq 'h' && !exists $there{"$stem.c"} && !$types{$stem};
    my %visible = map { $_ => 1 } @{ $side_sees{$side} };
    for my $name (@ours) {
        next if $perls{$name};
        next if $name =~ m{^dprof/(\w+)\.h$} && $public{$1};
        my $to = $beside{$name} // ($name =~ /^(\w+)\.h$/)[0];
        if (!defined $to) { push @bad, qq{xs/$file: "$name": no header of ours} }
        elsif ($to =~ /^dpx/) {
            my $other = $side{$to} // ($to eq 'dpx' ? 'both' : 'recorder');
            push @bad, "xs/$file: the $side does not see $name"
                if $other ne 'both' && $other ne $side;
        }
        elsif ($open{$to}) { next }
        elsif (!$folder{$to}) { push @bad, qq{xs/$file: "$name": in no folder} }
        elsif (!$visible{ $folder{$to} }) {
            push @bad, "xs/$file: the $side does not see $folder{$to} ($name)";
        }
    }
    return @bad;
}

# A .c and its .h are one file here; the .c of a family's table may name its kinds: dp_render.c has
# dp_render_*.
sub is_kind {
    my ($of, $kind, $name) = @_;
    return $of eq $name || $kind eq 'c' && $name =~ /^\Q$of\E_/;
}

# Finds files that include each other, directly or through others.
sub circles {
    my (%text) = @_;
    my %to;
    for my $file (sort keys %text) {
        my ($stem, $kind) = $file =~ m{(\w+)\.([ch])$} or next;
        for my $name ($text{$file} =~ m{^\s*#\s*include\s*"(?:dprof/)?(\w+)\.h"}mg) {
            $to{$stem}{$name} = $name unless is_kind($stem, $kind, $name);
        }
    }
    return rings(%to);
}

# Finds files of which each uses functions of the next, to call them or to have them called. A
# function is where its body is; inline functions of a header count, its declarations do not.
my $inline = qr/^(?:DP_INLINE|static inline)\b.*?^\}/ms;

sub call_circles {
    my (%text) = @_;
    my (%home, %code, %to);
    for my $file (sort keys %text) {
        my ($stem, $kind) = $file =~ m{(\w+)\.([ch])$} or next;
        my $code = strip_c($text{$file} =~ s/^\s*#\s*include.*//mgr);
        $code = join "\n", $code =~ /$inline/g if $kind eq 'h';
        $code{$file} = $code;
        my $own = $kind eq 'h' ? qr/^/ : qr/^(?!static\b)/;
        $home{$1} = $stem while $code =~ /$own\w[\w \t*]*?\b(dpx?_\w+)\s*\([^;{}]*\)\s*\{/mg;
    }
    for my $file (sort keys %code) {
        my ($stem, $kind) = $file =~ m{(\w+)\.([ch])$};
        for my $name ($code{$file} =~ /\b(dpx?_\w+)\b/g) {
            my $there = $home{$name} // next;
            $to{$stem}{$there} = $name unless is_kind($stem, $kind, $there);
        }
    }
    return rings(%to);
}

# from => { to => why }: returns the paths that lead back to where they began.
sub rings {
    my (%to) = @_;
    my (%state, @bad);
    my $visit;
    $visit = sub {
        my ($at, @way) = @_;
        if (($state{$at} // '') eq 'open') {
            shift @way while $way[0] ne $at;
            my @ring = map {
                my $next = $way[$_ + 1] // $at;
                my $why = $to{ $way[$_] }{$next};
                $why eq $next ? $way[$_] : "$way[$_] ($why)";
            } 0 .. $#way;
            push @bad, join ' -> ', @ring, $at;
            return;
        }
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
my %xs = map { (s{^xs/}{}r => content($_)) } grep { m{^xs/\w+\.[ch]$} } tracked();
ok(%xs > 40, 'xs/ has files') or BAIL_OUT('nothing to check');
is(join("\n", map { xs_complaints($_, $xs{$_}, %xs) } sort keys %xs), '',
    'xs/: headers, and two sides');
is(join("\n", circles(%text, %xs)), '', 'no circles of includes');
is(join("\n", call_circles(%text, %xs)), '', 'no circles of calls');

# The check notices violations.
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
my %headers = map { ("$_.h" => '', "$_.c" => '') } qw(dpx_a dpx_b);
for (
    ['no header',        'dpx_c.c', qq{#include "dpx.h"\n}, qr/no header of its own/],
    ['a header late',    'dpx_a.c', qq{#include "dpx_b.h"\n#include "dpx_a.h"\n}, qr/the first/],
    ['a header alone',   'dpx_c.h', '', qr/there is no dpx_c\.c/],
    ['the analyzers',    'dpx_a.c', qq{#include "dpx_a.h"\n#include "dpx_host.h"\n},
        qr/recorder does not see dpx_host/],
    ['the recorder',     'dpx_host.c', qq{#include "dpx_host.h"\n#include "dpx_a.h"\n},
        qr/analyzers does not see dpx_a/],
    ['the profile',      'dpx_a.c', qq{#include "dpx_a.h"\n#include "dp_prof.h"\n},
        qr/recorder does not see profile/],
) {
    like(join("\n", xs_complaints($_->[1], $_->[2], %headers)), $_->[3], "notices in xs/: $_->[0]");
}
my %calls_b = ('x/dpx_a.c' => "int dpx_a_f(int n)\n{\n    return dpx_b_g(n);\n}\n",
    'x/dpx_b.c' => "int dpx_b_g(int n)\n{\n    return n;\n}\n");
like(join("\n", call_circles(%calls_b, 'x/dpx_b.h' => "int dpx_b_g(int n);\n"
    . "DP_INLINE int dpx_b_h(int n)\n{\n    return dpx_a_f(n);\n}\n")),
    qr/dpx_a \(dpx_b_g\) -> dpx_b \(dpx_a_f\) -> dpx_a/, 'notices: a circle of calls');
is(join("\n", call_circles(%calls_b, 'x/dpx_b.h' => "int dpx_b_g(int n);     /* dpx_a_f calls it */"
    . "\nint dpx_a_f(int n);\n")), '', 'and none where there is none');
is(join("\n", complaints('base/dp_buf.c',
    qq{#include "dp_buf.h"\n#include "dp_err.h"\n/* printf(x) */ char *s = "free(x)";\n})),
    '', 'notices: nothing in a good file');
done_testing;
