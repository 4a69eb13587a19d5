# dprofflame agrees with a naive model: the picture is read back. Frames of random stacks, of
# difficult names, of two sides; the options of flamegraph.pl; the page's data.
use strict;
use warnings;
use File::Glob ':bsd_glob';
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch slurp spew run_program built_perl tool_command run_tool in_process);
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
# XML cannot write two characters that UTF-8 has.
sub in_xml {
    my ($name) = @_;
    return shown($name) =~ s/\xef\xbf([\xbe\xbf])/sprintf '\\x{ff%02x}', 0x40 + ord $1/ger;
}
sub number { my ($text) = @_; return $text =~ tr/,//dr }

# ---- a picture against the model ----

# Takes the options of boxes_of, and delta (self, total, hue), two, reverse, inverted, height,
# width. Returns what is wrong with the picture.
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
        my $name = in_xml(plain($node->{name}));
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
        my $why = $how{two} ? wrong_difference($g, $b, $told, $greatest,
            root => $boxes->[0]{node}, %how)
            : wrong_value($node, $told, $said, %how);
        return $at . $why if defined $why;
        push @changes, [change($b, $greatest, %how), $g->{fill}] if $how{two} && $i;
    }
    my $why = overlap(\@got, $boxes);
    return $why if defined $why;
    # A darker colour means more, in each hue.
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

# Checks siblings for overlap, in pixels.
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

# Checks "1,234 samples, 12.34%; self 12 samples)" of one side.
sub wrong_value {
    my ($node, $told, $said, %how) = @_;
    my $word = $how{countname} // 'samples';
    my $times = $how{factor} // 1;
    my $one = $word =~ s/s\z//r;
    my ($value, $percent, $self) =
        $told =~ /^([\d,.]+)[ ](?:\Q$word\E|(?<=^1[ ])\Q$one\E),[ ]([\d.]+)%
            (?:;[ ]self[ ]([\d,.]+)[ ](?:\Q$word\E|(?<=[ ]1[ ])\Q$one\E))?\)\z/x
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

# Returns the change, from -1 to 1.
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
    return abs($share) < 0.01 ? 0 : $share > 1 ? 1 : $share < -1 ? -1 : $share;
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
    my ($x, $y, $sign, $d, $ratio, $share, $of_before, $of_after) =
        $told =~ /^([\d,.]+)\ samples?\ \xe2\x86\x92\ ([\d,.]+)\ samples?,\ (\xe2\x88\x92|\+|)
            ([\d,.]+)\ samples?(?:,\ (new|gone|\xc3\x97[\d.]+))?,\ ([\d.]+)%\ of\ the\ change
            (?:,\ ([\d.]+)%\ of\ before)?(?:(?:,|\ \xe2\x86\x92)\ ([\d.]+)%\ of\ after)?(?=[);])/x
        or return "told $told";
    for ([$x, $before / 1000], [$y, $after / 1000], [$d, abs($after - $before) / 1000]) {
        my ($is, $wanted) = @$_;
        return "told $is, not $wanted, in $told"
            if abs(number($is) - $wanted) > ($wanted < 10 ? 0.000501 : 0.0501);
    }
    for ([$of_before, $before, $how{root}{all}[0] * $by, 'before'],
        [$of_after, $after, $how{root}{all}[1], 'after']) {
        my ($is, $part, $whole, $name) = @$_;
        return "no share of $name in $told" if defined $is != ($part > 0);
        return "$is % of $name, not $part of $whole"
            if defined $is && abs($is - 100 * $part / $whole) > 0.00501;
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

# Draws one picture and reads it.
sub picture_ok {
    my ($what, $args, $tree, %how) = @_;
    my $run = flame(@$args);
    my $why = $run->{status} || $run->{err} ? "status $run->{status}, $run->{err}"
        : wrong_picture($run->{out}, $tree, %how);
    $why //= not_well_formed($run->{out}) || undef if !($pictures++ % 5);
    return is($why, undef, $what) || do { diag("dprofflame @$args"); $good = 0 };
}

# ---- no frame twice, none lost ----

# Without what some profilers add to names.
sub plain {
    my ($name) = @_;
    return $name =~ s/_\[[kwij]\]\z//r =~ s/\A +\z/(blank)/r;
}

# Returns what a page calls these names: those that only their marks tell apart keep them.
sub told_apart {
    my %names = map { $_ => plain($_) } @_;
    my %times;
    $times{$_}++ for values %names;
    return map { $_ => $times{ $names{$_} } > 1 ? $_ : $names{$_} } keys %names;
}

subtest 'Sides without samples, names of blanks and single samples are drawn' => sub {
    my ($full, $none) = (file("a;b 3\nc 4\n"), file("# nothing\n"));
    for my $case (['after', 'before', $full, $none], ['before', 'after', $none, $full]) {
        my ($width, $other, @sides) = @$case;
        my $run = flame('--width', $width, '--diff', @sides);
        is($run->{status}, 1, "dprofflame --width $width fails if that side has nothing");
        is($run->{err}, "dprofflame: there is nothing to draw: $none has nothing; --width $other "
            . "or --width union draws what the other side has\n",
                "dprofflame --width $width names the option that draws the other side");
        is(scalar(svg_boxes(flame('--width', 'union', '--diff', @sides)->{out})), 4,
            '--width union draws the side that has samples');
    }
    is(join(', ', map { $_->{title} } svg_boxes(flame(file("a;   ;b 1\n"))->{out})),
        '(program) (1 sample, 100.00%), a (1 sample, 100.00%), (blank) (1 sample, 100.00%), '
            . 'b (1 sample, 100.00%)',
                'a name of blanks is shown as (blank), and one sample is singular');
    my $page = page_of(flame('--format', 'html', file("foo 1\nfoo_[i] 2\nbar_[k] 3\n"))->{out});
    is(join(', ', map { $_->{name} } @{ $page->{frames} }), '(program), bar, foo, foo_[i]',
        'a name loses its marks unless they tell subs apart');
    like(flame('--countname', 'cache-misses', file("a 1\n"))->{out}, qr/\(1 cache-miss, /,
        'one cache miss is singular');
};

subtest 'A legend explains the colours' => sub {
    my $file = file("main::a 1\nmain::a;main::b 2\n");
    unlike(flame($file)->{out}, qr/id="legend"/, 'a picture of one kind has no legend');
    my $kinds = flame(file("main::a 1\nCORE::match 2\nmain::__ANON__[a.pl:3] 2\n"))->{out};
    is(join(', ', ($kinds =~ m{<g id="legend">(.*?)</g>})[0] =~ m{">([^<]+)</text>}g),
        'Perl sub, builtin, anonymous, hue: by package',
            'the legend of one side lists the kinds that are drawn');
    unlike(flame('--colors', 'hot', file("main::a 1\nCORE::match 2\n"))->{out},
        qr/id="legend"/, 'palettes that do not show kinds have no legend');
    like(flame('--countname', 'calls', '--diff', file("a 3\nb 10\n"),
        file("a 1\nb 17\n"))->{out},
        qr/id="sides"[^>]*>\x{e2}\x{88}\x{92}7\ calls\ \x{e2}\x{80}\x{a6}\ \+7\ calls,\ a\ step\ is
            \ \+1\.750\ calls;\ red:\ more/x,
        'the legend of two sides has the greatest differences as numbers');
    like(flame('--format', 'html', file("a 3\n", 'mine.folded'))->{out},
        qr{<title>\S*mine\.folded</title>}, "a page's title is the profile's name");
    my $forge = 'https://forge.example/me/repo/{file}#L{line}';
    like(flame('--format', 'html', '--source-url', $_, file("a 3\n"))->{err},
        qr/^--source-url \Q$_\E: must be like https:/, "$_ is no address of a forge")
        for 'javascript:alert(1)//{file}', 'https://forge.example/', 'https://x/{file}" y';
    is(flame('--format', 'html', '--source-url', $forge, file("a 3\n"))->{err}, '',
        'a page takes the address of a forge');
    like(flame('--format', 'html', '--title', 'Mine', file("a 3\n"))->{out},
        qr{<title>Mine</title>}, "a page's title is that of --title");
};

subtest 'The page of a trace has a time line' => sub {
    my $program = file(<<'END', 'program.pl');
use strict; use warnings;
sub leaf { my $x = 0; $x += $_ for 1 .. 20; return $x }
sub inner { leaf() for 1 .. 3; die if $_[0] > 8; return }
sub outer { my $n = shift; eval { inner($n); 1 } or leaf(); goto &leaf if $n == 4; return }
my @sorted = sort { leaf() <=> 0 || $a <=> $b } 3, 1, 2;
outer($_) for 1 .. 10;
if (my $pid = fork) { waitpid $pid, 0 } else { outer($_) for 1 .. 4 }
END
    my $run = run_program([built_perl(), "-d:DProf=out=$dir/times.out", $program]);
    is($run->{status}, 0, 'dprof records a program that forks') or diag $run->{err};
    my @files = ("$dir/times.out", bsd_glob("$dir/times.out.*"));
    is(scalar(@files), 2, 'the program and its child leave two files');
    my $html = flame('--format', 'html', '-m', 'cpu', @files)->{out};
    my $page = page_of($html);
    my @lanes = eval { times_of($html) };
    is($@, '', "the page's time line can be read");
    is(scalar(@lanes), 2, 'each process is a lane of the time line');
    my %column = map { $page->{json}{metrics}[$_]{key} => $_ } 0 .. $#{ $page->{json}{metrics} };
    my $wrong = '';
    for my $n (0 .. $#{ $page->{frames} }) {
        my @wanted = map { $page->{frames}[$n]{self}[ $column{$_} ] } qw(real cpu calls);
        my @got = map { my $k = $_; my $sum = 0; $sum += $_->{sums}{$n}[$k] // 0 for @lanes; $sum }
            0 .. 2;
        # the whole program is not called
        $wrong .= "$n $page->{frames}[$n]{name}: @got for @wanted\n"
            if $got[0] != $wanted[0] || $got[1] != $wanted[1] || ($n && $got[2] != $wanted[2]);
    }
    is($wrong, '', "each frame's intervals add up to its elapsed time, processor time and calls");
    is($lanes[0]{facts}{marks}[0][1], 'BEGIN', 'the time line marks phases');
    ok($lanes[1]{facts}{start} > 0, "a child's lane begins at the fork");
    unlike(flame('--format', 'html', '--no-timeline', @files)->{out}, qr/id="dprof-times/,
        '--no-timeline leaves the time line out');
    unlike(flame('--format', 'html', '--main', @files)->{out}, qr/id="dprof-times/,
        'a page of a part of the trace has no time line');
};

# Returns the ops of stacks, of lines of folded text.
sub ops_of {
    my ($text) = @_;
    return { map { /^(.*) (\d+)\z/ ? ($1 => $2) : () } split /\n/, $text };
}

# Returns those of a page's frames that $keep takes, without the frames of processes and phases.
sub ops_of_page {
    my ($page, $keep) = @_;
    my ($json, $frames) = @$page{qw(json frames)};
    my %lane = map { $_ => 1 } @{ $json->{parts} },
        map { $json->{names}[$_] } grep { $json->{kinds}[$_] == 7 } 0 .. $#{ $json->{kinds} };
    my (@path, @lanes, %ops);
    for my $i (0 .. $#$frames) {
        my ($name, $up) = @{ $frames->[$i] }{qw(name parent)};
        my @above = defined $up ? @{ $path[$up] } : ();
        $lanes[$i] = [defined $up ? @{ $lanes[$up] } : (), $lane{$name} ? $name : ()];
        $path[$i] = [@above, $lane{$name} || !defined $up ? () : $name];
        next if !$keep->(@{ $lanes[$i] }) || !$frames->[$i]{self}[0];
        $ops{ join(';', @{ $path[$i] }) || '(program)' } += $frames->[$i]{self}[0];
    }
    return \%ops;
}

subtest 'The page offers processes and phases to choose from' => sub {
    my $program = file(<<'END', 'lanes.pl');
use strict; use warnings; use Devel::DProf::Control qw(mark);
sub leaf { my $x = 0; $x += $_ for 1 .. $_[0]; return $x }
sub load { leaf(20) for 1 .. 3; return }
mark('load'); load(); mark('work'); leaf(7);
if (my $pid = fork) { waitpid $pid, 0 } else { mark('child'); leaf(30); load() }
END
    my $run = run_program([built_perl(), "-d:DProf=tree,out=$dir/lanes.out", $program]);
    is($run->{status}, 0, 'dprof records a program of two processes as trees') or diag $run->{err};
    my @files = ("$dir/lanes.out", bsd_glob("$dir/lanes.out.*"));
    my $page = eval { page_of(flame('--format', 'html', '-m', 'ops', @files)->{out}) }
        // return fail("the page can be read: $@");
    my @parts = @{ $page->{json}{parts} };
    my ($pid) = $files[1] =~ /(\d+)\z/;
    is_deeply([sort map { /^(\d+ )/ ? $1 eq "$pid " : $_ } @parts], ['', 1],
        'the page names each process by its number');
    my $fold = sub { ops_of(in_process('dproffold', '-m', 'ops', @_)->{out}) };
    is_deeply(ops_of_page($page, sub { 1 }), $fold->(@files),
        'the page has the ops of both processes that dproffold prints');
    my ($child) = grep { /^$pid / } @parts;
    is_deeply(ops_of_page($page, sub { grep { $_ eq $child } @_ }), $fold->($files[1]),
        "the page has the child's ops that dproffold prints");
    is_deeply([sort grep { !/BEGIN/ } keys %{ ops_of_page($page, sub { "@_" =~ /child/ }) }],
        ['(program)', 'main::leaf', 'main::load', 'main::load;main::leaf'],
        'the page can show what ran in one phase');
    my $program_left_out = page_of(
        flame('--format', 'html', '-m', 'ops', '--skip', '^\(program\)\z', @files)->{out});
    ok(!exists ops_of_page($program_left_out, sub { 1 })->{'(program)'},
        'a page without the program has no row for ops outside of all subs');
    my $filtered = page_of(flame('--format', 'html', '-m', 'ops', '--only', 'leaf', @files)->{out});
    is_deeply(ops_of_page($filtered, sub { 1 }), $fold->('--only', 'leaf', @files),
        'a page of --only has the ops that dproffold --only prints');
    ok(ops_of_page($filtered, sub { "@_" =~ /child/ })->{'main::leaf'},
        'a page of --only keeps the phases');
    my $alone = page_of(flame('--format', 'html', '-m', 'ops', $files[0])->{out});
    is(scalar @{ $alone->{json}{parts} }, 0, 'a page of one process offers no choice');
    my $plain = file("sub f { 1 }\nf() for 1 .. 3;\n", 'plain.pl');
    run_program([built_perl(), "-d:DProf=tree,out=$dir/plain.out", $plain]);
    my $unmarked = page_of(flame('--format', 'html', '-m', 'ops', "$dir/plain.out")->{out});
    ok(!(grep { $_ == 7 } @{ $unmarked->{json}{kinds} }),
        'a page of a program without phases has no frames of phases');
};

subtest 'Every stack is one frame' => sub {
    my $file = file("main 50\nmain;child 20\nmain::run 30\n");
    my $svg = flame('--minwidth', 0, $file)->{out};
    is(join(', ', map { "$_->{title} at $_->{x}" } svg_boxes($svg)),
        '(program) (100 samples, 100.00%) at 0, main (70 samples, 70.00%; '
            . 'self 50 samples) at 0, child (20 samples, 20.00%) at 0, main::run (30 samples, '
            . '30.00%) at 70',
        'the picture draws each frame once');
    my $pairs = file("a;x 3 10\nb;x 5 0\nc 90 90\n");
    for my $width (qw(after before union)) {
        my @x = grep { $_->{title} =~ /^x / } svg_boxes(flame('--minwidth', 0, '--width', $width,
            $pairs)->{out});
        is(scalar(@x), 2, "--width $width draws a frame that one side lacks");
    }
    my ($svg_a) = svg_boxes(flame($pairs)->{out});
    is(scalar(grep { $_->{title} =~ /^x \(3 samples/ } svg_boxes(flame($pairs)->{out})), 1,
        'the default --minwidth draws a frame that one side lacks');
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
    picture_ok("round $round: the picture has every frame", [@all, $file], $tree->());
    picture_ok(
        "round $round: the picture is right by default", [$file], $tree->(), least => 0.1 / 1180);
    my $px = 1 + int rand 200;
    picture_ok("round $round: --minwidth $px leaves out narrow frames",
        ['--minwidth', $px, '--width', 600, '--height', 20, $file], $tree->(), least => $px / 580,
        image => 600, height => 20);
    picture_ok(
        "round $round: --minwidth 5% leaves out narrow frames",
            ['--minwidth', '5%', '--inverted', $file], $tree->(),
        least => 0.05, inverted => 1);
    picture_ok(
        "round $round: --order weight sorts frames by weight",
            [@all, '--order', 'weight', $file], $tree->(),
        order => sub { $_[1]{w} <=> $_[0]{w} || $_[0]{name} cmp $_[1]{name} });
    picture_ok("round $round: --order weight sorts wide frames by weight",
        ['--minwidth', 20, '--order', 'weight', $file], $tree->(), least => 20 / 1180,
        order => sub { $_[1]{w} <=> $_[0]{w} || $_[0]{name} cmp $_[1]{name} });
    picture_ok(
        "round $round: --order time sorts frames by time",
            [@all, '--order', 'time', $file], $tree->(),
        order => sub { $when->{ $_[0]{key} } <=> $when->{ $_[1]{key} } });
    my $back = tree_of(changed({ map { $stacks->{$_}[0] ? ($_ => $stacks->{$_}) : () }
        keys %$stacks }, sub { reverse @_ }));
    picture_ok(
        "round $round: --reverse reverses the stacks",
            [@all, '--reverse', $file], $back, reverse => 1);
    picture_ok("round $round: --reverse leaves out narrow frames", ['-r', '--minwidth', 10, $file],
        $back, reverse => 1, branches => 1, least => 10 / 1180);
    picture_ok(
        "round $round: --total widens the root", [@all, '--total', 1_000_000_000, $file], $tree->(),
        total => 1_000_000_000_000);
    is(flame($file)->{out}, flame($file)->{out},
        "round $round: the same input gives the same bytes");

    # The page has the same frames.
    my $page = flame('--format', 'html', $file);
    my $data = eval { page_of($page->{out}) } // diag $@;
    my @model = preorder($tree->());
    my %told = told_apart(map { $_->{node}{name} } @model);
    my @wanted = map { [$_->{depth}, shown($told{ $_->{node}{name} }), $_->{node}{own}[0]] } @model;
    is_deeply([map { [$_->{depth}, $_->{name}, $_->{self}[0] * 1000 / $_->{hz}] }
        @{ $data->{frames} }], \@wanted, "round $round: the page has all frames") or $good = 0;
    my @ranks = ranks($when, @model);
    is_deeply([map { $_->{when} } @{ $data->{frames} }], \@ranks,
        "round $round: the page has the order of frames") or $good = 0;
    is(scalar(() = $page->{out} =~ m{</script}gi), 2, "round $round: the page has two scripts");
    last if !$good;
}

sub preorder {
    my ($node, $depth) = @_;
    no warnings 'recursion';
    $depth //= 0;
    return { node => $node, depth => $depth }, map { preorder($_, $depth + 1) } @{ $node->{kids} };
}

# Numbers frames among their siblings by first appearance.
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
        picture_ok(
            "sides $round: --width $width sets the widths",
                [@all, '--width', $width, $file], $tree->(),
            two => 1, width => $width{$width});
        picture_ok("sides $round: --width $width --delta total sets widths and colours",
            ['--width', $width, '--delta', 'total', $file], $tree->(), two => 1,
            width => $width{$width}, delta => 'total', least => 0.1 / 1180);
    }
    picture_ok(
        "sides $round: --hue draws the difference as hues",
            [@all, '--hue', $file], $tree->(), two => 1,
        width => $width{change}, delta => 'hue') if grep { $_->[0] != $_->[1] } values %$stacks;
    my $turned = changed($stacks, sub { @_ });
    @$_ = reverse @$_ for values %$turned;
    picture_ok("sides $round: --negate draws what flamegraph.pl draws", [@all, '--negate', $file],
        tree_of($turned), two => 1, width => $width{before});
    my $back = changed({ map { $stacks->{$_}[0] || $stacks->{$_}[1] ? ($_ => $stacks->{$_}) : () }
        keys %$stacks }, sub { reverse @_ });
    picture_ok(
        "sides $round: --reverse colours frames by the change of their stacks", [@all, '-r', $file],
        tree_of($back), two => 1, reverse => 1, width => $width{after});
    picture_ok("sides $round: --reverse, --width union and --delta total go together",
        [@all, '-r', '--width', 'union', '--delta', 'total', $file], tree_of(united($stacks)),
        two => 1, reverse => 1, delta => 'total', width => sub { $_[2] });
    # The two sides are files of their own.
    my @files = map {
        my $k = $_;
        file(join '', map { line_of($_, 1) . ' ' . $stacks->{$_}[$k] / 1000 . "\n" } sort
            keys %$stacks)
    } 0, 1;
    if ($round % 4 != 1) {
        picture_ok(
            "sides $round: --diff compares two files",
                [@all, '--diff', @files], $tree->(), two => 1,
            width => $width{after});
        picture_ok(
            "sides $round: --diff -n scales one side",
                [@all, '--diff', '-n', '--width', 'union', @files],
            $tree->(), two => 1, by => $y / $x,
            width => sub { $width{union}->($_[0] * $y / $x, $_[1]) });
        picture_ok("sides $round: -n scales two columns", [@all, '-n', '--width', 'before', $file],
            $tree->(), two => 1, by => $y / $x, width => sub { $_[0] * $y / $x });
        picture_ok(
            "sides $round: --diff --negate exchanges the colours",
                [@all, '--diff', '--negate', @files], $tree->(),
            two => 1, width => $width{before});
    }
    my $data = eval { page_of(flame('--format=html', '-n', '--diff', @files)->{out}) } // diag $@;
    is_deeply([map { [$_->{depth}, $_->{name},
        map { $_ * 1000 / $data->{json}{metrics}[0]{hz} } @{ $_->{self} }] } @{ $data->{frames} }],
        [map { [$_->{depth}, shown($_->{node}{name}), @{ $_->{node}{own} }] } preorder($tree->())],
        "sides $round: the page has the frames of both") or $good = 0 if $round % 4 != 1;
    ok(near($data->{json}{diff}{factor}[0], $y / $x) && near($data->{json}{diff}{factor}[1], 1),
        "sides $round: the page has factors that make totals equal")
        or diag explain $data->{json}{diff};
}

# Reversed, the width of a union is that of each stack: it is a third column.
sub united {
    my ($stacks) = @_;
    my %with = map {
        my ($x, $y) = @{ $stacks->{$_} };
        $x || $y ? ($_ => [$x, $y, $x > $y ? $x : $y]) : ()
    } keys %$stacks;
    return changed(\%with, sub { reverse @_ });
}

# ---- difficult names ----

subtest 'Hostile names cannot break pictures or pages' => sub {
    my $text = join '', map { key($_) =~ s/%20/ /gr =~ s/ \z/%20/r =~ s/ (?=[\d.]+\z)/%20/r
        . " 100\n" } hurtful();
    my $file = file($text);
    my ($stacks) = stacks_of($text);
    is(scalar(keys %$stacks), scalar(my @names = hurtful()), 'all difficult names are stacks');
    my $tree = tree_of($stacks);
    picture_ok('the picture has hostile names', [$file], $tree);
    my $svg = flame($file)->{out};
    is(scalar(() = $svg =~ m{<script}gi) . scalar(() = $svg =~ m{</script}gi), '11',
        'their picture has one script');
    unlike($svg, qr/alert\(1\)<\/script|<title><\/title><script/,
        'no name adds a script to the picture');
    my $page = flame('--format', 'html', '--title', '</title><script>alert(1)</script>',
        $file)->{out};
    is(scalar(() = $page =~ m{</script}gi), 2, 'their page has two scripts');
    like($page, qr{<title>&lt;/title&gt;&lt;script&gt;alert\(1\)&lt;/script&gt;</title>},
        "the page's title is escaped text");
    my %told = told_apart(map { $_->{node}{name} } preorder($tree));
    is_deeply([map { $_->{name} } @{ page_of($page)->{frames} }],
        [map { shown($told{ $_->{node}{name} }) } preorder($tree)],
            'the page has all difficult names');
    spew("$dir/hurt.svg", $svg);
    SKIP: {
        skip 'no xmllint', 1 if !grep { -x "$_/xmllint" } split /:/, $ENV{PATH};
        is(`cd '$dir' && xmllint --huge --noout hurt.svg 2>&1`, '', 'xmllint accepts the picture');
    }
    for my $encoding (qw(UTF-8 ISO-8859-1 us-ascii)) {
        for my $args ([$file], [file("caf\xc3\xa9 3 4\nb 5 1\n\xff 0 2\n")]) {
            my $svg = flame('--encoding', $encoding, '--title', "\xc3\xa9\xe2\x82\xac",
                '--countname', "\xc2\xb5s", '--nametype', "\xe2\x86\x92", '--subtitle', "\xc3\xbc",
                '--notes', "\xc3\x9f", @$args)->{out};
            is(not_well_formed($svg), '', "the picture of --encoding $encoding is well formed");
            like($svg, qr/\A<\?xml version="1\.0" encoding="\Q$encoding\E" /,
                "the declaration names the encoding $encoding");
            unlike($svg, qr/[^\x00-\x7f]/,
                "the picture of --encoding $encoding has only ASCII") if $encoding ne 'UTF-8';
        }
    }
};

# ---- what each option does ----

my $file = file("main;a 60\nmain;bb 30\nmain 10\n", 'options.folded');
sub svg {
    my $run = flame(@_, $file);
    is("$run->{status}$run->{err}", '0',
        "dprofflame @_ succeeds without a message") or diag $run->{err};
    return $run->{out}
}
sub well {
    my (@args) = @_;
    my $svg = svg(@args);
    is(not_well_formed($svg), '', "the picture of @_ is well formed");
    return $svg;
}
sub fills { return map { $_->{title} =~ s/ \(.*//r => $_->{fill} } svg_boxes($_[0]) }

subtest 'Each option has its effect' => sub {
    like(svg(), qr{<text id="title"[^>]*>Flame Graph</text>}, 'the default title is Flame Graph');
    like(svg('--inverted'), qr{<text id="title"[^>]*>Icicle Graph</text>},
        '--inverted changes the title');
    like(well('--title', 'A & <B> "C" \'D\''),
        qr{<text id="title"[^>]*>A &amp; &lt;B&gt; &quot;C&quot; (?:'|&apos;|&\#39;)D},
        '--title is escaped');
    like(well('--title', "\x1b[31m\xff\xe2\x80\xae"), qr{>\\x1b\[31m\\xff\\x\{202e\}</text>},
        '--title shows control characters as escapes');
    my ($plain, $with) = map { / height="([\d.]+)" viewBox/ } svg(), well('--subtitle', '1 < 2');
    is($with - $plain, 24, '--subtitle makes room for its line');
    like(svg('--subtitle', '1 < 2'), qr{<text id="subtitle"[^>]*>1 &lt; 2</text>},
        '--subtitle is escaped');
    like(svg('--width', 640), qr/<svg [^>]* width="640" .* viewBox="0 0 640 /,
        '--width sets the width');
    my @boxes = svg_boxes(svg('--height', 30));
    is($boxes[0]{py} - $boxes[1]{py}, 30, '--height is the distance of frames');
    is($boxes[0]{ph}, 29, 'a frame is one pixel lower than --height');
    is(scalar(@boxes), 4, '--height keeps all frames');
    is(scalar(svg_boxes(svg('--minwidth', '35%'))), 3, '--minwidth takes percent');
    like(svg('--minwidth', '35%'), qr/>1 frame, 30\.0 %, too narrow to be drawn</,
        'the picture counts the frames that --minwidth hides');
    like(well('--fonttype', 'Fira Code'), qr/font-family: 'Fira Code', sans-serif/,
        '--fonttype sets the font');
    unlike(well('--fonttype', "x'} </style><script>alert(1)</script>\\"), qr/<script>a|x'\}/,
        '--fonttype is escaped');
    like(svg('--fontsize', 20), qr/font-size: 20(?:\.0+)?px/, '--fontsize sets the size');
    my $long = file(join('', map { "x" x 40 . "$_ 10\n" } 0 .. 9));
    for ([12, 0.59], [20, 0.59], [12, 1.2]) {
        my ($size, $wide) = @$_;
        my ($box) = grep { $_->{title} =~ /^x/ }
            svg_boxes(flame('--fontsize', $size, '--fontwidth', $wide, $long)->{out});
        my $room = int(($box->{pw} - 6) / ($size * $wide));
        is(length $box->{label}, $room,
            "--fontsize $size --fontwidth $wide leaves room for $room characters of a label");
        like($box->{label}, qr/\.\.\z/, 'a label that does not fit ends in two dots');
    }
    my @narrow = svg_boxes(flame('--minwidth', 0, file("a 1000\nbcdef 1\n"))->{out});
    is($narrow[2]{label}, undef, 'a narrow frame has no label');
    like(well('--countname', 'A&B'), qr/<title>bb \(30 A&amp;B, 30\.00%\)</,
        '--countname sets the unit of the titles');
    like(well('--nametype', '"</script>&'), qr/ data-nametype="&quot;&lt;\/script&gt;&amp;"/,
        '--nametype is escaped');
    like(well('--notes', '<x> & -- y'), qr{<desc>&lt;x&gt; &amp; -- y</desc>},
        "--notes becomes the picture's description");
    like(svg('--factor', 10), qr/<title>bb \(300 samples, 30\.00%\)</,
        '--factor changes values, not shares');
    my $pairs = file("a 50 75\nb 50 25\n");
    like(flame('--factor', 10, $pairs)->{out},
        qr/<title>a\ \(500\ samples\ \xe2\x86\x92\ 750\ samples,\ \+250\ samples,\ \xc3\x971\.50,
            \ 50\.00%\ of\ the\ change/x, '--factor changes values of a difference');
    my @wide = svg_boxes(svg('--total', 200));
    is("$wide[0]{w} $wide[1]{w}", '200 100', '--total sets the width of 100 %');
    my $run = flame('--total', 20, $file);
    is($run->{err}, "dprofflame: --total 20 is less than the profile's total, and is not used\n",
        '--total that is too small gives a message');
    is((svg_boxes($run->{out}))[0]{w}, 100, '--total that is too small leaves the width as it was');
    like(svg('-m', 'cpu', '--unit', 'ms'), qr/<title>bb \(30\.00 ms, 30\.00%\)</,
        '--unit sets the unit');
    like(svg('--only', '^m'), qr/<title>main \(100 samples/, '--only removes other frames');
    unlike(svg('--skip', 'bb'), qr/<title>bb/, '--skip removes frames');
};

subtest 'Palettes and --bgcolors set the colours' => sub {
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
    is($wrong->{status}, 2, '--colors pink gives status 2');
    my %palette = Devel::DProf::Constants::words_of('palette');
    my @known = sort keys %is;
    is("@known", join(' ', sort 'perl', keys %palette), 'the palettes are those of C, and perl');
    like($wrong->{err},
        qr/^--colors: unknown palette pink; there are aqua, blue, .* and \d+ more$/m,
        'the message of --colors pink lists palettes');
    for my $palette (@known) {
        my $svg = svg('--colors', $palette);
        my %fill = fills($svg);
        my @bad = grep {
            my @rgb = $fill{$_} =~ /(\d+)/g;
            @rgb != 3 || grep({ $_ > 255 } @rgb) || !$is{$palette}->(@rgb)
        } grep { $_ ne '(program)' || $palette !~ /^(?:perl|package)/ } keys %fill;
        is("@bad", '', "all frames of --colors $palette are within its colours");
        is_deeply({ fills(flame('--colors', $palette, file("x;a 3\nx;bb 9\n"))->{out}) }->{a},
            $fill{a}, "--colors $palette gives a name the same colour in each picture");
        isnt({ fills(svg('--colors', $palette, '--hash')) }->{bb}, undef,
            "--colors $palette --hash colours every name");
    }
    my %java = fills(flame('--colors', 'java',
        file("java/lang/X 1\nA::b 1\nvfs_read_[k] 1\nx_[j] 1\nx_[i] 1\nmain 1\n"))->{out});
    my ($rgb) = map { my $f = $_; sub { my @c = $java{ $_[0] } =~ /(\d+)/g; join ' ', @c } } 1;
    ok($is{green}->(split ' ', $rgb->('java/lang/X')), '--colors java draws Java in green');
    ok($is{yellow}->(split ' ', $rgb->('A::b')), '--colors java draws C++ in yellow');
    ok($is{orange}->(split ' ', $rgb->('vfs_read')), '--colors java draws the kernel in orange');
    ok($is{red}->(split ' ', $rgb->('main')), '--colors java draws other names in red');
    my %pkg =
        fills(flame(file("A::B::x 1\nA::B::y 1\nC::x 1\nCORE:sort 1\nA::B::__ANON__[f:1] "
            . "1\nA::B::BEGIN 1\n"))->{out});
    is($pkg{'A::B::x'}, $pkg{'A::B::y'}, '--colors package gives the subs of a package one colour');
    my %kinds = map { $_ => 1 } @pkg{'A::B::x', 'C::x', 'CORE:sort', 'A::B::__ANON__[f:1]',
        'A::B::BEGIN', '(program)'};
    is(scalar(keys %kinds), 6, '--colors package gives six packages and kinds six colours');
    isnt({ fills(svg('--colors', 'hot')) }->{a},
        { fills(flame('--colors', 'hot', file("x;a 1\nx;cb 1\nx;bc 2\n"))->{out}) }->{bc},
        '--colors hot depends on the order of letters');
    my %anagrams = fills(flame('--colors', 'hot', file("abc 1\ncba 1\n"))->{out});
    isnt($anagrams{abc}, $anagrams{cba}, 'anagrams have different colours');
    isnt(svg('--random'), svg('--random'), '--random differs from run to run');
    is(svg('--hash'), svg('--hash'), '--hash draws the same picture in every run');
    like(svg('--bgcolors', '#102030'), qr/stop-color="#102030"\/>.*stop-color="#102030"/,
        '--bgcolors takes a colour');
    like(svg('--bgcolors', 'blue'), qr/stop-color="#eeeeee"\/>.*stop-color="#e0e0ff"/,
        '--bgcolors takes a gradient');
    is(flame('--bgcolors', 'pink', $file)->{status}, 2, 'another --bgcolors gives status 2');
};

subtest 'Frames beside each other have an edge' => sub {
    my $svg = flame('--minwidth', 0, file("A::a 100\nA::b 100\nA::c 0.2\nA::d 0.6\n"))->{out};
    my @wide = $svg =~ m{<title>([^<]*?) \([^<]*</title><rect[^>]* class="wide"}g;
    is(join(' ', sort @wide), '(program) A::a A::b A::d',
        'frames of 3 pixels are of the class wide');
    like($svg, qr/^#dprof \.f rect\.wide \{ stroke: #fff/m,
        "the picture's style draws the edge of wide frames");
};

subtest '--cp keeps colours in palette.map' => sub {
    my $home = scratch();
    my $odd = file("caf\xc3\xa9;a->b 3\ncaf\xc3\xa9;\xff 4\nx%0Ay 5\n", 'odd.folded');
    my $plain = run_tool('dprofflame', [$odd], dir => $home);
    ok(!-e "$home/palette.map", 'without --cp no palette.map is written');
    is(run_tool('dprofflame', ['--cp', file("a 1 2\n")], dir => $home)->{status}, 0,
        '--cp of a difference is accepted');
    ok(!-e "$home/palette.map", '--cp of a difference writes no palette.map');
    is(run_tool('dprofflame', ['--cp', $odd], dir => $home)->{out}, $plain->{out},
        '--cp draws the first picture as dprofflame does without it');
    my $map = slurp("$home/palette.map") // '';
    is(join(',', map { s/->rgb\(\d+,\d+,\d+\)\z//r } split /\n/, $map),
        join(',', '(program)', 'a->b', "caf\xc3\xa9", "\xff"),
        '--cp writes the colours of all names to palette.map');
    spew("$home/palette.map", $map =~ s/a->b->rgb\(.*\)/a->b->rgb(1,2,3)/r
        =~ s/(caf..)->rgb\(.*\)/$1->rgb(4,5,6)/r =~ s/(\xff)->rgb\(.*\)/$1->rgb(7,8,9)/r
        . "other->rgb(9,9,9)\n");
    my %fill = fills(run_tool('dprofflame', ['--cp', $odd], dir => $home)->{out});
    is_deeply([@fill{'a->b', "caf\xc3\xa9", '\xff'}], ['rgb(1,2,3)', 'rgb(4,5,6)', 'rgb(7,8,9)'],
        'the next picture uses the colours of palette.map');
    like(slurp("$home/palette.map"), qr/^a->b->rgb\(1,2,3\)\n.*^other->rgb\(9,9,9\)\n/ms,
        'palette.map keeps other lines');
    is(scalar(() = slurp("$home/palette.map") =~ /^caf/mg), 1, 'palette.map has each name once');
    is(run_tool('dprofflame', ['--cp', '--random', $odd], dir => $home)->{err}, '',
        'dprofflame reads the palette.map that --cp --random wrote');
    # As flamegraph.pl writes it: the root's name is empty.
    spew("$home/palette.map", "->rgb(1,1,1)\na->b->rgb(4,3,2)\n");
    my $theirs = run_tool('dprofflame', ['--cp', $odd], dir => $home);
    is("$theirs->{status}$theirs->{err}", '0', "dprofflame reads flamegraph.pl's palette.map");
    is({ fills($theirs->{out}) }->{'a->b'}, 'rgb(4,3,2)',
        "dprofflame uses the colours of flamegraph.pl's palette.map");
    like(slurp("$home/palette.map"), qr/^->rgb\(1,1,1\)$/m,
        "dprofflame keeps the root's line in flamegraph.pl's palette.map");
    spew("$home/palette.map", "rubbish\n");
    my $run = run_tool('dprofflame', ['--cp', $odd], dir => $home);
    like("$run->{status} $run->{err}", qr/^2 --cp: palette\.map, line 1: /,
        'a bad palette.map is an error');
    is(join(' ', sort map { s{.*/}{}r } glob "$home/*"), 'palette.map',
        '--cp leaves no other file');
};

subtest '--nameattr sets titles, links and attributes of frames' => sub {
    my $attributes =
        file("a\tid=x&y\tclass=mine\thref=http://x/?a=1&b=2\ttarget=_blank\r\nbb\ttitle=a "
            . "<title>\nmain\tg_extra=data-q=\"1\"\nmissing\thref=x\n\n");
    my $svg = well('--nameattr', $attributes);
    my %box = map { $_->{title} => $_ } svg_boxes($svg);
    like($svg,
        qr{<a\ xlink:href="http://x/\?a=1&amp;b=2"\ target="_blank"><g\ class="f\ mine"
            \ id="x&amp;y"\ data-x=.*<title>a\ \(60}x,
                "--nameattr sets a frame's link, id and class");
    ok($box{'a <title>'}, '--nameattr sets the title');
    like($svg, qr/<g class="f" data-q="1" data-x="0" data-w="100"><title>main/,
        '--nameattr sets other attributes');
    is(scalar(() = $svg =~ /<a /g), 1, '--nameattr makes one link');
    my $run = flame('--nameattr', file("a\tb\n"), $file);
    like("$run->{status} $run->{err}", qr/^2 --nameattr .*, line 1: /,
        'a bad line of --nameattr is an error');
    my $none = flame('--nameattr', "$dir/missing", $file);
    like("$none->{status} $none->{err}", qr/^2 --nameattr: \Q$dir\E\/missing cannot be read: /,
        'a missing file of --nameattr is an error');
};

subtest '-m draws one metric or two, and a page has all metrics' => sub {
    my @tree = ([1, 3], [2, 1], [3, 2], [1, 6], [2, 4], [2, 5]);        # [depth, sub]
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
    is(flame('--minwidth', 0, '-m', 'ops', $profile)->{err}, '',
        'a picture of -m ops prints no message');
    # The share of each metric is compared.
    my ($all, $missed) = (0, 0);
    $all += $_->[0], $missed += $_->[1] for values %stacks;
    my $by = $missed / $all;
    picture_ok(
        '-m A,B draws two counters of one profile', ['--minwidth', 0, '-m', 'ops,miss', $profile],
        tree_of(\%stacks), two => 1, by => $by, width => $width{after}, words => 1);
    picture_ok('-m A,B --hue draws the difference of two counters',
        ['--minwidth', 0, '-m', 'ops,miss', '--hue', $profile], tree_of(\%stacks),
        two => 1, by => $by,
        width => sub { abs($_[1] - $_[0] * $by) }, delta => 'hue', words => 1);
    my ($told) = flame('-m', 'ops,miss', $profile)->{out} =~ m{<title>P::s3 \(([^<]*)\)</title>};
    like($told, qr/^\d+ ops [\d.]+%, \d+ miss [\d.]+%, \xc3\x97[\d.]+(?:; self .*)?\z/,
        'titles of two metrics have both values, both shares and the factor');
    like(flame('-m', 'ops,miss', $profile)->{out},
        qr{<text id="title"[^>]*>miss against ops</text>}, '-m of two metrics sets the title');
    picture_ok(
        '-m draws one counter', ['--minwidth', 0, '-m', 'miss', '--countname', 'misses', $profile],
        tree_of({ map { $_ => [$stacks{$_}[1]] } keys %stacks }), countname => 'misses');
    my $page = flame('--format', 'html', '-m', 'ops', $profile);
    my $json = page_of($page->{out})->{json};
    my @times = grep { $_ ne 'system' } time_words();
    is(join(' ', map { $_->{key} } @{ $json->{metrics} }), "ops @times calls miss",
        'a page has all metrics that are not zero') or diag explain $json->{metrics};
    is_deeply([map { $_->{self}[0] } @{ page_of($page->{out})->{frames} }],
        [map { $_->{node}{own}[0] / 1000 }
            preorder(tree_of({ map { $_ => [$stacks{$_}[0]] } keys %stacks }))],
                'the page has the values of each metric');
    is($json->{files}[0], 'lib/P.pm', 'the page has the names of the files');
    is_deeply([map { $json->{names}[$_] =~ /^P::s(\d)/ ? $json->{places}[$_][1] / 10 - $1
        : ref $json->{places}[$_] } 0 .. $#{ $json->{names} }], [(0) x 0, '', (0) x 6],
            'the page has the line of each sub')
        or diag explain $json->{places};
    is_deeply([map { $_->{hz} } @{ $json->{metrics} }], [1, (1000) x @times, 1, 1],
        'the page has the unit of each metric');
    like(flame($profile)->{out}, qr/<title>P::s3 \([\d.]+ ms, /, 'times in a picture have units');
    my @said = map {
        my $run = flame(@$_, $profile);
        "$run->{status} $run->{err}"
    } ['-m', 'ops,miss,cpu'], ['-m', 'ops,'], ['-m', 'nothing'], ['-m', 'ops,nothing'];
    like(shift @said, qr/^2 .*must be one metric, or two/, '-m of three metrics gives status 2');
    like(shift @said, qr/^2 /, '-m of one and a comma gives status 2');
    like($_, qr/^1 there is no metric nothing/, '-m of an unknown metric gives status 1') for @said;
};

# ---- output and errors ----

{
    my $home = scratch();
    for (['x.svg', qr/\A<\?xml/], ['x.html', qr/\A<!DOCTYPE html>/],
        ['x.HTM', qr/\A<!DOCTYPE html>/], ['x', qr/\A<\?xml/]) {
        my ($name, $begins) = @$_;
        is(run_tool('dprofflame', ['-o', $name, $file], dir => $home)->{status}, 0,
            "-o $name gives status 0");
        like(slurp("$home/$name"), $begins, "-o $name gets the format of its suffix");
    }
    my $kept = slurp("$home/x.svg");
    is(run_tool('dprofflame', ['-o', 'x.svg', "$dir/missing"], dir => $home)->{status}, 1,
        '-o of a missing profile gives status 1');
    is(slurp("$home/x.svg"), $kept, 'a missing profile leaves the old output as it was');
    my $small = run_program(['/bin/sh', '-c', "trap '' XFSZ; ulimit -f 4; exec \"\$@\"", 'sh',
        tool_command('dprofflame', '-o', 'x.svg', $file)], dir => $home);
    like("$small->{status} $small->{err}", qr/^1 dprofflame: the report could not be written: /,
        'an output that does not fit gives status 1');
    is(slurp("$home/x.svg"), $kept, 'an output that does not fit leaves the old file as it was');
    is(join(' ', sort map { s{.*/}{}r } glob "$home/*"), 'x x.HTM x.html x.svg',
        'a failed output leaves no other file');
    like(run_tool('dprofflame', ['-o', '/dev/full', $file])->{err},
        qr/could not be written: No space left/, 'a full disk gives a message') if -e '/dev/full';
    is(run_tool('dprofflame', ['-o', 'no/such/x.svg', $file], dir => $home)->{status}, 1,
        'a missing folder gives status 1');
    is(run_tool('dprofflame', [], stdin => $file)->{out}, flame('--subtitle', '', $file)->{out},
        'dprofflame reads standard input');
    my $run = flame(file("a 0\n"));
    is("$run->{status} $run->{err}", "1 dprofflame: there is nothing to draw\n",
        'a profile of zeros gives status 1');
    is(not_well_formed($run->{out}), '',
        'a profile of zeros gives an empty picture that is well formed');
    $run = flame(file("a;b 5\nrubbish\nc 5\n"));
    is($run->{status}, 1, 'a bad line gives status 1');
    like($run->{err}, qr/no count at the end of the line: rubbish \(line 2, byte 6\)\n\z/,
        'the message names the bad line');
    is(scalar(svg_boxes($run->{out})), 4,
        'dprofflame draws the other lines of a file with a bad one');
    my $deep = file(join(';', ('f') x 2000) . " 5\n");
    $run = flame('--minwidth', 0, $deep);
    is(scalar(svg_boxes($run->{out})), 1001, 'deep recursion is drawn with 1,000 frames');
    is($run->{err}, "dprofflame: 1000 calls in a recursion of more than 1,000 frames are counted "
        . "with the last of these\n", 'a message says that deep recursion was cut');
    is(scalar(svg_boxes(flame('--fold-recursion', $deep)->{out})), 2,
        '--fold-recursion draws one frame');
    is(flame('--diff', $file, $file)->{status}, 0, 'the same file on both sides gives status 0');
    is(scalar(grep { $_->{class} ne 'f' } svg_boxes(flame('--diff', $file, $file)->{out})), 0,
        'two equal sides have no coloured frame');
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
    [['--view', 'x'], 'graph, pair, triple'],
    [['--format', 'png'], 'unknown format png; there are svg, html'],
    [['--only', '('], 'not a regular'], [['--diff', $file, $file], 'two sides'],
    [['--time', 'x'], '--time'],
    [['--flamechart', '--reverse'], 'flamechart']) {
    my ($args, $said) = @$_;
    my $run = flame(@$args, $file);
    is("$run->{status}$run->{out}", 2, "dprofflame @$args gives status 2" =~ s/\Q$dir\E//gr);
    like($run->{err}, qr/\Q$said\E.*\nTry 'dprofflame -h' for help\.\n\z/,
        "dprofflame @$args gives the reason" =~ s/\Q$dir\E//gr);
}
like(flame('-h')->{out}, qr/^dprofflame .*--nameattr/s, '-h prints the usage');

# ---- cases that a review found ----

subtest 'Options at their limits give the right picture or a message' => sub {
    my $plain = file("a;b 3\na 5\n");
    my $one = flame('-subtitle', 'one dash', $plain);
    like($one->{out}, qr/>one dash</, 'long options may have one dash, as in flamegraph.pl');
    unlike(flame('--subtitle=', $plain)->{out}, qr/id="subtitle"/,
        'an empty --subtitle draws none');
    for (['href=javascript:alert(1)',
        qr/line 1: href=javascript:alert\(1\): an address begins with/],
        ['onclick=x', qr/line 1: onclick is not one of id, class/]) {
        my ($field, $why) = @$_;
        my $bad = flame('--nameattr', file("a\t$field\n"), $plain);
        is($bad->{status}, 2, "--nameattr with $field gives status 2");
        like($bad->{err}, $why, "the message of --nameattr with $field gives the reason");
    }
    like(flame('--nameattr', file("a\ttitle=<b>\thref=/x?y:z\n"), $plain)->{out},
        qr{<g class="f" data-name="a"[^>]*><title>&lt;b&gt;</title>},
        'a frame with a title of its own has its name as an attribute');
    for my $name (qw(kept.svg kept.html)) {
        my $kept = spew(scratch() . "/$name", 'precious');
        my $nothing = flame('-o', $kept, file("a 0\n"));
        is($nothing->{status} . slurp($kept), '1precious',
            "$name: an empty picture does not replace a file");
    }
    like(flame('--only', 'nosuchname', $plain)->{err}, qr/no frame is left after --only/,
        'filters that leave no frame give a message');
    like(flame('--format', 'html', '--total', 100, $plain)->{err},
        qr/--total affects pictures only, not a page/, '--total of a page is refused');
    my $json = page_of(flame('--format', 'html', '--factor', 4, '--countname', 'ticks',
        $plain)->{out})->{json};
    is_deeply([@{ $json->{metrics}[0] }{qw(unit hz)}], ['ticks', 0.25],
        '--factor and --countname are in a page');
    is(flame('--alpha', 2, '--diff', $plain, $plain)->{status}, 2, '--alpha must be below 1');
    my $trace = file("a;b 3\na 5\na;b 2\nc 4\na;b 1\n");
    my @boxes = flame('--flamechart', '--minwidth', 0,
        $trace)->{out} =~ /data-x="(\d+)" data-w="(\d+)"><title>([^ ]+) /g;
    is("@boxes", '0 15 (program) 0 10 a 0 3 b 8 2 b 10 4 c 14 1 a 14 1 b',
        '--flamechart draws intervals where they lie');
    # so many stacks that share nothing are found by their hashes, but not in a chart
    my @deep = map { join ';', ($_) x 8 } 1 .. 3;
    my $mixed = flame('--flamechart', '--minwidth', 0,
        file(join '', map { "$deep[$_ % 3] 1\n" } 0 .. 1499))->{out};
    my $intervals = () = $mixed =~ /data-w="1"><title>/g;
    is($intervals, 1500 * 8, '--flamechart draws the intervals of many stacks');
};

done_testing;
