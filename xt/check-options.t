# Every program of the corpus runs with patterns, with builtins, with counters, and with what only
# trees have, as a trace and as a tree. The output is the same, and both have the same calls.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t/lib";
use Test::More;
use DProfTest;

my @ways = (
    [ 'builtins', PERL_DPROF_BUILTINS => 'slow' ],
    [ 'a pattern', PERL_DPROF_SKIP => '[aeiou]\w?$|^List::' ],
    [ 'both patterns and builtins', PERL_DPROF_ONLY => '^(?:main|CORE|[A-M]\w*)::?\w*[a-r]|\[',
        PERL_DPROF_SKIP => '::[b-g]|[0246]\]$', PERL_DPROF_BUILTINS => 'slow' ],
    [ 'counters', PERL_DPROF_EVENTS => 'ops+svs+?bytes+?page-faults' ],
    [ 'counters and builtins', PERL_DPROF_EVENTS => '?task-clock+ops',
        PERL_DPROF_BUILTINS => 'slow' ],
    [ 'spans', PERL_DPROF_DETAIL => 'all', PERL_DPROF_SPAN_TEXTS => 20,
        PERL_DPROF_SPAN_LENGTH => 40 ],
    [ 'values', PERL_DPROF_HEAP => 'exact', PERL_DPROF_HEAP_HOLDERS => 3 ],
    [ 'blocks', PERL_DPROF_HEAP => 'sample', PERL_DPROF_HEAP_INTERVAL => '64',
        PERL_DPROF_HEAP_TYPES => 1 ],
    [ 'callers by line', PERL_DPROF_CALLSITES => 1, PERL_DPROF_OPS => 0 ],
    ($] < 5.032 ? () : [ 'statements', PERL_DPROF_LINES => 'time', PERL_DPROF_SOURCE => 1 ]),
);
# These options are tested elsewhere: how the file is written, when recording begins and ends, and
# samples, which have no calls (xt/samples.t). Where data lies (layout) changes times alone.
my %elsewhere = map { $_ => 1 } qw(mode out ticks buffer limit contexts fork threads start compress
    checkpoint signal toggle clock sample slice spool spool-limit layout);
my %has_way = map { lc(s/^PERL_DPROF_//r) =~ tr/_/-/r => 1 }
    grep { /^PERL_DPROF_/ } map { @$_ } @ways;
my $help = run_program([built_perl(), '-d:DProf=help', '-e', 1])->{out};
my @options = $help =~ /^ {2}([\w-]+)=/mg;
cmp_ok(scalar(@options), '>', 20, 'the recorder lists its options');
my @untried = grep { !$elsewhere{$_} && !$has_way{$_} } @options;
is(join(' ', @untried), $] < 5.032 ? 'lines source' : '',
    'each option that changes what is recorded is tried');
my $n = 0;
for my $file (glob root() . '/t/scripts/{calls,exits,same,modules}/*.pl') {
    my ($head) = slurp($file) =~ /\A((?:#.*\n)*)/;
    my ($name) = $file =~ m{(\w+/\w+)\.pl$};
  SKIP: {
        skip "$name: depends on time", 1
            if $name =~ m{/(?:signals|signal_die|unsafe_signals|local_time|spans)$};
        my ($needs) = $head =~ /^# needs: (\S+)/m;
        skip "$name: needs $needs", 1 if $needs && plain(['-e', "require $needs"])->{raw};
        my ($perl) = $head =~ /^# perl: (\S+)/m;
        skip "$name: needs perl $perl", 1 if $perl && $] < version->parse($perl)->numify;
        my ($switches, $args) = map { $head =~ /^# $_: (.*)/m ? $1 : '' } 'switches', 'args';
        my @program = (split(' ', $switches), $file, split ' ', $args);
        my %env = (counting(), PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0,
            EXPECT => scratch() . '/expect');
        my ($way, @set) = @{ $ways[ $n++ % @ways ] };
        my $plain = plain([@program], env => \%env);
        # The environment has as many variables as below.
        my @trace_set = map {
            s/\APERL_DPROF_(?=(?:LINES|SOURCE|HEAP(?:_TYPES|_HOLDERS)?)\z)/TREES_ONLY_/r
        } @set;
        my $trace = profiled([@program], env => { %env, @trace_set, PERL_DPROF_MODE => 'trace' });
        my $tree = profiled([@program], env => { %env, @set, PERL_DPROF_MODE => 'tree' });
        my @wrong = map { same_as_plain($plain, $_) || () } $trace, $tree;
        my $read = read_profile($trace->{profile});
        push @wrong, $read->problems;
        my ($want, $have) = ($read->{edges}, edges_of_tree($tree->{profile}));
        # Under -T perl does not take the hash seed from the environment.
        for ($switches =~ /T/ ? () : sort keys %{ { %$want, %$have } }) {
            my ($t, $s) = ($want->{$_} // 0, $have->{$_} // 0);
            push @wrong, "$_: $t in the trace, $s in the tree" if $t != $s;
        }
        is(join("\n", @wrong), '', "the options of $name have their effect under $way");
        unlink $trace->{profile}, $tree->{profile};
    }
}
done_testing;
