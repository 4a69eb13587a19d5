package LineProgram;

# Random programs whose lines count themselves. At the end such a program prints, for each line, how
# many statements perl began there.
#
# A statement has its count in front of it, on the same line: `$c[7] += 2; f();` are two statements.
# A statement that must be alone in its block, where perl leaves out the op that begins one, counts
# itself from within, and separately: `++$l[7] && f();`. Whether such statements are seen depends on
# what the block belongs to. A statement of several lines is recorded at one that perl chooses: it
# has a call of B, which asks caller for it.
#
# A seed always gives the same program.

use strict;
use warnings;

our $SUBS = 6;

my $state;
# Returns a random whole number below the argument, the same in each run with the same seed.
sub pick {
    $state = ($state * 1103515245 + 12345) % 2147483648;
    return int(($state >> 8) / 8388608 * $_[0]);
}

# Returns one of the arguments, by chance.
sub one { return $_[ pick(scalar @_) ] }

our (@text, @blind, %group, %elsewhere, $depth, $unique, $sub);

# Returns the number of the line that is added next.
sub here { return @text + 1 }

# Adds lines to the program.
sub put {
    push @text, @_;
    return;
}

# Adds the first line of a statement of several lines.
sub several {
    my ($code) = @_;
    put('$c[' . here() . "]++; $code");
    return;
}

# Adds a line with statements; $n: how many there are beside the one that counts.
sub line {
    my ($code, $n) = @_;
    put('$c[' . here() . '] += ' . (($n // 1) + 1) . "; $code");
    return;
}

# Adds a statement that is alone in its block; $kind: the block's kind.
sub lone {
    my ($kind, $code) = @_;
    my $at = here();
    $blind[$at] = $kind;
    put("++\$l[$at] && ($code);");
    return;
}

# Returns a random condition.
sub cond {
    return one('$i % 2', '$n++ % 3', '$i', '!$i', '$x > 3', '$n % 5 == 1', '$x ne "a" && $i < 3',
        '!($n & 1) || $i == 2');
}

sub call {
    return $sub + 1 < $SUBS ? 's' . ($sub + 1 + pick($SUBS - $sub - 1)) . '($i, $x)' : 'leaf($i)';
}

# Returns a random expression.
sub value {
    return one('$i + 1', '$x . "a"', '$n', 'leaf($i)', call(), 'leaf($i) + leaf($n)',
        '($i ? 1 : leaf(2))', 'do { $c[' . here() . '] += 2; 3 }', 'scalar(@a)', '"$x$i"',
        'join ",", map { $_ + 1 } 1, 2', 'scalar(grep { $_ > 1 } 1 .. 3)',
        'leaf(leaf($i), leaf($n))', 'my $v' . ++$unique);
}

# Returns a random statement without a block.
sub simple {
    return one('$n += ' . pick(4), '$x = ' . value(), 'push @a, $i', call(),
        'leaf(' . value() . ')', '$n = $i ? (' . value() . ') : (' . value() . ')', '$y{$i}++',
        '@a > 9 and @a = ()', 'eval { $c[' . here() . '] += 2; leaf(1) }',
        'eval { $c[' . here() . '] += 2; die "x\n" }', '@a = sort { $a <=> $b } @a');
}

# Adds this many random statements.
sub body {
    my ($n) = @_;
    statement() for 1 .. $n;
    return;
}

# Adds the inside of a block of a kind.
sub block {
    my ($kind) = @_;
    if (pick(3) == 0) {
        lone($kind, one('$n += 2', '$x = ' . value(), call(), 'leaf($n)'));
    } else {
        local $depth = $depth + 1;
        body(1 + pick(2));
    }
    return;
}

my @statements = (
    (sub { line(simple() . ';') }) x 6,
    sub {
        my $n = '; $c[' . here() . '] += 2; ';
        line(simple() . $n . simple() . $n . simple() . ';');
    },
    sub { line(simple() . ' ' . one('if', 'unless') . ' ' . cond() . ';') },
    sub { line('leaf($_) for 1 .. ' . pick(4) . ';') },
    sub {
        my $v = '$k' . $unique++;
        line("my $v = " . pick(4) . "; leaf($v) while $v-- > 0;", 2);
    },
    sub {
        my $v = '$k' . $unique++;
        line("my $v = " . pick(4) . "; leaf($v) until --$v < 0;", 2);
    },
    sub { line(cond() . ' ' . one('and', 'or') . ' ' . simple() . ';') },
    sub {
        line(one('if', 'unless') . ' (' . cond() . ') {');
        block('if');
        put('}');
    },
    sub {
        line(one('if', 'unless') . ' (' . cond() . ') {');
        block('if');
        put('} else {');
        block('else');
        put('}');
    },
    (sub {
        line(one('if', 'unless') . ' (' . cond() . ') {');
        block('if');
        for (1 .. 1 + pick(2)) {
            $blind[here()] = 'elsif condition';
            put('} elsif (++$l[' . here() . '] && (' . cond() . ')) {');
            block('elsif');
        }
        if (pick(2)) {
            put('} else {');
            block('else of elsif');
        }
        put('}');
    }) x 2,
    sub {
        my $v = '$k' . $unique++;
        line("my $v = 0; " . one("while ($v++ < 3)", "until ($v++ >= 2)") . ' {', 2);
        block('while');
        loop_exit() if pick(2);
        put('}');
    },
    sub {
        my $v = '$k' . $unique++;
        line("my $v = 0; while ($v++ < 3) {", 2);
        block('while');
        put('} continue {');
        lone('continue', '$n++');
        put('}');
    },
    sub {
        my $v = '$k' . $unique++;
        line("for (my $v = 0; $v < 3; $v++) {", 1);
        $blind[$#text + 1] = 'for(;;)';
        block('for');
        put('}');
    },
    sub {
        line('for my $i (' . one('0 .. 3', '1, 2', 'reverse 1 .. 3', '@a[0 .. 1]') . ') {');
        block('foreach');
        loop_exit() if pick(2);
        put('}');
    },
    sub {
        line('foreach (1 .. 2) {');
        block('foreach');
        put('}');
    },
    sub {
        my $v = '$k' . $unique++;
        line("my $v = 0; do {", 2);
        my $at = @text;
        $group{ $at + 1 } = $at;
        block('do');
        $group{ here() } = $at;
        put('} ' . one('while', 'until') . " $v++ " . one('== 0;', '> 0;'));
    },
    sub {
        line('{');
        $group{ here() } = @text;
        block('bare');
        put('}');
    },
    sub {
        my $l = 'L' . $unique++;
        line("$l: for my \$j (1 .. 3) {");
        line('for my $k (1 .. 2) {');
        line(one('next', 'last') . " $l if " . cond() . ';');
        line(simple() . ';');
        put('}', '}');
    },
    sub {
        my $v = '$k' . $unique++;
        line("my $v = 0; for my \$j (1 .. 2) {", 2);
        line("redo if $v++ == 1;");
        put('}');
    },
    sub {
        several('$x = (B(), do {');
        line(simple() . ';');
        line('$i + 1');
        put('});');
    },
    sub {
        several('my @m' . $unique++ . ' = (B(), map {');
        line('$_ + 1');
        put('} 1 .. 3);');
    },
    sub {
        several('my @m' . $unique++ . ' = (B(), map {');
        lone('map', '$_ + 1');
        put('} 1 .. 3);');
    },
    sub {
        several('my @m' . $unique++ . ' = (B(), grep {');
        line('leaf($_) && $_ > 1');
        put('} 1 .. 3);');
    },
    sub {
        several('my @m' . $unique++ . ' = (B(), sort {');
        line('$a <=> $b');
        put('} 3, 1, 2);');
    },
    sub {
        several('my @m' . $unique++ . ' = (B(), sort {');
        lone('sort', '$a <=> $b');
        put('} 3, 1, 2);');
    },
    sub {
        my $f = '$f' . $unique++;
        several("my $f = (B(), sub {");
        local $depth = $depth + 1;
        body(1);
        put('});');
        line("$f->() for 1 .. 2;");
    },
    sub {
        my $f = '$f' . $unique++;
        several("my $f = (B(), sub {");
        lone('sub', '$_[0]');
        put('});');
        line("$f->() for 1 .. 2;");
    },
    sub {
        several('B(), eval {');
        local $depth = $depth + 1;
        body(2);
        line('die "thrown\n" if ' . cond() . ';');
        line(simple() . ';');
        put('};');
    },
    sub {
        several('B(), eval {');
        lone('eval', call());
        put('};');
    },
    sub {
        my $file = 'made.' . one('tt', 'up');
        my $at = 10 + pick(5);
        line("eval qq{#line $at \"$file\"\\n\\\$o{'$file:$at'}++;\\n"
            . "\\\$o{'$file:@{[ $at + 1 ]}'} += 3; leaf(1); 1} or die;");
    },
    sub {
        line('for my $j (1 .. 3) {');
        lone('foreach', q{eval '$o{__FILE__ . ":1"} += 2; leaf(2)'});
        put('}');
    },
    sub {
        line('$x = <<A . $i . <<"B" . leaf(1);');
        put('some text', 'A', "and \$i", 'more', 'B');
        line(simple() . ';');
    },
    sub {
        my $l = 'G' . $unique++;
        line("my \$t$l = 0;");
        put("$l: \$t$l++; \$c[" . here() . '] += 2;');
        line("goto $l if \$t$l < 3;");
    },
    sub { line('return ' . value() . ' if $n++ % 7 == 6;') },
    sub {
        return line(simple() . ';') if $sub + 1 >= $SUBS;
        line('if ($n++ % 4 == 3) {');
        line('@_ = ($i, $x);');
        line('goto &s' . ($sub + 1 + pick($SUBS - $sub - 1)) . ';');
        put('}');
    },
    sub { line('recurse(' . (1 + pick(4)) . ');') },
    sub { line('local $_ = $i;') },
    sub { line('my ($p' . $unique . ', @q' . $unique++ . ') = (leaf(1), $i, $x);') },
    sub {
        line('BEGIN {');
        line('$main::begun++;');
        put('}');
        $text[-3] =~ s/\+= 2/+= 1/;
    },
    # The block must not return the object, whose address differs from run to run.
    sub { line('my $o' . $unique++ . ' = bless [], "Gone"; leaf(1);', 2) },
    sub { line('$tied = $tied . "a";') },
    sub { line('my $v' . $unique++ . ' = "$over" . ($over + 1);') },
    sub {
        line('(my $s' . $unique . ' = "xx") =~ s/x/leaf(1)/ge;');
        $unique++;
    },
    sub {
        my $l = 'W' . $unique++;
        line("my \$t$l = 0;");
        line(one("$l: while (1) {", "$l: for (;;) {"));
        line("last $l if \$t$l++ > 1;");
        block('while');
        put('}');
    },
    sub {
        several('(B(), eval {');
        local $depth = $depth + 1;
        body(1);
        line('die "thrown\n" if ' . cond() . ';');
        line('1;');
        put('}) or do {');
        block('or do');
        put('};');
    },
    sub {
        several('(B(), ' . cond() . ') ' . one('and', 'or', '&&', '||', '//') . ' do {');
        block('and do');
        put('};');
    },
    sub {
        several('$x = (B(), ' . cond() . ') ? do {');
        block('?: do');
        put('} : do {');
        block('?: do');
        put('};');
    },
    sub {
        several('$x = (B(), do {');
        lone('do', call());
        put('});');
    },
    sub {
        several('my @m' . $unique++ . ' = (B(), grep {');
        lone('grep', '$_ > 1');
        put('} 1 .. 3);');
    },
    sub { line('@a = sort by 3, 1, 2;') },
    sub { line('"aa" =~ /a(?{ $c[' . here() . '] += 2; leaf(1) })a/;') },
    sub {
        line('$x = <<A;');
        put('made of @{[ leaf(3) ]}', 'A');
        line(simple() . ';');
    },
    sub { line('moved($i);') },
    sub { line('warn "told\n";') },
    sub { line('lvalue($i) = ' . value() . ';') },
    sub { line('Auto->' . one('one', 'two') . '($i);') },
    sub {
        line('for my $j (1 .. 2) {');
        line(q{eval "\$o{'(eval):1'} += 2; if (\$j > 1) {\n++\$p{'(eval):2'} && leaf(1);\n} else }
            . q{{\n++\$p{'(eval):4'} && leaf(1);\n}\n\$o{'(eval):6'} += 2; leaf(2)";});
        @elsewhere{'(eval):2', '(eval):4'} = ('if in an eval', 'else in an eval');
        put('}');
    },
);

# These exist only in newer perls, where a seed therefore gives another program.
push @statements, sub {
    line('try {');
    block('try');
    line('die "thrown\n" if ' . cond() . ';');
    put('} catch ($e) {');
    block('catch');
    put('}');
} if $] >= 5.034;

sub loop_exit {
    line(one('next', 'last') . ' if ' . cond() . ';');
    line(simple() . ';');
    return;
}

# Adds a random statement.
sub statement {
    return $depth > 3 ? line(simple() . ';') : $statements[pick(scalar @statements)]->();
}

my $END = <<'E';
{
    no warnings;
    my $file = __FILE__;
    printf "%s:%d %d %d\n", $file, $_, $c[$_], $l[$_] for grep { $c[$_] || $l[$_] } 1 .. $last;
    printf "%s %d %d\n", $_, $o{$_}, $p{$_} for sort keys %{ { %o, %p } };
}
# perl gives a block the file of what follows it.
1;
#line 30 "made.down"
sub moved {
    $o{"made.down:31"} += 2; my $n = shift;
    $o{"made.down:32"} += 2; if ($n) {
        ++$p{"made.down:33"} && leaf(1);
    }
#line 50
    $o{"made.down:50"} += 2; return 1;
}
E

# Returns the program's text; for each line the kind of block in which it is alone; lines that must
# be compared together with an earlier one; and the last line that counts.
sub program {
    my ($seed) = @_;
    local (@text, @blind, %group, %elsewhere);
    local $depth = 0;
    ($state, $unique) = ($seed * 7919 + 13, 0);
    put('no warnings; no strict; our (@c, @l, %o, %p, $n, $over, $tied, $last, $kept); '
        . 'sub B { $c[(caller)[2]]++; () } BEGIN { $over = bless [], "Over"; } package Over; '
        . 'use overload q("") => \&text, "+" => \&add, fallback => 1; package main; '
        . ($] >= 5.034 ? 'use feature "try";' : ''));
    put('sub Over::text {');
    line('"over"');
    put('}', 'sub Over::add {');
    lone('sub', '2');
    put('}', 'sub Tie::TIESCALAR {');
    line('bless [];');
    put('}', 'sub Tie::FETCH {');
    line('my $self = shift;');
    line('return "t";');
    put('}', 'sub Tie::STORE {');
    lone('sub', '1');
    put('}', 'sub Gone::DESTROY {');
    line('my $self = shift;');
    put('}', 'sub leaf {');
    line('$_[0];');
    put('}', 'sub by {');
    line('$a <=> $b;');
    put('}', 'sub told {');
    line('leaf(1);');
    put('}', 'sub lvalue :lvalue {');
    line('leaf(2);');
    line('$kept;');
    put('}', 'sub Auto::AUTOLOAD {');
    line('my $self = shift;');
    line('return leaf(1);');
    put('}', 'sub recurse {');
    line('my $d = shift;');
    line('return $d > 0 ? recurse($d - 1) + leaf(1) : 0;');
    put('}');
    for (0 .. $SUBS - 1) {
        $sub = $_;
        put("sub s$sub {");
        line('my ($i, $x) = @_; my (@a, %y);', 2);
        line('return 1 if $main::fuel++ > 2000;');
        body(3 + pick(5));
        put('}');
    }
    line('tie $tied, "Tie";');
    line('$SIG{__WARN__} = \&told;');
    line('for my $i (1 .. 5) {');
    line('eval { $c[' . here() . ']++; s0($i, 2) };', 2);
    put('}');
    put('# the end');
    my $last = @text;
    put("\$last = $last;", $END);
    return {
        text => join("\n", @text) . "\n", blind => [@blind], group => {%group}, last => $last,
        elsewhere => { %elsewhere, 'made.down:33' => 'if behind #line' }, lines => [@text],
    };
}

# Compares what a program printed with the counts of its profile (a hash by "FILE:LINE"). Returns
# what is wrong, and fills %$seen: how many lines of each kind of block were seen and how many were
# not.
sub compare {
    my ($program, $file, $out, $count, $seen) = @_;
    my (%want, %lone, %have, @wrong);
    my $start = qr/^\Q$file\E:(\d+)$/;
    my $at = sub {
        my $name = shift =~ s/\(eval [^)]*\)/(eval)/r =~ s/%([0-9A-F]{2})/chr hex $1/ger
            =~ s/\(eval [^)]*\)/(eval)/r;
        my $n = $name =~ $start ? $1 : return $name;
        $n = $program->{group}{$n} while $program->{group}{$n};
        return "$file:$n";
    };
    my %kind = (%{ $program->{elsewhere} },
        map { $program->{blind}[$_] ? ($at->("$file:$_") => $program->{blind}[$_]) : () }
            1 .. $program->{last});
    for (split /\n/, $out) {
        my ($place, $n, $lone) = /^(.+:\d+) (\d+) (\d+)$/ or next;
        $want{ $at->($place) } += $n;
        $lone{ $at->($place) } += $lone;
    }
    for (keys %$count) {
        my $place = $at->($_);
        next if $place =~ $start ? $1 < 2 || $1 > $program->{last} : $place !~ /^made|^\(eval/;
        $have{$place} += $count->{$_};
    }
    for my $place (sort keys %{ { %want, %have } }) {
        my ($want, $lone, $have) = map { $_->{$place} // 0 } \(%want, %lone, %have);
        $seen->{ $kind{$place} }{ $have == $want ? 'not' : 'seen' }++ if $lone;
        next if $have == $want + $lone || ($lone && $have == $want);
        push @wrong, "$place: $have in the profile, not $want + $lone: "
            . ($place =~ $start ? $program->{lines}[$1 - 1] : '');
    }
    return @wrong;
}

1;
