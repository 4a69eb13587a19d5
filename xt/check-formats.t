#!/usr/bin/perl
# Checks the formats of stacks (src/picture/dp_print_stacks.h), and everything that each of them
# must have.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use Devel::DProf::Tool::Completion;
use Devel::DProf::View::Stacks;
use Test::More;

# Returns what a manual does not explain of formats: names at --format, and suffixes somewhere. The
# first format is that of every other suffix.
sub unexplained {
    my ($manual, @formats) = @_;
    my ($names) = $manual =~ /^=item B<--format> (.*)/m;
    my %named = map { $_ => 1 } split /[^\w-]+/, $names // '';
    return join "\n", map {
        my $format = $_;
        ($named{ $format->{name} } ? () : "not at --format: $format->{name}",
            $format == $formats[0] ? ()
                : map { index($manual, "F<$_>") >= 0 ? () : "no word of $_" }
                split ' ', $format->{suffixes});
    } @formats;
}

my %tool = (programs => 'dproffold', eyes => 'dprofflame', tools => 'dprofexport');
my %rows = map { $_->[0] => "@$_ " } Devel::DProf::Tool::Completion::rows();
my @formats = @{ Devel::DProf::Profile::stacks_formats() };
for my $for (sort keys %tool) {
    my @mine = Devel::DProf::View::Stacks::formats($for);
    ok(scalar @mine, "$tool{$for} has formats");
    my $is_choice = @mine > 1;
    is(($rows{ $tool{$for} } =~ / --format /) ? 1 : 0, $is_choice ? 1 : 0,
        "$tool{$for} has --format if there is a choice");
    is($is_choice ? unexplained(content("bin/$tool{$for}"), @mine) : '', '',
        "bin/$tool{$for} explains its formats");
}

my %there = map { $_ => 1 } tracked();
is(join(' ', grep { !$there{"t/golden/$_"} } map { "stacks.$_->{name}" }
        grep { $_->{for} eq 'programs' } @formats),
    '', 'each format for programs has a golden file (make golden)');
is(join(' ', grep { m{^t/golden/stacks\.(.+)} && !grep { $_->{name} eq $1 } @formats } keys %there),
    '', 'no other format has a golden file');

is(unexplained("=item B<--format> svg|html\n\nF<.svg>\n", { name => 'svg', suffixes => '.svg' },
    { name => 'pdf', suffixes => '.pdf' }, { name => 'html', suffixes => '.htm' }),
    "not at --format: pdf\nno word of .pdf\nno word of .htm",
        'the check notices a format that is not explained');
done_testing;
