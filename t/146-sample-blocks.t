# Samples of subs that call a block from C code, as sort and List::Util do: between two calls of the
# block perl has no op, and the time is the sub's nevertheless.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest;
use Devel::DProf::Profile;

# Each sub runs for 0.3 s of CPU time, or five times as long as perl took to start, which has no
# statement: an emulated machine takes a second for that. The code outside of them runs for nothing.
my $program = <<'END';
use List::Util 'first';
my @num = map { ($_ * 7919) % 10007 } 1 .. 1500;
sub spent { my ($user, $system) = times; return $user + $system }
my $most = 5 * spent();
$most = 0.3 if $most < 0.3;
sub sorted { my $until = spent() + $most; while (spent() < $until) {
    my @s = sort { $a <=> $b || $b <=> $a } @num; } }
sub found { my $until = spent() + $most; while (spent() < $until) {
    my $f = first { $_ > 20000 } @num; } }
sorted();
found();
END

for my $options ('sample=1000', 'tree,sample=1000') {
    my $run = run_program([$^X, "-d:DProf=$options", '-e', $program],
        env => { PERL5LIB => tree(), PERL_DPROF_CLOCK => undef });
    is($run->{raw}, 0, "$options: the program ends") or diag $run->{err};
    my $profile = Devel::DProf::Profile->new;
    $profile->add("$run->{dir}/tmon.out");
    my $text = slurp("$run->{dir}/tmon.out");
    # The line of no statement, which has compile time and the end, too.
    my ($rest) = $text =~ /^#l 0 0 0 (.*)$/m;
    my ($user, $system) = split ' ', $rest // '0 0';
    my ($all_user, $all_system) = $text =~ /\$rrun_utime=(\d+); \$rrun_stime=(\d+)/;
    my ($none, $all) = ($user + $system, $all_user + $all_system);
    cmp_ok($none, '<', 0.1 * $all, "$options: nearly all time has a statement")
        or diag "$none of $all";
}

done_testing;
