# Hostile names, through every tool and format. No byte of a profile, of a file's name or of a store
# reaches a terminal or another program as a control character. No tool follows a name out of a
# profile that no file can have.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use Devel::DProf::Store;
use DProfTest;
use MadeUp;
use Slices;

# Each control character, a sequence that would colour a terminal, and what turns the direction of
# writing.
my $NASTY = join '', map({ chr } 1 .. 31), "\x7f", "\e[31m", "\e]0;t\a", "\xc2\x9b", "\xe2\x80\xae";

# The same as names of a profile have it, and as text between quotes.
sub name_of { return $_[0] =~ s/([\x00-\x20\x7f%])/sprintf '%%%02X', ord $1/ger }
my $NAME = name_of($NASTY);
my $FILE = name_of("s$NASTY.pl");
my $QUOTED = $NASTY =~ s/[\n\r]//gr;
my $COUNTER = "c\e[1m\a";

my %HEADER = (run => 'r1', pid => 7, tid => 0, script => "x$QUOTED", options => $QUOTED,
    perl => $QUOTED, start => 1_795_348_800, clock => $QUOTED, hash_seed => $QUOTED,
    perturb_keys => $QUOTED);
sub header_of {
    my %more = (%HEADER, @_);
    return join "\n", map { "\$dprof_$_='" . $more{$_} =~ s/(['\\])/\\$1/gr . "';" }
        sort keys %more;
}

# Profiles with such names in all places that have names: a trace; a tree with counters, statements
# and places of calls.
sub trace {
    my ($n, %more) = @_;
    return profile_text(times => [10 + $n, 0, 10 + $n], complete => 1,
        header => header_of(run => "t$n", %more),
        subs => ["main f $FILE:1", "p$NAME g$NAME $FILE:2", "main ph$NAME - kind=phase"],
        lines => ['# phase 3', '@ 1 0 1', '+ 1', '@ 2 0 2', "+ 2 at=$FILE:1", "\@ 7 0 7", '- 2',
            "\@ $n 0 $n", '- 1']);
}

sub tree_of {
    my ($n, %more) = @_;
    my $calls = delete $more{calls} // 2;
    return profile_text(format => 'tree', hz => 1000, times => [60 * $n, 0, 60 * $n],
        counters => "$COUNTER:u\e", complete => 1,
        header => header_of(run => "e$n", lines => 'time', %more),
        subs => ["main f $FILE:1", "p$NAME g$NAME $FILE:2", "main ph$NAME - kind=phase"],
        lines => ['= 0 0 0 0 0 0 0 0 0', "= 1 3 0 0 0 0 0 0 0", "= 2 1 1 $n 0 $n 0 0 5",
            "= 3 2 $calls " . 59 * $n . ' 0 ' . 59 * $n . " 0 0 7 at=$FILE:1", "#f $FILE",
            "#l 1 1 1 $n 0 $n 5", "#l 2 2 2 " . 59 * $n . ' 0 ' . 59 * $n . ' 7']);
}

# The bytes of an output that a terminal, or a reader of lines, would take for something else. Files
# of profiles and folded stacks have names of UTF-8 as they are, but for ASCII's.
sub unescaped {
    my ($text, $tool) = @_;
    my %seen;
    $seen{ sprintf '%02x', ord $1 }++ while $text =~ /([\x00-\x08\x0b-\x1f\x7f])/g;
    return join ' ', sort keys %seen if $tool =~ /fold|merge/;
    $seen{c1}++ if $text =~ /\xc2[\x80-\x9f]/;
    $seen{bidi}++ if $text =~ /\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]/;
    return join ' ', sort keys %seen;
}

my $dir = scratch() . "/d\e[31m\a";
mkdir $dir or die "$dir: $!";
my %path = map { my ($name, $text) = @$_; ($name => spew("$dir/$name\e[0m", $text)) }
    ['trace', trace(3)], ['trace2', trace(9)], ['tree', tree_of(1)], ['tree2', tree_of(2)],
    ['bad', "no profile\e[31m\n"], ['cut', tree_of(1) =~ s/^#l 2.*//mrs],
    ['nul', trace(3) =~ s/\Q$FILE\E:/x%00y.pl:/gr], ['newline', trace(3) =~ s/\Q$FILE\E:/x%0A:/gr],
    ['nul-lines', tree_of(1) =~ s/\Q$FILE\E/x%00y.pl/gr],
    ['newline-lines', tree_of(1) =~ s/\Q$FILE\E/x%0A/gr];
my $source = "s$NASTY.pl";
my $has_source = open my $out, '>', "$dir/$source";
if ($has_source) { print $out "sub f { g() } # $NASTY\nsub g { 1 } # \e[31m\n"; close $out }

my $store = "dir:$dir/store";
Devel::DProf::Store::open($store)->init;
Devel::DProf::Store::open($store)->add([map { my ($v, $n) = @$_; { run => "r$n-1-0-0",
    service => "web$NASTY", version => "v$v", host => "h\e\n\x7f", env => "e\a", seconds => 60,
    start => 1_795_348_800 + 60 * $n,
    file => spew("$dir/s$n", tree_of(1, run => "r$n", calls => $n < 4 ? 2 : 20)) } }
    (map { ["1$NASTY", $_] } 0 .. 3), (map { ["=2$NASTY", $_] } 4 .. 7)]);
my @from = ('--from', $store, '--run-set', '');
my @set = ('--from', $store, '--run-set', "host=\"h\e*\"");
my $sub = "p${NASTY}::g$NASTY";

my %formats = (
    dprofreport => [qw(text csv json markdown html svg)],
    dprofdiff => [qw(text tap json csv markdown junit github html flame-svg)],
    dprofexport => [qw(callgrind cachegrind chrome speedscope)],
);

# What is printed, by tool. Pages, and files that are packed, keep what they have in base64.
my @runs = (
    (map { my $profile = $_;
        map { [dprofpp => @$_, $profile] } [], ['-S'], ['--phases'], ['-V'], ['-T'], ['-t'], ['-R'],
            ['--no-classic'], ['-g', 'none'], ['-m', 'none'] } @path{qw(trace tree)}),
    [dprofpp => $path{bad}], [dprofpp => $path{cut}], [dprofpp => "$dir/none\e"],
    [dprofpp => '-m', $COUNTER, $path{tree}],
    (map { my $format = $_;
        map { [dprofreport => '--format', $format, @$_] } ['-s', 'phase,sub,script,package',
            @path{qw(trace tree)}], ['-s', 'srcline,caller', $path{tree}],
            ['-g', 'caller', $path{tree}], ['-m', $COUNTER, $path{tree}],
            ['--callers', $sub, $path{tree}], ['--hierarchy', '-s', 'script,sub', $path{tree}],
            @from ? [@from] : () } grep { !/svg/ } @{ $formats{dprofreport} }),
    [dprofreport => '--annotate', $sub, $path{tree}],
    [dprofreport => '--annotate', $source, $path{tree}],
    [dprofreport => '-t', '|', $path{tree}],
    [dprofreport => '-g', 'folded', $path{tree}],
    (map { my $format = $_; map { my $by = $_;
        [dprofreport => @set, '--history', $sub, '--by', $by, '--format', $format] }
            qw(version 1d) } grep { !/json|markdown/ } @{ $formats{dprofreport} }),
    [dprofreport => @set, '--history', "none\e"],
    (map { my $format = $_;
        map { [dprofdiff => '--format', $format, '-f', @$_] } [@path{qw(trace trace2)}],
            ['--fail-if', 'self > 1%', @path{qw(tree tree2)}],
            ['-s', 'phase,script', @path{qw(tree tree2)}],
            ['--tree', @path{qw(tree tree2)}], ['-m', $COUNTER, @path{qw(tree tree2)}]
            } @{ $formats{dprofdiff} }),
    [dprofdiff => '-D', '-v', '-f', @path{qw(tree tree2)}],
    [dprofdiff => '--annotate', $sub, '-f', @path{qw(tree tree2)}],
    [dprofdiff => '--annotate', $source, '-f', @path{qw(tree tree2)}],
    (map { [dprofdiff => '--from', $store, '--bisect', "host=\"h\e*\"", '--format', $_] }
        qw(text csv json html)),
    [dproffold => @path{qw(trace tree)}], [dproffold => '--diff', '-f', @path{qw(tree tree2)}],
    [dproffold => '-m', $COUNTER, $path{tree}], [dproffold => @from],
    [dprofflame => $path{trace}], [dprofflame => '--flamechart', $path{trace}],
    [dprofflame => '--diff', '-f', @path{qw(tree tree2)}], [dprofflame => @set],
    [dprofflame => '--title', "t\e", '--subtitle', "s\e", '--notes', "n\e", $path{tree}],
    [dprofflame => '--format', 'html', $path{tree}],
    [dprofhtml => '-o', "$dir/page\e.html", $path{tree}],
    [dprofflame => '--diff', '-f', '--format', 'html', @path{qw(tree tree2)}],
    (map { my $file = $_; ([dprofhtml => '-o', "$dir/page.html", $path{$file}],
        [dprofhtml => '--symfs', $dir, '-o', "$dir/page.html", $path{$file}],
        [dprofflame => '--format', 'html', $path{$file}], [dprofreport => $path{$file}],
        [dprofreport => '--annotate', 'main::f', $path{$file}],
        [dprofreport => '--annotate', "x\n", $path{$file}],
        [dprofdiff => '-f', '--annotate', 'main::f', @path{$file, 'tree'}],
        [dprofdiff => '-f', '--format', 'html', @path{$file, 'tree'}],
        [dproftop => '-l', '-b', '-n', 1, $path{$file}]) } qw(nul newline nul-lines
            newline-lines)),
    (map { [dprofexport => '--format', $_, $path{tree}] } @{ $formats{dprofexport} }),
    [dprofmerge => @path{qw(trace tree)}], [dprofmerge => $path{bad}],
    [dproftop => '-b', '-n', 1, $path{tree}], [dproftop => '-l', '-b', '-n', 1, $path{tree}],
    [dprofstore => 'list', '--from', $store], [dprofstore => 'list', '--from', $store, "env=x\e"],
    [dprofstore => 'push', '--to', $store, '--service', "s\e", $path{bad}],
    [dprofstore => 'push', '--to', $store, '--service', "s\e", $path{trace}],
    [dprofstore => 'init', '--to', "dir:$dir/new\e"],
);

my %bad;
for my $run (@runs) {
    my ($tool, @args) = @$run;
    my $got = run_tool($tool, \@args, dir => $dir, limit => 20,
        env => { PAGER => 'cat' });
    my $shown = join ' ', $tool, map { s/[^ -~]+/?/gr } @args;
    for my $what (qw(out err)) {
        my $wrong = unescaped($got->{$what}, $tool);
        push @{ $bad{"$tool, std$what"} }, "$shown: $wrong" if length $wrong;
    }
    push @{ $bad{"$tool, perl's warnings"} }, "$shown: $got->{err}"
        if $got->{err} =~ /^(?!dprof).* at \S+ line \d+/m || $got->{signal};
    $bad{$tool} //= [];
    push @{ $bad{"$tool, nothing at all"} }, $shown if !length $got->{out} && !length $got->{err}
        && $tool !~ /html|store/ && "@args" !~ /--format github/;
}
is(join("\n", @{ $bad{$_} }), '', "no output has a control byte: $_") for sort keys %bad;

done_testing;
