package DProfTest;

# Runs programs plain and under -d:DProf, compares the two, and checks the profile against what the
# program prints about itself.
#
# A program in t/scripts may carry lines like these (all optional):
#   # needs: Some::Module 1.0          skipped where it is absent
#   # perl: 5.36                       skipped on older perls
#   # expect: main::f 3                calls of a sub, exactly
#   # expect: main::f > main::g 2      calls of an edge, exactly
#   # never: main::h                   not in the profile at all
#   # packages: main Foo               whose subs `trace` shows; main alone if missing
#   # trace: +f +g /g ~/f              all marks of those, in order (BEGIN, END, import and
#                                      bootstrap left out); ~ where no time passed before the mark
#   # switches: -T                     for perl
#   # args: a b
#   # status: 255                    of a program that is meant to fail
#   # clocks: counting              and not with the default one too
#   # env: NAME=value                 of the profiled run
# A program may also write lines like those of `expect` to the file named by $ENV{EXPECT}, if it
# keeps count itself.

use strict;
use warnings;
use TestEnvironment;
use Exporter 'import';
use Carp 'croak';
use Cwd 'abs_path';
use File::Basename 'dirname';
use File::Glob ':bsd_glob';
use File::Path qw(make_path remove_tree);
use File::Spec;
use Config;
use Test::More;
use POSIX ();
use version;
use StrictProfile;
use TraceReader;

our @EXPORT = qw(root data scratch slurp spew built_perl run_perl run_program tool_command run_tool
                 in_process dprofpp profiled plain same_as_plain read_profile edges_of_tree
                 profile_ok check_script run_scripts modes_differ counting PROFILER profiler_env
                     tree
                 without_privileges no_terminal on_terminal no_lines);

# A tool that runs in a folder of its own still loads its modules.
@INC = map { ref || !-d ? $_ : abs_path($_) } @INC;

my $ROOT = abs_path(File::Spec->catdir(dirname(__FILE__), '..', '..'));

# Returns the folder of the distribution.
sub root { return $ROOT }

# Returns the path of a recorded profile, by its name in t/data.
sub data { return "$ROOT/t/data/$_[0]" }

my ($scratch, $owner);
my $count = 0;
my $tree;

# Returns the module's folder as it is when installed: one directory, made at the first call. With
# the two of blib, XSLoader falls back to DynaLoader, and a program would see what that loads.
sub tree {
    return $tree //= do {
        my $dir = scratch();
        make_path("$dir/Devel/DProf", "$dir/auto/Devel/DProf");
        my %from = ('Devel/DProf.pm' => 'lib', 'Devel/DProf/Control.pm' => 'lib',
            'auto/Devel/DProf/DProf.so' => 'arch');
        for (keys %from) {
            symlink "$ROOT/blib/$from{$_}/$_", "$dir/$_" or croak "$dir/$_: $!";
        }
        $dir;
    };
}

# Returns perl's switches that load the profiler from the build tree.
sub PROFILER { return ('-I' . tree(), '-d:DProf') }

# Returns environment variables, as pairs, with which the perls that a program starts load the
# profiler.
sub profiler_env { return (PERL5LIB => tree(), PERL5OPT => '-d:DProf') }

# Returns how to run the profiler as an ordinary user, for whom permissions hold: what to put before
# a command, and perl with the profiler, both as references to lists; or undef and why there is no
# way. For root it is user 65534, who may have no access to the build tree (perhaps below /root),
# and gets a copy.
sub without_privileges {
    return ([], [$^X, PROFILER()]) if $> != 0;
    my $dir = scratch();
    my $from = tree();
    for my $file ('Devel/DProf.pm', 'Devel/DProf/Control.pm', 'auto/Devel/DProf/DProf.so') {
        make_path(dirname("$dir/$file"));
        spew("$dir/$file", slurp("$from/$file"));
    }
    chmod 0755, $dir, map { "$dir/$_" } qw(Devel Devel/DProf auto auto/Devel auto/Devel/DProf);
    chmod 0644, map { "$dir/$_" } 'Devel/DProf.pm', 'Devel/DProf/Control.pm',
        'auto/Devel/DProf/DProf.so';
    chmod 0711, $scratch;
    my @as = ($^X, '-e',
        'my $u = 65534; $( = $) = "$u $u"; $< = $> = $u; $< == $u && $> == $u or die "no user $u: '
            . '$!\n"; exec @ARGV or die "$ARGV[0]: $!\n"');
    my @perl = ($^X, "-I$dir", '-d:DProf');
    my $own = scratch();
    chown 65534, 65534, $own;
    my $run = run_program([@as, @perl, '-e', 'print "ran"'], dir => $own);
    return (\@as, \@perl) if $run->{out} eq 'ran' && !$run->{raw} && -e "$own/tmon.out";
    return (undef, 'root cannot run perl as somebody else here: '
        . ((split /\n/, $run->{err})[0] // "status $run->{raw}"));
}

# Returns environment variables, as pairs, with the counting clock, and those given.
sub counting { return (PERL_DPROF_CLOCK => 'counting', @_) }

# Makes the folder of all that this process makes, and returns its path. Random letters, as
# File::Temp has them, sometimes spell a word, and the digits of a process's number sometimes a
# number, that a test does not want to see in an output that shows the path. So the number is
# written in consonants.
sub make_scratch {
    my $parent = abs_path(File::Spec->tmpdir);
    for (my $n = 1;; $n++) {
        my $dir = "$parent/dprof-test-" . "$$-$n" =~ tr/0-9/BFGHJKQVWZ/r;
        if (mkdir $dir, 0700) {
            $owner = $$;
            return $dir;
        }
        croak "$dir: $!" unless $!{EEXIST};
    }
}

END {
    if ($scratch && $$ == $owner) {
        local ($?, $!, $@);
        chdir '/';
        remove_tree($scratch);
    }
}

# Returns a path in the scratch folder that nothing has yet.
sub fresh_name {
    $scratch //= make_scratch();
    return "$scratch/" . ++$count;
}

# Makes a new directory, which is removed at the end, and returns its path.
sub scratch {
    my $dir = fresh_name();
    mkdir $dir or croak "$dir: $!";
    return $dir;
}

# Returns the bytes of a file, or undef.
sub slurp {
    my $file = shift;
    open my $in, '<:raw', $file or return undef;
    local $/;
    return scalar readline $in;
}

# Writes bytes to a file. Returns its path.
sub spew {
    my ($file, $text) = @_;
    open my $out, '>:raw', $file or croak "$file: $!";
    print {$out} $text;
    close $out or croak "$file: $!";
    return $file;
}

# Runs a command in a directory of its own. Options: dir, env, stdin, umask,
# limit (of seconds). Returns { out, err, status, signal, dir }.
sub run_program {
    my ($command, %opt) = @_;
    my $dir = $opt{dir} // scratch();
    my ($out, $err) = map { fresh_name() . ".$_" } qw(out err);
    my $pid = fork // croak "fork: $!";
    if (!$pid) {
        delete @ENV{grep { /^PERL_DPROF|^DPROF|^PERL5(?:OPT|DB|LIB)$|^PERL_UNICODE$|^HARNESS_/ }
            keys %ENV};
        my $env = $opt{env} // {};
        for (keys %$env) {
            if (defined $env->{$_}) { $ENV{$_} = $env->{$_} } else { delete $ENV{$_} }
        }
        chdir $dir or POSIX::_exit(126);
        open STDIN, '<', $opt{stdin} // File::Spec->devnull or exit 126;
        open STDOUT, '>', $out or exit 126;
        open STDERR, '>', $err or exit 126;
        umask $opt{umask} if defined $opt{umask};
        alarm($opt{limit} // 120);
        POSIX::_exit($command->()) if ref $command eq 'CODE';
        exec { $command->[0] } @$command or exit 127;
    }
    waitpid $pid, 0;
    return {
        out => slurp($out), err => slurp($err), status => $? >> 8, signal => $? & 127, dir => $dir,
        pid => $pid,
        raw => $?,
    };
}

# Runs a shell's command on a terminal, which script(1) makes. Options: those of run_program.
sub on_terminal {
    my ($command, %opt) = @_;
    return run_program(['script', '-qec', $command, File::Spec->devnull], %opt);
}

# Returns why nothing can be run on a terminal, or undef.
my $no_terminal;

# Returns why no command can be run on a terminal here, or undef.
sub no_terminal {
    return $no_terminal if defined $no_terminal;
    my $probe = on_terminal('echo here', limit => 20);
    return if !$probe->{raw} && $probe->{out} =~ /here/;
    my $version = run_program(['script', '--version'], limit => 20)->{out};
    return $no_terminal = $version =~ /util-linux/
        ? join ' ', 'no pseudo-terminal can be opened here:',
            split ' ', $probe->{err} . $probe->{out}
        : 'no script(1) of util-linux, which makes a terminal';
}

# Returns why this perl cannot record lines, nor samples beside a tree of calls, or undef. It does
# not ask the recorder: one that refused lines where they can be recorded would hide its mistake.
sub no_lines {
    return if $] >= 5.032 && $Config{ptrsize} == 8;
    return 'lines needs a perl of 5.32 or newer with 64 bits';
}

# Returns the beginning of a command: perl with the modules that were built.
sub built_perl { return ($^X, map { "-I$ROOT/blib/$_" } qw(lib arch)) }

# Returns the command that runs a tool that was built, with these arguments.
sub tool_command {
    my ($tool, @args) = @_;
    return (built_perl(), "$ROOT/blib/script/$tool", @args);
}

# Loads a tool and returns the function that runs it.
sub main_of {
    my ($tool) = @_;
    my $module = ucfirst $tool;
    require "Devel/DProf/Tool/$module.pm";
    return "Devel::DProf::Tool::$module"->can('main');
}

# Runs a tool: its name, [ARGS], options of run_program. It runs in a process that has loaded it
# already, or, with fresh => 1, as the command that a user types.
sub run_tool {
    my ($tool, $args, %opt) = @_;
    return run_program([tool_command($tool, @$args)], %opt) if $opt{fresh};
    my $main = main_of($tool);
    require Devel::DProf::Tool::Record;
    return run_program(sub { my $status = $main->(@$args); close STDOUT; return $status }, %opt);
}

# Runs dprofpp and returns standard output, standard error, status. A hash in front has options of
# run_tool.
sub dprofpp {
    my %opt = ref $_[0] ? %{ +shift } : ();
    my $run = run_tool('dprofpp', [@_], %opt);
    return (@$run{qw(out err)}, $run->{signal} ? "signal $run->{signal}" : $run->{status});
}

# Calls a tool's main function in this process, for tests that run it a thousand times: its name,
# ARGS. Returns what run_tool returns.
sub in_process {
    my ($tool, @args) = @_;
    my $main = main_of($tool);
    require Devel::DProf::Tools;
    my ($out, $err, $status) = ('', '');
    {
        local (*STDOUT, *STDERR);
        local %ENV = %ENV;
        delete @ENV{map { $_->{env} } Devel::DProf::Tools::all()};
        open STDOUT, '>', \$out or die "memory: $!";
        open STDERR, '>', \$err or die "memory: $!";
        $status = $main->(@args);
        close STDERR;
    }
    return { out => $out, err => $err, status => $status };
}

# run_perl([perl's arguments], options) runs perl; profile => 1 adds the profiler.
sub run_perl {
    my ($args, %opt) = @_;
    my @switches = $opt{profile} ? PROFILER() : ();
    my $run = run_program([$^X, @switches, @$args], %opt);
    $run->{profile} = "$run->{dir}/tmon.out";
    return $run;
}

# Runs perl without the profiler. Returns what run_program returns.
sub plain { my ($args, %opt) = @_; return run_perl($args, %opt) }
# Runs perl with the profiler. Returns what run_perl returns.
sub profiled { my ($args, %opt) = @_; return run_perl($args, %opt, profile => 1) }

# Reads a profile in the plainest way. Returns a TraceReader.
sub read_profile {
    my ($file, %opt) = @_;
    return TraceReader->read($file, %opt);
}

# Returns a hash of calls by "caller > callee", of a tree file or a file's part that is a tree, read
# in the plainest way. Phases are no callers here.
sub edges_of_tree {
    my ($path) = @_;
    my (%name, @stack, %edges);
    my ($tree) = slurp($path) =~ /^PART3\n(.*)/ms;
    for (split /\n/, $tree // '') {
        if (my ($id, $of, $name, $kind) = /^& (\w+) (\S+) (\S+) \S+(?:.* kind=(\w+))?/) {
            $name = $of . (($kind // '') eq 'span' ? ':' : '::') . $name;
            $name =~ s/%([0-9A-F]{2})/chr hex $1/ge;
            utf8::decode($name);
            $name{$id} = ($kind // '') eq 'phase' ? '(program)' : $name;
        } elsif (/^= (\d+) (\w+) (\d+)/) {
            my ($depth, $id, $calls) = ($1, $2, $3);
            my $name = $depth ? $name{$id} // die "$path: no name for $id\n" : '(program)';
            $#stack = $depth - 1;
            $edges{"$stack[-1] > $name"} += $calls if @stack && $name ne '(program)';
            push @stack, $name;
        }
    }
    return \%edges;
}

# Checks that a profile is whole and has no flaw. Returns the reader.
sub profile_ok {
    my ($file, $what, %opt) = @_;
    my $got = read_profile($file, %opt);
    push @{ $got->{problems} }, 'not complete' unless $got->complete || $opt{cut};
    is(join("\n", $got->problems), '', $what // 'profile well formed');
    return $got;
}

# Checks for the same output, messages and status as without the profiler. Without a name no test is
# made: the difference is returned, '' for none.
sub same_as_plain {
    my ($plain, $run, $what) = @_;
    my @diffs;
    for my $what (qw(status signal out err)) {
        my ($want, $have) = map { $_->{$what} // 'none' } $plain, $run;
        # Perl's own messages name addresses, which differ from run to run.
        s/SV 0x[0-9a-f]+, Perl interpreter: 0x[0-9a-f]+/SV/g for $want, $have;
        next if $want eq $have;
        # The first line that differs is enough.
        my ($first, $theirs) = ([split /^/, $want], [split /^/, $have]);
        my $n = 0;
        $n++ while $n < @$first && $n < @$theirs && $first->[$n] eq $theirs->[$n];
        push @diffs, "$what: plain <" . substr($first->[$n] // '', 0, 300) . '>, profiled <'
            . substr($theirs->[$n] // '', 0, 300)
            . '>, line ' . ($n + 1);
    }
    my $diff = join "\n", @diffs;
    is($diff, '', $what) if defined $what;
    return $diff;
}

# Perls with PERL_RC_STACK free an SV twice where a comparator is left by die, next or the like, and
# may crash. Returns whether this program does so without the profiler, in a few runs.
sub perl_crashes {
    my ($args, %opt) = @_;
    return 0 if "$Config{ccflags}" !~ /PERL_RC_STACK/;
    return scalar grep { plain($args, %opt)->{signal} } 1 .. 4;
}

# ---- t/scripts ----

# Returns what the comments at the beginning of a test program say (# expect: ...), as a hash.
sub directives {
    my $file = shift;
    my %say = (expect => [], never => [], trace => undef, packages => 'main', args => '',
        switches => '', clocks => 'counting default');
    for (split /\n/, slurp($file)) {
        my ($key, $value) = /^# (\w+): (.*?)\s*$/ or next;
        if ($key =~ /^(?:expect|never|needs)$/) { push @{ $say{$key} }, $value }
        elsif ($key eq 'trace') {
            $say{trace} = defined $say{trace} ? "$say{trace} $value" : $value;
        }
        else { $say{$key} = $value }
    }
    return \%say;
}

# Compares one expected number of calls, "NAME N" or "CALLER > CALLEE N", with a profile. Returns
# the difference in words, or nothing.
sub check_expect {
    my ($got, $line) = @_;
    my ($name, $n) = $line =~ /^(.*\S)\s+(\d+)$/ or return "bad expectation: $line";
    utf8::decode($name);
    my $is = ($name =~ / > / ? $got->{edges} : $got->{calls})->{$name} // 0;
    my $text = "$name: $is calls, not $n";
    utf8::encode($text);
    return $is == $n ? () : $text;
}

# Returns the differences between a profile and what a program prints about itself.
sub compare {
    my ($got, $say, $own, $exact_time) = @_;
    my @diffs = $got->problems;
    push @diffs, 'not complete' unless $got->complete;
    push @diffs, map { check_expect($got, $_) } @{ $say->{expect} }, @$own;
    push @diffs, map { "$_ is in the profile" } grep { $got->named($_) } @{ $say->{never} };
    if (defined $say->{trace}) {
        my $packages = join '|', map { quotemeta } split ' ', $say->{packages};
        my $words = join ' ',
            $got->marks(qr/^(?:$packages)::(?!(?:BEGIN|END|import|bootstrap)\z)[^:]/);
        my $want = join ' ', split ' ', $say->{trace};
        $words =~ s/~//g, $want =~ s/~//g unless $exact_time;
        push @diffs, "marks: $words\nnot:   $want" if $words ne $want;
    }
    return @diffs;
}

# Runs one program plain, with the counting clock, and with the default clock, which has hooks of
# its own. Many programs also run as trees: every second of these has the default clock, and every
# third the tree; under EXTENDED_TESTING all have both.
sub check_script {
    my ($file, $both_modes, $one_clock) = @_;
    my $name = $file =~ s{.*/t/scripts/}{}r =~ s/\.pl$//r;
    my $say = directives($file);
    my $skip = $say->{perl} && $] < version->parse("v$say->{perl}")->numify
        ? "needs perl $say->{perl}" : undef;
    for (@{ $say->{needs} // [] }) {
        my ($module, $version) = split ' ';
        $skip //= "needs $_" unless module_there($module, $version);
    }
  SKIP: {
        skip "$name: $skip", 1 if $skip;
        my @args = (split(' ', $say->{switches}), $file, split ' ', $say->{args});
        my $expect = scratch() . '/expect';
        my $plain = plain(\@args, env => { EXPECT => $expect });
        my @own = split /\n/, slurp($expect) // '';
        my @diffs;
        skip "$name: perl itself crashes in it", 1 if $plain->{signal} && perl_crashes(\@args);
        push @diffs, "plain: status $plain->{status}, signal $plain->{signal}: $plain->{err}"
            if $plain->{raw} != ($say->{status} // 0) << 8;
        my @clocks = split ' ', $say->{clocks};
        @clocks = 'counting' if $one_clock && grep { $_ eq 'counting' } @clocks;
        for my $clock (map { $_ eq 'default' ? undef : $_ } @clocks) {
            unlink $expect;
            my %env = map { split /=/, $_, 2 } split ' ', $say->{env} // '';
            my $in_both = $both_modes && ($clock // '') eq 'counting';
            @env{qw(PERL_HASH_SEED PERL_PERTURB_KEYS)} = (0, 0) if $in_both;
            my $run = profiled(\@args, env => { EXPECT => $expect,
                PERL_DPROF_CLOCK => $clock, %env });
            my @these = same_as_plain($plain, $run) || ();
            my $got = read_profile($run->{profile}, events => defined $say->{trace});
            push @these, compare($got, $say, \@own, $clock);
            my %as_tree = (EXPECT => $expect, PERL_DPROF_CLOCK => $clock,
                PERL_DPROF_MODE => 'tree', %env);
            push @these, modes_differ($run, profiled(\@args, env => \%as_tree), $got) if $in_both;
            push @diffs, map { ($clock // 'default') . " clock: $_" } @these;
            unlink $run->{profile};
        }
        my $diff = join "\n", @diffs;
        is($diff, '', $name);
    }
    return;
}

# Checks that a tree has the same calls as a trace, and that the program does not notice which it
# is. Returns what is wrong; removes the tree's file. got: the trace, where it has been read.
sub modes_differ {
    my ($trace, $tree, $got) = @_;
    my @wrong = grep { length } same_as_plain($trace, $tree);
    push @wrong, map { "the tree: $_" } StrictProfile::problems($tree->{profile});
    my $have = edges_of_tree($tree->{profile});
    my $want = ($got // read_profile($trace->{profile}))->{edges};
    for (sort keys %{ { %$have, %$want } }) {
        my ($t, $s) = ($want->{$_} // 0, $have->{$_} // 0);
        push @wrong, "$_: $t in the trace, $s in the tree" if $t != $s;
    }
    unlink $tree->{profile};
    return @wrong;
}

my %there;

# Returns whether this perl has a module, in this version at least.
sub module_there {
    my ($module, $version) = @_;
    return $there{"$module " . ($version // 0)} //= do {
        my $run = run_perl(['-e', "require $module; $module->VERSION(" . ($version // 0) . ')']);
        $run->{raw} == 0 ? 1 : 0;
    } || undef;
}

# Checks the test programs of a group, those of t/scripts/GROUP.
sub run_scripts {
    my ($group, $both_modes) = @_;
    my @files = grep { !@ARGV || m{/(?:@{[join '|', @ARGV]})\.pl$} }
        sort glob "$ROOT/t/scripts/$group/*.pl";
    plan tests => scalar @files;
    my $n = 0;
    my $each = $both_modes ? 3 : 2;
    check_script($_, $both_modes, !$ENV{EXTENDED_TESTING} && $n++ % $each) for @files;
    return;
}

1;
