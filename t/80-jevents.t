# jevents turns event lists in JSON and their mapfile into tables in C. It takes each field to the
# letter, tells each error with its place, and leaves an output that is whole or unchanged. The
# program is the one that made the build's own table: that one must be right.
use strict;
use warnings;
use Config;
use Cwd 'abs_path';
use File::Path 'make_path';
use POSIX ();
use File::Glob ':bsd_glob';
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch slurp spew run_program);

# Its output is in the module: who installs the module need not test it.
plan skip_all => 'jevents is tested with EXTENDED_TESTING=1' if !$ENV{EXTENDED_TESTING};
my $jevents = abs_path('src/pmu-events') . "/jevents$Config{_exe}";
-x $jevents or BAIL_OUT('src/pmu-events/jevents is not there: run make first');
my $top = scratch();
my $n = 0;

# Runs jevents; returns the status, and what it prints on stderr.
sub jevents {
    my $run = run_program([$jevents, @_], dir => '.', limit => 60);
    return { %$run, status => $run->{signal} ? "signal $run->{signal}" : $run->{status} };
}

# Makes a tree of files below a new directory.
sub tree {
    my (%files) = @_;
    my $dir = "$top/" . ++$n;
    make_path($dir);
    for my $name (sort keys %files) {
        my ($in) = "$dir/$name" =~ m{(.*)/};
        make_path($in);
        spew("$dir/$name", $files{$name});
    }
    return $dir;
}

my $map = "Header\nCPU-1,v1,m,core\n";

# Runs jevents on the architecture `a` of a tree; drops the directory's name from messages.
sub run {
    my (%files) = @_;
    my $dir = tree('a/mapfile.csv' => $map, %files);
    my $run = jevents('a', $dir, "$dir/out.c");
    $run->{err} =~ s{\Q$dir/a\E/?}{}g;
    $run->{out} = -e "$dir/out.c" ? slurp("$dir/out.c") : undef;
    $run->{dir} = $dir;
    return $run;
}

# Returns what is between the braces of a table's entries.
sub entries {
    my ($out, $table) = @_;
    my ($text) = $out
        =~ /^static const struct pmu_event \Q$table\E\[\] = \{\n(.*?)^\{\.name=0\}\n\};\n/ms
        or return "no $table";
    return map { s/^\{//r =~ s/,\},$//r } split /\n/, $text;
}

# ---- fields ----

subtest 'Each field of an event list is read' => sub {
    my @fields = (
        [ 'nothing but a name', '"EventName": "A.B"', '.name="a.b",.event="event=0",.topic="t"' ],
        [ 'mask fields in the order of the JSON, the code behind them',
            '"EventCode":"0x3C","UMask":"0x01","CounterMask":"1","Invert":"1","EdgeDetect":"1",'
                . '"AnyThread":"1","SampleAfterValue":"2000003","EventName":"m1"',
            '.name="m1",.event="umask=0x01,cmask=1,inv=1,edge=1,any=1,period=2000003,event=0x3c",'
                . '.topic="t"' ],
        [ '... in another order',
            '"SampleAfterValue":"7","EventName":"m2","UMask":"0x2","EventCode":"1"',
            '.name="m2",.event="period=7,umask=0x2,event=0x1",.topic="t"' ],
        [ 'the first of two codes, the first of two MSRs',
            '"EventCode":"0xB7, 0xBB","UMask":"0x1","MSRIndex":"0x1a6, '
                . '0x1a7","MSRValue":"0x10001","SampleAfterValue":"100003","EventName":"r1"',
            '.name="r1",.event="umask=0x1,period=100003,event=0xb7,offcore_rsp=0x10001",'
                . '.topic="t"' ],
        [ 'values of masks end at a comma, those of MSRs do not',
            '"EventCode":"0xCD","UMask":"0x1,0x2","MSRIndex":"0x3F6","MSRValue":"0x80,1",'
                . '"EventName":"r2"',
            '.name="r2",.event="umask=0x1,event=0xcd,ldlat=0x80,1",.topic="t"' ],
        [ 'MSRs: frontend', '"MSRIndex":"0x3f7","MSRValue":"0x11","EventName":"r3"',
            '.name="r3",.event="event=0,frontend=0x11",.topic="t"' ],
        [ 'MSRs: the other of the pair', '"MSRIndex":"0x1A7","MSRValue":"0x12","EventName":"r4"',
            '.name="r4",.event="event=0,offcore_rsp=0x12",.topic="t"' ],
        [ 'MSRs: none is 0', '"MSRIndex":"0","MSRValue":"0x12","EventName":"r5"',
            '.name="r5",.event="event=0",.topic="t"' ],
        [ 'ExtSel, Filter, the masks of uncore units',
            '"EventCode":"0x1","ExtSel":"1","UMask":"0x0","FCMask":"0x07","PortMask":"0x01",'
                . '"Unit":"IIO","Filter":"filter_opc=0x1","EventName":"u1"',
            '.name="u1",.event="umask=0x0,fc_mask=0x07,ch_mask=0x01,event=0x200001,filter_opc=0x1",'
                . '.desc="Unit: uncore_iio ",.topic="t",.pmu="uncore_iio"' ],
        [ 'a filter of two terms, and an MSR behind it',
            '"EventCode":"0x2","Filter":"a=1,b=2","MSRIndex":"0x3F6","MSRValue":"3",'
                . '"EventName":"u2"',
            '.name="u2",.event="event=0x2,a=1,b=2,ldlat=3",.topic="t"' ],
        [ 'ConfigCode', '"ConfigCode":"0x7","EventName":"c1","UMask":"1"',
            '.name="c1",.event="umask=1,config=0x7",.topic="t"' ],
        [ 'ConfigCode 0', '"ConfigCode":"0","EventCode":"0x5","EventName":"c2"',
            '.name="c2",.event="config=0",.topic="t"' ],
        [ '"0" is no mask; what is written otherwise is',
            '"UMask":"0","CounterMask":"0x0","EdgeDetect":"00","EventName":"z1"',
            '.name="z1",.event="cmask=0x0,edge=00,event=0",.topic="t"' ],
        [ 'values keep their looks', '"UMask":"0X0f","EventName":"z2"',
            '.name="z2",.event="umask=0X0f,event=0",.topic="t"' ],
        [ 'codes: octal, decimal, garbage behind, garbage alone',
            '"EventCode":"010","EventName":"o1"',
            '.name="o1",.event="event=0x8",.topic="t"' ],
        [ '... decimal', '"EventCode":"4096","EventName":"o2"',
            '.name="o2",.event="event=0x1000",.topic="t"' ],
        [ '... up to the first byte that is none', '"EventCode":"0x1g","EventName":"o3"',
            '.name="o3",.event="event=0x1",.topic="t"' ],
        [ '... none at all', '"EventCode":"xyz","EventName":"o4"',
            '.name="o4",.event="event=0",.topic="t"' ],
        [ '... of 64 bits', '"EventCode":"0xfedcba9876543210","EventName":"o5"',
            '.name="o5",.event="event=0xfedcba9876543210",.topic="t"' ],
        [ 'keys of any case; unknown ones',
            '"eventname":"K1","Umask":"0x1","EVENTCODE":"0x2","Counter":"0,1","EventNam":"x",'
                . '"EventNames":"y","":"z"',
            '.name="k1",.event="umask=0x1,event=0x2",.topic="t"' ],
        [ 'a mask twice; two codes make one',
            '"UMask":"1","UMask":"2","EventCode":"1","EventCode":"4","EventName":"k2"',
            '.name="k2",.event="umask=1,umask=2,event=0x5",.topic="t"' ],
        [ 'names are in lower case, values are not',
            '"EventName":"UNC_C.X_\u00c4","Compat":"v8","EventCode":"1"',
            '.name="unc_c.x_\303\204",.event="event=0x1",.compat="v8",.topic="t"' ],
        [ 'descriptions lose one dot, and what is behind it',
            '"EventName":"d1","BriefDescription":"Brief.. ","PublicDescription":"Long. \n"',
            '.name="d1",.event="event=0",.desc="Brief.",.topic="t",.long_desc="Long"' ],
        [ '... blanks without a dot stay',
            '"EventName":"d2","BriefDescription":"e.g. ","PublicDescription":"none  "',
            '.name="d2",.event="event=0",.desc="e.g",.topic="t",.long_desc="none  "' ],
        [ '... empty ones are none',
            '"EventName":"d3","BriefDescription":"","PublicDescription":"","ScaleUnit":"",'
                . '"PerPkg":"",'
                . '"MetricGroup":""', '.name="d3",.event="event=0",.topic="t"' ],
        [ '... line ends and tabs are blanks',
            qq{"EventName":"d4","BriefDescription":"a\n\t  b  c \t d\r\ne"},
            '.name="d4",.event="event=0",.desc="a b  c d e",.topic="t"' ],
        [ 'escapes of JSON and of C',
            '"EventName":"d5","BriefDescription":"\"q\" \\\\ \/ \b\f\n\r\t7 '
                . '\u0041\u00e9\u20AC\ud83d\ude00 \ud83d! \udc00"',
            '.name="d5",.event="event=0",.desc="\"q\" \\\\ / \010\014\n\015\0117 '
                . 'A\303\251\342\202\254\360\237\230\200 \357\277\275! \357\277\275",.topic="t"' ],
        [ 'raw bytes', qq{"EventName":"d6","BriefDescription":"\x01\xc3\xa9\x7f0"},
            '.name="d6",.event="event=0",.desc="\001\303\251\1770",.topic="t"' ],
        [ 'no trigraphs', '"EventName":"d7","BriefDescription":"a ??= ??/ ???( b?"',
            '.name="d7",.event="event=0",.desc="a \??= \??/ \?\??( b?",.topic="t"' ],
        [ 'what is added to descriptions',
            '"EventName":"x1","BriefDescription":"B.","PublicDescription":"P.","Errata":"BDM69",'
                . '"Data_LA":"1","PEBS":"1"',
            '.name="x1",.event="event=0",.desc="B  Spec update: BDM69.  Supports address when '
                . 'precise '
                . '(Precise event)",.topic="t",.long_desc="P  Spec update: BDM69.  Supports '
                . 'address '
                . 'when precise (Precise event)"' ],
        [ '... in the order of the JSON',
            '"Data_LA":"1","Errata":"X","EventName":"x2","BriefDescription":"B"',
            '.name="x2",.event="event=0",.desc="B  Supports address when precise.  Spec update: '
                . 'X",.topic="t"' ],
        [ '... PEBS 2', '"EventName":"x3","BriefDescription":"B","PEBS":"2"',
            '.name="x3",.event="event=0",.desc="B (Must be precise)",.topic="t"' ],
        [ '... PEBS 0, Data_LA 0, Errata null',
            '"EventName":"x4","BriefDescription":"B","PEBS":"0","Data_LA":"0","Errata":"null"',
            '.name="x4",.event="event=0",.desc="B",.topic="t"' ],
        [ '... once', '"EventName":"x5","BriefDescription":"B (Precise Event)","PEBS":"1"',
            '.name="x5",.event="event=0",.desc="B (Precise Event)",.topic="t"' ],
        [ '... without a description', '"EventName":"x6","PEBS":"1","Errata":"X"',
            '.name="x6",.event="event=0",.topic="t"' ],
        [ '... behind an empty one',
            '"EventName":"x7","BriefDescription":"B","PublicDescription":"","PEBS":"1"',
            '.name="x7",.event="event=0",.desc="B (Precise event)",.topic="t",.long_desc="(Precise '
                . 'event)"' ],
        [ 'a unit before its description',
            '"Unit":"CPU-M-CF","EventName":"p1","BriefDescription":"B."',
            '.name="p1",.event="event=0",.desc="Unit: cpum_cf B",.topic="t",.pmu="cpum_cf"' ],
        [ '... and behind', '"EventName":"p2","BriefDescription":"B.","Unit":"iMC"',
            '.name="p2",.event="event=0",.desc="B. Unit: uncore_imc '
                . '",.topic="t",.pmu="uncore_imc"' ],
        (map { [ "unit $_->[0]", qq{"EventName":"$_->[1]","Unit":"$_->[0]"},
            qq{.name="$_->[1]",.event="event=0",.desc="Unit: $_->[1] ",}
                . qq{.topic="t",.pmu="$_->[1]"} ] }
            [ 'CBO' => 'uncore_cbox' ], [ 'QPI LL' => 'uncore_qpi' ], [ 'SBO' => 'uncore_sbox' ],
                [ 'iMPH-U' => 'uncore_arb' ], [ 'UPI LL' => 'uncore_upi' ],
            [ 'CPU-M-SF' => 'cpum_sf' ], [ 'PAI-CRYPTO' => 'pai_crypto' ],
            [ 'hisi_sccl,ddrc' => 'hisi_sccl,ddrc' ], [ 'hisi_sccl,hha' => 'hisi_sccl,hha' ],
            [ 'hisi_sccl,l3c' => 'hisi_sccl,l3c' ], [ 'hisi_sicl,cpa' => 'hisi_sicl,cpa' ],
            [ 'imx8_ddr' => 'imx8_ddr' ], [ 'L3PMC' => 'amd_l3' ],
            [ 'DFPMC' => 'amd_df' ], [ 'cpu_core' => 'cpu_core' ], [ 'CPU_ATOM' => 'cpu_atom' ],
            [ 'M2M' => 'uncore_m2m' ]),
        [ 'an empty unit is none', '"EventName":"p3","Unit":""',
            '.name="p3",.event="event=0",.topic="t"' ],
        [ 'fields that are copied',
            '"EventName":"q1","ScaleUnit":"64Bytes","PerPkg":"1","Deprecated":"1","Compat":"0x1",'
                . '"AggregationMode":"PerChip"',
            '.name="q1",.event="event=0",.compat="0x1",.topic="t",.unit="64Bytes",.perpkg="1",'
                . '.aggr_mode="1",.deprecated="1"' ],
        [ 'PerCore', '"EventName":"q2","AggregationMode":"PerCore"',
            '.name="q2",.event="event=0",.topic="t",.aggr_mode="2"' ],
        [ 'a metric',
            '"MetricName":"IPC","MetricExpr":"INST / C@cmask\\\\=1@\n + '
                . '1","MetricGroup":"A;B","MetricConstraint":"NO_NMI_WATCHDOG",'
                . '"BriefDescription":"I.",'
                . '"UMask":"1"',
            '.desc="I",.topic="t",.metric_expr="INST / C@cmask\\\\=1@\n + '
                . '1",.metric_name="IPC",.metric_group="A;B",'
                . '.metric_constraint="NO_NMI_WATCHDOG"' ],
        [ 'an event with a metric', '"EventName":"q3","MetricName":"Q","MetricExpr":"1"',
            '.name="q3",.event="event=0",.topic="t",.metric_expr="1",.metric_name="Q"' ],
        [ 'fixed counters', '"EventName":"INST_RETIRED.ANY","EventCode":"0x0","UMask":"0x1"',
            '.name="inst_retired.any",.event="event=0xc0,period=2000003",.topic="t"' ],
        (map { [ "fixed $_->[0]", qq{"EventName":"$_->[0]","EventCode":"0x77"},
            qq{.name="$_->[0]",.event="$_->[1]",.topic="t"} ] }
            [ 'inst_retired.any_p' => 'event=0xc0,period=2000003' ],
                [ 'cpu_clk_unhalted.ref' => 'event=0x0,umask=0x03,period=2000003' ],
            [ 'cpu_clk_unhalted.thread' => 'event=0x3c,period=2000003' ],
            [ 'cpu_clk_unhalted.core' => 'event=0x3c,period=2000003' ],
            [ 'cpu_clk_unhalted.thread_any' => 'event=0x3c,any=1,period=2000003' ]),
    );
    {
        my $run = run('a/m/t.json' => "[\n" . join(",\n", map { "{ $_->[1] }" } @fields) . "\n]\n");
        is("$run->{status} $run->{err}", '0 ', 'lists with every field are accepted');
        my @got = entries($run->{out}, 'pme_m');
        is(scalar(@got), scalar(@fields), 'each object is an event');
        is($got[$_], $fields[$_][2], "the entry is right: $fields[$_][0]") for 0 .. $#fields;
    }
};

# ---- JSON that no strict reader takes ----

for my $json (
    '[{"EventName":"a","EventCode":"1"},{"EventName":"b"}]',
    '[{,"EventName":"a","EventCode":"1",},,{"EventName":"b",},]',
    '[{"EventName" "a" "EventCode" "1"}{"EventName":"b"}]',
    qq{\r\n[\r\n\t{ "EventName"\n:\n"a" , , "EventCode":"1"\n}\n{ "EventName" : : "b" }]\r\n},
    ',[:{"EventName","a","EventCode","1"}{"EventName","b"}:],',
) {
    my $run = run('a/m/t.json' => $json);
    is("$run->{status} $run->{err}" . join('|', entries($run->{out} // '', 'pme_m')),
        '0 .name="a",.event="event=0x1",.topic="t"|.name="b",.event="event=0",.topic="t"',
        "the list is read: " . $json =~ s/\s+/ /gr);
}
is(join('|', entries(run('a/m/t.json' => '[]')->{out}, 'pme_m')), '',
    'an empty list has no events');

# ---- topics, tables, rows ----
{
    my $e = sub { my ($name) = @_; return qq([{"EventName":"$name"}]) };
    my $run = run(
        'a/mapfile.csv' =>
        "dropped,whatever,it,is\r\n# a "
            . "comment,x,y,z\r\n\r\nX-6-\\d[0-9]\\\\,v\"1,m,core\r\n^B\\.,2,vendor/m-2,uncore,"
            . "more\nC,3,v/m/cpu,core\nA,v1,m,core",
        'a/m/Floating-point.json' => $e->('f'), 'a/m/My-Topic.v2.json' => $e->('g'),
        'a/m/a.JSON' => '{', 'a/m/readme.txt' => '{', 'a/m/.hidden.json' => '{',
        'a/m/B.json' => $e->('h'),
        'a/vendor/m-2/x.json' => $e->('i'), 'a/v/m/cpu/y.json' => $e->('j'),
        'a/v/m/sys/z.json' => $e->('k'), 'a/notes' => 'x', 'a/.git/x.json' => '{',
    );
    is("$run->{status} $run->{err}", '0 ', 'files with odd names are accepted');
    is($run->{out},
        <<'END', 'the output is right to the letter: bytes sort files, the mapfile sorts rows');
/* Made by jevents of event lists and their mapfile. */
#include "pmu-events/pmu-events.h"

static const struct pmu_event pme_m[] = {
{.name="h",.event="event=0",.topic="B",},
{.name="f",.event="event=0",.topic="Floating point",},
{.name="g",.event="event=0",.topic="My Topic",},
{.name=0}
};

static const struct pmu_event pme_v_m_cpu[] = {
{.name="j",.event="event=0",.topic="y",},
{.name=0}
};

static const struct pmu_event pme_vendor_m_2[] = {
{.name="i",.event="event=0",.topic="x",},
{.name=0}
};

const struct pmu_events_map pmu_events_map[] = {
{.cpuid="X-6-\\d[0-9]\\\\",.version="v\"1",.type="core",.table=pme_m},
{.cpuid="^B\\.",.version="2",.type="uncore",.table=pme_vendor_m_2},
{.cpuid="C",.version="3",.type="core",.table=pme_v_m_cpu},
{.cpuid="A",.version="v1",.type="core",.table=pme_m},
{.cpuid=0}
};
END
    my %files = ('a/m/t.json' => $e->('a'));
    is(run(%files, 'a/other/t.json' => $e->('b'))->{err},
        "mapfile.csv: no line names other: its events are left out\n",
        'a message names a directory that no line of the mapfile names');
    is(run(%files, 'a/mapfile.csv' => "only a header")->{out},
        "/* Made by jevents of event lists and their mapfile. */\n#include "
            . "\"pmu-events/pmu-events.h\"\n\n"
        . "const struct pmu_events_map pmu_events_map[] = {\n{.cpuid=0}\n};\n",
        'a mapfile without rows gives an empty table');
}

subtest 'Standard events are read' => sub {
    my $std =
        '[{"EventName":"STD_A","EventCode":"0x11","BriefDescription":"Std.",'
            . '"PublicDescription":"Long","ScaleUnit":"1B","Unit":"imc","UMask":"0x3",'
            . '"Deprecated":"1","AggregationMode":"PerCore"},'
        . '{"EventName":"STD_B","EventCode":"0x12"}]';
    my $run = run('a/common.json' => $std,
        'a/z.json' => '[{"EventName":"STD_C","EventCode":"0x13"}]', 'a/m/t.json' =>
        '[{"ArchStdEvent":"STD_A"},{"ArchStdEvent":"std_b","EventCode":"0x99","UMask":"0x7",'
            . '"BriefDescription":"Own."},{"ArchStdEvent":"Std_C","EventName":"MINE",'
            . '"ScaleUnit":"2B"},'
        . '{"ArchStdEvent":"STD_B","EventName":"inst_retired.any"}]');
    is("$run->{status} $run->{err}", '0 ', 'standard events are accepted');
    is(join("\n", entries($run->{out}, 'pme_m')), join("\n",
        '.name="std_a",.event="umask=0x3,event=0x11",.desc="Std. Unit: uncore_imc '
            . '",.topic="t",.long_desc="Long",.pmu="uncore_imc",.unit="1B",.aggr_mode="2",'
            . '.deprecated="1"',
        '.name="std_b",.event="event=0x12",.desc="Own",.topic="t"',
        '.name="mine",.event="event=0x13",.topic="t",.unit="2B"',
        '.name="inst_retired.any",.event="event=0xc0,period=2000003",.topic="t"'),
        'standard events give the fields that an event lacks, and always the code');
};

# ---- errors ----

# Each row: what is wrong, files, the message.
my $ok = '[{"EventName":"a"}]';
my $beyond = "[\n{\"EventName\":\"a\"},\n";
my @errors = (
    [ 'no mapfile', { 'a/mapfile.csv' => undef, 'a/m/t.json' => $ok },
        'DIR/a: there is no mapfile.csv' ],
    [ 'an empty mapfile', { 'a/mapfile.csv' => '', 'a/m/t.json' => $ok },
        'mapfile.csv:1: the file is empty: it begins with a header line' ],
    [ 'a field is missing', { 'a/mapfile.csv' => "h\nX,1,m\n", 'a/m/t.json' => $ok },
        'mapfile.csv:2: no type: a line is CPUID,version,directory,type' ],
    [ 'a line of blanks', { 'a/mapfile.csv' => "h\n\n \n", 'a/m/t.json' => $ok },
        'mapfile.csv:3: no version: a line is CPUID,version,directory,type' ],
    [ 'a blank before a comment', { 'a/mapfile.csv' => "h\n # x\n", 'a/m/t.json' => $ok },
        'mapfile.csv:2: no version: a line is CPUID,version,directory,type' ],
    [ 'an empty CPUID', { 'a/mapfile.csv' => "h\n,1,m,core\n", 'a/m/t.json' => $ok },
        'mapfile.csv:2: the CPUID is empty: a line is CPUID,version,directory,type' ],
    [ 'an empty field between', { 'a/mapfile.csv' => "h\nX-3,,m,core\n", 'a/m/t.json' => $ok },
        'mapfile.csv:2: the version is empty: a line is CPUID,version,directory,type' ],
    [ 'an empty field at the end', { 'a/mapfile.csv' => "h\nX-3,1,m,\r\n", 'a/m/t.json' => $ok },
        'mapfile.csv:2: the type is empty: a line is CPUID,version,directory,type' ],
    [ 'a directory that is not there',
        { 'a/mapfile.csv' => "h\nX,1,m,core\nY,1,n,core\n", 'a/m/t.json' => $ok },
        'mapfile.csv:3: there is no directory n with event lists' ],
    [ 'a directory whose name goes on',
        { 'a/mapfile.csv' => "h\nX,1,m.old,core\n", 'a/m/t.json' => $ok },
        'mapfile.csv:2: there is no directory m.old with event lists' ],
    [ 'a directory of directories', { 'a/mapfile.csv' => "h\nX,1,v,core\n", 'a/v/m/t.json' => $ok },
        'mapfile.csv:2: there is no directory v with event lists' ],
    [ 'a CPUID that is no regex', { 'a/mapfile.csv' => "h\nX[,1,m,core\n", 'a/m/t.json' => $ok },
        qr/^mapfile\.csv:2: the CPUID X\[ is no regular expression: ./ ],
    [ 'a CPUID that is too much', { 'a/mapfile.csv' => "h\n((a{255}){255}){255},1,m,core\n",
        'a/m/t.json' => $ok }, 'mapfile.csv:2: the CPUID ((a{255}){255}){255} repeats too much' ],
    [ 'a NUL in a mapfile', { 'a/mapfile.csv' => "h\nX,1\0,m,core\n", 'a/m/t.json' => $ok },
        'mapfile.csv:2: a NUL byte' ],
    [ 'a bad name of a directory in the mapfile',
        { 'a/mapfile.csv' => "h\nX,1,m+m,core\n", 'a/m/t.json' => $ok },
        'mapfile.csv:2: there is no directory m+m with event lists' ],
    [ 'a bad name of a directory', { 'a/m/t.json' => $ok, 'a/b d/t.json' => $ok },
        'b d: byte 0x20 in the name of a directory: b d' ],
    [ 'two directories of one name', { 'a/m-1/t.json' => $ok, 'a/m_1/t.json' => $ok },
        'm_1: its table would be pme_m_1, as that of m-1' ],
    [ 'an event list beside directories', { 'a/v/t.json' => $ok, 'a/v/m/t.json' => $ok },
        'v/t.json: an event list beside directories belongs to no table' ],
    [ 'too deep', { 'a/1/2/3/4/5/t.json' => $ok }, '1/2/3/4/5: more than 4 levels of directories' ],
    [ 'an empty list', { 'a/m/t.json' => '' }, 'm/t.json:1: the file is empty' ],
    [ 'a list of blanks', { 'a/m/t.json' => " \n\n" }, 'm/t.json:3: the file is empty' ],
    [ 'no list', { 'a/m/t.json' => '{"EventName":"a"}' },
        'm/t.json:1: expected an array of events, got an object' ],
    [ 'strings in a list', { 'a/m/t.json' => "[\n\"a\"]" },
        'm/t.json:2: expected an object, got a string' ],
    [ 'lists in a list', { 'a/m/t.json' => "[\n[]]" },
        'm/t.json:2: expected an object, got an array' ],
    [ 'a number as a value', { 'a/m/t.json' => "$beyond\{\n\"EventCode\": 0x12}]" },
        'm/t.json:4: expected a string as value of "EventCode", got a number or a word without '
            . 'quotes' ],
    [ 'null as a value of a key that nobody knows', { 'a/m/t.json' => "$beyond\{\n\"X\": null}]" },
        'm/t.json:4: expected a string as value of "X", got a number or a word without quotes' ],
    [ 'an array as a value', { 'a/m/t.json' => "$beyond\{\"UMask\": [\"1\"]}]" },
        'm/t.json:3: expected a string as value of "UMask", got an array' ],
    [ 'an object as a value', { 'a/m/t.json' => "$beyond\{\"UMask\": {\"1\":\"2\"}}]" },
        'm/t.json:3: expected a string as value of "UMask", got an object' ],
    [ 'no value', { 'a/m/t.json' => "$beyond\{\"UMask\"}]" },
        'm/t.json:3: expected a string as value of "UMask", got the end of an object' ],
    [ 'a word as a key', { 'a/m/t.json' => "$beyond\{UMask: \"1\"}]" },
        'm/t.json:3: expected the name of a field, got a number or a word without quotes' ],
    [ 'the wrong bracket', { 'a/m/t.json' => "$beyond\{\"EventName\": \"b\"]" },
        'm/t.json:3: expected the name of a field, got the end of an array' ],
    [ 'the wrong bracket, again', { 'a/m/t.json' => "$beyond}" },
        'm/t.json:3: expected an object, got the end of an object' ],
    [ 'cut short in a string', { 'a/m/t.json' => "$beyond\{\"EventName\":\n\n \"b\n" },
        'm/t.json:5: a string without end' ],
    [ 'cut short in an escape', { 'a/m/t.json' => "$beyond\{\"EventName\":\"b\\" },
        'm/t.json:3: a string without end' ],
    [ 'cut short in an object', { 'a/m/t.json' => "$beyond\{\"EventName\":\"b\"\n" },
        'm/t.json:4: expected the name of a field, got the end of the file' ],
    [ 'cut short in the list', { 'a/m/t.json' => $beyond },
        'm/t.json:3: expected an object, got the end of the file' ],
    [ 'something behind the list', { 'a/m/t.json' => "$ok\n$ok" },
        'm/t.json:2: expected the end of the file behind the array, got an array' ],
    [ 'a byte order mark', { 'a/m/t.json' => "\xef\xbb\xbf$ok" },
        'm/t.json:1: byte 0xef outside of a string' ],
    [ 'a NUL', { 'a/m/t.json' => "$ok\n\0" }, 'm/t.json:2: byte 0x00 outside of a string' ],
    [ 'a NUL in a string', { 'a/m/t.json' => "[{\"EventName\":\"a\n\0\"}]" },
        'm/t.json:2: a NUL byte in a string' ],
    [ 'a NUL by escape', { 'a/m/t.json' => '[{"EventName":"a\u0000"}]' },
        'm/t.json:1: \u0000 in a string' ],
    [ 'an escape that is none', { 'a/m/t.json' => '[{"EventName":"a\x41"}]' },
        'm/t.json:1: no such escape in a string: \ and byte 0x78' ],
    [ '\u without digits', { 'a/m/t.json' => '[{"EventName":"a\u12"}]' },
        'm/t.json:1: \u without four hexadecimal digits' ],
    [ 'no name', { 'a/m/t.json' => "[\n{\"EventCode\":\"1\"}]" },
        'm/t.json:2: neither EventName nor MetricName' ],
    [ 'an empty name', { 'a/m/t.json' => "[\n{\"EventName\":\"\"}]" },
        'm/t.json:2: neither EventName nor MetricName' ],
    [ 'a name with a line end', { 'a/m/t.json' => '[{"EventName":"a\n"}]' },
        'm/t.json:1: a control character in a name or a code' ],
    [ 'a name twice', { 'a/m/t.json' => "[{\"EventName\":\"a\",\n\"EventName\":\"b\"}]" },
        'm/t.json:2: EventName twice in one event' ],
    [ 'an odd AggregationMode',
        { 'a/m/t.json' => '[{"EventName":"a","AggregationMode":"PerCat"}]' },
        'm/t.json:1: AggregationMode is neither PerChip nor PerCore: PerCat' ],
    [ 'an unknown standard event',
        { 'a/s.json' => $ok,
            'a/m/t.json' => "[{\"EventName\":\"a\",\n\"ArchStdEvent\":\"NOPE\"}]" },
            'm/t.json:2: ArchStdEvent: there is no standard event nope' ],
    [ 'an error in standard events', { 'a/s.json' => '[{"EventName":1}]', 'a/m/t.json' => $ok },
        's.json:1: expected a string as value of "EventName", got a number or a word without '
            . 'quotes' ],
    [ 'an event twice',
        { 'a/m/t.json' => "[{\"EventName\":\"AB\"},\n{\"EventName\":\"ab\",\"UMask\":\"1\"}]" },
        'm/t.json:2: ab is there already, with something else: m/t.json:1' ],
    [ '... in two files', { 'a/m/t.json' => '[{"EventName":"a","Unit":"x"}]',
        'a/m/u.json' => '[{"EventName":"a","Unit":"X","EventCode":"1"}]' },
        'm/u.json:1: a of uncore_x is there already, with something else: m/t.json:1' ],
    [ 'an error in a directory called sys', { 'a/v/sys/t.json' => '{}', 'a/m/t.json' => $ok },
        'v/sys/t.json:1: expected an array of events, got an object' ],
);
for (@errors) {
    my ($what, $files, $want) = @$_;
    my %files = ('a/mapfile.csv' => $map, %$files);
    delete $files{$_} for grep { !defined $files{$_} } keys %files;
    my $dir = tree(%files);
    spew("$dir/out.c", 'older');
    my $run = jevents('a', $dir, "$dir/out.c", '1');
    my $said = $run->{err} =~ s{\Q$dir/a/\E}{}gr =~ s{\Q$dir\E}{DIR}gr;
    if (ref $want) { like($said, $want,
        "jevents says what is wrong: $what") } else { is($said, "$want\n",
        "jevents says what is wrong: $what") }
    is("$run->{status} " . slurp("$dir/out.c") . join(' ', glob "$dir/out.c.*"), '1 older',
        "jevents fails and leaves the older output: $what");
}
is(run('a/m/t.json' => '[')->{out}, undef, 'an error leaves no output');

# An event that is there twice, alike, is no error: the table has it once, or once for each PMU.
{
    my $run = run('a/m/t.json' =>
        '[{"EventName":"a","EventCode":"1"},{"EventName":"b"},{"EventName":"A","EventCode":"0x1"}]',
        'a/m/u.json' => '[{"EventName":"b"},{"EventName":"b","Unit":"x"}]');
    is("$run->{status} $run->{err}" . join('|',
        map { /name="(.*?)"/ } entries($run->{out} // '', 'pme_m')), '0 a|b|b',
        'equal events are in the table once');
}

subtest 'MSRs without a term give warnings' => sub {
    my $run = run('a/m/t.json' =>
        "[{\"EventName\":\"a\",\n\"MSRIndex\":\"0x999\",\"MSRValue\":\"1\"},\n{\"EventName\":\"b\","
            . "\"MSRIndex\":\"0x3F6\"}]");
    is("$run->{status} $run->{err}",
        "0 m/t.json:2: no term is known for MSRIndex 0x999: the event goes without\nm/t.json:3: "
            . "MSRIndex without MSRValue: the event goes without\n",
                'a warning names each MSR without a term');
    is(join('|', entries($run->{out}, 'pme_m')),
        '.name="a",.event="event=0",.topic="t"|.name="b",.event="event=0",.topic="t"',
        'the events of unknown MSRs are in the table');
};

subtest 'The command line and the file system are checked' => sub {
    my $dir = tree('a/mapfile.csv' => $map, 'a/m/t.json' => $ok, 'a/m/readme' => '',
        'a/readme' => '');
    for my $args ([], ['a'], ['a', $dir], ['a', $dir, "$dir/o", 1, 2]) {
        my $run = jevents(@$args);
        is("$run->{status} $run->{err}", "1 usage: jevents ARCH STARTING_DIR OUTPUT [VERBOSE]\n",
            "wrong arguments give the usage: @$args");
    }
    is(jevents('b', $dir, "$dir/o")->{err}, "$dir/b: No such file or directory\n",
        'an unknown architecture is an error');
    like(jevents('a', $dir, "$dir/no/o")->{err}, qr{^\Q$dir\E/no/o\.tmp: },
        'a missing folder for the output is an error');
    my $none = jevents('none', "$dir/no", "$dir/o");
    is("$none->{status} $none->{err}" . slurp("$dir/o"),
        "0 /* Made by jevents of event lists and their mapfile. */\n#include "
            . "\"pmu-events/pmu-events.h\"\n\n"
        . "const struct pmu_events_map pmu_events_map[] = {\n{.cpuid=0}\n};\n",
        'an architecture without lists gives an empty table');
    my $told = jevents('a', $dir, "$dir/o", 1);
    like("$told->{status} $told->{err}",
        qr{^0\ \Q$dir\E/a/readme:\ no\ event\ list,\ passed\ over\n
            .*/m/readme:\ no\ event\ list,\ passed\ over\n
            jevents:\ 1\ tables,\ 1\ of\ them\ in\ use,\ 1\ events,\ 1\ rows,\ \d+\ bytes\n\z}x,
        'VERBOSE prints sums');
    is(jevents('a', $dir, "$dir/o", 0)->{err}, '', 'VERBOSE 0 prints nothing');
    spew("$dir/older", 'older');
    link "$dir/older", "$dir/link" or die "link: $!";
    is(jevents('a', $dir, "$dir/older")->{status} . slurp("$dir/link"), '0older',
        'an older output is replaced, so that a hard link keeps it');
    spew("$dir/older", 'older');
    my $full = `(trap '' XFSZ; ulimit -f 0; exec '$jevents' a '$dir' '$dir/older') 2>&1`;
    ok($? != 0 && $full =~ m{^\Q$dir\E/older\.tmp: } && slurp("$dir/older") eq 'older'
        && !-e "$dir/older.tmp", 'a full disk leaves the older output, and no other file');
    # These are links, since a test must not lose the devices themselves.
    symlink '/dev/null', "$dir/null" or die "symlink: $!";
    is(jevents('a', $dir, "$dir/null")->{status} . -l "$dir/null", '01',
        'a link to a device is written through');
    symlink '/dev/full', "$dir/full" or die "symlink: $!";
    is(jevents('a', $dir, "$dir/full")->{status}, 1,
        'a full device gives status 1') if -c '/dev/full';
  SKIP: {
        skip 'root reads everything', 2 if $> == 0;
        chmod 0, "$dir/a/m/t.json";
        is(jevents('a', $dir, "$dir/o")->{err}, "$dir/a/m/t.json: Permission denied\n",
            'a list that cannot be read is an error');
        chmod 0, "$dir/a/m";
        is(jevents('a', $dir, "$dir/o")->{err}, "$dir/a/m: Permission denied\n",
            'a directory that cannot be read is an error');
        chmod 0755, "$dir/a/m";
        chmod 0644, "$dir/a/m/t.json";
    }
    POSIX::mkfifo("$dir/a/m/pipe.json", 0600) or die "mkfifo: $!";
    is(jevents('a', $dir, "$dir/o")->{err}, "$dir/a/m/pipe.json: neither a file nor a directory\n",
        'a pipe among the lists is an error');
    unlink "$dir/a/m/pipe.json";
    symlink "$dir/nowhere", "$dir/a/m/gone.json" or die "symlink: $!";
    is(jevents('a', $dir, "$dir/o")->{err}, "$dir/a/m/gone.json: No such file or directory\n",
        'a dangling link is an error');
    unlink "$dir/a/m/gone.json";
    symlink "$dir/a", "$dir/a/m/up" or die "symlink: $!";
    is(jevents('a', $dir, "$dir/o")->{status}, 1, 'a link to a folder above is an error');
};

# ---- the order of directories ----

subtest 'The order of directories does not matter' => sub {
    # On most file systems, files that are created in another order are listed in another order.
    my %files = ('a/mapfile.csv' => "h\n" . join('', map { "C$_,1,m$_,core\n" } 1 .. 9), map {
        my $d = $_;
        map { ("a/m$d/$_.json" => "[{\"EventName\":\"$_\"}]") } 'a' .. 'p'
    } 1 .. 9);
    my @names = sort keys %files;
    my @made;
    for my $order (\@names, [reverse @names], [map { $names[ ($_ * 67) % @names ] } 0 .. $#names]) {
        my $dir = tree();
        for my $name (@$order) {
            my ($in) = "$dir/$name" =~ m{(.*)/};
            make_path($in);
            spew("$dir/$name", $files{$name});
        }
        jevents('a', $dir, "$dir/out.c");
        opendir(my $dh, "$dir/a/m1") or die "$dir/a/m1: $!";
        push @made, { out => slurp("$dir/out.c"), listing => join(' ', readdir $dh) };
    }
    ok(length $made[0]{out} > 5000, 'the tree of many files has a large output');
    is($made[$_]{out}, $made[0]{out},
        'another order of directories gives the same output') for 1, 2;
    note(scalar(grep { $_->{listing} ne $made[0]{listing} } @made),
        ' of the other 2 are listed otherwise');
};

# ---- examples of perf's own manual ----
{
    my $out = "$top/powerpc.c";
    is(jevents('powerpc', 't/data/pmu-events', $out)->{err}, '', 'the PowerPC lists are accepted');
    like(slurp($out),
        qr/^\Q{.name="pm_1plus_ppc_cmpl",.event="event=0x100f2",\E
            \Q.desc="1\E\ or\ more\ ppc\ insts\ finished,\Q",.topic="other",},\E$/mx,
        'the entry of pm_1plus_ppc_cmpl is right');
    like(slurp($out),
        qr/^\Q{.name="pm_cyc",.event="event=0x1e",.desc="Cycles",.topic="other",.long_desc="\E
            \ Cycles,\ counted\ in\ any\ state\Q",},\E$/mx,
                'raw line ends and tabs become blanks');
    like(slurp($out), qr/^\Q{.cpuid="004b0000",.version="1",.type="core",.table=pme_power8},\E$/m,
        'the row of 004b0000 is right');
    $out = "$top/x86.c";
    is(jevents('x86', 't/data/pmu-events', $out)->{err}, '', 'the Silvermont lists are accepted');
    my @rows = slurp($out) =~ /^\{\.cpuid="(.*?)",.*\.table=pme_Silvermont_core\},$/mg;
    is("@rows", 'GenuineIntel-6-37 GenuineIntel-6-4D GenuineIntel-6-4C',
        'three CPUs share the table of Silvermont');
    my @tables = slurp($out) =~ /^static const struct pmu_event (\w+)/mg;
    is("@tables", 'pme_Silvermont_core', 'the table of Silvermont is written once');
    is(join('|', map { /topic="(.*?)"/ } entries(slurp($out), 'pme_Silvermont_core')),
        'Cache|Frontend|Pipeline|Virtual Memory', 'the table of Silvermont has its topics');
}
done_testing;
