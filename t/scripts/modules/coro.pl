# Coro: coroutines that call, yield in the middle of calls, of tied variables and of evals, die, are
# thrown at, are cancelled. Their frames stay apart, time goes to whom it belongs, every cede
# counts.
# needs: Coro
use strict; use warnings; use Coro; use Coro::State ();
my (%log, @log);
sub count { $log{"main::$_[0]"}++ }
# so many us pass
sub spin {
    count('spin');
    Devel::DProf::_advance($_[0] * 1000, $_[0] * 1000) if defined &Devel::DProf::_advance;
}
sub yield { count('yield'); spin(1); $log{'main::yield > Coro::cede'}++; cede; spin(10) }
sub inner { my $n = shift; count('inner'); spin($n); yield(); push @log, $n; spin(1) }
sub worker {
    my $n = shift;
    count('worker');
    for (1 .. 3) { $log{'main::worker > main::inner'}++; inner($n) } $n;
}
my @c = map { my $n = $_; async { worker($n) } } 1 .. 4;
push @log, map { 'joined ' . $_->join } @c;

package Tied { sub TIESCALAR { bless [] } sub FETCH { main::count('fetch'); main::yield(); 5 } }
tie my $tied, 'Tied';
sub through_c { count('through_c'); my $x = $tied; spin(1); push @log, $x }
my $d = async { through_c() }; $d->join;

sub caught { count('caught'); eval { yield(); die "x\n" }; push @log, "caught $@"; yield() }
(async { caught() })->join;
my $f = async { while (1) { eval { yield(); 1 } or do { push @log, "thrown at: $@"; last } } };
cede; cede; $f->throw("stop\n"); cede;
my $g = async { while (1) { yield() } }; cede; $g->cancel; spin(2);

my $queue = Coro::Channel->new(1);
async { $queue->put($_) for 1 .. 5; $queue->shutdown };
my $sum = 0;
while (defined(my $v = $queue->get)) { $sum += $v; spin(1) }
push @log, "sum $sum";
sub deep { my $n = shift; count('deep'); $n ? deep($n - 1) : yield() }
$_->join for map { async { deep(50) } } 1 .. 30;
print "$_\n" for @log;
delete $log{'main::fetch'};
open my $out, '>', $ENV{EXPECT} or die;
print {$out} "$_ $log{$_}\n" for sort keys %log;
