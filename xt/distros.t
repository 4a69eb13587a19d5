# Own test suites of other people's distributions, each test file plain and under
# PERL5OPT=-d:DProf: the same TAP, the same status, a profile without a flaw.
#
# The sources come from `apt-get source`, into DPROF_DISTROS (kept) or a directory of
# the test's own. DPROF_DISTRO_LIST: other source packages than the three below.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t/lib";
use Test::More;
use DProfTest;
use File::Find 'find';

my @packages = split ' ', $ENV{DPROF_DISTRO_LIST} // 'libtry-tiny-perl libmoo-perl libtype-tiny-perl';
my $base = $ENV{DPROF_DISTROS} // scratch();
my $limit = 5_000_000;          # bytes of profile that are read back

# The unpacked source of a package, or undef.
sub source {
    my $package = shift;
    my $dir = "$base/$package";
    if (!-d $dir) {
        mkdir $dir or die "$dir: $!\n";
        my $run = run_program(['apt-get', 'source', '-q', $package], dir => $dir, limit => 600);
        diag "$package: $run->{err}" if $run->{raw};
    }
    my ($found) = grep { -d "$_/t" } glob "$dir/*";
    return $found;
}

# What may differ from run to run in TAP: addresses, times, process numbers, seeds.
sub steady {
    my $text = shift;
    $text =~ s/\(0x[0-9a-f]+\)/(ADDRESS)/g;
    $text =~ s/\b0x[0-9a-f]{6,}\b/ADDRESS/g;
    $text =~ s{/tmp/\w+}{TMP}g;
    $text =~ s/\b\d+\.\d+(?:e-\d+)? ?(?:wall|s\b|seconds)/TIME/g;
    return $text;
}

for my $package (@packages) {
    subtest $package => sub {
        my $dir = source($package) or plan skip_all => "no source of $package: apt-get source needs deb-src lines";
        my @tests;
        find({ no_chdir => 1, wanted => sub { push @tests, $_ if /\.t$/ && -f } }, "$dir/t");
        my ($same, $cut) = (0, 0);
        for my $file (sort @tests) {
            my $name = $file =~ s{^\Q$dir\E/}{}r;
            my $switches = slurp($file) =~ /\A#!.*perl.*\s(-\w*[tT]\w*)/ ? $1 : undef;
            my @args = ($switches // (), '-Ilib', '-It/lib', '-I.', $name);
            my %env = (PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0);
            my $plain = run_program([$^X, @args], dir => $dir, env => \%env);
            my $out = scratch() . '/prof';
            my $run = run_program([$^X, @args], dir => $dir, env => { %env, profiler_env(), PERL_DPROF_OUT_FILE_NAME => $out });
            $_->{out} = steady($_->{out}), $_->{err} = '' for $plain, $run;
            my $diff = same_as_plain($plain, $run);
            # -T keeps our name for the file out.
            $diff ||= 'no profile' unless -e $out || $switches || -e "$dir/tmon.out";
            unlink glob "$dir/tmon.out*";
            if (!$diff && -e $out && -s $out < $limit) {
                my $got = read_profile($out, events => 0);
                my $killed = $run->{signal};
                $diff = join "\n", $got->problems;
                $cut++ unless $got->complete;
            }
            unlink glob "$out*";
            is($diff, '', $name) if $diff;
            $same++ unless $diff;
        }
        is($same, scalar @tests, "$package: " . @tests . ' test files, all as plain');
        is($cut, 0, 'all profiles complete');
    };
}

done_testing;
