#!/usr/bin/perl
# C and Perl share words, numbers, keys of options; anything misspelled is an error.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use TestEnvironment;
use Test::More;

use Devel::DProf::Constants qw(words_of all_words_of first_words time_words metric_is_time
                               metric_is_counter metric_text options given);
use Devel::DProf::Compare::Diff;
use Devel::DProf::Profile;

# ---- constants ----

my $source = join '', map { local (@ARGV, $/) = $_; <> } glob "$FindBin::Bin/../src/dprof/*.h";
my %in_c = map { $_ => 1 } $source =~ /\bX\((DP_\w+),/g;
cmp_ok(scalar keys %in_c, '>', 80, 'the lists of src/dprof/ are found');
is_deeply([grep { !eval "use Devel::DProf::Constants '$_'; defined &$_" } sort keys %in_c], [],
    'each constant of a list exists in Perl');
for my $list (qw(metric time key field format chain chain_value compute view rule order role write
    separate palette flame_order flame_width fate lines)) {
    my %word = words_of($list);
    my @words = first_words($list);
    is_deeply([map { $word{$_} } @words], [0 .. $#words], "the words of $list are numbered from 0");
}
ok(!eval { words_of('formt'); 1 }, 'an unknown list is an error');
like($@, qr/no list of words called 'formt'/, 'the message names the unknown list');
ok(!eval 'use Devel::DProf::Constants qw(DP_M_CONTER); 1', 'an unknown constant is an error');
like($@, qr/there is no constant DP_M_CONTER/, 'the message names the unknown constant');

my %metric = words_of('metric');
is_deeply([grep { metric_is_time($metric{$_}) } first_words('metric')], [time_words()],
    'the time metrics are those of time_words');
is_deeply([grep { metric_is_counter($metric{$_}) } keys %metric], ['counter'],
    'one metric is a counter');
is_deeply([grep { !length metric_text($_) } values %metric], [], 'each metric has a text');
my %field = all_words_of('field');
is_deeply([@field{qw(children sample)}], [@field{qw(overhead_children calls)}],
    'the words overhead_children and calls stand for children and sample');

# ---- keys ----

my $profile = Devel::DProf::Profile->new;
open my $nowhere, '>', \my $text or die;
my $columns = [{ metric => 0 }];
my %stacks = (columns => $columns, side_names => ['x'],
    metrics => [{ key => 'cpu', label => 'cpu', unit => 's' }]);
my %folded = (%stacks, format => 'folded');
my %picture = (%stacks, format => 'svg', width => 100, height => 10, font_size => 1,
    font_width => 1);
my @sides = map { +{ name => $_, runs => [[[$profile]]] } } qw(a b);
sub report {
    return Devel::DProf::Profile::print_report($nowhere, [[$profile]], { keys => [0], @_ });
}
my @calls = (
    ['names', sub { $profile->names({ @_ }) }],
    ['names', sub { $profile->subs({ @_ }) }],
    ['a table', sub { $profile->rows({ @_ }) }],
    ['calls', sub { Devel::DProf::Profile::print_calls('x.out', $nowhere, { @_ }) }],
    ['a report', \&report],
    ['a comparison', sub { Devel::DProf::Profile::print_diff($nowhere, \@sides,
        { keys => [0], measures => [{ name => 'cpu', metric => 0 }], @_ }) }],
    ['a measure', sub { Devel::DProf::Profile::print_diff($nowhere, \@sides,
        { measures => [{ @_ }] }) }],
    ['a rule', sub { Devel::DProf::Profile::print_diff($nowhere, \@sides,
        { rules => [{ @_ }] }) }],
    ['a side', sub { Devel::DProf::Profile::print_diff($nowhere, [{ @_ }, $sides[1]],
        { keys => [0], measures => [{}] }) }],
    ['pairs', sub { Devel::DProf::Profile::paired_labels([[$profile, 0]], { @_ }) }],
    ['a comparison', sub { Devel::DProf::Profile::check_diff(\@sides,
        { keys => [0], measures => [{ name => 'cpu', metric => 0 }], @_ }) }],
    ['a comparison', sub { Devel::DProf::Profile::compared(\@sides,
        { keys => [0], measures => [{ name => 'cpu', metric => 0 }], @_ }, 1) }],
    ['edges', sub { $profile->edges('main::x', { @_ }) }],
    ['folded stacks', sub { Devel::DProf::Profile::print_stacks($nowhere, [$sides[0]],
        { %folded, @_ }) }],
    ['a column', sub { Devel::DProf::Profile::print_stacks($nowhere, [$sides[0]],
        { %folded, columns => [{ @_ }] }) }],
    ['a flame graph', sub { Devel::DProf::Profile::print_stacks($nowhere, [$sides[0]],
        { %picture, @_ }) }],
    ['a metric', sub { Devel::DProf::Profile::print_stacks($nowhere, [$sides[0]],
        { %picture, metrics => [{ @_ }] }) }],
    ['what is taken', sub { $profile->take(Devel::DProf::Profile->new, { @_ }) }],
    ['what is written', sub { $profile->write_tree($nowhere, '1', { @_ }) }],
);
for (@calls) {
    my ($what, $call) = @$_;
    ok(!eval { $call->(metrc => 1); 1 }, "$what: a misspelled key is an error");
    like($@, qr/^unknown key 'metrc' for $what at /, "$what: the message names the misspelled key");
}
ok(!eval { Devel::DProf::Compare::Diff->new(undef, { time_flor => 1 }); 1 },
    'a misspelled field of a comparison is an error');
like($@, qr/unknown key 'time_flor' for diff/, 'the message names the misspelled field');
ok(!eval { Devel::DProf::Profile::compared(\@sides, { measures => [{}] }, 1); 1 },
    'rows of a comparison without keys are an error');
like($@, qr/^keys of a comparison: its rows have no names without them at /,
    'the message says that the rows have no names without keys');
my $options = options('names', separate => 1);
is_deeply($options, { separate => 1, autoload => undef }, 'options are all keys that C takes');
ok(!eval { options('names', mine => 2); 1 }, 'options that C does not take are refused');
like($@, qr/^unknown key 'mine' for names at /,
    'the message names the option that C does not take');
ok(!eval { my $value = $options->{seperate}; 1 }, 'a misspelled option cannot be read');
ok(!eval { $options->{seperate} = 1; 1 }, 'a misspelled option cannot be set');
$options->{autoload} = 0;
is_deeply({ given($options) }, { separate => 1, autoload => 0 },
    'given() returns the options that have values');
ok(!eval { $options->{autoload} = 1; 1 }, 'options cannot change after they have been used');
is_deeply({ given($options) }, { separate => 1, autoload => 0 }, 'options can be used again');

# ---- values ----

for (['keys', [99]], ['format', 8], ['metric', -1], ['fields', [99]], ['keys', 5],
    ['keys', [(0) x 10]]) {
    my ($key, $value) = @$_;
    ok(!eval { report($key => $value); 1 }, "$key: an impossible value is an error");
    like($@, qr/^$key\b.* of a report\b/, "the message names the key $key");
}

done_testing;
