package Texts;

# The texts and the pages that readers are asked about: what the tools print about profiles that are
# made up, with exact figures, sections of manuals, and messages.

use strict;
use warnings;
use App::Prove::Plugin::DProf;
use Cwd ();
use DProfTest qw(scratch spew slurp in_process profiled);
use Devel::DProf::Live::Rates;
use Devel::DProf::Live::Top;
use Devel::DProf::Tool::Dprofattach;
use Devel::DProf::Tool::Dprofdiff;
use File::Basename qw(dirname);
use MadeUp;
use Pod::Text;

my $top = Cwd::abs_path(dirname(__FILE__) . '/../..');
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
use constant STARTED => q{$dprof_start='1795766400.000000';};

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

# Returns a manual, or some of its sections, as perldoc prints them.
sub manual {
    my ($file, @sections) = @_;
    my $pod = slurp("$top/$file") =~ s/\A.*?(?==head1)//sr;
    my @parts = $pod =~ /^(=head1 .*?)(?=^=head1 |\z)/msg;
    @parts = grep { my $part = $_; grep { $part =~ /\A=head1 \Q$_\E$/m } @sections } @parts
        if @sections;
    my $parser = Pod::Text->new(width => 78);
    $parser->output_string(\my $text);
    $parser->parse_string_document(join '', "=encoding UTF-8\n\n", @parts);
    return $text =~ s/\A\n+//r;
}

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

# Writes a snapshot of a server's memory: live values and bytes of three subs.
sub snapshot {
    my ($name, $at, %live) = @_;
    my @subs = sort keys %live;
    my $lines = join '', map { sprintf "= 1 %x 10 100 0 100 0 0 5 %d %d %d\n", $_ + 1,
        $live{ $subs[$_] }[0], @{ $live{ $subs[$_] } } } 0 .. $#subs;
    return spew("$dir/tmon.out-$name", profile_text(format => 'tree', hz => 1_000_000,
        counters => 'ops:ops values:values live-values:values live-bytes:bytes',
        header => q{$dprof_script='shop.pl'; $dprof_run='1'; $dprof_pid=4711;},
        times => [$at, 0, $at], complete => 1,
        subs => [map { s/::(?=\w+\z)/ /r . ' shop.pl:1' } @subs],
        lines => "= 0 0 0 $at 0 $at 0 0 9 0 0 0\n$lines"
            . '#h % Shop::Session::new %25Shop::Session::open%20->%20HASH%20(Shop::Session)' . "\n"
            . '#h % Shop::Tree::link nothing%20but%20a%20cycle:%20HASH%20(Shop::Tree)%20->%20the%20'
            . "first\n"));
}

sub growth {
    my @cache = (8000, 1_200_000);
    snapshot('start', 1000, 'Shop::price' => \@cache, 'Shop::Session::new' => [300, 48_000]);
    snapshot('noon', 2000, 'Shop::price' => \@cache, 'Shop::Session::new' => [9300, 1_488_000]);
    snapshot('night', 3000, 'Shop::price' => \@cache, 'Shop::Session::new' => [9300, 1_488_000],
        'Shop::Tree::link' => [400, 64_000]);
    return printed('dprofreport', '--growth', map { "$dir/tmon.out-$_" } qw(start noon night));
}

# ---- messages ----

# Returns what a tool says to arguments, as a user sees it: the command and the message.
sub said {
    my ($shown, @command) = @_;
    return "\$ $shown\n" . in_process(@command)->{err} =~ s{\Q$dir\E/}{}gr;
}

# Returns what a function prints on standard error, or dies with.
sub complaint_of {
    my ($shown, $code) = @_;
    my $text = '';
    {
        local *STDERR;
        open STDERR, '>', \$text or die $!;
        eval { $code->(); 1 } or $text .= $@;
    }
    return "\$ $shown\n" . $text =~ s{\Q$dir\E/}{}gr;
}

# A session of dprofattach whose samples could not all be read.
sub Unread::totals { return (samples => 2910, given_up => 85, unread => 5, behind => 0) }
sub Unread::write_files { return 'tmon.out' }

# Ten messages, which draw.pl has drawn: `draw.pl 2026', without those that pass on another message.
sub messages {
    profile('tmon.out', 'shop.pl', 1, '$dprof_own_cpu=0; $dprof_dropped_cpu=100000;', %shop,
        'Shop::price' => ['Shop::total', 12_000, 3_000_000, 180_000]);
    my $lines = profiled([spew("$dir/lines.pl", "sub f { return 1 }\nf();\n")],
        env => { PERL_DPROF_MODE => 'tree', PERL_DPROF_CALLSITES => 1 })->{profile};
    my $prove = bless { dir => "$dir/dprof-prove-x7Yq2a", jobs => [] }, 'App::Prove::Plugin::DProf';
    my @from = ('dprofreport', '--from', 'dir:store', '--run-set');
    my @texts = (
        said(q{dprofreport --from dir:store --run-set 'servce=shop'}, @from, 'servce=shop'),
        said('dprofdiff --time 50%-120% old.out new.out', 'dprofdiff', '--time', '50%-120%',
            'old.out', 'new.out'),
        complaint_of('prove -PDProf -l t', sub { $prove->before_test(['t/a.t', 't/a.t']) })
            =~ s{(?= dprof-prove)}{ /tmp/}r =~ s{ /tmp/ }{ /tmp/}r,
        complaint_of('dprofattach --for 30s 17196',
            sub { Devel::DProf::Tool::Dprofattach::write_profiles(bless {}, 'Unread') }),
        complaint_of(q{dprofdiff --run 'perl old.pl' --run 'perl new.pl' -N 3},
            sub { Devel::DProf::Tool::Dprofdiff::too_few(3, 0.005) }),
        said('dprofreport --callers lines.pl:2', 'dprofreport', '--callers', 'lines.pl:2', $lines),
        said(q{dprofreport --from dir:store --run-set 'service="my shop'}, @from,
            'service="my shop'),
        said('dprofattach --slice 60s -o night.out 17196', 'dprofattach', '--slice', '60s', '-o',
            'night.out', 17196),
        said('dprofattach --for 10sec 17196', 'dprofattach', '--for', '10sec', 17196),
        said('dprofreport -q --rows 1', 'dprofreport', '-q', '--rows', 1),
    );
    my $n = 0;
    return join "\n", map { ++$n . ".\n$_" } @texts;
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
    'dprofreport-growth' => \&growth,
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
    messages => \&messages,
    map({ my ($name, @manual) = @$_; ("manual-$name" => sub { manual(@manual) }) }
        [attaching => 'lib/Devel/DProf.pm', 'ATTACHING'],
        [memory => 'lib/Devel/DProf.pm', 'MEMORY'],
        [slices => 'lib/Devel/DProf.pm', 'SLICES'],
        [sampling => 'lib/Devel/DProf.pm', 'SAMPLING'],
        [dprofdiff => 'bin/dprofdiff', 'NAME', 'SYNOPSIS', 'DESCRIPTION'],
        [dprofdump => 'bin/dprofdump'], [dprofattach => 'bin/dprofattach']),
);

# ---- pages ----

my %page = (
    page => sub {
        my ($file) = @_;
        profile('tmon.out', 'shop.pl', 1, STARTED, %shop);
        return printed('dprofflame', '-o', $file);
    },
    'page-diff' => sub {
        my ($file) = @_;
        my @sides = (runs('old', 0, %shop), runs('new', 3, change(
            'Shop::price' => ['Shop::total', 18_000, 135_000, 270_000],
            'Shop::tax' => ['Shop::total', 12_000, 72_000, 120_000],
            'Shop::read_orders' => ['', 1, 20_000, 30_000],
            'Shop::discount' => ['Shop::total', 400, 8000, 12_000])));
        return printed('dprofflame', '--diff', '-o', $file, @sides);
    },
);

sub names { return sort keys %text }
sub pages { return sort keys %page }
sub text { return $text{ $_[0] }->() }
sub page { return $page{ $_[0] }->($_[1]) }

1;
