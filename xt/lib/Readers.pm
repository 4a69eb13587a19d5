package Readers;

# What the tests with real readers share: whether a reader is there, profiles of all kinds, and what
# dprofreport says of them. xt/readers/run runs the tests.

use strict;
use warnings;
use Encode ();
use Exporter 'import';
use File::Glob ':bsd_glob';
use JSON::PP;
use Math::BigFloat;
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch spew run_program run_tool PROFILER);
use MadeUp;

our @EXPORT = qw(need_program need_package need_browser node_env run_node profiles report exported
                 reader);

# ---- readers ----

sub missing {
    my ($what) = @_;
    BAIL_OUT("missing: $what") if $ENV{DPROF_ALL_READERS};
    plan skip_all => "missing: $what";
}

# Returns the path of a program; where there is none, the test file is skipped. package: Debian's.
sub need_program {
    my ($name, $package) = @_;
    for my $folder (split /:/, $ENV{PATH} // '') {
        return "$folder/$name" if -x "$folder/$name" && !-d _;
    }
    return missing("$name (Debian: $package)");
}

# Returns the folder of a package of npm.
sub need_package {
    my ($name) = @_;
    need_program('node', 'nodejs');
    my $folder = "$ENV{DPROF_READERS}/node_modules/$name" if defined $ENV{DPROF_READERS};
    return $folder if defined $folder && -f "$folder/package.json";
    return missing("$name (npm; sh xt/readers/run installs it)");
}

sub need_browser {
    need_program('node', 'nodejs');
    my $chromium = $ENV{DPROF_CHROMIUM} // '/usr/bin/chromium';
    missing("$chromium (Debian: chromium; or set DPROF_CHROMIUM)") if !-x $chromium;
    my $playwright = $ENV{DPROF_PLAYWRIGHT} // '';
    missing('playwright-core (npm; sh xt/readers/run installs it)')
        if !-f "$playwright/node_modules/playwright-core/package.json";
    return $chromium;
}

# Runs a script of node, which finds the packages of npm by `require`. Returns what run_program
# does.
sub run_node {
    my ($script, @args) = @_;
    my @folders = map { "$_/node_modules" } grep { defined } @ENV{qw(DPROF_READERS
        DPROF_PLAYWRIGHT)};
    return run_program(['node', $script, @args], env => { NODE_PATH => join(':', @folders) });
}

# Runs a reader. It gets a folder of its own as its home, and says what is wrong with the test file
# if it fails. Returns its standard output.
sub reader {
    my ($what, @command) = @_;
    my $run = run_program(\@command, env => { HOME => scratch(), LC_ALL => 'C.UTF-8' });
    $run->{raw} == 0 or diag("$what: @command\nstatus $run->{status}, signal $run->{signal}\n"
        . $run->{err});
    ok($run->{raw} == 0, $what);
    return $run->{out};
}

# ---- profiles ----

# Functions that call each other, and themselves, with work at each level; and children.
my $PROGRAM = <<'END';
use strict;
use warnings;
sub leaf { my $x = 0; $x += $_ for 1 .. 50; return $x }
sub f {
    my ($n) = @_;
    leaf();
    return $n ? g($n - 1) : 0;
}
sub g {
    my ($n) = @_;
    leaf() for 1 .. 2;
    return $n ? f($n - 1) : 0;
}
sub rec { my ($n) = @_; return $n ? 1 + rec($n - 1) : 0 }
f(20), g(15), rec(30) for 1 .. 3;
my $anonymous = sub { return leaf() + f(3) };
$anonymous->() for 1 .. 5;
if (@ARGV) {
    my $pid = fork // die "fork: $!";
    f(7), rec(5);
    waitpid $pid, 0 if $pid;
}
END

my $profiles;

# Returns [{ name, files }, ...]; they are made once.
sub profiles {
    return $profiles //= do {
        my $dir = scratch();
        my $program = spew("$dir/program.pl", $PROGRAM);
        my %env = (PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0);
        my $record = sub {
            my ($name, $how, @args) = @_;
            my $run = run_program([$^X, (PROFILER())[0], "-d:DProf=out=$dir/$name.out$how",
                $program, @args], env => \%env, dir => $dir);
            $run->{raw} == 0 or die "$name: status $run->{status}: $run->{err}";
            return { name => $name, files => [sort glob "$dir/$name.out*"],
                options => [] };
        };
        [
            $record->('tree', ',tree,lines,events=ops'),
            $record->('trace', ',events=ops'),
            $record->('sites', ',tree,callsites=1'),
            $record->('processes', ',tree,lines,events=ops', 1),
            $record->('samples', ',sample=100000,clock=counting:10000'),
            made_up("$dir/names.out", hostile()),
            made_up("$dir/bounds.out", bounds()),
        ];
    };
}

sub made_up {
    my ($path, %how) = @_;
    my ($name) = $path =~ m{([^/.]+)\.out\z};
    my @sum = (0, 0, 0);
    for my $line (@{ $how{lines} }) {
        my @f = split ' ', $line;
        $sum[$_] += $f[4 + $_] for 0 .. 2;
    }
    return { name => $name, options => [], files => [spew($path, profile_text(format => 'tree',
        hz => 10_000_000, times => \@sum, complete => 1, counters => 'ops:ops misses:events',
        header => "\$dprof_script='made-up.pl';", %how))] };
}

# Names that are hard for somebody: quotes, marks of formats, blanks, bytes that are not UTF-8.
sub hostile {
    my @names = ('a"b\\c', '<b>&amp;', 'x%0Ay', '%1B[31m', '(1)', 'fn=(2)', '%FF%FE', 'a%20b',
        '{"x":1}', "\xc3\xa4\xe2\x82\xac", '%23%20x', 'a;b', '__proto__', '%E2%80%AE', '%00');
    my @subs = map { "Hard $names[$_] f%20$_.pm:" . ($_ + 1) } 0 .. $#names;
    my @lines = ('= 0 0 0 7 1 10 0 0 3 0');
    for my $k (1 .. @names) {
        push @lines, sprintf '= 1 %x %d %d 0 %d 0 0 %d 1', $k, $k, 10 * $k, 12 * $k, 5 * $k;
        push @lines, sprintf '= 2 %x 1 5 1 7 0 0 2 0', $k % @names + 1;
    }
    return (subs => \@subs, lines => \@lines);
}

# Values of nothing, and of 2**62 altogether. All sums are such that a double holds them exactly.
sub bounds {
    my $great = 1 << 60;
    return (hz => 1_000_000_000, subs => ['main a x.pl:1', 'main b x.pl:2', 'main c x.pl:3'],
        lines => [
            '= 0 0 0 0 0 0 0 0 0 0', "= 1 1 1 $great 0 $great 0 0 0 0",
            "= 2 2 3 $great $great $great 0 0 $great 0", '= 1 3 1 0 0 0 0 0 0 0',
            "= 2 1 0 $great 0 $great 0 0 0 1"]);
}

# ---- what dprofreport says ----

# Returns { sub => [self, inclusive, calls] } of a metric, in nanoseconds or in what is counted,
# and the total. Names are UTF-8; bytes that are not stand in them as \xff.
sub report {
    my ($metric, @args) = @_;
    my $run = run_tool('dprofreport', ['--format', 'json', '-m', $metric, '--percent-limit', 0,
        '-F', 'period,period_children,calls,sub', @args]);
    $run->{raw} == 0 or die "dprofreport -m $metric @args: $run->{err}";
    my $scale = $metric =~ /^(?:cpu|user|system|real)\z/ ? 1e9 : 1;
    # Numbers are taken as texts: a double has not enough digits for all of them.
    my $json = JSON::PP->new->utf8->allow_bignum->decode($run->{out});
    my $whole = sub {
        my ($text) = @_;
        return Math::BigFloat->new($text)->bmul($scale)->bfround(0)->bstr =~ s/\.0*\z//r;
    };
    my %rows;
    for my $row (@{ $json->{rows} }) {
        my $name = Encode::encode('UTF-8', $row->{symbol});
        $rows{$name} = [$whole->($row->{self}), $whole->($row->{children}),
            '' . ($row->{calls} // 0)];     # null where calls are not known
    }
    return (\%rows, $whole->($json->{total}));
}

# Writes profiles as a file with this suffix. Returns its path.
sub exported {
    my ($suffix, @args) = @_;
    my $path = scratch() . "/program$suffix";
    my $run = run_tool('dprofexport', ['-o', $path, @args]);
    $run->{raw} == 0 or die "dprofexport @args: status $run->{status}: $run->{err}";
    return $path;
}

1;
