#!/usr/bin/perl
# Are the shares of perltidy's dearest subs true? Compares those of dprof attach and of sample= with
# the kernel's own samples of runs that have no profiler.
#
#   perl Makefile.PL && make
#   perl xt/attach-kernel.pl [--runs N] [--rate HZ] [--source FILE]
#
# A tree of the recorder is no truth for shares: its cost per call makes subs that are called often
# look dearer than they are. Here a BPF program runs in the kernel's timer interrupt, 997 times a
# second of each processor's time, while perltidy stands still. It walks the context stack from the
# interpreter on to the innermost sub, and counts the sub's address. perltidy itself only writes the
# addresses of its subs to a file when it ends. What this sampler shares with ours are the offsets
# of fields, which are those of perl's headers.
#
# Each side runs N times (10), in turns. Shares are those among all named subs of perltidy: code
# outside of them differs in its names only. What XS subs and builtins take counts for the sub that
# called them. The difference of two means must be within 3 sigma, or what Student's distribution
# has in their place. Needs root, perltidy, bpftrace and a perl with threads. Exit status 0: all
# are within.
use strict;
use warnings;
use FindBin;
use lib map { "$FindBin::Bin/$_" } qw(../t/lib ../blib/lib ../blib/arch);
use Config;
use DynaLoader ();
use Getopt::Long;
use List::Util qw(sum0);
use DProfTest;
use Devel::DProf::Live::Target;

use constant { HZ => 997, DEAREST => 10, SIGMA => 3, MOST_CONTEXTS => 24 };
my ($runs, $rate, $source) = (10, 500, '/usr/share/perl5/Perl/Tidy.pm');
GetOptions('runs=i' => \$runs, 'rate=i' => \$rate, 'source=s' => \$source) or exit 2;
$| = 1;

for my $missing ($> ? 'root' : (), $Config{useithreads} ? () : 'a perl with threads',
    map({ -x "/usr/bin/$_" ? () : $_ } qw(bpftrace perltidy setarch))) {
    print "skip   this needs $missing\n";
    exit 0;
}

my $dir = scratch();
my @PLAIN = ('setarch', '-R', $^X);         # the same addresses in each run
my @TIDY = ('/usr/bin/perltidy', '-npro', '-st', $source);

# Marks the program for the kernel's sampler, and writes the address and name of each sub.
spew("$dir/Subs.pm", <<'END');
package Subs;
open my $comm, '>', '/proc/self/comm' or die;
print $comm 'ptidy';
close $comm;
sub walk {
    my ($package, $to) = @_;
    for my $name (keys %{"${package}::"}) {
        if ($name =~ s/::\z//) { walk("${package}::$name", $to); next }
        defined &{"${package}::$name"} or next;
        my $code = \&{"${package}::$name"};
        my $gv = B::svref_2object($code)->GV;
        print $to 0 + $code, ' ', $gv->STASH->NAME, '::', $gv->NAME, "\n";
    }
}
END { require B; open my $to, '>', $ENV{SUBS} or die; walk('Perl::Tidy', $to) }
1;
END

# ---- the kernel's samples ----

sub bpf_program {
    my ($at) = Devel::DProf::Live::Target::_layouts();
    my $show = 'printf "%d", DynaLoader::dl_find_symbol(DynaLoader::dl_load_file(""), shift)';
    my $first = qx{@PLAIN -MDynaLoader -e '$show' PL_curinterp};
    return <<"END";
profile:hz:@{[HZ]} /comm == "ptidy"/ {
    \$in = *(uint64*)uptr((uint64)$first);
    if (\$in != 0) {
        \$info = *(uint64*)uptr(\$in + $at->{curstackinfo});
        \$i = (int64)*(int32*)uptr(\$info + $at->{si_cxix});
        \$cv = (uint64)0;
        \$over = 0;
        unroll(@{[MOST_CONTEXTS]}) {
            if (\$over == 0) {
                if (\$i < 0) {
                    \$info = *(uint64*)uptr(\$info + $at->{si_prev});
                    if (\$info == 0) { \$over = 1 }
                    else { \$i = (int64)*(int32*)uptr(\$info + $at->{si_cxix}) }
                } else {
                    \$all = *(uint64*)uptr(\$info + $at->{si_cxstack});
                    \$cx = \$all + (uint64)\$i * $at->{cx_size};
                    if ((*(uint8*)uptr(\$cx + $at->{cx_type}) & 15) == $at->{CXt_SUB}) {
                        \$cv = *(uint64*)uptr(\$cx + $at->{cx_cv});
                        \$over = 1
                    }
                    else { \$i = \$i - 1 }
                }
            }
        }
        @[\$cv] = count();
    }
}
END
}

# Runs perltidy alone. Returns the kernel's samples of each sub.
sub of_kernel {
    my ($n) = @_;
    my $command = "env SUBS=$dir/subs.$n @PLAIN -I$dir -MSubs @TIDY";
    my $run = run_program(['bpftrace', "$dir/program.bt", '-c',
        "/bin/sh " . spew("$dir/run.sh", "exec $command >/dev/null\n")],
        env => { PERL_HASH_SEED => 0 }, limit => 600);
    my %name = map { split } split /\n/, slurp("$dir/subs.$n");
    my %samples;
    while ($run->{out} =~ /^\@\[(\d+)\]: (\d+)$/gm) {
        $samples{ $name{$1} } += $2 if $name{$1};
    }
    die "bpftrace: $run->{err}$run->{out}" if !%samples;
    return \%samples;
}

# ---- our samples ----

# Returns the CPU time of each sub, with that of builtins that it called.
sub of_profile {
    my @command = @_;
    my $run = run_program(\@command, env => { PERL_HASH_SEED => 0 }, limit => 600);
    my $folded = run_tool('dproffold', ["$run->{dir}/tmon.out"]);
    my %time;
    for (split /\n/, $folded->{out}) {
        my ($stack, $value) = /\A(.*) (\d+)\z/ or next;
        my @frames = split /;/, $stack;
        pop @frames while @frames && $frames[-1] =~ /\ACORE:/;
        $time{ $frames[-1] } += $value if @frames;
    }
    die "@command: $run->{err}" if !%time;
    return \%time;
}

my %how = (
    kernel => \&of_kernel,
    attach => sub {
        of_profile(tool_command('dprofattach', '--rate', $rate, '--', $^X, @TIDY));
    },
    sample => sub { of_profile($^X, '-I' . tree(), "-d:DProf=sample=$rate", @TIDY) },
);

# ---- comparison ----

# Turns what subs have into shares of all named subs of perltidy.
sub shares {
    my ($of) = @_;
    my @subs = grep { /\APerl::Tidy::/ && !/::(?:BEGIN|__ANON__|import)\b/ } keys %$of;
    my $all = sum0(@$of{@subs});
    return { map { $_ => $of->{$_} / $all } @subs };
}

# Returns the mean of a sub's shares, and the variance of that mean.
sub mean_of {
    my ($shares, $sub) = @_;
    my @values = map { $_->{$sub} // 0 } @$shares;
    my $mean = sum0(@values) / @values;
    return ($mean, sum0(map { ($_ - $mean)**2 } @values) / (@values - 1) / @values);
}

spew("$dir/program.bt", bpf_program());
my %side;
for my $n (1 .. $runs) {
    push @{ $side{$_} }, shares($how{$_}->($n)) for $n % 2 ? qw(kernel attach sample)
                                                           : qw(sample attach kernel);
}
my %true = map { $_ => (mean_of($side{kernel}, $_))[0] } map { keys %$_ } @{ $side{kernel} };
my $free = 2 * ($runs - 1);
# The expansion of Student's quantile in that of the normal distribution.
my $most = SIGMA + (SIGMA**3 + SIGMA) / (4 * $free)
    + (5 * SIGMA**5 + 16 * SIGMA**3 + 3 * SIGMA) / (96 * $free**2);
my $failed = 0;
printf "%d runs of each side; at most %.2f sigma\n", $runs, $most;
for my $sub ((sort { $true{$b} <=> $true{$a} || $a cmp $b } keys %true)[0 .. DEAREST - 1]) {
    my ($true, $variance) = mean_of($side{kernel}, $sub);
    my $row = '';
    my $good = 1;
    for my $way (qw(attach sample)) {
        my ($mean, $its) = mean_of($side{$way}, $sub);
        my $z = ($mean - $true) / sqrt($variance + $its);
        $good &&= abs $z <= $most;
        $row .= sprintf ", %s %.2f %% (%+.1f sigma)", $way, 100 * $mean, $z;
    }
    printf "%s%s: kernel %.2f +- %.2f %%%s\n", $good ? 'ok     ' : 'NOT OK ', $sub, 100 * $true,
        100 * sqrt $variance, $row;
    $failed ||= !$good;
}
exit $failed;
