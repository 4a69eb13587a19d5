#!/usr/bin/perl
# What dprof dump, dprof attach and dproftop say, and do, in each scope of Yama, as a user, as root,
# and as root without CAP_SYS_PTRACE. It sets kernel.yama.ptrace_scope for the whole machine, to 3
# in the end, which only a boot ends. So it runs only with DPROF_YAMA=1, in a virtual machine:
#
#   sh xt/vm.sh env DPROF_YAMA=1 prove xt/attach-yama.t
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t/lib";
use DProfTest;
use File::Temp ();
use Test::More;

my $YAMA = '/proc/sys/kernel/yama/ptrace_scope';
plan skip_all => 'this changes the machine: DPROF_YAMA=1, in a virtual one' if !$ENV{DPROF_YAMA};
plan skip_all => 'this needs root' if $>;
plan skip_all => 'this kernel has no Yama' if !-e $YAMA;
plan skip_all => 'nobody can go back from scope 3' if slurp($YAMA) == 3;

my %WHO = (
    user => [qw(setpriv --reuid 1000 --regid 1000 --clear-groups)],
    root => [],
    weak => [qw(setpriv --bounding-set -sys_ptrace --inh-caps -sys_ptrace)],
);
my @PERL = ($^X, '-Mblib=' . root() . '/blib');
my $dir = File::Temp->newdir('dprof-yama-XXXXXX', TMPDIR => 1);
chmod 0777, $dir;
my $HANG = '$| = 1; sub hang { print "ready\n"; sleep 3000 } hang();';
my $ALLOW = 'use Devel::DProf::Control; Devel::DProf::Control::allow_attach() or die; ';

# Starts a perl and waits until it hangs. Returns its process.
my @handles;
sub started {
    my ($who, $code) = @_;
    my $pid = open my $from, '-|', @{ $WHO{$who} }, @PERL, '-e', $code or die "fork: $!";
    readline $from;
    push @handles, $from;
    return $pid;
}

my %target = (
    own     => started('user', $HANG),
    allowed => started('user', $ALLOW . $HANG),
    roots   => started('root', $HANG),
);
END { my $status = $?; kill KILL => values %target; $? = $status }

# Runs a tool as one of WHO. Returns its status and the first line of its messages.
sub tool {
    my ($who, $tool, @args) = @_;
    my $run = run_program([@{ $WHO{$who} }, 'env', '-C', $dir, @PERL,
        root() . "/blib/script/$tool", @args]);
    my ($line) = grep { !/^Using \S*blib/ } split /\n/, $run->{err};
    return ($run->{status}, $line // '');
}

my %REFUSED = (
    other => "it is another user's; try sudo",
    weak  => 'this container lacks CAP_SYS_PTRACE: start it with --cap-add SYS_PTRACE, or try on '
        . 'the host',
    1 => 'kernel.yama.ptrace_scope is 1: only root or a parent may; try sudo, start it by dprof '
        . 'attach -- COMMAND, or have it call Devel::DProf::Control::allow_attach',
    2 => 'kernel.yama.ptrace_scope is 2: only root may; try sudo',
    3 => 'kernel.yama.ptrace_scope is 3: nobody may until the next boot; record the program from '
        . 'its start: perl -d:DProf=sample=100 PROGRAM',
);

# Why WHO may not look at a target in a scope: a key of %REFUSED, or undef.
sub refusal {
    my ($scope, $who, $target) = @_;
    return 3 if $scope == 3;
    return undef if $who eq 'root';
    return $target eq 'command' && $scope < 2 ? undef : 'weak' if $who eq 'weak';
    return 'other' if $target eq 'roots';
    return $scope == 2 || $scope == 1 && $target eq 'own' ? $scope : undef;
}

sub check {
    my ($scope, $who, $target, $name, $tool, @args) = @_;
    my $why = refusal($scope, $who, $target);
    my ($status, $line) = tool($who, $tool, @args);
    my $label = "scope $scope, $who, $target: $name";
    is($status, defined $why ? 1 : 0, "$label: status");
    return unlike($line, qr/may not be read|has ended/, $label) if !defined $why;
    my $process = $target eq 'command' ? qr/\Q$^X\E: process \d+/ : qr/process $target{$target}/;
    return like($line, qr/\A$tool: $process may not be read: \Q$REFUSED{$why}\E\z/, $label);
}

my $n = 0;
for my $scope (0 .. 3) {
    spew($YAMA, $scope);
    is(0 + slurp($YAMA), $scope, "scope $scope is set");
    for my $who (qw(user root weak)) {
        my $out = "$dir/$who$scope";
        for my $target ('own', 'roots', $who eq 'user' ? 'allowed' : ()) {
            my $pid = $target{$target};
            check($scope, $who, $target, 'dump', 'dprofdump', $pid);
            check($scope, $who, $target, 'top', 'dproftop', '-n', 1, '-d', 0.3, '--pid', $pid);
            check($scope, $who, $target, 'attach', 'dprofattach', '--for', '0.3s', '-o',
                $out . $target, $pid);
            is(-e $out . $target ? 1 : 0, defined refusal($scope, $who, $target) ? 0 : 1,
                '  its profile');
        }
        check($scope, $who, 'own', 'pause', 'dprofattach', '--pause', '--for', '0.3s', '-o',
            "${out}p", $target{own});
        check($scope, $who, 'command', 'attach', 'dprofattach', '-o', "${out}c", '--', $^X, '-e',
            'my $x; $x += $_ for 1 .. 2e6');
        is(-e "${out}c" ? 1 : 0, defined refusal($scope, $who, 'command') ? 0 : 1, '  its profile');
    }
}
done_testing;
