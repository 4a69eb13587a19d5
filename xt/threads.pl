#!/usr/bin/perl
# Threads in every state run over and over, to find races: each has its file, the sums are right,
# the program ends as it does without the profiler.
#
#   perl Makefile.PL && make
#   perl xt/threads.pl [ROUNDS [PROGRAM ...]]
#   perl xt/threads.pl --valgrind TOOL [PROGRAM ...]
# --valgrind runs one round of each under memcheck, helgrind or drd.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t/lib", "$FindBin::Bin/../blib/lib", "$FindBin::Bin/../blib/arch";
use Config;
use Getopt::Long;
use DProfTest;
use RunReader;
use ThreadPrograms;

die "this perl has no threads\n" if !$Config{useithreads};
GetOptions('valgrind=s' => \my $tool) or die "see the first lines of $0\n";
my $rounds = @ARGV && $ARGV[0] =~ /^\d+$/ ? shift : $tool ? 1 : 50;
my @only = @ARGV;

my $bad = 0;
for my $name (thread_programs()) {
    next if @only && !grep { $name eq $_ } @only;
    my $file = spew(scratch() . '/t.pl', thread_program($name));
    my $plain = plain([$file]);
    for (MODES) {
        my ($mode, $env) = @$_;
        my @wrong;
        for my $round (1 .. $rounds) {
            my $run;
            if ($tool) {
                my $log = scratch() . '/log';
                $run = run_program(['valgrind', '-q', "--tool=$tool", "--log-file=$log", $^X,
                    PROFILER(), $file],
                    env => { %$env, PERL_DESTRUCT_LEVEL => 2 }, limit => 600);
                $run->{profile} = "$run->{dir}/tmon.out";
                my $text = slurp($log) // '';
                # Errors of the recorder begin in one of its functions; perl has some of its own.
                # After a fork there is one thread.
                my @ours = grep { /\A.*\n==\d+== +at [^\n]*\((?:dpx?_\w+|DProf)\.c/
                    && !/postfork_handlers/ && !/\A==\d+== Thread \S+ was created/ }
                    split /^==\d+== *\n/m, $text;
                push @wrong, @ours if @ours;
            } else {
                $run = profiled([$file], env => $env, limit => 60);
                push @wrong, grep { length } same_as_plain($plain, $run);
            }
            push @wrong, wrong_in_threads($name, $run->{profile});
            last if @wrong > 5;
        }
        printf "%s %s, %s\n", @wrong ? 'not ok' : 'ok', $name, $mode;
        print map { s/^/  /mgr . "\n" } @wrong;
        $bad += @wrong;
    }
}
exit($bad ? 1 : 0);
