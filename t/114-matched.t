# A filter that matches nothing is an error, in each tool that has filters. --annotate of a sub
# shows all lines that the sub has, wherever `#line` puts them.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch spew slurp in_process profiled no_lines);
use MadeUp;

my $dir = scratch();
my $tree = spew("$dir/tree.out", profile_text(format => 'tree', hz => 1000, times => [9, 0, 9],
    header => "\$dprof_script='s.pl';", subs => ['A f a.pl:1', 'B g b.pl:2'],
    lines => ['= 0 0 1 1 0 1 0 0', '= 1 1 2 5 0 5 5 0', '= 2 2 1 3 0 3 3 3']));
my $trace = spew("$dir/trace.out", profile_text(hz => 1000, times => [9, 0, 9],
    header => "\$dprof_script='s.pl';", subs => ['A f a.pl:1', 'B g b.pl:2'],
    lines => ['+ 1', '@ 5 0 5', '+ 2', '@ 3 0 3', '- 2', '- 1', '@ 1 0 1']));
my $out = "$dir/out";

subtest 'A filter that matches nothing is a failure' => sub {
    my %tools = (
        'dprofreport -S' => ['dprofreport', '-S', 'NAME', $tree],
        'dprofreport -d' => ['dprofreport', '-d', 'PACKAGE', $tree],
        'dprofreport -C' => ['dprofreport', '-C', 'SCRIPT', $tree],
        'dprofreport --only' => ['dprofreport', '--only', 'NAME', $tree],
        'dprofreport --skip' => ['dprofreport', '--skip', 'OTHERS', $tree],
        'dprofreport, two files' => ['dprofreport', '-S', 'NAME', '-s', 'pid,sub', $tree, $trace],
        'dprofdiff -S' => ['dprofdiff', '-S', 'NAME', $tree, $trace],
        'dprofdiff -d' => ['dprofdiff', '-d', 'PACKAGE', $tree, $trace],
        'dprofdiff -C' => ['dprofdiff', '-C', 'SCRIPT', $tree, $trace],
        'dprofdiff --only' => ['dprofdiff', '--only', 'NAME', $tree, $trace],
        'dprofdiff --format json' => ['dprofdiff', '--format', 'json', '--only', 'NAME', $tree,
            $trace],
        'dprofdiff -f' => ['dprofdiff', '-f', '--only', 'NAME', $tree, $trace],
        'dproffold' => ['dproffold', '--only', 'NAME', $tree],
        'dproffold --diff' => ['dproffold', '--diff', '--only', 'NAME', $tree, $trace],
        'dprofflame' => ['dprofflame', '--only', 'NAME', '-o', $out, $tree],
        'dprofflame --diff' => ['dprofflame', '--diff', '--only', 'NAME', '-o', $out, $tree,
            $trace],
        'dprofhtml' => ['dprofhtml', '--only', 'NAME', '-o', $out, $tree],
        'dprofpp -g' => ['dprofpp', '-g', 'NAME', $tree],
        map({ ("dprofexport $_" => ['dprofexport', '--format', $_, '--only', 'NAME', '-o', $out,
            $_ eq 'chrome' ? $trace : $tree]) } qw(pprof speedscope callgrind chrome firefox)),
    );
    my @there = (NAME => 'A::f', PACKAGE => 'A', SCRIPT => 's.pl', OTHERS => 'g');
    my @missing = (NAME => 'nosuch', PACKAGE => 'No::Such', SCRIPT => 'x.pl', OTHERS => '.');
    for my $name (sort keys %tools) {
        my $run = sub { my %word = @_; in_process(map { $word{$_} // $_ } @{ $tools{$name} }) };
        my $good = $run->(@there);
        is($good->{status}, 0, "$name succeeds with a filter that matches something")
            or diag $good->{err};
        my $bad = $run->(@missing);
        is($bad->{status}, 1, "$name fails with a filter that matches nothing");
        like($bad->{err}, qr/no sub|nothing is left|no frame is left/,
            "$name says that its filter matches nothing");
    }
};

# Sums of the column Self, by file, of what --annotate prints.
sub shown_self {
    my ($text) = @_;
    my ($file, %self);
    for (split /\n/, $text) {
        if (/^# \S+  (.*?)(?::\d+-\d+)?$/) { $file = $1 }
        elsif (/^ *[\d.]+% +([\d.]+)% /) { $self{$file} += $1 }
    }
    return \%self;
}

subtest 'A sub of several files is shown with all of them' => sub {
    plan(skip_all => no_lines()) if defined no_lines();
    spew("$dir/lines.pl", <<'END');
sub plain { my $s = 0; $s += $_ for 1 .. 20; $s }
# line 500 "views/page.tt"
sub page { my $s = 0;
# line 7 "views/other part.tt"
    $s += plain() for 1 .. 3;
    $s += $_ for 1 .. 50;
# line 12 "views/page.tt"
    return $s; }
# line 12 "lines.pl"
page() for 1 .. 4;
END
    my $run = profiled(["$dir/lines.pl"], env => { PERL_DPROF_CLOCK => 'counting',
        PERL_DPROF_MODE => 'tree', PERL_DPROF_LINES => 'time' });
    my $text = in_process('dprofreport', '-m', 'ops', '--annotate', 'page', $run->{profile})->{out};
    my $self = shown_self($text);
    is_deeply([sort keys %$self], ['views/other part.tt', 'views/page.tt'],
        '--annotate shows all files of the sub');
    like($text, qr/ 500  \n/, '--annotate shows the beginning of the sub');
    like($text, qr/ 12  \n/, "--annotate shows the lines before the sub's beginning");
    my ($wanted) = in_process('dprofreport', '-m', 'ops', '--no-children', '-S', 'main::page',
        $run->{profile})->{out} =~ /([\d.]+)% +main::page$/m;
    my $all = 0;
    $all += $_ for values %$self;
    cmp_ok(abs($all - $wanted), '<', 0.04, "the lines add up to the sub's self time");
    my $diff = in_process('dprofdiff', '-m', 'ops', '--annotate', 'page', $run->{profile},
        $run->{profile})->{out};
    is_deeply([sort $diff =~ /^# --- (.*):/mg], ['views/other part.tt', 'views/page.tt'],
        'dprofdiff --annotate shows all files of the sub');
    my @parts = in_process('dprofreport', '--annotate', 'plain', $run->{profile})->{out}
        =~ /^(# main::plain)/mg;
    is(scalar @parts, 1, 'a sub of one file has one part');
};

done_testing;
