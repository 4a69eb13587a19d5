#!/usr/bin/perl
# Checks the levels of the C code: a file includes headers of its own folder, and of those below it
# that LEVELS names for the folder. The core, in src/, must not know perl, print, exit, allocate
# past dp_mem, or read a clock or the environment. In xs/, each .c has a header of its own. In both,
# no files include or call each other in a circle. The same of modules in lib/Devel/DProf/, and what
# they use.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use Test::More;

# The public headers include each other only, and everybody may include them.
my $PUBLIC = 'src/dprof';
# These are perl's, in the same namespace of includes.
my %perls = map { $_ => 1 } qw(EXTERN.h perl.h XSUB.h);

# Returns which folders each folder sees, and complaints about the list.
sub levels {
    my ($text) = @_;
    my (%sees, @bad);
    for my $line (grep { !/^(?:#|$)/ } split /\n/, $text =~ s/\\\n//gr) {
        my ($folder, $below) = $line =~ m{^([\w/-]+):((?: +[\w/-]+)*)$}
            or push(@bad, "LEVELS: not FOLDER: FOLDER ...: $line"), next;
        push @bad, "LEVELS: $folder comes twice" if $sees{$folder};
        my @below = split ' ', $below;
        push @bad, map { "LEVELS: $folder: $_ is not below it" } grep { !$sees{$_} } @below;
        $sees{$folder} = { map { $_ => 1 } $folder, @below };
    }
    return (\%sees, @bad);
}
my ($sees, @bad_levels) = levels(content('LEVELS'));

# The folder of each header, by its name, which is the only one of that name.
my (%folder, @namesakes);
for (grep { m{^(?:src|xs)/.*\.h$} } tracked()) {
    my ($folder, $name) = m{^(.*)/(.*)$};
    push @namesakes, "$_ and $folder{$name}/$name" if exists $folder{$name};
    $folder{$name} = $folder;
}

my %forbidden = (
    'prints'                => qr/\b(?:v?printf|v?fprintf|puts|fputs|putchar|perror|fwrite)\s*\(/,
    'ends the process'      => qr/\b(?:exit|_exit|abort|longjmp|siglongjmp)\s*\(/,
    'reads the environment' => qr/\b(?:secure_)?getenv\s*\(/,
    'reads a clock'         => qr/\b(?:clock_gettime|gettimeofday|time|times|clock|getrusage)\s*\(/,
    'knows perl'            => qr/\bdpx_|\b[ACHSG]V\s*\*|\bp?THX\b|\bPerl_|\bPL_|\bcroak\s*\(/,
);
my $allocates = qr/\b(?:malloc|calloc|realloc|reallocarray|free|strdup|strndup|asprintf|vasprintf)
    \s*\(/x;

# Returns what a folder may include and does not need.
sub needless {
    my ($sees, %text) = @_;
    my %left = map { my $folder = $_; map { ("$folder does not need $_" => 1) }
        grep { $_ ne $folder } keys %{ $sees->{$folder} } } grep { !/^lib/ } keys %$sees;
    for my $file (keys %text) {
        my ($folder) = $file =~ m{^(.*)/};
        delete $left{"$folder does not need $_"} for map { $folder{$_} // () }
            $text{$file} =~ m{^\s*#\s*include\s*"(?:.*/)?([\w-]+\.h)"}mg;
    }
    return sort keys %left;
}

# Returns complaints about what a file includes, given its name and text.
sub bad_includes {
    my ($file, $text) = @_;
    my ($folder) = $file =~ m{^(.*)/};
    my $is_core = $file =~ m{^src/};
    return "$file: in no folder that is a level: see LEVELS"
        if $folder ne $PUBLIC && !$sees->{$folder};
    my @bad;
    my $n = 0;
    for my $line (split /\n/, $text) {
        $n++;
        next unless $line =~ /^\s*#\s*include\s*([<"])([^>"]+)[>"]/;
        my ($system, $name) = ($1 eq '<', $2);
        my $at = "$file line $n";
        if ($system) {
            push @bad, "$at: <$name>: public headers need stddef.h and stdint.h only"
                if $folder eq $PUBLIC && $name !~ /^(?:stddef|stdint)\.h$/;
            push @bad, "$at: <$name>: the core knows no perl"
                if $is_core && $name =~ /(?:^|\/)(?:perl|XSUB|EXTERN)\.h$/;
            next;
        }
        next if $perls{$name} && !$is_core;
        my ($path, $stem) = $name =~ m{^(?:(.+)/)?([\w-]+\.h)$};
        my $there = $folder{ $stem // '' };
        if (!defined $there) { push @bad, qq{$at: "$name": in no folder} }
        elsif (defined $path && "src/$path" ne $there) {
            push @bad, qq{$at: "$name": not a header of src/};
        }
        elsif ($folder eq $PUBLIC) {
            push @bad, qq{$at: "$name": public headers include public ones only}
                if $there ne $PUBLIC;
        }
        elsif ($there ne $PUBLIC && !$sees->{$folder}{$there}) {
            push @bad, qq{$at: "$name": $folder does not see $there};
        }
    }
    return @bad;
}

# The room of a module: the folder of lib/Devel/DProf/ that it is in, at any depth, or that has its
# name. Undef for others.
my $ROOMS = 'lib/Devel/DProf';

sub room {
    my ($file) = @_;
    my ($name) = $file =~ m{^\Q$ROOMS\E/([\w/]+)\.pm$} or return undef;
    my ($top) = split m{/}, $name;
    return $sees->{"$ROOMS/$top"} ? "$ROOMS/$top" : $ROOMS;
}

# Returns the modules that a module uses, as files.
sub used_modules {
    my ($text) = @_;
    my $code = $text =~ s/^__END__\n.*//msr;
    return map { "lib/$_.pm" } map { s{::}{/}gr } $code =~ /^\s*use (Devel::DProf::[\w:]+)/mg;
}

# Returns complaints about what a module uses.
sub bad_uses {
    my ($file, $text) = @_;
    my $room = room($file);
    # A module that has a folder of its name is one that others of the lowest room may use.
    return map { "$file: $room does not see $_" } grep {
        my $there = room($_);
        m{^\Q$ROOMS\E/\w+\.pm$} ? 0 : !$sees->{$room}{$there}
    } used_modules($text);
}

# Returns which modules use each other in a circle.
sub circles_of_modules {
    my (%text) = @_;
    my %to;
    for my $file (keys %text) {
        $to{$file}{$_} = $_ for grep { $_ ne $file && exists $text{$_} } used_modules($text{$file});
    }
    return rings(%to);
}

# Returns complaints about what a file of the core does.
sub bad_deeds {
    my ($file, $text) = @_;
    my @bad;
    my $code = strip_c($text =~ s/^\s*#\s*include.*//mgr);
    for my $what (sort keys %forbidden) {
        push @bad, "$file: $what: $1" if $code =~ /($forbidden{$what})/;
    }
    push @bad, "$file: allocates past dp_mem: $1"
        if $file !~ m{/dp_mem\.[ch]$} && $code =~ /($allocates)/;
    return @bad;
}

# Returns complaints about a file of xs/ and its header, given all names there. A function begins
# with the name of the file where it is, so a header without a .c declares functions of others only.
sub bad_headers {
    my ($file, $text, %there) = @_;
    my ($stem, $kind) = $file =~ m{^(.*)\.([ch])$};
    my $own = $stem =~ s{.*/}{}r . '.h';
    my @bad;
    if ($kind eq 'c') {
        my ($first) = $text =~ /^\s*#\s*include\s*"([^"]+)"/m;
        push @bad, "$file: it has no header of its own" if !exists $there{"$stem.h"};
        push @bad, "$file: $own is to be the first that it includes"
            if exists $there{"$stem.h"} && ($first // '') ne $own;
    }
    elsif (!exists $there{"$stem.c"}) {
        my %prefix = map { m{(\w+)\.c$} ? ($1 => 1) : () } keys %there;
        my $code = strip_c($text =~ s/^\s*#.*(?:\\\n.*)*//mgr);
        for my $name ($code =~ /^\w[\w \t*]*?\b(dpx_\w+)\s*\([^;{}]*\)\s*(?:__attribute__.*)?;/mg) {
            my $prefix = $name;
            1 while !$prefix{$prefix} && $prefix =~ s/_[^_]*$//;
            push @bad, "$file: there is no $stem.c that has $name" if !$prefix{$prefix};
        }
    }
    return @bad;
}

sub complaints {
    my ($file, $text, %there) = @_;
    return (bad_includes($file, $text), $file =~ m{^src/} ? bad_deeds($file, $text)
        : bad_headers($file, $text, %there));
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

# Finds circles of files: each file uses functions of the next, to call them or to have them called.
# A function is where its body is; inline functions of a header count, its declarations do not.
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

my %text = map { $_ => content($_) }
    grep { m{^src/(?:[\w-]+/dp_\w+|dprof/\w+|\w+)\.[ch]$} || m{^xs/.*\.[ch]$} } tracked();
ok((grep { /^src/ } keys %text) > 100, 'src/ has more than a hundred files')
    or BAIL_OUT('nothing to check');
ok((grep { /^xs/ } keys %text) > 40, 'xs/ has more than forty files')
    or BAIL_OUT('nothing to check');
is(join("\n", @bad_levels, @namesakes, needless($sees, %text)), '',
    'LEVELS is right, and each header has a name of its own');
is(join("\n", map { complaints($_, $text{$_}, %text) } sort keys %text), '',
    'each file keeps its level, and the core does not do what it must not');
is(join("\n", circles(%text)), '', 'no includes form a circle');
is(join("\n", call_circles(%text)), '', 'no calls form a circle');

my %module = map { $_ => content($_) } grep { defined room($_) } tracked();
ok(keys %module > 60, 'lib/ has more than sixty modules') or BAIL_OUT('nothing to check');
is(join("\n", map { bad_uses($_, $module{$_}) } sort keys %module), '',
    'each module keeps its level');
is(join("\n", circles_of_modules(%module)), '', 'no modules form a circle');
my %in_room;
$in_room{ m{^(.*)/} ? $1 : '' }++ for keys %module;
is(join("\n", map { "$_: $in_room{$_} modules" } grep { $in_room{$_} > 20 } sort keys %in_room), '',
    'no room has more than twenty modules');

# The check notices violations.
my @samples = (
    ['a higher level',   'src/base/dp_buf.c', qq{#include "dp_buf.h"\n#include "dp_prof.h"\n},
        qr{src/base does not see src/profile}],
    ['the other side',   'src/record/dp_rec.h', qq{#include "dp_prof.h"\n},
        qr{src/record does not see src/profile}],
    ['and back',         'src/profile/dp_prof.c', qq{#include "dp_rec.h"\n},
        qr{src/profile does not see src/record}],
    ['a view that reads', 'src/view/dp_flat.c', qq{#include "dp_reader.h"\n},
        qr{src/view does not see src/format}],
    ['a view that imports', 'src/view/dp_flat.c', qq{#include "dp_reader_formats.h"\n},
        qr{src/view does not see src/import}],
    ['a view that compares', 'src/view/dp_flat.c', qq{#include "dp_diff.h"\n},
        qr{src/view does not see src/compare}],
    ['no folder',        'src/dp_odd.c', qq{int x;\n}, qr/in no folder/],
    ['an unknown folder', 'src/odd/dp_odd.c', qq{int x;\n}, qr/in no folder/],
    ['a file of xs/ in no folder',       'xs/dpx_odd.c', qq{int x;\n}, qr/in no folder/],
    ['unknown included', 'src/base/dp_buf.c', qq{#include "dp_odd.h"\n}, qr/in no folder/],
    ['a path',           'src/base/dp_buf.c', qq{#include "events/jev.h"\n},
        qr/not a header of src/],
    ['the events',       'src/base/dp_buf.c', qq{#include "pmu-events/pmu-events.h"\n},
        qr{src/base does not see src/pmu-events}],
    ['perl',             'src/base/dp_buf.c', qq{#include "perl.h"\n}, qr/in no folder/],
    ['perl, system',     'src/base/dp_buf.c', qq{#include <perl.h>\n}, qr/knows no perl/],
    ['dpx_',             'src/base/dp_buf.c', qq{void f(void) { dpx_x(); }\n}, qr/knows perl/],
    ['malloc',           'src/base/dp_buf.c', qq{void *p = malloc (3);\n}, qr/allocates/],
    ['printing',         'src/view/dp_tree.c', qq{void f(void) { printf("x"); }\n}, qr/prints/],
    ['a public include', 'src/dprof/report.h', qq{#include <stdio.h>\n}, qr/public headers need/],
    ['ours in public',   'src/dprof/report.h', qq{#include "dp_base.h"\n}, qr/public ones only/],
    ['none such',        'src/base/dp_buf.c', qq{#include "dprof/odd.h"\n}, qr/in no folder/],
    ['no header',        'xs/hook/dpx_c.c', qq{#include "dpx.h"\n}, qr/no header of its own/],
    ['a header late',    'xs/hook/dpx_a.c', qq{#include "dpx.h"\n#include "dpx_a.h"\n},
        qr/the first/],
    ['a header alone',   'xs/hook/dpx_c.h', "int dpx_c(void);\n", qr/no xs.hook.dpx_c\.c/],
    ['the analyzers',    'xs/record/dpx_life.c', qq{#include "dpx_life.h"\n#include "dpx_host.h"\n},
        qr{xs/record does not see xs/bridge}],
    ['the recorder',     'xs/bridge/dpx_host.c', qq{#include "dpx_host.h"\n#include "dpx_life.h"\n},
        qr{xs/bridge does not see xs/record}],
    ['the hooks',        'xs/record/dpx_life.c', qq{#include "dpx_life.h"\n#include "dpx_hook.h"\n},
        qr{xs/record does not see xs/hook}],
    ['the profile',      'xs/hook/dpx_a.c', qq{#include "dpx_a.h"\n#include "dp_prof.h"\n},
        qr{xs/hook does not see src/profile}],
);
my %there = map { ("xs/hook/$_.h" => '', "xs/hook/$_.c" => '') } qw(dpx_a dpx_b);
like(join("\n", complaints($_->[1], $_->[2], %there)), $_->[3], "the check notices $_->[0]")
    for @samples;
is(join("\n", complaints('xs/hook/dpx_c.h', "struct dpx_c { int n; };\nint dpx_a_of(void);\n",
    %there)), '', 'the check accepts a header of types without a .c file');
for (
    ['not below',   "src/a:\nsrc/b: src/c\nsrc/c:\n", qr{src/b: src/c is not below}],
    ['twice',       "src/a:\nsrc/a:\n", qr{src/a comes twice}],
    ['no line',     "src/a\n", qr{not FOLDER}],
) {
    my (undef, @bad) = levels($_->[1]);
    like(join("\n", @bad), $_->[2], "the check of LEVELS notices $_->[0]");
}
is(join("\n", needless({ 'src/view' => { map { $_ => 1 } qw(src/view src/base src/pair) } },
    'src/view/dp_flat.c' => qq{#include "dp_flat.h"\n#include "dp_base.h"\n})),
    'src/view does not need src/pair', 'the check notices a line of LEVELS that no file needs');
like(join("\n", circles('a/x.h' => qq{#include "y.h"\n}, 'a/y.c' => qq{#include "z.h"\n},
    'a/z.h' => qq{#include "x.h"\n})), qr/x -> y -> z -> x/,
        'the check notices a circle of includes');
my %calls_b = ('x/dpx_a.c' => "int dpx_a_f(int n)\n{\n    return dpx_b_g(n);\n}\n",
    'x/dpx_b.c' => "int dpx_b_g(int n)\n{\n    return n;\n}\n");
like(join("\n", call_circles(%calls_b, 'x/dpx_b.h' => "int dpx_b_g(int n);\n"
    . "DP_INLINE int dpx_b_h(int n)\n{\n    return dpx_a_f(n);\n}\n")),
    qr/dpx_a \(dpx_b_g\) -> dpx_b \(dpx_a_f\) -> dpx_a/, 'the check notices a circle of calls');
is(join("\n", call_circles(%calls_b, 'x/dpx_b.h' => "int dpx_b_g(int n);     /* dpx_a_f calls it */"
    . "\nint dpx_a_f(int n);\n")), '', 'the check finds no circle of calls where there is none');
is(join("\n", complaints('src/base/dp_buf.c',
    qq{#include "dp_buf.h"\n#include "dp_err.h"\n/* printf(x) */ char *s = "free(x)";\n})),
    '', 'the check accepts a good file');
like(join("\n", bad_uses("$ROOMS/View/Odd.pm", "use Devel::DProf::Compare::Diff;\n")),
    qr{View does not see lib/Devel/DProf/Compare}, 'the check notices a module of a higher room');
like(join("\n", bad_uses("$ROOMS/Store/Odd/Part.pm", "use Devel::DProf::Tool::Help;\n")),
    qr{Store does not see lib/Devel/DProf/Tool},
        'the check notices a module of a folder further down');
like(join("\n", bad_uses("$ROOMS/Sides.pm", "use Devel::DProf::View::Layout;\n")),
    qr{DProf does not see lib/Devel/DProf/View},
        'the check notices a module of a room in the lowest level');
is(join("\n", bad_uses("$ROOMS/Store.pm", "use Devel::DProf::Store::Http;\n"),
    bad_uses("$ROOMS/View/Odd.pm", "use Devel::DProf::Text;\n__END__\n"
        . "use Devel::DProf::Tool::X;\n")), '', 'the check accepts good modules');
like(join("\n", circles_of_modules("$ROOMS/A.pm" => "use Devel::DProf::B qw(b);\n",
    "$ROOMS/B.pm" => "use Devel::DProf::A;\n")), qr/A\.pm -> .*B\.pm -> /,
    'the check notices a circle of modules');
done_testing;
