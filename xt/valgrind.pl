#!/usr/bin/perl

# Runs the programs in t/scripts under valgrind's memcheck, profiled: no error and no leak may be
# the recorder's.
#
#   perl xt/valgrind.pl [--mode trace|tree|both|slices|samples] [--perl PATH] [--options LIST]
#                       [--jobs N] [--work DIR] [--timeout S] [programs...]
#
# Needs a built tree (make) and valgrind. Without names: t/scripts/*/*.pl. Without --mode: both.
#
# An error is the recorder's if its code did it, or a function of perl's that it called; errors of
# ops that the hooks wrap are perl's own, and so are its leaks. First the script tests itself on a
# copy of the module that reads freed memory and loses some.

use strict;
use warnings;
use Cwd 'abs_path';
use File::Basename qw(basename dirname);
use File::Path qw(make_path remove_tree);
use File::Temp 'tempdir';
use Getopt::Long;
use POSIX ();

my $top;
BEGIN { $top = abs_path(dirname(__FILE__) . '/..') }
use lib "$top/xt/lib";
use Proof qw(module_for flaws modes recording profiles_in);

my %opt = (mode => 'both', perl => $^X, jobs => 1, timeout => 300);
GetOptions(\%opt, qw(mode=s perl=s options=s jobs=i work=s timeout=i)) or die "see the top of $0\n";
($opt{perl}) = grep { -x } map { "$_/$opt{perl}" } split /:/, $ENV{PATH} unless $opt{perl} =~ m{/};
die "xt/valgrind.pl: there is no such perl\n" unless defined $opt{perl};
system('valgrind --version >/dev/null 2>&1') == 0 or die "xt/valgrind.pl: there is no valgrind\n";
$| = 1;
my $work = $opt{work} ? do { make_path($opt{work}); abs_path($opt{work}) }
                      : tempdir('dprof-valgrind-XXXX', TMPDIR => 1, CLEANUP => 1);
my @programs = map { abs_path($_) } @ARGV ? @ARGV : sort glob "$top/t/scripts/*/*.pl";

exit 1 unless tries_itself();
my $inc = module_for($opt{perl}, $work);
my @modes = modes($opt{mode}, qw(slices samples));
my @todo = map { my $program = $_; map { [$program, $_] } @modes } @programs;
my ($bad, %running) = (0);
while (@todo || %running) {
    if (@todo && keys %running < $opt{jobs}) {
        my $next = shift @todo;
        my $pid = fork // die "fork: $!\n";
        if (!$pid) { POSIX::_exit(one($inc, @$next) ? 1 : 0) }
        $running{$pid} = 1;
        next;
    }
    my $pid = wait;
    $bad++ if delete $running{$pid} && $?;
}
printf "%d programs, %s: %d with errors\n", scalar @programs,
    join(' and ', @modes), $bad;
exit($bad ? 1 : 0);

# Runs one program in one mode. Prints what is wrong, and returns it.
sub one {
    my ($with, $program, $mode) = @_;
    my @wrong = run($with, $program, $mode);
    print '', (@wrong ? 'NOT OK ' : 'ok     '), $program =~ s{.*/t/scripts/}{}r, " ($mode)\n",
        map { s/^/    /mgr . "\n" } @wrong;
    return @wrong;
}

# mode '' is plain, and returns its status.
sub run {
    my ($with, $program, $mode) = @_;
    my $box = "$work/box.$$" . ($mode ? '' : '.plain');
    remove_tree($box);
    make_path($box);
    my ($head) = slurp($program) =~ /\A((?:#.*\n)*)/;
    my %say = $head =~ /^# (\w+): (.*?)\s*$/mg;
    for ($head =~ /^# needs: (\S+)/mg, map { "v$_" } $head =~ /^# perl: (\S+)/mg) {
        return if system("'$opt{perl}' -e 'require $_' >/dev/null 2>&1");
    }
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        chdir $box;
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', "$box/out";
        open STDERR, '>', "$box/err";
        delete @ENV{qw(PERL5OPT PERL5LIB)};
        $ENV{EXPECT} = "$box/expect";
        $ENV{PERL_DESTRUCT_LEVEL} = 2;
        $ENV{$1} = $2 while ($say{env} // '') =~ /(\w+)=(\S*)/g;
        my $options = recording($mode, $box, $opt{options});
        setpgrp;
        exec qw(valgrind -q --log-file=/dev/null --fair-sched=yes), $opt{perl},
            split(' ', $say{switches} // ''), $program, split ' ', $say{args} // ''
            if !$mode;
        exec qw(valgrind -q --xml=yes --leak-check=full --show-leak-kinds=definite --num-callers=60
                --fair-sched=yes --child-silent-after-fork=no), "--xml-file=$box/xml.%p",
            $opt{perl}, "-I$with", "-d:DProf=$options", split(' ', $say{switches} // ''), $program,
            split ' ', $say{args} // '';
    }
    my $late;
    local $SIG{ALRM} = sub { $late = 1; kill KILL => -$pid };
    alarm $opt{timeout};
    1 until waitpid($pid, 0) == $pid;
    my $status = $?;
    alarm 0;
    kill KILL => -$pid;
    return $status if !$mode;
    my @wrong = $late ? 'did not end in time' : ();
    # So slow, some programs end in this way without the profiler, too.
    push @wrong, 'signal ' . ($status & 127)
        if $status & 127 && !$late && run($with, $program, '') != $status;
    my @found = glob "$box/xml.*";
    push @wrong, map { errors($_) } @found;
    push @wrong, 'valgrind wrote nothing' unless @found;
    my @profiles = profiles_in($box);
    push @wrong, 'no profile' unless @profiles || $late;
    for my $profile (@profiles) {
        push @wrong, map { basename($profile) . ": $_" } -z $profile ? 'empty' : flaws($profile);
    }
    remove_tree($box) unless @wrong;
    return @wrong;
}

sub slurp {
    my ($path) = @_;
    open my $in, '<:raw', $path or return '';
    local $/;
    return scalar <$in>;
}

# Returns the errors of one process that are the recorder's, each once, with the upper part of the
# stack.
sub errors {
    my ($path) = @_;
    my (%seen, @wrong);
    for my $error (slurp($path) =~ m{<error>(.*?)</error>}sg) {
        my ($kind) = $error =~ m{<kind>(.*?)</kind>};
        my ($what) = $error =~ m{<(?:what|text)>(.*?)</(?:what|text)>}s;
        # Further stacks of an error tell where the memory came from.
        my ($stack) = $error =~ m{<stack>(.*?)</stack>}s or next;
        my @frames = map { { fn => m{<fn>(.*?)</fn>} ? "$1" : '?',
            obj => m{<obj>(.*?)</obj>} ? "$1" : '', line => m{<file>(.*?)</file>\s*<line>(\d+)}
                ? "$1:$2" : '' } }
            $stack =~ m{<frame>(.*?)</frame>}sg;
        my ($ours) = grep { $frames[$_]{obj} =~ m{/DProf/DProf\.so$} } 0 .. $#frames;
        next unless defined $ours;
        next if $ours && $frames[$ours - 1]{fn} =~ /^(?:Perl_pp_|Perl_runops_|S_|XS_)/
            && $frames[$ours - 1]{obj} !~ /vgpreload|libc\b/;
        my $text = join "\n", "$kind: " . ($what // ''),
            map { "  $_->{fn} $_->{line}" } @frames[0 .. ($ours + 3 < $#frames ? $ours + 3
                : $#frames)];
        push @wrong, $text unless $seen{$text}++;
    }
    return @wrong;
}

sub tries_itself {
    local $opt{options};
    my $dir = "$work/broken";
    remove_tree($dir);
    make_path($dir);
    system("cd $top && git ls-files -z | xargs -0 cp --parents -t $dir") == 0 or die "cp failed\n";
    my $file = "$dir/xs/record/dpx_name.c";
    my $text = slurp($file);
    my $flaws = <<'END';
    volatile char *gone = dp_mem_realloc(NULL, 77, 1);
    dp_mem_free((void *)gone);
    if (gone[5] == 3)
        return 0;
    gone = dp_mem_realloc(NULL, 78, 1);
    gone = NULL;
END
    $text =~ s/^(U32 dpx_name_find\(.*\n\{\n)/$1$flaws/m
        or die "xt/valgrind.pl: dpx_name_find is not where it was in $file\n";
    open my $out, '>', $file or die "$file: $!\n";
    print $out $text;
    close $out;
    system("cd $dir && { '$opt{perl}' Makefile.PL OPTIMIZE='-g -O1' && make; } "
        . ">$work/broken.log 2>&1") == 0 or die "see $work/broken.log\n";
    my $broken = "$work/broken.inc";
    make_path("$broken/Devel", "$broken/auto/Devel/DProf");
    system("cp $dir/blib/lib/Devel/DProf.pm $broken/Devel && cp "
        . "$dir/blib/arch/auto/Devel/DProf/DProf.so $broken/auto/Devel/DProf") == 0 or die;
    my $program = "$work/small.pl";
    open $out, '>', $program or die "$program: $!\n";
    print $out "sub f { 1 } f(); f();\n";
    close $out;
    my @found = run($broken, $program, 'trace');
    for my $kind (qw(InvalidRead Leak_DefinitelyLost)) {
        next if grep { /^$kind/ } @found;
        print "xt/valgrind.pl does not notice an error made for it: $kind\n", @found;
        return;
    }
    print "# notices errors made for it\n";
    return 1;
}
