#!/usr/bin/perl
# Measures the cost of prove -PDProf on the tests of a distribution, and checks that all tests keep
# their outcomes.
#     perl bench/prove.pl [--rounds 5] [--jobs 1] [--option baseline=DIR ...] DIR [tests of it: t]
# DIR is the folder of an unpacked distribution that is built (has blib/), or of Perl alone (lib/).
# Plain and profiled runs take turns.
use strict;
use warnings;
use App::Prove;
use Cwd 'abs_path';
use FindBin;
use Getopt::Long;
use Time::HiRes 'time';
use lib $FindBin::Bin;
use Bench qw(median spread top scratch note);

# Remembers the outcome of each test file, for a run in a process of its own.
package Bench::State {
    our @ISA = ('App::Prove::State');
    our %seen;
    sub observe_test {
        my ($self, $test, $parser) = @_;
        my @facts = map {
            my $list = $_;
            "$list " . join ',', $parser->$list
        } qw(passed failed todo skipped parse_errors);
        $seen{ $test->[1] } = join '; ', 'wait ' . ($parser->wait // ''),
            'plan ' . ($parser->plan // ''), 'all skipped ' . ($parser->skip_all // ''), @facts;
        return $self->SUPER::observe_test($test, $parser);
    }
}

sub one_run {
    my ($to, @args) = @_;
    my $app = App::Prove->new;
    $app->state_class('Bench::State');
    $app->process_args(@args);
    my $passed = $app->run;
    open my $out, '>', $to or die "$to: $!\n";
    print $out "$_\t", $Bench::State::seen{$_} =~ s/\s/ /gr, "\n" for sort keys %Bench::State::seen;
    close $out or die "$to: $!\n";
    exit($passed ? 0 : 1);
}

one_run(@ARGV[1 .. $#ARGV]) if @ARGV && $ARGV[0] eq '--one-run';

GetOptions('rounds=i' => \(my $rounds = 5), 'jobs=i' => \(my $jobs = 1),
    'option=s@' => \my @options) or exit 2;
my ($dir, @tests) = @ARGV
    or die "usage: perl bench/prove.pl [--rounds N] [--jobs N] [--option NAME=VALUE] DIR [tests]\n";
@tests = 't' if !@tests;
my $self = abs_path($0);
my $scratch = scratch();
chdir $dir or die "$dir: $!\n";
my @ours = ('-I' . top() . '/blib/lib', '-I' . top() . '/blib/arch');
my @common = ('--norc', '-j', $jobs, '-r', -d 'blib' ? '-b' : '-l', @tests);

# Runs the whole suite. Returns { cpu, real, status, outcomes, said }.
sub suite {
    my ($profiled) = @_;
    my @plugin = $profiled ? join('=', '-PDProf', @options ? join ',', @options : ()) : ();
    my ($start, @before) = (time, times);
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        open STDOUT, '>', "$scratch/said" or die;
        open STDERR, '>', "$scratch/err" or die;
        open STDIN, '<', '/dev/null' or die;
        exec $^X, @ours, $self, '--one-run', "$scratch/outcomes", @plugin, @common
            or die "$^X: $!\n";
    }
    waitpid $pid, 0;
    my ($status, $end, @after) = ($?, time, times);
    my %run = (status => $status, real => $end - $start,
        cpu => $after[2] + $after[3] - $before[2] - $before[3]);
    open my $in, '<', "$scratch/outcomes" or die "no test ran: see\n" . slurp("$scratch/err");
    %{ $run{outcomes} } = map { chomp; split /\t/, $_, 2 } <$in>;
    $run{said} = slurp("$scratch/said");
    unlink "$scratch/outcomes";
    return \%run;
}

sub slurp { my ($path) = @_; local $/; open my $in, '<', $path or return ''; return <$in> // '' }

my (%all, %outcomes, $summary);
for my $round (0 .. $rounds) {
    for my $profiled ($round % 2 ? (0, 1) : (1, 0)) {
        note("round $round of $rounds: " . ($profiled ? 'profiled' : 'plain'));
        my $run = suite($profiled);
        $summary = $run->{said} if $profiled;
        $outcomes{$profiled}{$_}{ $run->{outcomes}{$_} } = 1 for keys %{ $run->{outcomes} };
        next if !$round;        # the first round warms caches
        push @{ $all{$_}[$profiled] }, $run->{$_} for qw(cpu real);
    }
}

print "$dir: ", scalar keys %{ $outcomes{0} }, " test files, -j$jobs, $rounds rounds in turn\n";
for my $what (qw(cpu real)) {
    my ($plain, $profiled) = @{ $all{$what} };
    my @ratios = map { $profiled->[$_] / $plain->[$_] } 0 .. $#$plain;
    my ($least, $most) = spread(@ratios);
    printf "%-8s plain %.2f s, -PDProf %.2f s; ratio %.2f (%.2f to %.2f)\n",
        $what eq 'cpu' ? 'CPU' : 'elapsed', median(@$plain), median(@$profiled), median(@ratios),
        $least, $most;
}
my @differ;
for my $name (sort keys %{ { %{ $outcomes{0} }, %{ $outcomes{1} } } }) {
    my @new = grep { !$outcomes{0}{$name}{$_} } sort keys %{ $outcomes{1}{$name}
        || { 'it did not run' => 1 } };
    push @differ, map { "$name:\n    plain:    " . join("\n              ",
        sort keys %{ $outcomes{0}{$name} }) . "\n    profiled: $_\n" } @new;
}
print @differ ? ("outcomes that plain runs do not have:\n", @differ)
    : "all outcomes are those of plain runs\n";
print "\n", $summary =~ s/.*^Result:[^\n]*\n//smr;
exit(@differ ? 1 : 0);
