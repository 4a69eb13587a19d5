# Files of other tools, in our tools. Events whose names have colons are selected in every tool that
# selects metrics; text of perf and of Xdebug that was refused or read wrongly; and what is said of
# files that are not read. t/c/26 to t/c/33 try each detail.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch spew in_process);

my $dir = scratch();
my $n = 0;

sub file { return spew($dir . '/' . ++$n, join '', @_) }

# What a tool prints; behind its status and its message if it has any.
sub shown {
    my $run = in_process(@_);
    my $said = $run->{err} =~ s/\Q$dir\E/DIR/gr;
    return ($run->{status} || length $said ? "$run->{status}: $said" : '') . $run->{out};
}

subtest 'Events of perf may have colons in their names' => sub {
    my $y = '    y 95 [001] 184.20: ';
    my $events = file("${y}kmem:mm_page_free: page=0xff pfn=7\n",
        ("${y}kmem:kfree: ptr=(nil)\n") x 3, "z 96 184.21: cycles:u: \n\t7f0001 g(int) (/x)\n\n");
    my %counts = ('kmem:kfree' => 3, 'kmem:mm_page_free' => 1, 'cycles:u' => 1, cycles => 1);
    for my $metric (sort keys %counts) {
        my $count = $counts{$metric};
        my $stack = $metric =~ /^kmem/ ? 'y' : 'z;g';
        my $leaf = $stack =~ s/.*;//r;
        is(shown('dproffold', '-m', $metric, $events), "$stack $count\n",
            "dproffold prints $metric");
        like(shown('dprofreport', '--format=perf', '-m', $metric, '--no-children', $events),
            qr/^ 100\.00%  $leaf$/m, "dprofreport prints $metric");
        like(shown('dprofpp', '--metric', $metric, $events), qr/^ +100 +$count +$count .* $leaf$/m,
            "dprofpp prints $metric");
        like(shown('dprofdiff', '--format=perf', '-m', $metric, $events, $events),
            qr/^# Baseline total: $count\b/m,
            "dprofdiff prints $metric");
        like(shown('dprofdiff', '--format=perf', '--fail-if', "$metric > 5%", $events, $events),
            qr/^# Gate: passed, 1 rule$/m, "--fail-if takes $metric");
        for my $tool (['dprofflame', '-o', "$dir/x.svg"], ['dprofhtml', '-o', "$dir/x.html"],
            ['dprofexport', '--format', 'pprof', '-o', "$dir/x.pb.gz"]) {
            is(shown(@$tool, '-m', $metric, $events), '',
                "$tool->[0] takes $metric without a message");
        }
    }
    is(shown('dprofmerge', '-o', "$dir/merged", $events), '',
        'dprofmerge merges events with colons without a message');
    is(shown('dproffold', '-m', 'kmem:kfree', "$dir/merged"), "y 3\n",
        'dprofmerge keeps names with colons');
    like(shown('dproffold', '-m', 'kmem', $events),
        qr/^1: there is no metric kmem; did you mean kmem:kfree or /m,
        'kmem is no name of kmem:kfree');
};

subtest 'Text of perf that lacks commands is refused' => sub {
    my $text = file("1.000100:     250000 cpu-clock:\n\t    55d0a0001000 f+0x10 (/opt/x/app)\n\n");
    is(shown('dprofreport', '--format=perf', $text),
        "1: DIR/$n: no command stands before this stack; `perf script "
        . "-F comm,tid,time,period,event,ip,sym,dso' prints all that is needed: "
        . "\\x09    55d0a0001000 f+0x10 (/opt/x/app) (line 2, byte 32)\n",
            'a line says which stack lacks its command');
};

subtest 'A value below 0 is left out with a message' => sub {
    my $head = "version: 1\ncreator: xdebug 3\nevents: Time_(10ns) Memory_(bytes)\nfl=a.php\n";
    my $file = file($head, "fn=f\n3 50 400\nfn=g\n4 7 -64\n");
    my $said = "1: DIR/$n: a cost is below 0, and is left out: -64 (line 8, byte "
        . length("${head}fn=f\n3 50 400\nfn=g\n") . ")\n";
    is(shown('dproffold', '--unit', 'ns', $file), "${said}f 500\ng 70\n",
        'dproffold leaves the value out');
    is(shown('dproffold', '-m', 'Memory', $file), "${said}f 400\n",
        'dproffold prints the other values of the event');
    like(shown('dprofreport', '--format=perf', $file), qr/\A\Q$said\E.*^# Total: 0\.00000057/ms,
        'dprofreport leaves the value out');
    like(shown('dprofdiff', '--format=perf', $file, $file), qr/\A1: DIR.*left out: -64/,
        'dprofdiff leaves the value out');
};

subtest 'Folded stacks may look like a header of callgrind' => sub {
    is(shown('dproffold', file("version: 1\ncreator: 2\nevents: 3\nmain;f 4\n")),
        "creator: 2\nevents: 3\nmain;f 4\nversion: 1\n",
            'dproffold reads such lines as folded stacks');
};

subtest 'A foreign file gives the name of its tool' => sub {
    my %named = (
        "heap profile: 5: 80 [9: 144] \@ heap/1048576\n1: 16 [1: 16] \@ 0x45\n" => 'pprof -proto',
        "FLR\0\0\2" => 'jfrconv',
        "\xff\xfea\0 \0002\0\n\0" => 'iconv -f UTF-16',
        '{"traceEvents":[]}' => 'Chrome.*speedscope\.app',
        '{"nodes":[{"callFrame":{}}]}' => 'cpuprofile.*speedscope\.app',
        '{"meta":{},"threads":[]}' => 'Firefox.*speedscope\.app',
    );
    for my $text (sort keys %named) {
        my $file = file($text);
        for my $tool (qw(dprofreport dproffold)) {
            like(shown($tool, $file), qr{\A1: DIR/$n: this is .*$named{$text}.*\n\z},
                "$tool names the tool of a foreign file: $named{$text}");
        }
    }
};

done_testing;
