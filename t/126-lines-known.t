#!/usr/bin/perl
# What is known of lines: nothing, counts, counts and times. Each is more than the one before, the
# recorder's words are those of the tools, and the scripts of pages know them by their numbers.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib", "$FindBin::Bin/../lib";
use IO::Uncompress::Gunzip qw(gunzip);
use MIME::Base64 qw(decode_base64);
use Test::More;
use DProfTest;
use Devel::DProf::Constants qw(words_of DP_LINES_NONE DP_LINES_COUNTS DP_LINES_TIMES);

is_deeply({ words_of('lines') }, { no => 0, count => 1, time => 2 },
    'the words of lines have their numbers');
is_deeply([DP_LINES_NONE, DP_LINES_COUNTS, DP_LINES_TIMES], [0, 1, 2],
    'each number knows more than the one before');

# Returns what a page has as the detail of its sides.
sub detail_in_page {
    my @paths = @_;
    my @args = ('--format=html', @paths > 1 ? '--diff' : (), @paths);
    my $page = run_tool('dprofflame', \@args)->{out};
    my ($packed) = $page =~ /id="dprof-lines">([^<]+)</ or return 'no lines';
    my $block = decode_base64($packed);
    gunzip(\$block => \my $data) or return 'not gzip';
    return $data =~ /"detail":\[([\d,]*)\]/ ? $1 : 'no detail';
}

my %profile = (time => "$FindBin::Bin/corpus/lines");
is(detail_in_page($profile{time}), '2', 'the page of lines with times says so');

SKIP: {
    my $run = profiled(['-e', 'sub f { my $n = shift; return $n + 1 } f($_) for 1 .. 3;'],
        env => { PERL_DPROF_MODE => 'tree', PERL_DPROF_LINES => 'count' });
    skip $1, 3 if $run->{err} =~ /^DProf: (lines needs a perl of .*)/m;
    like(slurp($run->{profile}), qr/^\$dprof_lines='count';$/m, 'a file of counts says so');
    is(detail_in_page($run->{profile}), '1', 'the page of lines with counts says so');
    is(detail_in_page($profile{time}, $run->{profile}), '2,1',
        'the page of two files has both numbers');
}

my $bad = profiled(['-e', '1'], env => { PERL_DPROF_LINES => 'none' });
like($bad->{err}, qr/^DProf: PERL_DPROF_LINES=none: it is no, count or time$/m,
    "the recorder's message lists the words");
done_testing;
