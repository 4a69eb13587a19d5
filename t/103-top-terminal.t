# dproftop on a terminal, which script(1) makes: what is drawn, what keys do, and that the terminal
# is as it was whatever ends the tool. Keys and lines of text are tried without a terminal, too.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use POSIX ();
use Test::More;
use DProfTest;
use Devel::DProf::Live::Rates;
use Devel::DProf::Tool;
use Devel::DProf::Live::Top;

# ---- lines of text ----

my @rows = map { [$_ * 10, 300 - $_, $_ % 7, sprintf('My::Module%02d::method', $_),
    "/usr/share/perl5/My/Module$_.pm:$_"] } 1 .. 30;

sub made_up {
    my (%how) = @_;
    return { subs => \@rows, lines => [[5, 6, 7, 'x.pl:3', 'main::f']], since => 'last',
        seconds => 2, at => 0, path => 'tmon.out', pid => 7, script => "x\e.pl", files => 1,
        cpu => 1, real => 2, count => 3e9, total => 4650, detail => 2, %how };
}

sub view {
    my (%how) = @_;
    return Devel::DProf::Live::Top->new(sort => 'self', delay => 2, %how,
        rates => Devel::DProf::Live::Rates->new(metric => $how{metric} // 'cpu'));
}

# The names of the shown rows.
sub names_of { return join ' ', map { /  \S*Module(\d\d)/ ? 0 + $1 : () } @_ }

subtest 'The text fits the terminal' => sub {
    my $top = view();
    for my $size ([80, 24], [200, 50], [40, 10], [20, 3], [81, 24]) {
        my ($columns, $height) = @$size;
        my @lines = $top->text(made_up(), $columns, $height);
        is(scalar(grep { length > $columns } @lines), 0, "no line is wider than $columns columns");
        cmp_ok(scalar @lines, '<=', $height < 5 ? 5 : $height,
            "the text is not higher than $height lines");
        unlike("@lines", qr/\e/, "the text for $columns columns has no control characters");
    }
    my @lines = $top->text(made_up(), 80, 24);
    like($lines[2], qr/\A1-20 of 30 subs by self; updates every 2 s; h: help\z/,
        'the third line says which rows are shown');
    like($lines[4], qr/\A  6\.5      150\.0      135\.0       1\.0  \S/,
        'a row has share, self, inclusive time and calls');
    like($lines[4], qr/  My::Module30::method  Module30\.pm:30\z/,
        'a place loses its folders if the row is too wide');
    @lines = $top->text(made_up(), 70, 24);
    like($lines[4], qr/  My::Mod\.\.\.:method  Modu\.\.\.pm:30\z/,
        'names and places lose their middles if the row is much too wide');
    @lines = $top->text(made_up(), 200, 50);
    like($lines[4], qr{  My::Module30::method  /usr/share/perl5/My/Module30\.pm:30\z},
        'a wide terminal shows the whole place');
    is(names_of($top->text(made_up(), 0)), join(' ', reverse 16 .. 30),
        'a block of text has 15 rows');
    is(names_of(view(rows => 3)->text(made_up(), 80, 24)), '30 29 28',
        '-O limits the rows of a screen');
    like(($top->text(made_up(), 0))[1], qr{; 1500\.0M calls/s\z}, 'large numbers have a unit');
    is(Devel::DProf::Live::Top::number($_->[0]), $_->[1], "$_->[0] is printed as $_->[1]")
        for [0, '0.0'], [9999.9, '9999.9'],
        [10_000, '10,000'], [9_999_999, '9,999,999'], [1e7, '10.0M'], [2.5e10, '25.0G'],
        [3e13, '30.0T'];
    my $counter = Devel::DProf::Live::Rates->new(metric => 'ops');
    is(join(' ', $counter->label), 'ops ',
        'the column has the name of the metric that the user gave');
};

subtest 'Keys scroll and sort' => sub {
    my $top = view();
    my $shown = sub {
        my (@keys) = @_;
        my @asked = grep { length } map { $top->key($_) } @keys;
        return join ' ', @asked, names_of(($top->text(made_up(), 100, 9))[4 .. 8]);
    };
    is($shown->(), '30 29 28 27 26', 'the rows are sorted by self at first');
    is($shown->('down', 'j'), '28 27 26 25 24', 'the key down scrolls by a row');
    is($shown->('up', 'page down'), '24 23 22 21 20', 'the key page down scrolls by a page');
    is($shown->(('page down') x 9), '5 4 3 2 1', 'scrolling stops at the last page');
    is($shown->('k', 'page up'), '11 10 9 8 7', 'the keys k and page up scroll back');
    is($shown->('home'), '30 29 28 27 26', 'the key home scrolls to the first row');
    is($shown->(('up') x 3), '30 29 28 27 26', 'scrolling stops at the first row');
    is($shown->('down', 'T'), '1 2 3 4 5', 'T sorts by inclusive time and shows the first row');
    is($shown->('N'), '27 20 13 6 26', 'N sorts by calls');
    is($shown->('R', 'P'), '1 2 3 4 5', 'R reverses the order');
    is($shown->('R'), '30 29 28 27 26', 'a second R restores the order');
    is($shown->(' '), 'sample 30 29 28 27 26', 'the space bar asks for a sample at once');
    is($shown->('q'), 'quit 30 29 28 27 26', 'q quits');
    is($shown->('other', 'x'), '30 29 28 27 26', 'other keys do nothing');
    $top->key('l');
    like(join("\n", $top->text(made_up(), 80, 24)), qr{/s  line    sub\n.*  x\.pl:3  main::f\z},
        'l shows lines with their subs');
    like(($top->text(made_up(detail => 0), 80, 24))[2], qr/no lines: record with/,
        'l says how to record lines if there are none');
    $top->key($_) for 'l', 'c';
    my $long = 'Long::' x 12 . 'name';
    my $look = made_up(subs => [[1, 1, 1, $long, 'file.pm:1']]);
    like(join("\n", $top->text($look, 120, 24)), qr/  \Q$long\E  \S/, 'c shows full names');
    $top->key('c');
    unlike(join("\n", $top->text($look, 100, 24)), qr/\Q$long\E/,
        'a second c shortens names again');
    $top->key('h');
    like(join("\n", $top->text($look, 80, 24)), qr/\AKeys of dproftop\n/, 'h shows the help');
    is(scalar(grep { /\.\.\.\z/ } $top->text($look, 80, 24)), 0, 'the help fits 80 columns');
    cmp_ok(scalar(my @help = $top->text($look, 80, 24)), '<=', 24, 'the help fits 24 lines');
    is($top->key('q'), '', 'any key ends the help and does nothing else');
    ok(!$top->is_help, 'the help is gone after a key');
};

subtest 'd and s set the interval' => sub {
    my $top = view();
    my $status = sub { $top->key($_) for @_; return ($top->text(made_up(), 80, 24))[2] };
    is($status->('d', '0', '.', '7', '5'), 'Seconds between two updates (2): 0.75',
        'd asks for the seconds');
    is($status->("\x7f", "\n"), '1-20 of 30 subs by self; updates every 0.7 s; h: help',
        'the interval that was typed can be corrected');
    is($top->delay, 0.7, 'the new interval is used');
    $status->('s', '9', 'escape');
    is($top->delay, 0.7, 'Escape keeps the interval');
    $status->('s', "\n");
    is($top->delay, 0.7, 'an empty answer keeps the interval');
    for my $wrong ('0', '.', '1.2.3') {
        is($status->('s', split(//, $wrong), "\n"), "$wrong: not a number of seconds",
            "the interval $wrong gives a message");
        is($top->delay, 0.7, "the wrong interval $wrong changes nothing");
    }
    is($status->('s', 'q', '4', "\n", 'P'), '1-20 of 30 subs by self; updates every 4 s; h: help',
        'a letter is not taken for a digit of the interval');
};

# ---- a terminal ----

my $no_terminal = no_terminal();
my $dir = scratch();

# A program that is recorded, and waits for its end.
sub program {
    pipe(my $in, my $to) or die "pipe: $!";
    pipe(my $from, my $out) or die "pipe: $!";
    my @command = ($^X, PROFILER(), '-e',
        '$| = 1; sub f { 1 } f() for 1 .. 99; print "x\n"; <STDIN>');
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        POSIX::dup2(fileno $in, 0);
        POSIX::dup2(fileno $out, 1);
        chdir $dir or die $!;
        close $_ for $in, $to, $from, $out;
        alarm 120;
        exec @command or die $!;
    }
    close $_ for $in, $out;
    readline $from;
    return { pid => $pid, to => $to };
}

sub ended { my ($run) = @_; close $run->{to}; waitpid $run->{pid}, 0; return }

# Runs dproftop on a terminal, as a shell would run it, in a process group of its own, and compares
# the terminal before and after. When the terminal has changed, CODE is done: $pid is dproftop.
# Returns all that is written.
my $around = spew("$dir/around.pl", <<'END');
use POSIX ();
$| = 1;
my $code = shift;
sub state { return `stty -g` }
sub same { return state() eq $before ? "as it was\n" : "changed\n" }
our $before = state();
our $pid = fork;
if (!$pid) {
    POSIX::setpgid(0, 0);
    $SIG{TTOU} = 'IGNORE';
    POSIX::tcsetpgrp(0, $$);
    $SIG{TTOU} = 'DEFAULT';
    exec @ARGV;
}
$SIG{TTOU} = 'IGNORE';
my ($tries, $status) = (0);
sub is_over { return waitpid($pid, POSIX::WNOHANG()) == $pid && defined($status = $?) }
sub until_changed {
    select undef, undef, undef, 0.01 while state() eq $before && !is_over() && $tries++ < 3000;
}
sub stopped { waitpid $pid, POSIX::WUNTRACED(); print "\nstopped: ", same() }
until_changed();
eval $code;
waitpid($pid, 0), $status = $? if !defined $status;
print "\nstatus $status, terminal: ", same();
END

sub top_on_terminal {
    my ($code, $args, $keys) = @_;
    my @command = ($^X, $around, $code, tool_command('dproftop', @$args));
    my $command = join ' ', map { "'" . s/'/'\\''/gr . "'" } @command;
    my $shell = 'stty rows 24 columns 80; exec ' . $command;
    my $in = spew("$dir/keys", $keys // '');
    my $run = on_terminal($shell, dir => $dir, stdin => $in,
        env => { TERM => 'xterm', SHELL => '/bin/sh' }, limit => 60);
    return $run->{out};
}

my ($ENTER, $LEAVE) = map { quotemeta } "\e[?1049h\e[?25l\e[?7l", "\e[?7h\e[?25h\e[?1049l";

subtest 'The terminal is restored at every end of dproftop' => sub {
    plan skip_all => $no_terminal if defined $no_terminal;
    my $run = program();
    for my $case (['kill INT => $pid', 0], ['kill TERM => $pid', 15], ['kill HUP => $pid', 1],
        ['kill QUIT => $pid', 3, 'with a core, perhaps']) {
        my ($code, $status, $core) = @$case;
        my $out = top_on_terminal($code, ['-d', 100]);
        like($out, qr/$ENTER.*$LEAVE.*status $status, terminal: as it was\r\n\z/s,
            "$code restores the terminal")
            or diag $out =~ s/\e/ESC/gr;
    }
    my $out = top_on_terminal('', ['-d', 100, '-m', 'nonsense']);
    like($out,
        qr/there is no metric nonsense.*the profile has .*status 256, terminal: as it was\r\n\z/s,
        'a fatal message restores the terminal');
    $out = top_on_terminal('', ['-d', 0.01, '-n', 3]);
    like($out, qr/$ENTER.*main::f.*$LEAVE\r\nstatus 0, terminal: as it was\r\n\z/s,
        '-n restores the terminal after the last sample');
    $out = top_on_terminal('kill TSTP => $pid; stopped(); kill CONT => $pid; until_changed();'
        . ' kill INT => $pid', ['-d', 100]);
    like($out, qr/$LEAVE\r\nstopped: as it was\r\n.*$ENTER.*main::f.*$LEAVE.*: as it was\r\n\z/s,
        'Ctrl-Z restores the terminal, and fg takes it again') or diag $out =~ s/\e/ESC/gr;
    $out = top_on_terminal("kill KILL => $run->{pid}", ['-d', 0.05, '-F']);
    like($out, qr/$ENTER.*$LEAVE.*The program has ended\.\r\n\r\nstatus 0, .*as it was\r\n\z/s,
        'the end of the program restores the terminal after a last sample');
    ended($run);
};

subtest 'dproftop draws a screen and reads keys' => sub {
    plan skip_all => $no_terminal if defined $no_terminal;
    my $run = program();
    my $out = top_on_terminal('', ['-d', 100], 'Tq');
    my @screens = split /\e\[H(?!\e\[2J)/, $out;
    like($screens[-1], qr/subs by inclusive; .*status 0, terminal: as it was\r\n\z/s,
        'dproftop sorts on T and quits on q') or diag $out =~ s/\e/ESC/gr;
    like($out, qr/\e\[2K\e\[7m%self  self ms\/s .*?\e\[0m\r+\n\e\[2K.*  main::f /s,
        'the screen has a marked head and rows');
    like(top_on_terminal('', ['-d', 100], "\e[B\e[5~\eOAhd7\nq"), qr/updates every 100 s/,
        'a key that ends the help has no other effect');
    like(top_on_terminal('', ['-d', 100], "d7\nq"), qr/updates every 7 s/,
        'dproftop shows the interval that was typed');
    like(top_on_terminal('`stty rows 9 columns 60`; kill WINCH => $pid; kill INT => $pid',
        ['-d', 100]), qr/as it was/, "a change of the terminal's size does not end dproftop");
    ended($run);
    unlink "$dir/tmon.out";
    $out = top_on_terminal('', ["no\e[2Jthing"], 'xq');
    like($out, qr/waiting for no\\x1b\[2Jthing.*status 0, .*as it was/s,
        'dproftop waits for a profile that does not exist yet');
    unlike($out, qr/\e\[2Jthing/, 'the name of an awaited profile cannot clear the screen');
};

done_testing;
