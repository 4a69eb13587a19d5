# A part of a file is not taken for the whole: files of each format are cut, and what is left is an
# error or told as cut short, which a gate refuses. Formats without an end have theirs cut in the
# middle of a line.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch spew slurp in_process profiled data no_lines);
use Devel::DProf::Profile;
use Foreign 'callgrind_text';

my $dir = scratch();
my $program = spew("$dir/p.pl", <<'END');
sub f { my $x = 0; $x += $_ for 1 .. $_[0]; $x }
sub g { f(10) }
sub a { 1 }
a(); g() for 1 .. $ARGV[0];
END
my %pinned = (PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0, PERL_DPROF_CLOCK => 'counting');

# Returns the path of a profile.
sub recorded {
    my ($times, %how) = @_;
    my %env = map { ("PERL_DPROF_\U$_" => $how{$_}) } keys %how;
    return profiled([$program, $times], env => { %pinned, %env })->{profile};
}

# Whether a file, given as its text, is read as if it were whole.
sub passes {
    my ($text) = @_;
    my $profile = Devel::DProf::Profile->new;
    $profile->add(spew("$dir/cut", $text));
    my $outcome = $profile->outcome(0);
    return !$outcome->{code} && !$outcome->{faults}->@* && !$outcome->{fault_count};
}

# Returns lengths up to which a text is cut: around the ends of lines and some more, or all.
sub lengths {
    my ($text) = @_;
    return 0 .. length($text) - 1 if $ENV{EXTENDED_TESTING};
    my %at = map { $_ => 1 } 0, map { int rand length $text } 1 .. 50;
    while ($text =~ /\n/g) { $at{ pos($text) + $_ } = 1 for -2 .. 1 }
    return sort { $a <=> $b } grep { $_ >= 0 && $_ < length $text } keys %at;
}

# may: a cut is allowed to pass there.
sub cuts_ok {
    my ($name, $text, $may) = @_;
    ok(passes($text), "the whole file passes: $name");
    my @quiet = grep { passes(substr $text, 0, $_) && !($may && $may->(substr $text, 0, $_)) }
        lengths($text);
    is("@quiet", '', "no part of the file passes: $name");
    return;
}

my %files = (
    trace => recorded(5),
    'trace with ops' => recorded(5, events => 'svs'),
    tree => recorded(5, mode => 'tree'),
    'trace that goes on as a tree' => recorded(9000, limit => 65536),
    compressed => recorded(5, mode => 'tree', compress => 1),
    samples => recorded(5, sample => 1000),
);
SKIP: {
    skip 'files with lines: ' . no_lines(), 1 if defined no_lines();
    $files{'tree,lines'} = recorded(5, mode => 'tree', lines => 'time');
    $files{'tree,lines=count,callsites'} =
        recorded(5, mode => 'tree', lines => 'count', callsites => 1);
}
cuts_ok($_, slurp($files{$_})) for grep { !/goes on/ } sort keys %files;

subtest 'A trace that goes on as a tree is cut' => sub {
    my $text = slurp($files{'trace that goes on as a tree'});
    my $tree = index $text, "\nPART3\n";
    cmp_ok($tree, '>', 0, 'the file has a trace and a tree');
    ok(passes($text), 'the whole file of both parts passes');
    my @quiet = grep { $_ >= $tree && passes(substr $text, 0, $_) } lengths($text);
    is("@quiet", '', 'no part of the file of both parts passes');
};

subtest 'What the tools write is whole or not' => sub {
    my $out = "$dir/out";
    my %made = (merged => ['dprofmerge', '-o', $out, @files{qw(trace tree)}],
        'a baseline' => ['dprofmerge', '--counters-only', '-o', $out, $files{tree}]);
    $made{$_} = ['dprofexport', '--format', $_, '-o', $out, $files{'tree,lines'} // $files{tree}]
        for qw(pprof speedscope callgrind);
    for my $name (sort keys %made) {
        unlink $out;                    # no tool replaces a profile by a file of another kind
        my $run = in_process(@{ $made{$name} });
        is($run->{status}, 0, "$name is written by its tool") or diag $run->{err};
        cuts_ok($name, slurp($out) =~ s/\n\z//r) if $name eq 'speedscope';
        cuts_ok($name, slurp($out)) if $name ne 'speedscope';
    }
};

subtest 'Formats without an end pass at the end of any line' => sub {
    cuts_ok('folded', in_process('dproffold', $files{tree})->{out},
        sub { $_[0] =~ /(?:\A|\n)\z/ });
    my $perf = "perl 7 1.0: 5 cycles:\n\t1 f+0x1 (/x)\n\t2 main+0x2 (/x)\n\n"
        . "perl 7 2.0: 7 cycles:\n\t1 g+0x1 (/x)\n\n";
    cuts_ok('perf', $perf, sub { $_[0] =~ /\n\n\z|\A.*\n\z/ });
    my $totals = callgrind_text('Ir Dw', ['main', [100, 5], ['f', 2, [30, 0]]], ['f', [30, 0]]);
    cuts_ok('callgrind without a creator', "${totals}totals: 130 5\n",
        sub { $_[0] =~ /\n\z/ && $_[0] !~ /totals/ });
    cuts_ok('Xdebug', "version: 1\ncreator: xdebug 3.2\ncmd: x.php\npart: 1\npositions: line\n\n"
        . "events: Time Memory\n\nfl=x.php\nfn=f\n3 20 8\n\nfl=x.php\nfn={main}\n\n"
        . "summary: 35 9\n\n1 10 1\ncfn=f\ncalls=1 0 0\n2 20 8\n4 5 0\n",
        sub { $_[0] eq "version: 1\n" || $_[0] =~ /^summary: (?:.*\n)+2 20 8\n\z/m });
};

subtest 'A gate does not pass on a file that was cut' => sub {
    my ($old, $new) = map { recorded($_, mode => 'tree') } 10, 30;
    my @rule = ('--fail-if', 'calls > 0, ops > 2%');
    is(in_process('dprofdiff', @rule, $old, $new)->{status}, 3,
        'the gate finds the growth in the whole file');
    my $text = slurp($new);
    my @wrong;
    while ($text =~ /^(?:=|&|h|#f) .*\n/mg) {
        my $cut = spew("$dir/cut", substr $text, 0, pos $text);
        my $run = in_process('dprofdiff', @rule, $old, $cut);
        push @wrong, pos $text if $run->{status} != 1 || $run->{err} !~ /: profile cut short: /;
    }
    is("@wrong", '', 'the gate passes no part of the file that ends with a line');
    my $cut = spew("$dir/cut", $text =~ s/^# end .*\n//mr);
    is(in_process('dprofpp', $cut)->{err}, "$cut: profile cut short: the last line is missing,"
        . ' which has the sums (line ' . ($text =~ tr/\n//) . ', byte ' . length(slurp($cut))
        . ")\n",
        'dprofpp says that the file is cut short, and goes on');
};

subtest 'Missing and damaged lines are noticed' => sub {
    my $text = slurp($files{tree});
    my @lines = ($text =~ /^(?:h|=) .*\n/mg);
    my @quiet = grep { passes($text =~ s/^\Q$lines[$_]\E//mr) } 0 .. $#lines;
    is("@quiet", '', 'a missing line is noticed');
    ok(!passes($text =~ s/^(= 2 \w+ )(\d+)/$1 . ($2 + 1)/emr),
        'another number of calls is noticed');
};

subtest 'Files without a last line of sums pass' => sub {
    for my $name ('trace', 'tree', grep { $files{$_} } 'tree,lines') {
        my $text = slurp($files{$name}) =~ s/\$dprof_end=1;//r =~ s/^# end .*\n//mr;
        ok(passes($text), "$name passes without a last line of sums");
        my @quiet;
        while ($text =~ /^(?:=|@) .*\n/mg) {
            my $rest = substr $text, pos $text;
            next if $rest !~ /^(?:= \d+ \w+ \d+ [1-9]|@ [1-9])/m;
            push @quiet, pos $text if passes(substr $text, 0, pos $text);
        }
        is("@quiet", '', 'no part passes that lacks its times');
    }
};

done_testing;
