# builtins=slow: which builtins are recorded, in which caller and by what name; ops that call the
# program, die, jump and fork; random programs.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Glob ':bsd_glob';
use Test::More;
use DProfTest;
use FuzzProgram;
use StrictProfile;

my @SLOW = (PERL_DPROF_BUILTINS => 'slow');

# Returns what a program's profile has of main and CORE, after checking for the same output as
# plain.
sub record {
    my ($name, $code, %opt) = @_;
    my $file = spew(scratch() . '/prog.pl', $code);
    my $plain = plain([$file], env => $opt{env});
    my $run = profiled([$file], env => { counting(@SLOW), %{ $opt{env} || {} } });
    is(same_as_plain($plain, $run) . ($plain->{status} ? "status $plain->{status}: $plain->{err}"
        : ''), '', "the program runs as plain: $name");
    my %about = (unwinding => qr/::DESTROY\z/);
    is(join(', ', StrictProfile::problems($run->{profile}, \%about), @{ $about{late} || [] }), '',
        "the profile is well formed, and calls exit in time: $name");
    my $got = profile_ok($run->{profile}, "whole: $name", events => 1);
    if (defined $opt{marks}) {
        my $words = join ' ', $got->marks(qr/^(?:main::(?!(?:BEGIN|END|import)\z)|A::|CORE::)/);
        is($words =~ s/~|CORE:://gr, $opt{marks}, "the marks are right: $name");
    }
    return wantarray ? ($got, $run) : $got;
}

# ---- names ----

{
    my $got = record('names', <<'END');
my $file = "names-$$"; my $dir = "dir-$$";
open my $out, '>', $file or die; binmode $out; print {$out} "one\ntwo\nthree\n";
printf {$out} "%s\n", 'four'; CORE::say {$out} 'five';
syswrite $out, "x\n"; close $out;
open my $in, '<', $file or die; my $line = <$in>; my @lines = <$in>; eof $in; seek $in, 0, 0;
getc $in; read $in, my $buf, 3; sysread $in, $buf, 3; sysseek $in, 0, 0; close $in;
my $cat = 'x'; open $in, '<', $file; $cat .= <$in>; close $in;
-e $file; -f $file; -d '.'; -s $file; -r $file; -M $file; -x -w $file; stat $file; lstat $file;
mkdir $dir; rmdir $dir; opendir my $d, '.'; readdir $d; rewinddir $d; closedir $d; my @g = glob '*';
rename $file, "$file.2"; symlink "$file.2", $file; readlink $file; chmod 0600, "$file.2";
utime 0, 0, "$file.2"; unlink $file, "$file.2";
system 'true'; my $o = `true`; select undef, undef, undef, 0; sleep 0; my $p = fork; exit if !$p;
waitpid $p, 0; wait;
my $s = 'abcabc'; $s =~ /b/; my $re = 'c$'; $s =~ /a$re/; $s =~ s/a/b/; $s =~ s/b/uc $cat/e;
my @s = sort { $a cmp $b } 3, 1, 2;
my $packed = pack 'N', $$; unpack 'N', $packed; getpwuid $<; getpwnam 'root'; getgrgid 0;
pipe my $r, my $w; fcntl $r, 1, 0; flock $r, 8; socket my $so, 1, 1, 0; shutdown $so, 2;
END
    my %calls = map { /^\(program\) > CORE::(.*)/ ? ($1 => $got->{edges}{$_}) : () }
        keys %{ $got->{edges} };
    delete $calls{$_} for 'open', 'readline', 'close';
    is_deeply(\%calls, {
        binmode => 1, print => 1, printf => 1, say => 1, syswrite => 1, eof => 1, seek => 1,
        getc => 1, read => 1, sysread => 1, sysseek => 1,
        (map { $_ => 1 }
            qw(-e -f -d -s -r -M -x -w stat lstat mkdir rmdir opendir readdir rewinddir closedir
                glob rename symlink readlink chmod utime unlink)),
        (map { $_ => 1 }
            qw(system backtick select sleep fork waitpid wait regcomp sort pack unpack getpwuid
                getpwnam getgrgid)),
        pipe => 1, fcntl => 1, flock => 1, socket => 1, shutdown => 1, match => 2, subst => 2,
        substcont => 2,
    }, 'each builtin has the name that people write');
    is_deeply([@{ ($got->named('CORE::print'))[0] }{qw(package name kind)}],
        [qw(CORE print builtin)], 'the file has the name and the kind of a builtin');
    is($got->calls('CORE::readline'), 3, 'readline is counted in all its forms');
}
{
    my $file = spew(scratch() . '/prog.pl',
        'sub f { print "x\n" } f(); sub CORE::print { 1 } CORE::print();' . " &CORE::print();\n");
    my $run = profiled([$file], env => { counting(@SLOW) });
    my $report = run_tool('dprofpp', ['-aT', $run->{profile}]);
    like($report->{out}, qr/^main::f\n   CORE:print\n/m, 'dprofpp marks a builtin');
    like($report->{out}, qr/^CORE::print\n/m, 'a sub of the same name stays apart');
    my $merged = scratch() . '/merged';
    run_tool('dprofmerge', ['-o', $merged, $run->{profile}, $run->{profile}]);
    like(slurp($merged), qr/^& \w+ CORE print - kind=builtin$/m, 'dprofmerge keeps the kind');
    is(profiled(['-e', 'print "x\n"; "x" =~ /x/; sleep 0'], env => { counting() })->{out}, "x\n",
        'without the option the program runs as plain');
    is(scalar(grep { /^CORE/ }
        keys %{ read_profile(profiled(['-e', '"x" =~ /x/; sleep 0'],
            env => { counting() })->{profile})->{calls} }), 0,
                'no builtin is recorded without the option');
}

# ---- calls back, exits, jumps ----

my $one = 'sub one { 1 } ';
for (
    [ 'under its caller', 'sub f { sleep 0; one() } f(); sleep 0;',
        '+f +sleep -sleep +one -one -f +sleep -sleep' ],
    [ 'a comparator', 'sub by { $a <=> $b } my @x = sort by 2, 1; one();',
        '+sort +by -by -sort +one -one' ],
    [ 'a sort block that calls', 'my @x = sort { one(); $a <=> $b } 2, 1; one();',
        '+sort +one -one -sort +one -one' ],
    [ 'a comparator that dies', 'sub by { die 1 } eval { my @x = sort by 2, 1 }; one();',
        '+sort +by /by /sort +one -one' ],
    [ 'sort in place', 'my @x = (2, 1); @x = sort { one(); $a <=> $b } @x; @x = reverse sort @x;',
        '+sort +one -one -sort +sort -sort' ],
    [ 'a sort block that returns',
        'sub f { my @x = sort { one(); return $a <=> $b } 2, 1; one() } f();',
        '+f +sort +one -one -sort +one -one -f' ],
    [ 's///e', '(my $s = "aa") =~ s/a/one()/ge; one();',
        '+subst -subst +substcont -substcont +one -one +substcont -substcont +one -one +substcont '
            . '-substcont +one -one' ],
    [ 's///e that dies', 'eval { (my $s = "aa") =~ s/a/die 1/ge }; one();', undef ],
    [ 's///e left by last', 'for (1) { (my $s = "aa") =~ s/a/last/ge } one();',
        '+subst -subst +substcont -substcont +one -one' ],
    [ 'regex code', '"ab" =~ /a(?{ one() })b/; one();', '+match +one -one -match +one -one' ],
    [ 'regex code that dies', 'eval { "ab" =~ /a(?{ die 1 })b/ }; one();',
        '+match /match +one -one' ],
    [ 'an object in a pattern',
        'use overload; { package A; use overload q("") => sub { main::one(); "x" } } '
            . 'my $o = bless [], "A"; "x" =~ /^$o/; one();', undef ],
    [ 'a tied handle',
        'sub A::TIEHANDLE { bless [], "A" } sub A::PRINT { one() } tie *H, "A"; print H 1; one();',
        '+A::TIEHANDLE -A::TIEHANDLE +print +A::PRINT +one -one -A::PRINT -print +one -one' ],
    [ 'a tied handle that dies',
        'sub A::TIEHANDLE { bless [], "A" } sub A::PRINT { die 1 } tie *H, "A"; '
            . 'sub f { print H 1 } eval { f() }; one();',
        '+A::TIEHANDLE -A::TIEHANDLE +f +print +A::PRINT /A::PRINT /print /f +one -one' ],
    [ '__WARN__',
        'local $SIG{__WARN__} = \&one; local $^W = 1; my $u; open my $o, ">", "/dev/null"; '
            . 'print $o $u; close $o; one();',
        '+open -open +print +one -one -print +close -close +one -one' ],
    [ 'a signal',
        '$SIG{USR1} = \&one; my $p = fork; if (!$p) { kill USR1 => getppid; exec "true" } '
            . 'waitpid $p, 0; one();', undef ],
    [ 'a handle closed by its end',
        'sub f { open my $o, "<", "/dev/null"; readline $o; one() } f();',
        '+f +open -open +readline -readline +one -one -f' ],
    [ 'readline into a new variable', 'open my $in, "<", $0; while (my $l = <$in>) { one() }',
        undef ],
    [ 'an op that fails',
        'use autodie; sub f { no autodie; open my $o, "<", "/none" or one() } f();', undef ],
    [ 'an op that dies', 'sub f { my @x = unpack "x5", "x" } eval { f() }; one();',
        '+f +unpack /unpack /f +one -one' ],
    [ 'code compiled at run time', 'eval q{sub g { "x" =~ /x/ } 1}; g();', '+g +match -match -g' ],
    [ 'split has no match', 'my @x = split /,/, "a,b"; my @y = map { /a/ } @x;',
        '+match -match +match -match' ],
    [ 'recursion', 'sub f { my $n = shift; my @x = sort { f($n - 1) if $n; 0 } 1, 2 } f(1);',
        '+f +sort +f +sort -sort -f -sort -f' ],
    [ 'exit within', 'my @x = sort { one(); exit } 2, 1;', '+sort +one -one /sort' ],
) {
    my ($name, $code, $marks) = @$_;
    record($name, $one . $code, marks => $marks);
}
record('skip=CORE:', $one . 'sub f { sleep 0; "x" =~ /x/; my @x = sort { one() } 2, 1 } f();',
    marks => '+f +match -match +one -one -f',
    env => { PERL_DPROF_SKIP => '^CORE:s' });
record('only=CORE:print', $one . 'open my $o, ">", "/dev/null"; sub f { print $o one() } f();',
    marks => '+print -print',
    env => { PERL_DPROF_ONLY => '^CORE:print$' });

# ---- processes ----

subtest 'Children and forks are recorded with builtins' => sub {
    my ($got, $run) = record('children that only exec',
        'system "true"; my $o = `true`; for (1 .. 2) { my $p = fork; if (!$p) { exec "true" } '
            . 'waitpid $p, 0 } '
        . 'open my $in, "-|", "echo y"; print <$in>; close $in; my $p = open $in, "-|"; '
        . 'exec "true" if !$p; close $in;');
    is_deeply([map { m{([^/]+)$} } glob "$run->{dir}/tmon.out*"], ['tmon.out'],
        'children that only exec have no file');
    my $file = spew(scratch() . '/prog.pl',
        'sub f { 1 } sub g { my $p = fork; if (!$p) { f(); sleep 0; exit } waitpid $p, 0; '
            . 'print $p } g();');
    for my $mode ($ENV{EXTENDED_TESTING} ? qw(trace tree) : 'tree') {
        $run = profiled([$file], env => { counting(@SLOW), PERL_DPROF_MODE => $mode });
        my $child = "$run->{profile}.$run->{out}";
        my $report = run_tool('dprofpp', ['-Sq', $child]);
        is("$report->{err}$report->{raw}", '0', "a child's $mode is read without a message");
        if ($mode eq 'trace') {
            my $got = profile_ok($child);
            is_deeply($got->{inherited}, ['main::g'],
                'the child begins in the sub that forked, not in fork');
            is_deeply([map { $got->calls($_) } qw(main::f CORE::sleep CORE::fork)], [1, 1, 0],
                'the child has its own calls');
        }
    }
};

# ---- ops ----

subtest 'Recording builtins adds no ops' => sub {
    my $file = spew(scratch() . '/prog.pl',
        'my @x = sort { $a <=> $b } map { $_ * 7 % 5 } 1 .. 50; "abc" =~ /b/ for 1 .. 20; '
            . 'print "@x\n";');
    my @ops = map {
        my $run = profiled([$file], env => { counting(), PERL_DPROF_MODE => 'tree',
            PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0, %$_ });
        my $sum = 0;
        my ($tree) = slurp($run->{profile}) =~ /^PART3\n(.*)/ms;
        $sum += (split ' ', $_)[-1] for grep { /^= / } split /\n/, $tree;
        $sum;
    } { }, { @SLOW }, { @SLOW };
    is($ops[1], $ops[0], 'the option adds no ops to the first run');
    is($ops[2], $ops[1], 'the option adds no ops to the second run');
};

# ---- random programs ----

# (Program 518 overruns perl's own save stack, as valgrind shows without the profiler, so the seeds
# begin after it.)
for my $seed (519 .. 518 + ($ENV{DPROF_PROGRAMS} // TestEnvironment::rounds(1, 16))) {
    my $file = spew(scratch() . "/fuzz$seed.pl", FuzzProgram::program($seed, 3));
    my $plain = plain([$file], limit => 30);
  SKIP: {
        skip "program $seed does not run", 1 if $plain->{raw} || $plain->{out} !~ /^checks /m;
        my %how = $seed % 2 ? () : (PERL_DPROF_SKIP => '^main::f\d*5$|^main::by_|^CORE:m',
            FUZZ_SKIP => '^main::f\d*5$|^main::by_');
        my $run = profiled([$file], limit => 60,
            env => { counting(@SLOW, FUZZ_BUILTINS => 1, %how) });
        my %about = (until => 'main::printing', unwinding => $FuzzProgram::UNWINDING);
        $about{skip} = qr/$how{FUZZ_SKIP}/ if %how;
        my @wrong = $run->{raw} ? "status $run->{raw}: $run->{err}"
            : StrictProfile::problems($run->{profile}, \%about);
        push @wrong, FuzzProgram::compare($run->{out}, \%about) unless @wrong;
        is(join("\n", @wrong), '', "the calls of random program $seed are right");
    }
}

done_testing;
