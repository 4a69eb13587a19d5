package Devel::DProf::Tool::Dprofflame;

# dprofflame: options, pictures and pages.

use strict;
use warnings;

use Devel::DProf::Metric;
use Devel::DProf::Text qw(text);
use Devel::DProf::Tool qw(OK FAILED complain result);
use Devel::DProf::Tool::Options;
use Devel::DProf::View::Flame;
use Devel::DProf::View::Stacks;

our $VERSION = $Devel::DProf::Core::VERSION;

my @FORMATS = Devel::DProf::View::Stacks::names_of(Devel::DProf::View::Stacks::formats('eyes'));

# Options that flamegraph.pl also has keep its names.
my $TOOL;
$TOOL = Devel::DProf::Tool::Options->new(
    lists => { METRICS => Devel::DProf::Metric::for_help() },
    name => 'dprofflame', rewrite => \&two_dashes,
    settings => sub { Devel::DProf::View::Flame->new(settings(@_)) },
    run => sub { graph($TOOL, @_) },
    text => <<'END' =~ s/\@FORMATS\@/join '|', @FORMATS/er,
dprofflame [options] [profile ...]              one side: several files are added up
dprofflame --diff [options] baseline other      two sides

Draws a flame graph. No file: reads standard input if it is a pipe or a file, else tmon.out.

= o|output=s(some)  format=s
    -o FILE             the output: a page if FILE ends in .html, else SVG;  --format @FORMATS@
What is drawn:
= m|metric=s
    -m METRIC           {METRICS}
                        or another counter (dproflist lists them)
    -m A,B              two counters of one profile, as two sides
= only=s  skip=s  kind=s
    --only REGEX --skip REGEX       only frames whose names match, or do not match;
    --kind KIND                     only spans of this kind: sql, http ...;
                        the others count for their callers
= all
    --all               also the subs of a server above its application
= fold-recursion
    --fold-recursion    a sub that calls itself directly is one frame
= reverse|r
    --reverse           the subs whose own code ran at the root, their callers above
= inverted|icicle
    --inverted          the root at the top
= order=s
    --order name|weight|time        the order of siblings
= flamechart
    --flamechart        in order of time; merges only calls that follow each other
= R|separate-anon!  A|autoload
    --no-separate-anon  anonymous subs without file and line;  -A  autoloaded subs as *::AUTOLOAD
= unit=s(unit)  pid=s  tid=s  time=s  processes  main
    --time RANGE --pid LIST --tid LIST --processes --main --unit UNIT      as in dproffold
= from=s  run-set=s@  buckets=i(positive)
    --from STORE --run-set SET      profiles of a store (dprofstore);  --buckets N  their runs in N
The page:
= source!
    --no-source         without the sources: the page shows lines by number
= timeline!
    --no-timeline       without the time line, which shows what ran when in a trace
= symfs=s@  source-dir=s@(folder)
    --symfs DIR,...     looks for sources below these folders, too
    --source-dir DIR,...    includes sources below DIR, even if the profile does not vouch for them
= source-url=s
    --source-url URL    links sources to a forge; URL has {file} and {line}
Two sides:
= width=s@
    --width after|before|union|change       the meaning of width; union also shows gone frames
= delta=s
    --delta self|total  colours by the difference of self, or of inclusive values
= negate
    --negate            the widths of before, coloured by what will happen
= hue
    --hue               only the change: widths are differences
= view=s
    --view graph|pair|triple        the view of a page
= n|normalize
    -n                  scales the baseline to the other side's total
= s|x|strip-hex  strip-words  map=s@
    --map OLD=NEW --symfs DIR -s --strip-words      pairs names that differ
= alpha=f(positive)
    --alpha P           with several runs: the share of colours that may be chance (0.05)
How it looks:
= title:s  subtitle:s  countname=s  nametype=s  notes=s
    --title TEXT --subtitle TEXT --notes TEXT --countname WORD --nametype TEXT
= height=f(positive)  minwidth=s  fonttype=s  fontsize=f(positive)  fontwidth=f(positive)
    --width PX --height PX --minwidth PX|PERCENT% --fonttype FONT --fontsize N --fontwidth N
= colors|colours=s  bgcolors|bgcolours=s  hash  random  cp
    --colors PALETTE --bgcolors COLOUR --hash --random --cp
                        palettes: package (the default), hot, mem, io ...
= total=f(positive)  factor=f(positive)  nameattr=s  encoding=s
    --total N --factor N --nameattr FILE --encoding NAME
= f|F|force
    -f                  draws in spite of different units; silent about profiles cut short
    -V  -h  -H          version, this help, the manual
== diff|d
END
);

sub main { return $TOOL->main(@_) }
sub command { return $TOOL }

# Runs the tool: reads the profiles, and draws the graph. Returns the exit status. dprofhtml calls
# this, too.
sub graph {
    my ($tool, $opt, $flame, $names) = @_;
    my @names = Devel::DProf::View::Stacks::names($opt, @$names);
    return $tool->usage(Devel::DProf::View::Stacks::TWO_SIDES) if !@names;
    $flame->read(@names) or return FAILED;
    my $ready = eval { $flame->prepare };
    return $tool->usage($@) if !defined $ready;
    return FAILED if !$ready;
    return draw_picture($tool, $opt, $flame);
}

# Returns the arguments with a second dash before `-NAME`, if NAME is the first name of one of our
# options and begins with three word characters, because flamegraph.pl also takes one dash.
sub two_dashes {
    my @args = @_;
    my %long = map { s/[:=!].*//sr =~ s/\|.*//sr => 1 } grep { /^\w{3}/ } $TOOL->rows;
    for (@args) {
        last if $_ eq '--';
        s/^/-/ if /^-(\w{3,})(?:=|\z)/ && $long{$1};
    }
    return @args;
}

# Returns the address of a forge, as characters. Dies if it is none.
sub forge_url {
    my ($url) = @_;
    return text($url) if $url =~ m{\Ahttps?://[^\s"'<>\\]+\z} && $url =~ /\{file\}/;
    die "--source-url $url: must be like https://forge.example/me/repo/blob/main/{file}#L{line}\n";
}

# Returns the arguments of Devel::DProf::View::Flame::new. Dies with what is wrong.
sub settings {
    my ($opt) = @_;
    my ($shared, %fields) = Devel::DProf::View::Stacks::settings($opt);
    my %how = (
        %$shared, normalize => $opt->{n} ? 1 : 0, format => format_of($opt),
        (map { $_ => $opt->{$_} ? 1 : 0 } qw(hue reverse inverted hash)),
        (map { $_ => $opt->{$_} } grep { defined $opt->{$_} } qw(height factor total)),
    );
    for (qw(title subtitle notes nametype countname encoding)) {
        $how{$_} = text($opt->{$_}) if defined $opt->{$_};
    }
    for (qw(fonttype bgcolors colors nameattr)) {
        $fields{$_} = text($opt->{$_}) if defined $opt->{$_};
    }
    @fields{qw(metric no_source no_timeline)} = ($opt->{m}, map { $_ // 1 ? 0 : 1 }
        @$opt{qw(source timeline)});
    $fields{$_} = $opt->{$_} ? 1 : 0 for qw(flamechart negate random cp);
    $fields{no_server} = $opt->{all} ? 0 : 1;
    $fields{$_} = $opt->{$_} for qw(view delta order alpha fontsize fontwidth);
    $fields{source_url} = forge_url($opt->{'source-url'}) if defined $opt->{'source-url'};
    die "--alpha $opt->{alpha}: must be between 0 and 1\n"
        if defined $opt->{alpha} && $opt->{alpha} >= 1;
    for (@{ $opt->{width} || [] }) {
        if (/^(?:\d+(?:\.\d*)?|\.\d+)\z/) { $how{width} = $_ }
        elsif (/^(?:after|before|union|change)\z/) { $fields{width_of} = $_ }
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
    return (\%how, %fields);
}

# Returns the name of the format: that of --format, of the suffix of -o, or the first one that has
# the view.
sub format_of {
    my ($opt) = @_;
    my $format = Devel::DProf::View::Stacks::format_of('eyes', $opt->{format}, $opt->{o});
    return $format->{name} if $format;
    die "-o $opt->{o}: only svg and html are drawn; a browser turns these into other pictures\n"
        if !defined $opt->{format} && ($opt->{o} // '') =~ /\.(?:png|jpe?g|gif|webp|pdf)\z/i;
    my @formats = Devel::DProf::View::Stacks::formats('eyes');
    @formats = grep { !$_->{layout} } @formats if ($opt->{view} // 'graph') ne 'graph';
    return $formats[0]{name};
}

# Draws the picture into -o FILE or standard output, and prints the messages about it. Returns the
# exit status.
sub draw_picture {
    my ($tool, $opt, $flame) = @_;
    return $tool->usage('a terminal cannot show a picture; use -o FILE, or > FILE')
        if ($opt->{o} // '-') eq '-' && -t STDOUT;
    my $result;
    my $status = result($tool->name, $opt->{o}, sub {
        $result = $flame->draw($_[0]);
        return ($result->{code}, $result->{empty});
    });
    return $status if $status;
    complain($tool->name . ": $_") for $flame->messages($result);
    return $flame->failed || $result->{empty} ? FAILED : OK;
}

1;
