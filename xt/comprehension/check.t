# The texts that readers were asked about are what the tools print today, and what the manuals say.
# DPROF_GOLDEN=1 writes the texts again; then read them, and ask again.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin, "$FindBin::Bin/../../t/lib";
use DProfTest qw(scratch spew slurp);
use Test::More;
use Texts;

my $here = $FindBin::Bin;

# Returns a text without what differs between versions of Pod::Text: blanks and quotes.
sub words {
    my ($name, $text) = @_;
    return $name =~ /^manual-/ ? join ' ', split ' ', $text =~ s/["'`*]//gr : $text;
}

for my $name (Texts::names()) {
    my $now = Texts::text($name);
    my $file = "$here/$name.txt";
    spew($file, $now) if $ENV{DPROF_GOLDEN};
    is(words($name, $now), words($name, -e $file ? slurp($file) : ''),
        "$name.txt is what a user reads");
}

for my $name (Texts::pages()) {
    my $file = scratch() . '/page.html';
    Texts::page($name, $file);
    like(-e $file ? slurp($file) : '', qr/<!DOCTYPE html>/i, "$name is a page");
}

# Each text has ten questions, each with an answer.
my %is_text = map { $_ => 1 } 'README.md', Texts::names(), Texts::pages();
for my $file (glob "$here/*.questions") {
    my $questions = slurp($file);
    my ($name) = $file =~ m{([^/]+)\.questions\z};
    ok($is_text{$name}, "$name.questions has a text");
    is(scalar(() = $questions =~ /^\d+\. \S.*\n(?:   (?!= ).*\n)*   = \S/mg), 10,
        "$name has ten questions and answers");
}
ok(-e "$here/$_.questions", "$_ has questions") for sort keys %is_text;

done_testing;
