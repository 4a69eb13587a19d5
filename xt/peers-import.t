# What we read of other tools' files, against what these tools show of them: profiles of a Go
# program by `go tool pprof', a recording of ls by callgrind_annotate. Tools that are not installed
# are skipped.
use strict;
use warnings;
use JSON::PP ();
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch slurp spew run_program in_process);

my $dir = scratch();

sub has { my ($tool) = @_; return grep { -x "$_/$tool" } split /:/, $ENV{PATH} }

sub output {
    my $run = run_program([@_], limit => 300, env => { HOME => $dir, GO111MODULE => 'off' });
    return $run->{raw} ? BAIL_OUT("@_: $run->{err}") : $run->{out};
}

# Self and inclusive value of each name.
sub ours {
    my ($file, $counter) = @_;
    my $run = in_process('dproffold', '--no-separate-anon',
        defined $counter ? ('-m', $counter) : ('--unit', 'ns'), $file);
    is("$run->{status}$run->{err}", '0', "$file is read without a message");
    my %values;
    for my $line (split /\n/, $run->{out}) {
        my ($stack, $count) = $line =~ /^(.*) (\d+)$/ or next;
        my @frames = map { s/%3B/;/gr } split /;/, $stack;
        my %seen;
        $values{ $frames[-1] }[0] += $count;
        $values{$_}[1] += $count for grep { !$seen{$_}++ } @frames;
    }
    return \%values;
}

# How many of their values are ours, how many are not, and the first of those.
sub compared {
    my ($theirs, $ours, $what) = @_;
    my ($same, @others) = (0);
    for my $name (sort keys %$theirs) {
        for my $k (0, 1) {
            my ($x, $y) = map { $_->{$name}[$k] // 0 } $theirs, $ours;
            my $what = ('self', 'inclusive')[$k];
            $x == $y ? $same++ : push @others, "$name: $what $x, ours $y";
        }
    }
    note "$what: $same values are the same, " . @others . ' are not';
    return ($same, @others);
}

# What lines of a source have themselves, by our report: { LINE => value }. unit: how many of the
# values are one of the report.
sub our_lines {
    my ($unit, $source, @args) = @_;
    my $run = in_process(qw(dprofreport --format json -n -s srcline --show-total-period), @args);
    is("$run->{status}$run->{err}", '0', "lines are printed without a message: @args");
    return { map { $_->{srcline} =~ /^\Q$source\E:(\d+)$/ && $_->{self}
        ? ($1 => 0 + sprintf '%.0f', $_->{self} * $unit) : () }
        @{ JSON::PP->new->utf8->decode($run->{out})->{rows} } };
}

SKIP: {
    skip 'no go', 1 if !has('go');
    spew("$dir/main.go", <<'END');
package main

import (
    "os"
    "runtime/pprof"
    "sort"
    "strings"
)

type tree struct{ l, r *tree }

func build(n int) *tree {
    if n == 0 {
        return &tree{}
    }
    return &tree{build(n - 1), build(n - 1)}
}

func words(n int) int {
    s := []string{}
    for i := 0; i < n; i++ {
        s = append(s, strings.Repeat("x", i%7))
    }
    sort.Strings(s)
    return len(s)
}

func main() {
    f, _ := os.Create(os.Args[1] + "/cpu.pb.gz")
    pprof.StartCPUProfile(f)
    for i := 0; i < 12; i++ {
        build(18)
        words(40000)
    }
    pprof.StopCPUProfile()
    f.Close()
    f, _ = os.Create(os.Args[1] + "/heap.pb.gz")
    pprof.Lookup("heap").WriteTo(f, 0)
    f.Close()
}
END
    output('go', 'build', '-o', "$dir/main", "$dir/main.go");
    output("$dir/main", $dir);
    for (['cpu', 'cpu', undef, 'ns'], ['heap', 'alloc_space', 'alloc_space', 'B'],
        ['heap', 'alloc_objects', 'alloc_objects', 'count'])
    {
        my ($kind, $type, $counter, $unit) = @$_;
        my $text = output(qw(go tool pprof -top -cum -nodecount=100000 -nodefraction=0),
            "-sample_index=$type", "-unit=$unit", "$dir/$kind.pb.gz");
        my %theirs;
        while ($text =~ /^ *([\d.]+)\D*? +\S+% +\S+% +([\d.]+)\D*? +\S+% +(.*?)(?: \(inline\))?$/mg)
        {
            $theirs{$3} = [$1, $2];
        }
        my ($same, @others) = compared(\%theirs, ours("$dir/$kind.pb.gz", $counter), $type);
        is(join("\n", @others), '', "$type has the values of go tool pprof");
        cmp_ok($same, '>', 10, "$type has the values of more than ten functions");
        my %lines;
        my $list = output(qw(go tool pprof -list ^main\\.), "-sample_index=$type", "-unit=$unit",
            "$dir/$kind.pb.gz");
        $list =~ s/^ROUTINE.*? in (?!\Q$dir\E\/main\.go).*?(?=^ROUTINE|\z)//gms;
        while ($list =~ /^ *([\d.]+)[a-zA-Z]* +\S+ +(\d+):/mg) {
            $lines{$2} += $1 if $1 ne '.' && $1 != 0;
        }
        my @how = $kind eq 'cpu' ? (1e9, "$dir/main.go") : (1, "$dir/main.go", '-m', $type);
        is_deeply(our_lines(@how, "$dir/$kind.pb.gz"), \%lines,
            "$type has the lines of go tool pprof -list");
        cmp_ok(scalar keys %lines, '>', 1, "$type has more than one line") if $kind eq 'heap';
    }
}

SKIP: {
    skip 'no valgrind', 1 if !has('valgrind') || !has('callgrind_annotate');
    my $file = "$dir/callgrind.out";
    output('valgrind', '-q', '--tool=callgrind', '--cache-sim=yes', "--callgrind-out-file=$file",
        'ls', '-l', '/');
    for my $event (qw(Ir D1mr)) {
        my %theirs;
        for my $k (0, 1) {
            my $text = output('callgrind_annotate', '--threshold=100', '--auto=no',
                "--show=$event", '--inclusive=' . ('no', 'yes')[$k], $file);
            # what was inlined from other files has lines of its own, which are a part of it
            while ($text =~ /^ *([\d,]+) \([ \d.]+%\)  .*?:(\S.*?)(?: \[[^\]]*\])?$/mg) {
                my ($value, $name) = ($1 =~ tr/,//dr, $2);
                my $is = \$theirs{$name}[$k];
                $$is = !$k ? ($$is // 0) + $value : ($$is // 0) < $value ? $value : $$is;
            }
        }
        # recursion has a value for each level, and names stand in several objects
        my %twice;
        $twice{s/'\d+$//r}++ for keys %theirs;
        delete @theirs{ grep { $twice{s/'\d+$//r} > 1 } keys %theirs };
        my ($same, @others) = compared(\%theirs, ours($file, $event), $event);
        cmp_ok(scalar @others, '<', $same / 50,
            "$event has nearly all values of callgrind_annotate")
            or diag join "\n", @others;
        is_deeply([grep { /: self/ } @others], [],
            "$event has the self values of callgrind_annotate");
    }

    skip 'no cc', 1 if !has('cc');
    my $source = spew("$dir/work.c", <<'END');
static int leaf(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += i * i % 7;
    return s;
}

int main(int argc, char **argv)
{
    int s = 0;
    for (int i = 0; i < 100 * argc; i++)
        s += leaf(i);
    return s == 42 && argv[0][0] == 0;
}
END
    output('cc', '-g', '-O1', '-o', "$dir/work", $source);
    output('valgrind', '-q', '--tool=callgrind', '--cache-sim=yes', "--callgrind-out-file=$file",
        "$dir/work");
    for my $event (qw(Ir Dr)) {
        my $text = output('callgrind_annotate', '--threshold=100', '--auto=no', '--context=100',
            "--show=$event", $file, $source);
        my ($part) = $text =~ /^-- User-annotated source: \Q$source\E\n-+\n\S+ *\n(.*?)^-{20}/ms;
        my @values = map { /^ *([\d,]+|\.) (?!.*=> .*\(\d+x\))/ ? $1 =~ tr/,//dr : () }
            split /\n/, $part // '';
        is(scalar @values, slurp($source) =~ tr/\n//, "$event is printed for all lines");
        my %theirs = map { $values[$_] =~ /[1-9]/ ? ($_ + 1 => $values[$_]) : () } 0 .. $#values;
        is_deeply(our_lines(1, $source, '-m', $event, $file), \%theirs,
            "$event has the lines of callgrind_annotate");
        cmp_ok(scalar keys %theirs, '>', $event eq 'Ir' ? 3 : 0, "$event has lines");
    }
}

done_testing;
