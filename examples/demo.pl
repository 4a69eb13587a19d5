#!/usr/bin/perl
# What `make demo` runs: profiles examples/logreport.pl with the module just built,
# and shows the report. Everything it writes is in a temporary folder, which goes at the end.
use strict;
use warnings;
use Cwd ();
use File::Basename ();
use File::Temp ();

my $top = Cwd::abs_path(File::Basename::dirname(__FILE__) . '/..');
chdir $top or die "demo: $top: $!\n";
my @blib = ('-Iblib/lib', '-Iblib/arch');
my $dprofpp = 'blib/script/dprofpp';
-e $_ or die "demo: $_ is not there. Run make first.\n" for 'blib/lib/Devel/DProf.pm', $dprofpp;

# Settings of the person's own must not change what is shown here.
delete @ENV{ grep { /^PERL_DPROF_|^DPROFPP_OPTS$|^PERL5DB$|^PERL5OPT$/ } keys %ENV };
$| = 1;
# Interrupted, it still tidies up.
$SIG{$_} = sub { exit 1 } for qw(INT TERM HUP);

my $dir = File::Temp->newdir('dprof-demo-XXXXXX', TMPDIR => 1);
my ($log, $profile) = ("$dir/access.log", "$dir/tmon.out");
$ENV{PERL_DPROF_OUT_FILE_NAME} = $profile;

write_file($log, lines($^X, 'examples/makelog.pl'));

say_("A program that reads 20,000 lines of a web server's log runs under the profiler:");
command('perl -d:DProf examples/logreport.pl access.log');
my @output = lines($^X, @blib, '-d:DProf', 'examples/logreport.pl', $log);
show(@output[0 .. 5], "...\n");
-s $profile or die "demo: the run left no profile.\n";

say_('Where its time went (by default the 15 subs that took most):');
command('dprofpp');
show(lines($^X, @blib, $dprofpp, $profile));

say_('Who called whom, in order (the first lines after start-up; equal lines are counted):');
command('dprofpp -t');
my @tree = lines($^X, @blib, $dprofpp, '-t', $profile);
shift @tree while @tree && $tree[0] !~ /^\s*LogReport::Entry::parse/;
@tree or die "demo: the call tree does not show LogReport::Entry::parse.\n";
splice @tree, 12;
show(@tree, "...\n");

say_("For a program of yours, before anything is installed:\n");
show("perl -I$top/blib/lib -I$top/blib/arch -d:DProf yourprogram.pl\n",
    "perl -I$top/blib/lib -I$top/blib/arch $top/blib/script/dprofpp\n");
say_("After 'make install' it is: perl -d:DProf yourprogram.pl; dprofpp");

sub say_    { print "\n$_[0]\n" }
sub command { print "\n    \$ $_[0]\n" }
sub show    { print map { length > 1 ? "    $_" : $_ } @_ }

# The output of a command, line by line. Its messages go where ours go.
sub lines {
    my @command = @_;
    open(my $fh, '-|', @command) or die "demo: $command[0]: $!\n";
    my @lines = <$fh>;
    close $fh and return @lines;
    print @lines;
    die "demo: this failed ($!): @command\n" if $!;
    die sprintf "demo: this ended with %s: %s\n",
        $? & 127 ? 'signal ' . ($? & 127) : 'status ' . ($? >> 8), "@command";
}

sub write_file {
    my ($name, @lines) = @_;
    open(my $fh, '>', $name) or die "demo: $name: $!\n";
    print $fh @lines;
    close $fh or die "demo: $name: $!\n";
}
