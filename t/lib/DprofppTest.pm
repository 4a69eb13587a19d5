package DprofppTest;

use strict;
use warnings;
use TestEnvironment;
use Cwd 'abs_path';
use File::Basename 'dirname';
use File::Temp ();
use Exporter 'import';
use POSIX ();
use Devel::DProf::Tool::Dprofpp;

our @EXPORT = qw(dprofpp slurp spew data tempdir);

my $root = abs_path(dirname(__FILE__) . '/../..');
my $dir;

sub tempdir { $dir //= File::Temp->newdir }
sub data { "$root/t/data/$_[0]" }

sub slurp { my ($file) = @_; local $/; open my $in, '<:raw', $file or die "$file: $!"; scalar <$in> }

sub spew {
    my ($name, @text) = @_;
    my $file = $name =~ m{/} ? $name : tempdir() . "/$name";
    open my $out, '>:raw', $file or die "$file: $!";
    print $out @text;
    close $out or die "$file: $!";
    return $file;
}

# Runs it: (stdout, stderr, exit status). A hash first: environment, cwd, stdin; exec: in a perl of its own.
sub dprofpp {
    my %how = ref $_[0] ? %{ +shift } : ();
    my @args = @_;
    my ($out, $err) = map { tempdir() . "/$_" } qw(stdout stderr);
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        delete @ENV{qw(DPROFPP_OPTS PERL_DPROF_OUT_FILE_NAME COLUMNS)};
        %ENV = (%ENV, %{ $how{env} || {} });
        chdir $how{cwd} or die if $how{cwd};
        open STDIN, '<', $how{stdin} // '/dev/null' or die;
        open STDOUT, '>', $out or die;
        open STDERR, '>', $err or die;
        # without a new perl: it has been loaded
        if (!$how{exec} && !grep { /^-(?:p|H)/ } @args) {
            my $status = Devel::DProf::Tool::Dprofpp::main(@args);
            close STDOUT;
            POSIX::_exit($status);
        }
        exec $^X, (map { "-I$root/blib/$_" } qw(lib arch)), "$root/bin/dprofpp", @args;
        die;
    }
    waitpid $pid, 0;
    return (slurp($out), slurp($err), $? & 127 ? "signal $?" : $? >> 8);
}

1;
