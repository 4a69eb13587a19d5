# The calls of a trace in speedscope: its table of subs has dprofreport's times.
use strict;
use warnings;
use FindBin;
use JSON::PP;
use Test::More;
use lib 't/lib', "$FindBin::Bin/../lib";
use DProfTest qw(scratch spew);
use MadeUp;
use Readers;
use Devel::DProf::Profile;

need_browser();
need_package('speedscope');

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
my $run = run_node("$FindBin::Bin/speedscope.js", exported('.trace.json', $file),
    "$dir/speedscope.png");
my $page = eval { JSON::PP->new->utf8->decode($run->{out}) } // {};
diag $run->{err} if $run->{raw};
is_deeply($page->{errors}, [], 'speedscope opens it without an error');
my %shown = map { $_->[0] => { total => $_->[1], self => $_->[2] } }
    map { @{ $_->{rows} } } @{ $page->{shown} };
for my $row ($profile->rows({ time => Devel::DProf::Profile::REAL, rows => 1000,
    separate => 1 })) {
    my ($name, undef, $self, $all) = @$row;
    for (['self', $self], ['total', $all]) {
        my ($what, $ticks) = @$_;
        my $text = $shown{$name}{$what};
        my ($ns, $slack) = printed($text // '');
        my $want = $ticks * 1e9 / $profile->hz;
        ok(abs($ns - $want) <= $slack, "$name: $what")
            or diag "wanted $want ns, speedscope has " . ($text // 'nothing');
    }
}
done_testing;
