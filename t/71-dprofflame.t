# dprofflame against a naive model: what is drawn is read back. Frames of random stacks, of names
# made to hurt, of two sides; the options of flamegraph.pl; the page's data.
use strict;
use warnings;
use File::Glob ':bsd_glob';
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch slurp spew run_program tool_command run_tool in_process);
use MadeUp;
use NaiveStacks;
use Devel::DProf::Constants qw(time_words);

my $dir = scratch();
my $n = 0;
my $runs = $ENV{DPROF_RUNS} || TestEnvironment::rounds(2, 10);
srand($ENV{DPROF_SEED} // 7);

sub file { my ($text, $name) = @_; return spew($dir . '/' . ($name // ++$n . '.in'), $text) }
sub flame { return in_process('dprofflame', @_) }
sub near { my ($x, $y) = @_; return abs($x - $y) <= 1e-6 * (1 + abs $y) + 1e-9 * abs $x }
# XML has no way to write two characters that UTF-8 has.
sub in_xml {
    my ($name) = @_;
    return shown($name) =~ s/\xef\xbf([\xbe\xbf])/sprintf '\\x{ff%02x}', 0x40 + ord $1/ger;
}
sub number { my ($text) = @_; return $text =~ tr/,//dr }

# ---- a picture against the model ----

# How: of boxes_of, and delta (self, total, hue), two, reverse, inverted, height, width. Returns
# what is wrong with it.
sub wrong_picture {
    my ($svg, $tree, %how) = @_;
    my $height = $how{height} // 16;
    my $inner = ($how{image} // 1200) - 20;
    my ($boxes, $said) = boxes_of($tree, %how);
    my @got = svg_boxes($svg);
    return @got . ' frames of ' . @$boxes if @got != @$boxes;
    return 'frames that are none' if @got != (() = $svg =~ /<g class="f/g);
    my ($total) = $svg =~ / data-total="([\d.]+)"/ or return 'no total';
    my $scale = $said->{total} ? $total / $said->{total} : 1;
    my ($greatest, @changes) = (greatest($tree, $boxes, %how));
    my @above;
    for my $i (0 .. $#got) {
        my ($g, $b) = ($got[$i], $boxes->[$i]);
        my $node = $b->{node};
        my $name = in_xml($node->{name} =~ s/_\[[kwij]\]\z//r);
        my $at = "frame $i, " . substr($name, 0, 60) . ': ';
        return $at . "called $g->{title}" if index($g->{title}, "$name (") != 0;
        my $told = substr $g->{title}, length "$name (";
        return $at . "x $g->{x}, not " . $b->{x} * $scale if !near($g->{x}, $b->{x} * $scale);
        return $at . "w $g->{w}, not " . $b->{w} * $scale if !near($g->{w}, $b->{w} * $scale);
        my $depth = ($got[0]{py} - $g->{py}) / $height * ($how{inverted} ? -1 : 1);
        return $at . "at depth $depth, not $b->{depth}" if abs($depth - $b->{depth}) > 0.01;
        my $px = $said->{total} ? $inner / $said->{total} : 0;
        return $at . "pixels $g->{px} $g->{pw}, not " . (10 + $b->{x} * $px) . ' ' . $b->{w} * $px
            if abs($g->{px} - 10 - $b->{x} * $px) > 0.0501
            || abs($g->{pw} - $b->{w} * $px) > 0.1001;
        my $up = $above[ $b->{depth} - 1 ];
        return $at . 'outside of its caller'
            if $b->{depth} && ($g->{px} < $up->{px} - 0.001
                || $g->{px} + $g->{pw} > $up->{px} + $up->{pw} + 0.001);
        return $at . 'negative' if grep { $_ < 0 } @$g{qw(px py pw ph x w)};
        $above[ $b->{depth} ] = $g;
        my $why = $how{two} ? wrong_difference($g, $b, $told, $greatest, %how)
            : wrong_value($node, $told, $said, %how);
        return $at . $why if defined $why;
        push @changes, [change($b, $greatest, %how), $g->{fill}] if $how{two} && $i;
    }
    my $why = overlap(\@got, $boxes);
    return $why if defined $why;
    # darker is more, of each colour
    for my $sign (-1, 1) {
        my @dark = map {
            my ($c, @rgb) = ($_->[0], $_->[1] =~ /(\d+)/g);
            [$c * $sign, $rgb[0] + $rgb[1] + $rgb[2]]
        } grep { $_->[0] * $sign > 0 } @changes;
        @dark = sort { $a->[0] <=> $b->[0] } @dark;
        return 'a lighter colour for more'
            if grep { $dark[$_][1] > $dark[ $_ - 1 ][1] } 1 .. $#dark;
    }
    my ($hidden) = $svg =~ /<text id="hidden"[^>]*>([^<]*)</;
    my ($frames, $percent) = ($hidden // '')
        =~ /^([\d,]+)\ (?:frames?|branch|branches),\ (?:less\ than\ )?([\d.]+)\ %,\ too\ narrow\ to
            \ be\ drawn$/x;
    return 'hidden: ' . ($hidden // 'nothing said') . ", but $said->{hidden} are"
        if number($frames // 0) != $said->{hidden};
    return "hidden: $hidden, but $said->{weight} of $said->{total}"
        if $said->{hidden} && abs($percent - 100 * $said->{weight} / $said->{total}) > 0.1;
    return;
}

# Siblings, in pixels.
sub overlap {
    my ($got, $boxes) = @_;
    my %row;
    push @{ $row{ $boxes->[$_]{depth} } }, $got->[$_] for 0 .. $#$got;
    for my $depth (keys %row) {
        my @row = sort { $a->{px} <=> $b->{px} || $a->{pw} <=> $b->{pw} } @{ $row{$depth} };
        for my $i (1 .. $#row) {
            return "row $depth: $row[$i]{title} begins in the one before"
                if $row[$i]{px} < $row[ $i - 1 ]{px} + $row[ $i - 1 ]{pw} - 0.001;
        }
    }
    return;
}

# "1,234 samples, 12.34%; self 12 samples)" of one side.
sub wrong_value {
    my ($node, $told, $said, %how) = @_;
    my $word = $how{countname} // 'samples';
    my $times = $how{factor} // 1;
    my ($value, $percent, $self) =
        $told =~ /^([\d,.]+) \Q$word\E, ([\d.]+)%(?:; self ([\d,.]+) \Q$word\E)?\)\z/
        or return "told $told";
    my ($all, $own) = map { $_ / 1000 * $times } $node->{all}[0], $node->{own}[0];
    return "value $value, not $all" if abs(number($value) - $all) > ($all < 10 ? 0.000501 : 0.0501);
    return "$percent %"
        if $said->{total} && abs($percent - 100 * $node->{all}[0] / $said->{total}) > 0.00501;
    my $has = !$how{reverse} && $own > 0 && $own < $all;
    return 'self ' . ($self // 'missing') . ", not $own"
        if defined $self != !!$has
        || ($has && abs(number($self) - $own) > ($own < 10 ? 0.000501 : 0.0501));
    return;
}

# ---- two sides ----

sub greatest {
    my ($tree, $boxes, %how) = @_;
    return 0 if !$how{two};
    my $greatest = 0;
    my $total = ($how{delta} // 'self') eq 'total';
    my @all = map { $_->{node} } @$boxes;
    if ($how{reverse}) {
        @all = map { $_->{node} } grep { $_->{depth} && ($total || $_->{depth} == 1) } @$boxes;
    } else {
        @all = ();
        my @rest = $tree;
        while (my $node = shift @rest) {
            push @all, $node if !$total || $node != $tree;
            push @rest, @{ $node->{kids} };
        }
    }
    for my $node (@all) {
        my $v = $node->{ $total || $how{reverse} ? 'all' : 'own' };
        my $size = abs($v->[1] - $v->[0] * ($how{by} // 1));
        $greatest = $size if $size > $greatest;
    }
    return $greatest;
}

# From -1 to 1.
sub change {
    my ($b, $greatest, %how) = @_;
    my $node = $b->{node};
    my $by = $how{by} // 1;
    my ($own, $all) = map { abs($_->[1] - $_->[0] * $by) > 1e-11 * ($_->[1] + $_->[0] * $by)
        ? $_->[1] - $_->[0] * $by : 0 } @$node{qw(own all)};
    my $delta = $how{delta} // 'self';
    return 0 if $greatest <= 0;
    my $share = $delta eq 'hue' ? ($b->{w} > 0 ? $all / $b->{w} : 0) : $delta eq 'total'
        ? $all / $greatest : $how{reverse} ? ($b->{depth} == 1 ? $all / $greatest : 0)
        : $own / $greatest;
    return abs($share) < 0.001 ? 0 : $share > 1 ? 1 : $share < -1 ? -1 : $share;
}

sub wrong_difference {
    my ($g, $b, $told, $greatest, %how) = @_;
    my $node = $b->{node};
    my $by = $how{by} // 1;
    my $change = change($b, $greatest, %how);
    my ($before, $after) = ($node->{all}[0] * $by, $node->{all}[1]);
    my %class = map { $_ => 1 } split ' ', $g->{class};
    my %want = (f => 1, ($b->{depth} && !$before && $after ? (new => 1) : ()),
        ($b->{depth} && !$after && $before ? (gone => 1) : ()),
        ($change > 0 ? (up => 1) : ()), ($change < 0 ? (down => 1) : ()));
    return "class $g->{class}, not @{[sort keys %want]}"
        if join(' ', sort keys %class) ne join ' ', sort keys %want;
    my ($red, $green, $blue) = $g->{fill} =~ /^rgb\((\d+),(\d+),(\d+)\)\z/
        or return "fill $g->{fill}";
    return "colour $g->{fill} of $change"
        if $change > 0 ? $red <= $blue || $red <= $green : $change < 0 ? $blue <= $red
        : $red != $green || $red != $blue;
    return "label $g->{label}"
        if defined $g->{label} && length $g->{label} > 8
        && ($change > 0 ? $g->{label} !~ /^\xe2\x96\xb2 / : $change < 0
            ? $g->{label} !~ /^\xe2\x96\xbc / : $g->{label} =~ /^\xe2\x96/);
    return if $how{words};
    my ($x, $y, $sign, $d, $ratio, $share, $of) =
        $told =~ /^([\d,.]+)\ samples\ \xe2\x86\x92\ ([\d,.]+)\ samples,\ (\xe2\x88\x92|\+|)
            ([\d,.]+)\ samples(?:,\ (new|gone|\xc3\x97[\d.]+))?,\ ([\d.]+)%\ of\ the\ change,
            \ ([\d.]+)%(?=[);])/x
        or return "told $told";
    for ([$x, $before / 1000], [$y, $after / 1000], [$d, abs($after - $before) / 1000]) {
        my ($is, $wanted) = @$_;
        return "told $is, not $wanted, in $told"
            if abs(number($is) - $wanted) > ($wanted < 10 ? 0.000501 : 0.0501);
    }
    my $is_less = $after < $before - 1e-6;
    return "sign in $told" if number($d) && ($sign eq '+') == $is_less;
    $ratio //= '';
    return "ratio $ratio in $told"
        if $before > 0 && $after > 0 ? abs(($ratio =~ s/^\xc3\x97//r || 0) - $after / $before)
        > ($after / $before < 10 ? 0.00501 : 0.501)
        : $ratio ne ($before > 0 ? 'gone' : $after > 0 ? 'new' : '');
    return;
}

my %width = (after => sub { $_[1] }, before => sub { $_[0] },
    union => sub { $_[0] > $_[1] ? $_[0] : $_[1] }, change => sub { abs($_[1] - $_[0]) });

my $good = 1;
my $pictures = 0;

# One picture, drawn and read.
sub picture_ok {
    my ($what, $args, $tree, %how) = @_;
    my $run = flame(@$args);
    my $why = $run->{status} || $run->{err} ? "status $run->{status}, $run->{err}"
        : wrong_picture($run->{out}, $tree, %how);
    $why //= not_well_formed($run->{out}) || undef if !($pictures++ % 5);
    return is($why, undef, $what) || do { diag("dprofflame @$args"); $good = 0 };
}

# ---- facts 1 and 2 ----

subtest 'facts 1 and 2' => sub {
    my $file = file("main 50\nmain;child 20\nmain::run 30\n");
    my $svg = flame('--minwidth', 0, $file)->{out};
    is(join(', ', map { "$_->{title} at $_->{x}" } svg_boxes($svg)),
        '(program) (100 samples, 100.00%) at 0, main (70 samples, 70.00%; '
            . 'self 50 samples) at 0, child (20 samples, 20.00%) at 0, main::run (30 samples, '
            . '30.00%) at 70',
        'no frame is drawn twice');
    my $pairs = file("a;x 3 10\nb;x 5 0\nc 90 90\n");
    for my $width (qw(after before union)) {
        my @x = grep { $_->{title} =~ /^x / } svg_boxes(flame('--minwidth', 0, '--width', $width,
            $pairs)->{out});
        is(scalar(@x), 2, "no live frame vanishes, --width $width");
    }
    my ($svg_a) = svg_boxes(flame($pairs)->{out});
    is(scalar(grep { $_->{title} =~ /^x \(3 samples/ } svg_boxes(flame($pairs)->{out})), 1,
        '... and with the usual minwidth');
};

# ---- random stacks ----

for my $round (1 .. $runs) {
    my $text = random_folded(fractions => $round % 3 == 0,
        $round % 4 == 1 ? (names => [hurtful()]) : ());
    my ($stacks, undef, $when) = stacks_of($text);
    next if !grep { $_->[0] } values %$stacks;
    my $file = file($text);
    my $tree = sub { tree_of($stacks) };
    my @all = ('--minwidth', 0);
    picture_ok("round $round: every frame", [@all, $file], $tree->());
    picture_ok("round $round: as usual", [$file], $tree->(), least => 0.1 / 1180);
    my $px = 1 + int rand 200;
    picture_ok("round $round: --minwidth $px",
        ['--minwidth', $px, '--width', 600, '--height', 20, $file], $tree->(), least => $px / 580,
        image => 600, height => 20);
    picture_ok("round $round: --minwidth 5%", ['--minwidth', '5%', '--inverted', $file], $tree->(),
        least => 0.05, inverted => 1);
    picture_ok("round $round: --order weight", [@all, '--order', 'weight', $file], $tree->(),
        order => sub { $_[1]{w} <=> $_[0]{w} || $_[0]{name} cmp $_[1]{name} });
    picture_ok("round $round: --order weight, the narrow ones aside",
        ['--minwidth', 20, '--order', 'weight', $file], $tree->(), least => 20 / 1180,
        order => sub { $_[1]{w} <=> $_[0]{w} || $_[0]{name} cmp $_[1]{name} });
    picture_ok("round $round: --order time", [@all, '--order', 'time', $file], $tree->(),
        order => sub { $when->{ $_[0]{key} } <=> $when->{ $_[1]{key} } });
    my $back = tree_of(changed({ map { $stacks->{$_}[0] ? ($_ => $stacks->{$_}) : () }
        keys %$stacks }, sub { reverse @_ }));
    picture_ok("round $round: --reverse", [@all, '--reverse', $file], $back, reverse => 1);
    picture_ok("round $round: --reverse, narrow ones left out", ['-r', '--minwidth', 10, $file],
        $back, reverse => 1, branches => 1, least => 10 / 1180);
    picture_ok("round $round: --total", [@all, '--total', 1_000_000_000, $file], $tree->(),
        total => 1_000_000_000_000);
    is(flame($file)->{out}, flame($file)->{out}, "round $round: the same bytes again");

    # the page
    my $page = flame('--format', 'html', $file);
    my $data = eval { page_of($page->{out}) } // diag $@;
    my @model = preorder($tree->());
    my @wanted = map { [$_->{depth}, shown($_->{node}{name}), $_->{node}{own}[0]] } @model;
    is_deeply([map { [$_->{depth}, $_->{name}, $_->{self}[0] * 1000 / $_->{hz}] }
        @{ $data->{frames} }], \@wanted, "round $round: the page has all frames") or $good = 0;
    my @ranks = ranks($when, @model);
    is_deeply([map { $_->{when} } @{ $data->{frames} }], \@ranks,
        "round $round: ... and their order") or $good = 0;
    is(scalar(() = $page->{out} =~ m{</script}gi), 2, "round $round: ... and two scripts");
    last if !$good;
}

sub preorder {
    my ($node, $depth) = @_;
    no warnings 'recursion';
    $depth //= 0;
    return { node => $node, depth => $depth }, map { preorder($_, $depth + 1) } @{ $node->{kids} };
}

# Numbers of frames among their siblings, by first appearance.
sub ranks {
    my ($when, @model) = @_;
    my %rank;
    for my $node (map { $_->{node} } @model) {
        my @kids = sort { $when->{ $a->{key} } <=> $when->{ $b->{key} } } @{ $node->{kids} };
        @rank{ map { $_->{key} } @kids } = 0 .. $#kids;
    }
    return map { $_->{node}{key} eq '' ? undef : $rank{ $_->{node}{key} } } @model;
}

# ---- random differences ----

for my $round (1 .. $runs) {
    last if !$good;
    my $text = random_folded(columns => 2, fractions => $round % 3 == 0,
        $round % 4 == 1 ? (names => [hurtful()]) : ());
    my ($stacks) = stacks_of($text, 2);
    my ($x, $y) = (0, 0);
    ($x, $y) = ($x + $_->[0], $y + $_->[1]) for values %$stacks;
    next if !$x || !$y;
    my $file = file($text);
    my $tree = sub { tree_of($stacks) };
    my @all = ('--minwidth', 0);
    for my $width (sort keys %width) {
        picture_ok("sides $round: --width $width", [@all, '--width', $width, $file], $tree->(),
            two => 1, width => $width{$width});
        picture_ok("sides $round: --width $width --delta total",
            ['--width', $width, '--delta', 'total', $file], $tree->(), two => 1,
            width => $width{$width}, delta => 'total', least => 0.1 / 1180);
    }
    picture_ok("sides $round: --hue", [@all, '--hue', $file], $tree->(), two => 1,
        width => $width{change}, delta => 'hue') if grep { $_->[0] != $_->[1] } values %$stacks;
    my $turned = changed($stacks, sub { @_ });
    @$_ = reverse @$_ for values %$turned;
    picture_ok("sides $round: --negate, as flamegraph.pl has it", [@all, '--negate', $file],
        tree_of($turned), two => 1, width => $width{before});
    my $back = changed({ map { $stacks->{$_}[0] || $stacks->{$_}[1] ? ($_ => $stacks->{$_}) : () }
        keys %$stacks }, sub { reverse @_ });
    picture_ok("sides $round: --reverse, coloured where it happened", [@all, '-r', $file],
        tree_of($back), two => 1, reverse => 1, width => $width{after});
    picture_ok("sides $round: --reverse, --width union --delta total",
        [@all, '-r', '--width', 'union', '--delta', 'total', $file], tree_of(united($stacks)),
        two => 1, reverse => 1, delta => 'total', width => sub { $_[2] });
    # two files
    my @files = map {
        my $k = $_;
        file(join '', map { line_of($_, 1) . ' ' . $stacks->{$_}[$k] / 1000 . "\n" } sort
            keys %$stacks)
    } 0, 1;
    if ($round % 4 != 1) {
        picture_ok("sides $round: --diff", [@all, '--diff', @files], $tree->(), two => 1,
            width => $width{after});
        picture_ok("sides $round: --diff -n", [@all, '--diff', '-n', '--width', 'union', @files],
            $tree->(), two => 1, by => $y / $x,
            width => sub { $width{union}->($_[0] * $y / $x, $_[1]) });
        picture_ok("sides $round: -n of two columns", [@all, '-n', '--width', 'before', $file],
            $tree->(), two => 1, by => $y / $x, width => sub { $_[0] * $y / $x });
        picture_ok("sides $round: --diff --negate", [@all, '--diff', '--negate', @files], $tree->(),
            two => 1, width => $width{before});
    }
    my $data = eval { page_of(flame('--format=html', '-n', '--diff', @files)->{out}) } // diag $@;
    is_deeply([map { [$_->{depth}, $_->{name},
        map { $_ * 1000 / $data->{json}{metrics}[0]{hz} } @{ $_->{self} }] } @{ $data->{frames} }],
        [map { [$_->{depth}, shown($_->{node}{name}), @{ $_->{node}{own} }] } preorder($tree->())],
        "sides $round: the page") or $good = 0 if $round % 4 != 1;
    ok(near($data->{json}{diff}{factor}[0], $y / $x) && near($data->{json}{diff}{factor}[1], 1),
        "sides $round: ... and what makes totals equal") or diag explain $data->{json}{diff};
}

# Reversed, the width of a union is that of each stack: a third column.
sub united {
    my ($stacks) = @_;
    my %with = map {
        my ($x, $y) = @{ $stacks->{$_} };
        $x || $y ? ($_ => [$x, $y, $x > $y ? $x : $y]) : ()
    } keys %$stacks;
    return changed(\%with, sub { reverse @_ });
}

# ---- names made to hurt ----

subtest 'names made to hurt' => sub {
    my $text = join '', map { key($_) =~ s/%20/ /gr =~ s/ \z/%20/r =~ s/ (?=[\d.]+\z)/%20/r
        . " 100\n" } hurtful();
    my $file = file($text);
    my ($stacks) = stacks_of($text);
    is(scalar(keys %$stacks), scalar(my @names = hurtful()), 'all names');
    my $tree = tree_of($stacks);
    picture_ok('names made to hurt', [$file], $tree);
    my $svg = flame($file)->{out};
    is(scalar(() = $svg =~ m{<script}gi) . scalar(() = $svg =~ m{</script}gi), '11',
        '... one script');
    unlike($svg, qr/alert\(1\)<\/script|<title><\/title><script/, '... and not theirs');
    my $page = flame('--format', 'html', '--title', '</title><script>alert(1)</script>',
        $file)->{out};
    is(scalar(() = $page =~ m{</script}gi), 2, '... two on a page');
    like($page, qr{<title>&lt;/title&gt;&lt;script&gt;alert\(1\)&lt;/script&gt;</title>},
        '... whose title is text');
    is_deeply([map { $_->{name} } @{ page_of($page)->{frames} }],
        [map { shown($_->{node}{name}) } preorder($tree)], '... which has all names');
    spew("$dir/hurt.svg", $svg);
    SKIP: {
        skip 'no xmllint', 1 if !grep { -x "$_/xmllint" } split /:/, $ENV{PATH};
        is(`cd '$dir' && xmllint --huge --noout hurt.svg 2>&1`, '', 'xmllint has nothing to say');
    }
    for my $encoding (qw(UTF-8 ISO-8859-1 us-ascii)) {
        for my $args ([$file], [file("caf\xc3\xa9 3 4\nb 5 1\n\xff 0 2\n")]) {
            my $svg = flame('--encoding', $encoding, '--title', "\xc3\xa9\xe2\x82\xac",
                '--countname', "\xc2\xb5s", '--nametype', "\xe2\x86\x92", '--subtitle', "\xc3\xbc",
                '--notes', "\xc3\x9f", @$args)->{out};
            is(not_well_formed($svg), '', "--encoding $encoding");
            like($svg, qr/\A<\?xml version="1\.0" encoding="\Q$encoding\E" /, '... is said');
            unlike($svg, qr/[^\x00-\x7f]/, '... and nothing else used') if $encoding ne 'UTF-8';
        }
    }
};

# ---- what each option does ----

my $file = file("main;a 60\nmain;bb 30\nmain 10\n", 'options.folded');
sub svg {
    my $run = flame(@_, $file);
    is("$run->{status}$run->{err}", '0', "@_") or diag $run->{err};
    return $run->{out}
}
sub well {
    my (@args) = @_;
    my $svg = svg(@args);
    is(not_well_formed($svg), '', '... well formed');
    return $svg;
}
sub fills { return map { $_->{title} =~ s/ \(.*//r => $_->{fill} } svg_boxes($_[0]) }

subtest 'what each option does' => sub {
    like(svg(), qr{<text id="title"[^>]*>Flame Graph</text>}, 'the usual title');
    like(svg('--inverted'), qr{<text id="title"[^>]*>Icicle Graph</text>}, '... of an icicle');
    like(well('--title', 'A & <B> "C" \'D\''),
        qr{<text id="title"[^>]*>A &amp; &lt;B&gt; &quot;C&quot; (?:'|&apos;|&\#39;)D},
        '... is text');
    like(well('--title', "\x1b[31m\xff\xe2\x80\xae"), qr{>\\x1b\[31m\\xff\\x\{202e\}</text>},
        '... whatever is in it');
    my ($plain, $with) = map { / height="([\d.]+)" viewBox/ } svg(), well('--subtitle', '1 < 2');
    is($with - $plain, 24, '--subtitle takes two lines');
    like(svg('--subtitle', '1 < 2'), qr{<text id="subtitle"[^>]*>1 &lt; 2</text>},
        '... and is text');
    like(svg('--width', 640), qr/<svg [^>]* width="640" .* viewBox="0 0 640 /, '--width');
    my @boxes = svg_boxes(svg('--height', 30));
    is($boxes[0]{py} - $boxes[1]{py}, 30, '--height: from frame to frame');
    is($boxes[0]{ph}, 29, '... of a frame');
    is(scalar(@boxes), 4, '... which are all there');
    is(scalar(svg_boxes(svg('--minwidth', '35%'))), 3, '--minwidth of the whole');
    like(svg('--minwidth', '35%'), qr/>1 frame, 30\.0 %, too narrow to be drawn</,
        '... and what is hidden');
    like(well('--fonttype', 'Fira Code'), qr/font-family: 'Fira Code', sans-serif/, '--fonttype');
    unlike(well('--fonttype', "x'} </style><script>alert(1)</script>\\"), qr/<script>a|x'\}/,
        '... stays a string');
    like(svg('--fontsize', 20), qr/font-size: 20(?:\.0+)?px/, '--fontsize');
    my $long = file(join('', map { "x" x 40 . "$_ 10\n" } 0 .. 9));
    for ([12, 0.59], [20, 0.59], [12, 1.2]) {
        my ($size, $wide) = @$_;
        my ($box) = grep { $_->{title} =~ /^x/ }
            svg_boxes(flame('--fontsize', $size, '--fontwidth', $wide, $long)->{out});
        my $room = int(($box->{pw} - 6) / ($size * $wide));
        is(length $box->{label}, $room,
            "--fontsize $size --fontwidth $wide: a label of $room characters");
        like($box->{label}, qr/\.\.\z/, '... is cut off');
    }
    my @narrow = svg_boxes(flame('--minwidth', 0, file("a 1000\nbcdef 1\n"))->{out});
    is($narrow[2]{label}, undef, 'no label where there is no room');
    like(well('--countname', 'A&B'), qr/<title>bb \(30 A&amp;B, 30\.00%\)</, '--countname');
    like(well('--nametype', '"</script>&'), qr/ data-nametype="&quot;&lt;\/script&gt;&amp;"/,
        '--nametype');
    like(well('--notes', '<x> & -- y'), qr{<desc>&lt;x&gt; &amp; -- y</desc>}, '--notes');
    like(svg('--factor', 10), qr/<title>bb \(300 samples, 30\.00%\)</,
        '--factor: values, not shares');
    my $pairs = file("a 50 75\nb 50 25\n");
    like(flame('--factor', 10, $pairs)->{out},
        qr/<title>a\ \(500\ samples\ \xe2\x86\x92\ 750\ samples,\ \+250\ samples,\ \xc3\x971\.50,
            \ 50\.00%\ of\ the\ change/x, '--factor of a difference');
    my @wide = svg_boxes(svg('--total', 200));
    is("$wide[0]{w} $wide[1]{w}", '200 100', '--total');
    my $run = flame('--total', 20, $file);
    is($run->{err}, "dprofflame: --total 20 is less than the profile's total, and is not used\n",
        '... which is too small');
    is((svg_boxes($run->{out}))[0]{w}, 100, '... and not used');
    like(svg('-m', 'cpu', '--unit', 'ms'), qr/<title>bb \(30\.00 ms, 30\.00%\)</, '--unit');
    like(svg('--only', '^m'), qr/<title>main \(100 samples/, '--only');
    unlike(svg('--skip', 'bb'), qr/<title>bb/, '--skip');
};

subtest 'colours' => sub {
    my %is = (
        red => sub { $_[0] > $_[1] && $_[1] == $_[2] },
        green => sub { $_[1] > $_[0] && $_[0] == $_[2] },
        blue => sub { $_[2] > $_[0] && $_[0] == $_[1] },
        aqua => sub { $_[1] == $_[2] && $_[1] > $_[0] },
        yellow => sub { $_[0] == $_[1] && $_[0] > $_[2] },
        purple => sub { $_[0] == $_[2] && $_[0] > $_[1] },
        orange => sub { $_[0] > $_[1] && !$_[2] },
        hot => sub { $_[0] >= 205 && $_[1] <= 230 && $_[2] <= 55 },
        mem => sub { !$_[0] && $_[1] >= 190 },
        io => sub { $_[0] == $_[1] && $_[2] >= 190 },
        wakeup => sub { $_[1] == $_[2] && $_[1] > $_[0] },
        chain => sub { $_[2] > $_[0] && $_[0] == $_[1] },
        java => sub { 1 }, js => sub { 1 }, perl => sub { 1 }, package => sub { 1 },
    );
    my $wrong = flame('--colors', 'pink', $file);
    is($wrong->{status}, 2, '--colors pink: exit 2');
    my @known = $wrong->{err} =~ /the palettes are (.*)$/m ? split /, /, $1 : ();
    is("@known", join(' ', sort keys %is), '... and which there are');
    for my $palette (@known) {
        my $svg = svg('--colors', $palette);
        my %fill = fills($svg);
        my @bad = grep {
            my @rgb = $fill{$_} =~ /(\d+)/g;
            @rgb != 3 || grep({ $_ > 255 } @rgb) || !$is{$palette}->(@rgb)
        } grep { $_ ne '(program)' || $palette !~ /^(?:perl|package)/ } keys %fill;
        is("@bad", '', "... $palette: its colours");
        is_deeply({ fills(flame('--colors', $palette, file("x;a 3\nx;bb 9\n"))->{out}) }->{a},
            $fill{a}, '... by name, in each picture');
        isnt({ fills(svg('--colors', $palette, '--hash')) }->{bb}, undef, '... --hash');
    }
    my %java = fills(flame('--colors', 'java',
        file("java/lang/X 1\nA::b 1\nvfs_read_[k] 1\nx_[j] 1\nx_[i] 1\nmain 1\n"))->{out});
    my ($rgb) = map { my $f = $_; sub { my @c = $java{ $_[0] } =~ /(\d+)/g; join ' ', @c } } 1;
    ok($is{green}->(split ' ', $rgb->('java/lang/X')), 'java: Java is green');
    ok($is{yellow}->(split ' ', $rgb->('A::b')), '... C++ yellow');
    ok($is{orange}->(split ' ', $rgb->('vfs_read')), '... the kernel orange');
    ok($is{red}->(split ' ', $rgb->('main')), '... the rest red');
    my %pkg =
        fills(flame(file("A::B::x 1\nA::B::y 1\nC::x 1\nCORE:sort 1\nA::B::__ANON__[f:1] "
            . "1\nA::B::BEGIN 1\n"))->{out});
    is($pkg{'A::B::x'}, $pkg{'A::B::y'}, 'package: one colour for a package');
    my %kinds = map { $_ => 1 } @pkg{'A::B::x', 'C::x', 'CORE:sort', 'A::B::__ANON__[f:1]',
        'A::B::BEGIN', '(program)'};
    is(scalar(keys %kinds), 6, '... others for other packages and kinds');
    isnt({ fills(svg('--colors', 'hot')) }->{a},
        { fills(flame('--colors', 'hot', file("x;a 1\nx;cb 1\nx;bc 2\n"))->{out}) }->{bc},
        '... by more than a sum of letters');
    my %anagrams = fills(flame('--colors', 'hot', file("abc 1\ncba 1\n"))->{out});
    isnt($anagrams{abc}, $anagrams{cba}, 'anagrams differ');
    isnt(svg('--random'), svg('--random'), '--random is');
    is(svg('--hash'), svg('--hash'), '--hash is not');
    like(svg('--bgcolors', '#102030'), qr/stop-color="#102030"\/>.*stop-color="#102030"/,
        '--bgcolors: a colour');
    like(svg('--bgcolors', 'blue'), qr/stop-color="#eeeeee"\/>.*stop-color="#e0e0ff"/,
        '... a gradient');
    is(flame('--bgcolors', 'pink', $file)->{status}, 2, '... or exit 2');
};

subtest '--cp: palette.map, only when it is asked for' => sub {
    my $home = scratch();
    my $odd = file("caf\xc3\xa9;a->b 3\ncaf\xc3\xa9;\xff 4\nx%0Ay 5\n", 'odd.folded');
    my $plain = run_tool('dprofflame', [$odd], dir => $home);
    ok(!-e "$home/palette.map", 'no palette.map');
    is(run_tool('dprofflame', ['--cp', file("a 1 2\n")], dir => $home)->{status}, 0,
        '--cp of a difference');
    ok(!-e "$home/palette.map", '... leaves none');
    is(run_tool('dprofflame', ['--cp', $odd], dir => $home)->{out}, $plain->{out},
        '--cp: the first picture is as without');
    my $map = slurp("$home/palette.map") // '';
    is(join(',', map { s/->rgb\(\d+,\d+,\d+\)\z//r } split /\n/, $map),
        join(',', '(program)', 'a->b', "caf\xc3\xa9", "\xff"), '... and its colours are kept');
    spew("$home/palette.map", $map =~ s/a->b->rgb\(.*\)/a->b->rgb(1,2,3)/r
        =~ s/(caf..)->rgb\(.*\)/$1->rgb(4,5,6)/r =~ s/(\xff)->rgb\(.*\)/$1->rgb(7,8,9)/r
        . "other->rgb(9,9,9)\n");
    my %fill = fills(run_tool('dprofflame', ['--cp', $odd], dir => $home)->{out});
    is_deeply([@fill{'a->b', "caf\xc3\xa9", '\xff'}], ['rgb(1,2,3)', 'rgb(4,5,6)', 'rgb(7,8,9)'],
        '... the next picture has them');
    like(slurp("$home/palette.map"), qr/^a->b->rgb\(1,2,3\)\n.*^other->rgb\(9,9,9\)\n/ms,
        '... and so do those after it');
    is(scalar(() = slurp("$home/palette.map") =~ /^caf/mg), 1, '... once');
    is(run_tool('dprofflame', ['--cp', '--random', $odd], dir => $home)->{err}, '',
        '... and it can be read again');
    spew("$home/palette.map", "rubbish\n");
    my $run = run_tool('dprofflame', ['--cp', $odd], dir => $home);
    like("$run->{status} $run->{err}", qr/^2 --cp: palette\.map, line 1: /, 'a map that is none');
    is(join(' ', sort map { s{.*/}{}r } glob "$home/*"), 'palette.map', 'nothing else is left');
};

subtest '--nameattr' => sub {
    my $attributes =
        file("a\tid=x&y\tclass=mine\thref=http://x/?a=1&b=2\ttarget=_blank\r\nbb\ttitle=a "
            . "<title>\nmain\tg_extra=data-q=\"1\"\nmissing\thref=x\n\n");
    my $svg = well('--nameattr', $attributes);
    my %box = map { $_->{title} => $_ } svg_boxes($svg);
    like($svg,
        qr{<a\ xlink:href="http://x/\?a=1&amp;b=2"\ target="_blank"><g\ class="f\ mine"
            \ id="x&amp;y"\ data-x=.*<title>a\ \(60}x, '--nameattr: link, id, class');
    ok($box{'a <title>'}, '... title');
    like($svg, qr/<g class="f" data-q="1" data-x="0" data-w="100"><title>main/,
        '... anything else');
    is(scalar(() = $svg =~ /<a /g), 1, '... one link');
    my $run = flame('--nameattr', file("a\tb\n"), $file);
    like("$run->{status} $run->{err}", qr/^2 --nameattr .*, line 1: /, '... a line that is none');
    is(flame('--nameattr', "$dir/missing", $file)->{status}, 2, '... no such file');
};

subtest '-m A,B; a profile; metrics of a page' => sub {
    my @tree = ([1, 3], [2, 1], [3, 2], [1, 6], [2, 4], [2, 5]);        # depth, sub
    my (%stacks, @path, @lines);
    for (@tree) {
        my ($depth, $sub) = @$_;
        splice @path, $depth - 1;
        push @path, "P::s$sub";
        my ($ops, $miss) = (1 + $sub % 5, 9 - $sub);
        $stacks{ key(@path) } = [1000 * $ops, 1000 * $miss];
        push @lines, "= $depth $sub $sub $sub 0 $sub 0 0 $ops $miss";
    }
    my $profile = file(profile_text(format => 'tree', hz => 1000,
        counters => 'ops:ops miss:events', times => [21, 0, 21], complete => 1,
        subs => [map { "P s$_ lib/P.pm:${_}0" } 1 .. 6],
        lines => ['= 0 0 1 0 0 0 0 0 0 0', @lines]));
    is(flame('--minwidth', 0, '-m', 'ops', $profile)->{err}, '', 'a profile');
    # what is compared is the share of each
    my ($all, $missed) = (0, 0);
    $all += $_->[0], $missed += $_->[1] for values %stacks;
    my $by = $missed / $all;
    picture_ok('-m A,B: two counters of one profile', ['--minwidth', 0, '-m', 'ops,miss', $profile],
        tree_of(\%stacks), two => 1, by => $by, width => $width{after}, words => 1);
    picture_ok('... with the difference of both',
        ['--minwidth', 0, '-m', 'ops,miss', '--hue', $profile], tree_of(\%stacks),
        two => 1, by => $by,
        width => sub { abs($_[1] - $_[0] * $by) }, delta => 'hue', words => 1);
    my ($told) = flame('-m', 'ops,miss', $profile)->{out} =~ m{<title>P::s3 \(([^<]*)\)</title>};
    like($told, qr/^\d+ ops [\d.]+%, \d+ miss [\d.]+%, \xc3\x97[\d.]+(?:; self .*)?\z/,
        '... each as it is, and its share');
    like(flame('-m', 'ops,miss', $profile)->{out},
        qr{<text id="title"[^>]*>miss against ops</text>}, '... and a title');
    picture_ok('-m of one', ['--minwidth', 0, '-m', 'miss', '--countname', 'misses', $profile],
        tree_of({ map { $_ => [$stacks{$_}[1]] } keys %stacks }), countname => 'misses');
    my $page = flame('--format', 'html', '-m', 'ops', $profile);
    my $json = page_of($page->{out})->{json};
    my @times = grep { $_ ne 'system' } time_words();
    is(join(' ', map { $_->{key} } @{ $json->{metrics} }), "ops @times calls miss",
        'a page has all metrics that are anything') or diag explain $json->{metrics};
    is_deeply([map { $_->{self}[0] } @{ page_of($page->{out})->{frames} }],
        [map { $_->{node}{own}[0] / 1000 }
            preorder(tree_of({ map { $_ => [$stacks{$_}[0]] } keys %stacks }))],
                '... and their values');
    is($json->{files}[0], 'lib/P.pm', '... files');
    is_deeply([map { $json->{names}[$_] =~ /^P::s(\d)/ ? $json->{places}[$_][1] / 10 - $1
        : ref $json->{places}[$_] } 0 .. $#{ $json->{names} }], [(0) x 0, '', (0) x 6], '... lines')
        or diag explain $json->{places};
    is_deeply([map { $_->{hz} } @{ $json->{metrics} }], [1, (1000) x @times, 1, 1],
        '... units');
    like(flame($profile)->{out}, qr/<title>P::s3 \([\d.]+ ms, /, 'times have units');
    my @said = map {
        my $run = flame(@$_, $profile);
        "$run->{status} $run->{err}"
    } ['-m', 'ops,miss,cpu'], ['-m', 'ops,'], ['-m', 'nothing'], ['-m', 'ops,nothing'];
    like(shift @said, qr/^2 .*must be one metric, or two/, '-m of three');
    like(shift @said, qr/^2 /, '-m of one and a comma');
    like($_, qr/^1 nothing: no side has it/, '-m of none') for @said;
};

# ---- where it goes; what is wrong ----

{
    my $home = scratch();
    for (['x.svg', qr/\A<\?xml/], ['x.html', qr/\A<!DOCTYPE html>/],
        ['x.HTM', qr/\A<!DOCTYPE html>/], ['x', qr/\A<\?xml/]) {
        my ($name, $begins) = @$_;
        is(run_tool('dprofflame', ['-o', $name, $file], dir => $home)->{status}, 0, "-o $name");
        like(slurp("$home/$name"), $begins, '... in that format');
    }
    my $kept = slurp("$home/x.svg");
    is(run_tool('dprofflame', ['-o', 'x.svg', "$dir/missing"], dir => $home)->{status}, 1,
        '-o of nothing');
    is(slurp("$home/x.svg"), $kept, '... leaves what was there');
    my $small = run_program(['/bin/sh', '-c', "trap '' XFSZ; ulimit -f 4; exec \"\$@\"", 'sh',
        tool_command('dprofflame', '-o', 'x.svg', $file)], dir => $home);
    like("$small->{status} $small->{err}", qr/^1 dprofflame: the report could not be written: /,
        'no room for all of it');
    is(slurp("$home/x.svg"), $kept, '... leaves what was there, too');
    is(join(' ', sort map { s{.*/}{}r } glob "$home/*"), 'x x.HTM x.html x.svg',
        '... and nothing else');
    like(run_tool('dprofflame', ['-o', '/dev/full', $file])->{err},
        qr/could not be written: No space left/, 'a full disk') if -e '/dev/full';
    is(run_tool('dprofflame', ['-o', 'no/such/x.svg', $file], dir => $home)->{status}, 1,
        'no such folder');
    is(run_tool('dprofflame', [], stdin => $file)->{out}, flame('--subtitle', '', $file)->{out},
        'from standard input');
    my $run = flame(file("a 0\n"));
    is("$run->{status} $run->{err}", "1 dprofflame: there is nothing to draw\n", 'nothing to draw');
    is(not_well_formed($run->{out}), '', '... is a picture, too');
    $run = flame(file("a;b 5\nrubbish\nc 5\n"));
    is($run->{status}, 1, 'a bad line: exit 1');
    like($run->{err}, qr/no count at the end of the line: rubbish \(line 2, byte 6\)\n\z/,
        '... it is named');
    is(scalar(svg_boxes($run->{out})), 4, '... and the others are drawn');
    my $deep = file(join(';', ('f') x 2000) . " 5\n");
    $run = flame('--minwidth', 0, $deep);
    is(scalar(svg_boxes($run->{out})), 1001, 'deep recursion');
    is($run->{err}, "dprofflame: 1000 calls in a recursion of more than 1,000 frames are counted "
        . "with the last of these\n", '... is said');
    is(scalar(svg_boxes(flame('--fold-recursion', $deep)->{out})), 2, '--fold-recursion');
    is(flame('--diff', $file, $file)->{status}, 0, 'the same twice');
    is(scalar(grep { $_->{class} ne 'f' } svg_boxes(flame('--diff', $file, $file)->{out})), 0,
        '... is no difference');
}
for ([['--bogus'], 'Unknown option'], [['--width', 50], 'more than 100'],
    [['--width', 'x'], 'number of pixels'], [['--width', 'union'], 'two sides'],
    [['--height', 0], 'positive'], [['--minwidth', 'x'], 'pixels, or of percent'],
    [['--fontsize', -1], 'positive'], [['--fontwidth', 0], 'positive'],
    [['--factor', 0], 'positive'], [['--total', -5], 'positive'],
    [['--encoding', 'UTF-16'], 'encoding'], [['--encoding', '"x'], 'encoding'],
    [['--order', 'x'], 'name, time, weight'], [['--delta', 'x', '--diff', $file], 'self, total'],
    [['--delta', 'self'], 'two sides'], [['--hue'], 'two sides'], [['-n'], 'two sides'],
    [['--negate', '-n'], 'two sides'],
    [['--view', 'pair', '--format', 'svg'], 'needs a page'],
    [['--view', 'x'], 'graph, pair, triple'], [['--format', 'png'], 'svg or html'],
    [['--only', '('], 'not a regular'], [['--diff', $file, $file], 'two sides'],
    [['--time', 'x'], '--time'],
    [['--flamechart', '--reverse'], 'flamechart']) {
    my ($args, $said) = @$_;
    my $run = flame(@$args, $file);
    is("$run->{status}$run->{out}", 2, "@$args: exit 2" =~ s/\Q$dir\E//gr);
    like($run->{err}, qr/\Q$said\E.*\nTry 'dprofflame -h' for help\.\n\z/, '... and why');
}
like(flame('-h')->{out}, qr/^dprofflame .*--nameattr/s, '-h');

# ---- what a reviewer found ----

subtest 'what a reviewer found' => sub {
    my $plain = file("a;b 3\na 5\n");
    my $one = flame('-subtitle', 'one dash', $plain);
    like($one->{out}, qr/>one dash</, 'long options with one dash, as flamegraph.pl takes them');
    unlike(flame('--subtitle=', $plain)->{out}, qr/id="subtitle"/, 'an empty subtitle');
    for (['href=javascript:alert(1)',
        qr/line 1: href=javascript:alert\(1\): an address begins with/],
        ['onclick=x', qr/line 1: onclick is not one of id, class/]) {
        my ($field, $why) = @$_;
        my $bad = flame('--nameattr', file("a\t$field\n"), $plain);
        is($bad->{status}, 2, "--nameattr $field: status");
        like($bad->{err}, $why, '... and why');
    }
    like(flame('--nameattr', file("a\ttitle=<b>\thref=/x?y:z\n"), $plain)->{out},
        qr{<g class="f" data-name="a"[^>]*><title>&lt;b&gt;</title>},
        'a title of its own: the name stands beside it');
    for my $name (qw(kept.svg kept.html)) {
        my $kept = spew(scratch() . "/$name", 'precious');
        my $nothing = flame('-o', $kept, file("a 0\n"));
        is($nothing->{status} . slurp($kept), '1precious',
            "$name: a picture of nothing takes no place");
    }
    like(flame('--only', 'nosuchname', $plain)->{err}, qr/no frame is left after --only/,
        'no frame is left: said');
    like(flame('--format', 'html', '--total', 100, $plain)->{err},
        qr/--total: for a picture, not for a page/, '--total of a page: said');
    my $json = page_of(flame('--format', 'html', '--factor', 4, '--countname', 'ticks',
        $plain)->{out})->{json};
    is_deeply([@{ $json->{metrics}[0] }{qw(unit hz)}], ['ticks', 0.25],
        '--factor and --countname of a page');
    is(flame('--alpha', 2, '--diff', $plain, $plain)->{status}, 2, '--alpha is below 1');
    my $trace = file("a;b 3\na 5\na;b 2\nc 4\na;b 1\n");
    my @boxes = flame('--flamechart', '--minwidth', 0,
        $trace)->{out} =~ /data-x="(\d+)" data-w="(\d+)"><title>([^ ]+) /g;
    is("@boxes", '0 15 (program) 0 10 a 0 3 b 8 2 b 10 4 c 14 1 a 14 1 b',
        '--flamechart: stretches where they lie');
};

done_testing;
