#!/usr/bin/perl
# Measures the truth of profiles: the inclusive time of a sub that makes 400,000 tiny calls, divided
# by that of a sub that computes. Prints the ratio in a profile over the ratio without a profiler; 1
# is the truth.
#     perl bench/distortion.pl [--rounds 5]
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Bench qw(sides run_side median table top scratch note ours_version);
use Getopt::Long;

GetOptions('rounds=i' => \(my $rounds = 5)) or exit 2;
print ours_version(), "\n\n";
my @sides = sides('plain', 'DProf', 'DProf, clock_gettime', 'NYTProf, lean', 'old DProf');
my $out = scratch() . '/out';

# Return inclusive seconds by sub, as each profiler's own tool reports them.
sub dprofpp {
    my @command = @_;
    my %incl;
    open my $fh, '-|', @command, '-Ir', '-O', 9999, $out or die "bench: dprofpp: $!\n";
    while (<$fh>) {
        my @f = split;
        $incl{$1} = $f[2] if @f == 7 && $f[6] =~ /^main::(\w+)$/;
    }
    return \%incl;
}

sub nytprof {
    my %incl;
    my $code =
        'use Devel::NYTProf::Data; my $p = Devel::NYTProf::Data->new({filename => shift, quiet => '
            . '1});'
        . 'my $s = $p->subname_subinfo_map; print "$_ ", $s->{$_}->incl_time, "\n" for keys %$s';
    open my $fh, '-|', $^X, '-e', $code, "$out.nyt" or die "bench: NYTProf: $!\n";
    while (<$fh>) { $incl{$1} = $2 if /^main::(\w+) (\S+)/ }
    return \%incl;
}

my $old = $ENV{DPROF_OLD_LIB} // '';
my $old_bin = $ENV{DPROF_OLD_BIN} // '';
my %reader = (
    'DProf' => sub {
        dprofpp($^X, '-I' . top() . '/blib/lib', '-I' . top() . '/blib/arch',
            top() . '/bin/dprofpp');
    },
    'NYTProf, lean' => \&nytprof,
    'old DProf' => sub { -e $old_bin ? dprofpp($^X, "-I$old", $old_bin) : {} },
);
$reader{'DProf, clock_gettime'} = $reader{DProf};
my %ratio;
for my $round (1 .. $rounds) {
    my $truth;
    for my $side (@sides) {
        note("round $round of $rounds: $side->[0]");
        my $got = run_side($side, "$FindBin::Bin/distort.pl");
        if ($side->[0] eq 'plain') {
            $truth = $got->{callheavy} / $got->{compute};
            push @{ $ratio{plain} }, $truth;
            next;
        }
        my $incl = $reader{ $side->[0] }->();
        next unless $incl->{compute};
        push @{ $ratio{ $side->[0] } }, $incl->{callheavy} / $incl->{compute} / $truth;
    }
}
print "callheavy / compute, reported over unprofiled, median of $rounds rounds (1 = true)\n";
table([ '', 'ratio', 'runs' ],
    map { [ $_->[0] eq 'plain' ? 'unprofiled, itself' : $_->[0],
            sprintf('%.2f', median(@{ $ratio{ $_->[0] } // [] })),
            join ' ', map { sprintf '%.2f', $_ } @{ $ratio{ $_->[0] } // [] } ] } @sides);
