package Devel::DProf::Tool::Dprof;

# dprof NAME: finds the tool and runs it.

use strict;
use warnings;

use Devel::DProf::Profile;
use Devel::DProf::Tool qw(ABOUT USAGE text about usage written);

our $VERSION = $Devel::DProf::Core::VERSION;

my @options = (ABOUT);
sub option_rows { return @options }

# What stands behind `dprof', and what it is for. The command is that name with dprof before it.
my @tools = (
    [ report => 'which subs cost how much: shares, callers, callees' ],
    [ diff   => 'what changed between two runs, and whether it is significant' ],
    [ flame  => 'flame graphs, of one profile or of two' ],
    [ fold   => 'folded stacks, for other programs' ],
    [ merge  => 'one profile of many' ],
    [ list   => 'what can be counted here' ],
    [ pp     => 'the classic table: self and inclusive seconds' ],
);
my @others = (
    [ help       => 'NAME: the help of one of these' ],
    [ completion => 'bash, zsh: completion for that shell' ],
);

sub tools { return map { $_->[0] } @tools }

# What may stand behind `dprof', and behind those that are no tools.
sub names { return map { $_->[0] } @tools, @others }

sub main {
    my @args = @_;
    my @own;
    push @own, shift @args while @args && $args[0] =~ /^-./;
    my ($opt) = Devel::DProf::Tool::getopt('dprof', \@options, @own) or return USAGE;
    $opt->{h} = 1 if !%$opt && !@args;
    my $about = about('dprof', $opt, listed());
    return $about if defined $about;
    my ($name, @rest) = @args;
    return help(@rest) if $name eq 'help';
    return completion(@rest) if $name eq 'completion';
    my $tool = tool($name) // return unknown($name);
    return run($tool, @rest);
}

# The short name or the whole one to a tool's name.
sub tool {
    my ($name) = @_;
    my ($found) = grep { $name eq $_ || $name eq "dprof$_" } tools();
    return $found;
}

sub unknown {
    my ($name) = @_;
    return usage('dprof', text($name) . ': there is ' . join(', ', names()));
}

sub load {
    my ($tool) = @_;
    my $module = "Devel::DProf::Tool::Dprof$tool";
    require $module =~ s{::}{/}gr . '.pm';
    return $module;
}

sub run {
    my ($tool, @args) = @_;
    my $main = load($tool)->can('main');
    # A tool finds its manual where it is itself: beside us.
    my $beside = $0 =~ s{[^/]*\z}{dprof$tool}r;
    local $0 = $beside if -e $beside;
    return $main->(@args);
}

sub help {
    my ($name, @more) = @_;
    return usage('dprof', 'help takes one name') if @more;
    return about('dprof', { h => 1 }, listed())
        if !defined $name || grep { $name eq $_->[0] } @others;
    my $tool = tool($name) // return unknown($name);
    return run($tool, '-h');
}

sub listed {
    return join '', "dprof NAME [arguments]\n\n", map({ sprintf "    %-12s%s\n", @$_ } @tools),
        "\n", map({ sprintf "    %-12s%s\n", @$_ } @others), <<'END';

Each tool is also a command of its own: dprof report is dprofreport.
-V, -h, -H: version, this list, the manual.
END
}

sub completion {
    my (@shells) = @_;
    require Devel::DProf::Completion;
    return usage('dprof', 'completion takes bash or zsh')
        if @shells != 1 || $shells[0] !~ /\A(?:bash|zsh)\z/;
    print $shells[0] eq 'zsh' ? Devel::DProf::Completion::zsh() : Devel::DProf::Completion::bash();
    return written('dprof', \*STDOUT, 0);
}

1;
