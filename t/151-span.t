# Spans: those that a program opens (Devel::DProf::Control::span), and those of builtins (detail=).
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;
use SpanProgram;

my $dir = scratch();
my $lib = root() . '/lib';

# The calls of each name in a profile. Names of spans are KIND:TEXT.
sub calls_in {
    my ($file) = @_;
    my %calls;
    if (slurp($file) =~ /^PART3\n/m) {
        my $edges = edges_of_tree($file);
        $calls{ s/.* > //sr } += $edges->{$_} for keys %$edges;
    } else {
        %calls = %{ profile_ok($file, '... and the trace is whole')->{calls} };
    }
    return \%calls;
}

# Runs a program plain and in a mode. Returns the calls of all spans and the run.
sub spans_of {
    my ($code, $options, $what, %opt) = @_;
    my $file = spew("$dir/prog.pl", $code);
    my $plain = plain(["-I$lib", $file]);
    my $run = profiled([$file], env => { counting(), env_of($options), %{ $opt{env} || {} } });
    is(same_as_plain($plain, $run), '', "the program runs as plain: $what");
    my $calls = calls_in($run->{profile});
    return ({ map { $_ => $calls->{$_} } grep { /^\w+:(?!:)/ && !/^CORE:/ } keys %$calls }, $run);
}

# Options as the environment has them: 'tree,lines,detail=all'.
sub env_of {
    my ($options) = @_;
    return map {
        /^([\w-]+)=(.*)/ ? ('PERL_DPROF_' . uc($1 =~ tr/-/_/r) => $2)
            : /^lines$/ ? (PERL_DPROF_LINES => 'time') : (PERL_DPROF_MODE => $_)
    } split /,/, $options;
}

# ---- random programs ----

for my $seed (1 .. 6) {
    my $file = spew("$dir/random.pl", SpanProgram->text($seed));
    my $plain = plain(["-I$lib", $file], env => { EXPECT => "$dir/plain" });
    for my $mode ('trace', 'tree', 'tree,lines', 'tree,callsites=1,detail=all') {
        my $run = profiled([$file],
            env => { counting(), env_of($mode), EXPECT => "$dir/counts" });
        is(same_as_plain($plain, $run), '', "the program of seed $seed runs as plain in $mode");
        like($run->{out}, qr/^\d+ checks, 0 bad$/m, '... and what is charged is right');
        my $calls = calls_in($run->{profile});
        my %want = map { split } split /\n/, slurp("$dir/counts");
        is_deeply({ map { $_ => $calls->{$_} } keys %want }, \%want, '... and all counts');
    }
}

# ---- what a program sees ----

my @modes = ('trace', 'tree', 'tree,lines');
for my $mode (@modes) {
    my ($spans) = spans_of(<<'END', $mode, "values, contexts and callers in $mode");
use Devel::DProf::Control 'span';
sub where { return join ' ', map { (caller $_)[3] // '-' } 0 .. 3 }
my $value = span('a', 'scalar', sub { wantarray ? 'list' : 'scalar' });
my @values = span('a', 'list', sub { (1, 2, @_) });
print "$value @values ", span('a', 'where', \&where), "\n";
span('a', 'void', sub { print defined wantarray ? 'no' : 'void', "\n" });
for my $odd (undef, [], \1, sub { 1 }) { span($odd, 'x', sub { 1 }); span('a', $odd, sub { 1 }) }
my $none = span('', 'x', sub { 'empty kind' });
$! = 2; $@ = 'left alone'; my $s = span('a', 'errno'); print $! + 0, " $@ $none\n"; undef $s;
eval { span('a', 'dies', sub { die { code => 7 } }) }; print $@->{code}, "\n";
{ local $SIG{__DIE__} = sub { print "handler\n" }; eval { span('a', 'dies', sub { die "x\n" }) } }
print "done\n";
END
    is_deeply($spans, { map { ("a:$_" => $_ eq 'dies' ? 2 : 1) }
        qw(scalar list where void errno dies) }, '... and its spans are counted');
}
{
    my ($spans) = spans_of(<<'END', 'trace', 'any byte in a text');
use Devel::DProf::Control 'span';
span('sql', $_, sub { 1 })
    for "a;b\n\t%41", "nul\0", "\xe9", "\xc3\xa9", "\x{263a}", ' ', "& 1 x\n+ 1";
END
    is_deeply($spans, { (map { ("sql:$_" => 1) } "a;b\n\t%41", "nul\0", "\x{263a}", ' ',
        "& 1 x\n+ 1"), "sql:\xe9" => 2 }, 'each text is one field, in UTF-8 or in Latin-1')
        || diag explain $spans;
}

# ---- bounds ----

for my $mode (@modes) {
    my ($spans, $run) = spans_of(<<'END', "$mode,span-texts=3,span-length=16", "bounds in $mode");
use Devel::DProf::Control 'span';
span('a', "text $_", sub { 1 }) for 1 .. 5, 2, 5;
span('b', 'x' x 15 . "\x{263a}" . 'y', sub { 1 });
END
    is_deeply($spans, { 'a:text 1' => 1, 'a:text 2' => 2, 'a:text 3' => 1, 'a:other' => 3,
        'b:' . 'x' x 15 => 1 }, 'further texts are one, and long ones are cut at a character');
    like(slurp($run->{profile}), qr/\$dprof_spans_other=3; \$dprof_spans_cut=1;/,
        '... and the header says so');
}

# ---- builtins ----

for my $mode (@modes) {
    my ($spans, $run) = spans_of(<<'END', "$mode,detail=all", "commands, files, patterns in $mode");
system 'true', 'SECRET'; system "FOO=SECRET true SECRET"; my $x = `echo SECRET`;
open my $pipe, '-|', 'echo', 'SECRET' or die; my @lines = <$pipe>; close $pipe;
open $pipe, 'echo SECRET |' or die; @lines = <$pipe>; close $pipe;
mkdir "d-$_", opendir my $d, "d-$_" for 123, 456; stat "d-123"; rmdir "d-$_" for 123, 456;
my $var = 'SECRET'; 'xyz' =~ /y$var?/ for 1, 2;
'abc' =~ /b.c/; (my $s = 'abc') =~ s/b+/d/ for 1 .. 3;
sub f { die "x\n" } eval { (my $t = 'abc') =~ s/(b)/f()/e }; eval { system { 'true' } 'SECRET' };
print "done\n";
END
    my %want = ('command:true' => 3, 'command:echo' => 3, 'file:d-*' => 3, 'regex:b.c' => 1,
        'regex:b+' => 3, 'regex:(b)' => 1, 'regex:(a pattern with variables)' => 2);
    is_deeply({ map { $_ => $spans->{$_} } keys %want }, \%want,
        '... and each is counted by its name') || diag explain $spans;
    like(slurp($run->{profile}), qr/^\$dprof_.*\$dprof_detail='all';/m, '... as the header says');
    unlike(slurp($run->{profile}), qr/SECRET/, '... without arguments and values');
    like(slurp($run->{profile}), qr/^& \w+ regex b\.c \S+:6 kind=span$/m,
        '... and a pattern has its place');
}
{
    my $run = profiled(['-e', '1'], env => { counting(), PERL_DPROF_DETAIL => 'slq+http' });
    like($run->{err}, qr/^DProf: detail=slq: .*sql/, 'a misspelt kind is an error');
    isnt($run->{status}, 0, '... and the program does not start');
}

# ---- processes and threads ----

{
    my ($spans, $run) = spans_of(<<'END', 'tree', 'a fork within a span');
use Devel::DProf::Control 'span';
my $pid;
span('a', 'outer', sub {
    $pid = fork // die;
    span('a', 'both', sub { 1 });
    if (!$pid) { span('a', 'child', sub { exit 0 }) }
    waitpid $pid, 0;
});
print "status $?\n";
END
    is_deeply($spans, { 'a:outer' => 1, 'a:both' => 1 }, 'the parent has its spans');
    my ($child) = glob "$run->{dir}/tmon.out.*";
    my $calls = calls_in($child);
    is_deeply([@$calls{qw(a:both a:child)}], [1, 1], 'the child has its own');
}

done_testing();
