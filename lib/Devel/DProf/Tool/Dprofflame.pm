package Devel::DProf::Tool::Dprofflame;

# dprofflame: options, pictures and pages.

use strict;
use warnings;

use Devel::DProf::Flame;
use Devel::DProf::Stacks;
use Devel::DProf::Tool qw(ABOUT OK FAILED USAGE complain text parsed about written target placed
                          usage);

our $VERSION = $Devel::DProf::Core::VERSION;

# Those of flamegraph.pl have its names.
my @options = (
    'title:s', 'subtitle:s', 'width=s@', 'height=f', 'minwidth=s', 'fonttype=s', 'fontsize=f', 'fontwidth=f', 'countname=s', 'nametype=s',
    'colors|colours=s', 'bgcolors|bgcolours=s', 'hash', 'random', 'cp', 'reverse|r', 'inverted|icicle', 'flamechart', 'negate', 'notes=s',
    'total=f', 'factor=f', 'nameattr=s', 'encoding=s',
    'm|metric=s', 'unit=s', 'only=s', 'skip=s', 'fold-recursion', 'R|separate-anon!', 'A|autoload', 'order=s',
    'diff|d', 'n|normalize', 'delta=s', 'hue', 'view=s', 's|x|strip-hex', 'map=s@', 'symfs=s@', 'pid=s', 'tid=s', 'time=s', 'alpha=f',
    'o|output=s', 'format=s', 'processes', 'main', 'f|F|force', ABOUT,
);
sub option_rows { return @options }

sub main {
    my ($opt, $names) = parsed('dprofflame', \@options, two_dashes(@_)) or return USAGE;
    my $about = about('dprofflame', $opt, help());
    return $about if defined $about;
    my $flame = eval { how($opt) } or return usage('dprofflame', $@);
    my @names = Devel::DProf::Stacks::names($opt, @$names);
    return usage('dprofflame', '--diff takes two sides, a baseline and another one; '
        . 'join the files of one side by commas') if !@names;
    $flame->read(@names) or return FAILED;
    my $ready = eval { $flame->prepare };
    return usage('dprofflame', $@) if !defined $ready;
    return FAILED if !$ready;
    return drawn($opt, $flame);
}

# flamegraph.pl takes its long options with one dash, too.
sub two_dashes {
    my @args = @_;
    my %long = map { s/[:=!].*//sr =~ s/\|.*//sr => 1 } grep { /^\w{3}/ } @options;
    for (@args) {
        last if $_ eq '--';
        s/^/-/ if /^-(\w{3,})(?:=|\z)/ && $long{$1};
    }
    return @args;
}

# What is to be drawn. Dies with what is wrong.
sub how {
    my ($opt) = @_;
    my %how = (
        Devel::DProf::Stacks::options($opt), normalize => $opt->{n} ? 1 : 0, flamechart => $opt->{flamechart} ? 1 : 0,
        metric => $opt->{m}, view => $opt->{view}, delta => $opt->{delta}, hue => $opt->{hue} ? 1 : 0, negate => $opt->{negate} ? 1 : 0,
        order => $opt->{order}, format => format_of($opt), alpha => $opt->{alpha},
        (map { $_ => $opt->{$_} ? 1 : 0 } qw(reverse inverted hash random cp)),
    );
    for (qw(title subtitle notes nametype countname encoding fonttype bgcolors colors nameattr)) {
        $how{$_} = text($opt->{$_}) if defined $opt->{$_};
    }
    for (qw(height fontsize fontwidth factor total alpha)) {
        die "--$_ $opt->{$_}: must be a positive number\n"
            if defined $opt->{$_} && !($opt->{$_} > 0 && $opt->{$_} < 1e15);
        $how{$_} = $opt->{$_} if defined $opt->{$_};
    }
    die "--alpha $opt->{alpha}: must be between 0 and 1\n"
        if defined $opt->{alpha} && $opt->{alpha} >= 1;
    for (@{ $opt->{width} || [] }) {
        if (/^(?:\d+(?:\.\d*)?|\.\d+)\z/) { $how{width} = $_ }
        elsif (/^(?:after|before|union|change)\z/) { $how{width_of} = $_ }
        else {
            die "--width $_: must be a number of pixels, or, for two sides, after, before, union or"
                . " change\n";
        }
    }
    die "--width $how{width}: must be more than 100 pixels\n"
        if defined $how{width} && $how{width} <= 100;
    if (defined $opt->{minwidth}) {
        my ($number, $percent) = $opt->{minwidth} =~ /^(\d+(?:\.\d*)?|\.\d+)(%?)\z/
            or die "--minwidth $opt->{minwidth}: must be a number of pixels, or of percent: 0.1, "
                . "0.01%\n";
        @how{qw(min_width min_percent)} = ($number, $percent ? 1 : 0);
    }
    return Devel::DProf::Flame->new(%how);
}

sub format_of {
    my ($opt) = @_;
    my $format = $opt->{format};
    die "--format $format: must be svg or html\n"
        if defined $format && $format !~ /^(?:svg|html)\z/;
    return $format if defined $format;
    return lc $1 if ($opt->{o} // '') =~ /\.(svg|html?)\z/i && lc $1 eq 'svg';
    return 'html' if ($opt->{o} // '') =~ /\.html?\z/i || (defined $opt->{view} && $opt->{view} ne 'graph');
    return 'svg';
}

sub drawn {
    my ($opt, $flame) = @_;
    my ($out, $file) = (\*STDOUT);
    if (defined $opt->{o} && $opt->{o} ne '-') {
        $file = target($opt->{o}) or return FAILED;
        $out = $file->handle;
    } elsif (-t STDOUT) {
        return usage('dprofflame', 'a terminal cannot show a picture; use -o FILE, or > FILE');
    }
    binmode $out;
    my $result = $flame->draw($out);
    my $status = written('dprofflame', $out, $result->{code}, 1);
    # a picture of nothing does not take the place of one
    $file->discard if $file && $result->{empty};
    return $status if $status;
    return FAILED if $file && !$result->{empty} && !placed($file, $opt->{o});
    complain("dprofflame: $_") for $flame->told($result);
    return $flame->failed || $result->{empty} ? FAILED : OK;
}

sub help {
    return <<'END';
dprofflame [options] [profile ...]              one side: several files are added up
dprofflame --diff [options] baseline other      two sides

Draws a flame graph. No file: reads standard input if it is a pipe or a file, else tmon.out.

    -o FILE             the output: a page if FILE ends in .html, else SVG;  --format svg|html
What is drawn:
    -m METRIC           cpu (user+system, the default), user, system, real, calls, ops
                        or another counter (dproflist lists them)
    -m A,B              two counters of one profile, as two sides
    --only REGEX --skip REGEX       only frames whose names match, or do not match;
                        the others count for their callers
    --fold-recursion    a sub that calls itself directly is one frame
    --reverse           the subs whose own code ran at the root, their callers above
    --inverted          the root at the top
    --order name|weight|time        the order of siblings
    --flamechart        in order of time; merges only calls that follow each other
    --no-separate-anon  anonymous subs without file and line;  -A  autoloaded subs as *::AUTOLOAD
    --time RANGE --pid LIST --tid LIST --processes --main --unit UNIT      as in dproffold
Two sides:
    --width after|before|union|change       what is wide; union also shows what is gone
    --delta self|total  colours by the difference of self, or of inclusive values
    --negate            the widths of before, coloured by what will happen
    --hue               only the change: widths are differences
    --view graph|pair|triple        the view of a page
    -n                  scales the baseline to the other side's total
    --map OLD=NEW --symfs DIR -s    pairs names that differ
    --alpha P           with several runs: the share of colours that may be due to chance (0.05)
How it looks:
    --title TEXT --subtitle TEXT --notes TEXT --countname WORD --nametype TEXT
    --width PX --height PX --minwidth PX|PERCENT% --fonttype FONT --fontsize N --fontwidth N
    --colors PALETTE --bgcolors COLOUR --hash --random --cp
                        palettes: package (the default), hot, mem, io ...
    --total N --factor N --nameattr FILE --encoding NAME
    -f                  draws in spite of different units; silent about profiles cut short
    -V  -h  -H          version, this help, the manual

The environment variable DPROFFLAME_OPTS holds default options.
END
}

1;
