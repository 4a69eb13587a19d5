#!/usr/bin/perl
# What dprofdump says of processes that it may not read, and that it reads those in other name
# spaces. As root, with setpriv and unshare of util-linux.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t/lib";
use DProfTest;
use File::Temp ();
use Test::More;

plan skip_all => 'this needs root' if $>;
for my $tool (qw(setpriv unshare)) {
    plan skip_all => "there is no $tool" if system("command -v $tool >/dev/null");
}

my @NOBODY = qw(setpriv --reuid 65534 --regid 65534 --clear-groups);
my @WEAK = qw(setpriv --bounding-set -sys_ptrace --inh-caps -sys_ptrace);
my $SLEEP = 'sub hang { $| = 1; print "ready\n"; sleep 100 } hang();';
my $dir = File::Temp->newdir('dprof-rights-XXXXXX', TMPDIR => 1);
chmod 0755, $dir;
system('cp', '-RL', root() . '/blib', "$dir/blib") == 0 or die 'no copy of blib';
my @DUMP = ($^X, "-Mblib=$dir/blib", "$dir/blib/script/dprofdump");

# Starts a command and waits until the perl in it has begun to hang. Returns a handle and its pid.
sub started {
    my (@command) = @_;
    my $pid = open my $from, '-|', @command or die "@command: $!";
    readline $from;
    return { pid => $pid, from => $from };
}

# Returns the process that has a parent, or the process itself.
sub innermost {
    my ($pid) = @_;
    open my $in, '<', "/proc/$pid/task/$pid/children" or return $pid;
    my ($child) = split ' ', readline($in) // '';
    return defined $child ? innermost($child) : $pid;
}

sub ended { my ($run) = @_; kill KILL => innermost($run->{pid}), $run->{pid}; close $run->{from} }

# Runs dprofdump under a command such as setpriv, and compares its message, or what it shows.
sub dump_is {
    my ($pid, $expected, $name, @under) = @_;
    my $got = run_program([@under, @DUMP, $pid]);
    like($got->{err} . $got->{out}, $expected, $name);
    return;
}

my $root = started($^X, '-e', $SLEEP);
my $nobodys = started(@NOBODY, $^X, '-e', $SLEEP);
my $MAY_NOT = qr/\Adprofdump: process \d+ may not be read: /;
my $HANGS = qr/\AProcess \d+ \(perl 5\.\d+\.\d+\) (?:waits|runs) in main::hang at /;
dump_is($root->{pid}, qr/${MAY_NOT}it is another user's; try sudo$/, 'the process of another user',
    @NOBODY);
dump_is($nobodys->{pid}, $HANGS, 'root reads the process of a user');
dump_is($_->{pid}, qr/${MAY_NOT}this container lacks CAP_SYS_PTRACE: .* --cap-add SYS_PTRACE, /,
    'root without the capability', @WEAK) for $root, $nobodys;
my $yama = '/proc/sys/kernel/yama/ptrace_scope';
my $scope = -e $yama ? 0 + slurp($yama) : 0;
dump_is($nobodys->{pid}, $scope ? qr/${MAY_NOT}kernel\.yama\.ptrace_scope is $scope: / : $HANGS,
    'a process of the same user', @NOBODY);
# Filters of containers refuse the call by one of these.
for my $error ('ENOSYS', 'EPERM') {
  SKIP: {
        my @strace = (qw(strace -o /dev/null -e), "inject=process_vm_readv:error=$error");
        skip "strace cannot make process_vm_readv fail", 1 if system("@strace true 2>/dev/null");
        dump_is($nobodys->{pid}, $HANGS, "without process_vm_readv: $error", @strace);
    }
}
ended($_) for $root, $nobodys;

SKIP: {
    skip 'the number of prctl is known for x86-64 only', 1 if `uname -m` !~ /^x86_64/;
    my $hidden = started(@NOBODY, $^X, '-e', "syscall 157, 4, 0, 0, 0, 0; $SLEEP");
    dump_is($hidden->{pid}, qr/${MAY_NOT}it has changed its user, or forbids it by PR_SET_DUMP/,
        'PR_SET_DUMPABLE', @NOBODY);
    dump_is($hidden->{pid}, $HANGS, 'root reads it nevertheless');
    ended($hidden);
}
my $changed = started($^X, '-e', "\$( = \$) = 65534; (\$<, \$>) = (65534, 65534); $SLEEP");
dump_is($changed->{pid}, qr/${MAY_NOT}it has changed its user, or forbids it/,
    'a process that has changed its user', @NOBODY);
ended($changed);

# ---- name spaces, and files that are gone ----

SKIP: {
    skip 'no name spaces can be made here', 2 if system('unshare -p -m -f true 2>/dev/null');
    my $inner = started(qw(unshare -p -m -f --mount-proc), $^X, '-e', $SLEEP);
    dump_is(innermost($inner->{pid}), $HANGS, 'a process in other name spaces of pids and mounts');
    my $got = run_program([@DUMP, '--threads', innermost($inner->{pid})]);
    like($got->{out}, $HANGS, 'its threads, which have other numbers inside');
    ended($inner);
}
system('cp', '-L', $^X, "$dir/perl") == 0 or die 'no copy of perl';
my $gone = started("$dir/perl", map({ "-I$_" } grep { !ref } @INC), '-e', $SLEEP);
unlink "$dir/perl";
dump_is($gone->{pid}, $HANGS, 'a perl whose file was deleted');
ended($gone);
SKIP: {
    my @libs = grep { -e } map { m{(/\S+)} } `ldd $^X`;
    my $failed = grep { system("mkdir -p \$(dirname $dir/root$_) && cp -L $_ $dir/root$_") } $^X,
        @libs;
    skip 'no root folder can be made with this perl', 1
        if $failed || system("mkdir $dir/root/dev && mknod $dir/root/dev/null c 1 3")
        || system('chroot', "$dir/root", $^X, '-e', '0');
    my $in = started('chroot', "$dir/root", $^X, '-e', $SLEEP);
    dump_is($in->{pid}, $HANGS, 'a perl below another root folder');
    ended($in);
}

# ---- what is no perl ----

dump_is(2, qr/\Adprofdump: process 2 has ended, or is the kernel's$/, 'a thread of the kernel')
    if -e '/proc/2/stat' && !readlink '/proc/2/exe';
my $other = started('sh', '-c', 'echo ready; sleep 100; :');
dump_is($other->{pid}, qr/\Adprofdump: process \d+: it runs no perl, or one without symbols; /,
    'another program');
ended($other);
dump_is(2**30, qr/\Adprofdump: there is no process 1073741824$/, 'no process');

done_testing;
