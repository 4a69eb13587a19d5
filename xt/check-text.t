#!/usr/bin/perl
# What holds for each text file. It has no paths of a developer's machine, no tabs where a makefile
# needs none, no blanks at the ends of lines, no line over 100 columns, UTF-8, a newline at the end.
# Comments in C, also of tests and fuzz targets, avoid words that hide who does something.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use Test::More;

# Recorded output and foreign text are not checked, but for the paths.
my $recorded = qr{^(?:t/(?:data|golden|corpus)/|xt/comprehension/.*\.(?:txt|questions)$
    |src/pmu-events/arch/|LICENSE$)}x;
my $tabs = qr{(?:^|/)(?:Makefile(?:\.PL)?|MANIFEST|[^/]+\.mk)$};
my $machine = qr{(?<![\w.])/(?:home|Users|root|work)/[\w.]+};

# No line is wider. Exempt are files that go into pages and pictures byte for byte (the modules in
# share/page/ do not: they are joined), pictures that we have drawn, and what xt/matrix writes in
# columns.
my $WIDTH = 100;
my $free = qr{^(?:share/(?!page/)|doc/[\w-]+\.svg$|xt/matrix\.results$)};

# Whether no break makes a line shorter: it is one word, such as an address, or a row of a program's
# output, quoted in Markdown.
sub cannot_be_broken {
    my ($file, $line) = @_;
    return $line =~ /^\s*\S+$/ || $file =~ /\.md$/ && $line =~ /^ {4}/;
}

sub complaints {
    my ($file, $text) = @_;
    my @bad;
    push @bad, "$file: a path of one machine: $1" if $text =~ /($machine)/;
    push @bad, map { "$file: a place left to fill: $_" } $text =~ /(\@\@FILL.*?\@\@)/g;
    return @bad if $file =~ $recorded || is_binary($text) || $text eq '';
    my $n = 0;
    for my $line (split /\n/, $text) {
        $n++;
        push @bad, "$file line $n: a carriage return" if $line =~ /\r/;
        push @bad, "$file line $n: blanks at the end" if $line =~ /[ \t]$/;
        push @bad, "$file line $n: a tab" if $line =~ /\t/ && $file !~ $tabs;
        next if $file =~ $free || cannot_be_broken($file, $line);
        utf8::decode(my $shown = $line);
        push @bad, "$file line $n: over $WIDTH columns" if length $shown > $WIDTH;
    }
    push @bad, "$file: no newline at the end" if $text !~ /\n\z/;
    push @bad, "$file: empty lines at the end" if $text =~ /\n\n\z/;
    push @bad, "$file: not UTF-8" unless utf8::decode(my $copy = $text);
    return @bad;
}

# Words that comments in C do without. A sentence names the one who does something, and begins with
# its subject.
my $obscure = qr{\b(is told|are told of|nobody tells|it is what|of which|whoever)\b}i;
my $subjectless = qr{(?:\A|[.:;?!] +)(?:- )?Of };

sub obscurities {
    my ($file, $text) = @_;
    return if $file !~ m{^(?:src|xs|fuzz|t/c)/.*\.[ch]$} || $file =~ $recorded;
    my @bad;
    while ($text =~ m{"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|/\*(.*?)\*/}gs) {
        my ($comment, $before) = ($1 // next, $`);
        my $n = 1 + ($before =~ tr/\n//);
        $comment =~ s/^[ *]+//;
        $comment =~ s/\n *\* *(?=\n)|\n *\* (?=- )/. /g;     # a paragraph, an item of a list
        $comment =~ s/[ \\]*\n[ *]*/ /g;
        push @bad, wording($file, $n, $comment);
    }
    return @bad;
}

sub wording {
    my ($file, $line, $sentences) = @_;
    my $what = $file =~ /\.[ch]$/ ? 'a comment' : 'the text';
    return ($sentences =~ $obscure ? "$file line $line: $what says `$1'" : (),
        $sentences =~ $subjectless ? "$file line $line: a sentence begins with `Of'" : ());
}

# The Perl of users.
my $read = qr{^(?:bin/|lib/.*\.p(?:m|od)$|tools/options\.pod$)};

# Paragraphs of comments and of manuals; verbatim paragraphs are examples.
sub perl_obscurities {
    my ($file, $text) = @_;
    return if $file !~ $read;
    my ($n, $in_pod, $begin, $paragraph, @bad) = (0, 0, 0, '');
    for my $line (split(/\n/, $text), '') {
        $n++;
        $in_pod = $line !~ /^=cut/ if $line =~ /^=[a-z]/;
        my ($words) = $in_pod ? $line =~ /^(\S.*)/ : $line =~ /^ *# (.*)/;
        if (defined $words) {
            $begin = $n if $paragraph eq '';
            $paragraph .= ($paragraph eq '' ? '' : ' ') . $words;
        } elsif ($paragraph ne '') {
            push @bad, wording($file, $begin, $paragraph);
            $paragraph = '';
        }
    }
    return @bad;
}

my @files = tracked();
is(join("\n", map { complaints($_, content($_)) } @files), '',
    scalar(@files) . ' files keep the rules');

# First lines make programs of files only in the usual ways.
my @shebang = grep { content($_) =~ /^#!/ } @files;
is(join("\n", grep { content($_) !~ m{^#!(?:/usr/bin/(?:env )?perl|/bin/sh|/bin/bash)\b} }
    grep { !/$recorded/ } @shebang), '',
    'the first lines name perl, sh or bash by their usual places');

is(join("\n", map { obscurities($_, content($_)) } @files), '', 'comments in C name who does what');
is(join("\n", map { perl_obscurities($_, content($_)) } @files), '',
    'comments and manuals of Perl name who does what');

my $home = '/' . 'home';
like(join("\n", complaints('a', "x $home/me/y\n")), qr/one machine/, 'the check notices a path');
like(join("\n", complaints('t/data/a', "x $home/me/y\n")), qr/one machine/,
    'the check notices a path in recorded data');
like(join("\n", complaints('a', '@@' . "FILL: y\@\@\n")), qr/left to fill/,
    'the check notices a gap');
like(join("\n", complaints('a', "x \n")), qr/blanks/, 'the check notices blanks at the end');
like(join("\n", complaints('a', "\tx\n")), qr/tab/, 'the check notices a tab');
like(join("\n", complaints('a', "x")), qr/no newline/, 'the check notices a missing newline');
like(join("\n", complaints('a', "\xff\n")), qr/UTF-8/, 'the check notices Latin 1');
like(join("\n", complaints('a.c', 'x ' x 50 . "x\n")), qr/line 1: over 100 columns/,
    'the check notices a line of 101 columns');
is(join("\n", complaints('a.c', "\xc3\xa9 " x 49 . "\xc3\xa9\xc3\xa9\n")), '',
    'the check accepts a line of 100 columns with more bytes');
is(join("\n", complaints('src/Makefile', "\tx\n")), '', 'the check accepts a good makefile');
like(join("\n", obscurities('src/view/a.c', "int a;\n/* The sub is\n * told. */\n")),
    qr/^src\/view\/a.c line 2: a comment says `is told'$/,
        'the check notices a passive across lines');
like(join("\n", obscurities('src/view/a.c', "x; /* Of a sub, its line. */\n")),
    qr/begins with `Of'/,
    'the check notices a sentence that begins with Of');
for my $file (qw(xs/hook/a.c xs/record/a.h fuzz/a.c t/c/a.c)) {
    like(join("\n", obscurities($file, "x; /* as the host is told */\n")), qr{^$file line 1},
        "the check reads comments of $file");
}
like(join("\n", obscurities('src/view/a.c', "/* A line. Of a sub,\n * its line. */\n")),
    qr/begins with `Of'/, 'the check notices such a sentence in the middle of a comment');
is(join("\n", obscurities('src/view/a.c', qq{s = "/* is told */"; /* the list\n * of lines */\n})),
    '',
    'the check accepts such words in a string');
is(join("\n", perl_obscurities('bin/a', "f();   # 1\n# A line. Of a sub,\n# its line.\nf();\n")),
    "bin/a line 2: a sentence begins with `Of'", 'the check reads comments of Perl');
is(join("\n", perl_obscurities('bin/a', "f();\n\n=item x\n\nThe sub is\ntold.\n\n=cut\n")),
    "bin/a line 5: the text says `is told'", 'the check reads manuals');
is(join("\n", perl_obscurities('bin/a', "f('is told');\n\n=item x\n\n    is told\n\n=cut\n")),
    '', 'the check accepts such words in code and examples');
done_testing;
