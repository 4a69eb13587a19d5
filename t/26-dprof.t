# dprof NAME runs dprofNAME; completion for bash and zsh offers the options that each tool gives to
# Getopt::Long.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Getopt::Long ();
use File::Glob ':bsd_glob';
use Test::More;
use DProfTest;
use Devel::DProf::Tools;

my $profile = root() . '/t/data/ours.out';
my @tools = sort map { m{/dprof(\w+)$} ? $1 : () } glob root() . '/bin/dprof*';

sub dprof {
    my (@args) = @_;
    my $r = run_tool('dprof', [@args]);
    return [ @$r{qw(out err status)} ];
}
sub tool {
    my ($tool, @args) = @_;
    my $r = run_tool("dprof$tool", [@args]);
    return [ @$r{qw(out err status)} ];
}

subtest 'dprof NAME does what dprofNAME does' => sub {
    for (['report', $profile], ['pp', '-l', $profile], ['fold', $profile],
        ['diff', $profile, $profile], ['merge', $profile], ['list', '--cpuid'],
        ['flame', '-o', '-', $profile], ['html', '-o', '-', $profile],
        ['report', '--nonsense'], ['pp', 'none.out'], ['merge']) {
        my ($name, @args) = @$_;
        is_deeply(dprof($name, @args), tool($name, @args),
            "dprof $name @args does what dprof$name does");
    }
    is_deeply(dprof('dprofreport', $profile), tool('report', $profile),
        'dprof dprofreport does what dprofreport does');
};

subtest 'dprof helps with each tool, with all tools and with the version' => sub {
    is(join(' ', sort(map { $_->{word} } Devel::DProf::Tools::all())), "@tools",
        'the table of tools has them all');
    is_deeply(dprof('help', $_), tool($_, '-h'), "dprof help $_ prints the help of $_") for @tools;
    my $list = dprof();
    is("$list->[1]$list->[2]", '0', 'dprof alone is no error');
    like($list->[0], qr/^ {4}$_ +\S/m, "dprof alone lists $_") for @tools, 'help', 'completion';
    is_deeply(dprof($_), $list, "dprof $_ prints the same list") for 'help', '-h', '--help';
    like(dprof('-V')->[0], qr/\Adprof version: [\d.]+\n\z/, 'dprof -V prints the version');
};

subtest 'An unknown option or name is a mistake in the command line' => sub {
    is_deeply(dprof('--nonsense'), ['', "Unknown option: nonsense\nTry 'dprof -h' for help.\n", 2],
        'dprof rejects an unknown option');
    for ('nonsense', 'n;exit') {
        my $got = dprof($_);
        is("$got->[0]$got->[2]", '2', "dprof $_ gives status 2");
        like($got->[1],
            qr/\Aunknown command \Q$_\E; there are run, .* and \d+ more\nTry 'dprof -h' /,
            "the message of dprof $_ lists the known names");
    }
    is(dprof('help', 'nonsense')->[2], 2, 'dprof help of an unknown name gives status 2');
    is(dprof(@$_)->[2], 2, "dprof @$_ is a usage error") for ['completion'], ['completion', 'fish'],
        ['completion', 'rows'], ['completion', 'bash', 'zsh'];
};

subtest 'A tool that dies ends with status 1 and one line, whatever errno is' => sub {
    for my $tool ('', @tools) {
        my $module = "Devel::DProf::Tool::Dprof$tool";
        my $dies = "BEGIN { \$main = sub { \$! = 12; die qq{no room\\nat all\\n} } } use $module;"
            . " BEGIN { no warnings; *${module}::main = \$main } \$0 = shift; do \$0; die \$@";
        my $got = run_program([built_perl(), '-e', $dies, root() . "/blib/script/dprof$tool"]);
        is("$got->{out}$got->{err}",
            "dprof$tool: stopped by an unexpected error: no room; at all\n",
            "dprof$tool turns an exception into one line");
        is($got->{status}, 1, "dprof$tool exits with 1 after an exception");
    }
};

subtest 'Help that cannot be written is an error' => sub {
    plan skip_all => 'there is no /dev/full' if !-c '/dev/full';
    for (map({ [$_, '-h'] } '', @tools), ['export', '--list']) {
        my ($tool, $option) = @$_;
        my $got = run_program(['sh', '-c', '"$@" >/dev/full', 'sh',
            tool_command("dprof$tool", $option)]);
        is("$got->{status} $got->{err}", "1 dprof$tool: the report could not be written: "
            . "No space left on device\n", "dprof$tool $option says that the disk is full");
    }
};

subtest 'The manuals of dprof and of a tool are found where they are installed' => sub {
    for (['', 'dprof - one name'], ['report', 'dprofreport - ']) {
        my ($name, $head) = @$_;
        my $got = run_tool('dprof', [grep({ length } $name), '-H'], fresh => 1);
        like($got->{out}, qr/\Q$head\E/, "dprof $name -H prints the manual of the tool");
    }
};

# ---- completion ----

# Collects the options, each as it is written, that a tool passes to Getopt::Long.
sub options_given {
    my ($name) = @_;
    my @specs;
    {
        no warnings 'redefine';
        # Newer releases of Getopt::Long load Getopt::Long::Parser from its own file on first use.
        require Getopt::Long;
        Getopt::Long::Parser->can('getoptionsfromarray') or require Getopt::Long::Parser;
        my $original = \&Getopt::Long::Parser::getoptionsfromarray;
        local *Getopt::Long::Parser::getoptionsfromarray = sub {
            @specs = @_[3 .. $#_];
            return $original->(@_);
        };
        in_process("dprof$name", '-h');
    }
    my %written;
    for my $spec (@specs) {
        my ($names, $rest) = $spec =~ /\A([\w|-]+)(.*)\z/s or die "$name: $spec";
        for my $n (split /\|/, $names) {
            $written{ (length $n > 1 ? '--' : '-') . $n } = 1;
            $written{"--no-$n"} = 1 if $rest eq '!' && length $n > 1;
        }
    }
    return sort keys %written;
}

my %given = map { ("dprof$_" => [options_given($_)]) } @tools, '';
cmp_ok(scalar(@{ $given{dprofdiff} }), '>', 50, 'the options of dprofdiff are found');

# Completes in the shell itself: takes the words up to the cursor, prints what is offered for the
# last.
my %shell = (
    bash => sub { my (@words) = @_; my ($last) = $#words; <<"END" },
complete() { :; }
eval "\$text"
COMP_WORDS=(@{[ map { "'$_'" } @words ]}) COMP_CWORD=$last
_dprof
printf '%s\\n' "\${COMPREPLY[\@]}"
END
    zsh => sub { my (@words) = @_; my ($current) = scalar @words; <<"END" },
compdef() { }
compadd() {
    [[ \$1 == -- ]] && shift
    local w
    for w in "\$@"; do [[ \$w == \$PREFIX* ]] && print -r -- \$w; done
}
_files() { }
eval "\$text"
words=(@{[ map { "'$_'" } @words ]}) CURRENT=$current PREFIX='$words[-1]'
_dprof
END
);
for my $shell (sort keys %shell) {
    subtest "Completion in $shell offers what the tools take" => sub {
        plan skip_all => "there is no $shell here"
            if !grep { -x "$_/$shell" } split /:/, $ENV{PATH};
        my $text = dprof('completion', $shell)->[0];
        my $offered = sub {
            my (@words) = @_;
            my $got = run_program([$shell, '-c', $shell{$shell}->(@words)],
                env => { text => $text });
            return $got->{err} . join ' ', sort split ' ', $got->{out};
        };
        for my $tool (sort keys %given) {
            is($offered->($tool, '-'), "@{ $given{$tool} }",
                "$tool: completion offers its options");
            next if $tool eq 'dprof';
            is($offered->('dprof', $tool =~ s/^dprof//r, '-'), "@{ $given{$tool} }",
                "$tool: dprof NAME completes the same options");
        }
        is($offered->('dprof', 'dprofdiff', '-'), "@{ $given{dprofdiff} }",
            'dprof dprofdiff completes like dprofdiff');
        is($offered->('/usr/bin/dprofdiff', 'a.out', '--fail'), '--fail-if',
            'part of an option is completed, after a file');
        is($offered->('dprofdiff', 'a'), '', 'the shell completes the names of files');
        is($offered->('dprof', ''), join(' ', sort @tools, 'help', 'completion'),
            'dprof offers the names of tools');
        is($offered->('dprof', 'f'), 'flame fold', 'part of a name is completed');
        is($offered->('dprof', 'help', 'm'), 'merge', 'dprof help completes names');
        is($offered->('dprof', 'completion', ''), 'bash zsh', 'dprof completion offers the shells');
        is($offered->('dprof', 'nonsense', '-'), '', 'an unknown name completes to nothing');
    };
}

done_testing;
