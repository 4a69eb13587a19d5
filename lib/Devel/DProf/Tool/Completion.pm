package Devel::DProf::Tool::Completion;

# Completion of the tools' names and options, for shells. It is generated from the tools' options on
# demand, so that there is no file to keep up to date.

use strict;
use warnings;

use Devel::DProf::Tool::Dprof;
use Devel::DProf::Tools;

our $VERSION = $Devel::DProf::Core::VERSION;

# Returns the names of an option, given by its specification for Getopt::Long, as people write them,
# in its order.
sub spelled {
    my ($spec) = @_;
    my $negatable = $spec =~ /!\z/;
    my @names = split /\|/, $spec =~ s/[=:!+].*\z//sr;
    return map { length > 1 ? ("--$_", $negatable ? "--no-$_" : ()) : "-$_" } @names;
}

# Returns the command and the options of each tool, [COMMAND, OPTION, ...].
sub rows {
    my @rows = ([ 'dprof', Devel::DProf::Tool::Dprof::command()->rows ]);
    push @rows, [ $_->{name}, Devel::DProf::Tools::load($_)->can('command')->()->rows ]
        for Devel::DProf::Tools::all();
    return map { my ($name, @specs) = @$_; [ $name, sort map { spelled($_) } @specs ] } @rows;
}

# Returns the cases of a shell's case statement, one for each command. form: the format of a case,
# for the command and its options.
sub format_cases {
    my ($form) = @_;
    return join '', map {
        my ($name, @options) = @$_;
        sprintf "        $form\n", $name, "@options";
    } rows();
}

sub bash { return fill_template(<<'END', format_cases("%s) options='%s' ;;")) }
# Completion for bash: eval "$(dprof completion bash)"
_dprof() {
    local word=${COMP_WORDS[COMP_CWORD]} tool=${COMP_WORDS[0]##*/} options
    COMPREPLY=()
    if [[ $tool == dprof ]] && ((COMP_CWORD > 1)); then
        case ${COMP_WORDS[1]} in
        help) COMPREPLY=($(compgen -W '@TOOLS@' -- "$word")); return ;;
        completion) COMPREPLY=($(compgen -W 'bash zsh' -- "$word")); return ;;
        esac
        tool=dprof${COMP_WORDS[1]#dprof}
    elif [[ $tool == dprof && $word != -* ]]; then
        COMPREPLY=($(compgen -W '@NAMES@' -- "$word")); return
    fi
    # Words that are no options are files, which the shell completes by itself.
    [[ $word == -* ]] || return
    case $tool in
@CASES@    esac
    COMPREPLY=($(compgen -W "$options" -- "$word"))
}
complete -o default -F _dprof @COMMANDS@
END

sub zsh { return fill_template(<<'END', format_cases('%s) options=(%s) ;;')) }
#compdef @COMMANDS@
# Completion for zsh: eval "$(dprof completion zsh)", or as a file _dprof in a folder of $fpath
_dprof() {
    local tool=${words[1]:t}
    local -a options
    if [[ $tool == dprof ]] && (( CURRENT > 2 )); then
        case $words[2] in
        help) compadd -- @TOOLS@; return ;;
        completion) compadd -- bash zsh; return ;;
        esac
        tool=dprof${words[2]#dprof}
    elif [[ $tool == dprof && $PREFIX != -* ]]; then
        compadd -- @NAMES@; return
    fi
    if [[ $PREFIX != -* ]]; then
        _files; return
    fi
    case $tool in
@CASES@    esac
    compadd -- $options
}
if [[ $funcstack[1] == _dprof ]]; then
    _dprof "$@"
else
    compdef _dprof @COMMANDS@
fi
END

# Returns the template of a shell's script with @NAME@ replaced.
sub fill_template {
    my ($text, $cases) = @_;
    my @tools = Devel::DProf::Tools::all();
    my %with = (CASES => $cases, TOOLS => join(' ', map { $_->{word} } @tools),
        NAMES => join(' ', Devel::DProf::Tool::Dprof::names()),
        COMMANDS => join(' ', 'dprof', map { $_->{name} } @tools));
    return $text =~ s/\@([A-Z]+)\@/$with{$1}/gr;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Tool::Completion - completion for bash and zsh, made of the tools' options

=head1 DESCRIPTION

C<bash()> and C<zsh()> return the text that C<dprof completion> prints. See L<dprof/COMPLETION>.

=cut
