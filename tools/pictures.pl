#!/usr/bin/perl
# Draws the flame graphs in doc/: make pictures. It profiles programs of examples/ again, and counts
# ops and calls with the hash seed pinned, so that the same perl draws the same bytes each time.
use strict;
use warnings;
use Cwd ();
use File::Basename ();
use File::Temp ();

my $top = Cwd::abs_path(File::Basename::dirname(__FILE__) . '/..');
my @perl = ($^X, "-I$top/blib/lib", "-I$top/blib/arch");
my $dprofflame = "$top/blib/script/dprofflame";
-e $_ or die "pictures: $_ is not there. Run make first.\n"
    for "$top/blib/lib/Devel/DProf.pm", $dprofflame;

# The user's own settings must not change the pictures.
delete @ENV{ grep { /^PERL_DPROF_|^DPROFFLAME_OPTS$|^PERL5DB$|^PERL5OPT$/ } keys %ENV };
@ENV{qw(PERL_HASH_SEED PERL_PERTURB_KEYS LC_ALL)} = (0, 0, 'C');

# Names of files are part of the pictures, so they must not be those of this machine.
my $dir = File::Temp->newdir('dprof-pictures-XXXXXX', TMPDIR => 1);
mkdir "$top/doc" or -d _ or die "pictures: doc: $!\n";
chdir $dir or die "pictures: $dir: $!\n";

my $program = content("$top/examples/logreport.pl");
write_file('access.log', output($^X, "$top/examples/makelog.pl"));
write_file('logreport.pl', $program);
record('before.out', 'logreport.pl');

# The same program with two changes: perl itself compares numbers, and two more kinds of clients are
# distinguished.
write_file('logreport.pl', changed($program,
    'sort by_value' => 'sort { $a <=> $b }',
    "[ browser => sub" =>
        "[ tablet  => contains('iPad') ],\n    [ phone   => contains('Mobile') ],\n    [ browser "
            . "=> sub"));
record('after.out', 'logreport.pl');

my @size = ('--width', 1000);
my @report = ('--title', 'examples/logreport.pl', '--subtitle', 'ops, the steps that perl takes');
draw('flame.svg', @report, '-m', 'ops', 'before.out');
draw('flame-callers.svg', '--title', 'Who calls it? The sub at the bottom, its callers above',
    '--subtitle', 'ops of examples/logreport.pl',
    '-m', 'ops', '--reverse', '--minwidth', 5, 'before.out');
draw('flame-diff.svg', '--title', 'examples/logreport.pl, before and after a change', '-m', 'ops',
    '--diff', '--width', 'union', 'before.out', 'after.out');
draw('flame-calls-ops.svg', '--title', 'Many calls (blue), or much work in each (red)?', '-m',
    'calls,ops', 'before.out');

chdir '/';      # the current folder is about to be removed

sub draw {
    my ($name, @args) = @_;
    my $new = "$top/doc/$name.new";
    write_file($new, output(@perl, $dprofflame, @size, '--format', 'svg', @args));
    rename $new, "$top/doc/$name" or die "pictures: doc/$name: $!\n";
    printf "doc/%s, %d bytes\n", $name, -s "$top/doc/$name";
}

sub record {
    my ($profile, @command) = @_;
    output(@perl, "-d:DProf=tree,out=$profile", @command, 'access.log');
    -s $profile or die "pictures: $profile: the run left no profile\n";
}

# Returns a text with some words replaced. Each of the words must be in the text.
sub changed {
    my ($text, @changes) = @_;
    while (my ($from, $to) = splice @changes, 0, 2) {
        $text =~ s/\Q$from/$to/ or die "pictures: examples/logreport.pl has no `$from' any more\n";
    }
    return $text;
}

sub output {
    my @command = @_;
    open(my $fh, '-|', @command) or die "pictures: $command[0]: $!\n";
    binmode $fh;
    local $/;
    my $text = <$fh>;
    close $fh or die "pictures: this failed: @command\n";
    return $text;
}

sub content {
    my ($name) = @_;
    open(my $fh, '<:raw', $name) or die "pictures: $name: $!\n";
    local $/;
    return scalar <$fh>;
}

sub write_file {
    my ($name, $text) = @_;
    open(my $fh, '>:raw', $name) or die "pictures: $name: $!\n";
    print $fh $text;
    close $fh or die "pictures: $name: $!\n";
}
