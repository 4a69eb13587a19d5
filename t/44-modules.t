# Modules that do unusual things to perl's stacks and ops are profiled rightly; absent ones are
# skipped. The tree must have the same calls as the trace.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Glob ':bsd_glob';
use Test::More;
use DProfTest;
use RunReader;

subtest trace => sub { run_scripts('modules') };

# Checks a program in one way of recording by what the tools read; this is for what is too long to
# be read mark by mark.
sub check_calls {
    my ($file, @modes) = @_;
    my ($name) = $file =~ m{([^/]+)\.pl\z};
    return if @ARGV && !grep { $_ eq $name } @ARGV;
    my $say = DProfTest::directives($file);
  SKIP: {
        for (@{ $say->{needs} // [] }) {
            skip "$name: needs $_", scalar @modes if !DProfTest::module_there(split ' ');
        }
        my $expect = scratch() . '/expect';
        my $plain = plain([$file], env => { EXPECT => $expect });
        my @own = split /\n/, slurp($expect) // '';
        for my $mode (@modes) {
            my $run = profiled([$file], env => { EXPECT => '/dev/null', PERL_DPROF_MODE => $mode });
            my ($calls, @outcomes) = calls_of($run->{profile});
            my @wrong = grep { length } same_as_plain($plain, $run),
                map { $_->{message} } @outcomes;
            for (grep { !/ > / } @{ $say->{expect} }, @own) {
                my ($sub, $n) = /^(.*\S)\s+(\d+)$/;
                push @wrong, "$sub: " . ($calls->{$sub} // 0) . " calls, not $n"
                    if ($calls->{$sub} // 0) != $n;
            }
            is(join("\n", @wrong), '', "$name, $mode: calls and output are right");
        }
    }
    return;
}

check_calls($_, 'tree') for sort glob root() . '/t/scripts/modules/*.pl';
check_calls($_, 'trace', 'tree') for sort glob root() . '/t/scripts/heavy/*.pl';

done_testing;
