#!/usr/bin/perl
# Measures the cost of samples, to a tenth of a percent on a noisy machine.
#     perl bench/sample-switched.pl [--pairs 300] [--hz 100,1000] [NAME]
# A process repeats the same work in pairs, one half with samples and one without, in random order.
# The CPU time of the process, including the ticking thread, is read before and after each half. A
# change of the machine's speed that is longer than a pair affects both halves alike. Before each
# half the work runs unmeasured for some ticks, until the thread ticks, or has stopped. The figures
# are the median of the pairs' ratios, in brackets its 95 % confidence interval, the ratio of all
# CPU time with samples to all without, and that of the least of each.
#
# These figures do not include the cost of a loaded profiler that does not sample, which is one
# instruction at the end of a sub: see bench/instructions.pl.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Bench qw(programs table ours_version sign_interval scratch top);
use Getopt::Long;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID);

my $measured = 0.1;         # seconds of each half

GetOptions('pairs=i' => \(my $pairs = 300), 'hz=s' => \(my $hz = '100,1000'),
    'child=s' => \my $child) or exit 2;
my %work = ('pod2text' => \&pod2text, 'perltidy' => \&perltidy, 'fib' => \&fib,
    'Mojolicious' => \&mojolicious);
if (defined $child) {
    child($work{$child}->(@ARGV));
    exit 0;
}
print ours_version(), "\n\n";
my %file = map { ($_->[0] =~ /\A(\w+)/)[0] => $_->[-1] } programs();
my @names = grep { defined $file{$_} } qw(pod2text perltidy);
push @names, 'fib', eval { require Mojolicious } ? 'Mojolicious' : ();
for my $name (grep { !@ARGV || $_ eq $ARGV[0] } @names) {
    my @rows = map { [ "sample=$_", measured($name, $_) ] } split /,/, $hz;
    print "$name: CPU time with samples to that without, $pairs pairs\n";
    table([ '', 'median', '', 'of all', 'least', 'CPU s' ], @rows);
}

sub measured {
    my ($name, $hz) = @_;
    my $top = top();
    local $ENV{PERL_DPROF_OUT_FILE_NAME} = scratch() . '/out';
    open my $in, '-|', $^X, "-I$top/blib/lib", "-I$top/blib/arch", "-d:DProf=sample=$hz,start=no",
        $0, '--pairs', $pairs, '--hz', $hz, '--child', $name, $file{$name} // ()
        or die "bench: $!\n";
    my (@ratios, @sum, @least);
    while (my $line = <$in>) {
        my ($on, $off) = $line =~ /\A= (\S+) (\S+)\n\z/ or next;
        push @ratios, $on / $off;
        $sum[0] += $on;
        $sum[1] += $off;
        for (0, 1) {
            my $value = ($on, $off)[$_];
            $least[$_] = $value if !defined $least[$_] || $value < $least[$_];
        }
    }
    close $in or die "bench: $name failed\n";
    return (sign_interval(4, @ratios), map({ sprintf '%.4f', $_ } $sum[0] / $sum[1],
        $least[0] / $least[1]), sprintf '%.1f', $sum[0] + $sum[1]);
}

# ---- in the process that is measured ----

sub child {
    my ($unit) = @_;
    require Devel::DProf::Control;
    my $settling = $hz < 100 ? 6 / $hz : 0.06;      # the thread continues for four ticks
    my $once = times_for($unit, $measured);
    srand 1;
    for (1 .. $pairs) {
        my @cpu;
        for my $on (rand() < 0.5 ? (0, 1) : (1, 0)) {
            $on ? Devel::DProf::Control::start() : Devel::DProf::Control::stop();
            my $end = clock_gettime(CLOCK_MONOTONIC) + $settling;
            $unit->() while clock_gettime(CLOCK_MONOTONIC) < $end;
            my $begun = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
            $unit->() for 1 .. $once;
            $cpu[$on] = clock_gettime(CLOCK_PROCESS_CPUTIME_ID) - $begun;
        }
        print "= $cpu[1] $cpu[0]\n";
    }
    return;
}

# Returns how often the work can be repeated in that time.
sub times_for {
    my ($unit, $seconds) = @_;
    my ($n, $took) = (1, 0);
    $unit->();
    while (1) {
        my $begun = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
        $unit->() for 1 .. $n;
        $took = clock_gettime(CLOCK_PROCESS_CPUTIME_ID) - $begun;
        return $n if $took >= $seconds;
        $n = $took > $seconds / 20 ? int($n * $seconds / $took) + 1 : $n * 4;
    }
}

sub slurp {
    my ($path, $most) = @_;
    open my $in, '<', $path or die "$path: $!\n";
    read $in, my ($text), $most;
    return $text =~ s/[^\n]*\z//r;
}

sub pod2text {
    my ($file) = @_;
    require Pod::Text;
    my $pod = "=pod\n\n" . slurp($file, 12_000) =~ s/\A.*?(?=^=)//msr . "\n\n=cut\n";
    return sub {
        my $parser = Pod::Text->new;
        my $text = '';
        $parser->output_string(\$text);
        $parser->parse_string_document($pod);
        return length $text;
    };
}

sub perltidy {
    my ($file) = @_;
    require Perl::Tidy;
    my $source = slurp($file, 12_000);
    return sub {
        my ($out, $err) = ('', '');
        Perl::Tidy::perltidy(argv => '-npro -nst', source => \$source, destination => \$out,
            stderr => \$err);
        return length $out;
    };
}

sub fib_of { my $n = shift; return $n < 2 ? $n : fib_of($n - 1) + fib_of($n - 2) }
sub fib { return sub { fib_of(16) } }

# Returns work that answers requests of another process.
sub mojolicious {
    require "$FindBin::Bin/mojo.pl";
    my $answers = answers();
    return sub { $answers->(8) };
}
