package Devel::DProf::Tool::Dprof;

use strict;
use warnings;

use Devel::DProf::Profile;
use Devel::DProf::Tool qw(OK USAGE text usage manual written);

our $VERSION = $Devel::DProf::Core::VERSION;

my @options = (
    'V|version', 'h|help', 'H|manual',
);
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
    return manual() if $opt->{H};
    if ($opt->{V}) {
        print "dprof version: $VERSION\n";
        return written('dprof', \*STDOUT, 0);
    }
    return listed() if $opt->{h} || !@args;
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
    my (@names) = @_;
    return listed() if !@names;
    return usage('dprof', 'help takes one name') if @names > 1;
    return listed() if grep { $_ eq $names[0] } map { $_->[0] } @others;
    my $tool = tool($names[0]) // return unknown($names[0]);
    return run($tool, '-h');
}

sub listed {
    print "dprof NAME [arguments]\n\n";
    printf "    %-12s%s\n", @$_ for @tools;
    print "\n";
    printf "    %-12s%s\n", @$_ for @others;
    print "\nEach tool is also a command of its own: dprof report is dprofreport.\n-V, -h, -H: version, this list, the manual.\n";
    return written('dprof', \*STDOUT, 0);
}

sub completion {
    my (@shells) = @_;
    require Devel::DProf::Completion;
    return usage('dprof', 'completion takes bash or zsh') if @shells != 1 || $shells[0] !~ /\A(?:bash|zsh)\z/;
    print $shells[0] eq 'zsh' ? Devel::DProf::Completion::zsh() : Devel::DProf::Completion::bash();
    return written('dprof', \*STDOUT, 0);
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Tool::Dprof - what dprof does

=head1 DESCRIPTION

C<main(@ARGV)> does all the work and returns the exit status. See L<dprof>.

=cut
