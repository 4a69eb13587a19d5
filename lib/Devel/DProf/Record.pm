package Devel::DProf::Record;

# Runs commands under the recorder, each into a folder of its own.

use strict;
use warnings;

use Exporter 'import';
use Devel::DProf::Core;

our $VERSION = $Devel::DProf::Core::VERSION;
our @EXPORT_OK = qw(include_dirs record_into);

# The folders that a perl of this installation would not search by itself.
sub include_dirs {
    require Config;
    require Cwd;
    my %known = map { $_ => 1 } grep { defined && length } @Config::Config{qw(
        privlibexp archlibexp sitelibexp sitearchexp vendorlibexp vendorarchexp)};
    my $object = "auto/Devel/DProf/DProf.$Config::Config{dlext}";
    my @dirs = ($Devel::DProf::Core::Dir, grep { !ref && (-e "$_/Devel/DProf.pm" || -e "$_/$object") } @INC);
    my %seen;
    return grep { !$known{$_} && !$seen{$_}++ } map { Cwd::abs_path($_) // $_ } grep { -d } @dirs;
}

# Runs a shell command in tree mode, with hash seeds pinned; all its perls write to the folder. Its output goes
# nowhere, or to our standard error. Returns the status of wait, the files, and what it said when it failed.
sub record_into {
    my ($dir, $command, %how) = @_;
    require Config;
    my $separator = $Config::Config{path_sep};
    local $ENV{PERL5LIB} = join $separator, include_dirs(), grep { length } $ENV{PERL5LIB} // '';
    local $ENV{PERL5OPT} = join ' ', grep { length } $ENV{PERL5OPT} // '', '-d:DProf=mode=tree';
    local $ENV{PERL_DPROF_OUT_FILE_NAME} = "$dir/%p.out";
    local $ENV{PERL_HASH_SEED} = 0;
    local $ENV{PERL_PERTURB_KEYS} = 0;
    my $said = "$dir/said";
    defined(my $pid = fork) or return (-1, [], "fork: $!");
    if (!$pid) {
        open STDIN, '<', '/dev/null';
        if ($how{show}) {
            open STDOUT, '>&', \*STDERR;
        } else {
            open STDOUT, '>', '/dev/null';
            open STDERR, '>', $said;
        }
        require POSIX;
        exec { '/bin/sh' } 'sh', '-c', $command or POSIX::_exit(127);
    }
    waitpid $pid, 0;
    my $status = $?;
    my @files = grep { !/\.live\z/ } glob_in($dir, qr/\A\d+\.out/);
    my $text = '';
    if (open my $in, '<:raw', $said) {
        local $/;
        $text = <$in>;
    }
    unlink $said;
    return ($status, [sort @files], $text);
}

sub glob_in {
    my ($dir, $re) = @_;
    opendir my $in, $dir or return;
    return map { "$dir/$_" } grep { $_ =~ $re } readdir $in;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Record - runs commands under the recorder

=head1 DESCRIPTION

For the tools. C<include_dirs> are the folders of this module that perl does not search by itself; C<record_into(DIR, COMMAND, show
=E<gt> BOOL)> runs a command.

=cut
