#!/usr/bin/perl
# What `make demo` runs: profiles examples/logreport.pl with the module just built, and shows the
# report, on one screen. With --all, as `make demo-all` runs it: more of that, then the tests of
# examples/Inventory, before and after a change. Everything it writes is in a temporary folder,
# which goes at the end.
use strict;
use warnings;
use Config;
use Cwd ();
use File::Basename ();
use File::Copy ();
use File::Temp ();

my $top = Cwd::abs_path(File::Basename::dirname(__FILE__) . '/..');
chdir $top or die "demo: $top: $!\n";
my @blib = ('-Iblib/lib', '-Iblib/arch');
my $dprofpp = 'blib/script/dprofpp';
-e $_ or die "demo: $_ is not there. Run make first.\n" for 'blib/lib/Devel/DProf.pm', $dprofpp;

# Settings of the person's own must not change what is shown here.
delete @ENV{ grep { /^PERL_DPROF_|^DPROF|^HARNESS_|^PROVE_|^PERL5DB$|^PERL5OPT$/ } keys %ENV };
$| = 1;
# Interrupted, it still tidies up.
$SIG{$_} = sub { exit 1 } for qw(INT TERM HUP);

my $dir = File::Temp->newdir('dprof-demo-XXXXXX', TMPDIR => 1);
my ($log, $profile) = ("$dir/access.log", "$dir/tmon.out");
$ENV{PERL_DPROF_OUT_FILE_NAME} = $profile;

write_file($log, lines($^X, 'examples/makelog.pl'));

if (!grep { $_ eq '--all' } @ARGV) {
    screen();
    exit 0;
}

say_("A program that reads 20,000 lines of a web server's log runs under the profiler:");
command('perl -d:DProf examples/logreport.pl access.log');
my @output = lines($^X, @blib, '-d:DProf', 'examples/logreport.pl', $log);
show(@output[0 .. 5], "...\n");
-s $profile or die "demo: the run left no profile.\n";

say_('Where its time went (by default the 15 subs that took most):');
command('dprofpp');
show(lines($^X, @blib, $dprofpp, '--no-classic', $profile));

say_('Who called whom, in order (the first lines after start-up; equal lines are counted):');
command('dprofpp -t');
my @tree = lines($^X, @blib, $dprofpp, '-t', $profile);
shift @tree while @tree && $tree[0] !~ /^\s*LogReport::Entry::parse/;
@tree or die "demo: the call tree does not show LogReport::Entry::parse.\n";
splice @tree, 12;
show(@tree, "...\n");

# A distribution with a test of its costs; then somebody changes a sub.
my $inventory = "$dir/Inventory";
copy_folder('examples/Inventory', $inventory);
$ENV{PERL5LIB} = join $Config{path_sep}, "$top/blib/lib", "$top/blib/arch", $ENV{PERL5LIB} // ();
$ENV{DPROF_ARTIFACTS} = 'perf';

say_("A distribution tests what its code costs, against a baseline that is committed:");
command('prove -lr t');
my ($status, @said) = prove('-lr', 't');
show(@said);
die "demo: its tests should pass.\n" if $status;

my @change = change("$inventory/any-case.patch");
say_("Codes are to be found as people type them: a17 is A17. What it does is right:");
command('patch -p1 < any-case.patch');
show(@change);
command('prove -l t');
($status, @said) = prove('-l', 't');
show(@said);
die "demo: its tests should pass.\n" if $status;

say_("What it costs is not: each line goes through all that is in stock.");
command('prove -l t/perf');
($status, @said) = prove('-l', 't/perf');
show(grep { /^#|^Result/ } @said);
die "demo: the test of its costs should fail.\n" if !$status || !-s glob "$inventory/perf/*.html";

say_("For a program of yours, before anything is installed:\n");
show("perl -I$top/blib/lib -I$top/blib/arch -d:DProf yourprogram.pl\n",
    "perl -I$top/blib/lib -I$top/blib/arch $top/blib/script/dprofpp\n");
say_("After 'make install' it is: perl -d:DProf yourprogram.pl; dprofpp");

# What fits 24 lines of 80 columns, make's own line and the prompt included.
sub screen {
    lines($^X, @blib, '-d:DProf', 'examples/logreport.pl', $log);
    -s $profile or die "demo: the run left no profile.\n";
    my @report = lines($^X, @blib, $dprofpp, qw(--no-classic -O 7), $profile);   # as on a terminal
    my ($notes) = grep { $report[$_] eq "\n" } 0 .. $#report;
    splice @report, $notes if defined $notes;       # there is no room for them
    say_("A program reads 20,000 lines of a web server's log. Where its time goes:\n");
    show("\$ perl -d:DProf examples/logreport.pl access.log\n", "\$ dprofpp -O 7\n",
        map { length > 76 ? s/^(.{58}).*?(.{16})$/$1..$2/r : $_ } @report);
    print "\nMost calls are by_value, a comparator: percentile sorts the same numbers thrice.\n";
    print "More: make demo-all. A program of yours, from here (after make install, without\n"
        . "the -I and with dprofpp alone):\n";
    show("perl -Iblib/lib -Iblib/arch -d:DProf yourprogram.pl\n",
        "perl -Iblib/lib -Iblib/arch blib/script/dprofpp\n");
    return;
}

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

# What prove says of the distribution's tests, and its status.
sub prove {
    my @command = ($^X, '-MApp::Prove', '-e',
        'my $app = App::Prove->new; $app->process_args(@ARGV); exit !$app->run', '--',
        '--norc', @_);
    my $pid = open(my $fh, '-|') // die "demo: $!\n";
    if (!$pid) {
        chdir $inventory or die "demo: $inventory: $!\n";
        open STDERR, '>&', \*STDOUT or die "demo: $!\n";
        exec @command or die "demo: $command[0]: $!\n";
    }
    my @lines = grep { /\S/ && !/^Files=/ } <$fh>;
    close $fh or !$! or die "demo: $!\n";
    return ($?, @lines);
}

# What patch does with a change of one place: its lines.
sub change {
    my ($patch) = @_;
    my $text = join '', read_file($patch);
    my ($name, $lines) = $text =~ m{^\+\+\+ b/(\S+)\n@@[^\n]*\n(.*)}ms
        or die "demo: $patch: not a change.\n";
    my $old = join '', map { s/^.//r } grep { !/^\+/ } $lines =~ /^.*\n/mg;
    my $new = join '', map { s/^.//r } grep { !/^-/ } $lines =~ /^.*\n/mg;
    my $before = join '', read_file("$inventory/$name");
    my $after = $before =~ s/\Q$old/$new/r;
    die "demo: $patch does not go with $name.\n" if $after eq $before;
    write_file("$inventory/$name", $after);
    return $lines =~ /^[-+].*\n/mg;
}

sub copy_folder {
    my ($from, $to) = @_;
    mkdir $to or die "demo: $to: $!\n";
    opendir(my $dh, $from) or die "demo: $from: $!\n";
    for my $name (grep { !/^\./ } readdir $dh) {
        if (-d "$from/$name") { copy_folder("$from/$name", "$to/$name") }
        else { File::Copy::copy("$from/$name", "$to/$name") or die "demo: $to/$name: $!\n" }
    }
    return;
}

sub read_file {
    my ($name) = @_;
    open(my $fh, '<', $name) or die "demo: $name: $!\n";
    return <$fh>;
}

sub write_file {
    my ($name, @lines) = @_;
    open(my $fh, '>', $name) or die "demo: $name: $!\n";
    print $fh @lines;
    close $fh or die "demo: $name: $!\n";
}
