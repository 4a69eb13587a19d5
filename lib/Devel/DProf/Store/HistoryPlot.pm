package Devel::DProf::Store::HistoryPlot;

# Draws dprofreport --history as a picture, and as a page with the picture and its numbers: one
# file, without scripts.

use strict;
use warnings;

use Devel::DProf::Text qw(shown);
use Devel::DProf::View::Layout qw(cut);

our $VERSION = $Devel::DProf::Core::VERSION;

use constant { WIDTH => 1000, LEFT => 90, RIGHT => 20, TOP => 64, PANEL => 120, GAP => 44,
    BOTTOM => 34, MOST_LABELS => 8, MOST_DOTS => 120 };

# The style, light and dark like the other pages. All rules begin with #dprof-history, as they would
# otherwise affect a page that includes the picture.
my $STYLE = <<'END';
#dprof-history { --text: #1b1b1b; --page: #fff; --line: #d8d8d8; --soft: #5c5c5c; --mark: #2f5fd0;
    --area: #e3ebfd; font: 13px system-ui, sans-serif; background: var(--page) }
@media (prefers-color-scheme: dark) {
    #dprof-history { --text: #e6e6e6; --page: #161616; --line: #3a3a3a; --soft: #a8a8a8;
        --mark: #8fb0ff; --area: #2b3b63 }
}
#dprof-history .page { fill: var(--page) }
#dprof-history text { fill: var(--text) }
#dprof-history .soft { fill: var(--soft) }
#dprof-history .title { font-size: 17px; font-weight: 600 }
#dprof-history .end { text-anchor: end }
#dprof-history .middle { text-anchor: middle }
#dprof-history .grid { stroke: var(--line) }
#dprof-history .area { fill: var(--area) }
#dprof-history .curve { fill: none; stroke: var(--mark); stroke-width: 1.75;
    stroke-linejoin: round }
#dprof-history .dot { fill: var(--mark) }
END

my $PAGE_STYLE = <<'END';
:root { color-scheme: light dark; --text: #1b1b1b; --page: #fff; --line: #d8d8d8 }
@media (prefers-color-scheme: dark) {
    :root { --text: #e6e6e6; --page: #161616; --line: #3a3a3a }
}
body { margin: 1.5em; font: 15px/1.4 system-ui, sans-serif; color: var(--text);
    background: var(--page) }
svg { max-width: 100%; height: auto }
table { border-collapse: collapse; margin-top: 1.5em }
th, td { padding: .2em .7em; text-align: right; font-variant-numeric: tabular-nums }
td { border-top: 1px solid var(--line) }
th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere }
END

# Returns a plot as the text of an SVG picture. The plot is a hash: title, subtitle; x, the places
# of the points, any growing numbers; labels and tips, a text for each point; panels, a hash each of
# name, values (undef if missing) and most (the text of the greatest value).
sub svg {
    my (%plot) = @_;
    my @panels = @{ $plot{panels} };
    my $height = TOP + @panels * (PANEL + GAP) + BOTTOM - GAP + 20;
    my @at = places(@{ $plot{x} });
    my @out = (sprintf('<svg id="dprof-history" xmlns="http://www.w3.org/2000/svg" width="%d" '
        . 'height="%d" viewBox="0 0 %d %d" role="img" aria-label="%s">', WIDTH, $height, WIDTH,
        $height, escape_xml($plot{title})), "<style>\n$STYLE</style>",
        sprintf('<rect class="page" width="%d" height="%d"/>', WIDTH, $height),
        text_at('title', 16, 26, cut($plot{title}, 100)),
        text_at('soft', 16, 46, cut($plot{subtitle}, 140)));
    push @out, draw_panel($panels[$_], TOP + 20 + $_ * (PANEL + GAP), \@at, $plot{tips})
        for 0 .. $#panels;
    push @out, draw_axis($height - 12, \@at, $plot{labels});
    return join '', map { "$_\n" } @out, '</svg>';
}

# Returns the horizontal places of points in the picture, in pixels.
sub places {
    my @x = @_;
    my ($first, $room) = ($x[0], WIDTH - LEFT - RIGHT);
    return LEFT + $room / 2 if @x == 1;
    my $whole = $x[-1] - $first || 1;
    return map { LEFT + $room * ($_ - $first) / $whole } @x;
}

# Returns the lines of a panel: a curve from zero to the greatest value. A missing value interrupts
# the curve.
sub draw_panel {
    my ($panel, $top, $at, $tips) = @_;
    my @values = @{ $panel->{values} };
    my ($most) = sort { $b <=> $a } grep { defined } @values;
    my ($base, @out) = ($top + PANEL);
    for my $y ($top, $base) {
        push @out, sprintf '<line class="grid" x1="%d" y1="%d" x2="%d" y2="%d"/>', LEFT, $y,
            WIDTH - RIGHT, $y;
    }
    push @out, text_at('', LEFT, $top - 8, $panel->{name}),
        text_at('soft end', LEFT - 8, $base + 4, '0'),
        text_at('soft end', LEFT - 8, $top + 4, $panel->{most});
    my (@curves, @dots);
    for my $i (0 .. $#values) {
        push @curves, [] if !$i || !defined $values[ $i - 1 ];
        next if !defined $values[$i];
        my $point = sprintf '%.1f,%.1f', $at->[$i],
            $base - ($most ? PANEL * $values[$i] / $most : 0);
        push @{ $curves[-1] }, $point;
        my ($x, $y) = split /,/, $point;
        push @dots, sprintf '<circle class="dot" cx="%s" cy="%s" r="%s"><title>%s</title></circle>',
            $x, $y, @values > MOST_DOTS ? 1.5 : 3, escape_xml($tips->[$i]);
    }
    for my $curve (grep { @$_ > 1 } @curves) {
        my ($from, $to) = map { s/,.*//r } @$curve[0, -1];
        push @out, qq{<polygon class="area" points="$from,$base @$curve $to,$base"/>},
            qq{<polyline class="curve" points="@$curve"/>};
    }
    return (@out, @dots);
}

# Returns the lines of the labels below the panels, without those that would overlap others; the
# first and the last label always stay.
sub draw_axis {
    my ($y, $at, $labels) = @_;
    my $last = $#$at;
    my %some = map { int($last * $_ / MOST_LABELS + 0.5) => 1 } 0 .. MOST_LABELS;
    my ($end, @out) = (0);
    for my $i ($last, sort { $a <=> $b } grep { $_ < $last } keys %some) {
        my $text = cut($labels->[$i], 40);
        my $class = !$last || $i && $i < $last ? 'middle' : $i ? 'end' : '';
        my $width = 8 * length $text;
        my $left = $at->[$i] - $width * ($class eq 'end' ? 1 : $class eq 'middle' ? 0.5 : 0);
        # The last label comes first, so that it always has room.
        next if @out && ($left < $end || $left + $width > $out[0]{left});
        $end = $left + $width + 12 if @out;
        push @out, { left => $left - 12, text => text_at("soft $class", $at->[$i], $y, $text) };
    }
    return map { $_->{text} } @out[1 .. $#out], $out[0];
}

# Returns a text of the picture at a place.
sub text_at {
    my ($class, $x, $y, $text) = @_;
    $class =~ s/\s+\z//;
    return sprintf '<text%s x="%.1f" y="%.1f">%s</text>', length $class ? qq{ class="$class"} : '',
        $x, $y, escape_xml($text);
}

# Returns a page with the picture and a table: rows of cells, the first row is the heading.
sub page {
    my ($title, $svg, @rows) = @_;
    my ($head, @body) = map { my $row = $_; sub { join '',
        map { "<$_[0]>" . escape_xml($_) . "</$_[0]>" }
        @$row } } @rows;
    return join '', map { "$_\n" } '<!DOCTYPE html>', '<html lang="en">', '<head>',
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        q{<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src }
            . q{'unsafe-inline'">},
        '<title>' . escape_xml($title) . '</title>', "<style>\n$PAGE_STYLE</style>", '</head>',
            '<body>',
        $svg =~ s/\n\z//r, '<table>', '<thead><tr>' . $head->('th') . '</tr></thead>', '<tbody>',
        map({ '<tr>' . $_->('td') . '</tr>' } @body), '</tbody>', '</table>', '</body>', '</html>';
}

# ---- text ----

# Returns text escaped for XML, with two characters replaced that XML cannot express.
sub escape_xml {
    my ($text) = shown($_[0]);
    $text =~ s/([\x{fffe}\x{ffff}])/sprintf '\\x{%x}', ord $1/ge;
    return $text =~ s/([&<>"])/'&#' . ord($1) . ';'/ger;
}

1;
