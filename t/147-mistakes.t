# Twenty mistakes that people make, for each tool: a message of two short lines at most says what is
# wrong and what to type instead.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Compress::Zlib ();
use Test::More;
use DProfTest;
use Devel::DProf::Tools;

use constant MISTAKES => 20;

my $dir = scratch();
chdir $dir or die $!;
spew('ours.out', slurp(data('ours.out')));
spew('tmon.old', slurp(data('shop-old.out')));
spew('empty.out', '');
spew('text.txt', "hello\n" x 20);
spew('data.json', qq({"a": [1, 2]}\n));
spew('program.pl', "print 1;\n");
spew('perf.data', 'PERFILE2' . "\0" x 200);
spew('nonsense.gz', Compress::Zlib::memGzip("nonsense\n" x 20));
spew('damaged.gz', substr(slurp('nonsense.gz'), 0, 20) . 'xxxx');
spew('cut.out', substr slurp(data('ours.out')), 0, 400);
mkdir $_ or die $! for qw(files nothing);
spew('files/a.trace', slurp('ours.out'));

my $NONE = 'No such file or directory';
my $RECORD = 'dprof run -- perl PROGRAM records one';
my $METRICS = 'cpu, user, system, real, calls';
my $RE = 'not a regular expression: Unmatched ( in regex; marked by <-- HERE in m/a( <-- HERE /';

# Rows: the tool, its arguments, the message, the status. A message of status 2 is followed by "Try
# 'TOOL -h' for help."; TOOL in a message is the tool.
my @rows;

sub mistake {
    my ($tool, $args, $said, $status) = @_;
    push @rows, [$tool, ref $args ? $args : [split / /, $args], $said, $status // 2];
    return;
}

# ---- options ----

my %HAS = map { my $row = $_;
    ($row->{name} => join ' ', Devel::DProf::Tools::load($row)->can('command')->()->rows)
} Devel::DProf::Tools::all();
my @ALL = map { $_->{name} } Devel::DProf::Tools::all();
sub with { my ($re) = @_; return grep { $HAS{$_} =~ /(?:^|[ |])$re/ } @ALL }
sub without { my %with = map { $_ => 1 } with(@_); return grep { !$with{$_} } @ALL }

for my $tool (@ALL) {
    mistake($tool, '--hlep', 'Unknown option: hlep; did you mean --help?');
    mistake($tool, '-?', 'Unknown option: ?');
    mistake($tool, '--help=3', '--help takes no value');
    mistake($tool, '--manaul --hlep', 'Unknown option: manaul; did you mean --manual?');
}
mistake($_, '--outptu x', 'Unknown option: outptu; did you mean --output?') for with('output\b');
mistake($_, '--output x', 'Unknown option: output; > FILE writes the output to a file')
    for without('output\b');
mistake($_, '--fail-if new', 'Unknown option: fail-if; it is an option of dprofdiff')
    for without('fail-if');
mistake($_, '--annotate f', 'Unknown option: annotate; it is an option of dprofreport, dprofdiff')
    for without('annotate');
mistake($_, '--diff a b',
    'Unknown option: diff; ' . ($_ eq 'dprofdiff' ? 'dprofdiff always compares'
    : 'dprofdiff compares two profiles')) for without('diff\b');
mistake($_, '-o', '-o needs a value: -o ' . ($_ eq 'dprofmerge' ? 'file' : 'FILE'))
    for with('o\|output');
mistake($_, '--only', '--only needs a value: ' . ($_ eq 'dprofpp' ? '-g sub' : '--only REGEX'))
    for with('only=');
mistake($_, '-m', '-m needs a value: -m ' . ($_ eq 'dprofpp' ? 'metric'
    : $_ eq 'dprofexport' ? 'METRIC,...' : 'METRIC'))
    for grep { $_ ne 'dprofdiff' } with('m\|metric');      # perf diff's -m is a switch
mistake($_, '--rows ten', '--rows ten: must be a whole number: ' . ($_ eq 'dprofpp' ? '-O count'
    : $_ eq 'dprofreport' ? '--rows N' : '-O N')) for with('O\|rows');
mistake($_, '-O 0', $_ eq 'dprofpp' ? '-O 0: the number of rows must be positive'
    : '-O 0: must be a positive number') for with('O\|rows');
mistake($_, '--only a( ours.out', "--only: $RE") for grep { $_ ne 'dprofpp' } with('only=');
mistake($_, '--skip a( ours.out', "--skip: $RE") for with('skip=');
mistake($_, '--unit k( ours.out', '--unit k(: must be s, ms, us, ns, or a word for what is counted')
    for grep { $_ ne 'dproffold' } with('unit=');
mistake($_, '--source-dir missing ours.out', '--source-dir missing: there is no such folder')
    for with('source-dir=');
mistake($_, '--color pink ours.out', '--color pink: must be auto, always or never')
    for with('color=');
mistake($_, '--percentage all ours.out', '--percentage all: must be relative or absolute')
    for with('percentage=');
mistake($_, '--percent-limit x ours.out',
    '--percent-limit x: must be a number: --percent-limit P') for with('percent-limit=');
mistake($_, '--percent-limit=-1 ours.out', '--percent-limit -1: must not be negative')
    for with('percent-limit=');
mistake($_, '--time 3 ours.out', '--time: `3\' is none of START,STOP (seconds), A%-B% and A%/N')
    for with('time=');
mistake($_, '--map old ours.out', '--map: `old\' is not OLD=NEW') for with('map=');
mistake($_, '--from dir:x', "--run-set says which profiles of the store: --run-set 'service=web "
    . "since=1h'") for grep { $_ ne 'dprofstore' } with('from=');
mistake($_, '--run-set x',
    '--run-set needs a store: --from STORE, or DPROF_STORE in the environment')
    for with('run-set=');
mistake($_, '--buckets 0', '--buckets 0: must be a positive number') for with('buckets=');
mistake($_, '--format jsn ours.out', '--format: unknown format jsn; did you mean json?')
    for qw(dprofreport dprofdiff dproftop dproflist);
mistake($_, '--format xyz ours.out', '--format: unknown format xyz; there are csv, html, json, '
    . 'markdown, text') for qw(dproftop dproflist);
mistake('dprofdiff', '--format xyz ours.out', '--format: unknown format xyz; there are csv, flame, '
    . 'flame-svg, github, html, json, junit, and 4 more');

# ---- files ----

my %FILES = (
    missing => "Unable to open missing: $NONE; $RECORD",
    'oers.out' => "Unable to open oers.out: $NONE; did you mean ours.out?",
    'tmon.out' => "Unable to open tmon.out: $NONE; run perl -d:DProf PROGRAM first",
    $$ => "Unable to open $$: $NONE; dprofattach $$ samples that process",
    'empty.out' => "Not a perl profile: empty.out (it is empty); $RECORD",
    'text.txt' => "Not a perl profile: text.txt; $RECORD",
    'data.json' => "Not a perl profile: data.json; $RECORD",
    'nonsense.gz' => "Not a perl profile: nonsense.gz; $RECORD",
    'program.pl' => 'Not a perl profile: program.pl; dprof run -- perl program.pl records one',
    'damaged.gz' => 'damaged.gz: the compressed data are damaged (invalid distance too far back) '
        . '(line 1, byte 10); record it again',
    'perf.data' => "perf.data: this is a file of perf: `perf script -i FILE > TEXT' makes text of "
        . 'it, which can be read',
    nothing => "nothing is a directory, and has no profiles; $RECORD",
);
my @READERS = map { "dprof$_" } qw(report diff flame html fold export merge pp);
for my $tool (@READERS) {
    for my $file (sort keys %FILES) {
        mistake($tool, $tool eq 'dprofdiff' ? "ours.out $file" : $file, $FILES{$file}
            . ($tool eq 'dprofmerge' ? "\n$file is left out" : ''), 1);
    }
    mistake($tool, [''], 'a name of a file is empty; is a variable of the shell not set?'
        . ($tool eq 'dprofmerge' ? "\n is left out" : ''), 1);
    next if $tool !~ /report|pp|merge/;
    mistake($tool, 'files', 'files is a directory; name the profiles in it: files/*'
        . ($tool eq 'dprofmerge' ? "\nfiles is left out" : ''), 1);
}
mistake($_, 'cut.out', 'cut.out: profile cut short: the file ends within its header (line 9, byte '
    . "400)\n$_: there is nothing to draw", 1) for qw(dprofflame dprofhtml);

# ---- metrics, subs ----

mistake($_, '-m cpuu ours.out', "there is no metric cpuu; did you mean cpu?\n"
    . ($_ eq 'dprofreport' ? 'the profile has' : 'ours.out has') . " $METRICS", 1)
    for qw(dprofreport dprofflame dprofhtml dproffold dprofexport);
mistake('dprofdiff', '-m cpuu ours.out ours.out',
    "there is no metric cpuu; did you mean cpu?\nboth sides have $METRICS", 1);
mistake('dprofdiff', '-m ops ours.out ours.out', 'there is no metric ops; trees have ops: record '
    . "with -d:DProf=tree\nboth sides have $METRICS", 1);
mistake('dprofpp', '-m cpuu ours.out', 'there is no metric cpuu; did you mean cpu?'
    . "\nthe table can have cpu, user, system, real", 1);
mistake('dproftop', '-m cpuu ours.out', 'dproftop: there is no metric cpuu; did you mean cpu?'
    . "\ndproftop: the profile has cpu, user, system, real", 1);
mistake($_, '--sort symbl ours.out', 'Unknown --sort key: `symbl\'; there are sub, package, '
    . 'script, pid, thread, srcline, phase, caller, parent') for qw(dprofreport dprofdiff);
mistake($_, '--sort packge ours.out', 'Unknown --sort key: `packge\'; did you mean package?')
    for qw(dprofreport dprofdiff);
mistake($_, '--callers nothing ours.out' . ($_ eq 'dprofdiff' ? ' ours.out' : ''),
    'there is no sub nothing' . ($_ eq 'dprofdiff' ? '' : ' in ours.out')
    . '; dprofreport lists the subs', 1) for qw(dprofreport dprofdiff);
mistake('dprofreport', '--annotate nothing ours.out',
    '--annotate: there is no sub or file nothing in the profile; dprofreport lists the subs', 1);
mistake('dprofreport', '-d Nothing ours.out',
    '-d: no sub matches in ours.out; dprofreport -s package lists the packages', 1);
mistake('dprofreport', '-C nothing ours.out',
    '-C: no sub matches in ours.out; dprofreport -s script lists the scripts', 1);
mistake('dprofreport', '--only nothing ours.out',
    '--only: no sub matches in ours.out; dprofreport lists the subs', 1);
mistake('dprofpp', '-g nothing ours.out', '-g nothing: there is no sub of that name in ours.out; '
    . 'dprofpp -O 1000 lists the subs', 1);
mistake('dproffold', '--pid 3 ours.out', 'ours.out: there is no pid 3; it has 17', 1);

# ---- outputs ----

for my $tool (qw(dprofflame dprofhtml dproffold dprofexport dprofmerge dproftop dproflist)) {
    my $args = $tool eq 'dprofexport' ? '--format pprof ' : $tool eq 'dproftop' ? '-n 1 ' : '';
    my $input = $tool eq 'dproflist' ? '' : ' ours.out';
    my $name = $tool eq 'dprofmerge' ? "$tool: " : '';
    mistake($tool, "${args}-o folder/x.out$input", "${name}folder/x.out could not be written: "
        . "$NONE; " . 'mkdir -p folder makes the folder', 1);
    mistake($tool, "${args}-o nothing$input", "${name}nothing could not be written: "
        . 'Is a directory; -o nothing/FILE writes into that folder', 1);
    mistake($tool, ['-o', '', split ' ', $input], "-o '': must not be empty");
    mistake($tool, "${args}-o tmon.old$input",
        'tmon.old is a profile, and is not overwritten; -o FILE names the output', 1)
        if $tool ne 'dprofmerge';
}

# ---- what one tool takes ----

mistake('dprofdiff', '-o diff.txt ours.out',
    '-o diff.txt: must be a whole number; > FILE writes the output to a file');
mistake('dprofdiff', '-c all ours.out',
    '-c all: must be delta, delta-abs, ratio or wdiff:BASELINE,OTHER');
mistake('dprofdiff', ['-c', '', 'ours.out'],
    '-c : must be delta, delta-abs, ratio or wdiff:BASELINE,OTHER');
mistake('dprofdiff', ['--run', ''], "--run '': must not be empty");
mistake('dprofreport', '-F slef ours.out', "Invalid --fields key: `slef'; did you mean self?");
mistake('dprofreport', '--by 1h ours.out', '--by goes with --history SUB');
mistake('dprofpp', ['-p', ''], "-p '': must not be empty");
mistake('dprofpp', '--watch 1 nothing',
    '--watch: nothing is a directory, and has no profiles; ' . $RECORD);
mistake('dprofpp', '-G a( ours.out', "-G: $RE");
mistake('dprofflame', '--colors perlish ours.out', '--colors: unknown palette perlish; there are '
    . 'aqua, blue, chain, green, hot, io, java, js, mem, and 7 more');
mistake('dprofflame', '--diff ours.out ours.out ours.out',
    '--diff takes two sides, a baseline and another one; join the files of one side by commas');
mistake('dprofhtml', '--source-url x ours.out',
    '--source-url x: must be like https://forge.example/me/repo/blob/main/{file}#L{line}');
mistake('dprofexport', '-o x.foo ours.out', '-o x.foo: no format has that suffix; use '
    . '--format pprof|speedscope|firefox|callgrind|cachegrind|chrome');
mistake('dprofexport', '--format pporf ours.out', '--format: unknown format pporf; did you mean '
    . 'pprof?');
mistake('dprofmerge', '-z', 'name the profiles to merge');

mistake('dproftop', 'nothing', "dproftop: nothing is a directory, and has no profiles; $RECORD", 1);
mistake('dproftop', '-',
    'dproftop: -: not a file that can be read again; dprofreport reads it once', 1);
mistake('dproftop', $_, $FILES{$_}, 1) for qw(text.txt program.pl data.json nonsense.gz perf.data);
mistake('dproftop', '-s time ours.out', '--sort time: must be self, inclusive or calls');
mistake('dproftop', '--delay soon', '--delay soon: must be a number: -d SECONDS');
mistake('dproftop', '--pid me', '--pid me: must be a whole number: --pid PID');
mistake('dproftop', "--pid $$ ours.out", 'dproftop: ours.out: no process; dproftop ours.out shows '
    . 'a profile, without options of processes', 1);

my $PROCESS = 'not the number of a process';
mistake('dprofattach', 'ours.out', "ours.out: $PROCESS; dprofreport ours.out shows a profile");
mistake('dprofattach', 'program.pl',
    "program.pl: $PROCESS; dprofattach -- perl program.pl starts a command");
mistake('dprofattach', 'perl', "perl: $PROCESS; dprofattach -- perl starts a command");
mistake('dprofattach', '12a', "12a: $PROCESS; dprofattach -- 12a starts a command");
mistake('dprofattach', [''], ": $PROCESS; dprofattach -- PROGRAM starts a command");
mistake('dprofattach', '-o x', 'which process? dprofattach PID, or dprofattach -- COMMAND');
mistake('dprofattach', '1 -- perl',
    'either processes or a command: dprofattach PID, or dprofattach -- COMMAND');
mistake('dprofattach', '999999999', 'dprofattach: there is no process 999999999', 1);
mistake('dprofattach', '--for', '--for needs a value: --for 10s');
mistake('dprofattach', '--for 10x 1',
    '--for 10x: a time is a number with ms, s, m or h: --for 10s');
mistake('dprofattach', '--rate fast 1', '--rate fast: must be a number: --rate 100');
mistake('dprofattach', '--rate 0 1', '--rate 0: must be a positive number');
mistake('dprofattach', '--rate 20000 1', '--rate 20000: at most 10000');
mistake('dprofattach', '--slice 1s -o x 1',
    '-o is for one profile; with --slice 1s, --spool names the folder of slices');
mistake('dprofattach', '--spool x 1', '--spool is for slices: --slice 60s --spool x');

my $PID = 'dprofdump PID shows a program that runs';
my $CORE = 'not a core file of this kind of machine';
mistake('dprofdump', 'ours.out', "TOOL: ours.out: $CORE; dprofreport ours.out shows a profile", 1);
mistake('dprofdump', 'missing', "TOOL: missing: $NONE; $PID", 1);
mistake('dprofdump', 'nothing', "TOOL: nothing: not a core file; $PID", 1);
mistake('dprofdump', [''], "TOOL: : $NONE; $PID", 1);
mistake('dprofdump', $_, "TOOL: $_: not a core file; $PID", 1) for qw(empty.out);
mistake('dprofdump', $_, "TOOL: $_: $CORE; $PID", 1)
    for qw(text.txt data.json nonsense.gz perf.data damaged.gz);
mistake('dprofdump', '999999999', 'TOOL: there is no process 999999999', 1);
mistake('dprofdump', '1 2', 'one process or core file at a time; dprofdump PID');
mistake('dprofdump', '--threads', 'one process or core file at a time; dprofdump PID');
mistake('dprofdump', '--jsn 1', 'Unknown option: jsn; did you mean --json?');

mistake('dproflist', 'folders', "TOOL: event 'folders': no such event; dproflist lists all", 1);
mistake('dproflist', $_, "TOOL: event '$_': no such event; dprofreport $_ shows a profile", 1)
    for qw(ours.out text.txt empty.out);
mistake('dproflist', '--clock missing', "TOOL: $FILES{missing}", 1);
mistake('dproflist', "--clock $_", "TOOL: $FILES{$_}", 1) for qw(text.txt data.json nothing);
mistake('dproflist', '--json --format csv', '--json is --format json, and does not go with '
    . '--format csv');
mistake('dproflist', '--cpuid ops', '--cpuid describes the processor, and takes no pattern');

my $CANNOT = 'TOOL: COMMAND cannot be run: ';
mistake('dprofrun', $_->[0],
    ($CANNOT =~ s/COMMAND/$_->[0]/r) . ($_->[2] // $NONE) . "; $_->[1]", 127)
    for ['missing', 'dprof run -- perl PROGRAM records a program'],
    ['program.pl', 'dprof run -- perl program.pl records a program'],
    ['ours.out', 'dprof report ours.out shows a profile'],
    ['./nothing', 'dprof run -- perl PROGRAM records a program', 'Permission denied'],
    ['tree', 'if it is an option: dprof run tree -- COMMAND'],
    ['lines', 'if it is an option: dprof run lines -- COMMAND'];
mistake('dprofrun', $_, 'there is no command: dprof run -- perl PROGRAM') for '--html', '--', [''];
mistake('dprofreport', '-s span,sub ours.out',
    '-s span is a table of its own; leave the other keys out');
mistake('dprofrun', 'trees -- perl', 'unknown option trees; did you mean tree?');
mistake('dprofrun', 'file=x.out -- perl', 'file is an option of Devel::NYTProf; perldoc '
    . 'Devel::DProf::FromNYTProf says what is here in its place');
mistake('dprofflame', "-o x.$_ ours.out", "-o x.$_: only svg and html are drawn; a browser turns "
    . 'these into other pictures') for qw(png pdf);
mistake('dprofrun', 'out=x -- perl',
    'out= goes with perl -d:DProf; here, --keep DIR says where the profiles go');
mistake('dprofrun', 'help -- perl', 'perl -d:DProf=help lists the options of the recorder');
mistake('dprofrun', '-o x -- perl', '-o FILE is the page\'s: dprof run --html -o FILE -- COMMAND');
mistake('dprofrun', ['--keep', '', 'perl'], "--keep '': must not be empty");
mistake('dprofrun', '--keep ours.out perl',
    'TOOL: ours.out: File exists; --keep DIR names another folder', 1);

my $TO = 'push --to dir:store';
mistake('dprofstore', '-q', 'name a command: init, push, agent, list, prune');
mistake('dprofstore', 'ours.out', 'ours.out: a command comes first: dprofstore push ours.out');
mistake('dprofstore', 'pshu', 'unknown command pshu; did you mean push?');
mistake('dprofstore', 'push ours.out', 'name the store: --to dir:PATH, or DPROF_STORE in the '
    . 'environment');
mistake('dprofstore', $TO, 'push: name spools, or profiles');
mistake('dprofstore', 'agent --to dir:store', 'agent: name spools, which are folders');
mistake('dprofstore', "$TO --merge soon ours.out",
    '--merge soon: must be a number of seconds, or like 5m');
mistake('dprofstore', "$TO --every x y", '--every x: must be a number of seconds, or like 5m');
mistake('dprofstore', "$TO --label x y", '--label x: must be KEY=VALUE');
mistake('dprofstore', "$TO --refused-limit x y",
    '--refused-limit x: must be a number of bytes, or like 100M');
mistake('dprofstore', "$TO --users nobody-at-all y",
    '--users nobody-at-all: there is no such user');
mistake('dprofstore', 'init x --to dir:store', 'init: x: it takes no names');
mistake('dprofstore', 'list --every 3 --to dir:store', '--every does not go with list');
mistake('dprofstore', 'prune --to dir:store', "prune: say what to remove, as in 'older=30d'");
mistake('dprofstore', 'list --to dir:store vresion=1',
    'TOOL: unknown condition vresion; did you mean version?', 1);
mistake('dprofstore', 'list --to ftp:x', 'TOOL: ftp:x: a store is dir:PATH, '
    . 'clickhouse:http://HOST:8123/DATABASE, or one that dprofstore -h lists', 1);

# ---- the tools say that ----

# Counts the columns of a line without the words of the command line and the names of files.
sub columns {
    my ($line, @words) = @_;
    for my $word (sort { length $b <=> length $a } grep { length } @words) {
        $line =~ s/\Q$word\E//g;
    }
    return length $line;
}

my (%count, %seen);
for my $row (@rows) {
    my ($tool, $args, $said, $status) = @$row;
    next if $seen{"$tool @$args"}++;
    $count{$tool}++;
    my $got = run_tool($tool, $args, dir => $dir);
    # dprofstore says on the standard output what it has pushed, and pictures may be empty.
    my $wanted = ($said =~ s/TOOL/$tool/gr) . "\n"
        . ($status == 2 ? "Try '$tool -h' for help.\n" : '');
    is("$got->{status} $got->{err}", "$status $wanted", "$tool @$args gives its message");
    my @lines = split /\n/, $got->{err};
    cmp_ok(scalar @lines, '<=', 2, "$tool @$args prints two lines at most");
    my @long = grep { columns($_, @$args) > 100 } @lines;
    is("@long", '', "$tool @$args prints short lines");
}
cmp_ok($count{$_} // 0, '>=', MISTAKES, "$_: " . MISTAKES . ' mistakes') for @ALL;
is(slurp('tmon.old'), slurp(data('shop-old.out')), 'no output has replaced a profile');

# ---- files that may not be read or written ----

# Runs a tool as an ordinary user, for whom permissions hold.
sub as_user {
    my ($tool, @args) = @_;
    my $module = 'Devel::DProf::Tool::' . ucfirst $tool;
    eval "require $module" or die $@;
    return run_program(sub {
        if ($> == 0) { ($(, $), $<, $>) = (65534, '65534 65534', 65534, 65534) }
        return 99 if $> == 0;
        my $status = $module->can('main')->(@args);
        close STDOUT;
        return $status;
    }, dir => $dir);
}

SKIP: {
    spew('closed.out', slurp('ours.out'));
    chmod 0, 'closed.out' or die $!;
    mkdir 'closed', 0555 or die $!;
    chmod 0711, $dir =~ s{/[^/]*\z}{}r, $dir;
    my $run = as_user('dproffold', 'ours.out');
    skip "an ordinary user cannot read $dir: status $run->{status}, $run->{err}", 11
        if $run->{status};
    for my $tool (@READERS) {
        $run = as_user($tool, $tool eq 'dprofdiff' ? 'ours.out' : (), 'closed.out');
        my ($line) = split /\n/, $run->{err};
        is("$run->{status} $line", '1 Unable to open closed.out: Permission denied; chmod a+r lets '
            . 'you read it: ask its owner', "$tool of an unreadable file");
    }
    for my $tool (qw(dprofflame dproffold dprofmerge)) {
        $run = as_user($tool, '-o', 'closed/x', 'ours.out');
        my $name = $tool eq 'dprofmerge' ? "$tool: " : '';
        is("$run->{status} $run->{err}", "1 ${name}closed/x could not be written: Permission "
            . "denied; -o FILE names another place\n",
            "$tool into a folder that may not be written");
    }
}

# ---- profiles of others ----

my $other = slurp('ours.out') =~ s/dprof_perl='[^']*'/dprof_perl='5.030000'/r;
spew('other.out', $other);
is(run_tool('dprofdiff', ['ours.out', 'other.out'], dir => $dir)->{err},
    "the sides differ: perl is not the same: 5.036000, 5.030000; record them alike, or add -f\n",
    'the profile of another perl');

# ---- the words of each Getopt::Long ----

{
    require Devel::DProf::Tool::Options;
    my $options = Devel::DProf::Tool::Options->new(name => 'dproftool',
        text => "= O|rows=i share=f\n  -O, --rows N  as many rows\n");
    for my $kind ('', 'integer ') {
        is($options->refusal(qq{Value "ten" invalid for option rows (${kind}number expected)\n}),
            '--rows ten: must be a whole number: --rows N', "an option with a '${kind}number'");
    }
    is($options->refusal(qq{Value "ten" invalid for option share (real number expected)\n}),
        '--share ten: must be a number', 'an option with a real number');
}

# ---- a terminal ----

SKIP: {
    my $why = no_terminal();
    skip $why, 10 if defined $why;
    my $cannot = 'a terminal cannot show';
    for (['dprofflame', 'ours.out', "$cannot a picture; use -o FILE, or > FILE"],
        ['dprofhtml', '-o - ours.out', "$cannot a picture; use -o FILE, or > FILE"],
        ['dprofexport', 'ours.out', "$cannot the result; use -o FILE, or > FILE"],
        ['dprofmerge', 'ours.out', "$cannot the result; use -o FILE, or > FILE"],
        (map { [$_, '--format html ours.out', "--format html: $cannot it; redirect it: > FILE"] }
            qw(dprofreport dprofdiff dproftop dproflist)),
        ['dprofdiff', '--format flame ours.out ours.out',
            "--format flame: $cannot a picture; redirect it: > FILE"],
        ['dprofdiff', '--format flame-svg ours.out ours.out',
            "--format flame-svg: $cannot a picture; redirect it: > FILE"]) {
        my ($tool, $args, $said) = @$_;
        my $run = on_terminal(join(' ', map { "'$_'" } tool_command($tool, split / /, $args)),
            dir => $dir);
        is($run->{out} =~ s/\r//gr, "$said\nTry '$tool -h' for help.\n",
            "$tool $args on a terminal");
    }
}

done_testing;
