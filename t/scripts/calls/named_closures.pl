# Two closures of one piece of code under two names are two subs.
# expect: main::first_one 3
# expect: main::second_one 2
# expect: main::__ANON__ 1
# expect: main::local_name 1
use Sub::Util 'set_subname';
sub maker { my $n = shift; sub { $n++ } }
my $one = set_subname('main::first_one', maker(1));
my $two = set_subname('main::second_one', maker(2));
$one->();
$two->();
$one->();
$two->();
$one->();
maker(3)->();
my $anon = maker(4);
{ local *__ANON__ = 'local_name'; $anon->() if 0 }
set_subname('main::local_name', $anon)->();
print "ok\n";
