package Devel::DProf::Tool::Options;

# The command line of a tool: its options and its help from one text, its defaults from the
# environment.

use strict;
use warnings;

use Devel::DProf::Text qw(text few meant);
use Devel::DProf::Tool qw(OK USAGE complain output written);
use Devel::DProf::Tools;

our $VERSION = $Devel::DProf::Core::VERSION;

# Options that all tools have.
use constant ABOUT => ['V|version', 'h|help', 'H|manual'];

my $TO_FILE = '> FILE writes the output to a file';

# Makes a tool's parser of options from the text of its help, whose lines `= name|long=s` declare
# them.
sub new {
    my ($class, %fields) = @_;
    my $self = bless {%fields}, $class;
    my @specs = map { split ' ' } $self->{text} =~ /^==? (.*)$/mg;
    $self->{ranges} = [map { range_of($_) } grep { /\)\z/ } @specs];
    $self->{rows} = [(map { without_range($_) } @specs), @{ $self->{about} || ABOUT }];
    return $self;
}

sub name { return $_[0]{name} }

sub compares { return $_[0]{compares} }

# Returns the options as Getopt::Long takes them.
sub rows { return @{ $_[0]{rows} } }

# Returns the options that the help leaves out, on purpose.
sub unshown {
    return map { without_range($_) } map { split ' ' } $_[0]{text} =~ /^== (.*)$/mg;
}

# The range of a value, by the word after its option: O|rows=i(positive).
my %RANGE = (
    'positive' => ['must be a positive number', sub { $_[0] > 0 && $_[0] < 1e15 }],
    'not-negative' => ['must not be negative', sub { $_[0] >= 0 }],
    'probability' => ['must be between 0 and 1', sub { $_[0] > 0 && $_[0] < 1 }],
    'some' => ['must not be empty', sub { length $_[0] }],
    'folder' => ['there is no such folder', sub { !grep { !-d } split /,/, $_[0] }],
    'unit' => ['must be s, ms, us, ns, or a word for what is counted', sub {
        require Devel::DProf::Input;
        return Devel::DProf::Input::is_unit($_[0]);
    }],
);

# Returns the specification of an option without its range.
sub without_range { return $_[0] =~ s/\(.*\)\z//r }

# Returns an option's name and its range, or nothing if it has none.
sub range_of {
    my ($spec) = @_;
    my ($name, $word) = $spec =~ /^(\w[\w-]*).*\((.*)\)\z/ or return;
    return [$name, $RANGE{$word} // die "$spec: there is no range `$word'\n"];
}

# Returns what is wrong with a number in the options that has a range, or undef.
sub out_of_range {
    my ($self, $opt) = @_;
    for my $row (@{ $self->{ranges} }) {
        my ($name, $range) = @$row;
        my $given = $opt->{$name} // next;
        my ($wrong) = grep { !$range->[1]->($_) } ref $given ? @$given : $given;
        next if !defined $wrong;
        return dashed($name) . (length $wrong ? " $wrong" : " ''") . ": $range->[0]";
    }
    return undef;
}

sub dashed { return (length $_[0] > 1 ? '--' : '-') . $_[0] }

# Returns the text of -h.
sub help {
    my ($self) = @_;
    require Devel::DProf::Tool::Help;
    my $row = Devel::DProf::Tools::tool($self->{name});
    return Devel::DProf::Tool::Help::text_of(@$self{qw(name text lists)})
        . ($row ? "\nThe environment variable $row->{env} holds default options.\n" : '')
        . ($self->{more} ? $self->{more}->() : '');
}

# ---- the driver ----

# Runs a tool: parses its arguments, checks ranges, turns --from and the like into profiles of a
# store, and calls the tool's `run`. Returns the exit status.
sub main {
    my ($self, @args) = @_;
    my ($opt, @given) = $self->parsed(@args) or return USAGE;
    my $about = $self->about($opt);
    return $about if defined $about;
    my $wrong = $self->out_of_range($opt);
    return $self->usage($wrong) if defined $wrong;
    my @settings = $self->{settings} ? eval { $self->{settings}->($opt) }
        || return $self->usage($@) : ();
    if (grep { defined $opt->{$_} } qw(from run-set bisect buckets)) {
        require Devel::DProf::Store::Sides;
        my ($status, @sides) = Devel::DProf::Store::Sides::take($self, $opt, $given[0]);
        return $status if $status;
        $given[0] = \@sides;
    }
    return $self->{run}->($opt, @settings, @given);
}

# Returns the options of the command line, with those of the environment as defaults; the names
# after them; the values of the option `behind', or undef. Returns an empty list, after a message,
# if they are wrong.
sub parsed {
    my ($self, @args) = @_;
    @args = $self->{rewrite}->(@args) if $self->{rewrite};
    my (@behind, $own);
    if ($self->{to_first_word}) {
        my ($first) = grep { $args[$_] !~ /^-./ } 0 .. $#args;
        @behind = splice @args, $first if defined $first;
    } elsif (defined $self->{behind} || $self->{command}) {
        my ($dashes) = grep { $args[$_] eq '--' } 0 .. $#args;
        $own = [@behind = splice @args, $dashes + 1] if defined $dashes;
    }
    my $words = $self->env_words or return;
    # Usually the variable is empty, and parsing many options would take time.
    my ($env, $env_names) = @$words ? $self->getopt(@$words) : ({}, []) or return;
    # Without a `--', the first word begins the command, whose options are its own.
    local $self->{in_order} = ($self->{command} // '') eq '1' && !$own;
    my ($opt, $names) = $self->getopt(@args) or return;
    return ({ %$env, %$opt }, $names, $own) if $self->{command};
    for my $choice (@{ $self->{choices} || [] }) {
        delete @$env{@$choice} if grep { $opt->{$_} } @$choice;
    }
    delete @$env{ grep { !$self->{goes}->($_, @$names) } keys %$env } if $self->{goes};
    $opt = { %$env, %$opt };
    if (defined $self->{behind} && defined $opt->{ $self->{behind} }) { @behind = () }
    else { undef $own }
    push @$names, @behind;
    return ($opt, @$names ? $names : $env_names, $own);
}

# Returns the words of the tool's variable in the environment, as a reference to a list. They are
# split at blanks, but not in quotes. A backslash stands for itself, except before a blank, a quote
# or another one. Returns nothing, after a message, if a quote is not closed.
sub env_words {
    my ($self) = @_;
    my $row = Devel::DProf::Tools::tool($self->{name}) or return [];
    my $text = $ENV{ $row->{env} } // '';
    return [split ' ', $text] if $text !~ /["'\\]/;
    require Text::ParseWords;
    no warnings 'once';
    local $Text::ParseWords::PERL_SINGLE_QUOTE = 1;
    $text =~ s/^\s+//;
    $text =~ s{(\\[\s"'\\])|\\}{$1 // "\\\\"}ge;
    my @words = Text::ParseWords::shellwords($text);
    return \@words if @words || $text eq '';
    $self->usage("$row->{env}: a quote is not closed: $ENV{ $row->{env} }");
    return;
}

# Parses the arguments. Returns the options and the list of other arguments, or nothing after a
# message.
sub getopt {
    my ($self, @args) = @_;
    my %opt;
    # Without options there is nothing to parse, and Getopt::Long takes a third of the start-up.
    return ({}, \@args) if !grep { /^[-+]./s } @args;
    require Getopt::Long;
    my $parser = Getopt::Long::Parser->new(config => [qw(bundling auto_abbrev),
        $self->{in_order} ? 'require_order' : ()]);
    my $message = '';
    local $SIG{__WARN__} = sub { $message .= $_[0] };
    return (\%opt, \@args) if $parser->getoptionsfromarray(\@args, \%opt, $self->rows);
    $self->usage($self->refusal($message));
    return;
}

# Returns, for the messages of Getopt::Long, what is wrong with the first of the options, and what
# to type.
sub refusal {
    my ($self, $messages) = @_;
    my ($message) = split /\n/, $messages;
    return $message . $self->instead($1) if $message =~ /^Unknown option: (\S+)\z/;
    return dashed($1) . ' needs a value' . $self->example($1)
        if $message =~ /^Option (\S+) requires an argument\z/;
    return dashed($1) . ' takes no value'
        if $message =~ /^Option (\S+) does not take an argument\z/;
    my ($value, $name, $kind)   # before Getopt::Long 2.58, a whole number had no kind
        = $message =~ /^Value "(.*)" invalid for option (\S+) \((\w+ )?number expected\)\z/
        or return $message;
    return dashed($name) . " $value: must be a "
        . (($kind // '') eq 'real ' ? '' : 'whole ') . 'number'
        . ($name eq 'o' && !$self->has_output ? "; $TO_FILE" : $self->example($name));
}

# Returns an option with its value as the help shows them, for the end of a message.
sub example {
    my ($self, $name) = @_;
    my ($names) = grep { grep { $_ eq $name } split /\|/ } map { s/[:=!+].*//sr } $self->rows;
    my $spelled = join '|', map { quotemeta dashed($_) } split /\|/, $names // $name;
    my ($option, $value) = $self->{text} =~ /(?<![\w-])($spelled) ([^\s(-][^\s;]*)/ or return '';
    return ": $option " . $value =~ s/,\z//r;
}

sub has_output { return scalar grep { /(?:\A|\|)output\b/ } $_[0]->rows }

# Returns the end of the message about an unknown option: a name that is near, or the tools that
# have the option.
sub instead {
    my ($self, $name) = @_;
    require Devel::DProf::Tool::Completion;
    my $spelled = (length $name > 1 ? '--' : '-') . $name;
    my $meant = length $name > 1
        ? meant($spelled, map { Devel::DProf::Tool::Completion::spelled($_) }
        $self->rows) : '';
    return "; $meant" if length $meant;
    return "; $TO_FILE" if !$self->has_output
        && ($spelled =~ /\A--?o(?:utput)?\z/ || length meant($spelled, '--output'));
    return $self->compares ? "; $self->{name} always compares" : '; dprofdiff compares two profiles'
        if $spelled eq '--diff';
    my @tools = grep { grep { $_ eq $spelled } @$_[1 .. $#$_] }
        Devel::DProf::Tool::Completion::rows();
    return @tools ? '; it is an option of ' . join(', ', few(map { $_->[0] } @tools)) : '';
}

# Prints a message about wrong arguments, and how to get help. Returns the exit status.
sub usage {
    my ($self, $message) = @_;
    complain($_) for split /\n/, $message;
    print STDERR "Try '$self->{name} -h' for help.\n";
    return USAGE;
}

# Prints for -h, -H and -V: the help, the manual in the command's own file, the version. -h wins
# over -H and -V; a tool with own_version handles -V itself. Returns the exit status, or undef if
# nothing was printed.
sub about {
    my ($self, $opt) = @_;
    if ($opt->{H} && !$opt->{h}) {
        require Pod::Usage;
        my ($out) = output(1, 1);
        Pod::Usage::pod2usage(-verbose => 2, -noperldoc => 1, -input => $0, -exitval => 'NOEXIT',
            -output => $out);
        return written($self->{name}, $out, 0);
    }
    return undef if !$opt->{h} && (!$opt->{V} || $self->{own_version});
    print $opt->{h} ? $self->help : "$self->{name} version: $VERSION\n";
    return written($self->{name}, \*STDOUT, 0);
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Tool::Options - the command line of a tool: options and help from one text

=head1 SYNOPSIS

    my $TOOL = Devel::DProf::Tool::Options->new(
        name => 'dproffold', run => \&folded, text => <<'END');
    dproffold [options] [profile ...]

    = m|metric=s  O|rows=i(positive)
        -m METRIC -O N  what is counted; how many rows
    = o|output=s  format=s
        -o FILE         the output;  --format text|json
    == d|debug
        -V  -h  -H      version, this help, the manual
    END

    sub main { return $TOOL->main(@_) }
    sub command { return $TOOL }

=head1 DESCRIPTION

All tools use this class. It parses options as Getopt::Long does, bundled and abbreviated; takes
their defaults from the tool's environment variable, which the command line overrides; and carries
out C<-h>, C<-H> and C<-V>. It is internal to this distribution.

The text is the help, except for its last line, which names that variable, and it is the only list
of the tool's options. Lines that begin with C<=> and a blank are not shown: they have options as
Getopt::Long takes them, separated by blanks, and the lines below them are their help. Options after
C<==> are only in the manual.

A range may follow an option with a value, as in C<O|rows=i(positive)>: positive, not-negative, or
probability, which is between 0 and 1; some (not empty), folder (existing ones, with commas), unit.
F<xt/check-tools.t> compares the help with the options, F<xt/check-pod.t> the options with the
manual.

=head1 METHODS

=over

=item new NAME => VALUE, ...

name: the name of the command, as in L<Devel::DProf::Tools>. text: see above. run: called with the
options (a hash by their first names), the names after them (a list), and perhaps more, see behind;
returns the exit status. The others are for the tools that need them:

settings: called with the options; turns them into the settings of the tool, which become the second
argument of run, before the names. Dies with what is wrong.

rewrite: called with the arguments of the command line; returns arguments that Getopt::Long can
take.

lists: lists of words, by the names that stand for them in the help: C<{METRICS}>.

choices: lists of options that exclude each other. One of them on the command line replaces all of
the environment's.

behind: an option. If it is given, the arguments after C<--> belong to it: run gets them as a list
after the names.

command: the arguments after C<--> are a command, which run gets as a list after the names. 1:
without a C<-->, options come before the first word, and the names are the command. C<'behind'>:
without a C<-->, there is no command.

to_first_word: only arguments that begin with a dash, before the first word, are options.

own_version: run handles C<-V>.

about: the options C<-V>, C<-h> and C<-H>, if they have other long names.

compares: the names are sides to compare, also without an option C<diff>.

goes: called with an option and the names; returns whether they can be combined. If they cannot, the
option is ignored in the environment.

A tool with the options C<from> and C<run-set> (or C<bisect>, which takes one run-set) gets, in
place of names, hashes as L<Devel::DProf::Sides/side> returns them.

more: returns the end of the help.

=item main ARG, ...

Does all the work. Returns the exit status: that of run, or 2 for a wrong command line.

=item parsed ARG, ...

The options, the names, and the arguments after C<-->. An empty list, after a message, if the
command line or the environment is wrong.

=item about OPTIONS

Carries out C<-h>, C<-H> and C<-V>. Returns the exit status, or undef if none of them was given.

=item usage TEXT

Prints on the standard error what is wrong with a command line, and how to get help. Returns 2.

=item rows

The options, as Getopt::Long takes them.

=item unshown

The options that the help does not show.

=item help

The help.

=back

=cut
