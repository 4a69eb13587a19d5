package TestEnvironment;

# Each test loads this first, through DProfTest or itself, so that a user's shell, language and
# settings do not matter. Perl reads some of them before the first line of a test runs (layers of
# PERL_UNICODE, modules of PERL5OPT); in that case perl starts again.

use strict;
use warnings;
use POSIX ();

# These are variables of perl and of the profiler; PERL5LIB stays, since prove puts blib there.
# DPROF_SEED and the like are for tests.
my $SETTINGS =
    qr/^(?:LANG|LANGUAGE|LC_.*|TZ
           |PERL5OPT|PERL5DB|PERLDB_OPTS|PERLIO
           |PERL_(?:UNICODE|SIGNALS|HASH_SEED|PERTURB_KEYS|DPROF_.*)
           |DPROF[A-Z]+_OPTS|DPROF_(?:PAGER|ARTIFACTS|UPDATE_BASELINES)|DPROFLIST_SYSFS|PERF_CPUID
           |PAGER|LESS|COLUMNS|NO_COLOR)\z/x;
my $TAKEN_UP = qr/^PERL/;

# If it is closed, the first file that a test opens would be the standard input of the programs that
# it runs.
open STDIN, '<', '/dev/null' if !defined fileno STDIN;
# A background job of a shell has some signals ignored, and so has everything it starts.
$SIG{$_} = 'DEFAULT'
    for grep { ($SIG{$_} // '') eq 'IGNORE' }
    qw(INT QUIT HUP PIPE TERM USR1 USR2 ALRM CHLD TTIN TTOU);
umask 022;
my @set = grep { /$SETTINGS/ && !(/^LC_ALL\z/ && $ENV{$_} eq 'C') } sort keys %ENV;
delete @ENV{@set};
# Tests compare names below the temporary folder as profiles and messages write them, with some
# characters escaped: its own name must have none of these.
delete $ENV{TMPDIR} if ($ENV{TMPDIR} // '') !~ m{\A[\w./+~-]*\z}a;
$ENV{LC_ALL} = 'C';
POSIX::setlocale(POSIX::LC_ALL(), 'C');
if (grep { /$TAKEN_UP/ } @set) {
    exec $^X, (map { "-I$_" } grep { !ref } @INC), $0, @ARGV or die "$^X: $!\n";
}

# Returns the number of random rounds: few for users, all under EXTENDED_TESTING. .ci/run asks for
# all.
sub rounds { my ($few, $all) = @_; return $ENV{EXTENDED_TESTING} ? $all : $few }

# Skips a file, a subtest, or the SKIP block around it that CPAN's users need not wait for.
my $LONG = 'it takes long: EXTENDED_TESTING=1 runs it';
# Skips the whole test file unless EXTENDED_TESTING is set.
sub skip_long { Test::More::plan(skip_all => $LONG) if !$ENV{EXTENDED_TESTING}; return }
# Skips a block of tests unless EXTENDED_TESTING is set.
sub skip_long_block { Test::More::skip($LONG, 1) if !$ENV{EXTENDED_TESTING}; return }

# Returns every n-th of many cases of one kind, beginning with the first, or all of them.
sub sample {
    my ($n, @all) = @_;
    return $ENV{EXTENDED_TESTING} ? @all : @all[grep { $_ % $n == 0 } 0 .. $#all];
}

1;
