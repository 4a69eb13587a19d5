#!/usr/bin/perl
# README and the manual say what xt/matrix has tested, and of which commit.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use Test::More;

my $says = qx{'$^X' xt/matrix --says};
is($?, 0, 'xt/matrix knows what was tested');
my @documents = grep { -e } qw(README README.md lib/Devel/DProf.pm);
for my $file (@documents) {
    my ($said) = content($file) =~ /^(Tested (?:as of commit|on nothing yet).*?)\n\n/ms;
    is(join(' ', split ' ', $said // 'nothing'), join(' ', split ' ', $says),
        "$file says the same (xt/matrix --write)");
}

# The claim names its commit, so that it stays true. Changes of the code since are told, and are an
# error in a release.
my ($commit) = $says =~ /as of commit (\w+)/;
SKIP: {
    skip 'xt/matrix has not been run', 1 unless $commit;
    my $known = system("git -c safe.directory='*' cat-file -e $commit 2>/dev/null") == 0;
    skip "this clone does not reach back to commit $commit", 1 unless $known;
    my $tested = 'xs src LEVELS Makefile.PL DProf.xs typemap lib t';
    my @newer = split /\n/,
        qx{git -c safe.directory='*' diff --name-only $commit -- $tested};
    @newer = grep { !m{^lib/.*\.pod$} && !only_the_claim($_) } @newer;
    diag("what was tested is older than these files; run xt/matrix before a release:\n",
        map { "    $_\n" } @newer) if @newer;
    local $TODO = $ENV{DPROF_RELEASE} ? undef : 'told, and an error with DPROF_RELEASE=1';
    is(scalar(@newer), 0,
        "no file of xs/, src/, lib/, t/ or Makefile.PL is newer than what was tested, $commit");
}

# The claim is in the manual, which is in a module.
sub only_the_claim {
    my ($file) = @_;
    return 0 unless grep { $_ eq $file } @documents;
    my $before = qx{git -c safe.directory='*' show $commit:$file};
    s/^Tested (?:as of commit|on nothing yet).*?\n\n//ms for $before, my $now = content($file);
    return $before eq $now;
}
done_testing;
