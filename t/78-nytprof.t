# Files of Devel::NYTProf in the tools: one that was recorded, beside what Devel::NYTProf::Data said
# of it; where that is installed, new ones of every kind. t/c/27-nytprof.c tries each record.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest qw(data scratch slurp spew run_program profiled in_process tool_command PROFILER);
use LineReader;

my $dir = scratch();
my $recorded = data('nytprof');

# What a tool prints, if it says nothing and is content; else that.
sub shown {
    my $run = in_process(@_);
    return $run->{status} || length $run->{err} ? "$run->{status}: $run->{err}" : $run->{out};
}

# { sub => [calls, inclusive, own] }: ticks of 100 ns; BEGIN blocks and anonymous subs by name
# alone.
sub figures {
    my ($file) = @_;
    my %figures;
    my @lines = split /\n/, shown('dprofreport', qw(--format csv -m real -F),
        'sub,calls,period_children,period', $file);
    is(shift @lines, 'symbol,calls,children,self', 'dprofreport prints a table');
    for (@lines) {
        my ($sub, @values) = split /,/;
        $sub =~ s/(BEGIN|__ANON__)[@\[#].*/$1/;
        add(\%figures, $sub, $values[0], map { sprintf '%.0f', $_ * 1e7 } @values[1, 2]);
    }
    delete $figures{'(program)'};
    return \%figures;
}

sub add {
    my ($figures, $sub, @values) = @_;
    $figures->{$sub}[$_] += $values[$_] for 0 .. $#values;
    return;
}

subtest 'A recorded file is read' => sub {
    is_deeply(figures($recorded), {
        'Shop::check' => [16, 236, 156], 'Shop::price' => [9, 206, 206],
        'main::BEGIN' => [1, 164, 110], 'CORE:print' => [1, 47, 47], 'CORE:sort' => [1, 128, 76],
        'main::__ANON__' => [4, 270, 34], 'main::go' => [1, 48, 28],
    }, 'calls, inclusive and own times are those of Devel::NYTProf::Data');
    is(shown('dproffold', '-m', 'calls', $recorded), <<'END', 'dproffold prints the contexts');
CORE:print 1
CORE:sort 1
CORE:sort;Shop::price 3
main::BEGIN@3 1
main::BEGIN@3;Shop::price 1
main::__ANON__[-e:3] 4
main::__ANON__[-e:3];Shop::check 4
main::__ANON__[-e:3];Shop::check;Shop::check 4
main::__ANON__[-e:3];Shop::check;Shop::check;Shop::check 4
main::__ANON__[-e:3];Shop::check;Shop::check;Shop::check;Shop::check 4
main::__ANON__[-e:3];Shop::check;Shop::check;Shop::check;Shop::check;Shop::price 4
main::go 1
main::go;Shop::price 1
END
    like(shown('dprofpp', '-V', $recorded), qr/^format: nytprof$/m, 'dprofpp -V names the format');
    my $piped = ['sh', '-c', 'file=$1; shift; cat "$file" | "$@"', 'sh', $recorded,
        tool_command('dproffold', '-')];
    is(run_program($piped)->{out}, shown('dproffold', $recorded), 'dproffold reads a pipe');
    is(shown('dprofmerge', '-o', "$dir/merged", $recorded), '',
        'dprofmerge merges a file without a message');
    is_deeply(figures("$dir/merged"), figures($recorded),
        'the merged tree has the times of the file');
    like(shown('dprofreport', @$_), qr/\A.*\nTotal: [\d.]+ us real time\n/,
        "the times are real ones, whatever is asked for: @$_")
        for [$recorded], ['-m', 'cpu', $recorded], ["$dir/merged"];
    my $classic = shown('dprofpp', $recorded);
    like($classic, qr/Elapsed Time/, 'dprofpp calls them elapsed time');
    unlike($classic, qr/User\+System/, '... and not user and system time');
};

subtest 'Files that are cut or newer give a message' => sub {
    my $file = spew("$dir/cut", substr slurp($recorded), 0, -200);
    my $run = in_process('dproffold', $file);
    like($run->{err},
        qr/\A\Q$file\E: profile cut short: the compressed data break off \(byte \d+\)$/,
            'a message says that the file was cut');
    is($run->{status}, 0, 'a file that was cut is read as far as it goes');
    $run = in_process('dproffold', spew("$dir/new", "NYTProf 6 0\n"));
    like($run->{err}, qr/this is version 6 of NYTProf's format; version 5 can be read/,
        'a message names the version of a newer file');
    is($run->{status}, 1, 'a newer file is not read');
};

# ---- with Devel::NYTProf ----

my $program = spew("$dir/shop.pl", <<'END');
package Shop;
sub price { my $x = 0; $x += $_ for 1 .. $_[0]; $x }
sub check { my $n = shift; $n ? check($n - 1) : price(3) }
sub even { my $n = shift; $n ? odd($n - 1) : price(2) }
sub odd { my $n = shift; $n ? even($n - 1) : price(1) }
sub AUTOLOAD { price(4) }
package main;
BEGIN { Shop::price(1) } BEGIN { Shop::price(2) }
my @each = (sub { Shop::check(3) }, sub { Shop::even(5) });
for my $n (1 .. 20) { $_->() for @each }
my @sorted = sort { Shop::price(1); $a <=> $b } 5, 3, 9, 1;
my %found = map { $_ => -e $_ } '.', '..';
eval 'sub made { Shop::price(9) } made() for 1 .. 3; (sub { made() })->();';
eval { fails() for 1 };
sub fails { Shop::price(7); die "no\n" }
sub jumps { goto &Shop::price }
jumps(3) for 1 .. 4;
Shop::anything() for 1 .. 2;
sub last_one { Shop::price(2); exit 0 }
last_one();
END

# What Devel::NYTProf::Data says, in the same form.
sub their_figures {
    my ($file) = @_;
    my $run = run_program([$^X, '-MDevel::NYTProf::Data', '-e', <<'END', $file]);
my $profile = Devel::NYTProf::Data->new({ filename => $ARGV[0], quiet => 1 });
for my $sub (values %{ $profile->{sub_subinfo} }) {
    printf "= %s %d %.0f %.0f\n", $sub->subname, $sub->calls,
        map { $_ * 1e7 } $sub->incl_time, $sub->excl_time if $sub->calls;
}
END
    my %figures;
    for ($run->{out} =~ /^= (.*)/mg) {
        my ($sub, @values) = split / (?=\S+\z| \S+ \S+\z|\S+ \S+\z|\S+ \S+ \S+\z)/;
        $sub =~ s/(BEGIN|__ANON__)[@\[].*/$1/;
        $sub =~ s/.*\bCORE::?/CORE:/;
        $sub =~ s/CORE:ftis\z/CORE:-e/;
        add(\%figures, $sub, @values);
    }
    return \%figures;
}

# { LINE => [count, ticks] } of the program's lines, without those of string evals.
sub their_lines {
    my ($file) = @_;
    my $run = run_program([$^X, '-MDevel::NYTProf::Data', '-e', <<'END', $file]);
my $profile = Devel::NYTProf::Data->new({ filename => $ARGV[0], quiet => 1 });
my ($lines) = map { $_->line_time_data }
    grep { $_->filename =~ /shop\.pl$/ } $profile->all_fileinfos;
for (grep { $lines->[$_] && !$lines->[$_][2] } 1 .. $#$lines) {
    printf "= %d %d %.0f\n", $_, $lines->[$_][1], $lines->[$_][0] * 1e7;
}
END
    return { map { (split)[1] => [(split)[2, 3]] } grep { /^= / } split /\n/, $run->{out} };
}

sub our_lines {
    my ($file) = @_;
    is(shown('dprofmerge', '-o', "$dir/lined", $file), '',
        'dprofmerge merges lines without a message');
    my $got = LineReader::read_file("$dir/lined");
    is(join("\n", LineReader::problems($got)), '', 'the lines of the merged tree add up');
    return { map { /shop\.pl:([1-9]\d*)$/ ? ($1 => [$got->{count}{$_},
        sprintf '%.0f', $got->{times}{$_}[2] / 100]) : () } keys %{ $got->{count} } };
}

sub near {
    my ($got, $want) = @_;
    my @far;
    for my $sub (sort keys %{ { %$got, %$want } }) {
        my @pair = map { $_->{$sub} // [0, 0, 0] } $got, $want;
        push @far, "$sub: @{ $pair[0] }, not @{ $pair[1] }"
            if $pair[0][0] != $pair[1][0] || grep { abs($pair[0][$_] - $pair[1][$_]) > 2 } 1, 2;
    }
    return join "\n", @far;
}

SKIP: {
    my $there = run_program([$^X, '-MDevel::NYTProf::Data', '-e1']);
    skip 'Devel::NYTProf is not installed', 1 if $there->{status};
    my %compared;
    subtest 'New files of every kind agree with Devel::NYTProf::Data' => sub {
        for my $options ('calls=1', 'calls=2:compress=0', 'calls=2:blocks=1:slowops=1',
            'stmts=0', 'slowops=0:clock=2') {
            my $file = "$dir/" . $options =~ tr/:=/__/r;
            my $run = run_program([$^X, '-d:NYTProf', $program],
                env => { NYTPROF => "file=$file:$options" });
            is($run->{status}, 0, "NYTProf records with $options") or diag($run->{err});
            my $theirs = their_figures($file);
            ok(keys %$theirs > 8, "$options: Devel::NYTProf::Data reads more than eight subs");
            is(near(figures($file), $theirs), '',
                "$options: the subs are those of Devel::NYTProf::Data");
            $compared{$options} = $file;
            next if $options eq 'stmts=0';
            my ($want, $got) = (their_lines($file), our_lines($file));
            cmp_ok(scalar keys %$want, '>', 10,
                "$options: Devel::NYTProf::Data reads more than ten lines");
            is_deeply({ map { $_ => $got->{$_}[0] } keys %$want },
                { map { $_ => $want->{$_}[0] } keys %$want },
                    "$options: the lines run as often as in Devel::NYTProf::Data");
            # times that are less than 0 are 0, and others share what there is
            is(join(' ', grep { abs($got->{$_}[1] - $want->{$_}[1]) > 2 + $want->{$_}[1] / 10 }
                keys %$want), '', "$options: the lines take as long as in Devel::NYTProf::Data")
                    or diag explain [$got, $want];
        }
    };
    subtest 'A file without calls is read if nothing recurs' => sub {
        my $plain = slurp($program) =~ s/(?:check|even)\(\$n - 1\)/price(1)/gr;
        my $run = run_program([$^X, '-d:NYTProf', spew("$dir/plain.pl", $plain)],
            env => { NYTPROF => "file=$dir/sums:calls=0" });
        is(near(figures("$dir/sums"), their_figures("$dir/sums")), '',
            'the sums of subs are those of Devel::NYTProf::Data');
    };
    subtest 'A file of NYTProf is compared with a profile' => sub {
        my $run = run_program([$^X, PROFILER(), $program], dir => $dir,
            env => { PERL_DPROF_MODE => 'tree', PERL_DPROF_OUT => "$dir/ours",
                PERL_DPROF_BUILTINS => 'slow' });
        is($run->{status}, 0, 'the program is recorded as a tree') or diag($run->{err});
        my ($header, @rows) = split /\n/, in_process('dprofdiff', qw(-f -v -m calls --format csv),
            $compared{'calls=1'}, "$dir/ours")->{out};
        my %calls = map { ((split /,/)[16] => [(split /,/)[2, 6]]) } @rows;
        for my $sub (qw(Shop::check Shop::even Shop::odd main::made main::fails main::last_one)) {
            my ($theirs, $ours) = @{ $calls{$sub} || ['none', 'none '] };
            is($theirs, $ours, "dprofdiff pairs $sub, which was called as often on both sides");
        }
    };
}

done_testing;
