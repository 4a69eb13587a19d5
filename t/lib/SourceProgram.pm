package SourceProgram;

# A small program, recorded with what its lines cost, for tests of tools that show sources.

use strict;
use warnings;
use Test::More;

use constant TEXT => <<'END';
use strict;
sub leaf {
    my $n = shift;
    return $n * 2;
}
sub deep {
    my $n = shift;
    return $n if $n < 1;
    return leaf($n) + deep($n - 1);
}
my $sum = 0;
for my $i (1 .. 3) {
    $sum += leaf($i); $sum -= 1;
}
$sum += deep(4);
print "$sum\n";
END

use constant HOW => (PERL_DPROF_MODE => 'tree', PERL_DPROF_CLOCK => 'counting');

# The file of the program, with more text behind it, and its profile. Where perl has no lines, the
# whole test is skipped.
sub recorded {
    my ($dir, $more) = @_;
    require DProfTest;          # xt/browser/source.js wants the text alone
    my $file = DProfTest::spew("$dir/p.pl", TEXT . ($more // ''));
    my $run = DProfTest::profiled([$file], env => { HOW, PERL_DPROF_LINES => 'time' });
    plan skip_all => $1 if $run->{err} =~ /\ADProf: (lines needs a perl of .*)$/m;
    is($run->{out}, "29\n", 'the program runs');
    return ($file, $run->{profile});
}

1;
