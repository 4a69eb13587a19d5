# The cookbook's recipes, run as they stand there: each in a folder of its own, beside a copy of examples/. What they write is there,
# and is what its name says.
use strict;
use warnings;
use Test::More;
use Cwd 'abs_path';
use File::Temp ();
use Config;

my $top = abs_path('.');
my $scratch = File::Temp->newdir('dprof-cookbook-XXXXXX', TMPDIR => 1);

sub slurp { my ($file) = @_; local $/; open my $in, '<:raw', $file or return undef; return scalar <$in> }
sub spew { my ($file, $text) = @_; open my $out, '>:raw', $file or die "$file: $!"; print $out $text; close $out or die "$file: $!" }

# The perl that tests it, and the tools just built. Nothing of the person's own settings.
mkdir "$scratch/bin" or die $!;
spew("$scratch/bin/perl", qq{#!/bin/sh\nexec "$^X" "\$@"\n});
chmod 0755, "$scratch/bin/perl" or die $!;
delete @ENV{ grep { /^(?:PERL_|PERL5|DPROF|GIT_|HARNESS_|TEST_)/ } keys %ENV };
$ENV{PERL5LIB} = "$top/blib/lib$Config{path_sep}$top/blib/arch";
$ENV{PATH} = "$scratch/bin:$top/blib/script:$ENV{PATH}";
@ENV{qw(HOME GIT_CONFIG_NOSYSTEM)} = ("$scratch", 1);
spew("$scratch/.gitconfig", "[init]\n\tdefaultBranch = main\n");
$ENV{"GIT_$_"} = $_ =~ /EMAIL/ ? 'cook@localhost' : 'Cook' for qw(AUTHOR_NAME AUTHOR_EMAIL COMMITTER_NAME COMMITTER_EMAIL);

# Title and commands of each recipe.
sub recipes {
    my ($pod) = @_;
    my @recipes;
    for my $part (split /^=head[12] /m, $pod) {
        my ($title) = $part =~ /\A(.*)/;
        my @commands = $part =~ /^ {4}\$ (.*)$/mg;
        push @recipes, [$title, $part, @commands] if @commands;
    }
    return @recipes;
}

# What commands write, and what the text of the recipe calls a file.
sub named {
    my ($text, @commands) = @_;
    my %named = map { $_ => 1 } map { /(?:\s-o |out=|> )'?([\w.-]+)(?=[\s']|$)/g } @commands;
    $named{$_} = 1 for grep { !m{/} } $text =~ /F<([^>]+)>/g;
    delete @named{ map { /^mv (\S+)/ } @commands };
    return sort keys %named;
}

# What is wrong with a file, by its name.
sub flaw {
    my ($dir, $name) = @_;
    my $text = slurp("$dir/$name") // return "$name is not there";
    return "$name is empty" if !length $text;
    my $is = $name =~ /\.svg\z/ ? $text =~ /\A<\?xml .*<svg .*<title>\(program\) .*<\/svg>\n\z/s
        : $name =~ /\.html\z/ ? $text =~ /\A<!DOCTYPE html>.*id="dprof-data">[A-Za-z0-9+\/]{100,}={0,2}<.*<\/html>\n\z/s
        : $name =~ /\.folded\z/ ? $text =~ /\A(?:[^\n]+ \d+(?:\.\d+)?\n)+\z/
        : $name =~ /\.out\z/ ? $text =~ /\A#fOrTyTwO\n/
        : 1;
    return $is ? () : "$name is not what its name says";
}

my @recipes = recipes(slurp("$top/lib/Devel/DProf/Cookbook.pod") // die 'no cookbook');
cmp_ok(scalar @recipes, '>=', 12, 'there are recipes');
my $n = 0;
for my $recipe (@recipes) {
    my ($title, $text, @commands) = @$recipe;
  SKIP: {
        skip "$title: there is no git here", 1 if grep({ /^git / } @commands) && system('git --version >/dev/null 2>&1');
        my $dir = "$scratch/" . ++$n;
        system('mkdir', $dir) == 0 && system('cp', '-R', "$top/examples", $dir) == 0 or die 'no scratch folder';
        # the folder where it ends, for what comes after; what it says shows where it stopped
        my $script = join '', "cd '$dir'\nset -ex\n", map { "$_\n" } @commands, 'set +x', "pwd > '$dir.end'";
        spew("$dir.sh", $script);
        my $status = system("sh '$dir.sh' </dev/null >'$dir.said' 2>&1");
        my @wrong = $status ? "ended with status $status: " . slurp("$dir.said") : ();
        chomp(my $end = slurp("$dir.end") // $dir);
        push @wrong, map { flaw($end, $_) } named($text, @commands) if !@wrong;
        # all is well, and something was said all the same: but for prove and a gate, which do
        push @wrong, grep { !/^\+ |^(?:\S+ \.\. ok|All tests successful\.|Files=.*|Result: PASS)$|^dprofdiff: \d+ findings of --fail-if$/ } split /^/, slurp("$dir.said");
        is(join("\n", @wrong), '', $title);
    }
}

# The test can fail.
like(join(' ', named("F<x.svg>, F<doc/y.svg>", "dprofflame --diff -o a.svg b c", "perl -d:DProf=tree,out=p.out x > 't.txt'")), qr/^a\.svg p\.out t\.txt x\.svg$/,
    'names of files are found');
spew("$scratch/bad.svg", "<svg>\n");
spew("$scratch/bad.html", "<html>\n");
spew("$scratch/bad.folded", "a;b\n");
spew("$scratch/bad.out", "a;b 1\n");
is(scalar(map { flaw($scratch, $_) } map { "bad.$_" } qw(svg html folded out gone)), 5, 'files that are something else are noticed');
done_testing;
