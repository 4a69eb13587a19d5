# env: PERL_DPROF_DETAIL=all
# Files, patterns and commands as spans: what perl remembers of the last match, of the last stat and
# of errors, how often it asks a variable of the program for its value, when objects go.
use strict; use warnings; no warnings qw(once exec);
my %n;
package Tie {
    sub TIESCALAR { return bless [$_[1]] } sub FETCH { $n{fetch}++; return $_[0][0] }
    sub DESTROY { print "tie gone\n" }
}
package Ov {
    use overload '""' => sub { $n{text}++; $_[0][0] }, '-X' => sub { $n{X}++; 1 },
        qr => sub { $n{qr}++; qr/$_[0][0]/ }, fallback => 1;
    sub new { return bless [$_[1]] } sub DESTROY { print "$_[0][0] gone\n" }
}
package main;
sub show { print join(' ', map { defined $_ ? "[$_]" : 'undef' } @_), "\n" }
tie my $t, 'Tie', '/nonexistent/1234567';
show scalar(stat $t), $! + 0, $n{fetch}; show -e $t, $n{fetch};
show open(my $in, '<', $t), $! + 0, $n{fetch}; show opendir(my $dir, $t), $! + 0, $n{fetch};
show eval { require $t }, $n{fetch}; show do $t, $! + 0, $n{fetch};
show unlink($t), mkdir("$t/x"), $n{fetch}; show 'abc/1234567' =~ /$t/, $n{fetch};
show system("true $t"), $?, `echo $t`, $n{fetch}; show system { $t } 'a', 'b'; show $n{fetch}, $?;
my $o = Ov->new('/tmp'); show((stat $o)[2] > 0, -d $o, -d _); show '/tmp' =~ $o;
show opendir $dir, $o;
{ my $short = Ov->new('short'); show -e $short } show -e Ov->new('in an op'), 'x';
show 'x' =~ Ov->new('a pattern'), 'y';

'abc' =~ /(b)/; show $1, $`, $'; for (1, 2) { if ('xyz' =~ /(y)/) { show $1 } show $1 } show $1;
{ 'q' =~ /(q)/ } show $1; show 'abab' =~ //, $1;
my $s = 'aXbXc'; while ($s =~ /X/g) { show pos $s } $s =~ /X/g; $s =~ /\Gb/gc; show pos $s;
$s =~ /\Gzz/gc; show pos $s;
(my $r = 'abc') =~ s/(.)/ord($1) . ($1 eq 'b' ? do { 'in' =~ m{(n)}; $1 } : '')/ge; show $r;
sub rec { my ($k) = @_; (my $x = 'a' x $k) =~ s/(a)/$k ? rec($k - 1) . $1 : 'z'/e; return $x }
show rec(4);
{ no warnings 'exiting';
  for my $i (1 .. 3) {
      (my $x = 'ab') =~ s/(.)/next if $i == 2; last if $i == 3; uc $1/ge; show $x
  } }
sub out { no warnings 'exiting'; (my $x = 'ab') =~ s/(.)/goto OUT/e; OUT: show 'out' } out();
show eval { (my $x = 'ab') =~ s/b/die { c => 5 }/e; 1 } // $@->{c};
sub early { (my $x = 'ab') =~ s/b/return 'early'/e; return 'late' } show early();
show split /(,)/, 'a,b,c'; show map { s/a/b/r } qw(a ba); show scalar(() = 'aaa' =~ /a/g);
show sort { ($a =~ /(\d)/)[0] <=> ($b =~ /(\d)/)[0] } qw(x3 x1 x2);
'foo' =~ /(?<n>o+)/; show $+{n}, "@-", "@+"; 'aab' =~ m{a(?{ show 'code', pos })ab};
sub callers { (my $x = 'a') =~ s/a/join ',', map { (caller $_)[3] || '-' } 0 .. 2/e; show $x }
callers(); eval { callers() };

$! = 0; show system('exit 3'), $? >> 8, $! + 0; show exec('/nonexistent/prog'), $! + 0;
show system('/nonexistent/prog'), $?, $! + 0;
{ local $SIG{CHLD} = 'IGNORE'; show system('true'), $? }
{ local $SIG{ALRM} = sub { die "signal\n" }; show eval { system "kill -ALRM $$"; 1 }, $@ }
{ local $SIG{__WARN__} = sub { show 'warning', $_[0] }; my $u; my $x = -e $u; $x = 'a' =~ /$u/;
  open my $f, '<', "a\0b" or show $! + 0; stat "x\n"; local @ARGV = '/nonexistent/x'; $x = <> }
my $pid = open(my $pipe, '-|') // die; if (!$pid) { syswrite STDOUT, "child\n"; POSIX::_exit(2) }
show <$pipe>; close $pipe; show $? >> 8;
if (!($pid = fork)) { exec 'sh', '-c', 'exit 7' } waitpid $pid, 0; show $? >> 8;
$| = 1; open $pipe, '|-', 'cat; exit 4' or die; print {$pipe} "to cat\n";
show close($pipe), $? >> 8, $! + 0;
open my $copy, '>&', \*STDOUT or die; print {$copy} "copy\n"; close $copy;
open my $memory, '<', \"a\nb\n"; show <$memory>; show eval 'require 5.006; require v5.10.0; 1';
show do { local $/; open my $f, '<', $0 or die; length readline $f }, -f $0, -f _;
show scalar(my @of_handle = stat STDIN), scalar(@{[lstat '/']}), scalar(@{[stat _]});
show map { "$_=$n{$_}" } sort keys %n; untie $t; undef $o; show 'end';
END { show 'END', $? }
use POSIX (); exit 0;
