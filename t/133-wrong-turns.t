# A wrong turn is answered: each tool, with the mistakes that people make, says in two lines at most
# what is wrong and what to type instead.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Spec;
use Test::More;
use DProfTest;
use Devel::DProf::Tool::Completion;
use Devel::DProf::Text qw(meant unknown);
use Devel::DProf::Tools;

# ---- the function ----

is(meant(@$_[1 .. $#$_]), $_->[0], "meant() suggests the right word for $_->[1]") for
    ['did you mean flame?', qw(flam report flame fold)],
    ['did you mean flame?', qw(falme report flame fold)],
    ['did you mean report?', qw(repotr report flame)],
    ['did you mean cat or hat?', qw(bat hat cat dog)],
    ['did you mean ab1, ab2 or ab3?', qw(ab4 ab3 ab2 ab1 ab0x), 'ab3'],
    ['did you mean JSON?', qw(jsn JSON)], ['did you mean json?', qw(jsn jsn json)],
    ['', qw(nonsense report flame)], ['', 'x', 'y'], ['', 'x'], ['', '', 'a'];
is(unknown('format', 'jsn', 'json', 'csv'), 'unknown format jsn; did you mean json?',
    'an unknown word gives the word that was meant');
is(unknown('format', 'xyz', 'json', 'csv'), 'unknown format xyz; there are json, csv',
    'an unknown word that resembles no other lists all words');

# Against a plain form of the distance, on words of three letters.
sub changes {
    my ($p, $q) = @_;
    return length $p || length $q if !length $p || !length $q;
    my ($a1, $b1) = (substr($p, 1), substr $q, 1);
    my $same = substr($p, 0, 1) eq substr($q, 0, 1);
    my ($least) = sort { $a <=> $b } changes($a1, $q) + 1, changes($p, $b1) + 1,
        changes($a1, $b1) + !$same,
        length $p > 1 && length $q > 1 && substr($p, 0, 1) eq substr($q, 1, 1)
            && substr($p, 1, 1) eq substr($q, 0, 1) ? changes(substr($p, 2), substr $q, 2) + 1 : ();
    return $least;
}
my @words = ('a', 'ab', 'ba', 'abc', 'acb', 'bca', 'abcd', 'badc', 'dabc');
my @apart;
for my $from (@words) {
    for my $to (@words) {
        my $far = Devel::DProf::Text::distance($from, $to, 9);
        push @apart, "$from $to: $far" if $far != changes($from, $to);
    }
}
is("@apart", '', 'distance() is the least number of changes');

# ---- tool x mistake ----

my $dir = scratch();
spew("$dir/ours.out", slurp(data('ours.out')));
spew("$dir/empty.out", '');
spew("$dir/text.txt", "hello\n");
spew("$dir/program.pl", "print 1;\n");
mkdir "$dir/$_" or die $! for 'folder', 'nune';    # a folder is no file that may be meant

my $TRY = "Try 'TOOL -h' for help.";
my $NONE = 'No such file or directory';
my $RECORD = 'dprof run -- perl PROGRAM records one';
my @METRICS = 'cpu, user, system, real, calls';
my @READERS = map { "dprof$_" } qw(report diff flame html fold export merge pp);

# Returns a row for each of some tools: the tool, its arguments, and the lines and the status. OURS
# in arguments is a file, or two for a comparison.
my @rows;
sub each_of { push @rows, map { [$_, @{ $_[1] }] } @{ $_[0] } }

my @all = map { $_->{name} } Devel::DProf::Tools::all();
each_of(\@all, [['--hlep'], "Unknown option: hlep; did you mean --help?\n$TRY", 2]);
each_of([grep { !/merge|store|list|attach|dump/ } @all],
    [['--metrc', 'cpu'], "Unknown option: metrc; did you mean --metric?\n$TRY", 2]);
each_of([qw(dprofmerge dprofstore dproflist dprofattach dprofdump)],
    [['--metric', 'cpu'], 'Unknown option: metric; it is an option of dprofrun, dprofreport, '
        . "dprofdiff, and 6 more\n$TRY", 2]);
each_of([qw(dprofpp dprofflame dprofmerge dproftop)], [['--annotate', 'f'],
    "Unknown option: annotate; it is an option of dprofreport, dprofdiff\n$TRY", 2]);
each_of([qw(dprofreport dprofdiff dproftop dproflist)], [['--format', 'jsn'],
    "--format: unknown format jsn; did you mean json?\n$TRY", 2]);
push @rows, (
    ['dprofflame', ['--format', 'svgg'],
        "--format: unknown format svgg; did you mean svg?\n$TRY", 2],
    ['dprofexport', ['--format', 'pporf'],
        "--format: unknown format pporf; did you mean pprof?\n$TRY", 2],
    ['dprofexport', ['-o', 'x.foo', 'ours.out'], '-o x.foo: no format has that suffix; use '
        . "--format pprof|speedscope|firefox|callgrind|cachegrind|chrome\n$TRY", 2],
);
each_of(['dprofattach', 'dprofdump'], [['999999999'],
    'TOOL: there is no process 999999999', 1]);
push @rows, (
    ['dprofattach', [], "which process? dprofattach PID, or dprofattach -- COMMAND\n$TRY", 2],
    ['dprofattach', ['ours.out'],
        "ours.out: not the number of a process; dprofreport ours.out shows a profile\n$TRY", 2],
    ['dprofattach', ['--for', '10x', 1],
        "--for 10x: a time is a number with ms, s, m or h: --for 10s\n$TRY", 2],
    ['dprofattach', ['--spool', 'x', 1], "--spool is for slices: --slice 60s --spool x\n$TRY", 2],
    ['dprofattach', ['--slice', '1s', '-o', 'x', 1],
        "-o is for one profile; with --slice 1s, --spool names the folder of slices\n$TRY", 2],
    ['dprofdiff', ['--time', '50%-120%'],
        "--time: 50%-120%: a profile ends at 100 %; 50%-100% is its last part\n$TRY", 2],
    ['dprofattach', ['--rate', 20000, 1], "--rate 20000: at most 10000\n$TRY", 2],
    ['dprofdump', [], "one process or core file at a time; dprofdump PID\n$TRY", 2],
    ['dprofdump', [1, 2], "one process or core file at a time; dprofdump PID\n$TRY", 2],
    ['dprofdump', ['ours.out'], 'dprofdump: ours.out: not a core file of this kind of machine; '
        . 'dprofreport ours.out shows a profile', 1],
    ['dprofdump', ['nune_'], "dprofdump: nune_: $NONE; dprofdump PID shows a program that runs", 1],
);
# Files: both sides of a comparison are named.
for my $tool (@READERS) {
    my @other = $tool eq 'dprofdiff' ? 'ours.out' : ();
    my $more = $tool eq 'dprofmerge' ? sub { "\n$_[0] is left out" } : sub { '' };
    push @rows,
        [$tool, [@other, 'oers.out'],
            "Unable to open oers.out: $NONE; did you mean ours.out?" . $more->('oers.out'), 1],
        [$tool, [@other, 'nune_'], "Unable to open nune_: $NONE; $RECORD" . $more->('nune_'), 1],
        [$tool, [@other, 'empty.out'],
            "Not a perl profile: empty.out (it is empty); $RECORD" . $more->('empty.out'), 1],
        [$tool, [@other, 'text.txt'],
            "Not a perl profile: text.txt; $RECORD" . $more->('text.txt'), 1],
        [$tool, [@other, 'program.pl'], 'Not a perl profile: program.pl; '
            . 'dprof run -- perl program.pl records one' . $more->('program.pl'), 1],
        [$tool, [@other, 'folder'], "folder is a directory, and has no profiles; $RECORD"
            . $more->('folder'), 1];
}
# Metrics, subs, conditions, commands.
push @rows, (
    ['dprofreport', ['-m', 'cpuu', 'ours.out'],
        "there is no metric cpuu; did you mean cpu?\nthe profile has @METRICS", 1],
    ['dprofpp', ['-m', 'usre', 'ours.out'],
        "there is no metric usre; did you mean user?\nthe table can have cpu, user, system, real",
        1],
    ['dprofdiff', ['-m', 'clals', 'ours.out', 'ours.out'],
        "there is no metric clals; did you mean calls?\nboth sides have @METRICS", 1],
    (map { [$_, ['-m', 'allocs', 'ours.out'],
        "there is no metric allocs\nours.out has @METRICS", 1] }
        qw(dprofflame dprofhtml dproffold dprofexport)),
    ['dprofreport', ['--annotate', 'main::rnu', 'ours.out'],
        '--annotate: there is no sub or file main::rnu in the profile; did you mean main::run?', 1],
    ['dprofreport', ['--callers', 'wnated', 'ours.out'],
        'there is no sub wnated in ours.out; did you mean My::Pkg::wanted?', 1],
    ['dprofreport', ['-S', 'wnated', 'ours.out'],
        '-S: no sub matches in ours.out; did you mean My::Pkg::wanted?', 1],
    ['dprofdiff', ['-S', 'wnated', 'ours.out', 'ours.out'],
        'dprofdiff: -S wnated: no sub has that name; did you mean My::Pkg::wanted?', 1],
    ['dprofreport', ['--from', 'dir:folder', 'servce=x'],
        "unknown condition servce; did you mean service?\n$TRY", 2],
    ['dprofstore', ['list', '--from', 'dir:folder', 'vresion=x'],
        'dprofstore: unknown condition vresion; did you mean version?', 1],
    ['dprofstore', ['list', '--from', 'clickhouse://127.0.0.1/x'], 'dprofstore: '
        . 'clickhouse://127.0.0.1/x: a store is written clickhouse:http[s]://HOST:PORT/DATABASE',
        1],
    ['dprofstore', ['pshu'], "unknown command pshu; did you mean push?\n$TRY", 2],
    ['dprofstore', ['ours.out'],
        "ours.out: a command comes first: dprofstore push ours.out\n$TRY", 2],
    ['dproflist', ['ours.out'], "dproflist: event 'ours.out': no such event; "
        . 'dprofreport ours.out shows a profile', 1],
    ['dprof', ['flam'], "unknown command flam; did you mean flame?\n$TRY", 2],
    ['dprof', ['help', 'reprot'], "unknown command reprot; did you mean report?\n$TRY", 2],
    ['dprof', ['ours.out'], "ours.out: a tool comes first: dprof report ours.out\n$TRY", 2],
    ['dprof', ['--hlep'], "Unknown option: hlep; did you mean --help?\n$TRY", 2],
    ['dprofrun', [], "there is no command: dprof run -- perl PROGRAM\n$TRY", 2],
    ['dprofrun', ['--htlm', '--', 'x'], "Unknown option: htlm; did you mean --html?\n$TRY", 2],
);

for my $row (@rows) {
    my ($tool, $args, $said, $status) = @$row;
    my $got = run_tool($tool, $args, dir => $dir);
    my $wanted = $said =~ s/TOOL/$tool/r;
    is("$got->{status} $got->{err}", "$status $wanted\n", "$tool @$args gives its message");
    cmp_ok(scalar(split /\n/, $got->{err}), '<=', 2, "$tool @$args prints two lines at most");
}

done_testing;
