# heap=exact in random programs that know, by sub and line, how many values they leave. Also in
# children, in threads, and in what a snapshot has.
#
# DPROF_SEED and DPROF_RANDOM: where to begin, and how many.
use strict;
use warnings;
use Config;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;
use HeapProgram;

# From perl 5.38 on, constants share their strings with their copies, which the sizes do not know.
my $IS_NEWER = $] >= 5.037;

use LineReader;

plan skip_all => no_lines() if defined no_lines();

my $first = $ENV{DPROF_SEED} // 1;
my $programs = $ENV{DPROF_RANDOM} // 100;

# Returns the counters of a profile by site, "SUB LINE", which are live-values and live-bytes. The
# subs are those of the program; `eval` is for all string evals.
sub sites {
    my ($path, $loose) = @_;
    my $got = LineReader::read_file($path);
    my (%values, %bytes);
    for (keys %{ $got->{sub_counters} }) {
        my ($file, $line, $sub) = /\A(.*):(\d+) (\S+)\z/;
        next if $file !~ /\bp\.pl\z|\(eval/;
        next if $sub !~ /\A(?:main|s\d+::\w+)::(?!BEGIN|warm|jump\b)/;
        my (undef, undef, $n, $size) = @{ $got->{sub_counters}{$_} };
        my $site = $file =~ /\(eval/ ? 'eval' : "$sub $line";
        next if !$n || $loose->{$site};
        $values{$site} += $n;
        $bytes{$site} += $size;
    }
    return (\%values, \%bytes, LineReader::problems($got));
}

# Returns the differences between two hashes of numbers by site, with the lines.
sub differences {
    my ($what, $code, $want, $is) = @_;
    my @lines = split /\n/, $code;
    my @wrong;
    for my $site (sort keys %{ { %$want, %$is } }) {
        my ($must, $has) = map { $_->{$site} // 0 } $want, $is;
        next if $must == $has;
        my $line = $site =~ / (\d+)\z/ ? ": $lines[$1 - 1]" : '';
        push @wrong, "$what, $site: $has instead of $must$line";
    }
    return @wrong;
}

# Runs a program of a seed in one way, and returns what is wrong.
sub wrong_in {
    my ($seed, $way) = @_;
    my $program = HeapProgram::program($seed);
    my %more = (
        fork => "my \$pid = fork // die; if (!\$pid) { again(); exit 0 } waitpid \$pid, 0;\n",
        thread => "require threads; threads->create(sub { again(); return })->join;\n",
        '' => '');
    my $code = "$program->{code}run();\nheap('end');\n$more{$way}"
        . ($way ? '' : $program->{bytes} // '') . "1;\n";
    my $run = profiled([spew(scratch() . '/p.pl', $code)], limit => 60, env => { counting(),
        PERL_DPROF_MODE => 'tree', PERL_DPROF_HEAP => 'exact', PERL_DPROF_LINES => 'time' });
    return "it ended with $run->{raw}, $run->{err}" if $run->{raw} || length $run->{err};
    my ($values, $bytes, @wrong) = sites("$run->{profile}-end", $program->{loose});
    my %want = %{ $program->{expect} };
    $want{eval} = $program->{eval} if $program->{eval};
    push @wrong, differences('values', $code, \%want, $values);
    my %bytes = map { /\A(\S+ \d+) (\d+)\z/ ? ($1 => $2) : () } split /\n/, $run->{out};
    if ($Config{ptrsize} == 8 && %bytes && !$IS_NEWER) {
        my %is = map { $_ => $bytes->{$_} } keys %bytes;
        push @wrong, differences('bytes', $code, \%bytes, \%is);
    }
    if ($way) {
        my ($file, @more) = grep { !/-end\z/ } glob "$run->{profile}.*";
        return (@wrong, "the $way has left " . (1 + @more) . ' files') if !$file || @more;
        ($values, $bytes, my @problems) = sites($file, $program->{loose});
        push @wrong, @problems,
            differences("values of the $way", $code, $program->{new}, $values);
    }
    return map { "seed $seed, " . join(' + ', @{ $program->{parts} }) . ": $_" } @wrong;
}

my @ways = ('', '', 'fork', $Config{useithreads} && $Config{ptrsize} == 8 ? 'thread' : ());
my @wrong;
for my $seed ($first .. $first + $programs - 1) {
    my @new = wrong_in($seed, $ways[ $seed % @ways ]);
    diag join "\n", @new[0 .. ($#new < 9 ? $#new : 9)] if @new && @wrong < 20;
    push @wrong, @new;
}
is(scalar @wrong, 0, "$programs programs: each site has the values that it left");
my @parts = sort keys %HeapProgram::parts;
my %seen = map { map { $_ => 1 } @{ HeapProgram::program($_)->{parts} } }
    $first .. $first + $programs - 1;
is_deeply([grep { !$seen{$_} } @parts], [], 'the programs have parts of all kinds')
    if $programs >= 100;
done_testing();
