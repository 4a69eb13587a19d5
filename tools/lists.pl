#!/usr/bin/perl
# Makes the lists that repeat other files: make lists.
# perl tools/lists.pl [--check] [FILE ...]
#
#   CODE-MAP        the first sentence of each file
#   MANIFEST        the distributed files: all except those of MANIFEST.SKIP
#   tables of the tools, in README.md and two manuals, from lib/Devel/DProf/Tools.pm
#   items of options that several manuals share, from tools/options.pod
#   doc/perl-innards.md, from the paragraphs "What this relies on" at the heads of files
#
# A FILE limits the work to that file. --check writes nothing: it names each file that differs from
# the one that would be made, and the facts that an author has to write; its status is then 1. It
# needs neither version control nor a build.
use strict;
use warnings;
use 5.026;
use Cwd ();
use ExtUtils::Manifest ();
use File::Basename qw(basename dirname);
use File::Find ();

BEGIN {
    chdir Cwd::abs_path(dirname(__FILE__) . '/..') or die "tools/lists.pl: $!\n";
    $INC{'Devel/DProf/Core.pm'} = 'not needed';     # Tools.pm loads it for its version
    require './lib/Devel/DProf/Tools.pm';
}

sub main {
    my @args = @_;
    -d 'xt' or die "tools/lists.pl: a distribution lacks files that the lists name; run this in a "
        . "copy of the repository\n";
    my $check = @args && $args[0] eq '--check' ? shift @args : '';
    my @complaints;
    my $made = made(\@complaints);
    my @names = @args ? @args : sort keys %$made;
    for my $name (@names) {
        my $text = $made->{$name} // die "tools/lists.pl: $name: this is not a file that is made\n";
        my $was = -e $name ? content($name) : '';
        next if $was eq $text;
        if ($check) { push @complaints, difference($name, $was, $text) }
        else { write_file($name, $text); print "$name\n" }
    }
    print STDERR map { "$_\n" } @complaints;
    return $check && @complaints ? 1 : 0;
}

# Returns the complete text of each file that is made, by name. Adds to complaints the facts that an
# author has to write first.
sub made {
    my ($complaints) = @_;
    my @files = files();
    my %made;
    for my $file (grep { m{^(?:README\.md|bin/\w+|lib/.*\.(?:pm|pod))\z} } @files) {
        my $text = content($file);
        $made{$file} = regions($file, $text, $complaints) if $text =~ m{made by tools/lists\.pl:};
    }
    my $text_of = sub { $made{ $_[0] } // content($_[0]) };
    $made{'doc/perl-innards.md'} = innards($complaints, @files);
    @files = sorted(keys %{ { map { $_ => 1 } @files, keys %made, 'CODE-MAP', 'MANIFEST' } });
    $made{'CODE-MAP'} = code_map($complaints, $text_of, @files);
    $made{MANIFEST} = manifest(@files);
    return \%made;
}

# ---- files ----

# Returns all files except those that a build, a run or an editor leaves. MANIFEST.SKIP has the
# patterns of these after "What is the author's own".
sub files {
    my ($own, @left) = split /\n\n+/, content('MANIFEST.SKIP');
    my @patterns = grep { !/^#/ } map { split /\n/ } @left;
    my $skip = join '|', '^\.git(?:/|\z)', @patterns;
    my @found;
    my $wanted = sub {
        my $name = $File::Find::name =~ s{^\./}{}r;
        return if $name eq '.';
        if ("$name/" =~ /$skip/ && -d) { $File::Find::prune = 1 }
        elsif (-f && $name !~ /$skip/) { push @found, $name }
    };
    File::Find::find($wanted, '.');
    return sorted(@found);
}

# Sorts names regardless of case, as ExtUtils::Manifest does, but always in the same order.
sub sorted { return sort { lc $a cmp lc $b || $a cmp $b } @_ }

# Sorts names with their numbers as numbers: t/99-x.t comes before t/100-y.t.
sub by_number {
    my %key = map { my $name = $_; $name => lc($name =~ s/(\d+)/sprintf '%06d', $1/ger) } @_;
    return sort { $key{$a} cmp $key{$b} || $a cmp $b } @_;
}

sub content {
    my ($file) = @_;
    open(my $fh, '<:raw', $file) or die "tools/lists.pl: $file: $!\n";
    local $/;
    return scalar(<$fh>) // '';
}

sub write_file {
    my ($file, $text) = @_;
    open(my $fh, '>:raw', $file) or die "tools/lists.pl: $file: $!\n";
    print $fh $text;
    close $fh or die "tools/lists.pl: $file: $!\n";
    return;
}

# Returns a message with the first line in which a file differs from the one that would be made.
sub difference {
    my ($name, $was, $text) = @_;
    my @was = split /\n/, $was;
    my @text = split /\n/, $text;
    my ($n) = grep { ($was[$_] // '') ne ($text[$_] // '') } 0 .. (@was > @text ? @was : @text);
    $n //= 0;
    return sprintf "%s line %d: run `make lists`, which writes: %s", $name, $n + 1,
        $text[$n] // 'nothing more';
}

sub manifest {
    my (@files) = @_;
    '' =~ /\A/;     # at a comment, maniskip would take $1 of an earlier match for a pattern
    my $skip = ExtUtils::Manifest::maniskip();
    return join '', map { "$_\n" } grep { !$skip->($_) } @files;
}

# ---- the first sentence of a file ----

# Returns the sentence at a file's head that says its purpose, without the period, or ''. In Perl
# this is the line below =head1 NAME, else the first sentence of the first comment.
sub first_sentence {
    my ($file, $text) = @_;
    my $head = abstract($text) // comment_of($file, $text);
    $head =~ s/\n[ \t]*\n.*//s;
    $head =~ s/\s+/ /g;
    $head =~ s/^ | $//g;
    my ($sentence) = $head =~ /\A(.*?(?<!e\.g)(?<!i\.e)(?<!\.\.)[.!?])(?= |\z)/;
    return ($sentence // $head) =~ s/(?<!\.)[.:]\z//r;
}

sub abstract {
    my ($text) = @_;
    return $text =~ /^=head1 NAME\n\n\S+ - (.*?)\n\n/ms ? $1 : undef;
}

# Returns the first comment of a file, which nothing but its package may precede.
sub comment_of {
    my ($file, $text) = @_;
    if ($file =~ /\.(?:[ch]|xs|css|m?js|proto)\z/) {
        my $start = qr{\A\s*(?:['"]use strict['"];\s*)?};
        return $1 =~ s/^ (?:\*(?: |$))?//mgr if $text =~ m{$start/\*(.*?)\*/}s;
        return $1 =~ s{^//[ ]?}{}mgr if $text =~ m{\A(?:#!.*\n)?$start((?://.*\n)+)};
        return '';
    }
    return '' if $text !~ /\A(?:#!.*\n\n?)?(?:package .*;\n\s*)?((?:#(?!!).*\n)+)/;
    return $1 =~ s/^#[ ]?//mgr;
}

# ---- CODE-MAP ----

my $WIDTH = 100;
# A longer sentence would say more than the purpose of a file.
my $LONGEST = 160;

my $MAP_HEAD = <<'END';
# The purpose of each file, from its first sentence. `make lists` writes this page; to change a
# line, change that file. Names are relative to the folder above them. name.[ch] is a header and its
# code.
END

# Reads tools/code-map.in: the folders in their order with titles, folders that get a single line,
# and the purposes of files that have no comments.
sub map_input {
    my %in = (order => [''], title => { '' => 'The top' }, whole => {}, says => {});
    for my $line (grep { !/^\s*(?:#|$)/ } split /\n/, content('tools/code-map.in')) {
        my ($name, $text) = $line =~ /^(\S+)\s+(\S.*)$/
            or die "tools/code-map.in: not NAME, blanks, text: $line\n";
        if ($name =~ s{/\*\z}{}) { $in{whole}{$name} = $text }
        elsif ($name =~ s{/\z}{}) { push @{ $in{order} }, $name; $in{title}{$name} = $text }
        else { $in{says}{$name} = $text }
    }
    return \%in;
}

sub code_map {
    my ($complaints, $text_of, @files) = @_;
    my $in = map_input();
    my %there = map { $_ => 1 } @files;
    my (%used, %lines);
    for my $file (by_number(@files)) {
        my ($whole) = grep { index($file, "$_/") == 0 } keys %{ $in->{whole} };
        next if defined $whole && $used{$whole}++;
        my ($folder, $name) = ($whole // $file) =~ m{^(?:(.*)/)?([^/]+)\z};
        my $beside = $file =~ s/\.([ch])\z/$1 eq 'h' ? '.c' : '.h'/er;
        my $is_pair = $beside ne $file && $there{$beside};
        next if $is_pair && $file =~ /c\z/;
        my $says = $in->{whole}{ $whole // '' } // $in->{says}{$file};
        $used{$file} = 1 if exists $in->{says}{$file};
        $says //= said($file, $text_of->($file), $complaints);
        $name = defined $whole ? "$name/" : $is_pair ? $name =~ s/h\z/[ch]/r : $name;
        push @{ $lines{ $folder // '' } }, [$name, $says];
    }
    push @$complaints, map { "tools/code-map.in: $_ is not there" }
        grep { !$used{$_} } sort(keys %{ $in->{says} }, keys %{ $in->{whole} });
    return join '', $MAP_HEAD,
        map { section($_, $in->{title}{$_}, $lines{$_}, $complaints) } ordered($in, keys %lines);
}

sub said {
    my ($file, $text, $complaints) = @_;
    my $sentence = first_sentence($file, $text);
    push @$complaints, "$file: its head does not say what it is for" if $sentence eq '';
    push @$complaints, "$file: its first sentence has over $LONGEST characters"
        if length $sentence > $LONGEST;
    return $sentence;
}

# Returns folders in the order of tools/code-map.in. A folder that is not listed there follows the
# nearest folder above it.
sub ordered {
    my ($in, @folders) = @_;
    my %at = map { $in->{order}[$_] => $_ } 0 .. $#{ $in->{order} };
    my %key;
    for my $folder (@folders) {
        my $named = $folder;
        $named =~ s{/?[^/]*\z}{} until exists $at{$named};
        $key{$folder} = sprintf '%04d%s', $at{$named}, $folder;
    }
    return sort { $key{$a} cmp $key{$b} } @folders;
}

# Returns the lines of a folder. Texts begin in one column, and their further lines, too.
sub section {
    my ($folder, $title, $lines, $complaints) = @_;
    push @$complaints, "tools/code-map.in: $folder/ has no title" if !defined $title;
    my ($column) = sort { $b <=> $a } map { length $_->[0] } @$lines;
    $column = ($column > 30 ? 30 : $column) + 2;
    my $name = $folder eq '' ? '' : "$folder/" . (defined $title ? ': ' : '');
    my $text = "\n" . wrapped('# ', '# ', $name . ($title // ''));
    $text .= wrapped(sprintf("%-*s", $column, "$_->[0]  "), ' ' x $column, $_->[1]) for @$lines;
    return $text;
}

# Breaks text into lines. $first begins the first line, and $next the others.
sub wrapped {
    my ($first, $next, $text) = @_;
    my ($lines, $line, $is_begun) = ('', $first, 0);
    for my $word (split ' ', $text) {
        if ($is_begun && columns("$line $word") > $WIDTH) {
            $lines .= "$line\n";
            ($line, $is_begun) = ($next, 0);
        }
        $line .= $is_begun ? " $word" : $word;
        $is_begun = 1;
    }
    return "$lines$line\n";
}

sub columns {
    utf8::decode(my $shown = $_[0]);
    return length $shown;
}

# ---- regions of other files ----

# A region is the text between two lines. The text is made, and the two lines stay.
my $REGION = qr{
    (^ (?: =for[ ] | <!--[ ] ) made[ ]by[ ]tools/lists\.pl: [ ] ([^\n]*?) (?:[ ]-->)? \n)
    .*?
    (^ (?: =for[ ]made[ ]end | <!--[ ]made:[ ]end[ ]--> ) \n)
}xms;

my %REGION = (
    tools => \&tools_in_markdown, 'tools-manual' => \&tools_in_manual,
    'see-also' => \&tools_in_see_also, options => \&options,
);

sub regions {
    my ($file, $text, $complaints) = @_;
    my $made = eval { $text =~ s/$REGION/$1 . region($2) . $3/ger };
    push @$complaints, "$file: " . $@ =~ s/\n\z//r if !defined $made;
    return $made // $text;
}

sub region {
    my ($what, @args) = split ' ', $_[0];
    my $make = $REGION{$what} // die "there is no list `$what'\n";
    return $make->(@args);
}

# Returns the purpose of a tool, and a second half of the text if there is room.
sub purpose {
    my ($tool, $before, $behind) = @_;
    return "$tool->{purpose}$tool->{more}" =~ s/(?<![\w-])(--?\w[\w-]*)/$before$1$behind/gr;
}

sub tools_in_markdown {
    my @rows = map { ["`$_->{name}`", purpose($_, '`', '`')] } Devel::DProf::Tools::all();
    unshift @rows, ['Tool', 'What it does'];
    my @width = map { my $i = $_; (sort { $b <=> $a } map { length $_->[$i] } @rows)[0] } 0, 1;
    my @lines = map { sprintf "| %-*s | %-*s |\n", $width[0], $_->[0], $width[1], $_->[1] } @rows;
    splice @lines, 1, 0, '|' . join('|', map { '-' x ($_ + 2) } @width) . "|\n";
    return join '', @lines;
}

sub tools_in_manual {
    my @items = map { [$_->{word}, "L<$_->{name}>: " . purpose($_, 'B<', '>')] }
        Devel::DProf::Tools::all();
    return join '', "\n", map { "=item dprof $_->[0]\n\n"
        . wrapped('', '', $_->[1] =~ s/(?<!\.)\z/./r) . "\n" } @items;
}

sub tools_in_see_also {
    my @names = map { "L<$_>" } 'dprof', map { $_->{name} } Devel::DProf::Tools::all();
    return "\n" . wrapped('', '', join ', ', @names) . "\n";
}

# Returns items of tools/options.pod, by the names of options or of groups of them. A list that has
# no other items begins with `over' and ends with `back', since POD wants no =for behind =over.
sub options {
    my @names = @_;
    my $text = content('tools/options.pod');
    my %group = map { my ($name, @of) = split /:? +/; $name => \@of } $text =~ /^=for group (.*)/mg;
    my %item = (over => "=over\n\n", back => "=back\n\n");
    while ($text =~ /((?:^=item [^\n]*\n\n)+ .*?) (?=^=(?:item|for|back|cut))/xmsg) {
        my $item = $1;
        my ($name) = $item =~ /--([\w-]+)/;
        $item{$name} = $item;
    }
    return "\n" . join '', map { $item{$_} // die "tools/options.pod has no option `$_'\n" }
        map { $group{$_} ? @{ $group{$_} } : $_ } @names;
}

# ---- doc/perl-innards.md ----

my $INNARDS_HEAD = <<'END';
# What we rely on inside perl

`make lists` collects this page: each part is the paragraph "What this relies on" at the head of
that file. "A new perl" in HACKING says how to use it.
END

# Matches code that checks perl's version, or replaces one of perl's functions.
my $INSIDE = qr{ \bPERL_VERSION\s*[<>=] | \bPL_(?:ppaddr|check|runops|r?peepp|opfreehook|signalhook)
    (?:\[\w+\])?\s=\s[^=] }x;

sub innards {
    my ($complaints, @files) = @_;
    my $page = $INNARDS_HEAD;
    for my $file (grep { m{^(?:xs/.*[ch]|Makefile\.PL)\z} } @files) {
        my $text = content($file);
        my ($paragraph) = comment_of($file, $text)
            =~ /^(What this relies on\b.*?)(?:\n[ \t]*\n|\z)/ms;
        $paragraph =~ s/^What this relies on: (\w)/\u$1/ if $paragraph;
        $page .= "\n## $file\n\n" . wrapped('', '', $paragraph) if $paragraph;
        my ($with) = $file =~ /^(.*)\.h\z/;
        push @$complaints, "$file: its head does not say what in perl it relies on"
            if !$paragraph && $text =~ $INSIDE && !($with && -e "$with.c");
    }
    return $page;
}

exit main(@ARGV) if !caller;

1;
