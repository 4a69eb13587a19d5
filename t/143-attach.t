# dprof dump and dprof attach beside programs that wait for a step of the test, or whose stacks are
# known. No clock decides: a test looks until the program waits where it must.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Config;
use POSIX ();
use JSON::PP ();
use Test::More;
use DProfTest;
use KnownStacks;

plan skip_all => 'attaching needs Linux' if $^O ne 'linux';
plan skip_all => 'attaching needs a perl of 64 bits' if $Config{ptrsize} != 8;
plan skip_all => 'attaching needs /proc' if !-r "/proc/$$/maps";
require Devel::DProf::Live::Target;

# Each sub s_NAME is a situation in which hold() waits for the test. T:TAG is the name of a line.
my $rq = spew(scratch() . '/Rq.pm', "main::hold(1);\n1;\n");
my $source = <<'END';
use strict; use warnings; no warnings 'recursion';
use List::Util qw(first); use POSIX ();
my $rq = shift;
sub hold {
    my ($n) = @_;
    return hold($n - 1) if $n > 0;                              # T:again
    syswrite STDOUT, '.';
    sysread STDIN, my $byte, 1;                                 # T:wait
    return 0;
}
package Obj;
sub new { my $class = shift; return bless { @_ }, $class }
sub DESTROY { return main::hold(0) if $_[0]{waits}; return }    # T:destroy
use overload '+' => sub { main::hold(1) },                      # T:plus
    '""' => sub { 'obj' };
package Tied;
sub TIESCALAR { return bless [] }
sub FETCH { main::hold(0); return 1 }                           # T:fetch
package main;
sub by_hold { hold(0); return $a <=> $b }                       # T:by
my %s;
sub s_destroy { my $o = Obj->new(waits => 1); undef $o; return }        # T:s_destroy
sub s_overload { my $o = Obj->new; return $o + 1 }              # T:s_overload
sub s_sort { return [sort { hold(0); $a <=> $b } 2, 1] }        # T:s_sort
sub s_sorter { return [sort by_hold 2, 1] }                     # T:s_sorter
sub s_first { return first { hold(0) } 1 }                      # T:s_first
sub s_eval { return eval 'sub { hold($_[0]) }->(1)' }           # T:s_eval
sub s_require { delete $INC{$rq}; return require $rq }          # T:s_require
sub s_signal { local $SIG{USR1} = sub { hold(1) };              # T:handler
    kill USR1 => $$; return }                                   # T:s_signal
sub s_regex { return 'abc' =~ /a(?{ hold(0) })b/ }              # T:s_regex
sub s_subst { (my $s = 'aa') =~ s/a/hold(0)/e; return $s }      # T:s_subst
sub s_tie { tie my $t, 'Tied'; return my $x = $t }              # T:s_tie
sub s_method { my $m = 'call'; return main->$m(7) }             # T:s_method
sub call { my ($class, $n) = @_; return hold(0) }               # T:call
sub s_begin { return eval 'BEGIN { hold(0) } 1' }               # T:s_begin
sub s_goto { @_ = (1); goto &hold }
sub s_builtin { syswrite STDOUT, '.'; return sysread STDIN, my $x, 1 }  # T:s_builtin
sub s_xs { syswrite STDOUT, '.'; return POSIX::read(0, my $x, 1) }      # T:s_xs
while (my $name = readline STDIN) {
    chomp $name;
    no strict 'refs';
    &{"s_$name"}(undef, { x => 1 }, 3.5, "some text", 42);      # T:main
}
END
my $program = spew(scratch() . '/p.pl', $source);
my %line;
{
    my $n = 0;
    for (split /\n/, $source) { $n++; $line{$1} = $n if /# T:(\w+)/ }
}

# Starts a perl with pipes to its input and from its output.
sub started {
    my @args = @_;
    pipe(my $in, my $to) or die "pipe: $!";
    pipe(my $from, my $out) or die "pipe: $!";
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        delete @ENV{grep { /^PERL5(?:OPT|DB)$|^PERL_UNICODE$/ } keys %ENV};
        POSIX::dup2(fileno $in, 0);
        POSIX::dup2(fileno $out, 1);
        close $_ for $in, $to, $from, $out;
        alarm 600;
        exec { $args[0] } @args or POSIX::_exit(127);
    }
    close $_ for $in, $out;
    $to->autoflush;
    return { pid => $pid, to => $to, from => $from };
}

sub ended {
    my ($run) = @_;
    close $run->{to};
    close $run->{from};
    waitpid $run->{pid}, 0;
    return $?;
}

sub killed { my ($run) = @_; kill KILL => $run->{pid}; return ended($run) }

# Returns one look at a program, as --json has it.
sub look {
    my ($pid, @options) = @_;
    my $run = in_process('dprofdump', '--json', @options, $pid);
    return eval { JSON::PP->new->utf8->decode($run->{out}) }
        || die "dprofdump $pid: status $run->{status}, $run->{err}$run->{out}\n";
}

# Looks until the program waits in this op, or this XS sub.
sub look_until {
    my ($run, $where, @options) = @_;
    for (1 .. 20_000) {
        my $seen = look($run->{pid}, @options);
        my $thread = $seen->{threads}[0];
        return $seen if $thread->{state} eq 'S'
            && ($thread->{op} eq $where || ($thread->{leaf} // '') eq $where);
        select undef, undef, undef, 0.001;
    }
    die "the program does not come to wait in $where\n";
}

# Returns frames as "SUB LINE", other kinds as "(KIND) LINE".
sub frames {
    my ($seen, $i) = @_;
    return map { ($_->{sub} // "($_->{kind})") . ' ' . ($_->{line} // '?') }
        @{ $seen->{threads}[$i // 0]{frames} };
}

my $run = started($^X, $program, $rq);
{
    my $seen = eval { look($run->{pid}) };
    my $why = $@ =~ s/\n\z//r;
    if (!$seen && $why =~ /cannot be read|may not be read|without symbols/) {
        killed($run);
        plan skip_all => "attaching is impossible here: $why";
    }
    ok($seen, 'a program can be looked at') or diag $why;
}

# ---- situations ----

my @main = "(main) $line{main}";
my @hold = "main::hold $line{wait}";
my @hold_1 = (@hold, "main::hold $line{again}");
my $anon = sub { "main::__ANON__[$program:$line{$_[0]}] $line{$_[1] // $_[0]}" };

# NAME => what it is inside of, frames
my %situations = (
    destroy => ['DESTROY', @hold, "Obj::DESTROY $line{destroy}",
        "main::s_destroy $line{s_destroy}"],
    overload => ['overload', @hold_1, "Obj::__ANON__[$program:$line{plus}] $line{plus}",
        "main::s_overload $line{s_overload}"],
    sort => ['sort', @hold, "main::s_sort $line{s_sort}"],
    sorter => ['sort', @hold, "main::by_hold $line{by}", "main::s_sorter $line{s_sorter}"],
    first => ['multicall', @hold, $anon->('s_first'), "main::s_first $line{s_first}"],
    eval => ['', @hold_1, 'main::__ANON__[(eval N):1] 1', '(eval) 1', "main::s_eval $line{s_eval}"],
    require => ['', @hold_1, '(require) 1', "main::s_require $line{s_require}"],
    signal => ['signal', @hold_1, $anon->('handler'), "main::s_signal $line{s_signal}"],
    regex => ['multicall', @hold, "main::s_regex $line{s_regex}"],
    subst => ['', @hold, "main::s_subst $line{s_subst}"],
    tie => ['magic', @hold, "Tied::FETCH $line{fetch}", "main::s_tie $line{s_tie}"],
    method => ['', @hold, "main::call $line{call}", "main::s_method $line{s_method}"],
    begin => ['require', @hold, 'main::BEGIN 1', '(eval) 1', "main::s_begin $line{s_begin}"],
    goto => ['', @hold_1],
    builtin => ['', "main::s_builtin $line{s_builtin}"],
    xs => ['', "main::s_xs $line{s_xs}"],
);
for my $name (sort keys %situations) {
    my ($inside, @frames) = @{ $situations{$name} };
    print { $run->{to} } "$name\n";
    sysread $run->{from}, my $dot, 1;
    my $seen = look_until($run, $name eq 'xs' ? 'POSIX::read' : 'sysread');
    is_deeply([map { s/\(eval \d+\)/(eval N)/r } frames($seen)], [@frames, @main],
        "$name: the stack");
    my ($thread) = @{ $seen->{threads} };
    is(join(' ', @{ $thread->{inside} }), $inside, "$name: what perl was interrupted for");
    is($thread->{leaf}, $name eq 'xs' ? 'POSIX::read' : 'CORE:sysread', "$name: what runs");
    syswrite $run->{to}, '.';
}

subtest 'arguments, and texts for people' => sub {
    print { $run->{to} } "builtin\n";
    sysread $run->{from}, my $dot, 1;
    my $seen = look_until($run, 'sysread', '--args');
    like($seen->{threads}[0]{frames}[0]{args},
        qr/\A\(undef, HASH\(0x[0-9a-f]+\), 3\.5, 'some text', 42\)\z/, 'arguments');
    is($seen->{pid}, $run->{pid}, 'the process');
    is($seen->{perl}, sprintf('%vd', $^V), 'its perl');
    ok(!defined look($run->{pid})->{threads}[0]{frames}[0]{args}, 'no arguments without --args');
    my $text = in_process('dprofdump', $run->{pid});
    is($text->{status}, 0, 'status');
    like($text->{out}, qr/\AProcess $run->{pid} \(perl 5\.\S+\) waits in main::s_builtin at /,
        'the sentence: the sub');
    like($text->{out}, qr/^\S.* \Q$program\E line $line{s_builtin}, in CORE:sysread/,
        'its line, and what runs');
    like($text->{out},
        qr/^  0  main::s_builtin +\Q$program\E:$line{s_builtin}\n  1  \(program\) +/m,
        'the stack');
    syswrite $run->{to}, '.';
};
is(ended($run), 0, 'the program has noticed nothing');

subtest 'threads' => sub {
    plan skip_all => 'this perl has no threads' if !$Config{useithreads};
    my $file = spew(scratch() . '/threads.pl', <<'END');
use threads;
sub one { syswrite STDOUT, '.'; sysread STDIN, my $x, 1 }
sub two { one() }
my @t = (threads->create(\&one), threads->create(\&two));
syswrite STDOUT, '.';
$_->join for @t;
END
    my $run = started($^X, $file);
    sysread $run->{from}, my $dot, 1 for 1 .. 3;
    my $seen;
    for (1 .. 5000) {
        $seen = look($run->{pid}, '--threads');
        my @leafs = map { $_->{leaf} // '' } @{ $seen->{threads} };
        last if 2 == grep({ $_ eq 'CORE:sysread' } @leafs) && grep { $_ eq 'threads::join' } @leafs;
        select undef, undef, undef, 0.001;
    }
  SKIP: {
        skip 'threads are found with glibc, or with musl on x86-64', 1 if @{ $seen->{threads} } < 3;
        is_deeply([sort map { join ' < ', frames($seen, $_) } 0 .. 2],
            ['(main) 6', 'main::one 2 < (main) 4', 'main::one 2 < main::two 3 < (main) 4'],
            'each thread has its stack')
            or diag join "\n", map { join ' < ', frames($seen, $_) } 0 .. $#{ $seen->{threads} };
    }
    syswrite $run->{to}, '..';
    is(ended($run), 0, 'the program has noticed nothing');
};

# ---- profiles ----

my $known = KnownStacks->new(4);
my $tree = spew(scratch() . '/tree.pl', $known->program);
sub impossible { return $known->impossible($_[0]) }

my $made = scratch() . '/tree.out';
subtest 'a profile of a program whose stacks are known' => sub {
    my $run = started($^X, $tree);
    sysread $run->{from}, my $dot, 1;
    my $attached = in_process('dprofattach', '--for', '700ms', '--rate', 1000, '-o', $made,
        $run->{pid});
    is($attached->{status}, 0, 'status');
    like($attached->{err},
        qr/\Adprofattach: wrote \Q$made\E with \d+ samples; dprofreport \Q$made\E shows it\n/,
        'it says what to type next');
    my ($n, $wrong) = impossible(slurp($made));
    ok($n > 10, 'samples') or diag $n;
    is($wrong, '', 'no context and no line that cannot be');
    my ($sum) = $attached->{err} =~ /with (\d+) samples/;
    is($n, $sum, 'the contexts have all samples');
    like(slurp($made), qr/^\$dprof_attached=1; \$dprof_mended=\d+; \$dprof_given_up=\d+; /m,
        'the header says how it was made');
    like(slurp($made), qr/ \$dprof_run='\w+'; \$dprof_pid=$run->{pid}; \$dprof_ppid=$$; /,
        'and whose it is');
    for my $tool ([dprofreport => $made], [dprofreport => '-m', 'samples', $made],
        [dprofdiff => $made, $made], [dprofpp => $made], [dproffold => $made],
        [dprofmerge => '-o', scratch() . '/merged.out', $made, $made]) {
        my ($name, @args) = @$tool;
        my $read = run_tool($name, \@args);
        is("$read->{status} $read->{err}", '0 ', "@$tool reads it");
        like($read->{out}, qr/\bf_0/, 'and has its subs') if $name ne 'dprofmerge'
            && $name ne 'dprofdiff';
    }
    my $source = run_tool('dprofreport', ['-S', 'main::f', $made]);
    is("$source->{status} $source->{err}", '0 ', 'the source is known');
    kill TERM => $run->{pid};
    is(ended($run) >> 8, 3, 'the program got its signal');
};

subtest 'several processes, and the message about those that are left out' => sub {
    my @runs = map { started($^X, $tree) } 1 .. 2;
    sysread $_->{from}, my $dot, 1 for @runs;
    my $out = scratch() . '/two.out';
    my $attached = in_process('dprofattach', '--for', '300ms', '-o', $out,
        map { $_->{pid} } @runs, $runs[0]);
    is($attached->{status}, 0, 'status');
    ok(-s $_, 'a file of its own') for $out, "$out.$runs[1]{pid}";
    is((impossible(slurp("$out.$runs[1]{pid}")))[1], '', 'without impossible stacks');
    like(slurp("$out.$runs[1]{pid}"), qr/\$dprof_pid=$runs[1]{pid};/, 'with its process');
    killed($_) for @runs;
};

subtest 'the script is the program, wherever its first sample finds it' => sub {
    my $lib = scratch();
    my $wait = q{syswrite STDOUT, '.'; sysread STDIN, my $x, 1;};
    spew("$lib/Waits.pm", "package Waits;\nsub in_sub { $wait }\n"
        . "sub in_eval { eval q{ $wait } }\nsub in_sort { my \@x = sort { $wait 0 } 2, 1 }\n1;\n");
    spew("$lib/Body.pm", "$wait\n1;\n");
    my $main = spew(scratch() . '/first.pl', <<'END');
my ($how, $lib) = @ARGV; unshift @INC, $lib;
if ($how eq 'require') { require Body } else { require Waits; Waits->can($how)->() }
END
    for my $how (qw(in_sub in_eval in_sort require)) {
        my $run = started($^X, $main, $how, $lib);
        sysread $run->{from}, my $dot, 1;
        my $out = scratch() . "/first.$how.out";
        # A machine that is busy may leave no sample for a while.
        for (1 .. 100) {
            in_process('dprofattach', '--for', '50ms', '-o', $out, $run->{pid});
            last if -s $out;
        }
        my ($script) = slurp($out) =~ /\$dprof_script='(.*?)';/;
        is($script, $main, "the program waits: $how");
        killed($run);
    }
};

# ---- commands, and programs that change while they are sampled ----

# Runs dprofattach as a command, in a folder of its own.
sub attached { my ($args, %opt) = @_; return run_tool('dprofattach', $args, fresh => 1, %opt) }

subtest 'a command' => sub {
    my $run = attached(['--rate', 500, '--', $^X, $tree, 3000]);
    is($run->{status}, 0, 'its status is the command\'s: 0') or diag $run->{err};
    is((impossible(slurp("$run->{dir}/tmon.out")))[1], '', 'no impossible stack');
    my $loop = 'my $x = 0; $x += $_ for 1 .. 3e6;';
    is(attached(['--', $^X, '-e', "$loop exit 7"])->{status}, 7, 'another status');
    is(attached(['--', $^X, '-e', "$loop kill KILL => \$\$"])->{status}, 128 + 9,
        'killed: 128 + 9');
    my $none = attached(['--', scratch() . '/nowhere']);
    is($none->{status}, 127, 'a command that is not there');
    like($none->{err}, qr/\Adprofattach: \S+ cannot be run: No such file/, 'and its message');
    my $other = attached(['--', 'true']);
    is($other->{status}, 1, 'no perl');
    like($other->{err}, qr/\Adprofattach: true: /, 'and its message');
    # As with Yama's scope 2: the kernel refuses, and the command ends soon.
    {
        my @answers = ("process 5 may not be read: only root may\n");
        no warnings qw(redefine once);
        local *Devel::DProf::Live::Attach::add = sub {
            die shift @answers // "process 5 has ended, or is the kernel's\n";
        };
        my $refused = in_process('dprofattach', '--', $^X, '-e', '$x++ for 1 .. 1e5');
        is($refused->{err}, "dprofattach: $^X: process 5 may not be read: only root may\n",
            'where the kernel refuses, the end of the command does not hide that');
        is($refused->{status}, 1, 'and the status');
    }
    ok(!-e "$other->{dir}/tmon.out", 'nothing is written');
};

# Programs in which `work' is a loop that the sampler sees.
my $work = 'sub work { my $x = 0; for my $i (1 .. $_[0]) { $x += $i } return $x } ';
for my $case (
    [exec => "${work}work(2e6); exec \$^X, '-e', '\$0 = 1; sub later { my \$x = 0; "
        . '$x += $_ for 1 .. 4e6 } later()\'', qr/^& \w+ main work /m],
    [fork => "${work}for (1 .. 20) { my \$p = fork; if (!\$p) { exit 0 } work(1e5); "
        . 'waitpid $p, 0 }', qr/^& \w+ main work /m],
    ['kill itself' => "${work}work(2e6); kill KILL => \$\$", qr/^& \w+ main work /m],
    ['undefine subs' => "${work}for (1 .. 300) { "
        . q[eval 'sub gone { work(3000) } gone(); undef &gone' }], qr/^& \w+ main work /m],
    ['make packages' => "${work}for my \$i (1 .. 3000) { "
        . 'eval qq{package P$i; sub f { main::work(300) } f()} }', qr/^& \w+ main work /m],
) {
    my ($name, $text, $want) = @$case;
    subtest "a program that does this while it is sampled: $name" => sub {
        my $file = spew(scratch() . '/p.pl', "$text\n");
        my $run = attached(['--rate', 2000, '--', $^X, $file]);
        is($run->{signal}, 0, 'the sampler lives');
        my ($written) = glob "$run->{dir}/tmon.out*";
        ok(defined $written && slurp($written) =~ $want, 'and has samples of it')
            or diag "status $run->{status}: $run->{err}";
        my @files = glob "$run->{dir}/tmon.out*";
        my $read = run_tool('dprofreport', @files ? [@files] : ['none']);
        is("$read->{status} $read->{err}", '0 ', 'which can be read');
        # The program after the exec may be over before the sampler finds it.
        like(slurp($files[1]), qr/^& \w+ main later /m, 'the next program has a file of its own')
            if $name eq 'exec' && @files > 1;
    };
}

# A process that becomes another program by exec, twice, after another process was sampled.
{
    package MadeUp;
    sub new { my ($class, $text) = @_; return bless { text => $text }, $class }
    sub counts { return [{ samples => 1, number => 0, ended => 1 }] }
    sub profile { return $_[0]{text} }
}
subtest 'no profile replaces another one' => sub {
    require Devel::DProf::Live::Attach;
    my $out = scratch() . '/many.out';
    my $session = Devel::DProf::Live::Attach->new(out => $out);
    my @pids = (7, 8, 8, 8);
    $session->{ended} = [map { +{ pid => $pids[$_], ppid => 1, command => 'p',
        target => MadeUp->new("text $_") } } 0 .. $#pids];
    my @names = $session->write_files;
    is_deeply([map { s{.*/}{}r } @names],
        ['many.out', 'many.out.8', 'many.out.8.exec1', 'many.out.8.exec2'],
        'each program of a process has a name of its own');
    is_deeply([map { slurp($_) } @names], [map { "text $_" } 0 .. 3], 'all profiles are there');
};

subtest '--children, and --slice' => sub {
    my $file = spew(scratch() . '/children.pl', $work . <<'END');
my @pids = map { my $p = fork; if (!$p) { sub in_child { work(1e6) for 1 .. 400 } in_child(); exit }
    $p } 1 .. 2;
syswrite STDOUT, '.';
sysread STDIN, my $x, 1;
kill KILL => @pids;
waitpid $_, 0 for @pids;
END
    my $run = started($^X, $file);
    sysread $run->{from}, my $dot, 1;
    my $out = scratch() . '/c.out';
    my $attached = in_process('dprofattach', '--children', '--for', '500ms', '-o', $out,
        $run->{pid});
    is($attached->{status}, 0, 'status') or diag $attached->{err};
    my @files = grep { !/\Q$out\E\z/ } glob "$out*";
    is(scalar @files, 2, 'a file of each child');
    is((grep { slurp($_) =~ /^& \w+ main in_child /m } @files), 2, 'with its subs');
    my $spool = scratch() . '/spool';
    my $sliced = in_process('dprofattach', '--children', '--for', '600ms', '--slice', '200ms',
        '--spool', $spool, $run->{pid});
    is($sliced->{status}, 0, 'status of slices') or diag $sliced->{err};
    my @slices = glob "$spool/*.tree";
    ok(@slices >= 4, 'slices') or diag "@slices";
    like($sliced->{err}, qr{\d+ slices in \Q$spool\E; dprofreport \Q$spool\E/\*\.tree},
        'and says so');
    my $read = run_tool('dprofreport', \@slices);
    is("$read->{status} $read->{err}", '0 ', 'dprofreport reads them');
    like($read->{out}, qr/in_child|work/, 'and shows the subs');
    syswrite $run->{to}, '.';
    is(ended($run), 0, 'the program has noticed nothing');
};

# ---- messages ----

subtest 'messages and exit statuses' => sub {
    my $gone = fork // die "fork: $!";
    POSIX::_exit(0) if !$gone;
    waitpid $gone, 0;
    my $sleeper = started('sleep', 100);
    my $text = spew(scratch() . '/text', "no core\n");
    my $empty = spew(scratch() . '/empty', '');
    for my $case (
        [dprofdump => [$gone], 1, qr/there is no process $gone/],
        [dprofattach => [$gone], 1, qr/there is no process $gone/],
        [dprofdump => [$sleeper->{pid}], 1, qr/process $sleeper->{pid}: it runs no perl/],
        [dprofattach => [$sleeper->{pid}], 1, qr/process $sleeper->{pid}: it runs no perl/],
        [dprofdump => [$text], 1, qr/\Q$text\E: not a core file/],
        [dprofdump => [$empty], 1, qr/\Q$empty\E: not a core file/],
        [dprofdump => [scratch()], 1, qr/: not a core file/],
        [dprofdump => ['./nowhere'], 1, qr{\./nowhere: No such file}],
        [dprofdump => [$^X], 1, qr/\Q$^X\E: not a core file/],
        [dprofdump => [], 2, qr/one process or core file at a time/],
        [dprofdump => [1, 2], 2, qr/one process or core file at a time/],
        [dprofattach => [], 2, qr/which process\?/],
        [dprofattach => ['perl'], 2, qr/perl: not the number of a process/],
        [dprofattach => [$$, '--', 'perl'], 2, qr/either processes or a command/],
        [dprofattach => ['--rate', 0, $$], 2, qr/rate/],
        [dprofattach => ['--rate', 'x', $$], 2, qr/rate/],
        [dprofattach => ['--rate', 1e6, $$], 2, qr/--rate 1000000: at most/],
        [dprofattach => ['--for', '10x', $$], 2, qr/--for 10x: a time is a number with/],
        [dprofattach => ['--for', 0, $$], 2, qr/--for 0: it must be a positive time/],
        [dprofattach => ['--spool', 'x', $$], 2, qr/--spool is for slices/],
        [dprofattach => ['--slice', 1, '-o', 'x', $$], 2, qr/-o is for one profile; with --slice/],
        [dprofattach => ['-o', '-', $$], 2, qr/name one/],
    ) {
        my ($tool, $args, $status, $message) = @$case;
        my $run = run_tool($tool, $args);
        my $name = "$tool @$args";
        is($run->{status}, $status, "$name: status");
        like($run->{err}, qr/\A[^\n]*$message/, "$name: message");
        is($run->{out}, '', "$name: nothing else");
        ok(!-e "$run->{dir}/tmon.out", "$name: no file");
    }
    killed($sleeper);
};

# Starts a process, becomes another user, prints whether /proc shows that user the process, and
# dumps it. The modules are loaded before, because that user may have no access to them.
my $as_other = spew(scratch() . '/other.pl', <<'END');
use strict; use warnings; use POSIX (); use DProfTest;
require Devel::DProf::Live::Target;
my $dump = DProfTest::main_of('dprofdump');
my $sleeper = fork // die "fork: $!";
if (!$sleeper) { sleep 100; POSIX::_exit(0) }
my $pid = fork // die "fork: $!";
if (!$pid) {
    $( = $) = '65534 65534';
    $< = $> = 65534;
    POSIX::_exit(99) if $> != 65534 || $< != 65534;
    syswrite STDOUT, (-e "/proc/$sleeper" ? 'seen' : 'hidden') . " $sleeper\n";
    POSIX::_exit($dump->($sleeper));
}
waitpid $pid, 0;
my $status = $? >> 8;
kill KILL => $sleeper;
waitpid $sleeper, 0;
exit $status;
END

my $YAMA = '/proc/sys/kernel/yama/ptrace_scope';

subtest "another user's process" => sub {
    plan skip_all => 'only root can be another user' if $> != 0;
    my @command = ($^X, (map { "-I$_" } root() . '/t/lib', @INC), $as_other);
    my $may_not = sub { qr/\Adprofdump: process $_[0] may not be read: $_[1]$/ };
    my $check = sub {
        my ($where, $expected, $why, @under) = @_;
        my $run = run_program([@under, @command]);
        return pass("$where: root cannot be another user here") if $run->{status} == 99;
        my ($seen, $pid) = $run->{out} =~ /\A(seen|hidden) (\d+)\n\z/ or return fail($where);
        is($seen, $expected // $seen, "$where: the process is $seen");
        is($run->{status}, 1, "$where: status");
        return like($run->{err}, $may_not->($pid, $why), "$where: it says why, and what to do");
    };
    my $NOBODY = 'kernel\.yama\.ptrace_scope is 3: nobody may until the next boot; '
        . 'record the program from its start: perl -d:DProf=sample=100 PROGRAM';
    my $OTHER = "it is another user's; try sudo";
    my $in_scope_3 = -e $YAMA && slurp($YAMA) == 3;
    $check->('/proc as it is', undef, $in_scope_3 ? $NOBODY : '.*(?:sudo|root).*');
    # A remount would change the /proc of the whole machine, as all its mounts share their options.
    # A new one, in name spaces of its own, does not.
    for (['hidepid=0', 'seen'], ['hidepid=2', 'hidden']) {
        my ($option, $expected) = @$_;
        my @under = (qw(unshare --mount --pid --fork sh -c),
            "mount -t proc -o $option proc /proc && exec \"\$@\"", 'sh');
      SKIP: {
            skip "$option: no /proc can be mounted here", 3 if run_program([@under, 'true'])->{raw};
            $check->($option, $expected, $in_scope_3 ? $NOBODY : $OTHER, @under);
        }
    }
    # Yama's setting can be changed for the whole machine only, and 3 for good. So the message is
    # tried with a folder in its place.
    for ([1, $OTHER], [2, $OTHER], [3, $NOBODY]) {
        my ($scope, $why) = @$_;
        my @under = (qw(unshare --mount sh -c), 'mount -t tmpfs none /proc/sys/kernel && '
            . "mkdir /proc/sys/kernel/yama && echo $scope > $YAMA && exec \"\$@\"", 'sh');
      SKIP: {
            skip 'no file can cover a setting here', 3 if run_program([@under, 'true'])->{raw};
            $check->("scope $scope", 'seen', $why, @under);
        }
    }
};

subtest 'the table of layouts has what the headers of this perl say' => sub {
    my ($own, $table) = Devel::DProf::Live::Target::_layouts();
    plan skip_all => 'the table is for x86-64, arm64 and numbers of 8 bytes'
        if $Config{archname} !~ /x86_64|amd64|aarch64/ || $Config{nvsize} != 8;
    my @fields = sort keys %$own;
    ok(@fields > 60, 'fields');
    is_deeply($table, $own, "perl $]");
};

done_testing;
