package Devel::DProf::Tool::Dprofdump;

# dprofdump: the stack of a running perl, or of a core file.

use strict;
use warnings;

use Devel::DProf::Live::Target;
use Devel::DProf::Text qw(plural json_text);
use Devel::DProf::Tool qw(OK FAILED complain output written);
use Devel::DProf::Tool::Options;

our $VERSION = $Devel::DProf::Core::VERSION;

my $TOOL = Devel::DProf::Tool::Options->new(
    name => 'dprofdump', run => \&dump_target, text => <<'END',
dprofdump [options] PID | CORE

Shows what a perl does now: its subs with file and line, the innermost first. The program needs
not to have loaded the profiler, and is neither stopped nor changed.

= threads
    --threads           all threads that run a perl
= args
    --args              the arguments of the subs, which may be secrets
= json
    --json              for programs
= pager!
    --no-pager          does not use a pager
    -V  -h  -H          version, this help, the manual
END
);

sub main { return $TOOL->main(@_) }
sub command { return $TOOL }

# Runs the tool: reads the stacks of a process or core file, and prints them. Returns the exit
# status.
sub dump_target {
    my ($opt, $names) = @_;
    return $TOOL->usage('one process or core file at a time; dprofdump PID') if @$names != 1;
    my ($name) = @$names;
    my $is_core = $name !~ /\A[0-9]+\z/ || -e $name;
    my $target = eval {
        $is_core ? Devel::DProf::Live::Target->core($name, %$opt{threads})
            : Devel::DProf::Live::Target->process($name, %$opt{threads});
    };
    if (!$target) {
        my $why = $@ =~ s/\n\z//r;
        $why = "process $name: $why" if !$is_core && $why !~ /\bprocess $name\b/;
        $why = "$name: $why" if $is_core && index($why, $name) != 0;
        $why .= $is_core ? instead_of($name) : '';
        complain("dprofdump: $why");
        return FAILED;
    }
    my @threads = @{ $target->stacks(args => $opt->{args}) };
    my $perl = $target->counts->[0]{perl};
    complain("dprofdump: perl $perl is newer than this version of the tools; it is read like the "
        . 'newest that they know') if $target->counts->[0]{is_newer};
    if (!$is_core) {
        $_->{waits_in} = Devel::DProf::Live::Target::waits_in($name, $_->{tid}) for @threads;
    }
    my %what = (name => $name, perl => $perl, threads => \@threads, is_core => $is_core);
    my ($out) = output($opt->{pager} // 1, !$opt->{json});
    binmode $out, ':encoding(UTF-8)' if !$opt->{json};
    my $rc = print({$out} $opt->{json} ? json_of(\%what) : text_of(\%what)) ? 0 : 1;
    my $is_read = grep { $_->{frames} } @threads;
    return written('dprofdump', $out, $rc) || ($is_read ? OK : FAILED);
}

# Returns the end of the message about a file that is no core file: the command that shows it if it
# is a profile, or else the one that shows a program.
sub instead_of {
    my ($name) = @_;
    return "; dprofreport $name shows a profile" if Devel::DProf::Tool::is_profile($name);
    return '; dprofdump PID shows a program that runs';
}

# ---- text ----

# Returns the stacks of all threads as text. what: a hash of name, is_core, perl and threads.
sub text_of {
    my ($what) = @_;
    my @threads = @{ $what->{threads} };
    my $kind = $what->{is_core} ? "Core file $what->{name}" : "Process $what->{name}";
    return join "\n", map { "$_\n" } map {
        my $thread = $_;
        my $title = @threads > 1 ? "Thread $thread->{tid} of \l$kind" : $kind;
        $title .= " (perl $what->{perl})";
        join "\n", answer_text($title, $thread, $what->{is_core}),
            $thread->{outside} ? () : ('', frames_of($thread));
    } @threads;
}

# Returns the sentence that says what a thread does now.
sub answer_text {
    my ($title, $thread, $is_core) = @_;
    return "$title could not be read: its stack changed each time." if !$thread->{frames};
    my $top = $thread->{frames}[0];
    my $where = sub_name($top) . (defined $top->{line} ? " at $top->{file} line $top->{line}" : '');
    my $what = $thread->{leaf} // ($thread->{op} eq '' ? '' : "op $thread->{op}");
    my $state = $thread->{state} // '';
    my $does = $is_core ? 'was' : $state eq 'R' ? 'runs' : $state eq 'T' ? 'is stopped'
        : $state eq 't' ? 'is held by a debugger' : 'waits';
    my @inside = @{ $thread->{inside} };
    my @notes = (($thread->{waits_in} // '') eq '' ? () : "kernel: $thread->{waits_in}",
        @inside ? 'inside ' . join(' inside ', @inside) : ());
    return "$title $does outside of perl's code, in the program around it"
        . (@notes ? ' (' . join('; ', @notes) . ')' : '') . '.' if $thread->{outside};
    return "$title $does in $where" . ($what eq '' ? '' : ", in $what")
        . (@notes ? ' (' . join('; ', @notes) . ')' : '') . '.';
}

# Returns the name of a frame's code in a sentence.
sub sub_name {
    my ($frame) = @_;
    return $frame->{kind} eq 'sub' ? $frame->{sub} : $frame->{kind} eq 'main' ? 'the main program'
        : $frame->{kind} eq 'eval' ? 'a string eval' : 'a file that is loaded';
}

# Returns the lines of a stack, the innermost frame first.
sub frames_of {
    my ($thread) = @_;
    my @frames = @{ $thread->{frames} || [] };
    my @names = map {
        my $name = { sub => $_->{sub}, main => '(program)', eval => '(eval)',
            require => '(require)' }->{ $_->{kind} };
        $name . ($_->{args} // '');
    } @frames;
    my $width = 0;
    for (@names) { $width = length if length > $width && length() <= 50 }
    return map {
        my $frame = $frames[$_];
        my $at = defined $frame->{line} ? "$frame->{file}:$frame->{line}" : '?';
        sprintf '%3d  %-*s  %s', $_, $width, $names[$_], $at;
    } 0 .. $#frames;
}

# Returns the stacks of all threads as JSON, in bytes.
sub json_of {
    my ($what) = @_;
    require JSON::PP;
    return JSON::PP->new->canonical->pretty->utf8->encode({
        perl => $what->{perl}, ($what->{is_core} ? 'core' : 'pid') => $what->{name},
        threads => $what->{threads},
    });
}

1;
