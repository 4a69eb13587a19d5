#!/usr/bin/perl
# Is what dprofdiff says true? Does ROUNDS (100) comparisons of a real program with itself, ten runs
# a side: nothing must be called a change. Then comparisons of a program with the same one in which
# a sub is 5 % slower: it must be found, and no other sub. It takes some minutes. The machine's
# noise decides, and is printed.
use strict;
use warnings;
use FindBin;
use JSON::PP ();

my $root = "$FindBin::Bin/..";
my $rounds = $ENV{ROUNDS} || 100;
my $runs = $ENV{RUNS} || 10;
my ($pod) = grep { -e } map { ("$_/perlre.pod", "$_/pod/perlre.pod") } @INC;
my $real = defined $pod ? "$^X -MPod::Text -e 'Pod::Text->new->parse_file(shift)' $pod"
    : "$^X $root/examples/sheet.pl";

my @least;

sub compare {
    my (@commands) = @_;
    my $run = join ' ', map { "--run " . quotemeta } @commands;
    my $text =
        `$^X -I$root/blib/lib -I$root/blib/arch $root/bin/dprofdiff -q -N $runs --format json $run`;
    die "dprofdiff: status $?\n" if $?;
    return JSON::PP->new->utf8->decode($text);
}

# Returns the names of what is called a change of time, the total among them; and the noise: the
# median spread of the total.
sub alarms {
    my ($json) = @_;
    my @names = map { $_->{symbol} } grep { $_->{verdict} eq 'significant' } @{ $json->{rows} };
    push @names, '(total)' if $json->{total_verdict} eq 'significant';
    my ($least) = sort { $a <=> $b } 1, map { $_->{p} } grep { defined $_->{p} } @{ $json->{rows} };
    push @least, $least;
    my ($top) = sort { $b->{baseline} <=> $a->{baseline} } grep { defined $_->{baseline} }
        @{ $json->{rows} };
    return (100 * $top->{baseline_spread} / $top->{baseline}, @names);
}

my ($wrong, @noise) = (0);
for my $round (1 .. $rounds) {
    my ($noise, @names) = alarms(compare($real, $real));
    push @noise, $noise;
    $wrong += @names > 0;
    print "round $round: @names\n" if @names;
}
@noise = sort { $a <=> $b } @noise;
printf "%d comparisons of a program with itself, %d runs a side: %d alarms; "
    . "spread of the costliest sub: median %.1f %%, at most %.1f %%\n",
    $rounds, $runs, $wrong, $noise[@noise / 2], $noise[-1];

printf "the least p of each: %s\n", join ' ', map { sprintf '%.4f', $_ } sort { $a <=> $b } @least;
@least = ();

# The program has ten subs of equal cost, one of them 5 % slower.
my $program = <<'END';
my $n = 12000;
for my $name ("a" .. "j") {
    my $more = $name eq "d" ? $ARGV[0] : 1;
    my $to = int($n * $more);
    eval "sub $name { my \$x = 0; \$x += \$_ & 3 for 1 .. $to; \$x } 1" or die;
}
for (1 .. 60) { no strict "refs"; $_->() for "a" .. "j" }
END
my ($found, $missed, $false) = (0, 0, 0);
@noise = ();
my $tries = $rounds < 20 ? $rounds : 20;
for (1 .. $tries) {
    my ($noise, @names) = alarms(compare(map { "$^X -e '$program' $_" } 1, 1.05));
    push @noise, $noise;
    my $it = grep { $_ eq 'main::d' } @names;
    $found += $it > 0;
    $false += grep { $_ ne 'main::d' && $_ ne '(total)' } @names;
}
@noise = sort { $a <=> $b } @noise;
printf "%d comparisons with a sub 5 %% slower: found in %d, other subs called slower: %d; "
    . "spread of a sub: median %.1f %%\n",
    $tries, $found, $false, $noise[@noise / 2];
printf "the least p of each: %s\n", join ' ', map { sprintf '%.5f', $_ } sort { $a <=> $b } @least;
exit($wrong || $found < $tries || $false ? 1 : 0);
