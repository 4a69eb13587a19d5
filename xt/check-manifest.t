#!/usr/bin/perl
# MANIFEST lists what is under version control less what MANIFEST.SKIP names, sorted.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use ExtUtils::Manifest ();
use Test::More;

sub complaints {
    my ($manifest, @files) = @_;
    my %in = map { $_ => 1 } @$manifest;
    my %there = map { $_ => 1 } @files;
    return (map({ "not in MANIFEST: $_" } grep { !$in{$_} } @files),
        map({ "in MANIFEST, but not there or to be skipped: $_" } grep { !$there{$_} } @$manifest));
}

my @listed = map { (split)[0] // () } grep { !/^#/ } split /\n/, content('MANIFEST');
# make dist adds these itself.
my @own = grep { !/^META\.(?:json|yml)$/ } @listed;
is(join("\n", complaints(\@own, shipped())), '',
    'MANIFEST and the files agree (: > MANIFEST; make manifest)');

my %twice;
is(join("\n", grep { $twice{$_}++ } @listed), '', 'no file is listed twice');
my $read = ExtUtils::Manifest::maniread();
is(scalar(keys %$read), scalar(@listed), 'ExtUtils::Manifest reads as many files');
my @never = grep { m{^(?:\.|xt/|blib/|src/build/)} || /\.(?:o|so|bs)$/
    || /^(?:Makefile|DProf\.c)$/ } @listed;
is(join("\n", @never), '', 'MANIFEST lists no built files, and none for the author alone');
my @wanted = grep { !exists $read->{$_} } qw(Makefile.PL DProf.xs README README.md LICENSE
    Changes MANIFEST tools/setup.sh examples/demo.pl lib/Devel/DProf.pm lib/Devel/DProf/Format.pod);
is(join("\n", @wanted), '', 'MANIFEST lists the files that every distribution needs');

like(join("\n", complaints(['a'], 'a', 'b')), qr/not in MANIFEST: b/, 'notices: a file not listed');
like(join("\n", complaints(['a', 'b'], 'a')), qr/in MANIFEST, but.*: b/,
    'notices: a file that is gone');
done_testing;
