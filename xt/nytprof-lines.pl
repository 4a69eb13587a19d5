#!/usr/bin/perl
# Compares how often each line ran by Devel::NYTProf and by -d:DProf=tree,lines=count: the same
# program runs under both, with pinned hash seeds.
#
#   perl xt/nytprof-lines.pl                            five programs that are installed here
#   perl xt/nytprof-lines.pl [-v] PROGRAM ARGUMENT...   any one
#   perl xt/nytprof-lines.pl [-v] -- -MPod::Text -e 'Pod::Text->new->parse_file(shift)' x.pod
#   -v          lists each line whose counts differ, not only those that are not explained
#   --keep DIR  keeps the profiles there
#
# Compared are the counts of statements of each line, from the first line that is compiled to the
# last END block. The two profilers name some things in their own ways, so names are made alike:
# relative paths are made absolute, (eval N) of all numbers are one, files of AutoSplit are the
# module's, and line 0 (of perl's -M) is line 1. Modules that one of the profilers loads for itself
# are left out: they ran before it recorded.
#
# Where counts differ, the reason is one of these:
#   one-statement block   perl removes the mark of a statement that is alone in its block, and
#                         NYTProf counts marks. There are more here than by NYTProf, and perl's own
#                         ops (B) show that such a mark was removed on the line. A third run, with
#                         NYTProf's optimize=0, in which perl removes none of these, tells whether
#                         the number is right: "confirmed" are lines on which it is the same. On
#                         others NYTProf counts some statements twice then, or the line has a
#                         condition of elsif, too.
#   condition of elsif    the same with the mark of a condition, which optimize=0 does not keep
#   not looked up         more here than by NYTProf, in code that was a string or that does not
#                         compile alone, so that B cannot look at it
#   differs by itself     a second run of -d:DProf has another count than the first one
#   unexplained           anything else; such lines are always listed
#
# Exit status: 0 if all differences are explained, 1 if some are not or a program does not run alike
# under both, 2 for a mistake in the command line.
use strict;
use warnings;
use Cwd 'getcwd';
use File::Temp 'tempdir';
use FindBin;
use Getopt::Long;
use lib "$FindBin::Bin/../t/lib", "$FindBin::Bin/../blib/lib", "$FindBin::Bin/../blib/arch";
use LineReader;

my $root = "$FindBin::Bin/..";
my @classes = ('one-statement block', 'condition of elsif', 'not looked up', 'differs by itself',
    'unexplained');
Getopt::Long::Configure('require_order');
GetOptions('v|verbose' => \my $verbose, 'keep=s' => \my $keep) or exit 2;
eval { require Devel::NYTProf::Data; 1 }
    or die "Devel::NYTProf is not installed (Debian: libdevel-nytprof-perl)\n";
delete @ENV{ grep { /^(?:PERL_DPROF|NYTPROF|PERL5OPT\z|PERL5DB\z)/ } keys %ENV };
@ENV{qw(PERL_HASH_SEED PERL_PERTURB_KEYS)} = (0, 0);
my $dir = $keep // tempdir(CLEANUP => 1);
-d $dir or mkdir $dir or die "$dir: $!\n";

sub installed {
    my ($lib) = grep { -e "$_/CPAN.pm" } @INC;
    my ($func) = grep { -e } map { ("$_/perlfunc.pod", "$_/pod/perlfunc.pod") } @INC;
    my %path;
    for my $tool (qw(perltidy pod2text perlcritic exiftool ack json_pp tpage podchecker)) {
        ($path{$tool}) = grep { -x } map { "$_/$tool" } split /:/, $ENV{PATH};
    }
    my @all = (['perltidy', '-st', "$lib/CPAN.pm"], ['pod2text', $func // "$lib/CPAN.pm"],
        ['perlcritic', '--brutal', '--noprofile', "$lib/Test/More.pm"],
        ['exiftool', '-a', '-G1', '--FileAccessDate', '/usr/share/pixmaps', '/usr/share/icons'],
        ['ack', '--noenv', '--nocolor', 'sub\s+\w+', "$lib/CPAN"],
        ['podchecker', "$lib/CPAN.pm"]);
    my @there = map { [$path{ $_->[0] }, @$_[1 .. $#$_]] } grep { defined $path{ $_->[0] } } @all;
    return @there[0 .. ($#there < 4 ? $#there : 4)];
}

# ---- running ----

my $runs = 0;

# Runs perl with these options before the program: [status, output, file of errors].
sub run_perl {
    my ($env, @args) = @_;
    my ($out, $err) = map { "$dir/" . ++$runs . $_ } '.out', '.err';
    # Both have as many variables, for programs that look at all of them.
    local @ENV{qw(NYTPROF PERL_DPROF_OUT)} = ('file=/dev/null', "$dir/unused");
    local @ENV{ keys %$env } = values %$env;
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', $out;
        open STDERR, '>', $err;
        exec $^X, (map { "-I$root/$_" } qw(blib/lib blib/arch xt/lib)), @args or exit 127;
    }
    waitpid $pid, 0;
    my $text = do { local (@ARGV, $/) = $out; <> };
    unlink $out;
    return { status => $?, out => $text // '', err => $err };
}

sub last_line {
    my ($file) = @_;
    my @lines = do { local @ARGV = $file; <> };
    return $lines[-1] // "nothing\n";
}

my $here = getcwd();
# Returns lines and files under names that both profilers share.
sub shared_name {
    my ($file) = @_;
    $file =~ s/\A\(eval [0-9]+\)(?:\[.*\])?\z/(eval)/s;
    if ($file =~ m{\Ablib/lib/(\S+\.pm) \(autosplit into }) {
        my $module = $1;
        my ($found) = grep { -e } map { "$_/$module" } @INC;
        return $found // $file;
    }
    $file = "$here/$file" if $file !~ m{\A(?:/|\(eval\)|-)};
    1 while $file =~ s{/\./}{/};
    return $file;
}

sub add {
    my ($counts, $file, $line, $count) = @_;
    $counts->{ shared_name($file) }{ $line || 1 } += $count if $count;
}

sub by_nytprof {
    my ($optimize, @program) = @_;
    my $file = "$dir/nytprof." . ++$runs;
    my $run = run_perl({ NYTPROF => "file=$file:optimize=$optimize:subs=0:slowops=0:blocks=0"
        . ':savesrc=0' },
        '-d:NYTProf', '-MStopAtEnd', @program);
    open my $stdout, '>&', \*STDOUT or die $!;
    open STDOUT, '>', '/dev/null' or die $!;
    my $data = eval { Devel::NYTProf::Data->new({ filename => $file, quiet => 1,
        skip_collapse_evals => 1 }) };
    open STDOUT, '>&', $stdout or die $!;
    die "NYTProf left no profile; the program said: ", last_line($run->{err}) if !$data;
    my %counts;
    for my $info ($data->all_fileinfos) {
        my $lines = $info->line_time_data(['line']) or next;
        add(\%counts, $info->filename, $_, ($lines->[$_] || [])->[1]) for 0 .. $#$lines;
    }
    return ($run, \%counts);
}

sub by_dprof {
    my (@program) = @_;
    my $file = "$dir/dprof." . ++$runs;
    my $run = run_perl({ PERL_DPROF_OUT => $file }, '-d:DProf=tree,lines=count', '-MStopAtEnd',
        @program);
    my $got = LineReader::read_file($file);
    die "-d:DProf: $_; the program said: ", last_line($run->{err})
        for LineReader::problems($got);
    my %counts;
    for my $at (keys %{ $got->{count} }) {
        my ($name, $line) = $at =~ /\A(.*):([0-9]+)\z/s;
        add(\%counts, $name =~ s/%([0-9a-fA-F]{2})/chr hex $1/ger, $line, $got->{count}{$at});
    }
    return ($run, \%counts);
}

# Returns files that the profilers load for themselves.
sub of_profilers {
    my $show = 'print map { "$_\n" } values %INC';
    my $env = { NYTPROF => "file=$dir/none:start=no", PERL_DPROF_OUT => "$dir/none" };
    my @out = map { run_perl($env, $_, '-MStopAtEnd', '-e', $show)->{out} }
        '-d:NYTProf', '-d:DProf=tree';
    return map { $_ => 1 } map { split /\n/ } @out;
}

# ---- comparing ----

my %removed;
# Returns marks that perl has removed in a file: by line, in blocks and in conditions. "none" where
# it does not compile alone.
sub removed {
    my ($file) = @_;
    return $removed{$file} //= do {
        my ($to, %lines) = "$dir/marks." . ++$runs;
        if (-f $file && run_perl({}, "-MMarks=$to", '-c', $file)->{status} == 0) {
            open my $in, '<', $to or die "$to: $!\n";
            %lines = map { my ($line, @of) = split; ($line => \@of) } <$in>;
        } else {
            %lines = (none => 1);
        }
        \%lines;
    };
}

sub class_of {
    my ($file, $line, $theirs, $ours, $again) = @_;
    return 'differs by itself' if $ours != $again;
    return 'unexplained' if $ours < $theirs;
    return 'not looked up' if $file =~ /\A(?:\(eval|-)/;
    my $removed = removed($file);
    return 'not looked up' if $removed->{none};
    my ($blocks, $conditions) = @{ $removed->{$line} || [0, 0] };
    return $blocks ? 'one-statement block' : $conditions ? 'condition of elsif' : 'unexplained';
}

sub compare {
    my (@program) = @_;
    my ($theirs, $nytprof) = by_nytprof(1, @program);
    my (undef, $unoptimized) = by_nytprof(0, @program);
    my ($ours, $dprof) = by_dprof(@program);
    my (undef, $again) = by_dprof(@program);
    my $alike = $theirs->{status} == $ours->{status} && $theirs->{out} eq $ours->{out};
    my %own = of_profilers();
    my (%lines, %counts, %confirmed, @told, $all, $equal);
    for my $file (sort keys %{ { %$nytprof, %$dprof } }) {
        next if $own{$file};
        my ($n, $d, $second, $all_marks)
            = map { $_->{$file} || {} } $nytprof, $dprof, $again, $unoptimized;
        for my $line (sort { $a <=> $b } keys %{ { %$n, %$d } }) {
            my @count = map { $_->{$line} // 0 } $n, $d, $second;
            $all++;
            $equal++, next if $count[0] == $count[1];
            my $class = class_of($file, $line, @count);
            $lines{$class}++;
            $counts{$class} += abs($count[1] - $count[0]);
            my $confirming = $all_marks->{$line} // 0;
            $confirmed{$class}++ if $count[1] == $confirming;
            push @told, "  $class: $file:$line NYTProf $count[0], with optimize=0 $confirming,"
                . " DProf $count[1]\n"
                if $verbose || $class eq 'unexplained';
        }
    }
    printf "%s: %d lines, %d equal\n", join(' ', @program), $all // 0, $equal // 0;
    printf "  %-20s %6d lines %10d statements%s\n", $_, $lines{$_}, $counts{$_},
        $confirmed{$_} ? ", $confirmed{$_} lines confirmed" : ''
        for grep { $lines{$_} } @classes;
    print @told;
    print "  the program's output or status is not the same under both\n" if !$alike;
    return $alike && !$lines{unexplained};
}

my @programs = @ARGV ? [@ARGV] : installed();
@programs or die "none of the programs is installed; name one\n";
my $bad = 0;
for my $program (@programs) {
    my $good = eval { compare(@$program) } // do { print "@$program: $@"; 0 };
    $bad ||= !$good;
}
exit($bad ? 1 : 0);
