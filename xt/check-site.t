#!/usr/bin/perl
# The web site that `make site` writes: pages are well formed, links lead to pages and places that
# exist, and nothing is fetched from elsewhere.
use strict;
use warnings;
use File::Basename qw(basename);
use File::Temp qw(tempdir);
use FindBin;
use Test::More;

my $folder = tempdir(CLEANUP => 1);
my $said = `"$^X" "$FindBin::Bin/../tools/site.pl" $folder 2>&1`;
is($?, 0, 'tools/site.pl writes the site') or diag($said);
my @pages = sort map { basename($_) } glob "$folder/*.html";
cmp_ok(scalar @pages, '>', 25, 'the site has pages') or BAIL_OUT('nothing to check');

my (%text, %ids);
for my $page (@pages) {
    open my $in, '<:encoding(UTF-8)', "$folder/$page" or die "$page: $!";
    $text{$page} = do { local $/; <$in> };
    $ids{$page}{$_} = 1 for $text{$page} =~ /\sid="([^"]*)"/g;
}

# Returns complaints about the links and pictures of a page.
sub broken {
    my ($page, $text) = @_;
    my @bad;
    for my $src ($text =~ /<img[^>]*\ssrc="([^"]*)"/g) {
        push @bad, "$page: there is no picture $src" if $src =~ /:/ || !-f "$folder/$src";
    }
    for my $href ($text =~ /<a[^>]*\shref="([^"]*)"/g) {
        next if $href =~ m{\A(?:https?://|mailto:)[^\s]+\z};
        my ($to, $id) = $href =~ /\A([^#]*)(?:#(.*))?\z/;
        $to = $page if $to eq '';
        next if $to =~ /\.(?:svg|png)\z/ && -f "$folder/$to";
        if (!$text{$to}) { push @bad, "$page: there is no page $href" }
        elsif (defined $id && !$ids{$to}{$id}) { push @bad, "$page: there is no place $href" }
    }
    push @bad, "$page: it fetches something" if $text =~ /<(?:script|link|iframe|object)\b/
        || $text =~ /\@import|url\(/;
    return @bad;
}

# Returns complaints about tags that are not closed, or closed in another order.
sub unbalanced {
    my ($page, $text) = @_;
    my @open;
    while ($text =~ m{<(/?)([a-z][a-z0-9]*)\b[^>]*>}g) {
        my ($is_end, $tag) = ($1, $2);
        next if $tag =~ /^(?:meta|img|br|hr|wbr)$/;
        if (!$is_end) { push @open, $tag; next }
        my $last = pop @open // 'nothing';
        return "$page: </$tag> ends <$last>" if $last ne $tag;
    }
    return @open ? "$page: <$open[-1]> has no end" : ();
}

is(join("\n", map { broken($_, $text{$_}) } @pages), '', 'links and pictures lead somewhere');
is(join("\n", map { unbalanced($_, $text{$_}) } @pages), '', 'tags are balanced');
like($text{'index.html'}, qr{<img src="flame\.svg"}, 'the first page has the picture of README.md');
like($text{'dprofdiff.html'}, qr{<a href="dprofflame\.html}, 'manuals link to each other');

like(join("\n", broken('a', '<img src="none.png"> <a href="none.html">x</a> <a href="#no">x</a>')),
    qr/no picture none\.png.*no page none\.html.*no p/s, 'the check notices broken links');
like(join("\n", unbalanced('a', '<p><em>x</p></em>')), qr/<\/p> ends <em>/,
    'the check notices tags in a wrong order');
done_testing;
