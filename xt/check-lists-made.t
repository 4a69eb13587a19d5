#!/usr/bin/perl
# Lists are as `make lists` makes them, and each file says what it is for. No two tests of a folder
# have the same number.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author qw(tracked);
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;

require './tools/lists.pl';

my @files = tracked();
is(join("\n", files()), join("\n", sorted(@files)), 'git ignores what MANIFEST.SKIP skips');

# Runs the check in a copy that has no version control, in which nothing is built.
my $dir = tempdir('dprof-lists-XXXXXX', TMPDIR => 1, CLEANUP => 1);
for my $file (@files) {
    make_path("$dir/" . dirname($file));
    copy($file, "$dir/$file") or die "$dir/$file: $!\n";
}
sub check {
    my $out = qx{$^X $dir/tools/lists.pl --check 2>&1};
    return ($? >> 8) . ": $out";
}
sub changed {
    my ($file, $change) = @_;
    my $was = -e "$dir/$file" ? content("$dir/$file") : undef;
    local $_ = $was // '';
    $change->();
    write_file("$dir/$file", $_);
    my $found = check();
    defined $was ? write_file("$dir/$file", $was) : unlink "$dir/$file";
    return $found;
}
is(check(), '0: ', 'the lists are what make lists writes');
like(changed('CODE-MAP', sub { s/^HACKING .*\n//m }), qr/^1: CODE-MAP line \d+: run `make lists`/,
    'the check notices a line that is missing in CODE-MAP');
like(changed('README.md', sub { s/^\| `dprofmerge`.*\n//m }), qr/^1: README\.md line/,
    'the check notices a tool that is missing in a table');
like(changed('bin/dproffold', sub { s/All autoloaded subs/All autoloaded/ }),
    qr/^1: bin\/dproffold line/, 'the check notices a text that is not the shared one');
like(changed('bin/dproffold', sub { s/: options \Knaming/nameing/ }),
    qr/^1: bin\/dproffold: tools\/options\.pod has no option `nameing'/,
    'the check notices a group of options that does not exist');
like(changed('t/new.pl', sub { $_ = "use strict;\n" }),
    qr{^1: t/new\.pl: its head does not say what it is for\n},
        'the check notices a file without a first sentence');
like(changed('t/new.pl', sub { $_ = '# ' . 'It says much' x 20 . ".\n" }), qr/over 160 characters/,
    'the check notices a first sentence that is too long');
like(changed('new/a.pl', sub { make_path("$dir/new"); $_ = "# A file.\n" }),
    qr{tools/code-map\.in: new/ has no title}, 'the check notices a folder without a title');
like(changed('tools/code-map.in', sub { $_ .= "gone  a file\n" }), qr/gone is not there/,
    'the check notices a line for a file that does not exist');

is(first_sentence('a.c', "/* Does a.\n * Twice (e.g. here: b.c). And more. */\n"), 'Does a',
    'the check reads the first sentence of C');
is(first_sentence('a.pl', "#!/usr/bin/perl\n\n# What `a.pl' does\n# at once:\n#\n# more.\n"),
    "What `a.pl' does at once", 'the check reads the first sentence of Perl');
is(first_sentence('A.pm', "package A;\n# No.\n\n=head1 NAME\n\nA - says\nwhat\n\n=cut\n"),
    'says what', 'the check reads the first sentence of POD');
is(first_sentence('a.js', "'use strict';\n// Draws e.g. a. And b.\n"), 'Draws e.g. a',
    'the check reads the first sentence of JavaScript');
is(first_sentence('a.pl', "use strict;\n# Why.\n"), '',
    'the check skips a comment that is not at the head');
is(join(' ', by_number(qw(t/100-a t/9-b t/20-c))), 't/9-b t/20-c t/100-a',
    'the check sorts files by their numbers');

sub used_twice {
    my %by;
    push @{ $by{ $_->[0] } }, $_->[1] for map { m{^(t/(?:c/)?\d+-)(.*)} ? [$1, $2] : () } @_;
    return join ' ', map { "$_(@{ $by{$_} })" } grep { @{ $by{$_} } > 1 } sort keys %by;
}
is(used_twice(@files), '', 'no number of a test is used twice');
is(used_twice(qw(t/10-a.t t/10-b.t t/c/10-a.c)), 't/10-(a.t b.t)',
    'the check notices a number that is used twice');
done_testing;
