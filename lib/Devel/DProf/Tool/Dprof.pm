package Devel::DProf::Tool::Dprof;

# dprof NAME: finds the tool and runs it.

use strict;
use warnings;

use Devel::DProf::Text qw(text unknown);
use Devel::DProf::Tool qw(written);
use Devel::DProf::Tool::Options;
use Devel::DProf::Tools;

our $VERSION = $Devel::DProf::Core::VERSION;

my $TOOL = Devel::DProf::Tool::Options->new(
    name => 'dprof', to_first_word => 1, more => \&listed, run => \&chosen, text => '',
);

sub main { return $TOOL->main(@_) }
sub command { return $TOOL }

# Other words that may come after `dprof'.
my @others = (
    [ help       => 'NAME: the help of one of these' ],
    [ completion => 'bash, zsh: completion for that shell' ],
);

# Returns all words that may come after `dprof'.
sub names { return ((map { $_->{word} } Devel::DProf::Tools::all()), map { $_->[0] } @others) }

# Runs the tool or command that the first word names. Without a word, prints the help; an unknown
# word is a usage error. Returns the exit status. $opt is not used.
sub chosen {
    my ($opt, $names) = @_;
    my ($name, @rest) = @$names;
    return $TOOL->about({ h => 1 }) if !defined $name;
    return show_help(@rest) if $name eq 'help';
    return print_completion(@rest) if $name eq 'completion';
    my $tool = Devel::DProf::Tools::tool($name) // return no_tool($name);
    return run_tool($tool, @rest);
}

# Prints that there is no tool of a name, and which one may have been meant. Returns the exit
# status.
sub no_tool {
    my ($name) = @_;
    # The most frequent mistake is a file: dprof tmon.out.
    return $TOOL->usage(text("$name: a tool comes first: dprof report $name")) if -e $name;
    return $TOOL->usage(unknown('command', text($name), names()));
}

# Runs a tool, given by its row in Devel::DProf::Tools, in this process. Returns its exit status.
sub run_tool {
    my ($tool, @args) = @_;
    my $main = Devel::DProf::Tools::load($tool)->can('main');
    # A tool finds its manual in its own command, which is in the same folder as this one.
    my $beside = $0 =~ s{[^/]*\z}{$tool->{name}}r;
    local $0 = $beside if -e $beside;
    return $main->(@args);
}

# Shows the help of a tool (dprof help NAME), or the list of all. Returns the exit status.
sub show_help {
    my ($name, @more) = @_;
    return $TOOL->usage('help takes one name') if @more;
    return $TOOL->about({ h => 1 })
        if !defined $name || grep { $name eq $_->[0] } @others;
    my $tool = Devel::DProf::Tools::tool($name) // return no_tool($name);
    return run_tool($tool, '-h');
}

# Returns the list of tools, for the help.
sub listed {
    my @tools = map { [@$_{qw(word purpose)}] } Devel::DProf::Tools::all();
    return join '', "dprof NAME [arguments]\n\n", map({ sprintf "    %-12s%s\n", @$_ } @tools),
        "\n", map({ sprintf "    %-12s%s\n", @$_ } @others), <<'END';

Each tool is also a command of its own: dprof report is dprofreport.
-V, -h, -H: version, this list, the manual.
END
}

# Prints the script that makes a shell complete the tools' arguments. Returns the exit status.
sub print_completion {
    my (@shells) = @_;
    require Devel::DProf::Tool::Completion;
    return $TOOL->usage('completion takes bash or zsh')
        if @shells != 1 || $shells[0] !~ /\A(?:bash|zsh)\z/;
    print $shells[0] eq 'zsh' ? Devel::DProf::Tool::Completion::zsh()
        : Devel::DProf::Tool::Completion::bash();
    return written('dprof', \*STDOUT, 0);
}

1;
