package Judge;

# Runs test files plain and profiled, several at a time: compares output and status, reads profiles,
# and prints a table. The caller knows what a test file is and how it is run.

use strict;
use warnings;
use File::Basename 'basename';
use File::Copy 'copy';
use File::Path qw(make_path remove_tree);
use POSIX ();
use Proof qw(flaws profiles_in);
use Time::HiRes 'time';

my @columns =
    qw(file mode verdict why s plain_s control differs profiles cut empty unreadable tests
        spans);

# Judge->new(files => [...], modes => [...], work => DIR, jobs => N, timeout => S,
#            place => sub, command => sub, control => BOOL, keep => BOOL, spans => BOOL)
# spans: also counts the names of spans in profiles, by kind.
# place->(job): the folder, or whatever, that one job works in; may take its time.
# command->(place, file, mode, box): a hash of dir, env (a hash; undef deletes) and command (an
# array), which writes its profiles to box, as Proof's recording says. mode: '' for plain, null for
# -d:Null0, or one of Proof's modes.
sub new {
    my ($class, %self) = @_;
    return bless { jobs => 1, timeout => 600, results => [], %self }, $class;
}

# ---- one run of one file ----

sub run_one {
    my ($self, $place, $file, $mode, $keep) = @_;
    my $box = "$self->{work}/box.$$";
    remove_tree($box);
    make_path($box);
    my $how = $self->{command}->($place, $file, $mode, $box);
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        setpgrp;
        for (keys %{ $how->{env} }) {
            if (defined $how->{env}{$_}) { $ENV{$_} = $how->{env}{$_} } else { delete $ENV{$_} }
        }
        chdir $how->{dir} or POSIX::_exit(126);
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', "$box/out";
        open STDERR, '>', "$box/err";
        { no warnings; exec @{ $how->{command} } }
        POSIX::_exit(127);
    }
    my $late;
    local $SIG{ALRM} = sub { $late = 1; kill KILL => -$pid };
    alarm $self->{timeout};
    1 until waitpid($pid, 0) == $pid;
    my $status = $?;
    alarm 0;
    kill KILL => -$pid;         # ends processes that the test left
    my %run = (status => $status, late => $late);
    for my $what (qw(out err)) {
        open my $in, '<:raw', "$box/$what" or next;
        local $/;
        $run{$what} = <$in>;
        copy("$box/$what", "$keep.$what");
    }
    return \%run if !$mode || $mode eq 'null';
    for my $profile (profiles_in($box)) {
        $run{profiles}++;
        my @wrong = flaws($profile, \my %about);
        $run{cut}++ if $about{cut};
        $run{empty}++ if $about{empty};
        push @{ $run{unreadable} }, map { basename($profile) . ": $_" } @wrong;
        count_spans($profile, $run{spans} //= {}) if $self->{spans};
        copy($profile, "$keep.profile") if @wrong && -s $profile < 50e6;
    }
    # Tests kill perls that have hardly begun.
    push @{ $run{unreadable} }, 'no profile that is not empty'
        if $run{empty} && $run{empty} == $run{profiles};
    return \%run;
}

# Adds the names of spans in a profile to those of each kind.
sub count_spans {
    my ($profile, $of_kind) = @_;
    open my $in, '<:raw', $profile or return;
    while (my $line = readline $in) { $of_kind->{$1}++ if $line =~ /^& \w+ (\S+) .* kind=span/ }
    return;
}

# Returns what a harness would judge by, at three degrees of tolerance.
sub tap {
    my ($text, $level) = @_;
    my @lines = grep { /^\s*(?:not )?ok\b|^\s*1\.\.\d|^Bail out/ } split /\n/, $text // '';
    if ($level == 1) { s/(?:\\x\{?|0x)[0-9a-f]+|\d+/N/gi for @lines }
    if ($level == 2) { s/^(\s*(?:not )?ok\b(?: \d+)?).*/$1/ for @lines }
    return join "\n", @lines;
}

sub same {
    my ($x, $y, $level) = @_;
    return $x->{status} == $y->{status} && tap($x->{out}, $level) eq tap($y->{out}, $level);
}

sub verdict_of {
    my ($plain, $run, $level) = @_;
    return $run->{late} ? 'timeout'
         : $run->{status} & 127 && !($plain->{status} & 127) ? 'crashed'
         : same($plain, $run, $level) ? 'same' : 'different';
}

# Returns one result for each mode.
sub judge {
    my ($self, $place, $file) = @_;
    my @modes = @{ $self->{modes} };
    my $keep = "$self->{work}/kept/" . $file =~ s{/}{-}gr;
    my $run_one = sub {
        my ($mode, $as) = @_;
        return $self->run_one($place, $file, $mode, "$keep.$as");
    };
    my $t0 = time;
    my @plain = $run_one->('', 'plain');
    my %all = (file => $file, plain_s => time - $t0);
    return map { { %all, mode => $_, verdict => 'not judged',
        why => 'the plain run takes too long' } } @modes if $plain[0]{late};
    $all{tests} = () = ($plain[0]{out} // '') =~ /^\s*(?:not )?ok\b/mg;
    my @results;
    for my $mode (@modes) {
        my %r = (%all, mode => $mode);
        $t0 = time;
        my @run = $run_one->($mode, $mode);
        $r{s} = time - $t0;
        my $level = 0;
        my $verdict = verdict_of($plain[0], $run[0], 0);
        if ($verdict ne 'same') {
            push @plain, $run_one->('', 'again') while @plain < 4;
            $level++ while $level < 2 && grep { !same($plain[0], $_, $level) } @plain;
            $verdict = verdict_of($plain[0], $run[0], $level);
            if (grep { !same($plain[0], $_, $level) } @plain) {
                ($verdict, $r{why}) = ('flaky', 'plain runs differ');
            } elsif ($verdict ne 'same') {
                push @run, $run_one->($mode, $mode) while @run < 4;
                my $as_plain = grep { same($plain[0], $_, $level) } @run;
                my ($crash) = grep { verdict_of($plain[0], $_, $level) eq 'crashed' } @run;
                ($verdict, $r{why}) = ('flaky', "$as_plain of 4 as plain") if $as_plain && !$crash;
            }
        }
        if (($plain[0]{out} // '') =~ /\A(?:#.*\n)*1\.\.0\b/ && $verdict eq 'same') {
            ($verdict, $r{why}) = ('not judged', 'skips itself');
        }
        # A test that is not built, or lacks a module, fails with the profiler, too, and proves
        # nothing.
        if ($plain[0]{status} && !$all{tests} && $verdict eq 'same') {
            ($verdict, $r{why}) = ('not judged', 'does not run by itself');
        }
        $r{verdict} = $verdict;
        $r{differs} = first_difference($plain[0], $run[0], $level)
            if $verdict !~ /^(?:same|not judged)$/;
        $r{control} = verdict_of($plain[0], $run_one->('null', 'null0'), $level)
            if $self->{control} || $verdict !~ /^(?:same|not judged)$/;
        $r{unreadable} = [map { @{ $_->{unreadable} || [] } } @run];
        $r{$_} = $run[0]{$_} // 0 for qw(profiles cut empty);
        my $spans = $run[0]{spans} // {};
        $r{spans} = [map { "$_=$spans->{$_}" } sort keys %$spans];
        unlink glob "$keep.$mode.*" if $verdict eq 'same' && !@{ $r{unreadable} } && !$self->{keep};
        push @results, \%r;
    }
    unlink glob "$keep.*"
        unless $self->{keep} || grep { $_->{verdict} ne 'same' || @{ $_->{unreadable} } } @results;
    return @results;
}

sub first_difference {
    my ($plain, $run, $level) = @_;
    my @p = split /\n/, tap($plain->{out}, $level);
    my @r = split /\n/, tap($run->{out}, $level);
    my $text = $plain->{status} == $run->{status} ? ''
        : "status $plain->{status} and $run->{status}; ";
    for my $i (0 .. ($#p > $#r ? $#p : $#r)) {
        my ($p, $r) = map { $_ // '(nothing)' } $p[$i], $r[$i];
        return $text . sprintf "'%.100s' and '%.100s'", $p, $r if $p ne $r;
    }
    return $text;
}

# ---- all of them ----

# Runs all files in all modes, and prints a line for each result.
sub run_all {
    my ($self) = @_;
    my ($work, @files) = ($self->{work}, @{ $self->{files} });
    my $of = @files * @{ $self->{modes} };
    $self->{began} = time;
    make_path("$work/kept");
    my (@results, %pipe);
    pipe my $todo_r, my $todo_w or die;
    # A job reads one number, five bytes, at a time: so short reads of a pipe are atomic.
    for my $job (1 .. $self->{jobs}) {
        pipe my $r, my $w or die;
        my $pid = fork // die "fork: $!\n";
        if (!$pid) {
            close $todo_w;
            select $w;
            $| = 1;
            my $place = $self->{place}->($job);
            while (sysread $todo_r, my $n, 5) {
                for my $res ($self->judge($place, $files[$n])) {
                    print $w join("\t", map {
                        my $v = ref $res->{$_} ? join('; ', @{ $res->{$_} }) : $res->{$_} // '';
                        $v =~ tr/\t\n/  /;
                        $v
                    } @columns), "\n";
                }
            }
            POSIX::_exit(0);
        }
        $pipe{ fileno $r } = $r;
        close $w;
    }
    close $todo_r;
    my $feeder = fork // die;
    if (!$feeder) {
        syswrite $todo_w, sprintf '%-5d', $_ for 0 .. $#files;
        POSIX::_exit(0);
    }
    close $todo_w;
    my %buffer;
    while (%pipe) {
        my $bits = '';
        vec($bits, $_, 1) = 1 for keys %pipe;
        next if select($bits, undef, undef, undef) <= 0;
        for my $fd (grep { vec $bits, $_, 1 } keys %pipe) {
            if (!sysread $pipe{$fd}, $buffer{$fd}, 65536, length($buffer{$fd} // '')) {
                delete $pipe{$fd};
                next;
            }
            while ($buffer{$fd} =~ s/^(.*)\n//) {
                my %r;
                @r{@columns} = split /\t/, $1, -1;
                push @results, \%r;
                printf "%4d/%d %-36s %-6s %-10s %6d %6.1fs %6.1fs%s%s%s%s%s\n", scalar @results,
                    $of, @r{qw(file mode verdict)}, $r{tests} || 0, $r{plain_s} || 0, $r{s} || 0,
                    $r{why} ? "  ($r{why})" : '', $r{differs} ? "  $r{differs}" : '',
                    $r{control} ? "  Null0: $r{control}" : '',
                    $r{unreadable} ? "  UNREADABLE $r{unreadable}" : '',
                    $r{profiles} ne '' && !$r{profiles} ? '  NO PROFILE' : '';
            }
        }
    }
    1 while wait != -1;
    $self->{results} = \@results;
    return;
}

# Returns a row for each kind of span: its names in the profiles of all files, and the files that
# have one.
sub span_rows {
    my (%names, %files);
    for my $result (@_) {
        for (split /; /, $result->{spans}) {
            my ($kind, $n) = /(.*)=(.*)/;
            $names{$kind} += $n;
            $files{$kind}++;
        }
    }
    return map { (["names of $_ spans", $names{$_}], ['... in files', $files{$_}]) }
        sort keys %names;
}

# Prints tables and differences. Returns an exit status.
sub report {
    my ($self) = @_;
    my @results = @{ $self->{results} };
    print "\n", '-' x 60, "\n";
    my $bad = 0;
    for my $mode (@{ $self->{modes} }) {
        my @of = grep { $_->{mode} eq $mode } @results;
        my @judged = grep { $_->{verdict} ne 'not judged' } @of;
        my @rows = (['files', scalar @of], ['judged', scalar @judged]);
        my $sum = sub { my ($what) = @_; my $n = 0; $n += $_->{$what} || 0 for @judged; return $n };
        my $missing = grep { $_->{profiles} eq '0' } @judged;
        push @rows, ['test lines compared', $sum->('tests')];
        for my $verdict (qw(same different crashed timeout flaky)) {
            push @rows, [$verdict, scalar grep { $_->{verdict} eq $verdict } @judged];
            $bad += $rows[-1][1] if $verdict !~ /^(?:same|flaky)$/;
        }
        my $unreadable = grep { $_->{unreadable} } @of;
        my $lost = @{ $self->{files} } - @of;
        push @rows, ['profiles read', $sum->('profiles')], ['of them cut short', $sum->('cut')],
            ['of them empty', $sum->('empty')],
            ['files with unreadable', $unreadable], ['files without a profile', $missing],
            ($lost ? ['lost', $lost] : ()), span_rows(@judged);
        $bad += $unreadable + $lost;
        printf "%-6s %-24s %8d\n", $mode, @$_ for @rows;
    }
    printf "%-31s %8.0f s\n", 'took', time - $self->{began};
    my @odd = grep { $_->{verdict} !~ /^(?:same|not judged)$/ } @results;
    for my $kind (['Not as plain, though as plain under -d:Null0', sub {
        $_->{verdict} ne 'flaky' && $_->{control} ne $_->{verdict}
    }],
                  ['Not as plain, nor under -d:Null0', sub {
                      $_->{verdict} ne 'flaky' && $_->{control} eq $_->{verdict}
                  }],
                  ['Flaky', sub { $_->{verdict} eq 'flaky' }]) {
        my ($title, $is) = @$kind;
        my @of = grep { $is->() } @odd or next;
        print "\n$title:\n", map { "    $_->{file} ($_->{mode}): $_->{verdict}"
            . ($_->{why} ? ", $_->{why}" : '') . ": $_->{differs}\n" } @of;
    }
    my %broken = map { $_->{file} => 1 } grep { ($_->{why} // '') eq 'does not run by itself' }
        @results;
    print "\nNot judged, for they do not run by themselves:\n", map { "    $_\n" } sort keys %broken
        if %broken;
    my @unreadable = grep { $_->{unreadable} } @results;
    print "\nUnreadable:\n", map { "    $_->{file} ($_->{mode}): $_->{unreadable}\n" } @unreadable
        if @unreadable;
    return $bad ? 1 : 0;
}

1;
