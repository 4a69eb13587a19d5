#!/usr/bin/perl
# The scripts of the page, share/page/: each folder is a level, a module imports from its own level
# or a lower one, and none import each other in a circle. What a module exports is used, and has a
# name that says something. tools/join.c makes one script of them, whose top level has their exports
# and no other name. The tests in xt/page/ run in node, without a browser.
use strict;
use warnings;
use Config;
use File::Temp ();
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use Test::More;

# From the lowest up: pure code and elements; trees; the profile and what is computed of it; a
# canvas; what a reader does; the views; what holds them together.
my @levels = qw(base data model draw act view app);
my %level = map { $levels[$_] => $_ } 0 .. $#levels;

my %text = map { $_ => content($_) } grep { m{^share/page/.*\.mjs$} } tracked();

# Returns the names that a module imports, and from where: [name, path of the module].
sub imports {
    my ($file, $text) = @_;
    my @list;
    while ($text =~ /^import ([^;]*?)'([^']+)';/mg) {
        my ($names, $from) = ($1, $2);
        my @path = split m{/}, $file =~ s{[^/]*$}{}r . $from;
        my @real;
        $_ eq '..' ? pop @real : $_ ne '.' && push @real, $_ for @path;
        my $path = join '/', @real;
        push @list, map { [$_, $path] } $names =~ /[\w\$]+(?=\s*[,}])/g;
    }
    return @list;
}

sub exports { return $_[0] =~ /^export (?:async )?(?:function|class|const) ([\w\$]+)/mg }

# Complaints about modules: path => text. `used`: names that tests use.
sub complaints {
    my ($modules, %used) = @_;
    my (@bad, %by);
    for my $file (sort keys %$modules) {
        my $text = $modules->{$file};
        my ($folder) = $file =~ m{^share/page/(\w+)/[\w-]+\.mjs$};
        push @bad, "$file: in no folder that is a level: see the top of $0"
            unless defined $folder && exists $level{$folder};
        push @bad, map { "$file: exports $_, as $by{$_} does" } grep { $by{$_} } exports($text);
        $by{$_} = $file for exports($text);
        push @bad, "$file: a form of import or export that tools/join.c does not know: $1"
            while $text =~ /^((?:export\ (?!(?:(?:async\ )?function|class|const)\ )
                |import\b(?!\ \{)).*)/mgx;
        push @bad, "$file: renames what it imports" if $text =~ /^import [^;]*\bas\b/m;
        push @bad, "$file: several names in one const"
            if $text =~ /^export const \w+ = [^;{('\[]*?, /m;
        push @bad, "$file: a name that says nothing: $_" for grep { /^[A-Za-z]$/ } exports($text);
    }
    for my $file (sort keys %$modules) {
        my ($folder) = $file =~ m{^share/page/(\w+)/};
        for my $import (imports($file, $modules->{$file})) {
            my ($name, $from) = @$import;
            my ($other) = $from =~ m{^share/page/(\w+)/};
            push(@bad, "$file: imports from $from, which is not there"), next
                unless exists $modules->{$from};
            $used{$name} = 1;
            push @bad, "$file: imports from $from, which is of a higher level"
                if ($level{$other} // 0) > ($level{$folder} // 0);
            push @bad, "$file: imports $name, which $from does not export"
                unless grep { $_ eq $name } exports($modules->{$from});
        }
    }
    push @bad, map { "$by{$_}: nothing imports $_" } grep { !$used{$_} } sort keys %by;
    return @bad, circles($modules);
}

# Takes away the modules that import none that is left; what remains is in a circle, or above one.
sub circles {
    my ($modules) = @_;
    my %left = %$modules;
    while (1) {
        my @free = grep {
            my $file = $_;
            !grep { exists $left{ $_->[1] } } imports($file, $left{$file});
        } keys %left;
        last unless @free;
        delete @left{@free};
    }
    return %left ? 'import each other in a circle: ' . join ' ', sort keys %left : ();
}

# Names that the tests in a browser and in node use.
my %tested = map { $_ => 1 } map { content($_) =~ /[\w\$]+/g }
    grep { m{^xt/(?:browser|page)/} } tracked();

is(join("\n", complaints(\%text, %tested)), '', scalar(keys %text) . ' modules keep the rules');

my $low = "export const low = 1;\n";
my %good = ('share/page/base/a.mjs' => $low,
    'share/page/view/b.mjs' => "import { low } from '../base/a.mjs';\n");
is(join("\n", complaints(\%good)), '', 'the check accepts two good modules');
for ([ 'a higher level', 'share/page/base/a.mjs' => "import { up } from '../view/b.mjs';\n$low",
        'share/page/view/b.mjs' => "export const up = 1;\nlow;\n" ],
    [ 'in a circle',
        'share/page/view/c.mjs' => "import { d } from './d.mjs';\nexport const cc = 1;\n",
        'share/page/view/d.mjs' => "import { cc } from './c.mjs';\nexport const d = 1;\n" ],
    [ 'says nothing: S', 'share/page/base/s.mjs' => "export const S = {};\n" ],
    [ 'nothing imports unused', 'share/page/base/s.mjs' => "export const unused = {};\n" ],
    [ 'no folder that is a level', 'share/page/s.mjs' => "let x;\n" ],
    [ 'does not export', 'share/page/view/b.mjs' => "import { no } from '../base/a.mjs';\n" ],
    [ 'not there', 'share/page/view/b.mjs' => "import { no } from '../base/no.mjs';\n" ],
    [ 'exports low, as', 'share/page/base/b.mjs' => $low ],
    [ 'does not know: export let', 'share/page/base/b.mjs' => "export let x;\n" ],
    [ 'does not know: export \{', 'share/page/base/b.mjs' => "export { x };\n" ],
    [ 'renames', 'share/page/view/b.mjs' => "import { low as x } from '../base/a.mjs';\n" ],
    [ 'several names', 'share/page/base/b.mjs' => "export const x1 = 1, x2 = 2;\n" ]) {
    my ($what, %more) = @$_;
    like(join("\n", complaints({ %good, %more })), qr/$what/, "the check notices: $what");
}

# ---- the script that is made of them ----

my $dir = File::Temp->newdir;
is(system("$Config{cc} -o $dir/join tools/join.c"), 0, 'tools/join.c compiles');

# Joins modules that are given as name => text. Returns the script and what was said.
sub joined {
    my (%modules) = @_;
    unlink "$dir/out.js";
    for my $name (keys %modules) {
        open(my $fh, '>', "$dir/$name") or die "$dir/$name: $!\n";
        print $fh $modules{$name};
        close $fh or die "$dir/$name: $!\n";
    }
    my $files = join ' ', map { "$dir/$_" } sort keys %modules;
    my $said = `$dir/join $dir/out.js $files 2>&1`;
    return (-e "$dir/out.js" ? content("$dir/out.js") : undef, $said);
}

my $upper = "// A comment.\nimport {\n    low,\n} from './b.mjs';\n\nlet own = low;\n"
    . "export async function upper() {\n    // Why.\n    return own;      // x: 'y'\n}\n";
is((joined('a.mjs' => $upper, 'b.mjs' => "let own = 1;\nexport const low = own;\n"))[0], <<"END",
'use strict';
const { low } = (() => {
let own = 1;
const low = own;
return { low };
})();
const { upper } = (() => {
let own = low;
async function upper() {
return own;
}
return { upper };
})();
END
    'modules are joined with the imported one first, and their other names stay inside');
for ([ qr/in a circle/, 'a.mjs' => "import { x } from './b.mjs';\n",
        'b.mjs' => "import { y } from './a.mjs';\n" ],
    [ qr/not among the arguments/, 'a.mjs' => "import { x } from './c.mjs';\n" ],
    [ qr/a function, a class or a const/, 'a.mjs' => "export let x;\n" ]) {
    my ($what, %modules) = @$_;
    my ($script, $said) = joined(%modules);
    like($said, $what, "tools/join.c refuses: $what");
    is($script, undef, "tools/join.c writes no script: $what");
}

my $script = do {
    my $files = join ' ', sort keys %text;
    is(system("$dir/join $dir/page.js $files"), 0, 'the modules of the page are joined');
    content("$dir/page.js");
};
my @exported = sort map { exports($_) } values %text;
my @top = sort map { split /, / } $script =~ /^const \{ (.*) \} = \(\(\) => \{$/mg;
is("@top", "@exported", 'the top level of the script has the exports, and no other name');
unlike($script, qr/^\s*(?:import|export)\b/m, 'the script has no import and no export left');
is($script, content('src/picture/dp_page.js'),
    'the script in the pages is made of these modules')
    if -e 'src/picture/dp_page.js';

# ---- tests in node ----

# Runs a test. Returns its status and what it said.
sub node {
    my ($file) = @_;
    my $said = `node $file 2>&1`;
    return ($?, $said);
}

SKIP: {
    my @tests = grep { m{^xt/page/.*\.mjs$} } tracked();
    my $version = `node --version 2>/dev/null` || '';
    my ($major) = $version =~ /^v(\d+)/;
    skip 'no node here (Debian: nodejs)', scalar @tests unless $major;
    skip "node is $version; DecompressionStream is there since 18", scalar @tests if $major < 18;
    for my $test (@tests) {
        my ($status, $said) = node($test);
        my ($planned) = $said =~ /^1\.\.(\d+)$/m;
        my $ok = ok(!$status && $planned,
            "$test passes with " . ($planned // 'no') . ' assertions');
        diag(grep { !/^ok/ } $said =~ /^.*\n?/mg) unless $ok;
    }
}

done_testing;
