package Devel::DProf::Tool::Dprofflame;

use strict;
use warnings;

use Devel::DProf::Flame;
use Devel::DProf::Stacks;
use Devel::DProf::Tool qw(OK FAILED USAGE complain text parsed written usage manual);

our $VERSION = $Devel::DProf::Core::VERSION;

# Those of flamegraph.pl have its names.
my @options = (
    'title:s', 'subtitle:s', 'width=s@', 'height=f', 'minwidth=s', 'fonttype=s', 'fontsize=f', 'fontwidth=f', 'countname=s', 'nametype=s',
    'colors|colours=s', 'bgcolors|bgcolours=s', 'hash', 'random', 'cp', 'reverse|r', 'inverted|icicle', 'flamechart', 'negate', 'notes=s',
    'total=f', 'factor=f', 'nameattr=s', 'encoding=s',
    'm|metric=s', 'unit=s', 'only=s', 'skip=s', 'fold-recursion', 'R|separate-anon!', 'A|autoload', 'order=s',
    'diff|d', 'n|normalize', 'delta=s', 'hue', 'view=s', 's|x|strip-hex', 'map=s@', 'symfs=s@', 'pid=s', 'tid=s', 'time=s', 'alpha=f',
    'o|output=s', 'format=s', 'processes', 'main', 'f|F|force', 'V|version', 'h|help', 'H|manual',
);
sub option_rows { return @options }

sub main {
    my ($opt, $names) = parsed('dprofflame', 'DPROFFLAME_OPTS', \@options, two_dashes(@_)) or return USAGE;
    return help() if $opt->{h};
    return manual() if $opt->{H};
    if ($opt->{V}) {
        print "dprofflame version: $VERSION\n";
        return OK;
    }
    my $flame = eval { how($opt) } or return usage('dprofflame', $@);
    my @names = Devel::DProf::Stacks::names($opt, @$names);
    return usage('dprofflame', '--diff: two sides, a baseline and another one; files of one side are joined by commas') if !@names;
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
        die "--$_ $opt->{$_}: a positive number is wanted\n" if defined $opt->{$_} && !($opt->{$_} > 0 && $opt->{$_} < 1e15);
        $how{$_} = $opt->{$_} if defined $opt->{$_};
    }
    die "--alpha $opt->{alpha}: it is between 0 and 1\n" if defined $opt->{alpha} && $opt->{alpha} >= 1;
    for (@{ $opt->{width} || [] }) {
        if (/^(?:\d+(?:\.\d*)?|\.\d+)\z/) { $how{width} = $_ }
        elsif (/^(?:after|before|union|change)\z/) { $how{width_of} = $_ }
        else { die "--width $_: it is a number of pixels, or of two sides after, before, union or change\n" }
    }
    die "--width $how{width}: more than 100 pixels are wanted\n" if defined $how{width} && $how{width} <= 100;
    if (defined $opt->{minwidth}) {
        my ($number, $percent) = $opt->{minwidth} =~ /^(\d+(?:\.\d*)?|\.\d+)(%?)\z/
            or die "--minwidth $opt->{minwidth}: it is a number of pixels, or of percent: 0.1, 0.01%\n";
        @how{qw(min_width min_percent)} = ($number, $percent ? 1 : 0);
    }
    return Devel::DProf::Flame->new(%how);
}

sub format_of {
    my ($opt) = @_;
    my $format = $opt->{format};
    die "--format $format: it is svg or html\n" if defined $format && $format !~ /^(?:svg|html)\z/;
    return $format if defined $format;
    return lc $1 if ($opt->{o} // '') =~ /\.(svg|html?)\z/i && lc $1 eq 'svg';
    return 'html' if ($opt->{o} // '') =~ /\.html?\z/i || (defined $opt->{view} && $opt->{view} ne 'graph');
    return 'svg';
}

sub drawn {
    my ($opt, $flame) = @_;
    my ($out, $new) = (\*STDOUT);
    my $file = $opt->{o};
    if (defined $file && $file ne '-') {
        # written beside the old one, which stays what it was until all is well; but a device or a pipe is written to
        $new = !-e $file || -f _ ? "$file.$$.new" : $file;
        undef $out;
        if (!open $out, '>', $new) {
            complain("$file could not be written: $!");
            return FAILED;
        }
    } elsif (-t STDOUT) {
        return usage('dprofflame', 'a picture is nothing for a terminal: -o FILE, or > FILE');
    }
    binmode $out;
    my $result = $flame->draw($out);
    my $status = written('dprofflame', $out, $result->{code}, 1);
    if (defined $new && $new ne $file) {
        # a picture of nothing does not take the place of one
        if (!$status && $result->{empty}) {
            unlink $new;
        } elsif ($status || !rename $new, $file) {
            complain("$file could not be written: $!") if !$status;
            unlink $new;
            return FAILED;
        }
    }
    return $status if $status;
    complain("dprofflame: $_") for $flame->told($result);
    return $flame->failed || $result->{empty} ? FAILED : OK;
}

sub help {
    print <<'END';
dprofflame [options] [profile ...]              one side: several files are added up
dprofflame --diff [options] baseline other      two sides

Draws a flame graph. No file: standard input if something comes from there, else tmon.out.

    -o FILE             where it goes: a page if it is called .html, else SVG;  --format svg|html
What is drawn:
    -m METRIC           cpu (user+system, the default), user, system, real, calls, ops or another counter
                        (dproflist lists them)
    -m A,B              two counters of one profile, as two sides
    --only REGEX --skip REGEX       frames, by name; what is left out counts for its caller
    --fold-recursion    a sub that calls itself directly is one frame
    --reverse           what ran at the root, its callers above
    --inverted          the root on top
    --order name|weight|time        of siblings
    --flamechart        in order of time, no two calls in one frame that do not follow each other
    --no-separate-anon  anonymous subs without file and line;  -A  autoloaded ones as *::AUTOLOAD
    --time RANGE --pid LIST --tid LIST --processes --main --unit UNIT      as dproffold has them
Two sides:
    --width after|before|union|change       what is as wide as a frame; union shows what is gone, too
    --delta self|total  coloured by its own difference, or with what it called
    --negate            before's widths, coloured by what will happen
    --hue               only what differs: widths are differences
    --view graph|pair|triple        of a page
    -n                  the baseline as if it had the other's total
    --map OLD=NEW --symfs DIR -s    names that differ
    --alpha P           several runs: what is coloured (0.05, false discoveries)
How it looks:
    --title TEXT --subtitle TEXT --notes TEXT --countname WORD --nametype TEXT
    --width PX --height PX --minwidth PX|PERCENT% --fonttype FONT --fontsize N --fontwidth N
    --colors PALETTE --bgcolors COLOUR --hash --random --cp     palettes: package (the default), hot, mem, io ...
    --total N --factor N --nameattr FILE --encoding NAME
    -f                  in spite of different units; says nothing of profiles that were cut short
    -V  -h  -H          version, this page, the manual

Options may also stand in the environment variable DPROFFLAME_OPTS.
END
    return OK;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Tool::Dprofflame - the command dprofflame

=head1 DESCRIPTION

C<main(@ARGV)> does all the work and returns the exit status. See L<dprofflame>.

=cut
