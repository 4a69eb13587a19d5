# When samples ran: a tree of samples says it for each context (when=), in files and in slices;
# merged trees do not; and the page has a time line of it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Glob ':bsd_glob';
use Test::More;
use DProfTest;

my %ENV_OF = (PERL_HASH_SEED => 0, PERL_DPROF_SAMPLE => 10_000,
    PERL_DPROF_CLOCK => 'counting:5000');

# Three subs, one after the other.
my $program = spew(scratch() . '/p.pl', <<'END');
sub early { my $n = 0; $n += $_ for 1 .. 50; $n }
sub middle { my $n = shift; inner($_) for 1 .. 20; $n }
sub inner { my $n = shift; $n++ while $n < 40; $n }
sub late { my $n = 1; $n *= 2 for 1 .. 50; $n }
early() for 1 .. 40;
middle($_) for 1 .. 20;
late() for 1 .. 40;
END

# Returns the stretches of a tree, [from, to, path], in ticks, the unit, and real ticks by path.
sub stretches {
    my ($text) = @_;
    my (%name, @path, @stretches, %real, $unit);
    for (split /\n/, $text) {
        $name{$1} = $2 eq '%' ? $3 : "$2\::$3" if /\A& (\w+) (\S+) (\S+)/;
        my ($depth, $id, $real, $rest) = /\A= (\d+) (\w+) \d+ \d+ \d+ (\d+) \d+ \d+(.*)/ or next;
        @path[$depth .. $depth] = $depth ? $name{$id} : '(program)';
        $#path = $depth;
        my $path = join ';', @path;
        $real{$path} += $real;
        $unit //= $1 if !$depth && $rest =~ / unit=(\d+)/;
        my $at = 0;
        for my $stretch (split /,/, $rest =~ / when=(\S+)/ ? $1 : '') {
            my ($gap, $length) = $stretch =~ /\A(\d+)\+([1-9]\d*)\z/ or die "a stretch $stretch";
            push @stretches, [($at + $gap) * $unit, ($at + $gap + $length) * $unit, $path];
            $at += $gap + $length;
        }
    }
    return ([sort { $a->[0] <=> $b->[0] } @stretches], $unit, \%real);
}

# The stretches stand behind each other, and those of a context are as long as its time, but for a
# part of a unit at each end.
sub stretches_ok {
    my ($text, $what) = @_;
    my ($stretches, $unit, $real) = stretches($text);
    my ($now, $overlaps, %length, %parts) = (0, 0);
    for (@$stretches) {
        my ($from, $to, $path) = @$_;
        $overlaps++ if $from < $now;
        $now = $to;
        $length{$path} += $to - $from;
        $parts{$path}++;
    }
    is($overlaps, 0, "$what: no two contexts ran at the same time");
    cmp_ok(scalar @$stretches, '>', 3, "$what: there are stretches");
    my @off = grep { abs($length{$_} - $real->{$_}) > $unit * (1 + $parts{$_}) } keys %length;
    is("@off", '', "$what: a context ran as long as its stretches are")
        or diag map { "$_: $length{$_} of $real->{$_}, unit $unit\n" } @off;
    return $stretches;
}

sub sampled {
    my (%env) = @_;
    my $dir = scratch();
    my $run = profiled([$program], dir => $dir, limit => 60, env => { %ENV_OF, %env });
    is("$run->{err}$run->{raw}", '0', 'the program runs without a message');
    return ($run, $dir);
}

my ($run) = sampled();
my $text = slurp($run->{profile});
{
    my $stretches = stretches_ok($text, 'a file');
    my %last;
    my @order = grep { !$last{$_}++ } map { $_->[2] =~ /main::(early|middle|late)/ ? $1 : () }
        @$stretches;
    is("@order", 'early middle late', 'the stretches have the order in which the subs ran');
    my ($early) = grep { $_->[2] =~ /early/ } reverse @$stretches;
    my ($late) = grep { $_->[2] =~ /late/ } @$stretches;
    cmp_ok($early->[1], '<=', $late->[0], 'a sub has no time after it has ended');
    like($text, qr/^\$dprof_when=1;$/m, 'the header says that there are times');
    is((stretches($text))[1], 1000 / 4, 'a sample has four units');
}

{
    my $again = slurp((sampled())[0]{profile});
    my $when = sub { join "\n", map { "@$_" } @{ (stretches($_[0]))[0] } };
    is($when->($again), $when->($text), 'the counting clock has the same times each run');
}

{
    my (undef, $dir) = sampled(PERL_DPROF_SLICE => 1, PERL_DPROF_SPOOL => 'spool',
        PERL_DPROF_CLOCK => 'counting:100000', PERL_DPROF_SAMPLE => 200);
    my @slices = bsd_glob("$dir/spool/*.tree");
    cmp_ok(scalar @slices, '>', 3, 'the program leaves slices');
    my @parts = map { [stretches(slurp($_))] } @slices;
    my @long = grep {
        my ($stretches, $unit, $real) = @$_;
        my $all = 0;
        $all += $_ for values %$real;
        @$stretches && $stretches->[-1][1] > $all + $unit;
    } @parts;
    is(scalar @long, 0, 'each slice has its own times, from its beginning on');
    stretches_ok(slurp($slices[1]), 'a slice');
    my $page = run_tool('dprofflame', ['-o', 'page.html', @slices], dir => $dir);
    is("$page->{err}$page->{status}", '0', 'dprofflame makes a page of slices');
    like(slurp("$dir/page.html"), qr/id="dprof-times-0-0".*id="dprof-times"/s,
        'the page of slices has a time line');
    unlike(slurp("$dir/page.html"), qr/id="dprof-times-1-0"/,
        'slices of one process are one lane');
}

{
    my $dir = scratch();
    for (['dprofmerge', '-o', 'merged', $run->{profile}, $run->{profile}],
        ['dprofflame', '-o', 'page.html', $run->{profile}],
        ['dprofflame', '-o', 'merged.html', 'merged'],
        ['dprofflame', '--no-timeline', '-o', 'without.html', $run->{profile}]) {
        my ($tool, @args) = @$_;
        my $done = run_tool($tool, \@args, dir => $dir);
        is("$done->{err}$done->{status}", '0', "$tool @args[0, 1] works");
    }
    unlike(slurp("$dir/merged"), qr/ (?:when|unit)=|dprof_when/,
        'a merged tree has no times of samples');
    like(slurp("$dir/page.html"), qr/id="dprof-times"/, 'a page of samples has a time line');
    unlike(slurp("$dir/$_.html"), qr/id="dprof-times"/, "$_.html has no time line")
        for qw(merged without);
}

# ---- calls have no stretches, and damage is left out ----

{
    my $tree = profiled([$program], env => { %ENV_OF, PERL_DPROF_SAMPLE => 0,
        PERL_DPROF_MODE => 'tree' });
    unlike(slurp($tree->{profile}), qr/ (?:when|unit)=|dprof_when/, 'a tree of calls has no times');
}

for my $damage ('', '+', '1', '1+', '1+2,', 'x+1', '99999999999999999999+1', '1+2,,3+4',
    '4611686018427387903+4611686018427387903') {
    my $dir = scratch();
    spew("$dir/damaged", $text =~ s/ when=\K\S+/$damage/gr =~ s/^# end.*\n//mr);
    my $done = run_tool('dprofflame', ['-o', 'page.html', 'damaged'], dir => $dir);
    is($done->{status}, 0, "when=$damage: dprofflame makes a page");
}

done_testing;
