# Modules that do unusual things to perl's stacks and ops; skipped where absent. The tree must have the same calls
# as the trace.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;
use RunReader;

subtest trace => sub { run_scripts('modules') };

subtest tree => sub {
    for my $file (sort glob root() . '/t/scripts/modules/*.pl') {
        my ($name) = $file =~ m{([^/]+)\.pl\z};
        next if @ARGV && !grep { $_ eq $name } @ARGV;
        my $say = DProfTest::directives($file);
      SKIP: {
            for (@{ $say->{needs} // [] }) {
                skip "$name: needs $_", 1 if !DProfTest::module_there(split ' ');
            }
            my $expect = scratch() . '/expect';
            my $plain = plain([$file], env => { EXPECT => $expect });
            my @own = split /\n/, slurp($expect) // '';
            my $run = profiled([$file], env => { EXPECT => '/dev/null', PERL_DPROF_MODE => 'tree' });
            my ($calls, @outcomes) = calls_of($run->{profile});
            my @wrong = grep { length } same_as_plain($plain, $run), map { $_->{message} } @outcomes;
            for (grep { !/ > / } @{ $say->{expect} }, @own) {
                my ($sub, $n) = /^(.*\S)\s+(\d+)$/;
                push @wrong, "$sub: " . ($calls->{$sub} // 0) . " calls, not $n" if ($calls->{$sub} // 0) != $n;
            }
            is(join("\n", @wrong), '', $name);
        }
    }
};

done_testing;
