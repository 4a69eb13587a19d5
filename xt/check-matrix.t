#!/usr/bin/perl
# doc/tested.md says what xt/matrix has tested, and at which commits.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use Test::More;

my $says = qx{'$^X' xt/matrix --says};
is($?, 0, 'xt/matrix knows what was tested');
is(content('doc/tested.md'), $says, 'doc/tested.md says what xt/matrix --write prints');
for my $file (qw(README README.md lib/Devel/DProf.pm)) {
    like(content($file), qr{doc/tested\.md}, "$file refers to doc/tested.md");
}

# A row names its commit, so that it stays true. The check lists changes of the code since the
# commit of most rows; they are an error in a release.
my %rows;
$rows{$_}++ for $says =~ /\| ([0-9a-f]{12}) \|/g;
my ($commit) = sort { $rows{$b} <=> $rows{$a} || $a cmp $b } keys %rows;
SKIP: {
    skip 'xt/matrix has not been run', 1 unless $commit;
    my $known = system("git -c safe.directory='*' cat-file -e $commit 2>/dev/null") == 0;
    skip "this clone does not reach back to commit $commit", 1 unless $known;
    my $tested = 'xs src LEVELS Makefile.PL DProf.xs typemap lib t';
    my @newer = split /\n/,
        qx{git -c safe.directory='*' diff --name-only $commit -- $tested};
    @newer = grep { !m{^lib/.*\.pod$} } @newer;
    diag("what was tested is older than these files; run xt/matrix before a release:\n",
        map { "    $_\n" } @newer) if @newer;
    local $TODO = $ENV{DPROF_RELEASE} ? undef : 'told, and an error with DPROF_RELEASE=1';
    is(scalar(@newer), 0,
        "no file of xs/, src/, lib/, t/ or Makefile.PL is newer than what was tested, $commit");
}
done_testing;
