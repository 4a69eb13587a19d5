# The texts that readers were asked about are what the tools print today. The profiles are made up,
# with exact figures. DPROF_GOLDEN=1 writes the texts again; then read them, and ask again.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../../t/lib";
use Devel::DProf::Live::Rates;
use Devel::DProf::Live::Top;
use DProfTest qw(scratch spew slurp in_process);
use MadeUp;
use Test::More;

my $here = $FindBin::Bin;
my $dir = scratch();
chdir $dir or die $!;

delete $ENV{COLUMNS};

# ---- the program ----

# Subs of a shop: the caller, calls, microseconds and ops of each.
my %shop = (
    'main::BEGIN@3' => ['', 1, 9000, 4100], 'main::BEGIN@4' => ['', 1, 4000, 1700],
    'Shop::read_orders' => ['', 1, 60_000, 90_000], 'Shop::by_name' => ['', 5000, 15_000, 30_000],
    'Shop::order' => ['', 400, 30_000, 44_000],
    'Shop::total' => ['Shop::order', 400, 25_000, 40_000],
    'Shop::price' => ['Shop::total', 12_000, 90_000, 180_000],
    'Shop::tax' => ['Shop::total', 12_000, 36_000, 60_000],
    'Shop::write_line' => ['Shop::order', 12_000, 50_000, 96_000],
    map({ ("Shop::Text::$_" => ['Shop::write_line', 10, 100, 200]) } qw(pad trim quote upper lower
        round money date time join split first last short long)),
);
use constant PROGRAM => [20_000, 33_000];

# Writes a profile of subs. factor: of all times, as runs of a program differ.
sub profile {
    my ($file, $script, $factor, $header, %subs) = @_;
    my ($total, @subs, @lines) = (0);
    my $add = sub {
        my ($self, $depth, $name, $calls, $time, $ops) = @_;
        $time = int($time * $factor);
        $total += $time;
        my ($package, $sub, $line) = $name =~ /\A(.*)::(\w+)(?:@(\d+))?\z/;
        push @subs, "$package $sub $script:" . ($line // 10 + @subs) if $depth;
        push @lines, sprintf '= %d %x %d %d 0 %d 0 0 %d', $depth, $depth ? scalar @subs : 0, $calls,
            $time, $time, $ops;
        $self->($self, $depth + 1, $_, @{ $subs{$_} }[1 .. 3])
            for grep { $subs{$_}[0] eq $name } sort keys %subs;
    };
    $add->($add, 0, '', 0, @{ PROGRAM() });
    return spew("$dir/$file", profile_text(format => 'tree', hz => 1_000_000,
        counters => 'ops:ops', subs => \@subs, lines => \@lines,
        header => "\$dprof_script='$script'; \$dprof_hash_seed=0; \$dprof_perturb_keys=0; $header",
        $header =~ /dprof_pid/ ? (times => undef) : (times => [$total, 0, $total], complete => 1)));
}

# Writes ten runs of a side, whose times differ by up to 1 %. Returns the side.
sub runs {
    my ($side, $shift, %subs) = @_;
    profile("$side.$_", "$side/shop.pl", 1 + (7 * $_ + $shift) % 10 / 1000, '', %subs) for 0 .. 9;
    return "$side.*";
}

# ---- the texts ----

# Returns the subs, some of them changed.
sub change {
    my (%changed) = @_;
    return (map({ ($_ => [@{ $shop{$_} }]) } keys %shop), %changed);
}

sub printed { return in_process(@_)->{out} =~ s{\Q$dir\E/}{}gr }

sub compared {
    my (%after) = @_;
    return printed('dprofdiff', runs('old', 0, %shop), runs('new', 3, %after));
}

sub running {
    profile('tmon.out', 'shop.pl', 1, "\$dprof_pid=$$;", %shop);
    open my $held, '>>', "$dir/tmon.out" or die $!;
    return printed('dprofreport') =~ s/\b$$\b/4711/gr;
}

sub top {
    my $top = Devel::DProf::Live::Top->new(sort => 'self', delay => 2, rows => 6,
        names_width => 132, rates => Devel::DProf::Live::Rates->new(metric => 'cpu'));
    my %sample = (at => 0, path => '/srv/shop/tmon.out', pid => 4711, script => 'shop.pl',
        files => 1, since => 'last', seconds => 2, cpu => 0.5, real => 2, count => 5000,
        total => 500, detail => 2);
    my @rows = (['Shop::price', 250, 250, 2400], ['Shop::write_line', 120, 120, 2400],
        ['(program)', 50, 500, 0], ['Shop::order', 50, 450, 80], ['Shop::total', 20, 280, 80],
        ['Shop::read_orders', 10, 10, 40]);
    $sample{subs} = [map { my ($name, @of) = @$_;
        [@of, $name, $name eq '(program)' ? '' : 'lib/Shop.pm:' . 2 * length $name] } @rows];
    return join '', map { "$_\n" =~ s/\d\d:\d\d:\d\d/12:00:00/r } $top->text(\%sample, 0);
}

my %renamed = change();
$renamed{'Shop::print_row'} = delete $renamed{'Shop::write_line'};
$renamed{"Shop::Text::$_"}[0] = 'Shop::print_row'
    for map { /^Shop::Text::(\w+)/ } keys %renamed;

my %text = (
    dprofreport => sub {
        profile('tmon.out', 'shop.pl', 1, '', %shop);
        return printed('dprofreport', '--rows', 10);
    },
    'dprofreport-running' => \&running,
    dprofpp => sub {
        profile('tmon.out', 'shop.pl', 1, '', %shop);
        return printed('dprofpp', '--no-classic');
    },
    dproftop => \&top,
    'dprofdiff-slower' => sub {
        compared(change('Shop::price' => ['Shop::total', 18_000, 135_000, 270_000],
            'Shop::tax' => ['Shop::total', 12_000, 72_000, 120_000],
            'Shop::write_line' => ['Shop::order', 12_000, 60_000, 96_000],
            'Shop::discount' => ['Shop::total', 400, 8000, 12_000]));
    },
    'dprofdiff-faster' => sub {
        compared(change('Shop::read_orders' => ['', 1, 20_000, 30_000],
            'Shop::price' => ['Shop::total', 400, 3000, 6000]));
    },
    'dprofdiff-unchanged' => sub { compared(%shop) },
    'dprofdiff-one-run' => sub {
        profile('tmon.out.old', 'old/shop.pl', 1, '', %shop);
        profile('tmon.out', 'new/shop.pl', 1, '', change(
            'Shop::price' => ['Shop::total', 12_000, 99_000, 180_000],
            'Shop::tax' => ['Shop::total', 18_000, 54_000, 90_000]));
        return printed('dprofdiff');
    },
    'dprofdiff-renamed' => sub { compared(%renamed) },
);

for my $name (sort keys %text) {
    my $now = $text{$name}->();
    my $file = "$here/$name.txt";
    spew($file, $now) if $ENV{DPROF_GOLDEN};
    is($now, -e $file ? slurp($file) : '', "$name.txt is what the tool prints");
}

# Each text has ten questions, each with an answer.
for my $file (glob "$here/*.questions") {
    my $questions = slurp($file);
    my ($name) = $file =~ m{([^/]+)\.questions\z};
    ok($name eq 'README.md' || exists $text{$name}, "$name.questions has a text");
    is(scalar(() = $questions =~ /^\d+\. \S.*\n   = \S/mg), 10,
        "$name has ten questions and answers");
}
ok(-e "$here/$_.questions", "$_.txt has questions") for sort keys %text;

done_testing;
