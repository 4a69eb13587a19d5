# A tree has the same calls as a trace: every program of the corpus and some random ones, in both modes,
# on the counting clock. The program itself must not see which it is.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;
use FuzzProgram;

sub both_modes {
    my ($what, @program) = @_;
    my %env = (counting(), PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0);
    my %out = (EXPECT => scratch() . '/expect');
    my $trace = profiled([@program], env => { %env, %out });
    my $tree = profiled([@program], env => { %env, %out, PERL_DPROF_MODE => 'tree' });
    my @wrong = grep { length } same_as_plain($trace, $tree);
    my $have = edges_of_tree($tree->{profile});
    my $want = read_profile($trace->{profile})->{edges};
    for (sort keys %{ { %$have, %$want } }) {
        my ($t, $s) = ($want->{$_} // 0, $have->{$_} // 0);
        push @wrong, "$_: $t in the trace, $s in the tree" if $t != $s;
    }
    is(join("\n", @wrong), '', $what);
    unlink $trace->{profile}, $tree->{profile};
}

chdir "$FindBin::Bin/..";
for my $file (glob 't/scripts/{calls,exits,modules}/*.pl') {
    my ($head) = slurp($file) =~ /\A((?:#.*\n)*)/;
    my ($switches) = $head =~ /^# switches: (.*)/m;
    my ($args) = $head =~ /^# args: (.*)/m;
  SKIP: {
        my ($needs) = $head =~ /^# needs: (\S+)/m;
        skip "$file: needs $needs", 1 if $needs && run_perl(["-e", "require $needs"])->{raw};
        # Their output or their calls go by the clock or by chance.
        skip "$file: depends on time", 1 if $file =~ m{/(?:signals|signal_die)\.pl$};
        both_modes($file, split(' ', $switches // ''), "$FindBin::Bin/../$file", split(' ', $args // ''));
    }
}
for my $seed (101 .. 112) {
    my $file = spew(scratch() . "/fuzz$seed.pl", FuzzProgram::program($seed, 3));
    my $plain = plain([$file], limit => 30);
  SKIP: {
        skip "program $seed does not run", 1 if $plain->{raw} || $plain->{out} !~ /^checks /m;
        both_modes("random program $seed", $file);
    }
}

done_testing;
