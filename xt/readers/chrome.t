# The calls of a trace in speedscope: its table of subs has dprofreport's times. DPROF_READERS names
# a folder whose node_modules has speedscope, DPROF_PLAYWRIGHT one with playwright-core.
use strict;
use warnings;
use JSON::PP;
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch spew run_program run_tool);
use MadeUp;
use Devel::DProf::Profile;

my ($readers, $playwright) = map { $_ // '' } @ENV{qw(DPROF_READERS DPROF_PLAYWRIGHT)};
my $speedscope = "$readers/node_modules/speedscope";
plan skip_all => 'missing: node (Debian: nodejs)'
    if !grep { -x "$_/node" } split /:/, $ENV{PATH} // '';
plan skip_all => 'missing: speedscope (npm; DPROF_READERS)' if !-f "$speedscope/package.json";
plan skip_all => 'missing: playwright-core (npm; DPROF_PLAYWRIGHT)'
    if !-f "$playwright/node_modules/playwright-core/package.json";
plan skip_all => 'missing: chromium (Debian: chromium)'
    if !-x ($ENV{DPROF_CHROMIUM} // '/usr/bin/chromium');

my %unit = (ns => 1, "\xb5s" => 1e3, "\x{3bc}s" => 1e3, ms => 1e6, s => 1e9);

# Nanoseconds of what the page prints, and how much that may be rounded.
sub printed {
    my ($text) = @_;
    my ($number, $unit) = $text =~ /\A([\d.]+)(\D*?s) \(/ or return (-1, 0);
    return ($number * $unit{$unit}, 0.0051 * $unit{$unit});
}

my $dir = scratch();
# speedscope adds times up as floating point numbers, and so takes calls that follow each other at
# once for nested ones. Ticks of 1/8 of a microsecond are such numbers exactly.
srand 5;
my (@lines, @stack);
for (1 .. 3000) {
    push @lines, '@ 1 0 ' . (1 + int rand 90);
    my $id = 1 + int rand 5;
    my $enters = !@stack || (@stack < 40 && rand 2 < 1);
    push @stack, $id if $enters;
    push @lines, $enters ? "+ $id" : '- ' . pop @stack;
}
my $file = spew("$dir/tmon.out", profile_text(hz => 8_000_000,
    subs => [map { "main f$_ x.pm:$_" } 1 .. 5],
    lines => [@lines, map { ('@ 1 0 3', "- $_") } reverse @stack]));
my $profile = Devel::DProf::Profile->new;
$profile->add($file);
my $run = run_tool('dprofexport', ['-o', "$dir/x.trace.json", $file]);
is($run->{err}, '', 'exported');
$run = run_program(['node', 'xt/readers/chrome.js', $speedscope, "$dir/x.trace.json"],
    env => { NODE_PATH => "$playwright/node_modules" }, dir => '.');
my $rows = eval { JSON::PP->new->utf8->decode($run->{out}) } // {};
diag $run->{err} if $run->{raw};
for my $row ($profile->rows({ time => Devel::DProf::Profile::REAL, rows => 1000,
    separate => 1 })) {
    my ($name, undef, $self, $all) = @$row;
    for (['self', $self, $rows->{$name}[0]], ['total', $all, $rows->{$name}[1]]) {
        my ($what, $ticks, $text) = @$_;
        my ($ns, $slack) = printed($text // '');
        my $want = $ticks * 1e9 / $profile->hz;
        ok(abs($ns - $want) <= $slack, "$name: $what")
            or diag "wanted $want ns, speedscope has " . ($text // 'nothing');
    }
}
done_testing;
