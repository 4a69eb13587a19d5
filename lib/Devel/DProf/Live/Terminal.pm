package Devel::DProf::Live::Terminal;

# Shows a screen on a terminal and reads single keys. However the program ends, the terminal gets
# its former state back.

use strict;
use warnings;

use Devel::DProf::Text qw(bytes);
use Devel::DProf::Tool qw(terminal_size);
use POSIX ();
use Scalar::Util 'weaken';

our $VERSION = $Devel::DProf::Core::VERSION;

# The sequences that switch to the alternate screen, without cursor and line wrap, and back.
use constant {
    ENTER => "\e[?1049h\e[?25l\e[?7l\e[H\e[2J", LEAVE => "\e[?7h\e[?25h\e[?1049l",
};

# Returns whether standard input and output are a terminal that can show a screen.
sub is_there { return -t STDIN && -t STDOUT && ($ENV{TERM} // 'dumb') ne 'dumb' }

# Takes the terminal over: single keys without echo, and the alternate screen. Handlers only note
# signals, which `obey` and the caller act on.
sub new {
    my ($class) = @_;
    my $before = POSIX::Termios->new;
    $before->getattr(0);
    my $self = bless { before => $before, read => '', signal => '', is_changed => 0 }, $class;
    weaken(my $weak = $self);       # %SIG must not keep the terminal
    my %handler = (WINCH => sub { $weak->{is_changed} = 1 },
        CONT => sub { $weak->{wish} = 'enter' },
        TSTP => sub { $weak->{wish} = 'stop' }, map { my $name = $_; $name => sub {
            $weak->{signal} ||= $name } } qw(INT TERM HUP QUIT));
    # Signals that are ignored, because of nohup for example, stay ignored.
    my @own = grep { ($SIG{$_} // '') ne 'IGNORE' } keys %handler;
    $self->{handlers} = { map { $_ => $SIG{$_} // 'DEFAULT' } @own };
    @SIG{@own} = @handler{@own};
    $self->enter;
    return $self;
}

# ---- states ----

# Switches to the screen and to single keys. The terminal still turns Ctrl-C and Ctrl-Z into
# signals.
sub enter {
    my ($self) = @_;
    my $raw = POSIX::Termios->new;
    $raw->getattr(0);
    $raw->setlflag($raw->getlflag & ~(POSIX::ECHO() | POSIX::ICANON()));
    $raw->setiflag($raw->getiflag | POSIX::ICRNL());
    $raw->setcc(POSIX::VMIN(), 1);
    $raw->setcc(POSIX::VTIME(), 0);
    $raw->setattr(0, POSIX::TCSANOW());
    @$self{qw(is_entered is_changed)} = (1, 1);
    write_all(ENTER);
    return;
}

# Gives the terminal back as it was, as long as the tool is stopped or before it ends.
sub restore {
    my ($self) = @_;
    return if !$self->{is_entered};
    $self->{is_entered} = 0;
    write_all(LEAVE);
    $self->{before}->setattr(0, POSIX::TCSANOW());
    return;
}

# Restores the terminal and the signal handlers for good. A second call does nothing.
sub leave {
    my ($self) = @_;
    $self->restore;
    my $before = delete $self->{handlers} or return;
    $SIG{$_} = $before->{$_} for keys %$before;
    return;
}

sub DESTROY {
    my ($self) = @_;
    local ($@, $!, $?);
    $self->leave;
    return;
}

# Does what a signal has asked for: stops the process after Ctrl-Z, with the terminal restored;
# after `fg' it continues here. It cannot stop in the handler, because perl blocks the signal there.
# A process that was stopped in another way also has to switch to its screen again, because the
# shell has changed the terminal.
sub obey {
    my ($self) = @_;
    my $wish = delete $self->{wish} or return;
    if ($wish eq 'stop') {
        $self->restore;
        local $SIG{TSTP} = 'DEFAULT';
        kill TSTP => $$;
        delete $self->{wish};
    }
    $self->enter;
    return;
}

# Returns the name of the signal that asks to end, or the empty string.
sub signal { return $_[0]{signal} }

# ---- input and output ----

# Waits so many seconds for a key, and returns it: a character, or a word for other keys. Returns
# undef if no key was pressed, or at once if a signal arrives or the size changes.
my %WORD = (
    '[A' => 'up', 'OA' => 'up', '[B' => 'down', 'OB' => 'down', '[5~' => 'page up',
    '[6~' => 'page down', '[H' => 'home', 'OH' => 'home', '[1~' => 'home',
);

# Waits at most this number of seconds for a key. Returns its character, the word for a special key
# ("up", "page down", "escape"), or undef if there was none.
sub key {
    my ($self, $seconds) = @_;
    $self->wait($seconds) if !length $self->{read};
    return $self->{read} =~ s/\A\e([\[O][0-9;]*[A-Za-z~])// ? $WORD{$1} // 'other'
        : $self->{read} =~ s/\A\e// ? 'escape'
        : $self->{read} =~ s/\A(.)//s ? $1 : undef;
}

# Waits at most this number of seconds for input. A signal that arrives just before select does not
# wake it, so each step is short.
sub wait {
    my ($self, $seconds) = @_;
    while ($seconds > 0) {
        $self->obey;
        return if $self->{signal} || $self->{is_changed};
        my $step = $seconds < 0.25 ? $seconds : 0.25;
        vec(my $in = '', 0, 1) = 1;
        my $ready = select $in, undef, undef, $step;
        $seconds -= $step;
        next if $ready <= 0;
        $! = 0;
        my $n = sysread STDIN, $self->{read}, 64, length $self->{read};
        $self->{signal} ||= 'HUP' if !$n && !$!{EINTR};     # the terminal is gone
        return;
    }
    return;
}

# Returns whether the whole screen must be drawn again, once for each change.
sub is_changed {
    my ($self) = @_;
    my $is = $self->{is_changed};
    $self->{is_changed} = 0;
    return $is;
}

# Returns columns and rows of the terminal.
sub size { return terminal_size() }

# Shows LINES from the top of the screen; the one with the number REVERSE, from 0, is in reverse.
sub show {
    my ($self, $reverse, @lines) = @_;
    my (undef, $height) = terminal_size();
    $#lines = $height - 1 if @lines > $height;
    my $text = "\e[H";
    for my $n (0 .. $#lines) {
        $text .= "\r\n" if $n;
        $text .= "\e[2K" . ($n == $reverse ? "\e[7m$lines[$n]\e[0m" : $lines[$n]);
    }
    return write_all(bytes("$text\e[J"));
}

# Writes bytes to the terminal at once. A terminal that is gone is no error here.
sub write_all {
    my ($bytes) = @_;
    local $SIG{PIPE} = 'IGNORE';
    print {*STDOUT} $bytes;
    return STDOUT->flush;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Live::Terminal - a screen and single keys, with POSIX alone

=head1 DESCRIPTION

This module controls the terminal for L<dproftop>, with POSIX and nothing else. It is internal to
this distribution.

=head1 METHODS

=over

=item is_there

A function: returns whether standard input and output are a terminal that can show a screen.

=item new

Switches the terminal to a screen, and handles the signals INT, TERM, HUP, QUIT, TSTP, CONT and
WINCH. The destructor restores both, also after C<die>.

=item leave

Restores the terminal and the signals now.

=item key SECONDS

Returns the key that is pressed within that time: a character, or one of up, down, page up, page
down, home, escape and other. Returns undef if there is none, or at once after a signal or a change
of size.

=item signal

Returns the name of the signal that asks the program to end, or the empty string. If the terminal is
gone, the name is HUP.

=item is_changed

Returns whether the whole screen must be drawn again, once for each change.

=item size

Returns the numbers of columns and rows.

=item show NUMBER, LINE, ...

Replaces the screen by these lines, with the line of that number, from 0, in reverse.

=back

=cut
