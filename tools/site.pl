#!/usr/bin/perl
# Makes a web site of the manuals: perl tools/site.pl [FOLDER], or make site; the default folder is
# site. Each page is one HTML file without scripts, and asks no network for anything.
use strict;
use warnings;
use 5.026;
use Cwd ();
use File::Basename qw(basename dirname);
use File::Copy ();
use File::Path ();
use Pod::Simple::XHTML;

BEGIN {
    chdir Cwd::abs_path(dirname(__FILE__) . '/..') or die "tools/site.pl: $!\n";
    $INC{'Devel/DProf/Core.pm'} = 'not needed';     # Tools.pm wants its version, and it is compiled
    require './lib/Devel/DProf/Tools.pm';
}

# The modules that users call, in the order of the list.
my @MODULES = qw(Devel::DProf Devel::DProf::Cookbook Devel::DProf::FromNYTProf Devel::DProf::Control
    Devel::DProf::Sample Test::DProf App::Prove::Plugin::DProf Plack::Middleware::DProf
    Mojolicious::Plugin::DProf Devel::DProf::Profile Devel::DProf::Store::Receiver
    Devel::DProf::Format);
my %DOCUMENTS = ('README.md' => 'Start', 'doc/fleet.md' => 'Fleets', 'doc/tested.md' => 'Tested on',
    'CONTRIBUTING.md' => 'Contributing', 'SECURITY.md' => 'Security');

# file => [the page, its title in the list].
my %page = (
    (map { ("bin/$_" => ["$_.html", $_]) } 'dprof', map { $_->{name} } Devel::DProf::Tools::all()),
    (map { (file_of($_) => [s/::/-/gr . '.html', $_]) } @MODULES),
    (map { ($_ => [$_ eq 'README.md' ? 'index.html' : lc basename($_) =~ s/\.md\z/.html/r,
        $DOCUMENTS{$_}]) } keys %DOCUMENTS),
);
my %by_name = map { ($page{$_}[1] => $page{$_}[0]) } keys %page;

sub file_of {
    my ($module) = @_;
    my ($file) = grep { -f } map { 'lib/' . $module =~ s{::}{/}gr . ".$_" } qw(pm pod);
    return $file // die "tools/site.pl: there is no $module\n";
}

# ---- from Markdown ----

sub escaped { return $_[0] =~ s/&/&amp;/gr =~ s/</&lt;/gr =~ s/>/&gt;/gr =~ s/"/&quot;/gr }
sub anchor_of { return lc($_[0]) =~ s/[^\w]+/-/gr =~ s/\A-+|-+\z//gr }

# Returns the address of a link in a document: pages are beside each other, pictures in doc/.
sub address_of {
    my ($target, $file) = @_;
    return $target if $target =~ /^(?:https?:|mailto:|#)/;
    my ($path, $rest) = $target =~ /\A([^#]*)(#.*)?\z/;
    my $from_top = dirname($file) eq '.' ? $path : dirname($file) . "/$path";
    return $page{$from_top}[0] . ($rest // '') if $page{$from_top};
    return basename($from_top) if $from_top =~ m{^doc/[^/]+\.(?:svg|png)\z};
    return '';
}

sub linked {
    my ($text, $target, $file) = @_;
    my $address = address_of($target, $file);
    return $text if $address eq '' || ($address =~ /^mailto:/ && $address eq '');
    return '<a href="' . escaped($address) . "\">$text</a>";
}

# Returns a line of Markdown as HTML. Code is taken out first, so that nothing in it is read.
sub inline {
    my ($text, $file) = @_;
    my @code;
    $text =~ s/`([^`]+)`/push @code, $1; "\0$#code\0"/ge;
    $text = escaped($text);
    $text =~ s/!\[([^\]]*)\]\(([^)]+)\)/'<img src="' . address_of($2, $file) . "\" alt=\"$1\">"/ge;
    $text =~ s/\[([^\]]*)\]\(([^)]+)\)/linked($1, $2, $file)/ge;
    $text =~ s/&lt;(https?:[^\s&]+)&gt;/<a href="$1">$1<\/a>/g;
    $text =~ s/\*\*([^*]+)\*\*/<strong>$1<\/strong>/g;
    $text =~ s/(?<![\w*])\*([^*\s][^*]*)\*/<em>$1<\/em>/g;
    return $text =~ s{\0(\d+)\0}{'<code>' . escaped($code[$1]) . '</code>'}ger;
}

sub cells { return map { s/\A\s+|\s+\z//gr } split /(?<!\\)\|/, $_[0] =~ s/\A\s*\||\|\s*\z//gr }

sub table {
    my ($file, $head, undef, @rows) = @_;
    my $row = sub {
        my ($tag, $line) = @_;
        return '<tr>' . join('', map { "<$tag>" . inline($_, $file) . "</$tag>" } cells($line))
            . '</tr>';
    };
    return join "\n", '<table>', $row->('th', $head), map({ $row->('td', $_) } @rows), '</table>';
}

sub from_markdown {
    my ($file) = @_;
    my @html;
    my @blocks = content($file) =~ /\G\n*((?:    [^\n]*\n|\n(?=\n*    ))+|(?:[^\n]+\n)+)/g;
    for my $block (@blocks) {
        my @lines = split /\n/, $block;
        if ($block =~ /\A    /) {
            push @html, '<pre>' . escaped($block =~ s/^    //mgr =~ s/\s+\z//r) . '</pre>';
        } elsif ($block =~ /\A(#+) (.*)/) {
            my ($level, $title) = (length $1, $2);
            push @html, "<h$level id=\"" . anchor_of($title) . '">' . inline($title, $file)
                . "</h$level>";
            shift @lines;
            push @html, '<p>' . inline(join(' ', @lines), $file) . '</p>' if @lines;
        } elsif ($block =~ /\A\|/) {
            push @html, table($file, @lines);
        } elsif ($block =~ /\A- /) {
            my @items = split /\n(?=- )/, $block =~ s/\s+\z//r;
            push @html, '<ul>', map({ '<li>' . inline(s/\A- //r =~ s/\n */ /gr, $file) . '</li>' }
                @items), '</ul>';
        } else {
            push @html, '<p>' . inline(join(' ', @lines), $file) . '</p>';
        }
    }
    return join "\n", @html;
}

# ---- from POD ----

package Manual {
    our @ISA = ('Pod::Simple::XHTML');

    # Links between the manuals are pages here. perl's own manuals are at perldoc.perl.org, and
    # others at MetaCPAN; a browser asks for these only when somebody follows the link.
    sub resolve_pod_page_link {
        my ($self, $to, $section) = @_;
        my $anchor = defined $section
            ? '#' . $self->idify($self->encode_entities($section), 1) : '';
        return $anchor if !defined $to;
        return "$by_name{$to}$anchor" if $by_name{$to};
        return "https://perldoc.perl.org/$to$anchor" if $to =~ /\Aperl\w*\z/;
        return "https://metacpan.org/pod/$to$anchor";
    }
}

sub from_pod {
    my ($file) = @_;
    my $parser = Manual->new;
    $parser->html_header('');
    $parser->html_footer('');
    $parser->index(1);
    $parser->anchor_items(1);
    $parser->output_string(\my $html);
    $parser->parse_file($file);
    utf8::decode($html);
    $html =~ s{(<ul id="index">.*?</ul>\n)(?=\n*<h1)}
        {<details><summary>Contents</summary>\n$1</details>\n}s;
    $html =~ s{(<img[^>]*\ssrc=")(?:\.\./)*doc/}{$1}g;
    return "<h1>$page{$file}[1]</h1>\n$html";
}

# ---- pages ----

my $STYLE = <<'END';
:root { color-scheme: light dark; --text: #1d2129; --back: #fff; --soft: #5c6470; --line: #dcdfe5;
    --link: #2f5fd0; --code: #f4f5f8 }
@media (prefers-color-scheme: dark) { :root { --text: #e8eaef; --back: #15171c; --soft: #a0a8b6;
    --line: #343944; --link: #8fb0ff; --code: #1f232b } }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--text); background: var(--back);
    margin: 0 auto; max-width: 62rem; padding: 1rem; display: flex; gap: 2rem }
nav { flex: 0 0 13rem; font-size: .92rem }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0 }
nav li { margin: .15rem 0 }
main { flex: 1; min-width: 0 }
a { color: var(--link) }
[aria-current] { font-weight: 600; color: var(--text); text-decoration: none }
summary { cursor: pointer; color: var(--link) }
h1, h2 { line-height: 1.25; margin: 1.6em 0 .5em }
main > h1:first-child { margin-top: 0 }
pre { background: var(--code); padding: .8rem; overflow-x: auto; border-radius: 6px;
    font-size: .86rem; line-height: 1.45 }
code { font-size: .9em }
img { max-width: 100%; height: auto; background: #fff }
table { border-collapse: collapse; display: block; overflow-x: auto }
th, td { border-top: 1px solid var(--line); padding: .3rem .7rem; text-align: left;
    vertical-align: top }
dd { margin: 0 0 .7rem 1.6rem }
@media (max-width: 46rem) { body { display: block } }
END

sub menu {
    my ($current) = @_;
    my $list = sub {
        my ($title, @files) = @_;
        return "<strong>$title</strong>\n<ul>\n" . join('', map {
            my ($page, $name) = @{ $page{$_} };
            "<li><a href=\"$page\"" . ($page eq $current ? ' aria-current="page"' : '')
                . '>' . $name =~ s/::/::<wbr>/gr . "</a></li>\n" } @files) . "</ul>\n";
    };
    my @documents = ('README.md', sort grep { $_ ne 'README.md' } keys %DOCUMENTS);
    return $list->('Devel::DProf', @documents)
        . $list->('Tools', map { "bin/$_" } 'dprof', map { $_->{name} } Devel::DProf::Tools::all())
        . $list->('Modules', map { file_of($_) } @MODULES);
}

sub content {
    my ($file) = @_;
    open my $in, '<:encoding(UTF-8)', $file or die "$file: $!\n";
    return do { local $/; <$in> };
}

# Points links to items at the items: POD names an item by its first word, and HTML by its text.
sub with_places {
    my ($page, $text, $ids) = @_;
    return $text =~ s{(<a[^>]*\shref=")([^"#:]*)#([^"]*)"}{
        my ($before, $to, $id) = ($1, $2, $3);
        my @ids = @{ $ids->{ $to eq '' ? $page : $to } // [] };
        my ($place) = ((grep { $_ eq $id } @ids), grep { /\A(?:[A-Z]-)?\Q$id\E(?:-|\z)/ } @ids);
        $before . $to . (defined $place ? "#$place" : $to eq '' ? '#' : '') . '"';
    }ger;
}

sub write_page {
    my ($folder, $file, $text) = @_;
    my ($page, $title) = @{ $page{$file} };
    open my $out, '>:encoding(UTF-8)', "$folder/$page" or die "$folder/$page: $!\n";
    print $out <<"END";
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>@{[ $file eq 'README.md' ? 'Devel::DProf' : "$title - Devel::DProf" ]}</title>
<style>
$STYLE</style>
</head>
<body>
<nav>
@{[ menu($page) ]}</nav>
<main>
$text
</main>
</body>
</html>
END
    close $out or die "$folder/$page: $!\n";
    return;
}

my $folder = shift @ARGV // 'site';
File::Path::make_path($folder);
my %text = map { $_ => /\.md\z/ ? from_markdown($_) : from_pod($_) } keys %page;
my %ids = map { ($page{$_}[0] => [$text{$_} =~ /\sid="([^"]*)"/g]) } keys %page;
write_page($folder, $_, with_places($page{$_}[0], $text{$_}, \%ids)) for sort keys %page;
File::Copy::copy($_, "$folder/" . basename($_)) or die "$_: $!\n" for glob 'doc/*.{svg,png}';
print "wrote $folder/index.html and ", keys(%page) - 1, " more pages\n";
