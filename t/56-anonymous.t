# Subs without a name of their own, and subs that are given one. Each call goes to the sub that was
# called, by the name that it had then; profiles of one program compare as equal however it is
# recorded.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;
use Devel::DProf::Profile;

my @modes = ([ 'trace', {} ], [ 'tree', { PERL_DPROF_TREE => 1 } ]);
my $rounds = $ENV{DPROF_PROGRAMS} || TestEnvironment::rounds(2, 12);

# Returns a profile of the program, and what it printed.
sub record {
    my ($file, $mode, @args) = @_;
    my $run = profiled([$file, @args], env => { counting(%{ $mode->[1] }) });
    is($run->{raw}, 0, "$mode->[0]: the program runs") or diag $run->{err};
    return ($run->{profile}, $run->{out});
}

sub calls_of {
    my ($path) = @_;
    my $profile = Devel::DProf::Profile->new;
    $profile->add($path);
    return { map { $_->[0] => $_->[1] } $profile->rows({ separate => 1 }) };
}

# Makes several subs on each line, called in an order that differs from run to run; the number of
# calls of each is the same.
sub crowd {
    my ($seed) = @_;
    srand $seed;
    my ($code, @subs, %want) = ("my (\@s, \@n);\n");
    # The numbers of the order thereby have two or three digits.
    $code .= "sub named$_ { $_ }\n" for 1 .. rand 120;
    my $line = $code =~ tr/\n// + 1;
    for my $l (0 .. 2) {
        my $n = 1 + int rand 14;
        $code .= 'push @s, ' . join(', ', map {
            my $inner = int rand 2 ? 'my $x = $_[0]; sub { $x }->()' : '1';
            "sub { $inner }"
        } 1 .. $n) . ";\n";
        push @subs, map { [ $line + $l, $_ ] } 1 .. $n;
    }
    $code .=
        "srand shift; my \@c = map { 1 + \$_ % 7 } 0 .. \$#s; my \@o = sort { rand 2 <=> 1 } "
            . "map { (\$_) x \$c[\$_] } 0 .. \$#s;\n\$s[\$_]->(\$_) for \@o;\n";
    return $code;
}

for my $seed (1 .. $rounds) {
    subtest "Several anonymous subs on a line keep their calls, program $seed" => sub {
        my $file = spew(scratch() . '/crowd.pl', crowd($seed));
        my @runs = map {
            my $mode = $_;
            map { [ "$mode->[0], order $_", (record($file, $mode, $_))[0] ] } 1, 2
        } @modes;
        my $first = calls_of($runs[0][1]);
        my @anon = grep { /__ANON__/ } keys %$first;
        cmp_ok(scalar(@anon), '>', 3, 'anonymous subs of one line have names of their own');
        is_deeply(calls_of($_->[1]), $first,
            "$_->[0]: the calls are those of $runs[0][0]") for @runs[ 1 .. $#runs ];
        for my $pair ([ 0, 1 ], [ 0, 2 ], [ 2, 3 ], [ 3, 0 ]) {
            my @sides = map { $runs[$_][1] } @$pair;
            my $diff = run_tool('dprofdiff',
                [ '-q', '-m', 'calls', '--fail-if', 'calls > 0, new, gone', @sides ]);
            is($diff->{status}, 0, join(' and ', map { $runs[$_][0] } @$pair) . ' compare as equal')
                or diag $diff->{out};
        }
        my $merged = Devel::DProf::Profile->new;
        $merged->add($_->[1]) for @runs;
        my %sum = map { $_->[0] => $_->[1] } $merged->rows({ separate => 1 });
        is_deeply(\%sum, { map { $_ => @runs * $first->{$_} } keys %$first },
            'several files in one profile add up');
        my ($calls) = run_tool('dprofpp', [ '-T', '-R', $runs[0][1] ]);
        my %shown;
        $shown{ s/^ +//r }++ for split /\n/, $calls->{out};
        is_deeply(\%shown, $first, 'dprofpp -T has the same calls');
    };
}

# Makes closures of one piece of code that get names, lose them and are freed, and one sub that is
# renamed all the time.
sub names {
    my ($seed) = @_;
    srand $seed;
    my @actions = (
        'my $n = $_; my $f = set_subname("My::w" . int rand 5, sub { $n }); call($f)',
        'my $n = $_; push @kept, set_subname("My::k" . int rand 9, sub { $n }); '
            . 'call($kept[rand @kept])',
        'my $n = $_; my $f = sub { $n }; call($f); set_subname("Other::a" . int rand 4, $f); '
            . 'call($f); set_subname("My::b", $f); call($f)',
        'set_subname("My::s" . int rand 4, $same); call($same)',
        'my $n = $_; call(set_subname("My::p" . int rand 3, make($n)))',
        'splice @kept, rand @kept, 1 if @kept > 3',
        'my $n = "Gen::g" . int rand 6; no strict "refs"; no warnings "redefine"; my $x = $_; '
            . '*$n = set_subname($n, sub { $x }); call(\&$n)',
        'my $n = "Gen::h" . int rand 6; no strict "refs"; delete $Gen::{"h" . int rand 6}; '
            . 'my $x = $_; *$n = set_subname($n, sub { $x }); call(\&$n); undef &$n if rand 2 < 1',
        'call(eval "sub { 1 }"); my $e = eval "sub {}"; set_subname("My::e" . int rand 4, $e); '
            . 'call($e)',
    );
    return join '',
        "use strict; use warnings; use Sub::Util qw(set_subname subname);\nmy "
            . "(%c, \@kept, \$same); \$same = sub { 1 };\n",
        "sub make { my \$n = shift; return sub { \$n } }\n",
        "sub call { my \$f = shift; \$c{ subname(\$f) }++; \$f->() }\nsrand 7;\nfor (1 .. 300) {\n",
        map({ my $do = $actions[rand @actions]; "    { $do }\n" } 1 .. 12),
        "}\nprint map { \"\$_ \$c{\$_}\\n\" } sort grep { !/__ANON__/ } keys %c;\n";
}

for my $seed (1 .. $rounds) {
    subtest "Names that come and go keep their calls, program $seed" => sub {
        my $file = spew(scratch() . '/names.pl', names($seed));
        for my $mode (@modes) {
            my ($path, $out) = record($file, $mode);
            my %want = map { split ' ' } split /\n/, $out;
            my $got = calls_of($path);
            my %got = map { $_ => $got->{$_} } grep { /^(?:My|Other|Gen)::/ } keys %$got;
            is_deeply(\%got, \%want, "$mode->[0]: each name has its calls");
        }
    };
}

subtest 'Anonymous subs are numbered if a package has several' => sub {
    my $file = spew(scratch() . '/apart.pl', <<'END');
package One; BEGIN { $One::x = 1 } my $f = sub { 1 }; $f->();
package Two; BEGIN { $Two::x = 1 }
BEGIN { $Two::x = 2 } my ($g, $h) = (sub { 2 }, sub { 3 }); $g->(); $h->() for 1, 2;
END
    my ($path) = record($file, $modes[0]);
    my $names = sub {
        my $run = run_tool($_[0], [ @_[ 1 .. $#_ ], $path ]);
        join ' ', sort $run->{out} =~ /((?:One|Two)::\S+)/g;
    };
    my $apart =
        "One::BEGIN One::__ANON__ Two::BEGIN\@2 Two::BEGIN\@3 Two::__ANON__[$file:3] "
            . "Two::__ANON__[$file:3]#2";
    is($names->('dprofpp', '-O', 100), $apart, 'dprofpp numbers anonymous subs');
    is($names->('dprofpp', '-T'), $apart =~ s/(\S+#2)/$1 $1/r, 'dprofpp -T numbers anonymous subs');
    is($names->('dprofreport'), $apart, 'dprofreport numbers anonymous subs');
    is($names->('dprofpp', '-O', 100, '--no-separate-anon'),
        'One::BEGIN One::__ANON__ Two::BEGIN Two::__ANON__',
        '--no-separate-anon gives them one name');
    is($names->('dprofpp', '-O', 100, '-R'),
        "One::BEGIN\@1 One::__ANON__[$file:1] Two::BEGIN\@2 Two::BEGIN\@3 Two::__ANON__[$file:3] "
            . "Two::__ANON__[$file:3]#2", '-R names the place of all anonymous subs');
};

subtest 'Names that differ from run to run pair up' => sub {
    my ($digest, $other) = ('5218ab0c99ee5218ab0c99ee5218ab0c', '0a18ab0c99ee5218ab0c99ee5218ab0f');
    my @paths = map {
        my $file = spew(scratch() . '/digest.pl',
            "package Mojo::Template::Sandbox::$_; sub run { 1 } my \$f = sub { 2 }; run(); "
                . "\$f->();\nsub deadbeefcafe { 1 } deadbeefcafe();\n");
        (record($file, $modes[0]))[0];
    } $digest, $other;
    my $diff = run_tool('dprofdiff', [ '-v', '-m', 'calls', '--fail-if', 'calls > 0, new, gone',
        @paths ]);
    is($diff->{status}, 0, 'packages called by a digest pair up') or diag $diff->{out};
    like($diff->{out}, qr/Mojo::Template::Sandbox::#::run/,
        'packages called by a digest pair up under a name without it');
    like($diff->{out}, qr/::deadbeefcafe/, 'a name that only looks like a digest stays');
};

done_testing;
