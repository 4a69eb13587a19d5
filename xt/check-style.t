#!/usr/bin/perl
# Lines that are not committed yet look as .clang-format and .perltidyrc want them. (xt/style.pl
# COMMIT checks all lines since a commit.)
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use File::Temp ();
use Test::More;

require './xt/style.pl';

for my $program (qw(clang-format perltidy)) {
    plan skip_all => "there is no $program" if !grep { -x "$_/$program" } split /:/, $ENV{PATH};
}

sub said {
    my ($name, $text, @lines) = @_;
    my $dir = File::Temp->newdir(DIR => 'xt');
    open(my $fh, '>', "$dir/$name") or die "$dir/$name: $!\n";
    print $fh $text;
    close $fh or die "$dir/$name: $!\n";
    my @found = differences($name, $text, formatted("$dir/$name"), @lines ? {@lines} : undef);
    return join "\n", @found;
}

my $c = "int f(int *a)\n{\n    if (a)      /* why */\n        return a[0]\n            + 1;\n}\n";
my $perl = "my %x = (a => [1, 2],  # why\n    b => { c => 1 });\nif (\$x{a}) { f(\$x{b}) }\n";
is(said('a.c', $c), '', 'the check accepts C as it is');
is(said('a.pl', $perl), '', 'the check accepts Perl as it is');
is(said('a.c', $c =~ s/if \(/if(/r), "a.c line 3: a blank behind `if', before `('",
    'the check notices a missing blank in C');
is(said('a.c', $c =~ s/int \*a/int* a/r =~ s/if \(a/if ( a/r, 3 => undef),
    "a.c line 3: no blank behind `(', before `a'",
        'the check notices blanks in changed lines alone');
is(said('a.pl', $perl =~ s/f\(/f( /r), "a.pl line 3: no blank behind `(', before `\$'",
    'the check notices a blank too many in Perl');

my $found = qx{$^X xt/style.pl HEAD};
is($found, '', 'the lines that are not committed have the style');
done_testing;
